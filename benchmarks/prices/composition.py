"""ε at δ under every rule of composition against the number of rounds; what we charge, beside exact laws and a peer.

Some rules are filters, for costs that are chosen on the way; the others are for rounds that were fixed in advance, as
is `Plan.price`, which takes the best of them. The peer is dp-accounting's privacy-loss distribution. It has none for
bounded range: there the reference is the exact law of the worst two-candidate exponential mechanism, repeated. Last
come all kinds of cost under all that takes them, and our own learners at their defaults, over what is reached.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeAlias

import attrs

from accountant import (
    GDP,
    ZCDP,
    AdvancedComposition,
    ApproxDP,
    BoundedRange,
    Plan,
    PureDP,
    ZCDPComposition,
)
from accountant.composition import fixed_plans, forget_prices
from accountant.costs import float_up
from benchmarks.prices import tightness, tightness_learners
from benchmarks.prices.exact_prices import DELTA, gaussian_epsilon, two_point_epsilon, worst_range_epsilon
from benchmarks.runner import (
    Cell,
    Grid,
    Line,
    Measured,
    Missing,
    Part,
    Report,
    Setting,
    Table,
    at_least,
    at_most,
    in_turns,
)

Round: TypeAlias = PureDP | GDP | BoundedRange
"""What one round costs."""

Rule: TypeAlias = Callable[[Round, int], float | None]
"""ε at DELTA of so many rounds; None where the rule has no theorem for them."""

COSTS: Final[tuple[Round, ...]] = (PureDP(0.1), PureDP(0.01), GDP(0.05), BoundedRange(0.05))

ABOVE: Final = 1.01
ASKED_ROUNDS: Final = 1_000
"""Up to so many rounds a price may be that factor above the exact value."""

ASKED_SECONDS: Final = 0.2
ROUNDING: Final = 1e-8
"""How far a price may be below an exact value that was computed in floating point."""

THEIRS: Final = 1e-5
"""The same for the peer's value: with the grid that is used here it rounds Gaussians up by less."""

CELLS: Final = 512
"""Steps of the peer's grid to a round's ε or μ: a power of two, so that an ε is a whole number of steps."""


# --- exact values and the peer ----------------------------------------------------------------------------------------


def exact(cost: Round, rounds: int) -> float:
    """The exact ε; for bounded range that of the worst two-candidate exponential mechanism repeated."""
    match cost:
        case GDP(mu=mu):
            return gaussian_epsilon(mu * math.sqrt(rounds))
        case BoundedRange(epsilon=width):
            return worst_range_epsilon(rounds, width)
        case PureDP(epsilon=epsilon):
            return two_point_epsilon(rounds, epsilon, -epsilon)


def peer(cost: Round, rounds: int) -> float | None:
    """dp-accounting's ε, which is an upper bound; None for bounded range. Raises Missing where it is not installed."""
    try:
        from dp_accounting.pld import common, privacy_loss_distribution
    except ImportError as error:
        raise Missing("dp-accounting is not installed: pip install 'exchequer[pld]'") from error
    match cost:
        case GDP(mu=mu):
            one = privacy_loss_distribution.from_gaussian_mechanism(1.0 / mu, value_discretization_interval=mu / CELLS)
        case PureDP(epsilon=epsilon):
            one = privacy_loss_distribution.from_privacy_parameters(
                common.DifferentialPrivacyParameters(epsilon, 0.0), value_discretization_interval=epsilon / CELLS
            )
        case BoundedRange():
            return None
    return float(one.self_compose(rounds).get_epsilon_for_delta(DELTA))


def label(cost: Round) -> str:
    """A cost in few letters."""
    return f"{type(cost).__name__}({attrs.astuple(cost)[0]:g})"


# --- rules ------------------------------------------------------------------------------------------------------------


def by_route(name: str, cost: Round, rounds: int) -> float | None:
    """One of the theorems of `Plan.price`."""
    return Plan.of(cost, rounds).route(name, DELTA)


def printed_advanced(cost: Round, rounds: int) -> float | None:
    """Dwork, Rothblum & Vadhan's advanced composition as the papers print it."""
    return None if isinstance(cost, GDP) else fixed_plans.drv(cost.epsilon, 0.0, rounds, DELTA).epsilon


def adaptive_advanced(cost: Round, rounds: int) -> float:
    """What a ledger with `AdvancedComposition` says was spent: Whitehouse, Ramdas, Rogers & Wu's filter."""
    rule = AdvancedComposition(DELTA)
    spent = rule.guarantee(Plan.of(cost, rounds).amount(rule), ApproxDP(1e9, DELTA))
    assert isinstance(spent, ApproxDP)
    return spent.epsilon


def bun_steinke(cost: Round, rounds: int) -> float:
    """ρ + 2√(ρ ln(1/δ)), the closed form."""
    rho = ZCDP(float_up(Plan.of(cost, rounds).amount(ZCDPComposition()).loss))
    return rho.to_approx_bun_steinke(delta=DELTA).epsilon


def price(cost: Round, rounds: int) -> float:
    """Ours."""
    return Plan.of(cost, rounds).price(DELTA).best.epsilon


OURS, PEER, EXACT = "Plan.price", "dp-accounting's PLD", "exact law"

