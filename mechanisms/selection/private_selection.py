"""Private choice of a model: run candidates a random number of times and release the best output.

A fixed number of runs k would cost about k times one run. A number that is itself random, hidden and spread
out costs two to three runs, however many are expected: Liu & Talwar 2019; Papernot & Steinke 2022.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Final, Generic

import attrs
import numpy as np

from accountant import (
    GDP,
    ZCDP,
    Adjacency,
    ApproxDP,
    BoundedRange,
    Cost,
    Description,
    LaplaceDP,
    PureDP,
    SubsampledGaussian,
    Unbounded,
    UnsupportedCost,
)
from accountant.arrays import FloatArray
from accountant.costs import ORDERS, curves, down, open_probability, up
from mechanisms.core import D, Mechanism, R
from mechanisms.randomness import NoiseSource, SecureNoise
from mechanisms.selection.choice_profile import ChoiceProfile
from mechanisms.selection.stopping import NegativeBinomialStopping, PoissonStopping, RunPrivacy, Stopping, run_privacy

LARGEST_COST: Final = 500.0
"""In nats, or ρ; e to such a power is an ordinary float."""

__all__ = [
    "NegativeBinomialStopping",
    "PoissonStopping",
    "PrivateSelection",
    "Stopping",
    "selection_cost",
    "selection_divergences",
]


# --- what the choice costs --------------------------------------------------------------------------------------


def _common(costs: Sequence[Cost]) -> PureDP | LaplaceDP | BoundedRange | ZCDP | GDP:
    """The worst of the costs, in the strongest kind that all of them have. Raises UnsupportedCost."""
    plain = [_without_delta(cost) for cost in costs]
    paid = [cost for cost in plain if any(attrs.astuple(cost))]
    if not paid:
        return PureDP(0.0)
    if any(max(attrs.astuple(cost)) > LARGEST_COST for cost in paid):
        raise UnsupportedCost(f"a candidate's cost above {LARGEST_COST} promises nothing, and is not supported")
    widths = [cost.epsilon for cost in paid if isinstance(cost, PureDP | LaplaceDP | BoundedRange)]
    if len(widths) == len(paid):
        for kind in (LaplaceDP, BoundedRange):
            if all(isinstance(cost, kind) for cost in paid):
                return kind(max(widths))
        return PureDP(max(widths))
    shifts = [cost.mu for cost in paid if isinstance(cost, GDP)]
    if len(shifts) == len(paid):
        return GDP(max(shifts))
    return ZCDP(max(cost.rho if isinstance(cost, ZCDP) else cost.to_zcdp().rho for cost in paid))


def _without_delta(cost: Cost) -> PureDP | LaplaceDP | BoundedRange | ZCDP | GDP:
    if isinstance(cost, Unbounded):
        raise UnsupportedCost(f"{cost!r}: a candidate that promises nothing is not supported")
    if isinstance(cost, SubsampledGaussian):
        # Not even as GDP(mu): the record must be in every candidate's sample by itself, which nobody here knows.
        raise UnsupportedCost(f"{cost!r}: a candidate on a sample is not supported; declare its GDP(mu) without it")
    if not isinstance(cost, ApproxDP):
        return cost
    if cost.delta:
        raise UnsupportedCost(f"{cost!r}: a candidate's δ > 0 is not supported; declare its zCDP, GDP or pure cost")
    return PureDP(cost.epsilon)


def _pure_loss(run: RunPrivacy, cost: Cost, stopping: Stopping, candidates: int) -> float:
    """The largest loss of the choice, ∞ where a run's is. [random-stopping]

    One bounded-range mechanism, repeated: if its output's loss is t, no event's falls below t − width, so the
    two factors cannot both be at their worst: t + (1 + eta)·(width − t).
    """
    loss = up(run.loss + stopping.tilt(run))
    if candidates == 1 and isinstance(cost, BoundedRange) and isinstance(stopping, NegativeBinomialStopping):
        loss = min(loss, up((1.0 + max(stopping.eta, 0.0)) * cost.epsilon))
    return loss


def selection_cost(costs: Sequence[Cost], stopping: Stopping, delta: float | None = None) -> PureDP | ApproxDP:
    """What releasing the best of K runs of uniformly chosen candidates costs.

    costs: one per candidate, at least one; what counts is the worst, in the strongest kind they share.
    delta: in (0, 1), or None for a pure cost. With it, the smallest ε of the pure bound [random-stopping], of
      ε_run(δ/E[K]) + tilt (Koskela, Redberg & Wang 2024) and of the Rényi curve, read at δ [random-stopping-renyi],
      and of the choice's own privacy profile [random-stopping-profile].
    Raises UnsupportedCost for a candidate with δ > 0 or a cost above 500, and for zCDP or Gaussian candidates
    without `delta`.
    """
    common = _common(costs)
    if not any(attrs.astuple(common)):
        return PureDP(0.0)
    run = run_privacy(common)
    pure = _pure_loss(run, common, stopping, len(costs))
    if delta is None:
        if math.isinf(pure):
            raise UnsupportedCost(f"{common!r} bounds no single loss: give delta=... to declare the choice at (ε, δ)")
        return PureDP(pure)
    simple = min(_profile_epsilon(run, stopping, delta), _renyi_epsilon(run, stopping, delta))
    found = ChoiceProfile.of(run, stopping).epsilon(delta, simple)
    return PureDP(pure) if pure <= found else ApproxDP(found, delta)


def _profile_epsilon(run: RunPrivacy, stopping: Stopping, delta: float) -> float:
    """f′ <= E[K] and ln f′/f′ <= tilt, so δ of the choice at ε + tilt is at most E[K] times that of a run at ε."""
    share = min(down(delta / stopping.mean), 0.5)
    return up(run.epsilon(open_probability(share)) + stopping.tilt(run))


def selection_divergences(costs: Sequence[Cost], stopping: Stopping) -> FloatArray:
    """Rényi divergences of the best of K runs, at `accountant.costs.curves.ORDERS`. [random-stopping-renyi]

    costs: one per candidate, at least one. Raises UnsupportedCost for a candidate with δ > 0.
    """
    common = _common(costs)
    return stopping.divergences(run_privacy(common)) if any(attrs.astuple(common)) else np.zeros_like(ORDERS)


def _renyi_epsilon(run: RunPrivacy, stopping: Stopping, delta: float) -> float:
    curve = stopping.divergences(run)
    # Near order 1 the curve is a difference of large terms; their rounding is added.
    rounding = 1e-12 * (1.0 + abs(math.log(stopping.mean))) * ORDERS / (ORDERS - 1.0)
    return curves.renyi_epsilon(np.maximum(curve, 0.0) + rounding, ORDERS, delta)


# --- the mechanism ----------------------------------------------------------------------------------------------


def _given_delta(value: float | None) -> float | None:
    return None if value is None else open_probability(value)


@attrs.frozen(slots=False)
class PrivateSelection(Mechanism[D, tuple[int, R] | None], Generic[D, R]):
    """The best output of K runs of uniformly chosen candidates, K drawn from `stopping` and kept secret.

    candidates: at least one mechanism, all for the same adjacency: one per setting of the hyper-parameters, say.
      A tuple. Each returns what it is to be judged by, privately, along with the model: a (noisy score, model) pair.
    key: output to rank, larger is better. A function of the output alone; it must not raise.
    stopping: the distribution of K. Its `mean` is the expected number of runs, to be compared with the number of
      candidates.
    delta: in (0, 1), or None for a pure cost; zCDP and Gaussian candidates need it.
    noise: for K and for the choice of candidates.
    Releases (candidate number, its output), or None where K is 0. The runs themselves are not charged.

    Cost: `selection_cost` of the candidates' costs: PureDP(ε + (1 + eta)·ln((e^ε + gamma)/(1 + gamma·e^ε))), at
    most (2 + eta)·ε, for ε-DP candidates under `NegativeBinomialStopping`; for zCDP and Gaussian ones
    ApproxDP(ε, delta). Proofs: [random-stopping], after Liu & Talwar 2019 and Papernot & Steinke 2022, Cor. 3;
    [random-stopping-renyi], after the latter's Thms 2 and 6; [random-stopping-profile]. The number of runs K must
    stay hidden: given K, the best output costs up to K runs. Running time shows it, also between the two time stamps
    of a ledger's entries, and timing is not protected.

    | edge | what happens |
    | --- | --- |
    | no candidates, or no tuple of them | ValueError |
    | candidates for different adjacencies | ValueError |
    | a key that is no function, a stopping that is no `Stopping` | ValueError |
    | a candidate with δ > 0, or with an ε, ρ or μ above 500 | UnsupportedCost |
    | zCDP or Gaussian candidates without delta | UnsupportedCost |
    | one candidate | it is repeated K times; the cost is charged |
    | equal keys | the first seen is kept, as private as any order |
    | a key of NaN | ranks below all others |
    | candidates that cost nothing | cost 0 |
    """

    candidates: tuple[Mechanism[D, R], ...]
    key: Callable[[R], float]
    stopping: Stopping
    delta: float | None = attrs.field(default=None, converter=_given_delta)
    noise: NoiseSource = attrs.field(factory=SecureNoise)

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.candidates, tuple) or not self.candidates:
            raise ValueError("candidates: expected a tuple of at least one mechanism")
        if not callable(self.key) or not isinstance(self.stopping, Stopping):
            raise ValueError(
                f"expected key= as a function and stopping= as a Stopping, got {self.key!r}, {self.stopping!r}"
            )
        relations = {candidate.adjacency for candidate in self.candidates}
        if len(relations) > 1:
            raise ValueError(f"candidates: proved for different adjacencies: {sorted(map(str, relations))}")
        _ = self.cost  # so that a missing delta is refused where it is forgotten

    @cached_property
    def cost(self) -> PureDP | ApproxDP:
        return selection_cost([candidate.cost for candidate in self.candidates], self.stopping, self.delta)

    @property
    def adjacency(self) -> Adjacency:
        return self.candidates[0].adjacency

    @cached_property
    def description(self) -> Description:
        described = [candidate.description for candidate in self.candidates]
        zetas = [each.zeta for each in described if each.zeta is not None]
        at_delta = () if self.delta is None else ("random-stopping-renyi", "random-stopping-profile")
        claims = ("random-stopping", *at_delta)
        return Description(
            mechanism="PrivateSelection",
            query="best of " + _listed(f"{each.mechanism}({each.query})" for each in described),
            parameters=(
                ("candidates", len(described)),
                ("stopping", self.stopping.name),
                *self.stopping.parameters,
                *(
                    (f"candidate {number}", ", ".join(f"{name} {value}" for name, value in each.parameters))
                    for number, each in enumerate(described)
                    if each.parameters
                ),
            ),
            norm=_listed(each.norm for each in described),
            sensitivity=max(each.sensitivity for each in described),
            zeta=max(zetas) if zetas else None,
            noise=_listed([self.noise.name, *(each.noise for each in described)]),
            private=self.noise.private and all(each.private for each in described),
            claims=tuple(dict.fromkeys([*claims, *itertools.chain(*(each.claims for each in described))])),
        )

    def check(self, data: D) -> None:
        for candidate in self.candidates:
            candidate.check(data)

    def sample(self, data: D) -> tuple[int, R] | None:
        best: tuple[int, R] | None = None
        highest = -math.inf
        for _ in range(self.stopping.draw(self.noise)):
            number = self._candidate()
            output = self.candidates[number].sample(data)
            rank = self._rank(output)
            if best is None or rank > highest:
                best, highest = (number, output), rank
        return best

    def _candidate(self) -> int:
        """A uniform choice: the exponential mechanism on equal scores, which both sources draw."""
        size = len(self.candidates)
        return self.noise.exponential_choice(np.zeros(size), 1.0) if size > 1 else 0

    def _rank(self, output: R) -> float:
        rank = float(self.key(output))
        return -math.inf if math.isnan(rank) else rank


def _listed(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))
