"""Private quantiles: cut points for bins that depend on the data, each paid for.

Cut points come from a public list, so that the mechanism has finitely many outcomes and a known distribution.
"""

import itertools
import math
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Final

import attrs
import numpy as np

from accountant import Adjacency, BoundedRange, Description, Plan, Protected, ReplaceOne
from accountant.arrays import ExactArray, FloatArray
from accountant.costs import count, open_probability
from accountant.renamed import old_names
from mechanisms.core import FiniteMechanism, RangeSensitivity, Spender, scale
from mechanisms.randomness import NoiseSource, SecureNoise
from mechanisms.selection import ExponentialChoice

if not TYPE_CHECKING:
    __getattr__ = old_names(__name__)

CELLS: Final = 1024
"""How many cut points `Candidates.between` lays between two bounds."""


def _rising(values: Iterable[float]) -> tuple[float, ...]:
    points = tuple(float(value) for value in values)
    if not points or not all(math.isfinite(point) for point in points):
        raise ValueError("candidates: expected at least one number, all finite")
    if not all(low < high for low, high in itertools.pairwise(points)):
        raise ValueError("candidates: expected strictly increasing numbers")
    return points


@attrs.frozen(slots=False)
class Candidates:
    """Public cut points, strictly increasing and finite; at least one. They must not depend on the data.

    A value counts as the candidate nearest to it (halfway, as the lower one), so values outside are clipped.
    """

    points: tuple[float, ...] = attrs.field(
        converter=_rising, repr=lambda points: f"<{len(points)} from {points[0]!r} to {points[-1]!r}>"
    )

    @staticmethod
    def between(lower: float, upper: float, cells: int = CELLS) -> "Candidates":
        """The midpoints of `cells` equal cells of [lower, upper], in the data's unit. Raises ValueError.

        lower, upper: public bounds, finite, lower < upper.
        """
        if not (math.isfinite(lower) and math.isfinite(upper) and lower < upper):
            raise ValueError(f"expected finite bounds with lower < upper, got {lower!r} and {upper!r}")
        shares = (np.arange(count(cells)) + 0.5) / cells
        return Candidates(tuple(((1.0 - shares) * lower + shares * upper).tolist()))

    def __len__(self) -> int:
        return len(self.points)

    @cached_property
    def _borders(self) -> FloatArray:
        points = np.array(self.points)
        # Halves first: the sum of two points may overflow.
        return 0.5 * points[:-1] + 0.5 * points[1:]

    def tally(self, values: FloatArray) -> "Tally":
        """How many values count as each candidate. Raises ValueError unless values are finite, of shape (n,)."""
        if np.ndim(values) != 1 or not np.all(np.isfinite(values)):
            raise ValueError("expected finite values of shape (n,)")
        cells = np.searchsorted(self._borders, values, side="left")
        return Tally(self, np.bincount(cells, minlength=len(self)).astype(np.int64))


@attrs.frozen(eq=False, repr=False)
class Tally:
    """How many records count as each candidate, shape (k,): all that quantiles need to know of the data.

    counted: that, or what finds it out once it is asked for.
    """

    candidates: Candidates
    counted: ExactArray | Callable[[], ExactArray] = attrs.field(repr=False)

    @cached_property
    def counts(self) -> ExactArray:
        """Shape (k,)."""
        return self.counted if isinstance(self.counted, np.ndarray) else self.counted()

    def utilities(self, level: float) -> FloatArray:
        """Minus the number of ranks between `target_rank(level, n)` and each candidate, shape (k,).

        A candidate covers the ranks from how many records lie below it to how many lie at or below it.
        """
        at_most = np.cumsum(self.counts).astype(np.float64)
        below, target = at_most - self.counts, target_rank(level, int(at_most[-1]))
        return np.minimum(np.minimum(target - below, at_most - target), 0.0)


def _level(value: float) -> float:
    if isinstance(value, bool) or not 0.0 <= value <= 1.0:
        raise ValueError(f"expected a level in [0, 1], got {value!r}")
    return float(value)


def target_rank(level: float, n: int) -> float:
    """level·n to the nearest 1/1024, so that all differences of ranks are exact and so is their range."""
    return round(_level(level) * count(n) * 1024.0) / 1024.0


def utility_range(level: float, n: int, candidates: int) -> float:
    """The largest range, over candidates, of how replacing one of n records changes `Tally.utilities`.

    min(1, t) + min(1, n − t) with t = target_rank(level, n): 2 unless t is within 1 of an end; 1 for two candidates,
    0 for one. Attained. Proof: [private-quantile]. A record that moves down raises the ranks of the candidates that
    it passes by one; below the target that gains at most min(1, t), above it that loses at most min(1, n − t).
    """
    target = target_rank(level, n)
    whole = min(1.0, target) + min(1.0, n - target)
    return (0.0, 1.0, whole)[min(count(candidates), 3) - 1]


