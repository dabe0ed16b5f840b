"""diffprivlib's functions on a ledger of ours; where it is not installed, its calls of an accountant by hand."""

import copy
import pickle
import threading
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from accountant import (
    ZCDP,
    AddRemoveOne,
    AdjacencyMismatch,
    ApproxDP,
    BasicComposition,
    BudgetExceeded,
    Ledger,
    PureDP,
    ReplaceOne,
    UnsupportedBudget,
    ZCDPComposition,
)
from mechanisms.foreign import LedgerAccountant


def opened(epsilon: float = 1.0, delta: float = 1e-6) -> Ledger:
    return Ledger(ApproxDP(epsilon, delta), composition=BasicComposition(), adjacency=ReplaceOne())


def accountant(ledger: Ledger) -> LedgerAccountant:
    return LedgerAccountant(ledger, adjacency=ReplaceOne())


def kinds(ledger: Ledger) -> list[str]:
    return [str(entry.kind) for entry in ledger.entries][1:]


def test_check_charges_and_spend_marks_it_as_released() -> None:
    ledger = opened()
    books = accountant(ledger)
    assert books.check(0.25, 0) is True
    assert kinds(ledger) == ["charged"]
    assert books.spend(0.25, 0) is books
    assert kinds(ledger) == ["charged", "released"]
    assert ledger.spent == ApproxDP(0.25, 0.0)
    assert books.spent_budget == [(0.25, 0.0)]
    assert len(books) == 1
    assert ledger.verify().verdict == "sound"


def test_a_spend_without_its_check_charges_too_and_a_check_without_a_spend_stays_charged() -> None:
    ledger = opened()
    books = accountant(ledger)
    books.spend(0.25, 1e-7)
    books.check(0.5, 0)
    assert kinds(ledger) == ["charged", "released", "charged"]
    assert ledger.spent == ApproxDP(0.75, 1e-7)
    assert ledger.verify().verdict == "with caveats"


def test_a_check_pays_for_one_spend_of_its_own_function_and_cost_only() -> None:
    """diffprivlib's functions that fail after their check would else pay for what is spent later, elsewhere."""

    def fails(books: LedgerAccountant) -> None:
        books.check(0.25, 0)

    ledger = opened()
    books = accountant(ledger)
    fails(books)
    books.spend(0.25, 0)  # of another function
    assert ledger.spent == ApproxDP(0.5, 0.0)
    books.check(0.125, 0)
    books.spend(0.0625, 0)  # of another cost
    books.spend(0.125, 0)
    books.spend(0.125, 0)  # of a check that is used up
    assert ledger.spent == ApproxDP(0.8125, 0.0)


def test_a_check_that_is_made_again_at_its_place_forgets_the_one_before() -> None:
    ledger = opened()
    books = accountant(ledger)

    def runs(spends: int) -> None:
        books.check(0.125, 0)
        for _ in range(spends):
            books.spend(0.125, 0)

    runs(0)
    runs(2)  # the second spend is not that of the first run's check
    assert ledger.spent == ApproxDP(0.375, 0.0)


def test_a_check_of_one_thread_does_not_pay_for_a_spend_of_another() -> None:
    ledger = opened()
    books = accountant(ledger)

    def step(check: bool) -> None:
        if check:
            books.check(0.25, 0)
        else:
            books.spend(0.25, 0)

    step(check=True)
    thread = threading.Thread(target=step, args=(False,))
    thread.start()
    thread.join()
    assert ledger.spent == ApproxDP(0.5, 0.0)


def test_nested_spends_are_matched_by_what_they_cost() -> None:
    ledger = opened()
    books = accountant(ledger)
    books.check(0.5, 0)
    books.check(0.25, 0)
    books.spend(0.25, 0)
    books.spend(0.5, 0)
    assert kinds(ledger) == ["charged", "charged", "released", "released"]
    assert ledger.spent == ApproxDP(0.75, 0.0)


