"""Accounting side by side: charges per second while books grow, the price of a plan, and which ε each says."""

import math
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from itertools import product
from types import ModuleType
from typing import Any, Final, TypeAlias

import attrs

from benchmarks.peer_workers import books_diffprivlib, books_dp_accounting, books_opendp, books_ours
from benchmarks.peers.peer_costs import quotient
from benchmarks.peers.peer_environments import OURS, present
from benchmarks.peers.peer_processes import Worker
from benchmarks.runner import Cell, Grid, Measured, Report, Table

DELTA: Final = 1e-5
TOO_LONG: Final = "takes too long"
CALLS: Final = 20
"""Charges that are timed on books of each size."""

MODULES: Final[dict[str, ModuleType]] = {
    OURS: books_ours,
    "diffprivlib": books_diffprivlib,
    "opendp": books_opendp,
    "dp-accounting": books_dp_accounting,
}


@attrs.frozen(eq=False)
class Account:
    """A way to account. peer: whose.  settings: what its worker is told besides sizes.  most: larger books take it too
    long."""

    name: str
    peer: str
    settings: dict[str, Any] = attrs.field(factory=dict)
    most: float = math.inf


CHARGED: Final = (
    Account("Ledger, ρ-zCDP (ours)", OURS, {"rule": "zcdp"}),
    Account("Ledger, pure ε (ours)", OURS, {"rule": "basic"}),
    Account("BudgetAccountant with slack (diffprivlib)", "diffprivlib"),
    Account("adaptive composition, ρ-zCDP (OpenDP)", "opendp", {"rule": "adaptive"}),
    Account("odometer with a filter, ρ-zCDP (OpenDP)", "opendp", {"rule": "filter"}, most=100),
    Account("Rényi, compose and ask (dp-accounting)", "dp-accounting", {"rule": "rdp"}),
    Account("PLD, compose and ask (dp-accounting)", "dp-accounting", {"rule": "pld"}),
)
"""The first five refuse a charge that does not fit; dp-accounting says ε after each, which is what that would take.
Ours also writes two entries of a hash chain. The filter adds all up again at each charge, so filling its books takes
the square."""


@attrs.frozen(eq=False)
class Kind:
    """A plan of rounds that cost alike. loss: μ or ε of a round.  accounts: the first is ours, the second the PLD's."""

    name: str
    loss: float
    accounts: tuple[Account, ...]


GAUSSIAN: Final = Kind(
    "Gaussian rounds, μ=0.05",
    0.05,
    (
        Account("Plan.price (ours)", OURS, {"kind": "gaussian"}),
        Account("PLD (dp-accounting)", "dp-accounting", {"kind": "gaussian", "rule": "pld"}),
        Account("Rényi (dp-accounting)", "dp-accounting", {"kind": "gaussian", "rule": "rdp"}),
        Account("composition, ρ-zCDP (OpenDP)", "opendp", {"kind": "gaussian", "rule": "zcdp"}),
    ),
)
PURE: Final = Kind(
    "rounds of pure ε₀=0.01",
    0.01,
    (
        Account("Plan.price (ours)", OURS, {"kind": "pure"}),
        Account(
            "PLD of randomised response, grid 1e-5 (dp-accounting)", "dp-accounting", {"kind": "response", "grid": 1e-5}
        ),
        Account("PLD of randomised response (dp-accounting)", "dp-accounting", {"kind": "response", "grid": 1e-4}),
        Account("PLD, told it is Laplace (dp-accounting)", "dp-accounting", {"kind": "laplace", "rule": "pld"}),
        Account("Rényi, told it is Laplace (dp-accounting)", "dp-accounting", {"kind": "laplace", "rule": "rdp"}),
        Account("composition, pure (OpenDP)", "opendp", {"kind": "pure", "rule": "basic"}),
        Account("composition, ρ-zCDP (OpenDP)", "opendp", {"kind": "pure", "rule": "zcdp"}),
        Account("BudgetAccountant with slack (diffprivlib)", "diffprivlib", {"kind": "pure"}),
        Account("Plan.price, told it is bounded range (ours)", OURS, {"kind": "range"}),
    ),
)


Answers: TypeAlias = dict[Account, list[list[dict[str, Any]]]]
"""Of each account: by size, by repeat; nothing at sizes that take it too long."""

Job: TypeAlias = Callable[[int, int], dict[str, Any]]
"""A question by size and repeat."""


