"""Which modules are mutated, what in them neither prices nor bounds anything, and the tests that must notice."""

from collections.abc import Mapping
from typing import Final

import attrs


@attrs.frozen
class Subject:
    """tests: paths from the root, the one that kills most first.  skipped: definitions that are left alone."""

    tests: tuple[str, ...]
    skipped: tuple[str, ...] = ()


def _prices(*names: str) -> tuple[str, ...]:
    return tuple(f"proofs_tests/prices/test_{name}.py" for name in names)


PLAN: Final[Mapping[str, Subject]] = {
    "accountant.rounding": Subject(_prices("rounding")),
    "accountant._numbers": Subject(_prices("numbers")),
    "accountant.gaussian": Subject(_prices("gaussian")),
    "accountant.fixed_plans": Subject(_prices("fixed_plans")),
    "accountant.curves": Subject(_prices("curves")),
    "accountant.costs": Subject(_prices("costs")),
    "accountant.composition": Subject(
        _prices("composition"), ("Amount.__repr__", "readable", "told_apart", "_apart", "digits_of")
    ),
    "accountant.advanced_rule": Subject(_prices("composition")),
    "accountant.rules": Subject(_prices("composition")),
    "accountant.adaptive_range": Subject(_prices("adaptive_range"), ("forget",)),
    "accountant.dominating": Subject(_prices("dominating")),
    "accountant.ranges_as_gaussian": Subject(_prices("ranges_as_gaussian")),
    "accountant.plans": Subject(_prices("plans")),
    "accountant.odometer": Subject(
        _prices("odometer"),
        (
            *("from_spending", "odometer", "_by_theorem", "_shares", "top"),
            *("Odometer.epsilon", "Odometer.at", "Odometer.curve", "Odometer.least_delta", "Odometer.over_time"),
            *("Odometer.plan", "Odometer.pld_curve", "Odometer.other_rules", "Odometer._delta_prime"),
            *("Odometer._advanced", "Odometer._under"),
        ),
    ),
    "accountant.gaussian_rule": Subject(_prices("gaussian_rule")),
    "accountant.loss_distribution": Subject(_prices("loss_distribution")),
    "accountant.calibration": Subject(_prices("calibration")),
    "mechanisms.kernels": Subject(_prices("kernels")),
    "mechanisms.sensitivity": Subject(_prices("sensitivity")),
    "mechanisms.histograms": Subject(_prices("histograms")),
    "mechanisms.group_queries": Subject(_prices("group_queries")),
    "mechanisms.objective": Subject(
        _prices("objective"),
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
    "mechanisms.logistic_loss": Subject(
        _prices("logistic_loss"), ("noise_that_gives", "curvature", "_share", "_Dense.gram")
    ),
    "mechanisms.quantiles": Subject(
        _prices("quantiles"),
        (
            *tuple(f"PrivateQuantile.{name}" for name in ("description", "sample", "log_probabilities", "rank_error")),
            "PrivateQuantiles.release",
            "PrivateQuantiles.rank_error",
            "Candidates.between",
        ),
    ),
    "mechanisms.leaf_labels": Subject(_prices("leaf_labels"), ("LeafLabelKernel.draw",)),
    "mechanisms.parallel": Subject(_prices("parallel")),
    "accountant.adjacency": Subject(_prices("adjacency"), ("ReplaceOne.__str__", "AddRemoveOne.__str__")),
    "accountant.charges": Subject(_prices("charges")),
    "mechanisms.plain": Subject(_prices("mechanism_types")),
    "mechanisms.robust": Subject(_prices("mechanism_types"), ("CertifiedMechanism.description",)),
    "mechanisms.queries": Subject(_prices("queries")),
    "mechanisms.additive": Subject(_prices("additive")),
    "mechanisms.selection": Subject(_prices("selection")),
    "mechanisms.gradients": Subject(_prices("gradients")),
    "mechanisms.one_hot": Subject(_prices("one_hot")),
    "mechanisms.rado_release": Subject(_prices("rado_release")),
    "mechanisms.feature_fits": Subject(_prices("feature_fits")),
    "mechanisms.feature_queries": Subject(_prices("feature_queries")),
    "mechanisms.gradient_queries": Subject(_prices("gradient_queries")),
    "mechanisms.rado_law": Subject(_prices("rado_law")),
    "mechanisms.stopping": Subject(_prices("stopping")),
    "mechanisms.choice_profile": Subject(_prices("choice_profile")),
    "mechanisms.tuning": Subject(_prices("tuning"), ("PrivateSelection.description", "_listed")),
}