@pytest.mark.parametrize(("epsilon", "delta"), [(1.01, 0.0), (0.5, 1e-5)])
def test_what_the_ledger_cannot_pay_is_refused_and_nothing_is_charged(epsilon: float, delta: float) -> None:
    ledger = opened()
    for method in (accountant(ledger).check, accountant(ledger).spend):
        with pytest.raises(BudgetExceeded):
            method(epsilon, delta)
    assert not kinds(ledger)


@pytest.mark.parametrize(("epsilon", "delta"), [(-1.0, 0.0), (np.inf, 0.0), (np.nan, 0.0), (0.5, 1.0), (0.5, -1e-9)])
def test_bad_numbers_are_refused(epsilon: float, delta: float) -> None:
    ledger = opened()
    with pytest.raises(ValueError, match="expected"):
        accountant(ledger).check(epsilon, delta)
    assert not kinds(ledger)


def test_what_remains_is_what_can_be_spent_to_the_last_bit() -> None:
    ledger = opened()
    books = accountant(ledger)
    books.spend(0.3, 0)
    for k in (1, 3):
        left = books.remaining(k)
        assert left.epsilon * k == pytest.approx(0.7)
        assert left.delta * k == pytest.approx(1e-6)
    epsilon, delta = books.remaining(3)
    for _ in range(3):
        books.spend(epsilon, delta)
    with pytest.raises(BudgetExceeded):
        books.spend(1e-9, 0)
    assert books.total() == pytest.approx((1.0, 1e-6))
    for wrong in (0, -1):
        with pytest.raises(ValueError, match="at least 1"):
            books.remaining(wrong)
    with pytest.raises(TypeError, match="whole number"):
        books.remaining(1.5)  # type: ignore[arg-type]  # the point of the test


def test_totals_are_the_ledgers_whoever_spent() -> None:
    ledger = opened()
    first, second = accountant(ledger), accountant(ledger)
    first.spend(0.25, 0)
    second.spend(0.5, 0)
    assert first.total() == (0.75, 0.0) == second.total()
    assert first.total([(0.1, 0.0), (0.1, 1e-7)]) == pytest.approx((0.2, 1e-7))
    assert (first.epsilon, first.delta, first.slack) == (1.0, 1e-6, 0.0)
    with pytest.raises(ValueError, match="AdvancedComposition"):
        first.total(slack=0.1)


def test_the_budget_is_not_copied() -> None:
    books = accountant(opened())
    assert copy.copy(books) is books is copy.deepcopy({"accountant": books})["accountant"]
    with pytest.raises(TypeError, match="spent twice"):
        pickle.dumps(books)


def test_other_budgets_and_other_adjacencies_are_refused() -> None:
    with pytest.raises(UnsupportedBudget, match="ZCDP"):
        accountant(Ledger(ZCDP(1.0), composition=ZCDPComposition(), adjacency=ReplaceOne()))
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=AddRemoveOne())
    with pytest.raises(AdjacencyMismatch):
        accountant(ledger).check(0.5, 0)


# --- with diffprivlib ----------------------------------------------------------------------------------------------


@pytest.fixture
def diffprivlib() -> Any:
    return pytest.importorskip("diffprivlib", reason="diffprivlib is a peer, and not needed by the tests otherwise")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what it passes to scipy
def test_functions_of_diffprivlib_are_charged_before_they_draw(diffprivlib: Any) -> None:
    ledger = opened(3.0)
    books = accountant(ledger)
    X = np.random.default_rng(0).uniform(size=(200, 2))
    y = (X[:, 0] > 0.5).astype(int)
    assert isinstance(books, diffprivlib.BudgetAccountant)
    diffprivlib.tools.mean(X[:, 0], epsilon=0.5, bounds=(0, 1), accountant=books)
    with books:
        diffprivlib.tools.var(X[:, 0], epsilon=0.5, bounds=(0, 1))
    assert books.pop_default() is not books
    model = diffprivlib.models.LogisticRegression(epsilon=1.0, data_norm=2.0, accountant=books).fit(X, y)
    assert clone(model).accountant is books
    assert books.total() == (2.0, 0.0)
    with pytest.raises(BudgetExceeded):
        diffprivlib.models.LogisticRegression(epsilon=1.5, data_norm=2.0, accountant=books).fit(X, y)
    assert kinds(ledger) == ["charged", "released"] * 3
    assert "diffprivlib" in ledger.entries[1].line
    assert ledger.verify().verdict == "sound"