@attrs.frozen
class Turns:
    """Workers, and how much they are asked. sizes: charges or rounds.  repeats: after a round that is not counted."""

    workers: dict[str, Worker]
    sizes: Sequence[int]
    repeats: int

    def ask(self, accounts: Sequence[Account], job: Job) -> Answers:
        """Those that are here, one after the other in each repeat."""
        here = [each for each in accounts if each.peer in self.workers]
        found: Answers = {each: [[] for _ in self.sizes] for each in here}
        for repeat, (place, size), each in product(range(self.repeats + 1), enumerate(self.sizes), here):
            if size <= each.most:
                answer = self.workers[each.peer].ask(**each.settings, **job(size, repeat))
                if repeat:
                    found[each][place].append(answer)
        return found


def accounting(sizes: Sequence[int], repeats: int) -> list[Table]:
    """All tables."""
    pythons, absent = present(MODULES)
    with ExitStack() as stack:
        workers = {peer: stack.enter_context(Worker(MODULES[peer], python)) for peer, python in pythons.items()}
        for worker in workers.values():
            worker.start()
        turns = Turns(workers, sizes, repeats)
        missing = [Report("absent from accounting", absent)] if absent else []
        return [*missing, *charges(turns), *plans(GAUSSIAN, turns), *plans(PURE, turns)]


def _rows(found: Answers, cell: Callable[[int, list[dict[str, Any]]], Cell]) -> tuple[tuple[Cell, ...], ...]:
    """A row per account. cell: from the place of a size and the answers there."""
    return tuple(
        (e.name, *(cell(place, each) if each else TOO_LONG for place, each in enumerate(sizes)))
        for e, sizes in found.items()
    )


def _over(found: Answers, ours: Account) -> tuple[tuple[Cell, ...], ...]:
    """Everybody's seconds over ours, in pairs of the same repeat; medians."""

    def cell(place: int, theirs: list[dict[str, Any]]) -> Cell:
        return quotient(_seconds(theirs), _seconds(found[ours][place]))

    return _rows({each: sizes for each, sizes in found.items() if each is not ours}, cell)


def _seconds(answers: list[dict[str, Any]]) -> list[float]:
    return [float(answer["seconds"]) for answer in answers]


# --- charges --------------------------------------------------------------------------------------------------------


def charges(turns: Turns) -> list[Grid]:
    """Charges per second on books that hold so many."""
    found = turns.ask(CHARGED, lambda size, repeat: {"do": "charge", "charges": size, "times": CALLS})
    head, ours = ("accountant", *(f"{size:,} charges" for size in turns.sizes)), CHARGED[0]

    def rate(place: int, answers: list[dict[str, Any]]) -> Cell:
        return Measured.median((1.0 / each for each in _seconds(answers)), unit="/s", form=",.0f")

    by = "by the number that the books hold"
    return [
        Grid(f"charges per second, {by}, medians of {turns.repeats}", head, _rows(found, rate)),
        Grid(f"time of a charge over that of {ours.name}, {by}", head, _over(found, ours)),
    ]


# --- plans ----------------------------------------------------------------------------------------------------------


def plans(kind: Kind, turns: Turns) -> list[Grid]:
    """ε at DELTA of so many rounds, over the PLD's; and seconds, over ours."""

    def job(size: int, repeat: int) -> dict[str, Any]:
        # Each repeat is another plan, by next to nothing, as prices may be remembered.
        return {"do": "price", "loss": kind.loss * (1.0 - 1e-10 * repeat), "rounds": size, "delta": DELTA}

    found = turns.ask(kind.accounts, job)
    ours, pld = kind.accounts[:2]
    others = {each: answers for each, answers in found.items() if each is not pld}
    head = ("accountant", *(f"{size:,} rounds" for size in turns.sizes))

    def over_pld(place: int, answers: list[dict[str, Any]]) -> Cell:
        return Measured(answers[0]["epsilon"] / found[pld][place][0]["epsilon"], form=".4f")

    beside = [Grid(f"ε over that of {pld.name}: {kind.name}", head, _rows(others, over_pld))] if pld in found else []
    return [
        Grid(f"ε at δ={DELTA:g}: {kind.name}", head, _rows(found, _epsilon)),
        *beside,
        Grid(f"seconds to price, medians of {turns.repeats}: {kind.name}", head, _rows(found, _price_seconds)),
        Grid(f"time to price over that of {ours.name}: {kind.name}", head, _over(found, ours)),
    ]


def _epsilon(place: int, answers: list[dict[str, Any]]) -> Cell:
    return Measured(answers[0]["epsilon"], form=".4g")


def _price_seconds(place: int, answers: list[dict[str, Any]]) -> Cell:
    return Measured.median(_seconds(answers), unit="s")
