"""Books to have a second opinion on, and ways to forge them."""

import json
from collections.abc import Iterable, Sequence

import attrs

from accountant import (
    AdvancedComposition,
    ApproxDP,
    BasicComposition,
    Budget,
    Composition,
    Cost,
    Entry,
    GDPComposition,
    Ledger,
    Plan,
    ReplaceOne,
    ZCDPComposition,
)
from accountant.audit.second_opinion import SecondOpinion

DELTA = 1e-6
WIDE = ApproxDP(400.0, DELTA)
ROOMY = AdvancedComposition(0.5 * DELTA)
ZCDP_RULE, BASIC, GDP_RULE = ZCDPComposition(), BasicComposition(), GDPComposition()


def open_ledger(rule: Composition, budget: Budget = WIDE) -> Ledger:
    return Ledger(budget, composition=rule, adjacency=ReplaceOne())


def books(rule: Composition, costs: Iterable[tuple[Cost, int]], budget: Budget = WIDE, delta: float = 0.0) -> Ledger:
    """One charge for each of these costs, with so many rounds."""
    ledger = open_ledger(rule, budget)
    for cost, rounds in costs:
        with ledger.reserve(Plan.of(cost, rounds), adjacency=ReplaceOne(), delta=delta):
            pass
    return ledger


def of(opinion: SecondOpinion, name: str) -> float:
    """The ε of one total."""
    (found,) = [total.epsilon for total in (opinion.ours, *opinion.theirs) if name in total.name]
    assert found is not None
    return found


def forged(entries: Sequence[Entry], factor: float, *path: str | int, kind: str = "charged") -> list[Entry]:
    """The same entries, a number in every one of that kind multiplied; digests are `verify`'s business."""
    found = []
    for entry in entries:
        record = json.loads(entry.line)
        if entry.kind == kind:
            inner = record
            for name in path[:-1]:
                inner = inner[name]
            inner[path[-1]] *= factor
        found.append(attrs.evolve(entry, line=json.dumps(record)))
    return found
