"""Modules and names that have moved: the old ones go on for one version, with a warning.

Version 0.1 had one flat folder a package. Whoever imports a module by its name of then gets what it held from where
that is now, and a warning that says where. To be removed with the version after 0.2.
"""

import importlib
import importlib.abc
import importlib.machinery
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Final

from accountant.renamed_names import new_name

_MOVED: Final[tuple[tuple[str, str, str], ...]] = (
    (
        "accountant",
        "accountant.costs",
        "_numbers=converters adjacency costs=cost_kinds curves gaussian rounding spendable",
    ),
    (
        "accountant",
        "accountant.composition",
        "adaptive_range advanced_rule=advanced calibration composition=rules dominating=dominating_pairs "
        "fixed_plans gaussian_rule=gaussian_sum loss_distribution plans ranges_as_gaussian rules=rule_names",
    ),
    ("accountant", "accountant", "refusals=exceptions"),
    (
        "accountant",
        "accountant.entries",
        "books=state export files=atomic_files lines=codec receipts records=entry_kinds trail=chain visible=printable",
    ),
    ("accountant", "accountant.storage", "sql_schema sql_store"),
    (
        "accountant",
        "accountant.audit",
        "audit=verification digits=displayed_numbers fast_reader odometer plain_words=plain_language "
        "replay=entry_checks report second_opinion separate_fits spending statement",
    ),
    (
        "accountant.report",
        "accountant.audit.report",
        "burn_down chapters document evidence page questions released spend_chapters",
    ),
    (
        "accountant.second_opinion",
        "accountant.audit.second_opinion",
        "extreme_pairs opinion peer peer_totals recomputed",
    ),
    (
        "accountant",
        "accountant.ledger",
        "bookkeeper=writer charges=charge_recorder durable=durability labels=account_names ledger "
        "protected=protected_data reservation",
    ),
    ("mechanisms", "mechanisms.core", "core=mechanism kernels=randomizers parallel plain robust rows sensitivity"),
    ("mechanisms", "mechanisms.randomness", "exact_choice laws=choice_probabilities noise=sources"),
    (
        "mechanisms",
        "mechanisms.selection",
        "choice_profile leaf_labels selection=noisy_choice stopping tuning=private_selection utility",
    ),
    (
        "mechanisms",
        "mechanisms.gradients",
        "feature_fits feature_queries gradient_queries=tree_gradients gradients=gradient_sums "
        "logistic_loss=linear_losses objective=objective_perturbation",
    ),
    ("mechanisms", "mechanisms.queries", "group_queries histograms queries=weighted_queries"),
    (
        "mechanisms",
        "mechanisms.rados",
        "one_hot rado=edge_vectors rado_coins=public_supports rado_law=column_distribution "
        "rado_release=noised_rados rado_sampling=sampling",
    ),
    ("boosting", "boosting", "reweighted=reweighted_sample schema=booster"),
    ("boosting", "boosting.rados", "rado=rado_boost rado_loss=losses rado_smoothing=smoothing"),
    (
        "boosting",
        "boosting.theory",
        "games generalisation guarantees halfspaces label_noise margin_data=margin_samples rado_attacks "
        "rado_bounds replays=reruns sample_sizes",
    ),
    (
        "learners",
        "learners.tables",
        "arrow_columns classes=public_classes coded=dictionary_columns columns labels schema tables=readers",
    ),
    ("learners", "learners.kinds", "category_names distinct=distinct_values single_values"),
    (
        "learners.tables",
        "learners.kinds",
        "category_names column_checks distinct_values missing_numbers numeric_column quick_cells single_values",
    ),
    (
        "learners",
        "learners.blocks",
        "dask_rows=dask file_rows=files mapped_table parquet_table source_files=unchanged_files sources=block_tables",
    ),
    (
        "learners",
        "learners.encoding",
        "coding=numeric_features encoded_rows encoding=encoder packing partitions quantile_cuts "
        "row_parts=row_chunks row_products weighted_sums",
    ),
    (
        "learners",
        "learners.base",
        "allowance=budget calibration=score_calibration defaults estimator=table_classifier "
        "gaussian_parts=gaussian_budget parameters paying=private_estimator selections=selection_rules "
        "separate_fits=separate_ledgers tuning",
    ),
    ("learners", "learners.additive", "additive_boost additive_model private_boost views"),
    ("learners", "learners.additive.posteriors", "effects"),
    (
        "learners",
        "learners.votes",
        "lazy_boost lazy_plan one_rule=one_rules top_down trees=binary_trees votes=majority_vote weak_learners",
    ),
    ("learners", "learners.trees", "bagging complete_trees forest gradient_boosting gradient_trees"),
    ("learners", "learners.linear", "logistic"),
    (
        "learners",
        "learners.halfspaces",
        "centring=centred_means halfspace_boost halfspace_model halfspace_plan "
        "halfspace_promise=guaranteed_settings level_weights=stepped_weights "
        "noisy_centring=noisy_centred_mean point_sample point_sums=exact_sums",
    ),
    (
        "learners",
        "learners.rados",
        "rado_boost=rado_classifier rado_coding=rado_records rado_designs rado_features=protected_columns "
        "rado_sums=public_sums rados=rado_releases",
    ),
    (
        "learners",
        "learners.random_features",
        "interpolation random_feature_angles=angles random_feature_baselines=baselines "
        "random_feature_descent=descent random_feature_gram=gram_matrix random_feature_maps=feature_maps "
        "random_feature_model=feature_model random_feature_rows=feature_rows random_feature_solvers=solvers "
        "random_feature_theory=error_bounds random_features=estimators",
    ),
    ("learners", "learners.fairness", "fairness=group_measures private_fairness=private_measures private_groups"),
    ("learners", "learners.inspection", "margins plots points=point_tables scorecards"),
    (
        "exchequer",
        "exchequer.commands",
        "auditing=auditing.audit_ledger books=ledgers.open_ledger budgeting=ledgers.spend_plan "
        "claims=auditing.installed_claims demo explain ledger_commands=ledgers.ledger_commands "
        "overview=auditing.show_ledger payer=ledgers.paying_ledger rado_commands rados train",
    ),
    ("learners", "accountant.audit", "contents=model_claims"),
    ("exchequer", "accountant.audit", "verify_model=saved_models"),
    ("exchequer", "exchequer.prices", "halfspace_price price rules=pricing_rules"),
    ("exchequer", "exchequer.console", "bad_input=input_errors show=output"),
)
"""Where modules were, where they are, and their names: `old=new`, or one name for both."""


