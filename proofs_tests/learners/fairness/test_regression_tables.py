"""Tables of amounts by group, paid for, against the exact ones."""

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pytest

from accountant import AddRemoveOne, ApproxDP, BasicComposition, BudgetExceeded, Ledger, ReplaceOne
from learners import demographic_table, private_regression_table
from learners.fairness import PrivateAmountTable
from mechanisms.queries import GroupedShares, shares_query
from mechanisms.queries.group_queries import SHARE_ONE, share_sums

GROUPS: Final = ("ü", "b;")
N: Final = 4000


def ledger(epsilon: float = 1.0, relation: AddRemoveOne | ReplaceOne | None = None) -> Ledger:
    return Ledger(ApproxDP(epsilon, 1e-5), composition=BasicComposition(), adjacency=relation or ReplaceOne())


def sample() -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    draw = np.random.default_rng(0)
    groups = draw.choice(GROUPS, N)
    labels = draw.uniform(-1.0, 3.0, N)
    return labels + draw.normal(0.0, np.where(groups == "ü", 0.2, 0.6)), labels, groups


def table(seed: int, **given: Any) -> PrivateAmountTable:
    asked: dict[str, Any] = {"public_groups": GROUPS, "bounds": (-1.0, 3.0), "epsilon": 1.0, "delta": 1e-5}
    return private_regression_table(*sample(), **{**asked, "ledger": ledger(), "random_state": seed, **given})


def test_intervals_hold_the_exact_means_and_are_not_idle() -> None:
    told, labels, groups = sample()
    rows = demographic_table(np.clip(told, -1.0, 3.0), labels, groups, threshold=0.0, error="absolute")
    exact, held = {row.group: row for row in rows}, 0
    gap = abs(rows[0].error - rows[1].error)
    for seed in range(60):
        found = table(seed, confidence=0.9)
        pairs = [(found.error_gap, gap)]
        for row in found.rows:
            known = exact[row.group]
            pairs += [(row.mean_label, known.mean_label), (row.error, known.error)]
            pairs.append((row.mean_prediction, known.mean_prediction))
        held += all(each.low <= value <= each.high for each, value in pairs)
    assert held >= 50
    assert found.error_gap.low > 0.1  # it is found that one group is worse off
    assert found.rows[0].error.high - found.rows[0].error.low < 0.1


@pytest.mark.parametrize("relation", [ReplaceOne(), AddRemoveOne()], ids=["replace-one", "add-remove-one"])
def test_no_record_moves_the_sums_by_more_than_is_charged(relation: AddRemoveOne | ReplaceOne) -> None:
    query = shares_query(relation, 3)
    worst = 0.0
    for one in ([0, 0, 0], [SHARE_ONE] * 3, [0, SHARE_ONE, SHARE_ONE]):
        for group, other in ((0, [SHARE_ONE] * 3), (1, [0, 0, 0]), (1, [SHARE_ONE // 2] * 3)):
            data = GroupedShares(np.array([0]), np.array([one]), 2)
            twin = GroupedShares(np.array([group]), np.array([other]), 2)
            none = GroupedShares(np.zeros(0, dtype=np.intp), np.zeros((0, 3), dtype=np.intp), 2)
            after = share_sums(twin if relation == ReplaceOne() else none)
            worst = max(worst, float(np.linalg.norm(share_sums(data) - after)))
    assert worst == pytest.approx(query.sensitivity.value, rel=1e-12)


def test_it_is_charged_once_and_refused_before_anything_is() -> None:
    books = ledger()
    table(0, ledger=books)
    assert [entry.kind for entry in books.entries].count("charged") == 1
    with pytest.raises(BudgetExceeded):
        table(0, ledger=books)
    for wrong, message in (({"bounds": (1.0, 1.0)}, "bounds"), ({"public_groups": ("ü", "x")}, "none of the public")):
        fresh = ledger()
        with pytest.raises(ValueError, match=message):
            table(0, ledger=fresh, **wrong)
        assert [entry.kind for entry in fresh.entries] == ["opened"]


def test_much_budget_gives_the_exact_table() -> None:
    told, labels, groups = sample()
    exact = demographic_table(np.clip(told, -1.0, 3.0), labels, groups, threshold=0.0, error="absolute")
    found = {row.group: row.error.value for row in table(0, epsilon=1e6, ledger=ledger(1e7)).rows}
    assert [found[row.group] for row in exact] == pytest.approx([row.error for row in exact], abs=1e-4)