def test_a_function_that_fails_stays_charged(diffprivlib: Any) -> None:
    ledger = opened()
    with pytest.raises(TypeError):
        diffprivlib.tools.mean([0.5] * 9, epsilon=0.5, bounds=(0, 1), accountant=accountant(ledger), dtype="nonsense")
    assert ledger.spent == ApproxDP(0.5, 0.0) or not kinds(ledger)


def test_it_is_the_default_where_it_is_set(diffprivlib: Any) -> None:
    ledger = opened()
    books = accountant(ledger)
    try:
        assert books.set_default() is books
        assert LedgerAccountant.load_default(None) is books is LedgerAccountant.load_default(books)
        diffprivlib.tools.mean([0.5] * 9, epsilon=0.25, bounds=(0, 1))
    finally:
        LedgerAccountant.pop_default()
    assert ledger.spent == ApproxDP(0.25, 0.0)


def data() -> tuple[Any, Any]:
    X = np.random.default_rng(1).uniform(size=(120, 2))
    return X, (X[:, 0] > 0.5).astype(int)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_forest_is_charged_once_and_its_trees_by_themselves(diffprivlib: Any, jobs: int) -> None:
    """Twice its ε under replace-one: a record may leave one leaf and enter another."""
    ledger = opened(9.0)
    books, (X, y) = accountant(ledger), data()
    with books:
        forest = diffprivlib.models.RandomForestClassifier(
            n_estimators=5, epsilon=0.5, bounds=(0, 1), classes=[0, 1], n_jobs=jobs
        )
        forest.fit(X, y)
    assert ledger.spent == ApproxDP(1.0, 0.0)
    assert kinds(ledger) == ["charged", "released"]
    for tree in (forest.estimators_[0], clone(forest.estimator).set_params(epsilon=0.5, bounds=(0, 1), classes=[0, 1])):
        before = ledger.spent
        tree.fit(X, y)  # of records that the forest did not pay for
        assert ledger.spent == ApproxDP(getattr(before, "epsilon", 0.0) + 1.0, 0.0)
    assert "models.forest.RandomForestClassifier.fit of diffprivlib" in ledger.entries[1].line


def test_histograms_are_charged_for_both_counts_that_a_replaced_record_changes(diffprivlib: Any) -> None:
    X, _ = data()
    ledger = opened(9.0)
    diffprivlib.tools.histogram(X[:, 0], epsilon=0.5, bins=4, range=(0, 1), accountant=accountant(ledger))
    assert ledger.spent == ApproxDP(1.0, 0.0)
    assert kinds(ledger) == ["charged", "released"]
    coming = Ledger(ApproxDP(9.0, 0.0), composition=BasicComposition(), adjacency=AddRemoveOne())
    books = LedgerAccountant(coming, adjacency=AddRemoveOne())
    diffprivlib.tools.histogram2d(X[:, 0], X[:, 1], epsilon=0.5, bins=4, range=[(0, 1), (0, 1)], accountant=books)
    assert coming.spent == ApproxDP(0.5, 0.0)
    assert "tools.histograms.histogram2d of diffprivlib" in coming.entries[1].line


