"""Constraints on directions: exact in predictions whatever the noise, free of charge, refused without an order."""

from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from learners import Boolean, Categorical, Numeric, PrivateBoostClassifier, Schema
from learners.additive.monotone import check_constraints, directions, in_bins, monotone

SCHEMA: Final = Schema(
    (
        Numeric("age", 0, 100, missing="own"),
        Numeric("pay", 0, 1000),
        Numeric("few", 0, 3, cuts=(1.0, 2.0)),
        Categorical("job", ("clerk", "smith")),
        Boolean("truth"),
    )
)


def people(n: int, seed: int) -> tuple[dict[str, npt.NDArray[np.generic]], npt.NDArray[np.intp]]:
    """Class 1 becomes likelier with age, less likely with pay; both bend back where there are few."""
    rng = np.random.default_rng(seed)
    age, pay, few = rng.uniform(0, 100, n), rng.exponential(100, n).clip(0, 1000), rng.uniform(0, 3, n)
    score = 0.04 * (age - 50) - 1.5 * (age > 90) - 0.01 * (pay - 100) + rng.logistic(size=n)
    y = (score > 0).astype(np.intp)
    age[rng.random(n) < np.where(y == 1, 0.3, 0.05)] = np.nan
    table: dict[str, npt.NDArray[np.generic]] = {"age": age, "pay": pay, "few": few}
    return {**table, "job": np.array(["clerk", "smith"])[rng.integers(0, 2, n)], "truth": rng.integers(0, 2, n)}, y


X, Y = people(3000, 0)
HELD: Final = {"age": 1, "pay": -1, "few": 1}
FREE: Final[tuple[tuple[str, str], ...]] = ()


def fitted(constraints: object = HELD, epsilon: float = 1.0, seed: int = 0, **more: object) -> PrivateBoostClassifier:
    given: dict[str, Any] = {"schema": SCHEMA, "random_state": seed, "monotonic_cst": constraints, **more}
    return PrivateBoostClassifier(epsilon, 1e-5, **given).fit(X, Y)


@settings(max_examples=15)
@given(
    st.sampled_from([0.01, 0.1, 1.0, 1000.0]),
    st.integers(0, 5),
    st.dictionaries(st.sampled_from(["age", "pay", "few"]), st.sampled_from([-1, 0, 1])),
    st.sampled_from([0.0, 0.1]),
)
def test_predictions_keep_every_order_exactly(
    epsilon: float, seed: int, constraints: dict[str, int], calibration: float
) -> None:
    model = fitted(constraints, epsilon, seed, calibration=calibration)
    curves = {curve.columns[0]: curve.effects for curve in model.explain()}
    for name, direction in constraints.items():
        column = SCHEMA.columns[SCHEMA.names.index(name)]
        assert isinstance(column, Numeric)
        effects = curves[name][:-1] if column.own_cell else curves[name]
        assert np.all(direction * np.diff(effects) >= 0.0)
        line = np.linspace(column.lower, column.upper, 700)
        rng = np.random.default_rng(seed)
        for row in rng.integers(0, Y.size, 5):
            rest = {other: np.repeat(values[row : row + 1], line.size) for other, values in X.items()}
            scores = model.decision_function({**rest, name: line})
            shares = model.predict_proba({**rest, name: line})[:, 1]
            for found in (scores, shares):
                assert np.all(direction * np.diff(found) >= 0.0), (name, direction)


def test_true_constraints_help_where_noise_is_large_and_the_cell_of_missing_values_is_free() -> None:
    test, y = people(6000, 1)

    def quality(constraints: object) -> float:
        found = [roc_auc_score(y, fitted(constraints, 0.1, seed).decision_function(test)) for seed in range(6)]
        return float(np.mean(found))

    assert quality(HELD) > quality(None) - 0.01
    ages = next(curve for curve in fitted(epsilon=10.0).explain() if curve.columns == ("age",))
    assert ages.cells[-1] == ("missing",)
    assert ages.effects[-1] > ages.effects[:-1].mean() + 0.5
    falling = next(curve for curve in fitted({"age": -1}, 10.0).explain() if curve.columns == ("age",))
    assert np.ptp(falling.effects[:-1]) < 0.1 * np.ptp(ages.effects[:-1])  # flat, rather than against its data
    assert falling.effects[-1] > falling.effects[:-1].max()


