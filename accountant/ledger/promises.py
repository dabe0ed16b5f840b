"""What a ledger of one adjacency may charge: refused where a cost, or a plan, was proved under another."""

import math

from accountant.composition import Plan
from accountant.costs import GDP, AddRemoveOne, Adjacency, Cost, SubsampledGaussian, why_not_under
from accountant.exceptions import AdjacencyMismatch


def refuse_unprovable(cost: Cost, adjacency: Adjacency) -> None:
    """Raise AdjacencyMismatch for a kind of cost that cannot have been proved under that adjacency."""
    reason = why_not_under(cost, adjacency)
    if reason is not None:
        remedy = f"Use a ledger that promises {AddRemoveOne.name}{_instead(cost)}"
        raise AdjacencyMismatch(f"{reason}; nothing was charged. {remedy}", AddRemoveOne())


def refuse_plan(plan: Plan, adjacency: Adjacency) -> None:
    """Raise AdjacencyMismatch for a plan that names another adjacency, or has a step that no proof allows under it."""
    if plan.adjacency not in (None, adjacency):
        raise AdjacencyMismatch(
            f"this plan's costs hold under {plan.adjacency}, not under {adjacency}; nothing was charged. Use a ledger "
            f"that promises {plan.adjacency.name}",
            plan.adjacency,
        )
    for step in plan.steps:
        refuse_unprovable(step.cost, adjacency)


def refuse_other_adjacency(adjacency: Adjacency, promised: Adjacency, what: str) -> None:
    """Raise AdjacencyMismatch where `what` was proved for another adjacency than the ledger promises."""
    if adjacency is not promised and adjacency != promised:
        raise AdjacencyMismatch(
            f"{what} was proved for {adjacency}, but this ledger promises {promised}; nothing was charged. "
            f"Release what was proved for {promised.name}, or open a ledger that promises {adjacency.name}",
            adjacency,
        )


def _instead(cost: Cost) -> str:
    """Without the sampling a record that is replaced is one that leaves and one that comes: twice the μ."""
    if not isinstance(cost, SubsampledGaussian) or not 2.0 * cost.mu < math.inf:
        return ""
    return f", or charge {GDP(2.0 * cost.mu)!r}, which leaves the sampling out and holds where a record is replaced"
