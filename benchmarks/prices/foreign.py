"""What foreign spends cost here over what their own libraries' accountants say, spend by spend.

Trainings as Opacus keeps them, over its own accountants, in an environment with torch, and over the distributions of
Google's dp-accounting; measurements of OpenDP, over its own privacy maps; calls of diffprivlib, over the formulas of
its accountant. Where a ratio to dp-accounting is below 1 by up to .3 %, its grid of 1e-4 is coarse for an ε so small.
Opacus's own answer is an upper bound that may be .01 too high, by its default; so it is also asked for a closer one.
"""

import itertools
import math
from collections.abc import Sequence
from typing import Any, Final

from accountant import AddRemoveOne, ApproxDP, Plan, PureDP
from benchmarks.peer_workers import books_opacus
from benchmarks.peers import Worker, folder, python_with
from benchmarks.runner import Cell, Grid, Line, Measured, Part, Report, Setting, Table, at_least, at_most
from mechanisms.foreign import from_opendp, plan_of_opacus

DELTA: Final = 1e-5

CLOSE: Final = 0.01
"""How far a price may be from that of its own library, relatively."""

HISTORIES: Final = tuple(itertools.product((0.7, 1.0, 2.0), (0.001, 0.01, 0.1), (100, 1_000, 10_000)))
"""Noise multipliers, sample rates and steps."""

OPACUS: Final = ("opacus==1.6.0", "torch==2.13.0")
"""What its accountants are asked in."""

CLOSER: Final = 0.002
"""Of ε: the error that its numerical accountant is asked for, beside its default of .01 in all."""

SCALES: Final = (1.0, 10.0, 100.0)

SPENDS: Final = ((10, 0.1), (100, 0.1), (1_000, 0.01))
"""Calls of diffprivlib, and the ε of each."""


def _compared(title: str, rows: Sequence[tuple[str, float]], *, exactly: bool) -> list[Report]:
    """Ratios, each asked to be close to 1; or, where we are known to be tighter, not above it."""
    ratios = [ratio for _, ratio in rows]
    lines = [at_most("the largest", Measured(max(ratios), form=".5f"), 1.0 + CLOSE)]
    if exactly:
        lines.append(at_least("the smallest", Measured(min(ratios), form=".5f"), 1.0 - CLOSE))
    return [Report(title, [*lines, *(Line(name, Measured(ratio, form=".5f")) for name, ratio in rows)])]


# --- Opacus -------------------------------------------------------------------------------------------------------


def _trained(history: tuple[float, float, int]) -> float:
    import dp_accounting
    from dp_accounting.pld import PLDAccountant

    noise, rate, steps = history
    event = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(noise))
    whole = dp_accounting.SelfComposedDpEvent(event, steps)
    theirs = PLDAccountant().compose(whole).get_epsilon(DELTA)
    return plan_of_opacus([history]).price(DELTA).best.epsilon / float(theirs)


def opacus(histories: Sequence[tuple[float, float, int]]) -> list[Report]:
    """Histories of one setting each."""
    rows = [
        (f"σ = {noise:g}, q = {rate:g}, {steps:,} steps", _trained((noise, rate, steps)))
        for noise, rate, steps in histories
    ]
    return _compared(f"Histories of Opacus at δ = {DELTA:g}, over dp-accounting", rows, exactly=True)


def opacus_itself(histories: Sequence[tuple[float, float, int]]) -> list[Table]:
    """The same over Opacus's accountants. Raises Missing where its environment cannot be made."""
    rows, table = list[tuple[str, float]](), list[tuple[Cell, ...]]()
    with Worker(books_opacus, python_with("opacus", OPACUS, folder())) as worker:
        for history in histories:
            noise, rate, steps = history
            name = f"σ = {noise:g}, q = {rate:g}, {steps:,} steps"
            theirs = worker.ask(do="price", history=[history], delta=DELTA, error=CLOSER)
            ours = plan_of_opacus([history]).price(DELTA).best.epsilon
            rows.append((name, ours / theirs["prv closer"]))
            table.append((name, *(Measured(each, form=".4f") for each in (ours, *theirs.values()))))
    head = ("history", "here", "PRV, as Opacus asks", "PRV, an error of .2 % of ε", "RDP")
    title = f"Histories of Opacus at δ = {DELTA:g}, over its own PRV accountant"
    return [*_compared(title, rows, exactly=True), Grid(f"ε of these histories at δ = {DELTA:g}", head, tuple(table))]


