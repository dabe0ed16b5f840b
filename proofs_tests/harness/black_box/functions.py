"""`check_function`: what any function of a data set loses, seen from its outputs alone.

Draws come in stages, each four times the one before; after each stage every event is tested, and the first that proves
more than is claimed ends the check. The chance of error is shared among stages and pairs, so that a correct function is
refuted with probability 1 − confidence at most, however long the check ran and wherever its time was over.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, Generic, TypeVar, get_args

import attrs
import numpy as np

from accountant import Cost
from accountant.arrays import FloatArray
from accountant.costs.converters import count, open_probability, positive
from accountant.explained import Explained
from proofs_tests.harness.black_box.drawing import Clock, OutOfTime, Progress, drawing
from proofs_tests.harness.black_box.testers import classifier, low_bits
from proofs_tests.harness.checks import CONFIDENCE, SAMPLES, declared_number, pair_text
from proofs_tests.harness.draws import Draws, Many
from proofs_tests.harness.neighbours import Pair
from proofs_tests.harness.outcomes import texts_never_repeat
from proofs_tests.harness.power import ALTERNATIVES, POWER, smallest_detectable
from proofs_tests.harness.report import Report, judged
from proofs_tests.harness.statistical import Estimate, Score, bound_between, one_way, rows_of

D = TypeVar("D")
R = TypeVar("R")

FIRST: Final = 250
"""Outputs on each data set in the first stage, at least."""

LEAST: Final = 64
"""Outputs on each data set that say anything."""

GROWTH: Final = 4
"""Times as many are in the next."""


class TooLittleTime(Explained, ValueError):
    """The time limit passed before any pair was looked at."""


def check_function(
    function: Callable[[D], R],
    pairs: Iterable[Pair[D]] | Iterable[tuple[D, D]],
    claimed: Cost,
    *,
    name: str | None = None,
    many: Many[D, R] | None = None,
    samples: int = SAMPLES,
    confidence: float = CONFIDENCE,
    failure: float | None = None,
    low_order_bits: bool = True,
    processes: int = 1,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Report:
    """Compare a claim with what any function of a data set loses between neighbours, by its outputs alone.

    function: a data set to an output that holds all that is released: numbers, arrays, texts, or lists, dictionaries,
      dataclasses of them. It draws its own randomness, anew each time.
    pairs: neighbouring data sets, at least one; `neighbours(ReplaceOne(), records, n)` gives all of a small domain.
    claimed: what is promised of every pair: `PureDP`, `ApproxDP`, `GDP`, `ZCDP`, `LaplaceDP` or `BoundedRange`.
    many: a data set and a number m to m independent outputs, where that is quicker than m calls.
    samples: outputs on each data set, at most; from 64.  confidence: of all verdicts together, in (0, 1).
    failure: the chance of error in place of 1 − confidence, where that is too small for a float beside 1.
    low_order_bits: whether an event may be one of the last bits of floats. Noise that is added in floating point
      loses there, however large it is; False looks at the rest of such a function.
    processes: to draw in; more than one fork.  time_limit: in seconds; what was found by then is reported. A call that
      never returns is left at the limit, in one process by the system's timer where nobody else uses it.
    progress: see `Progress`.
    Returns a report: "not refuted" with the factor that would have been found on every pair; with none where outputs
    hold texts that never repeat, which are compared by the numbers in them only. Raises ClaimViolated with the pair and
    the event where more is lost than claimed; ValueError or TypeError for what cannot be checked, before anything is
    drawn where that can be seen; TooLittleTime where the time was over before a pair was looked at.
    """
    given = _pairs(pairs)
    if not isinstance(claimed, get_args(Cost)):
        raise TypeError(f"claimed: expected a cost, as PureDP(1.0), got {claimed!r}")
    sizes = _stages(count(samples), len(given))
    limit = None if time_limit is None else positive(time_limit)
    total = sizes[-1] * 2 * len(given)
    with drawing(function, many, count(processes), limit) as source:
        clock = Clock(source, limit, total, progress)
        error = 1.0 - open_probability(confidence) if failure is None else open_probability(failure)
        one_way(error / (len(given) * len(sizes)))  # refused before any draw
        search = _Search(claimed, given, clock, error, sizes, _also(low_order_bits))
        worst = search.worst()
    return judged(search.report(name or named(function), worst))


def named(function: object) -> str:
    """Its name; of one that has none, where it is written."""
    name = str(getattr(function, "__qualname__", None) or repr(function))
    code = getattr(function, "__code__", None)
    return f"lambda at {Path(code.co_filename).name}:{code.co_firstlineno}" if "<lambda>" in name and code else name


def _pairs(pairs: Iterable[Pair[D]] | Iterable[tuple[D, D]]) -> list[Pair[D]]:
    if isinstance(pairs, Pair):
        raise ValueError(f"pairs: expected a list of pairs, got one; give [{pairs!r}]")
    given = list(pairs)
    if not given:
        raise ValueError("pairs: expected at least one pair of neighbouring data sets")
    for pair in given:
        if not isinstance(pair, tuple | list | Pair) or len(tuple(pair)) != 2:
            raise ValueError(f"pairs: expected (data set, its neighbour) each, in a list, got {pair!r}")
        if any(isinstance(data, Iterator) for data in pair):
            raise ValueError("pairs: expected data sets that can be read many times, got an iterator; give a list")
    return [Pair(*pair) for pair in given]


def _stages(samples: int, pairs: int) -> list[int]:
    if samples < LEAST:
        raise ValueError(f"samples: expected at least {LEAST} outputs on each data set, got {samples}")
    sizes = [samples]
    while sizes[0] // GROWTH >= FIRST:
        sizes.insert(0, sizes[0] // GROWTH)
    return sizes


def _nothing_more(data: D, number: int) -> Sequence[R]:
    raise AssertionError(f"{number} outputs are missing: all are drawn before any is looked at")


def _also(low_order_bits: bool) -> Callable[[FloatArray, FloatArray], list[Score]]:
    def scores(first: FloatArray, second: FloatArray) -> list[Score]:
        return classifier(first, second) + (low_bits(first, second) if low_order_bits else [])

    return scores


@attrs.frozen
class _Found(Generic[D]):
    estimate: Estimate
    pair: Pair[D]
    samples: int


@attrs.define(eq=False)
class _Search(Generic[D, R]):
    """All pairs, stage by stage, until one refutes the claim or the time is over."""

    claimed: Cost
    pairs: list[Pair[D]]
    clock: Clock[D, R]
    failure: float
    sizes: list[int]
    more: Callable[[FloatArray, FloatArray], list[Score]]
    seconds: float = attrs.field(default=0.0, init=False)
    _output_took: float = attrs.field(default=0.0, init=False)
    """Seconds for an output on each data set, at the last test."""
    _differ: bool = attrs.field(default=False, init=False)
    """Whether some outputs do."""
    _unread: bool = attrs.field(default=False, init=False)
    _last: dict[int, _Found[D]] = attrs.field(factory=dict, init=False)

    @property
    def each(self) -> float:
        """The chance of error of one look at one pair."""
        return self.failure / (len(self.pairs) * len(self.sizes))

    def worst(self) -> _Found[D]:
        """The look that found most."""
        started = time.perf_counter()
        for found in self._looks():
            if found.estimate.bound > self.bound:
                break
        self.seconds = time.perf_counter() - started
        if not self._last:
            raise TooLittleTime(f"time_limit: {self.clock.limit} s were over before any pair was looked at")
        return max(self._last.values(), key=lambda found: found.estimate.bound)

    def _looks(self) -> Iterator[_Found[D]]:
        draws, sets = Draws[D, R](_nothing_more), [data for pair in self.pairs for data in pair]
        try:
            for size in self.sizes:
                for order, outputs in self.clock.pieces(draws.lacking(sets, size)):
                    draws.add(order, outputs)
                for place in range(len(self.pairs)):
                    self.clock.look(self._output_took * size)  # wide outputs take long to read
                    yield self._look(draws, place, size)
        except OutOfTime:
            drawn = min(map(draws.known, sets))
            if not self._last and drawn >= LEAST:  # a part of the first stage is better than nothing
                for place in range(len(self.pairs)):
                    yield self._look(draws, place, drawn)

    def _look(self, draws: Draws[D, R], place: int, size: int) -> _Found[D]:
        pair, before = self.pairs[place], time.monotonic()
        outputs = [draws.of(data, size) for data in pair]
        self._unread = self._unread or any(map(texts_never_repeat, outputs))
        first, second = rows_of(*outputs)
        self._differ = self._differ or bool(np.any(first != first[0]) or np.any(second != first[0]))
        estimate = bound_between(self.claimed, first, second, self.each, self.more)
        self._output_took = (time.monotonic() - before) / size
        self._last[place] = _Found(estimate, pair, size)
        return self._last[place]

    @property
    def bound(self) -> float:
        """The number that is claimed, in its own currency."""
        return declared_number(self.claimed)[1]

    def report(self, subject: str, worst: _Found[D]) -> Report:
        """What was found, refuted or not; what would have been found on every pair."""
        factor = self._factor() if len(self._last) == len(self.pairs) else None
        return Report(
            subject,
            repr(self.claimed),
            declared_number(self.claimed)[0],
            self.bound,
            worst.estimate.bound,
            "statistical",
            f"{pair_text(worst.pair)}, {worst.estimate.event}, {worst.samples} outputs on each"
            + ("" if self._differ else ", every output was the same")
            + (", texts in outputs never repeat: only numbers in them were looked at" if self._unread else ""),
            len(self._last),
            self.seconds,
            factor,
            None if factor is None else POWER,
            1.0 - self.failure,
            ALTERNATIVES,
        )

    def _factor(self) -> float | None:
        """None also where a text may say what nobody looked at."""
        if self._unread:
            return None
        found = {(look.samples, look.estimate.events) for look in self._last.values()}
        factors = [
            smallest_detectable(self.claimed, samples, events=events, failure=self.each) for samples, events in found
        ]
        known = [factor for factor in factors if factor is not None]
        return max(known) if len(known) == len(factors) else None