def _pairs() -> Iterator[tuple[str, str]]:
    for before, now, names in _MOVED:
        for name in names.split():
            old, _, new = name.partition("=")
            yield f"{before}.{old}", f"{now}.{new or old}"


MOVED: Final = dict(_pairs())
"""Old dotted names and new ones."""


class MovedModule(FutureWarning):
    """A module, or something in one, was asked for by a name that it no longer has."""


def _warn(old: str, new: str) -> None:
    warnings.warn(f"{old} has moved: import it from {new}, or from a package above it", MovedModule, stacklevel=3)


def _renamed(module: str, name: str, offered: ModuleType) -> object:
    """What that module called so, with a warning. Raises AttributeError for what it never had."""
    new = None if name.startswith("__") else new_name(module, name, offered)
    if new is None:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    place, _, last = new.rpartition(".")
    warnings.warn(f"{module}.{name} is {new} now", MovedModule, stacklevel=3)
    found = importlib.import_module(place)
    return getattr(found, last) if hasattr(found, last) else importlib.import_module(new)


class _Moved(importlib.abc.Loader):
    """A module under its old name: everything that it is asked for is looked up where it is now."""

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        old, new = module.__name__, MOVED[module.__name__]
        _warn(old, new)
        found = importlib.import_module(new)
        module.__doc__ = found.__doc__
        if hasattr(found, "__path__"):
            module.__path__ = []  # found in its folder, its modules would be there twice

        def there(name: str) -> object:
            known = not name.startswith("__") and hasattr(found, name)
            return getattr(found, name) if known else _renamed(old, name, found)

        vars(module)["__getattr__"] = there
        vars(module)["__dir__"] = lambda: dir(found)


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        return importlib.machinery.ModuleSpec(fullname, _Moved()) if fullname in MOVED else None


def go_on_with_old_names() -> None:
    """From now on. It is asked after all other finders, so it hides nothing."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())


def old_names(package: str) -> Callable[[str], object]:
    """`__getattr__` for a module of which names have changed, or which has the name of one that moved into it."""

    def found(name: str) -> object:
        moved = None if package not in MOVED or name.startswith("__") else importlib.import_module(MOVED[package])
        if moved is not None and hasattr(moved, name):
            _warn(f"{package}.{name}", MOVED[package])
            return getattr(moved, name)
        return _renamed(package, name, sys.modules[package])

    return found