# --- OpenDP -------------------------------------------------------------------------------------------------------


def opendp() -> list[Report]:
    """Noisy sums: pure, ρ-zCDP, and ρ-zCDP read as (ε, δ) by OpenDP itself."""
    import opendp.prelude as prelude

    dp: Any = prelude  # parts of it have no types
    dp.enable_features("contrib")
    vectors = dp.vector_domain(dp.atom_domain(bounds=(0, 10)))
    rows = []
    for scale in SCALES:
        total = (vectors, dp.symmetric_distance()) >> dp.t.then_sum()
        laplace, gaussian = total >> dp.m.then_laplace(scale), total >> dp.m.then_gaussian(scale)
        curve = dp.c.make_zCDP_to_approxDP(gaussian).map(1)
        pure, concentrated = (from_opendp(each, adjacency=AddRemoveOne()).cost for each in (laplace, gaussian))
        read = Plan.of(concentrated).price(DELTA).best.epsilon
        rows += [
            (f"Laplace of scale {scale:g}, ε", _number(pure) / laplace.map(1)),
            (f"Gaussian of scale {scale:g}, ρ", _number(concentrated) / gaussian.map(1)),
            (f"Gaussian of scale {scale:g}, ε at δ = {DELTA:g}", read / curve.epsilon(DELTA)),
        ]
    return _compared("Measurements of OpenDP, over its privacy maps", rows, exactly=True)


def _number(cost: object) -> float:
    """The only one that a cost has."""
    found: float = next(getattr(cost, name) for name in ("epsilon", "rho") if hasattr(type(cost), name))
    return found


# --- diffprivlib --------------------------------------------------------------------------------------------------


def theirs_with_slack(rounds: int, epsilon: float, slack: float) -> float:
    """What its `BudgetAccountant.total` gives for equal spends, by the formulas of Kairouz, Oh & Viswanath 2017."""
    if not slack:
        return rounds * epsilon
    mean = rounds * math.expm1(epsilon) * epsilon / (math.exp(epsilon) + 1.0)
    spread = 2.0 * rounds * epsilon**2
    closed = mean + math.sqrt(spread * math.log(1.0 / slack))
    other = mean + math.sqrt(spread * math.log(math.e + math.sqrt(rounds) * epsilon / slack))
    return min(rounds * epsilon, closed, other)


def diffprivlib() -> list[Report]:
    """Its ε adds up here as there; with a slack, optimal composition is below its closed formulas."""
    plain = [
        (f"{rounds:,} of ε = {epsilon:g}", _best(rounds, epsilon, 0.0) / theirs_with_slack(rounds, epsilon, 0.0))
        for rounds, epsilon in SPENDS
    ]
    slack = [
        (
            f"{rounds:,} of ε = {epsilon:g}, slack {DELTA:g}",
            _best(rounds, epsilon, DELTA) / theirs_with_slack(rounds, epsilon, DELTA),
        )
        for rounds, epsilon in SPENDS
    ]
    return [
        *_compared("Calls of diffprivlib, added up", plain, exactly=True),
        *_compared("The same with its slack, where optimal composition is tighter", slack, exactly=False),
    ]


def _best(rounds: int, epsilon: float, delta: float) -> float:
    found: ApproxDP = Plan.of(PureDP(epsilon), rounds).price(delta).best
    return found.epsilon


def parts(setting: Setting) -> list[Part]:
    """Each library. quick: a few histories."""
    chosen = HISTORIES[4:6] if setting.quick else HISTORIES
    itself = [] if setting.quick else [Part("Opacus itself", lambda: opacus_itself(HISTORIES), 240.0)]
    return [
        *itself,
        Part("Opacus", lambda: opacus(chosen), 5.0 if setting.quick else 120.0),
        Part("OpenDP", opendp, 1.0),
        Part("diffprivlib", diffprivlib, 1.0),
    ]
