"""The same costs composed by dp-accounting, the independent accountant of the extra `pld`.

Every cost is handed over as the worst mechanism of its kind: an ε-DP one as ε-randomized response, Gaussians and
Laplace noise as themselves, ρ-zCDP as such under RDP; `peer` holds the questions. Released wheels of dp-accounting know
no exponential mechanism and no (ε, δ) event, and its PLD accountant has ignored `count` for randomized response. So
bounded range is converted here, by search (`extreme_pairs`); counts are applied by `self_compose`; and the δ's of
(ε, δ) costs are set aside first: such a cost is at worst randomized response but for a chance of δ, so totals are read
at what they leave of δ.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, cast

import attrs
import numpy as np
from scipy.special import ndtr

from accountant.arrays import FloatArray
from accountant.audit.second_opinion import extreme_pairs, peer
from accountant.costs import (
    GDP,
    ZCDP,
    ApproxDP,
    BoundedRange,
    Cost,
    LaplaceDP,
    PureDP,
    SubsampledGaussian,
    Unbounded,
    subsampling,
)

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

MOST_DISTINCT: Final = 128
"""More distinct ε or widths than this are put together in as many groups, each at its mean."""

COARSE: Final = 1.0 + np.geomspace(1e-2, 1e8, 121)
"""Rényi orders to begin with, from dp-accounting's lowest; the best one's neighbours are searched, FINE of them."""

FINE: Final = 40

WHOLE: Final = np.unique(np.geomspace(2.0, 1024.0, 96).round())
"""Orders where there are Gaussians on samples: dp-accounting sums a series at others, which may not converge."""

SMALLEST_DELTA: Final = 1e-10
"""Below it the convolutions of dp-accounting, in double precision, have no digits left."""

MOST_BINS: Final = 2**20
"""Longest grid of losses that is asked of it."""

NOTHING: Final = 1e-100
"""In nats, or ρ: the reciprocal of a smaller cost leaves the ordinary floats."""

LOWEST: Final = 1.02
"""Orders below 1.01 are no use to its conversion; a total that is best below this one may have a better."""

SMALLEST_STEP: Final = 1e-14
"""Finest grid: below it e^step is 1 to double precision, or nearly."""

LARGEST: Final = 600.0
"""In nats; a loss whose exponential an ordinary float holds with room to spare."""

WIDEST: Final = 8.5
"""Grids reach this many deviations to either side."""


@attrs.frozen
class Parts:
    """Costs in groups of one kind, as (number, rounds): what composes in one way.

    kept: Σ ln(1 − δ) over the (ε, δ) costs, whose ε are among `pure`.
    sampled: Gaussians on Poisson samples, as ((μ, rate), rounds).
    """

    pure: tuple[tuple[float, int], ...]
    laplace: tuple[tuple[float, int], ...]
    widths: tuple[tuple[float, int], ...]
    mus: tuple[tuple[float, int], ...]
    rhos: tuple[tuple[float, int], ...]
    kept: float
    sampled: tuple[tuple[tuple[float, float], int], ...] = ()

    @staticmethod
    def of(rounds: Mapping[Cost, int]) -> "Parts":
        """Costs of 0 are left out, and so is what is below NOTHING. Raises ValueError for a cost without a bound."""
        kept = 0.0
        sampled: dict[tuple[float, float], int] = {}
        kinds: dict[str, dict[float, int]] = {"pure": {}, "laplace": {}, "widths": {}, "mus": {}, "rhos": {}}
        for each, times in rounds.items():
            cost = each.reduced if isinstance(each, SubsampledGaussian) else each
            match cost:
                case SubsampledGaussian(mu=mu, sampling_rate=rate):
                    if mu * rate > NOTHING and times:
                        sampled[mu, rate] = sampled.get((mu, rate), 0) + times
                    continue
                case PureDP(epsilon=number):
                    kind = "pure"
                case LaplaceDP(epsilon=number):
                    kind = "laplace"
                case ApproxDP(epsilon=number, delta=delta):
                    kind, kept = "pure", kept + times * math.log1p(-delta)
                case BoundedRange(epsilon=number):
                    kind = "widths"
                case GDP(mu=number):
                    kind = "mus"
                case ZCDP(rho=number):
                    kind = "rhos"
                case Unbounded():
                    raise ValueError("no accountant composes Unbounded(): it promises nothing")
            if number > NOTHING and times:
                kinds[kind][number] = kinds[kind].get(number, 0) + times
        grouped = {name: _grouped(counts, 2.0 if name == "mus" else 1.0) for name, counts in kinds.items()}
        return Parts(**grouped, kept=kept, sampled=tuple(sorted(sampled.items())))

    @property
    def mu(self) -> float:
        """All Gaussians together."""
        return math.sqrt(math.fsum(times * mu * mu for mu, times in self.mus))

    @property
    def largest_loss(self) -> float:
        """The sum of the largest losses, which is the Rényi divergence of order ∞; ∞ with Gaussians or zCDP."""
        if self.mus or self.rhos or self.sampled:
            return math.inf
        return math.fsum(times * number for number, times in (*self.pure, *self.laplace, *self.widths))

    @property
    def paired(self) -> bool:
        """Whether there are any costs that have a dominating pair: all but ρ-zCDP."""
        return bool(self.pure or self.laplace or self.widths or self.mus or self.sampled)

    @property
    def alone(self) -> Cost | None:
        """The one cost, of one round, that all of them lose as much as, if any: Gaussians (of ρ too) add up to one."""
        if self.sampled:
            return None
        bounded: list[tuple[Cost, int]] = [(PureDP(epsilon), times) for epsilon, times in self.pure]
        bounded += [(LaplaceDP(epsilon), times) for epsilon, times in self.laplace]
        bounded += [(BoundedRange(width), times) for width, times in self.widths]
        if self.mus or self.rhos:
            return None if bounded else GDP(self.widest_mu)
        return bounded[0][0] if len(bounded) == 1 == bounded[0][1] else None

    @property
    def widest_mu(self) -> float:
        """All Gaussians together, ρ-zCDP as the one of that ρ."""
        return math.sqrt(self.mu**2 + 2.0 * math.fsum(times * rho for rho, times in self.rhos))

    def room(self, delta: float) -> float:
        """What the (ε, δ) costs leave of δ for the others; 0 where it is all used up, to a millionth of a millionth."""
        used = -math.expm1(self.kept)
        return (delta - used) / math.exp(self.kept) if delta - used > 1e-12 * delta else 0.0


def _grouped(counts: Mapping[float, int], power: float) -> tuple[tuple[float, int], ...]:
    """Sorted; where there are too many, groups of similar numbers at their power mean, which keeps their sum."""
    if len(counts) <= MOST_DISTINCT:
        return tuple(sorted(counts.items()))
    low, high = min(counts), max(counts)
    groups: dict[int, list[tuple[float, int]]] = {}
    for number, times in counts.items():
        place = int((MOST_DISTINCT - 1) * math.log(number / low) / math.log(high / low))
        groups.setdefault(place, []).append((number, times))
    found = []
    for _, members in sorted(groups.items()):
        rounds = sum(times for _, times in members)
        total = math.fsum(times * number**power for number, times in members)
        found.append(((total / rounds) ** (1.0 / power), rounds))
    return tuple(found)


# --- Rényi ------------------------------------------------------------------------------------------------------


def renyi(parts: Parts, delta: float) -> tuple[float, float]:
    """ε at δ by adding up Rényi curves, and the order at which it is reached; delta in [0, 1).

    By dp-accounting's RdpAccountant and its conversion at the best order; ∞ stands for the sum of largest losses.
    """
    best = (parts.largest_loss, math.inf)
    room = parts.room(delta)
    if not room:
        return best
    asked = peer.peer()
    if parts.sampled:
        epsilon, order = asked.compute_epsilon(WHOLE, _curve(parts, WHOLE), room)
        return min(best, (float(epsilon), float(order)))
    orders, step = COARSE, math.log((COARSE[1] - 1.0) / (COARSE[0] - 1.0))
    for _ in range(3):
        epsilon, order = asked.compute_epsilon(orders, _curve(parts, orders), room)
        if epsilon < best[0]:
            best = (float(epsilon), float(order))
        orders = 1.0 + (float(order) - 1.0) * np.exp(np.linspace(-step, step, FINE + 1))
        orders, step = orders[orders >= COARSE[0]], 2.0 * step / FINE
    return best


def _curve(parts: Parts, orders: FloatArray) -> FloatArray:
    asked = peer.peer()
    # It answers for randomized response only up to where e^ε is a float.
    small = [part for part in parts.pure if part[0] <= LARGEST]
    large = [part for part in parts.pure if part[0] > LARGEST]
    kinds: tuple[tuple[peer.Curve, Sequence[tuple[float, int]]], ...] = (
        (peer.response_curve, small),
        (peer.laplace_curve, parts.laplace),
        (peer.gaussian_curve, parts.mus),
        (peer.zcdp_curve, parts.rhos),
    )
    total = np.zeros_like(orders)
    for curve, some in kinds:
        for number, times in some:
            total = total + curve(asked, orders, number, times)
    for epsilon, times in large:
        total = total + times * extreme_pairs.response_renyi(epsilon, orders)
    for width, times in parts.widths:
        total = total + times * extreme_pairs.range_renyi(width, orders)[0]
    for (mu, rate), times in parts.sampled:
        total = total + peer.sampled_curve(asked, orders, mu, rate, times)
    return np.maximum(total, 0.0)


# --- privacy-loss distributions -----------------------------------------------------------------------------------


def dominated(parts: Parts, delta: float) -> float:
    """ε at δ by privacy-loss distributions of dominating pairs, on a grid and rounded up. ρ-zCDP is left out.

    delta: in [0, 1). Bounded range is represented by the profile of its whole class.
    Raises ArithmeticError where δ is below SMALLEST_DELTA, or the grid too long.
    """
    room = _readable_room(parts, delta)
    if not room or not parts.paired:
        return parts.largest_loss if parts.paired else 0.0
    step = _step(parts)
    distributions = [(_response(epsilon, step), times) for epsilon, times in parts.pure]
    distributions += [(peer.laplace_losses(peer.peer(), epsilon, step), times) for epsilon, times in parts.laplace]
    distributions += [(_range(width, step), times) for width, times in parts.widths]
    if parts.mus:
        distributions.append((peer.gaussian_losses(peer.peer(), parts.mu, step), 1))
    distributions += [(peer.sampled_losses(peer.peer(), mu, rate, step), times) for (mu, rate), times in parts.sampled]
    return _composed(distributions, room)


def reached(parts: Parts, delta: float, order: float) -> float:
    """An ε that mechanisms of these very costs do have at δ: no sound total is smaller.

    Randomized response, Laplace noise, Gaussians (ρ-zCDP as the one of that ρ) and exponential mechanisms with two
    losses, whose offset is the worst one at a Rényi order, or one of a few; costs are rounded down to a grid, and so
    are losses.
    delta: in [0, 1).  order: > 1, ∞ for the largest losses. Raises ArithmeticError as `dominated` does.
    """
    room = _readable_room(parts, delta)
    if not room or not (parts.paired or parts.rhos):
        return parts.largest_loss if parts.paired or parts.rhos else 0.0
    mu = parts.widest_mu
    step = _step(parts)
    main = max((*parts.pure, *parts.laplace, *parts.widths), key=lambda part: part[1] * part[0] ** 2, default=None)
    if main is not None and main[0] > step:  # whole steps, an even number of them, in the cost that counts most
        step = main[0] / (2.0 * math.ceil(0.5 * main[0] / step))
    found = 0.0
    for worst in (None, *_shares(parts)) if parts.widths else (0.5,):
        distributions = [
            (distribution, times)
            for epsilon, times in parts.pure
            if (distribution := _two_losses(epsilon, None, step)) is not None
        ]
        distributions += [(_laplace_below(epsilon, step), times) for epsilon, times in parts.laplace]
        distributions += [
            (distribution, times)
            for width, times in parts.widths
            if (distribution := _two_losses(width, _offset(width, worst, order), step)) is not None
        ]
        if mu:
            distributions.append((_normal_below(mu, step), 1))
        distributions += [
            (peer.sampled_losses(peer.peer(), strength, rate, step, below=True), times)
            for (strength, rate), times in parts.sampled
        ]
        found = max(found, _composed(distributions, room) if distributions else 0.0)
    return found


def _offset(width: float, share: float | None, order: float) -> float:
    """A share of the width, or the worst offset at a Rényi order."""
    return (
        float(extreme_pairs.range_renyi(width, np.array([min(order, 1e8)]))[1][0]) if share is None else share * width
    )


def _shares(parts: Parts) -> tuple[float, ...]:
    """Offsets to try, as shares of the width: the middle, and where rounds are few some further out."""
    return (0.5, 0.6, 0.7, 0.8, 0.9, 0.97) if sum(times for _, times in parts.widths) <= 64 else (0.5, 0.55)


def _readable_room(parts: Parts, delta: float) -> float:
    room = parts.room(delta)
    if 0.0 < room < SMALLEST_DELTA:
        raise ArithmeticError(f"the δ that is left to read at, {room:.3g}, is below what its convolutions can tell")
    return room


def _step(parts: Parts) -> float:
    """A step so fine that joining the dots adds little to the spread of the total. Raises ArithmeticError."""
    spreads = [*parts.pure, *parts.laplace, *((0.5 * width, times) for width, times in parts.widths)]
    if parts.mus or parts.rhos:
        spreads.append((parts.widest_mu, 1))
    spreads += [(min(mu, subsampling.spread(mu, rate)), times) for (mu, rate), times in parts.sampled]
    rounds = sum(times for _, times in spreads)
    variance = math.fsum(times * spread * spread for spread, times in spreads)
    step = min(0.01, math.sqrt(variance / rounds) * min(0.03, max(0.002, 0.0005 * math.sqrt(rounds))))
    reach = 2.0 * WIDEST * math.sqrt(variance) + 0.5 * variance
    if reach > LARGEST or reach / step > MOST_BINS or step < SMALLEST_STEP:
        raise ArithmeticError(f"losses that spread over {reach:.3g} in steps of {step:.3g} are too much for its grid")
    return step


def _response(epsilon: float, step: float) -> "PrivacyLossDistribution":
    ends = {rounding(sign * epsilon / step) for sign in (-1.0, 1.0) for rounding in (math.floor, math.ceil)}
    return _dots(sorted(ends), step, lambda losses: extreme_pairs.response_profile(epsilon, losses))


def _range(width: float, step: float) -> "PrivacyLossDistribution":
    last = math.ceil(width / step)
    return _dots(range(-last, last + 1), step, lambda losses: extreme_pairs.range_profile(width, losses))


def _dots(places: Iterable[int], step: float, profile: Callable[[FloatArray], FloatArray]) -> "PrivacyLossDistribution":
    """The distribution whose profile joins the dots of the given one at `places`, sorted, in steps."""
    asked = peer.peer()
    grid = np.array(list(places))
    deltas = np.minimum.accumulate(np.clip(profile(grid * step), 0.0, 1.0))
    return cast("PrivacyLossDistribution", asked.PrivacyLossDistribution(asked.connect_dots(step, grid, deltas)))


def _normal_below(mu: float, step: float) -> "PrivacyLossDistribution":
    """The loss of N(mu, 1) against N(0, 1), which is N(mu²/2, mu²), rounded down to the grid."""
    first, last = (math.floor((0.5 * mu + sign * (WIDEST + 1.5)) * mu / step) for sign in (-1.0, 1.0))
    places = np.arange(first, last + 1)
    masses = np.append(np.diff(ndtr(places * step / mu - 0.5 * mu)), ndtr(0.5 * mu - last * step / mu))
    return peer.losses_on_grid(peer.peer(), dict(zip(places.tolist(), masses.tolist(), strict=True)), step)


def _laplace_below(epsilon: float, step: float) -> "PrivacyLossDistribution":
    """The loss of Laplace noise that moves by ε scales, rounded down to the grid.

    It is −ε with chance e^{−ε}/2, ε with 1/2, and below l in between with e^{(l − ε)/2}/2.
    """
    highest = epsilon * (1.0 + 1e-12)
    first, last = (math.floor(end / step) for end in (-highest, highest))
    places = np.arange(first, last + 1)
    ends = np.append(places, last + 1) * step
    below = np.where(ends > highest, 1.0, np.where(ends <= -epsilon, 0.0, 0.5 * np.exp(0.5 * (ends - epsilon))))
    masses = np.diff(below)
    return peer.losses_on_grid(peer.peer(), dict(zip(places.tolist(), masses.tolist(), strict=True)), step)


def _two_losses(width: float, offset: float | None, step: float) -> "PrivacyLossDistribution | None":
    """A mechanism with two losses on the grid, of at most this width; None where that leaves none.

    offset: the larger loss; None for randomized response, whose width is twice its ε.
    """
    steps = math.floor(width / step * (1.0 + 1e-12))
    if not steps:
        return None
    low, high = (-steps, steps) if offset is None else (0, steps)
    if offset is not None:
        high = min(max(round(offset / step), 1), steps - 1)
        low = high - steps
    if high <= 0 or low >= 0:
        return None
    upper = math.expm1(low * step) / math.expm1((low - high) * step)  # what makes Σ P·e^{−loss} one
    return peer.losses_on_grid(peer.peer(), {high: upper, low: 1.0 - upper}, step)


def _composed(distributions: Iterable[tuple["PrivacyLossDistribution", int]], room: float) -> float:
    cut = 1e-8 * room
    total = None
    for distribution, times in distributions:
        part = _repeated(distribution, times, cut)
        total = part if total is None else total.compose(part, cut)
    assert total is not None
    return float(total.get_epsilon_for_delta(room))


def _repeated(distribution: "PrivacyLossDistribution", times: int, cut: float) -> "PrivacyLossDistribution":
    """The distribution `times` times. In two stages where they are many: one stage would get far too long a grid."""
    if times == 1:
        return distribution
    if times < 1000:
        return distribution.self_compose(times, cut)
    root = math.isqrt(times)
    whole = distribution.self_compose(root, cut / root).self_compose(times // root, cut)
    return whole.compose(_repeated(distribution, times % root, cut), cut) if times % root else whole
