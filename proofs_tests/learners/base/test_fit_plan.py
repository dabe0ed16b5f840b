"""One plan a fit: made once, before anything is charged; what it did not plan is refused, and nothing of it is left."""

from collections.abc import Callable

import attrs
import numpy as np
import pytest

from accountant import (
    AddRemoveOne,
    AdjacencyMismatch,
    ApproxDP,
    BasicComposition,
    BudgetExceeded,
    Ledger,
    NotSpendable,
    Plan,
    Protected,
    PureDP,
    ReplaceOne,
)
from accountant.arrays import FloatArray
from boosting import Spender
from learners import LazyBoostClassifier, PrivateBoostClassifier
from learners.additive.additive_boost import AdditiveDesign
from learners.base.budget import FitBudget
from learners.base.fit_plan import FitPlan, Progress
from learners.base.private_estimator import PrivateEstimator
from mechanisms import LaplaceNoise, PlainMechanism, Query, SeededNoise
from mechanisms.core import L1Sensitivity
from proofs_tests.support.learners import paid_models

X = np.random.default_rng(0).integers(0, 2, size=(300, 3))
Y = X[:, 1]

Numbers = tuple[int, ...]

RIGHT: Query[Numbers, FloatArray, L1Sensitivity] = Query(
    "sum", lambda numbers: np.array([float(sum(numbers))]), L1Sensitivity(1.0), ReplaceOne()
)


def noisy(scale: float) -> PlainMechanism[Numbers, FloatArray, L1Sensitivity, FloatArray]:
    return PlainMechanism(RIGHT, LaplaceNoise(scale), SeededNoise(0))


def ledger(epsilon: float = 1.001) -> Ledger:
    return Ledger(PureDP(epsilon), composition=BasicComposition(), adjacency=ReplaceOne())


def spent(books: Ledger) -> float:
    found = books.spent
    assert isinstance(found, PureDP)
    return found.epsilon


BUDGET = FitBudget(PureDP(1.0), BasicComposition(), "test")


@pytest.mark.parametrize("at_once", [False, True])
def test_a_release_is_charged_and_then_processed(at_once: bool) -> None:
    books, told = ledger(), list[tuple[int, object]]()

    def digits(text: str) -> Numbers:
        return tuple(map(int, text))

    plan = FitPlan.released(noisy(1.0), at_once=at_once).then(lambda found: float(found[0])).as_round().of(digits)
    found = plan.carried_out(books, BUDGET, "0110", lambda number, value: told.append((number, value)))
    assert told == [(1, found)]
    assert abs(found - 2.0) < 30.0
    assert [entry.kind for entry in books.entries] == ["opened", "charged", "released"]
    assert spent(books) == pytest.approx(1.0)


@pytest.mark.parametrize("at_once", [False, True])
def test_what_cannot_be_paid_or_was_proved_for_another_relation_is_not_charged(at_once: bool) -> None:
    plan, books = FitPlan.released(noisy(0.5), at_once=at_once), ledger()
    with pytest.raises(BudgetExceeded):
        plan.carried_out(books, BUDGET, (0, 1))
    other = Ledger(PureDP(9.0), composition=BasicComposition(), adjacency=AddRemoveOne())
    with pytest.raises(AdjacencyMismatch) as refused:
        plan.carried_out(other, BUDGET, (0, 1))
    assert refused.value.proved_for == ReplaceOne()
    assert len(books.entries) == len(other.entries) == 1


def test_what_was_not_planned_is_refused() -> None:
    books = ledger(9.0)

    def greedy(charge: Spender, data: Protected[Numbers], on_round: Progress) -> object:
        return charge.release(noisy(0.5), data)

    with pytest.raises(NotSpendable, match="was reserved at"):
        FitPlan(Plan.of(noisy(1.0).cost), ReplaceOne(), None, greedy).carried_out(books, BUDGET, (0, 1))
    assert spent(books) == pytest.approx(1.0)


def test_views_are_taken_before_the_charge() -> None:
    books = ledger()

    def broken(numbers: Numbers) -> Numbers:
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        FitPlan.released(noisy(1.0)).of(broken).carried_out(books, BUDGET, (0, 1))
    assert len(books.entries) == 1


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How often parameters were checked, and designs made."""
    numbers = {"parameters": 0, "designs": 0}

    def counting(name: str, work: Callable[..., object]) -> Callable[..., object]:
        def wrapped(*given: object, **named: object) -> object:
            numbers[name] += 1
            return work(*given, **named)

        return wrapped

    monkeypatch.setattr(PrivateEstimator, "_parameters", counting("parameters", PrivateEstimator._parameters))
    monkeypatch.setattr(AdditiveDesign, "__attrs_post_init__", counting("designs", AdditiveDesign.__attrs_post_init__))
    return numbers


@pytest.mark.parametrize("name", sorted(set(paid_models.LEARNERS)))
def test_parameters_are_checked_once_a_fit(name: str, counted: dict[str, int]) -> None:
    if "tuned" in name:
        pytest.skip("settings have parameters of their own")
    paid_models.build(name).fit(paid_models.X, paid_models.Y)
    assert counted["parameters"] == 1
    assert counted["designs"] <= 1


def test_what_an_earlier_fit_showed_is_gone() -> None:
    model = PrivateBoostClassifier(3.0, 1e-6, schema=None, random_state=0).fit(X, Y)
    assert model.eta_ > 0.0
    model.set_params(tune=[{"rounds_per_column": 1}, {"rounds_per_column": 2}], ledger=shared()).fit(X, Y)
    assert not hasattr(model, "eta_")
    assert model.tuned_["rounds_per_column"] in (1, 2)
    model.set_params(tune=None).fit(X, Y)
    assert not hasattr(model, "tuned_")
    assert model.eta_ > 0.0


def shared() -> Ledger:
    return Ledger(ApproxDP(9.0, 1e-5), composition=BasicComposition(), adjacency=AddRemoveOne())


def test_a_refused_fit_leaves_the_last_one_as_it_was() -> None:
    model = LazyBoostClassifier(1.0, rounds=3, random_state=0).fit(X, Y)
    before = {name: value for name, value in vars(model).items() if name.endswith("_")}
    with pytest.raises(BudgetExceeded):
        model.set_params(ledger=ledger(0.5), rounds=5).fit(X, Y)
    assert {name: value for name, value in vars(model).items() if name.endswith("_")} == before


def test_a_plan_is_fixed() -> None:
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        FitPlan.released(noisy(1.0)).claims = ()  # type: ignore[misc]  # that is the point


def test_a_learner_of_the_version_before_is_told_what_to_write() -> None:
    with pytest.raises(TypeError, match="Old: a learner states _plan, which gives a FitPlan, for _learn"):
        type("Old", (LazyBoostClassifier,), {"_learn": lambda self: None})
    own = {"_learn": lambda self: None, "_plan": LazyBoostClassifier._plan}
    assert issubclass(type("New", (LazyBoostClassifier,), own), LazyBoostClassifier), "a method of its own"
