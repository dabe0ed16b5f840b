"""How much likelier one data set makes the very numbers that came out: what refutes a pure claim needs no more.

A transcript is chosen where that is much, the program is run on both data sets with it, and what comes out must be the
same on both and show the transcript. No tail is taken for granted: a program that cuts off its noise shows nothing.
"""

import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final, TypeVar

import numpy as np

from accountant import PureDP
from accountant.arrays import FloatArray
from proofs_tests.harness.neighbours import Pair
from proofs_tests.harness.recording.calls import Call, Diverged, NotPriced
from proofs_tests.harness.recording.comparison import Comparison, chances, is_release, summed_draws
from proofs_tests.harness.recording.exposure import hidden, placed
from proofs_tests.harness.recording.losses import density
from proofs_tests.harness.recording.outputs import CannotCompare, difference
from proofs_tests.harness.recording.runs import Run, run

D = TypeVar("D")

Outputs = Mapping[int, object]

FAR: Final = (1.0, 8.0, 40.0, 200.0)
"""Scales of the noise from a value, in the order in which they are tried."""


def shown(
    program: Callable[[D], object],
    pair: Pair[D],
    first: Run,
    comparison: Comparison,
    by_choice: Collection[int],
    epsilon: float,
    seconds: float,
) -> tuple[float, str]:
    """The largest loss at a transcript that the output shows, and "" or why none above ε does.

    Stops at the first above ε, and looks at no further one after some seconds.
    """
    reason, end = "", time.monotonic() + seconds
    for far in FAR:
        for sign in (1.0, -1.0):
            if time.monotonic() > end:
                return 0.0, reason or f"no transcript was found in {seconds:g} s where that is lost"
            try:
                both = _replayed(program, pair, first, comparison, by_choice, sign, far)
            except (Diverged, CannotCompare) as error:
                reason = reason or f"what it releases decides what it does next ({error})"
                continue
            lost = ratio(both, comparison, by_choice)
            if not abs(lost) > epsilon:
                continue
            unseen = _not_shown(program, pair, both, comparison, by_choice)
            if unseen is None:
                return abs(lost), ""
            reason = unseen
    return 0.0, reason or "no transcript was found where that is lost"


def _replayed(
    program: Callable[[D], object],
    pair: Pair[D],
    first: Run,
    comparison: Comparison,
    by_choice: Collection[int],
    sign: float,
    far: float,
) -> Pair[Run]:
    """Both sides with the same outputs, chosen around what they noise; twice, as that may follow from outputs."""
    both = Pair(first, run(program, pair.after, first.calls, None, by_choice))
    for _ in range(2):
        wanted = _chosen(both, comparison, by_choice, sign, far)
        both = Pair(*(run(program, data, first.calls, wanted, by_choice) for data in pair))
    return both


def _chosen(
    both: Pair[Run], comparison: Comparison, by_choice: Collection[int], sign: float, far: float
) -> dict[int, object]:
    wanted = dict[int, dict[int, float]]()
    for release in (each for each in comparison.releases if each.changed and not each.apart):
        for number, place in release.members:
            one, other = (each.calls[number - 1] for each in both)
            wanted.setdefault(number, {})[place] = _best(one, other, place, sign, far)
    found = {number: placed(both.before.calls[number - 1].output, spots) for number, spots in wanted.items()}
    for one, other in zip(both.before.calls, both.after.calls, strict=True):
        if one.kind == "choice" and (one.source is None or one.source in by_choice):
            logs = chances(one), chances(other)
            with np.errstate(invalid="ignore"):
                seen = np.nan_to_num(sign * (logs[0] - logs[1]), nan=-math.inf, posinf=1e300, neginf=-math.inf)
            if np.any(seen != 0.0):
                place = int(np.argmax(seen))
                found[one.number] = np.full_like(one.output, place) if np.asarray(one.output).shape else place
    return found


