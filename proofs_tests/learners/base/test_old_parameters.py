"""Parameters by their old names: they go on with a warning, and files have them as they always had."""

import json
import re
import warnings
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline

from accountant import ApproxDP, BasicComposition, Ledger, PureDP, ReplaceOne
from learners import (
    Bounds,
    DPGradientBoostingClassifier,
    DPRandomForestClassifier,
    PrivateBoostClassifier,
    RandomFeatureClassifier,
    RandomFeatureMap,
    RandomFeatureRegressor,
    SeparateLedgersWarning,
    random_features,
)
from learners.base import PrivateEstimator, RenamedParameter
from learners.random_features.solvers import Task

RNG: Final = np.random.default_rng(0)
X: Final = RNG.uniform(-1.0, 1.0, (60, 2))
Y: Final = (X[:, 0] > 0.0).astype(int)

FEATURES: Final[dict[str, tuple[str, Any]]] = {
    "law": ("distribution", "cauchy"),
    "form": ("feature_map", "cosine"),
    "number": ("n_components", 7),
    "map_seed": ("feature_seed", 3),
}
OLD: Final = [
    *((kind, old, new, value) for kind in (RandomFeatureRegressor, RandomFeatureClassifier)
      for old, (new, value) in FEATURES.items()),
    (PrivateBoostClassifier, "sweeps", "rounds_per_column", 3),
    (DPRandomForestClassifier, "trees", "n_estimators", 3),
    (DPGradientBoostingClassifier, "trees", "n_estimators", 3),
]  # fmt: skip
IDS: Final = [f"{kind.__name__}-{old}" for kind, old, _, _ in OLD]


def said(old: str, new: str) -> Any:
    return pytest.warns(RenamedParameter, match=f"^[A-Z][A-Za-z]+: the parameter '{old}' is called '{new}' now; 0.2 is")


@pytest.mark.parametrize(("kind", "old", "new", "value"), OLD, ids=IDS)
def test_an_old_name_means_what_it_meant(kind: Any, old: str, new: str, value: object) -> None:
    with said(old, new) as caught:
        found = kind(**{old: value})
    assert caught[0].filename == __file__
    assert found.get_params() == kind(**{new: value}).get_params()
    assert new in found.get_params()
    assert old not in found.get_params()
    with said(old, new) as caught:
        assert kind().set_params(**{old: value}).get_params() == found.get_params()
    assert caught[0].filename == __file__
    with said(old, new):
        assert getattr(found, old) == value
    other = kind()
    with said(old, new):
        setattr(other, old, value)
    assert other.get_params() == found.get_params()
    assert clone(found).get_params() == found.get_params()


@pytest.mark.parametrize(("kind", "old", "new", "value"), OLD, ids=IDS)
def test_both_names_at_once_are_refused(kind: Any, old: str, new: str, value: object) -> None:
    both = {old: value, new: value}
    for takes in (kind, kind().set_params):
        with pytest.raises(TypeError, match=f"'{new}' and '{old}' are one parameter"):
            takes(**both)


def test_others_are_refused_as_ever_and_new_names_say_nothing() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'sweep'"):
        PrivateBoostClassifier(sweep=3)  # type: ignore[call-arg]  # wrong on purpose
    with pytest.raises(ValueError, match="Invalid parameter 'sweep'"):
        PrivateBoostClassifier().set_params(sweep=3)
    with pytest.raises(TypeError, match="unexpected keyword argument 'sweeps'"):
        DPRandomForestClassifier(sweeps=3)  # type: ignore[call-arg]  # no parameter of that one
    assert not hasattr(DPRandomForestClassifier(), "sweeps")
    with warnings.catch_warnings(action="error"):
        PrivateBoostClassifier(rounds_per_column=3).set_params(rounds_per_column=4)


