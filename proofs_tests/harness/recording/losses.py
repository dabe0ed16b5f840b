"""Exact losses of single releases on one pair, and their sum, in the currency of a claim.

Every release is two distributions of one outcome. Where there is no closed form, outcomes are put together in cells:
that is post-processing, so that no number here is above the true one, in any currency, and what is refuted is refuted.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias

import attrs
import numpy as np
from scipy import stats

from accountant import (
    GDP,
    ZCDP,
    ApproxDP,
    BoundedRange,
    Cost,
    LaplaceDP,
    PureDP,
    Unbounded,
    UnsupportedCost,
)
from accountant.arrays import FloatArray
from accountant.costs import gaussian
from accountant.costs.curves import ORDERS, laplace_divergence, laplace_epsilon
from proofs_tests.harness.divergence import LogProbabilities, losses, measured, renyi_one_way
from proofs_tests.harness.neighbours import Pair
from proofs_tests.harness.recording.calls import Call, Law

CELLS: Final = 500
"""Of one release; where releases are put together, outcomes of nearly equal loss share one of `SHARED` cells."""

SHARED: Final = 800
MOST_STEPS: Final = 10_000
"""A larger change of a whole number is counted as this one, which loses less."""

NEGLIGIBLE: Final = 1e-14

FAR: Final = 38.0
"""Scales from the centre beyond which a tail is one cell; for Gaussian noise an eighth of it, for the same reason."""


@attrs.frozen
class Shifted:
    """One number noised with the same law and scale on both sides, moved by `moved` scales, >= 0."""

    law: Law
    moved: float


@attrs.frozen(eq=False)
class Outcomes:
    """Finitely many outcomes, or cells of them. ends: whether the loss of what is cut off has no bound."""

    both: Pair[LogProbabilities]
    unbounded: bool = False


@attrs.frozen
class Mapped:
    """What a library's own privacy map says: an upper bound, which proves nothing lost."""

    cost: Cost


@attrs.frozen
class Certain:
    """Told apart for sure."""


Loss: TypeAlias = Shifted | Outcomes | Mapped | Certain


def _distribution(law: Law) -> tuple[Callable[[FloatArray], FloatArray], Callable[[FloatArray], FloatArray]]:
    """ln of the distribution function and of the survival function of the standard law."""
    known = {"laplace": stats.laplace, "gaussian": stats.norm, "gumbel": stats.gumbel_r, "exponential": stats.expon}
    return known[law].logcdf, known[law].logsf


def noised(law: Law, change: float, scale: float, other_scale: float) -> Loss:
    """A number noised with `scale`, against one moved by `change` and noised with `other_scale`, both > 0.

    What is no finite number, or has no noise, is told apart.
    """
    if change == 0.0 and scale == other_scale:
        return Shifted("laplace", 0.0)
    if not (math.isfinite(change) and 0.0 < scale < math.inf and 0.0 < other_scale < math.inf):
        return Certain()
    if law in ("laplace", "gaussian") and scale == other_scale:
        return Shifted(law, abs(change) / scale)
    if law == "discrete laplace":
        if change != round(change):
            return Certain()
        if scale == other_scale:
            return _discrete(min(int(abs(change)), MOST_STEPS), scale)
        return Outcomes(_discrete_cells(change, scale, other_scale), unbounded=True)
    return Outcomes(_cells(law, change / scale, other_scale / scale), unbounded=True)


def _discrete(steps: int, scale: float) -> Loss:
    """Whole numbers k with probability ∝ e^{−|k|/scale} around 0 and `steps`: at most 0, each between, beyond."""
    between = -np.arange(1, steps) / scale + math.log(-math.expm1(-1.0 / scale))
    before = np.concatenate([[0.0], between, [-steps / scale]]) - math.log1p(math.exp(-1.0 / scale))
    return Outcomes(Pair(before, before[::-1]))


