"""Time and memory of fits and predictions, every system in a process of its own, asked in turns."""

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, TypeAlias

import attrs

from benchmarks.data import TITLES, Plan
from benchmarks.peers.peer_data import Files
from benchmarks.peers.peer_environments import present
from benchmarks.peers.peer_processes import Worker
from benchmarks.peers.peer_systems import FROM_COLUMNS, MODULES, Entrant
from benchmarks.runner import Cell, Grid, Measured, Report, Table

EPSILON: Final = 1.0
DELTA: Final = 1e-5

NOT_TOLD: Final = "not told by this machine"


@attrs.frozen
class Cost:
    """What a system took. fit, predict: seconds, one a repeat.

    imports: MiB in memory before any data.  beyond: MiB that its first fit had at most on top of that, training data
    in the form that it is fed included. Both None where the machine does not tell.
    """

    fit: list[float]
    predict: list[float]
    imports: float | None
    beyond: float | None


Costs: TypeAlias = Mapping[Entrant, Cost]


def costs(plan: Plan, entrants: Sequence[Entrant], repeats: int) -> list[Table]:
    """The tables of a data set, for these systems, `FROM_COLUMNS` among them.

    The noise is what users get: no seed where there is a choice. One core for everybody. A repeat is a fit
    and a prediction of each system, one after the other. A round before is not counted in times, and is what memory is
    told of.
    """
    pythons, absent = present(each.peer for each in entrants)
    found = measured({each: pythons[each.peer] for each in entrants if each.peer in pythons}, plan, repeats)
    title = f"{TITLES.get(plan.name, plan.name)}, {plan.protocol}, ε={EPSILON:g}, δ={DELTA:g}"
    missing = [Report(f"absent from times: {title}", absent)] if absent else []
    return [*missing, times(found, title), memory(found, title), ratios(found, title)]


def measured(entrants: Mapping[Entrant, Path], plan: Plan, repeats: int) -> dict[Entrant, Cost]:
    """All of them in turns. entrants: with interpreters that have what they need."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        workers = {each: stack.enter_context(Worker(MODULES[each.peer], path)) for each, path in entrants.items()}
        for worker in workers.values():
            worker.start()
        job = {**Files(folder).of(plan(0)[0]), "scores": str(folder / "scores.npy"), "seed": None}
        rounds = [
            {each: worker.ask(do="fit", **each.job(EPSILON, DELTA), **job) for each, worker in workers.items()}
            for _ in range(repeats + 1)
        ]
        return {each: _cost([answers[each] for answers in rounds], worker.imports) for each, worker in workers.items()}


def _cost(answers: list[dict[str, Any]], imports: float | None) -> Cost:
    most = answers[0]["peak"]
    beyond = None if most is None or imports is None else max(0.0, most - imports)
    return Cost([each["fit"] for each in answers[1:]], [each["predict"] for each in answers[1:]], imports, beyond)


# --- tables -------------------------------------------------------------------------------------------------------


def times(found: Costs, title: str) -> Grid:
    """Seconds."""
    repeats = len(next(iter(found.values())).fit)
    rows = [(e.name, Measured.median(c.fit, unit="s"), Measured.median(c.predict, unit="s")) for e, c in found.items()]
    return Grid(f"seconds, medians of {repeats}: {title}", ("system", "fit", "predict"), tuple(rows))


def memory(found: Costs, title: str) -> Grid:
    """MiB."""

    def cell(amount: float | None) -> Cell:
        return NOT_TOLD if amount is None else Measured(amount, unit="MiB", form=",.0f")

    rows = tuple((each.name, cell(cost.imports), cell(cost.beyond)) for each, cost in found.items())
    return Grid(f"memory: {title}", ("system", "imports", "most in a fit, beyond imports"), rows)


def ratios(found: Costs, title: str) -> Grid:
    """Everybody over ours from columns, which encodes within its fit. Memory: beyond imports."""
    ours = found[FROM_COLUMNS]

    def row(each: Entrant, cost: Cost) -> tuple[Cell, ...]:
        told = cost.beyond is not None and ours.beyond
        most = quotient([cost.beyond or 0.0], [ours.beyond or 1.0]) if told else NOT_TOLD
        return (each.name, quotient(cost.fit, ours.fit), quotient(cost.predict, ours.predict), most)

    head = ("system", "fit", "predict", "memory")
    rows = tuple(row(each, cost) for each, cost in found.items() if each is not FROM_COLUMNS)
    return Grid(f"over {FROM_COLUMNS.name}: {title}", head, rows)


def quotient(theirs: Sequence[float], ours: Sequence[float]) -> Measured:
    """Of pairs of the same repeat, the median."""
    found = Measured.median((a / b for a, b in zip(theirs, ours, strict=True)), unit="×")
    return attrs.evolve(found, form=",.0f" if found.value >= 100.0 else ".3g")