def test_a_subclass_of_somebody_else_goes_on_with_old_names() -> None:
    class Passing(RandomFeatureRegressor):
        def __init__(self, epsilon: float = 1.0, *, law: Any = "cauchy") -> None:
            super().__init__(epsilon, law=law)  # type: ignore[call-arg]  # as it was called

    class Setting(PrivateBoostClassifier):
        def __init__(self, sweeps: int = 5) -> None:
            super().__init__()
            self.sweeps = sweeps

    class Bare(RandomFeatureRegressor):
        pass

    with said("law", "distribution"):
        assert Passing().distribution == "cauchy"
    with said("sweeps", "rounds_per_column"):
        assert Setting(sweeps=6).rounds_per_column == 6
    with said("law", "distribution"):
        assert Bare(law="orthogonal").distribution == "orthogonal"  # type: ignore[call-arg]  # as it was called


def test_a_map_and_a_task_go_on_with_old_names() -> None:
    new = RandomFeatureMap("gaussian", "cosine", 2, n_components=5, scale=1.0, seed=1)
    with said("law", "distribution"), said("form", "feature_map"), said("number", "n_components"):
        old = RandomFeatureMap(law="gaussian", form="cosine", inputs=2, number=5, scale=1.0, seed=1)  # type: ignore[call-arg]  # as it was called
    assert old == new
    task: Any = Task(None, "gaussian", "cosine", 5, None, 0)  # type: ignore[arg-type]  # no records
    for read in (new, task):
        for name, (now, _) in list(FEATURES.items())[:3]:
            with said(name, now):
                assert getattr(read, name) == getattr(read, now)


def test_names_of_types_go_on() -> None:
    for old, new in (("Law", "FrequencyDistribution"), ("Form", "FeatureMap")):
        with pytest.warns(FutureWarning, match=f"learners.random_features.{old} is learners.random_features.{new} now"):
            assert getattr(random_features, old) is getattr(random_features, new)
    with pytest.raises(AttributeError, match="no attribute 'Laws'"):
        random_features.Laws  # type: ignore[attr-defined]  # noqa: B018  # the point of it


# --- settings that are searched ---------------------------------------------------------------------------------------


def settings_of(tune: list[dict[str, object]]) -> tuple[Any, list[str]]:
    """The model, and the entries of a ledger that paid for it."""
    ledger = Ledger(ApproxDP(9.0, 1e-3), composition=BasicComposition(), adjacency=ReplaceOne())
    model = PrivateBoostClassifier(
        2.0, 1e-4, adjacency="replace-one", schema=Bounds(-1, 1), tune=tune, ledger=ledger, random_state=0
    )
    model.fit(X, Y)
    return model, [re.sub('"time":[0-9.]+', "", each.line) for each in ledger.entries if each.kind == "charged"]


def test_settings_to_choose_from_have_old_names_or_new_ones(tmp_path: Path) -> None:
    new, entries = settings_of([{"rounds_per_column": 1}])
    with said("sweeps", "rounds_per_column") as caught:
        old, same = settings_of([{"sweeps": 1}])
    assert {each.filename for each in caught if each.category is RenamedParameter} == {__file__}
    assert old.tuned_ == new.tuned_ == {"rounds_per_column": 1}
    assert same == entries
    assert "{'sweeps': 1}" in entries[0]
    old.save(tmp_path / "old.json")
    assert json.loads((tmp_path / "old.json").read_text())["tuned"] == {"sweeps": 1}
    assert PrivateBoostClassifier.load(tmp_path / "old.json").tuned_ == {"rounds_per_column": 1}
    with pytest.raises(TypeError, match=r"tune: .*'rounds_per_column' and 'sweeps' are one parameter"):
        settings_of([{"sweeps": 1, "rounds_per_column": 1}])