RULES: Final[dict[str, Rule]] = {
    "basic sum": partial(by_route, "basic"),
    "advanced, as printed (Dwork et al. 2010)": printed_advanced,
    "advanced, fully adaptive (Whitehouse et al. 2023)": adaptive_advanced,
    "zCDP, closed form (Bun & Steinke 2016)": bun_steinke,
    "zCDP, tight": partial(by_route, "zcdp"),
    "Rényi, order by order": partial(by_route, "renyi"),
    "optimal for equal ε (Kairouz et al. 2015)": partial(by_route, "kov"),
    "Gaussian curve": partial(by_route, "gdp"),
    "our loss distributions": partial(by_route, "pld"),
    "bounded range, chosen adaptively": partial(by_route, "bounded-range"),
    OURS: price,
    PEER: peer,
    EXACT: exact,
}


# --- tables -----------------------------------------------------------------------------------------------------------


def composed(cost: Round, rounds: Sequence[int]) -> list[Table]:
    """ε under every rule, the same over the reference, and what is asked of ours."""
    found = {name: [rule(cost, number) for number in rounds] for name, rule in RULES.items()}
    used = {name: values for name, values in found.items() if any(value is not None for value in values)}
    reference = PEER if PEER in used else EXACT
    head = ("", *(f"rounds={number:,}" for number in rounds))
    plain = [(name, *(_cell(value, 1.0, ".4g") for value in values)) for name, values in used.items()]
    routes = [Plan.of(cost, number).price(DELTA).route for number in rounds]
    over: list[tuple[Cell, ...]] = [
        (name, *(_cell(value, base, ".4f") for value, base in zip(values, used[reference], strict=True)))
        for name, values in used.items()
        if name != reference
    ]
    what = f"rounds of {label(cost)}, δ = {DELTA:g}"
    return [
        Grid(f"ε of {what}", head, (*plain, ("the route that won", *routes))),
        Grid(f"ε over {reference}, {what}", head, tuple(over)),
        Report(f"Plan.price over the exact law, {what}", asked(found, rounds)),
    ]


def _cell(value: float | None, base: float | None, form: str) -> Cell:
    return "" if value is None or not base else Measured(value / base, form=form)


def asked(found: dict[str, list[float | None]], rounds: Sequence[int]) -> list[Line]:
    """Never below the exact value nor the peer's by more than rounding, and near the exact one."""
    lines = []
    for number, ours, real, theirs in zip(rounds, found[OURS], found[EXACT], found[PEER], strict=True):
        assert ours is not None
        assert real is not None
        ratio = Measured(ours / real if real else 1.0, form=".6f")
        most = ABOVE if number <= ASKED_ROUNDS else math.inf
        text = f"1 to {most:g}" if number <= ASKED_ROUNDS else "≥ 1"
        met = 1.0 - ROUNDING <= ratio.value <= most
        lines.append(Line(f"rounds={number:,}: over the exact law", ratio, text, met))
        if theirs is not None:
            over = Measured(ours / theirs if theirs else 1.0, form=".6f")
            lines.append(at_least(f"rounds={number:,}: over dp-accounting, which rounds up", over, 1.0 - THEIRS))
    return lines


def times(rounds: Sequence[int], repeats: int, judged: bool) -> list[Table]:
    """Seconds per price, in turns."""
    plans = {f"{label(cost)} {number}": Plan.of(cost, number) for cost in COSTS for number in rounds}

    def anew(plan: Plan) -> None:
        forget_prices()
        plan.price(DELTA)

    taken = in_turns({name: partial(anew, plan) for name, plan in plans.items()}, repeats)

    def cell(cost: Round, number: int) -> Measured:
        return Measured.median(taken[f"{label(cost)} {number}"], unit="s", form=".3f")

    rows: list[tuple[Cell, ...]] = [(label(cost), *(cell(cost, number) for number in rounds)) for cost in COSTS]
    lines = [
        at_most(f"{ASKED_ROUNDS:,} rounds of {label(cost)}", cell(cost, ASKED_ROUNDS), ASKED_SECONDS, judged=judged)
        for cost in COSTS
    ]
    return [
        Grid("Seconds to price a plan by every theorem", ("", *(f"rounds={n:,}" for n in rounds)), tuple(rows)),
        Report(f"Seconds to price a plan of {ASKED_ROUNDS:,} rounds", lines),
    ]


def parts(setting: Setting) -> list[Part]:
    """One for each cost of a round, and the times; then all kinds of cost under all rules, and our own learners."""
    rounds = (1, 10, 1_000) if setting.quick else (1, 10, 100, 1_000, 10_000)
    found = [Part(label(cost), partial(composed, cost, rounds), 0.3 if setting.quick else 4.0) for cost in COSTS]
    repeats = 1 if setting.quick else 9
    few, times_of = (1, 10) if setting.quick else tightness.ROUNDS, partial(times, rounds, repeats, not setting.quick)
    kinds = [Part(f"tightness, {kind}", partial(tightness.table, kind, few), 3.0) for kind in tightness.KINDS]
    names = tuple(tightness_learners.LEARNERS)[:2] if setting.quick else tuple(tightness_learners.LEARNERS)
    own = partial(tightness_learners.learners, names, (2,) if setting.quick else (2, 5, 20))
    last = [Part("tightness, our learners", own, 15.0), Part("times", times_of, 3.0 if setting.quick else 10.0)]
    return [*found, *kinds, *last]
