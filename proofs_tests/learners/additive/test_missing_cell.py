"""Missing numbers in the additive learner: a cell whose effect is its own, wherever the model is shown."""

import json
from functools import partial
from pathlib import Path
from typing import Final

import attrs
import numpy as np
import numpy.typing as npt
import pytest
from matplotlib.figure import Figure
from sklearn.metrics import roc_auc_score

from accountant.arrays import FloatArray, IntArray
from learners import Categorical, Numeric, PrivateBoostClassifier, Schema
from learners.additive.additive_model import AdditiveModel
from learners.additive.grids import followed_grids, parted
from learners.additive.posteriors.missing_cell import APART, with_own_bin, with_own_share
from learners.additive.posteriors.ordered_effects import OrderedEffect
from learners.additive.round_bins import round_bins
from learners.additive.views import pair_columns, views
from learners.encoding import FINE, FINEST, finely_cut
from learners.inspection import plots
from learners.inspection.scorecards import PointsCard, scorecard
from mechanisms.queries.histograms import histograms

AGE: Final = Numeric("age", 0, 100, missing="own")
FEW: Final = Numeric("few", 0, 4, bins=4, missing="own")
TWO: Final = Numeric("two", 0, 2, bins=2, cuts=(1.0,), missing="own")
SCHEMA: Final = Schema((AGE, FEW, TWO, Categorical("job", ("clerk", "smith"))))


