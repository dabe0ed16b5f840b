"""Every system of the comparisons. A new one is a line in `OURS`, and a function above it."""

from benchmarks.data import EPSILONS, HYPERPARAMETERS, Setting, Split
from benchmarks.systems.baselines import BASELINES
from benchmarks.systems.systems import Scorer, System, ours
from learners import (
    DPBaggingClassifier,
    DPGradientBoostingClassifier,
    DPLogisticRegression,
    DPRandomForestClassifier,
    LazyBoostClassifier,
    PrivateBoostClassifier,
)
from learners.additive import Promise


def paper_setting(dataset: str, epsilon: float) -> Setting:
    """The paper's hyper-parameters, of the largest printed ε that is not above the given one."""
    below = [printed for printed in EPSILONS if printed <= epsilon] or [EPSILONS[0]]
    return HYPERPARAMETERS[dataset][below[-1]]


def boosted_rules(dataset: str, epsilon: float, delta: float, seed: int) -> LazyBoostClassifier:
    """Boosted 1-Rules as in Tables 8 to 10."""
    setting = paper_setting(dataset, epsilon)
    return LazyBoostClassifier(
        epsilon,
        delta,
        rounds=setting.rounds,
        learning_rate=setting.learning_rate,
        density=setting.density,
        random_state=seed,
    )


def many_boosted_rules(dataset: str, epsilon: float, delta: float, seed: int) -> LazyBoostClassifier:
    """Boosted 1-Rules, slow and long, for δ > 0; the same on every data set."""
    return LazyBoostClassifier(epsilon, delta, rounds=200, learning_rate=0.1, density=0.25, random_state=seed)


def recommended(adjacency: Promise) -> System:
    """The learner that we recommend, with nothing set but its budget."""

    def fit(split: Split, epsilon: float, delta: float, seed: int) -> Scorer:
        model = PrivateBoostClassifier(epsilon, delta, adjacency=adjacency, random_state=seed)
        found = model.fit_encoded(split.train.refined.sample).model_
        return lambda part: found.scores(part.refined.codes)

    return System(f"PrivateBoost, {adjacency}", fit, needs_delta=True)


def logistic_regression(dataset: str, epsilon: float, delta: float, seed: int) -> DPLogisticRegression:
    """Objective perturbation with its default regularization."""
    return DPLogisticRegression(epsilon, delta, random_state=seed)


def forest(dataset: str, epsilon: float, delta: float, seed: int) -> DPRandomForestClassifier:
    """Random trees with noisy leaves, with its defaults."""
    return DPRandomForestClassifier(epsilon, delta, seed=seed, random_state=seed)


def gradient_boosting(dataset: str, epsilon: float, delta: float, seed: int) -> DPGradientBoostingClassifier:
    """DPBoost with sensitivities that hold, with our defaults."""
    return DPGradientBoostingClassifier(epsilon, delta, seed=seed, random_state=seed)


def paper_gradient_boosting(dataset: str, epsilon: float, delta: float, seed: int) -> DPGradientBoostingClassifier:
    """The same in the shape that its paper uses: 50 trees of depth 6."""
    return DPGradientBoostingClassifier(
        epsilon,
        delta,
        n_estimators=50,
        ensemble=50,
        depth=6,
        learning_rate=0.1,
        regularization=0.1,
        seed=seed,
        random_state=seed,
    )


def bagging(dataset: str, epsilon: float, delta: float, seed: int) -> DPBaggingClassifier:
    """Teachers that vote on points drawn from the public schema, with its defaults."""
    return DPBaggingClassifier(epsilon, delta, seed=seed, random_state=seed)


def boosted_trees(dataset: str, epsilon: float, delta: float, seed: int) -> LazyBoostClassifier:
    """Boosted DP-TopDown trees with the library's defaults."""
    return LazyBoostClassifier(epsilon, delta, weak_learner="top-down", random_state=seed)


def single_tree(dataset: str, epsilon: float, delta: float, seed: int) -> LazyBoostClassifier:
    """One DP-TopDown tree: the whole budget for one round."""
    return LazyBoostClassifier(
        epsilon, delta, weak_learner="top-down", rounds=1, splits=7, density=1.0, learning_rate=0.5, random_state=seed
    )


def default_rules(dataset: str, epsilon: float, delta: float, seed: int) -> LazyBoostClassifier:
    """Boosted 1-Rules with the library's defaults."""
    return LazyBoostClassifier(epsilon, delta, random_state=seed)


RECOMMENDED = recommended("add-remove-one")
BOOSTED_RULES = ours("boosted 1-Rules", boosted_rules)

OURS: tuple[System, ...] = (
    RECOMMENDED,
    recommended("replace-one"),
    BOOSTED_RULES,
    ours("boosted 1-Rules, 200 rounds", many_boosted_rules),
    ours("boosted 1-Rules, our defaults", default_rules),
    ours("boosted TopDown, our defaults", boosted_trees),
    ours("one TopDown tree, 7 splits", single_tree),
    ours("logistic regression", logistic_regression),
    ours("random forest", forest),
    ours("DPBoost, our defaults", gradient_boosting),
    ours("DPBoost, 50 trees of depth 6", paper_gradient_boosting),
    ours("bagging, drawn points", bagging),
)
"""Ours, a row each; measured anew in every run. To add one, write a function like those above and

    ours("its name", the_function)                     # sees the schema's features
    ours("its name", the_function, bins=128)           # sees numeric columns in 128 equal-width bins
    ours("its name", the_function, needs_delta=True)   # is left out where δ = 0

or a `System` of its own, for what has no `fit_encoded`.
"""

SYSTEMS: tuple[System, ...] = (*OURS, *BASELINES)
"""What needs no package but our own. `benchmarks.peers.peer_systems.PEERS` has the others."""