def test_functions_whose_epsilon_does_not_hold_under_an_adjacency_are_refused(diffprivlib: Any) -> None:
    X, y = data()
    coming = Ledger(ApproxDP(9.0, 0.0), composition=BasicComposition(), adjacency=AddRemoveOne())
    books = LedgerAccountant(coming, adjacency=AddRemoveOne())
    for name in ("mean", "std", "sum", "count_nonzero"):
        bounds = {} if name == "count_nonzero" else {"bounds": (0, 1)}
        with pytest.raises(AdjacencyMismatch, match="number of records"):
            getattr(diffprivlib.tools, name)(X[:, 0], epsilon=0.5, accountant=books, **bounds)
    forest = diffprivlib.models.RandomForestClassifier(bounds=(0, 1), classes=[0, 1], accountant=books)
    with pytest.raises(AdjacencyMismatch, match="by their places"):
        forest.fit(X, y)
    replaced = opened(9.0)
    for model in (diffprivlib.models.GaussianNB(bounds=(0, 1)), diffprivlib.models.KMeans(2, bounds=(0, 1))):
        model.accountant = accountant(replaced)
        with pytest.raises(AdjacencyMismatch, match="class or cluster"):
            model.fit(X, y)
    assert not kinds(coming)
    assert not kinds(replaced)


def test_models_that_take_means_and_sums_of_their_own_are_refused_under_add_remove_one(diffprivlib: Any) -> None:
    """Their noise is for bounds' widths and a number of records that is public: counted records give it away."""
    X, y = data()
    coming = Ledger(ApproxDP(99.0, 0.0), composition=BasicComposition(), adjacency=AddRemoveOne())
    models, bounds = diffprivlib.models, (0, 1)
    for model, why in (
        (models.StandardScaler(bounds=bounds), "number of records"),
        (models.PCA(1, bounds=bounds, data_norm=2.0), "number of records"),
        (models.LinearRegression(bounds_X=bounds, bounds_y=bounds), "declared_elsewhere"),
        (models.GaussianNB(bounds=bounds), "declared_elsewhere"),
        (models.KMeans(2, bounds=bounds), "declared_elsewhere"),
    ):
        model.accountant = LedgerAccountant(coming, adjacency=AddRemoveOne())
        with pytest.raises(AdjacencyMismatch, match=why):
            model.fit(X, y)
    assert not kinds(coming)
    replaced = opened(99.0)
    line = models.LinearRegression(bounds_X=bounds, bounds_y=bounds, accountant=accountant(replaced))
    with pytest.raises(AdjacencyMismatch, match="sums of squares"):
        line.fit(X, y)
    assert not kinds(replaced)
    models.StandardScaler(bounds=bounds, accountant=accountant(replaced)).fit(X, y)
    assert kinds(replaced) == ["charged", "released"]


def test_a_second_thread_cannot_take_the_default_away(diffprivlib: Any) -> None:
    X, _ = data()
    ledger, other = opened(), opened()
    refused: list[BaseException] = []

    def enters() -> None:
        try:
            with accountant(other):
                pass
        except RuntimeError as error:
            refused.append(error)

    with accountant(ledger):
        thread = threading.Thread(target=enters)
        thread.start()
        thread.join()
        diffprivlib.tools.mean(X[:, 0], epsilon=0.25, bounds=(0, 1))
    assert "another thread" in str(refused)
    assert ledger.spent == ApproxDP(0.25, 0.0)
    with accountant(other), accountant(ledger):  # in one thread they nest
        diffprivlib.tools.mean(X[:, 0], epsilon=0.25, bounds=(0, 1))
    assert (ledger.spent, other.spent) == (ApproxDP(0.5, 0.0), ApproxDP(0.0, 0.0))


def test_a_default_that_was_changed_inside_of_a_block_is_told(diffprivlib: Any) -> None:
    before = diffprivlib.BudgetAccountant._default
    with pytest.raises(RuntimeError, match="inside of this block"), accountant(opened()):
        diffprivlib.BudgetAccountant().set_default()
    assert diffprivlib.BudgetAccountant._default is before