def test_constraints_that_are_all_free_change_no_bit_and_no_price() -> None:
    plain = fitted(None)
    for each in ({}, {"age": 0}, [0, 0, 0, 0, 0]):
        assert np.array_equal(fitted(each).decision_function(X), plain.decision_function(X))
    assert fitted(HELD).eta_ == plain.eta_
    listed = fitted([1, -1, 1, 0, 0])
    assert np.array_equal(listed.decision_function(X), fitted(HELD).decision_function(X))


@pytest.mark.parametrize("given", [HELD, [1, -1, 1, 0, 0], np.array([1, -1, 1, 0, 0])], ids=["names", "list", "array"])
def test_models_with_constraints_are_saved_and_cloned(given: object, tmp_path: Path) -> None:
    model = fitted(given)
    model.save(tmp_path / "model.json")
    again = PrivateBoostClassifier.load(tmp_path / "model.json")
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    assert check_constraints(again.monotonic_cst) == check_constraints(model.monotonic_cst)
    assert check_constraints(clone(model).monotonic_cst) == check_constraints(model.monotonic_cst)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"age": 2}, "expected -1"),
        ({"age": True}, "expected -1"),
        ({"age": 0.5}, "expected -1"),
        ("age", "expected a mapping"),
        (1, "expected a mapping"),
        ({"wage": 1}, "there is no column 'wage'"),
        ([1, 0], "2 constraints for 5 columns"),
        ({"job": 1}, "column 'job' is categorical"),
        ({"truth": -1}, "column 'truth' is boolean"),
    ],
    ids=str,
)
def test_what_has_no_order_is_refused_before_anything_is_charged(given: object, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        fitted(given)


def test_pairs_and_several_classes_are_refused() -> None:
    with pytest.raises(ValueError, match="'age' is in a pair"):
        fitted(HELD, interactions=[("job", "age")])
    assert fitted({"pay": -1}, interactions=[("job", "age")]).predict(X).shape == Y.shape
    with pytest.raises(ValueError, match="two classes only"):
        PrivateBoostClassifier(schema=SCHEMA, classes=(0, 1, 2), monotonic_cst={"age": 1}).fit(X, Y)
    assert directions({"job": 0, "age": 1}, SCHEMA, 2, FREE) == (1, 0, 0, 0, 0)
    assert directions({"job": 0}, SCHEMA, 3, FREE) == ()


numbers = st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(0, 1)), min_size=1, max_size=30)


@given(numbers, st.sampled_from([-1, 1]), st.booleans())
def test_the_nearest_means_in_order(cells: list[tuple[float, float]], direction: int, own: bool) -> None:
    means, mass = (np.array(each) for each in zip(*cells, strict=True))
    if own and means.size == 1:
        return
    found = monotone(means, mass, direction, own)
    ordered = found[: means.size - own]
    assert np.all(direction * np.diff(ordered) >= 0.0)
    assert np.array_equal(found[means.size - own :], means[means.size - own :])
    assert means.min() - 1e-9 <= found.min() <= found.max() <= means.max() + 1e-9
    again = monotone(found, mass, direction, own)
    assert again == pytest.approx(found, abs=1e-9)
    weight = np.maximum(mass, 1e-9)[: means.size - own]
    assert weight @ (ordered - means[: means.size - own]) == pytest.approx(0.0, abs=1e-6)


def test_means_over_bins() -> None:
    assert in_bins(np.array([1.0, 3.0, 5.0]), np.array([1.0, 3.0, 2.0]), np.array([0, 0, 1])).tolist() == [2.5, 5.0]