def _discrete_cells(change: float, scale: float, other_scale: float) -> Pair[LogProbabilities]:
    """Whole numbers, each by itself around both centres and some together further out, and beyond."""
    ends = [
        centre + sign * FAR * wide for centre, wide in ((0.0, scale), (change, other_scale)) for sign in (-1.0, 1.0)
    ]
    near = np.arange(-CELLS // 4, CELLS // 4)
    far = np.linspace(min(ends), max(ends), CELLS)
    edges = np.unique(np.round(np.concatenate([near, change + near, far])))
    return Pair(_whole_masses(edges, scale), _whole_masses(edges - change, other_scale))


def _whole_masses(edges: FloatArray, scale: float) -> LogProbabilities:
    """ln of the chance, around 0, of each row of whole numbers up to an edge, from the last one on, and beyond."""
    ends = np.concatenate([[-np.inf], edges, [np.inf]])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        share = -math.log1p(math.exp(-1.0 / scale))
        down, up = (
            share + ends / scale,
            share - (ends + 1.0) / scale,
        )  # at most an end below 0; more than one from −1 on
        low = np.where(ends < 0.0, down, np.log1p(-np.exp(np.minimum(up, -1e-300))))
        high = np.where(ends < 0.0, np.log1p(-np.exp(np.minimum(down, -1e-300))), up)
        left = low[1:] + np.log(-np.expm1(low[:-1] - low[1:]))
        right = high[:-1] + np.log(-np.expm1(high[1:] - high[:-1]))
        found = np.asarray(np.where(ends[1:] < 0.0, left, right), dtype=np.float64)
    return np.nan_to_num(found, nan=-np.inf, neginf=-np.inf)


def _cells(law: Law, moved: float, widened: float) -> Pair[LogProbabilities]:
    reach = FAR / 4.0 if law == "gaussian" else FAR
    own = np.linspace(-reach, reach, CELLS)
    edges = np.unique(np.concatenate([own, moved + widened * own, [0.0, moved]]))
    return Pair(_masses(law, edges), _masses(law, (edges - moved) / widened))


def _masses(law: Law, edges: FloatArray) -> LogProbabilities:
    """ln of the chance of each cell between edges and beyond; differences are taken on the side that is small."""
    log_below, log_above = _distribution(law)
    ends = np.concatenate([[-np.inf], edges, [np.inf]])
    low, high = np.asarray(log_below(ends)), np.asarray(log_above(ends))
    with np.errstate(divide="ignore", invalid="ignore"):
        left = low[1:] + np.log(-np.expm1(low[:-1] - low[1:]))
        right = high[:-1] + np.log(-np.expm1(high[1:] - high[:-1]))
        found = np.where(low[1:] < high[:-1], left, right)
    return np.nan_to_num(found, nan=-np.inf, neginf=-np.inf)


def density(
    law: Law,
    points: FloatArray,
    value: FloatArray | float,
    scale: FloatArray | float,
    span: tuple[float, float] | None = None,
) -> FloatArray:
    """ln of the density, or of the chance of whole numbers, of value + scale·noise at points, elementwise."""
    wide = np.abs(scale)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        z = (points - value) / scale
        match law:
            case "laplace":
                return np.asarray(-np.abs(z) - np.log(2.0 * wide))
            case "gaussian":
                return np.asarray(-0.5 * z * z - np.log(wide * math.sqrt(2.0 * math.pi)))
            case "gumbel":
                return np.asarray(-z - np.exp(-z) - np.log(wide))
            case "exponential":
                return np.asarray(np.where(z >= 0.0, -z, -np.inf) - np.log(wide))
            case "discrete laplace":
                whole = points - value == np.round(points - value)
                return np.asarray(np.where(whole, -np.abs(z), -np.inf) + np.log(np.tanh(0.5 / wide)))
            case "bounded laplace" if span is not None:
                inside = (points >= span[0]) & (points <= span[1])
                held = -np.expm1((span[0] - value) / wide) - np.expm1((value - span[1]) / wide)
                return np.asarray(np.where(inside, -np.abs(z), -np.inf) - np.log(wide * held))
    raise ValueError(f"law: no density of {law!r} is known")


def bounded_cells(call: Call, both: tuple[Call, Call]) -> LogProbabilities:
    """ln of the chance of each cell of an interval; ends and both values have cells so small that the loss stands."""
    low, high = call.span or (-math.inf, math.inf)
    value, scale = float(np.clip(np.asarray(call.value), low, high)), float(call.scale)
    near = np.array([low, high, *(float(np.clip(np.asarray(each.value), low, high)) for each in both)])
    tiny = 1e-5 * (high - low)  # a smaller one would lose digits in the difference of two chances
    wanted = np.clip(np.concatenate([np.linspace(low, high, CELLS), near - tiny, near + tiny]), low, high)
    steps = np.unique(np.round((wanted - low) / (0.1 * tiny)))  # so that no cell is too narrow for its chance
    edges = np.clip(low + 0.1 * tiny * steps, low, high)
    inside = _masses("laplace", (edges - value) / scale)[1:-1]
    return np.asarray(inside - np.logaddexp.reduce(inside))


def _shift_cells(loss: Shifted) -> Pair[LogProbabilities]:
    if loss.law == "gaussian":
        reach = 9.5 + loss.moved
        edges = np.linspace(-reach, loss.moved + reach, CELLS)
    else:
        edges = np.linspace(0.0, loss.moved, CELLS)  # beyond, the loss is constant, so that one cell loses nothing
    return Pair(_masses(loss.law, edges), _masses(loss.law, edges - loss.moved))


def _outcomes(loss: Loss) -> Pair[LogProbabilities]:
    """A loss as cells."""
    match loss:
        case Shifted():
            return _shift_cells(loss)
        case Outcomes(both=both):
            return both
        case Mapped(cost=PureDP(epsilon=epsilon) | ApproxDP(epsilon=epsilon)):
            delta = loss.cost.delta if isinstance(loss.cost, ApproxDP) else 0.0
            truth = math.log1p(-delta) - np.logaddexp(0.0, [-epsilon, epsilon])
            sure = np.array([math.log(delta), -np.inf] if delta else [-np.inf, -np.inf])
            return Pair(np.append(truth, sure), np.append(truth[::-1], sure[::-1]))
        case Mapped(cost=ZCDP(rho=rho)):
            return _shift_cells(Shifted("gaussian", math.sqrt(2.0 * rho)))
        case _:
            return Pair(np.array([0.0, -np.inf]), np.array([-np.inf, 0.0]))


def _together(one: Pair[LogProbabilities], other: Pair[LogProbabilities]) -> Pair[LogProbabilities]:
    both = [(first[:, None] + second[None, :]).ravel() for first, second in zip(one, other, strict=True)]
    return _merged(Pair(*both))


def _merged(both: Pair[LogProbabilities]) -> Pair[LogProbabilities]:
    """Outcomes of nearly equal loss as one; those that only one side has stay apart."""
    possible = ~(np.isneginf(both.before) & np.isneginf(both.after))
    p, q = both.before[possible], both.after[possible]
    if p.size <= SHARED:
        return Pair(p, q)
    with np.errstate(invalid="ignore"):
        seen = p - q
    low, high = _usual(seen, np.exp(p) + np.exp(q))
    cell = np.floor((np.clip(seen, low, high) - low) / max(high - low, 1e-300) * (SHARED - 1))
    cell = np.where(np.isposinf(seen), SHARED + 1.0, np.where(np.isneginf(seen), -1.0, cell))
    order = np.argsort(cell, kind="stable")
    starts = np.flatnonzero(np.diff(cell[order], prepend=-2.0))
    return Pair(*(np.logaddexp.reduceat(side[order], starts) for side in (p, q)))


def _usual(seen: FloatArray, masses: FloatArray) -> tuple[float, float]:
    """Between which losses all but `NEGLIGIBLE` of the mass is; what is beyond shares the last cells."""
    finite = np.isfinite(seen)
    order = np.argsort(seen[finite])
    ordered, running = seen[finite][order], np.cumsum(masses[finite][order])
    if not ordered.size:
        return 0.0, 0.0
    last = ordered.size - 1
    ends = np.searchsorted(running, [NEGLIGIBLE, running[-1] * (1.0 - NEGLIGIBLE)])
    return float(ordered[min(ends[0], last)]), float(ordered[min(ends[1], last)])


def _powers(both: Pair[LogProbabilities], times: int) -> Pair[LogProbabilities]:
    """The same release so many times, >= 1."""
    if times == 1:
        return _merged(both)
    half = _powers(both, times // 2)
    whole = _together(half, half)
    return _together(whole, both) if times % 2 else whole


def composed(found: Iterable[Loss]) -> Pair[LogProbabilities]:
    """All of them, as outcomes of one release."""
    shifts, rest, squares = dict[float, int](), list[Pair[LogProbabilities]](), 0.0
    for loss in found:
        match loss:
            case Shifted(law="gaussian", moved=moved):
                squares += moved**2
            case Shifted(moved=moved):
                shifts[moved] = shifts.get(moved, 0) + 1
            case _:
                rest.append(_outcomes(loss))
    rest += [_powers(_shift_cells(Shifted("laplace", moved)), times) for moved, times in shifts.items() if moved]
    if squares:
        rest.append(_shift_cells(Shifted("gaussian", math.sqrt(squares))))
    total = Pair(np.zeros(1), np.zeros(1))
    for each in rest:
        total = _together(total, each)
    return total


def _ends(loss: Loss) -> tuple[float, float]:
    """The largest loss, and the largest the other way round."""
    match loss:
        case Shifted(moved=0.0):
            return 0.0, 0.0
        case Shifted(law="laplace", moved=moved):
            return moved, moved
        case Outcomes(both=both, unbounded=False):
            seen = losses(both)
            return float(np.max(seen)), float(-np.min(seen))
        case Mapped(cost=PureDP(epsilon=epsilon)):
            return epsilon, epsilon
        case _:
            return math.inf, math.inf


def _curves(loss: Loss) -> tuple[FloatArray, FloatArray]:
    """Rényi divergences at `ORDERS`, both ways round."""
    infinite = np.full_like(ORDERS, np.inf)
    match loss:
        case Shifted(moved=0.0):
            return np.zeros_like(ORDERS), np.zeros_like(ORDERS)
        case Shifted(law="gaussian", moved=moved):
            curve = 0.5 * moved * moved * ORDERS
        case Shifted(moved=moved):
            curve = laplace_divergence(moved, ORDERS)
        case Outcomes(both=both, unbounded=False):
            return renyi_one_way(both.before, both.after, ORDERS), renyi_one_way(both.after, both.before, ORDERS)
        case Mapped(cost=ZCDP(rho=rho)):
            curve = rho * ORDERS
        case Mapped(cost=PureDP(epsilon=epsilon)):
            curve = PureDP(epsilon).to_zcdp().rho * ORDERS
        case _:
            return infinite, infinite
    return curve, curve


def against(found: Sequence[Loss], claimed: Cost) -> tuple[str, float, float]:
    """What is compared for that claim: its name, the claimed number, and at most what these releases lose together.

    Raises UnsupportedCost for a claim that claims nothing.
    """
    changed = [loss for loss in found if loss != Shifted("laplace", 0.0) and loss != Shifted("gaussian", 0.0)]
    gaussians = [loss.moved for loss in changed if isinstance(loss, Shifted) and loss.law == "gaussian"]
    mu = math.hypot(*gaussians) if len(gaussians) == len(changed) else None
    unbounded = any(isinstance(loss, Outcomes) and loss.unbounded for loss in changed)
    match claimed:
        case PureDP(epsilon=epsilon) | ApproxDP(epsilon=epsilon, delta=0.0):
            ahead, behind = (math.fsum(side) for side in zip((0.0, 0.0), *map(_ends, changed), strict=True))
            return "ε", epsilon, max(ahead, behind)
        case BoundedRange(epsilon=epsilon):
            return "width", epsilon, math.fsum(sum(_ends(loss)) for loss in changed)
        case ZCDP(rho=rho):
            ways = [sum((side[way] for side in map(_curves, changed)), np.zeros_like(ORDERS)) for way in (0, 1)]
            return "ρ", rho, float(np.max(np.maximum(*ways) / ORDERS))
        case GDP() | LaplaceDP() if unbounded:
            return measured(Pair(np.zeros(1), np.zeros(1)), claimed)[0], *attrs.astuple(claimed), math.inf
        case GDP(mu=bound) if mu is not None:
            return "μ", bound, mu
        case ApproxDP(epsilon=epsilon, delta=delta) if mu is not None:
            return f"ε at δ = {delta:g}", epsilon, gaussian.epsilon(mu, delta) if mu else 0.0
        case ApproxDP(epsilon=epsilon, delta=delta) if len(changed) == 1 and isinstance(changed[0], Shifted):
            return f"ε at δ = {delta:g}", epsilon, laplace_epsilon(changed[0].moved, delta)
        case Unbounded():
            raise UnsupportedCost("claimed: Unbounded() claims nothing, so there is nothing to check")
        case _:
            return measured(composed(changed), claimed)