def _best(one: Call, other: Call, place: int, sign: float, far: float) -> float:
    """The number, of a few around both values, that the wanted side makes the most likely against the other."""
    values, scales = [], []
    for call in (one, other):
        shape = np.asarray(one.output).shape
        values.append(float(np.broadcast_to(np.asarray(call.value, dtype=np.float64), shape).ravel()[place]))
        scales.append(float(np.broadcast_to(call.scale, shape).ravel()[place]))
    tried = [value + way * far * scale for value, scale in zip(values, scales, strict=True) for way in (-1.0, 1.0)]
    if one.span is not None:
        tried = [*one.span, *values]
    if one.law == "discrete laplace" or np.asarray(one.output).dtype.kind in "iu":
        tried = [float(round(each)) for each in tried]
    points = np.array(tried)
    with np.errstate(invalid="ignore"):
        seen = density(one.law, points, values[0], scales[0], one.span) - density(
            one.law, points, values[1], scales[1], other.span
        )
    return float(points[int(np.argmax(np.nan_to_num(sign * seen, nan=-math.inf)))])


def ratio(both: Pair[Run], comparison: Comparison, by_choice: Collection[int]) -> float:
    """ln of the likelihood of these outputs on the one side over that on the other; towards 0 where it is not known.

    NaN where a release is known by a bound alone that is no ε.
    """
    again = {member for release in comparison.releases for member in release.members[1:]}
    total, slack, summed = [0.0], 0.0, summed_draws(both.before.calls)
    for one, other in zip(both.before.calls, both.after.calls, strict=True):
        if one.kind == "choice" and (one.source is None or one.source in by_choice):
            place = np.asarray(one.output).ravel()
            total += (chances(one)[place] - chances(other)[place]).tolist()
        elif one.kind == "mapped":
            slack += _priced(one, other)
        elif is_release(one, other, summed, by_choice):
            kept = np.array([(one.number, place) not in again for place in range(max(1, np.asarray(one.output).size))])
            with np.errstate(invalid="ignore"):  # ∞ − ∞, impossible on both sides: not known
                total += (_logs(one) - _logs(other))[kept].tolist()
    lost = math.fsum(total)
    return math.copysign(max(abs(lost) - slack, 0.0), lost)


def _logs(call: Call) -> FloatArray:
    """ln of the density of each number of a release at its output, shape (k,)."""
    output = np.asarray(call.output, dtype=np.float64)
    value, scale = (np.broadcast_to(np.asarray(each, dtype=np.float64), output.shape).ravel()
                    for each in (call.value, call.scale))  # fmt: skip
    return density(call.law, output.ravel(), value, scale, call.span)


def _priced(one: Call, other: Call) -> float:
    assert one.price is not None
    try:
        cost = one.price(one.value, other.value)
    except NotPriced:
        return math.nan
    return cost.epsilon if isinstance(cost, PureDP) else math.nan


def _not_shown(
    program: Callable[[D], object], pair: Pair[D], both: Pair[Run], comparison: Comparison, by_choice: Collection[int]
) -> str | None:
    """Why the outputs do not tell these transcripts from all others; None where they do."""
    text = difference(both.before.output, both.after.output)
    if text is not None:
        return f"with other outputs the program gives something else on the neighbour: {text}"
    text = hidden(program, pair.before, both.before, comparison.changes, by_choice)
    if text is not None:
        return text
    for outputs in _mirrored(both.before.calls, comparison):
        try:
            if (
                difference(both.before.output, run(program, pair.before, both.before.calls, outputs, by_choice).output)
                is None
            ):
                return "its output is the same for other numbers"
        except (Diverged, CannotCompare):
            continue
    return None


def _mirrored(calls: Sequence[Call], comparison: Comparison) -> Iterator[Outputs]:
    """The same outputs on the other side of 0, and on the other side of the values."""
    for about_value in (False, True):
        wanted = dict[int, dict[int, float]]()
        for number, place in (each for release in comparison.releases if release.changed for each in release.members):
            call = calls[number - 1]
            output = np.asarray(call.output, dtype=np.float64)
            value = np.broadcast_to(np.asarray(call.value, dtype=np.float64), output.shape).ravel()[place]
            mirrored = (2.0 * value if about_value else 0.0) - output.ravel()[place]
            if mirrored != output.ravel()[place]:
                wanted.setdefault(number, {})[place] = float(mirrored)
        if wanted:
            yield {number: placed(calls[number - 1].output, spots) for number, spots in wanted.items()}
