"""Learners without privacy: what there is to lose. None of them is private, and none is charged for."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # scikit-learn brings it

from benchmarks.data import HYPERPARAMETERS, Split, categorical
from benchmarks.systems.systems import Fit, Scorer, System
from boosting import LazyBregman
from learners import EncodedSample
from learners.votes import OneRule, VoteModel, one_rule_scores, one_rules


def best_rules(sample: EncodedSample, rounds: int, booster: LazyBregman) -> list[OneRule]:
    """LazyBB without noise: the 1-Rule of least weighted error in every round, the first of equals."""
    candidates, rules = one_rules(sample.layout.d), []
    state = booster.start(sample)
    for _ in range(rounds):
        rules.append(candidates[int(np.argmax(one_rule_scores(state)))])
        state = booster.step(state, rules[-1])
    return rules


def votes(split: Split, rules: Sequence[OneRule]) -> Scorer:
    """The majority vote of some rules."""
    model = VoteModel(split.train.schema, rules)
    return lambda part: model.scores(part.codes)


def single_rule(split: Split, epsilon: float, delta: float, seed: int) -> Scorer:
    """The 1-Rule of least training error."""
    return votes(split, best_rules(split.train.sample, 1, LazyBregman(1.0, 1.0)))


def boosted_rules(split: Split, epsilon: float, delta: float, seed: int) -> Scorer:
    """LazyBB without noise, with the paper's hyper-parameters for its largest ε."""
    setting = HYPERPARAMETERS[split.name][5.0]
    booster = LazyBregman(setting.density, setting.learning_rate)
    return votes(split, best_rules(split.train.sample, setting.rounds, booster))


def ada_boost(split: Split, epsilon: float, delta: float, seed: int) -> Scorer:
    """scikit-learn's AdaBoost (SAMME) over stumps on our Boolean features."""
    stump = DecisionTreeClassifier(max_depth=1, random_state=0)
    model = AdaBoostClassifier(stump, n_estimators=100, random_state=0)
    model.fit(split.train.one_hot, split.train.positive)
    return lambda part: np.asarray(model.decision_function(part.one_hot), dtype=np.float64)


def gradient_boosting(split: Split, epsilon: float, delta: float, seed: int) -> Scorer:
    """scikit-learn's histogram gradient boosting, default settings, on our Boolean features."""
    model = _alone(HistGradientBoostingClassifier(random_state=0), split.train.one_hot, split.train.positive)
    return lambda part: np.asarray(model.decision_function(part.one_hot), dtype=np.float64)


def gradient_boosting_raw(split: Split, epsilon: float, delta: float, seed: int) -> Scorer:
    """The same on numbers as they are."""
    model = HistGradientBoostingClassifier(random_state=0, categorical_features=categorical(split.train.schema))
    _alone(model, split.train.raw, split.train.positive)
    return lambda part: np.asarray(model.decision_function(part.raw), dtype=np.float64)


def _alone(
    model: HistGradientBoostingClassifier, records: npt.NDArray[np.generic], positive: npt.NDArray[np.bool_]
) -> HistGradientBoostingClassifier:
    """Fitted by one thread: several wait for each other actively, on busy cores twenty times as long as they work."""
    with threadpool_limits(1, user_api="openmp"):
        return model.fit(records, positive)


def _baseline(name: str, fit: Fit, kept: bool) -> System:
    return System(name, fit, private=False, deterministic=True, kept=kept)


BASELINES = (
    _baseline("single 1-Rule", single_rule, kept=False),
    _baseline("boosted 1-Rules without noise", boosted_rules, kept=False),
    _baseline("AdaBoost over stumps, 100 rounds (scikit-learn)", ada_boost, kept=True),
    _baseline("gradient boosting on Boolean features (scikit-learn)", gradient_boosting, kept=True),
    _baseline("gradient boosting on raw columns (scikit-learn)", gradient_boosting_raw, kept=True),
)
"""From weak to strong."""
