"""A measure producer's certificate against what it really does, on all small samples of a finite domain."""

import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

import attrs
import numpy as np

from accountant import ReplaceOne
from accountant.arrays import FloatArray, SignArray
from accountant.costs.converters import count
from boosting import joint_distance
from boosting.booster import NextMeasure
from mechanisms.core.robust import Certified
from proofs_tests.harness.neighbours import Pair
from proofs_tests.harness.report import Report, judged

W = TypeVar("W", bound=Certified)

LabelledPoint = tuple[int, int]
"""A point of the domain, 0, 1, …, and its label, −1 or +1."""


@attrs.frozen(eq=False)
class LabelledPoints:
    """A sample: labelled points in order, each of a finite domain."""

    records: tuple[LabelledPoint, ...]

    @property
    def n(self) -> int:
        """The number of records."""
        return len(self.records)

    @property
    def labels(self) -> SignArray:
        """−1 or +1 for each, shape (n,)."""
        return np.array([label for _, label in self.records], dtype=np.int8)


@attrs.frozen
class Lookup:
    """A hypothesis that is its table: what it says of each point, in [−1, 1]."""

    values: tuple[float, ...]

    def predictions(self, sample: LabelledPoints) -> SignArray | FloatArray:
        """h(x) for every record, shape (n,)."""
        said = np.array([self.values[point] for point, _ in sample.records], dtype=np.float64)
        return said.astype(np.int8) if set(self.values) <= {-1.0, 1.0} else said


@attrs.frozen
class _Look:
    """One pair of neighbours in one round: how far apart their weightings are, and the certificate's ζ."""

    distance: float
    zeta: float
    pair: Pair[tuple[LabelledPoint, ...]]
    history: tuple[Lookup, ...]

    @property
    def witness(self) -> str:
        said = ", ".join(str(tuple(f"{value:g}" for value in each.values)) for each in self.history) or "none"
        where = f"{self.pair.before!r} against {self.pair.after!r}"
        return f"round {len(self.history) + 1}, {where}, hypotheses so far by point: {said}".replace("'", "")


def check_slickness(
    measure: NextMeasure[LabelledPoints, W, Lookup],
    *,
    sizes: Sequence[int] = (1, 2, 3),
    rounds: int = 3,
    points: int = 2,
    predictions: Sequence[float] = (-1.0, 1.0),
    distribution: Callable[[W], FloatArray] | None = None,
) -> Report:
    """Whether the distributions on neighbouring samples are as close as a `NextMeasure` certifies, round by round.

    All samples of `sizes` records, each one of `points` points with a label of ±1, and all that differ from one in
    one record; in each of `rounds` rounds, after all sequences of hypotheses with values among `predictions`, which
    are in [−1, 1]. Compared are the total variation distance over labelled points and the smallest ζ that
    `slickness(n, round)` or either weighting certifies. It takes (2·points)^n · len(predictions)^(points·(rounds − 1))
    weightings.

    distribution: of a weighting, shape (n,); unless given, its `measure.distribution`, or its `distribution`.
    "exact" is about just these samples and rounds. Raises ClaimViolated with the witness; ValueError where a
    weighting is no distribution, or a certificate not one for n records under replace-one.
    """
    started, looked, worst = time.perf_counter(), 0, None
    tables = [Lookup(values) for values in itertools.product(predictions, repeat=count(points))]
    read = _distribution if distribution is None else distribution
    for n in sizes:
        samples = list(itertools.product(itertools.product(range(points), (-1, 1)), repeat=count(n)))
        states = {sample: measure.start(LabelledPoints(sample)) for sample in samples}
        for look in _looks(measure, states, (), tables, count(rounds), read):
            looked += 1
            if worst is None or look.distance / look.zeta >= worst.distance / worst.zeta:
                worst = look
    if worst is None:
        raise ValueError("sizes: expected at least one number of records")
    text, spent = f"slickness of {getattr(measure, 'name', type(measure).__name__)}", time.perf_counter() - started
    claimed = f"ζ = {worst.zeta:.6g} in round {len(worst.history) + 1} for n = {len(worst.pair.before)}"
    return judged(Report(text, claimed, "distance", worst.zeta, worst.distance, "exact", worst.witness, looked, spent))


def _looks(
    measure: NextMeasure[LabelledPoints, W, Lookup],
    states: Mapping[tuple[LabelledPoint, ...], W],
    history: tuple[Lookup, ...],
    tables: Sequence[Lookup],
    rounds: int,
    read: Callable[[W], FloatArray],
) -> Iterator[_Look]:
    """All pairs after this history, and after all longer ones."""
    shares = {sample: _checked(read(state), len(sample)) for sample, state in states.items()}
    zetas = {sample: _zeta(measure, state, len(sample), len(history) + 1) for sample, state in states.items()}
    records = sorted({record for sample in states for record in sample})
    for sample, place in itertools.product(states, range(len(next(iter(states))))):
        for new in records:
            if new > sample[place]:  # the distance is the same both ways
                other = (*sample[:place], new, *sample[place + 1 :])
                distance = joint_distance(sample, shares[sample], other, shares[other])
                yield _Look(distance, min(zetas[sample], zetas[other]), Pair(sample, other), history)
    if len(history) + 1 < rounds:
        for table in tables:
            after = {sample: measure.step(state, table) for sample, state in states.items()}
            yield from _looks(measure, after, (*history, table), tables, rounds, read)


def _distribution(state: object) -> FloatArray:
    holder = getattr(state, "measure", state)
    found = getattr(holder, "distribution", None)
    if found is None:
        raise TypeError(
            f"cannot read the weights of a {type(state).__name__}: it has neither measure.distribution nor "
            "distribution; hand check_slickness a function that reads them, distribution=…"
        )
    return np.asarray(found, dtype=np.float64)


def _checked(shares: FloatArray, n: int) -> FloatArray:
    """The same, if it is a distribution over n records."""
    if shares.shape != (n,) or not np.all(shares >= 0.0) or not abs(float(np.sum(shares)) - 1.0) <= 1e-9:
        raise ValueError(
            f"the weighting of {n} records is no distribution: it has shape {shares.shape} and sums to "
            f"{float(np.sum(shares)):.6g}; normalise it, or hand over the normalised one by distribution=…"
        )
    return shares


def _zeta(measure: NextMeasure[LabelledPoints, W, Lookup], state: W, n: int, number: int) -> float:
    """What is certified of this weighting: the smaller of what is announced and what goes with it."""
    both = measure.slickness(n, number), state.slickness
    for each in both:
        if each.n != n or each.adjacency != ReplaceOne():
            raise ValueError(f"expected a certificate for {n} records under replace-one in round {number}, got {each}")
    return min(each.zeta for each in both)