@attrs.frozen(slots=False)
class PrivateQuantile(FiniteMechanism[Tally]):
    """The number of the candidate at about rank level·n: candidate i with chance ∝ exp(eta·utility_i).

    level: in [0, 1]; 1/2 is the median.  candidates: public cut points.  n: how many records there are, public.
    eta: inverse noise scale, per rank, in [2^-500, 2^500].
    Releases an index into candidates.points. Data: `candidates.tally(values)`; adjacency: replace-one.
    Cost: BoundedRange(eta·utility_range), 2·eta for a level that is not extreme. Proof: [private-quantile], on [L2].
    Source: Smith 2011, section 3; there with a data-dependent list of intervals.

    | edge | what happens |
    | --- | --- |
    | one candidate | it is returned; cost 0 |
    | ties | equal probabilities |
    | all values equal | the candidate nearest to them has utility 0, whatever the level |
    | values outside | count as the first or the last candidate |
    | level 0 or 1 | cost eta instead of 2·eta |
    | lower = upper | ValueError |
    | a value of NaN or ±inf | ValueError, before the charge |
    | another n, other candidates | ValueError, before the charge |
    """

    level: float = attrs.field(converter=_level)
    candidates: Candidates
    n: int = attrs.field(converter=count)
    eta: float = attrs.field(converter=scale)
    noise: NoiseSource = attrs.field(factory=SecureNoise)

    @property
    def _randomizer(self) -> ExponentialChoice:
        return ExponentialChoice(self.eta)

    @cached_property
    def sensitivity(self) -> RangeSensitivity:
        """`utility_range`, in ranks."""
        return RangeSensitivity(utility_range(self.level, self.n, len(self.candidates)))

    @cached_property
    def cost(self) -> BoundedRange:
        return self._randomizer.cost(self.sensitivity)

    @property
    def adjacency(self) -> Adjacency:
        return ReplaceOne()

    @cached_property
    def description(self) -> Description:
        points = self.candidates.points
        return Description(
            mechanism="PrivateQuantile",
            query=f"quantile among {len(points)} cut points from {points[0]!r} to {points[-1]!r}",
            parameters=(*self._randomizer.parameters, ("level", self.level), ("n", self.n)),
            norm=self.sensitivity.norm,
            sensitivity=self.sensitivity.value,
            zeta=None,
            noise=self.noise.name,
            private=self.noise.private,
            claims=("private-quantile", *self._randomizer.claims),
        )

    def check(self, data: Tally) -> None:
        if data.candidates != self.candidates:
            raise ValueError("the data was tallied for other candidates")
        if int(np.sum(data.counts)) != self.n:
            raise ValueError(f"expected n = {self.n} records, got {int(np.sum(data.counts))}")

    def sample(self, data: Tally) -> int:
        return self._randomizer.draw(data.utilities(self.level), self.noise)

    def log_probabilities(self, data: Tally) -> FloatArray:
        return self._randomizer.log_probabilities(data.utilities(self.level))

    def rank_error(self, beta: float) -> float:
        """Ranks r such that the chosen candidate is further than r from the target with probability <= beta.

        beta: in (0, 1). r = ln((k − 1)/beta)/eta, 0 for one candidate: some candidate always covers the target, and
        each of the others further than r has at most exp(−eta·r) times its chance.
        """
        others = len(self.candidates) - 1
        return max(0.0, math.log(others / open_probability(beta)) / self.eta) if others else 0.0


def _levels(values: Iterable[float]) -> tuple[float, ...]:
    levels = tuple(_level(value) for value in values)
    if not levels or not all(low < high for low, high in itertools.pairwise(levels)):
        raise ValueError(f"expected at least one level, strictly increasing, got {levels!r}")
    return levels


@attrs.frozen(slots=False)
class PrivateQuantiles:
    """Cut points at several levels: one `PrivateQuantile` each, meant to be priced as one plan.

    levels: strictly increasing, each in [0, 1].  candidates, n, eta, noise: as for `PrivateQuantile`.
    With `ledger.reserve(quantiles.plan(), adjacency=ReplaceOne(), delta=...) as charge` and
    `quantiles.release(charge, data)` all levels are one charge; with a ledger in its place, one charge per level.

    >>> quartiles = PrivateQuantiles((0.25, 0.5, 0.75), Candidates.between(0.0, 100.0), n=1000, eta=0.1)
    >>> round(quartiles.plan().price(1e-6).best.epsilon, 2), round(quartiles.rank_error(0.05))
    (0.56, 110)

    | edge | what happens |
    | --- | --- |
    | levels that fall on one cut point | it is returned once; each level is paid for |
    | cut points out of order | they are sorted |
    """

    levels: tuple[float, ...] = attrs.field(converter=_levels)
    candidates: Candidates
    n: int = attrs.field(converter=count)
    eta: float = attrs.field(converter=scale)
    noise: NoiseSource = attrs.field(factory=SecureNoise)

    @cached_property
    def mechanisms(self) -> tuple[PrivateQuantile, ...]:
        """One per level, in order."""
        return tuple(PrivateQuantile(level, self.candidates, self.n, self.eta, self.noise) for level in self.levels)

    def plan(self) -> Plan:
        """The costs of all releases, known in advance."""
        return Plan.sequence([mechanism.cost for mechanism in self.mechanisms])

    def release(self, spender: Spender, data: Protected[FloatArray]) -> FloatArray:
        """Distinct cut points, rising, shape (at most the number of levels,), in the data's unit.

        data: values of shape (n,). Raises what the spender raises, and ValueError for values that are not finite.
        """
        tally = data.map(self.candidates.tally)
        chosen = {spender.release(mechanism, tally) for mechanism in self.mechanisms}
        return np.array([self.candidates.points[index] for index in sorted(chosen)])

    def rank_error(self, beta: float) -> float:
        """Ranks that no level errs by more than, but with probability beta in (0, 1): beta is shared equally."""
        return self.mechanisms[0].rank_error(open_probability(beta) / len(self.levels))
