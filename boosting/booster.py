"""The boosting schema of Bun, Carmosino & Sorrell (2020), section 3: the only state is the list of hypotheses.

A `NextMeasure` weights the sample as a function of the sample and the hypotheses so far, and certifies how
far that weighting can move; a `WeakLearner` spends on one hypothesis for that weighting. Each round is
therefore a release on sealed data, and what is carried over is public.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from accountant import Plan, Protected
from accountant.arrays import FloatArray, SignArray
from accountant.costs import Cost
from mechanisms import Slickness
from mechanisms.core import Certified, Spender

D = TypeVar("D")
R = TypeVar("R")
S = TypeVar("S")
S_contra = TypeVar("S_contra", contravariant=True)
W = TypeVar("W", bound=Certified)
H = TypeVar("H")
H_co = TypeVar("H_co", covariant=True)
H_contra = TypeVar("H_contra", contravariant=True)


class Labelled(Protocol):
    """A sample of n records with labels of −1 or +1, shape (n,)."""

    @property
    def n(self) -> int:
        """The number of records."""

    @property
    def labels(self) -> SignArray:
        """Labels, shape (n,), each −1 or +1."""


class Hypothesis(Protocol[S_contra]):
    """A classifier h: records → {−1, +1}, or a real-valued one, h: records → [−1, 1]."""

    def predictions(self, sample: S_contra) -> SignArray | FloatArray:
        """h(x_i) for every record, shape (n,); whole numbers of −1 and +1, or floats."""


class NextMeasure(Protocol[S_contra, W, H_contra]):
    """How records are weighted in the next round, with a certificate of how little one record moves that.

    The measure producer NxM of 003.
    """

    def slickness(self, n: int, number: int) -> Slickness:
        """The certificate of round `number` (1-based) on n records."""

    def start(self, sample: S_contra) -> W:
        """The weighted sample before any hypothesis."""

    def step(self, state: W, hypothesis: H_contra) -> W:
        """The weighted sample after one more hypothesis; must depend on sample and hypotheses only."""


class WeakLearner(Protocol[W, H_co]):
    """A learner that releases one hypothesis per round, paid for, from weighted records."""

    def costs(self, slickness: Slickness) -> Sequence[Cost]:
        """What one round under this certificate will cost, release by release."""

    def learn(self, spender: Spender, data: Protected[W], slickness: Slickness) -> H_co:
        """One hypothesis for the weighted sample, paid through `spender`."""


def certificates(next_measure: NextMeasure[S, W, H], rounds: int, n: int) -> list[tuple[Slickness, int]]:
    """The certificates of `rounds` rounds on n records, in order: (certificate, for how many rounds in a row)."""
    each = (next_measure.slickness(n, number) for number in range(1, rounds + 1))
    return [(slickness, len(list(run))) for slickness, run in itertools.groupby(each)]


def boosting_plan(weak_learner: WeakLearner[W, H], runs: Sequence[tuple[Slickness, int]]) -> Plan:
    """The plan of what `boost` will spend, known before its first release.

    weak_learner: what says what a round costs.  runs: from `certificates`.

    The releases of a round stay in order; neighbours of equal cost become one step.
    """
    costs: list[Cost] = []
    for slickness, rounds in runs:
        costs += [*weak_learner.costs(slickness)] * rounds
    return Plan.sequence(costs)


def boost(
    sample: Protected[S],
    n: int,
    next_measure: NextMeasure[S, W, H],
    weak_learner: WeakLearner[W, H],
    rounds: int,
    spender: Spender,
    on_round: Callable[[int, H], None] | None = None,
) -> list[H]:
    """Run the schema for `rounds` rounds and return its hypotheses. Source: 003, Algorithms 1 and 2.

    sample: the protected records.  next_measure: how they are weighted.  weak_learner: what learns a hypothesis.
    spender: the ledger, or an open charge, that pays.
    n: the public number of records; a wrong one is refused by the first release, before it is charged.
    on_round: called with the round's number and its hypothesis, which is public by then.
    """
    hypotheses: list[H] = []
    state = sample.map(next_measure.start)
    for number in range(1, rounds + 1):
        hypothesis = weak_learner.learn(spender, state, next_measure.slickness(n, number))
        hypotheses.append(hypothesis)
        if number < rounds:
            state = _advance(state, next_measure, hypothesis)
        if on_round is not None:
            on_round(number, hypothesis)
    return hypotheses


def _advance(state: Protected[W], next_measure: NextMeasure[S, W, H], hypothesis: H) -> Protected[W]:
    return state.map(lambda weighted: next_measure.step(weighted, hypothesis))