def people(n: int, seed: int) -> tuple[dict[str, npt.NDArray[np.generic]], npt.NDArray[np.intp]]:
    """Whose age is missing more often in class 1, which no number says as well."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    age = rng.uniform(0, 100, n)
    age[rng.random(n) < np.where(y == 1, 0.5, 0.1)] = np.nan
    few, two = rng.uniform(0, 4, n), rng.uniform(0, 2, n)
    few[rng.random(n) < 0.2] = np.nan
    two[rng.random(n) < np.where(y == 1, 0.1, 0.3)] = np.nan
    return {"age": age, "few": few, "two": two, "job": np.array(["clerk", "smith"])[rng.integers(0, 2, n)]}, y


X, Y = people(6000, 0)


def fitted(schema: Schema = SCHEMA, epsilon: float = 1.0, **parameters: object) -> PrivateBoostClassifier:
    settings: dict[str, object] = {"schema": schema, "random_state": 0, "interactions": (), **parameters}
    return PrivateBoostClassifier(epsilon, 1e-5, **settings).fit(X, Y)  # type: ignore[arg-type]  # mixed on purpose


MODEL: Final = fitted()


def test_the_own_cell_learns_what_a_number_in_the_middle_cannot() -> None:
    test, y = people(6000, 1)
    middle = Schema(tuple(attrs.evolve(c, missing=1.0) if isinstance(c, Numeric) else c for c in SCHEMA.columns))
    filled = fitted(middle)
    own, other = (roc_auc_score(y, model.decision_function(test)) for model in (MODEL, filled))
    assert own > 0.74
    assert own > other - 0.002  # the cell at 1 has next to no other records here, but is tied to its neighbours


def test_every_curve_has_the_cell_last_with_an_effect_of_its_own() -> None:
    curves = {curve.columns[0]: curve for curve in fitted(epsilon=100.0).explain()}
    for name in ("age", "few", "two"):
        assert curves[name].cells[-1] == ("missing",)
        assert len(curves[name].cells) == curves[name].effects.size
        assert all(cell != ("missing",) for cell in curves[name].cells[:-1])
    age = curves["age"].effects
    assert age[-1] - age[:-1].max() > 1.0  # log-odds of .5 against .1 and of .5 against .9 are 2.2 apart
    assert abs(age[-2] - age[:-1].mean()) < 0.5  # and the cell before it is not drawn along
    assert abs(curves["few"].effects[-1] - curves["few"].effects[:-1].mean()) < 0.3


def test_three_classes_and_pairs_have_the_cell() -> None:
    rng = np.random.default_rng(2)
    classes = np.where(np.isnan(X["age"].astype(float)), 2, rng.integers(0, 2, Y.size))
    model = PrivateBoostClassifier(3.0, 1e-5, schema=SCHEMA, classes=(0, 1, 2), random_state=0).fit(X, classes)
    assert model.predict({name: values[np.isnan(X["age"].astype(float))] for name, values in X.items()}).min() == 2
    paired = fitted(interactions=[("age", "few")])
    pair = next(curve for curve in paired.explain() if len(curve.columns) == 2)
    assert len(pair.cells) == 9 * 9
    assert pair.cells[-1] == ("missing", "missing")
    assert pair_columns(SCHEMA, ("age", "few")) == (0, 1)


def test_saved_models_keep_the_cell(tmp_path: Path) -> None:
    MODEL.save(tmp_path / "model.json")
    again = PrivateBoostClassifier.load(tmp_path / "model.json")
    assert np.array_equal(again.decision_function(X), MODEL.decision_function(X))
    record = json.loads(json.dumps(MODEL.model_.as_record()))
    term = next(term for term in record["terms"] if term["columns"] == [1])
    term["maps"] = [[0, 1, 2, 3, 3]]
    term["values"] = term["values"][:4]
    with pytest.raises(ValueError, match="does not fit"):
        AdditiveModel.from_record(record)


# --- what a reader sees -----------------------------------------------------------------------------------------------


def test_a_card_has_a_line_for_what_is_missing() -> None:
    card = scorecard(MODEL)
    assert isinstance(card, PointsCard)
    assert "(missing)" in str(card)
    assert '{"missing": true}' in json.dumps(card.as_dict())
    rows = [{name: values[row] for name, values in X.items()} for row in range(300)]
    scores = card.unit.points(MODEL.decision_function(X)[:300])
    totals = np.array([card.total(row)[0] for row in rows])
    assert np.max(np.abs(totals - scores)) < 1.5 * 5  # 1.5 points a table and the base
    empty = {"age": "", "few": None, "two": "NaN", "job": "smith"}
    assert card.answer(empty) in {"0", "1"}


def test_a_number_that_missing_values_count_as_has_its_line() -> None:
    schema = Schema((attrs.evolve(AGE, missing=99.0), *SCHEMA.columns[1:]))
    card = scorecard(fitted(schema))
    assert isinstance(card, PointsCard)
    gap, number = ({"age": age, "few": 1, "two": 1, "job": "smith"} for age in (None, 99.0))
    assert card.total(gap) == card.total(number)


def test_a_card_of_a_pair_knows_missing_values_in_both() -> None:
    card = scorecard(fitted(interactions=[("age", "few")]))
    assert isinstance(card, PointsCard)
    for age in (None, 50.0):
        for few in (None, 3.5):
            assert len(card.total({"age": age, "few": few, "two": 1.5, "job": "clerk"})) == 1


def test_plots_draw_the_cell() -> None:
    for columns in (("age",), ("few",), ("two",)):
        axes = plots.curve(MODEL, *columns, ax=Figure().add_subplot())
        assert [text.get_text() for text in axes.get_legend().get_texts()] == ["missing"]  # type: ignore[union-attr]  # it has one
    paired = fitted(interactions=[("age", "few")])
    axes = plots.curve(paired, "age", "few", ax=Figure().add_subplot())
    assert axes.get_xticklabels()[-1].get_text() == axes.get_yticklabels()[-1].get_text() == "missing"


# --- its parts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("finer", [False, True])
def test_the_histogram_counts_missing_values_apart_from_all_numbers(finer: bool) -> None:
    schema = finely_cut(Schema((AGE, Numeric("pay", 0, 1))), FINEST)
    fine = schema.columns[0].cells - 1
    codes = np.array([[0, fine, fine, 10], [fine - 1, 0, 0, 0]])
    numbers = set()

    def count(factor: float, parts: list[IntArray]) -> FloatArray:
        assert parts[0][-1] == parts[0][-2] + 1
        found = parted(codes, (0, 1), parts)
        numbers.add(found.number)
        return np.asarray(factor * histograms(found))

    whole = 1e-6 if finer else 1e9
    grids = followed_grids(schema, partial(count, 1e5), 1.0, 1.0, whole)
    assert (numbers == {FINE + 1}) == (not finer)
    age, pay = views(schema, grids, ())
    assert age.own
    assert not pay.own
    assert age.finer == pay.finer == finer
    assert age.mass is not None
    assert age.mass[-1] == pytest.approx(0.5, rel=0.01)
    assert age.mass.sum() == pytest.approx(1.0)
    assert (age.maps[0][-2], age.maps[0][-1]) == (age.number - 2, age.number - 1)
    part = round_bins(age, 8.0, np.random.default_rng(0))
    assert (part[-1], part[-2]) == (part[-2] + 1, part[:-1].max())
    none = views(schema, followed_grids(schema, partial(count, -5.0), 1.0, 1.0, whole), ())[0]
    assert none.mass is not None
    assert 0.0 < none.mass[-1] < 1e-4


def test_the_cell_shares_the_level_and_nothing_else() -> None:
    mass = np.full(9, 1.0 / 9.0)
    effect = OrderedEffect.start(mass, np.full(8, 1.0 / 8.0), 0.5, own=True)
    unit = np.eye(9)
    covariance = np.stack([effect.path.times(each) for each in unit])
    assert covariance[-1].tolist() == [0.0] * 8 + [APART]
    part = with_own_bin(np.array([0, 0, 0, 0, 1, 1, 1, 1]))
    assert part.tolist() == [0] * 4 + [1] * 4 + [2]
    effect.update(part, np.array([0.0, 0.0, 3.0]), np.full(3, 1e-4))
    assert effect.mean[-1] == pytest.approx(3.0, rel=0.01)
    assert effect.mean[:-1].mean() == pytest.approx(0.0, abs=0.01)
    assert with_own_share(np.array([0.5, 0.5]), np.nan_to_num(0.2)).tolist() == pytest.approx([0.4, 0.4, 0.2])