def test_a_search_and_a_pipeline_take_old_names() -> None:
    pipeline = make_pipeline(PrivateBoostClassifier(schema=Bounds(-1, 1), random_state=0))
    search = GridSearchCV(pipeline, {"privateboostclassifier__sweeps": [1]}, cv=KFold(2), refit=False)
    with warnings.catch_warnings(action="ignore", category=SeparateLedgersWarning), said("sweeps", "rounds_per_column"):
        search.fit(X, Y)
    assert np.all(np.isfinite(search.cv_results_["mean_test_score"]))


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        RandomFeatureClassifier(schema=Bounds(-1, 1), n_components=4, random_state=0),
        PrivateBoostClassifier(schema=Bounds(-1, 1), rounds_per_column=1, random_state=0),
        DPRandomForestClassifier(schema=Bounds(-1, 1), n_estimators=2, random_state=0),
        DPGradientBoostingClassifier(schema=Bounds(-1, 1), n_estimators=2, random_state=0),
    ],
)
def test_files_have_old_names_only(model: Any, tmp_path: Path) -> None:
    model.fit(X, Y).save(tmp_path / "model.json")
    renamed = type(model)._renamed
    record = json.loads((tmp_path / "model.json").read_text())
    assert set(renamed) <= set(record["parameters"])
    assert not set(renamed.values()) & set(record["parameters"])
    assert set(renamed.values()) <= set(model.parameters_)
    assert PrivateEstimator.load(tmp_path / "model.json").parameters_.keys() == model.parameters_.keys()
    for old, new in renamed.items():
        parameters = {new if name == old else name: value for name, value in record["parameters"].items()}
        (tmp_path / "new.json").write_text(json.dumps({**record, "parameters": parameters}))
        with pytest.raises(ValueError, match=f"has no parameters {new}"):
            PrivateEstimator.load(tmp_path / "new.json")


# --- code and files of before -----------------------------------------------------------------------------------------


CODES: Final = np.random.default_rng(0).integers(0, 2, size=(300, 3))


class OwnTrees(DPRandomForestClassifier):
    """Of somebody who has the old name for a parameter of his own."""

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 0.0,
        *,
        trees: int = 3,
        depth: int = 2,
        leaves: Any = "counts",
        share: Any = "all",
        seed: int = 0,
        schema: Any = None,
        classes: Any = None,
        lambda_: float = 0.5,
        ledger: Any = None,
        random_state: Any = None,
    ) -> None:
        given: dict[str, Any] = {"depth": depth, "leaves": leaves, "share": share, "seed": seed, "schema": schema}
        given |= {"classes": classes, "ledger": ledger, "random_state": random_state, "trees": trees}
        super().__init__(epsilon, delta, **given)
        self.lambda_ = lambda_


@pytest.mark.filterwarnings("ignore::accountant.renamed_parameters.RenamedParameter")
def test_a_subclass_with_an_old_name_of_its_own_goes_on(tmp_path: Path) -> None:
    model = clone(OwnTrees(trees=7, random_state=0)).set_params(trees=4).fit(CODES, CODES[:, 0])
    assert (model.n_estimators, model.lambda_) == (4, 0.5)
    with pytest.warns(SeparateLedgersWarning):
        model.fit(CODES, CODES[:, 0])
    assert model.get_params()["lambda_"] == 0.5, "no attribute of a fit"
    model.save(tmp_path / "model.json")
    loaded = OwnTrees.load(tmp_path / "model.json")
    assert np.array_equal(loaded.predict(CODES), model.predict(CODES))
    assert loaded.get_params()["trees"] == 4


def test_a_pickle_of_before_has_its_parameters() -> None:
    state = DPRandomForestClassifier(n_estimators=7).__getstate__()
    old = {("trees" if name == "n_estimators" else name): value for name, value in state.items()}
    back = DPRandomForestClassifier()
    back.__setstate__(old)
    assert back.get_params()["n_estimators"] == 7


def test_a_progress_that_cannot_be_called_is_refused_before_the_charge() -> None:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    wrong: Any = 5
    with pytest.raises(TypeError, match="on_round: expected a function"):
        DPRandomForestClassifier(1.0, ledger=ledger).fit(CODES, CODES[:, 0], on_round=wrong)
    assert ledger.spent == PureDP(0.0)
