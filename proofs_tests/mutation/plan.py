"""Which modules are mutated, what in them neither prices nor bounds anything, and the tests that must notice."""

from collections.abc import Mapping
from typing import Final

import attrs


@attrs.frozen
class Subject:
    """tests: paths from the root, the one that kills most first.  skipped: definitions that are left alone."""

    tests: tuple[str, ...]
    skipped: tuple[str, ...] = ()


def _prices(*places: str) -> tuple[str, ...]:
    """Folder/name of tests under proofs_tests/prices."""
    return tuple(f"proofs_tests/prices/{folder}/test_{name}.py" for folder, name in (at.split("/") for at in places))


PLAN: Final[Mapping[str, Subject]] = {
    "accountant.costs.rounding": Subject(_prices("costs/rounding")),
    "accountant.costs.converters": Subject(_prices("costs/numbers")),
    "accountant.costs.gaussian": Subject(_prices("costs/gaussian")),
    "accountant.costs.subsampling": Subject(_prices("costs/subsampling")),
    "accountant.composition.fixed_plans": Subject(_prices("composition/fixed_plans")),
    "accountant.costs.curves": Subject(_prices("costs/curves")),
    "accountant.costs.cost_kinds": Subject(_prices("costs/costs")),
    "accountant.composition.rules": Subject(
        _prices("composition/composition"), ("Amount.__repr__", "readable", "distinct_texts", "_distinct", "digits_of")
    ),
    "accountant.composition.advanced": Subject(_prices("composition/composition")),
    "accountant.composition.rule_names": Subject(_prices("composition/composition")),
    "accountant.composition.adaptive_range": Subject(_prices("composition/adaptive_range"), ("forget",)),
    "accountant.composition.dominating_pairs": Subject(
        _prices("composition/dominating", "composition/subsampled_plans")
    ),
    "accountant.composition.ranges_as_gaussian": Subject(_prices("composition/ranges_as_gaussian")),
    "accountant.composition.plans": Subject(_prices("composition/plans")),
    "accountant.audit.odometer": Subject(
        _prices("composition/odometer"),
        (
            *("from_spending", "odometer", "_by_theorem", "_shares", "top"),
            *("Odometer.epsilon", "Odometer.at", "Odometer.curve", "Odometer.least_delta", "Odometer.over_time"),
            *("Odometer.plan", "Odometer.pld_curve", "Odometer.other_rules", "Odometer._delta_prime"),
            *("Odometer._advanced", "Odometer._under"),
        ),
    ),
    "accountant.composition.gaussian_sum": Subject(_prices("composition/gaussian_rule")),
    "accountant.composition.loss_distribution": Subject(
        _prices("composition/loss_distribution", "composition/tiny_deltas", "composition/subsampled_plans")
    ),
    "accountant.composition.calibration": Subject(_prices("composition/calibration")),
    "mechanisms.core.randomizers": Subject(_prices("core/randomizers")),
    "mechanisms.core.sensitivity": Subject(_prices("core/sensitivity")),
    "mechanisms.queries.histograms": Subject(_prices("queries/histograms")),
    "mechanisms.queries.group_queries": Subject(_prices("queries/group_queries")),
    "mechanisms.gradients.objective_perturbation": Subject(
        _prices("gradients/objective"),
        (
            *tuple(
                f"ObjectivePerturbation.{name}"
                for name in ("description", "_claim", "sample", "log_density", "deviation")
            ),
            "default_regularization",
            "default_tolerance",
            "deviation",
        ),
    ),
    "mechanisms.gradients.linear_losses": Subject(
        _prices("gradients/logistic_loss"), ("noise_that_gives", "curvature", "_share", "_Dense.gram")
    ),
    "mechanisms.quantiles": Subject(
        _prices("selection/quantiles"),
        (
            *tuple(f"PrivateQuantile.{name}" for name in ("description", "sample", "log_probabilities", "rank_error")),
            "PrivateQuantiles.release",
            "PrivateQuantiles.rank_error",
            "Candidates.between",
        ),
    ),
    "mechanisms.selection.leaf_labels": Subject(_prices("selection/leaf_labels"), ("LeafLabelChoice.draw",)),
    "mechanisms.core.parallel": Subject(_prices("core/parallel")),
    "accountant.costs.adjacency": Subject(_prices("costs/adjacency"), ("ReplaceOne.__str__", "AddRemoveOne.__str__")),
    "accountant.ledger.charge_recorder": Subject(_prices("composition/charges")),
    "mechanisms.core.plain": Subject(_prices("core/mechanism_types")),
    "mechanisms.core.robust": Subject(
        _prices("core/mechanism_types"), ("CertifiedMechanism.description", "RobustMechanism.__getattr__")
    ),
    "mechanisms.queries.weighted_queries": Subject(_prices("queries/queries")),
    "mechanisms.additive": Subject(_prices("core/additive")),
    "mechanisms.selection.noisy_choice": Subject(_prices("selection/selection")),
    "mechanisms.gradients.gradient_sums": Subject(_prices("gradients/gradients")),
    "mechanisms.rados.one_hot": Subject(_prices("rados/one_hot")),
    "mechanisms.rados.noised_rados": Subject(_prices("rados/rado_release")),
    "mechanisms.gradients.feature_fits": Subject(_prices("gradients/feature_fits")),
    "mechanisms.gradients.feature_queries": Subject(_prices("gradients/feature_queries")),
    "mechanisms.gradients.tree_gradients": Subject(_prices("gradients/gradient_queries")),
    "mechanisms.rados.column_distribution": Subject(_prices("rados/rado_law")),
    "mechanisms.selection.stopping": Subject(_prices("selection/stopping")),
    "mechanisms.selection.choice_profile": Subject(_prices("selection/choice_profile")),
    "mechanisms.selection.private_selection": Subject(
        _prices("selection/tuning"), ("PrivateSelection.description", "_listed")
    ),
}
