"""Noised numbers of two runs with the same outputs, one by one, and those that have the same noise together."""

import math
from collections.abc import Collection, Iterator, Sequence

import attrs
import numpy as np

from accountant.arrays import FloatArray, IntArray
from proofs_tests.harness.recording.calls import Call, Law
from proofs_tests.harness.recording.losses import Certain, Loss, noised

SPREAD = 2**40
"""More than one draw has numbers."""

COARSE = 2.0**-20
"""Numbers that lie further apart than this many scales of the noise are too coarse for it."""

SAME_NOISE = 1e-12
"""Standardised noise that agrees so well is the same noise: by chance two numbers do so once in 10^12."""

BY_CHANCE = 1e-3
"""So many agreements by chance at most: else numbers on a grid, in short floats or beside large values agree anyway."""

ROUNDED = 2.0**-50
"""What a change may be off by, in parts of the values that it is the difference of."""


@attrs.frozen(eq=False)
class Elements:
    """Numbers noised one by one, each of shape (k,): signed scales on both sides, changes, and standardised noise.

    size: of the larger value, in scales.  grid: the step of the noise, in scales.  draw: which number of which draw it
    is, −1 where that is not known.  fixed: whether the noise is the same in every run.
    """

    call: Call
    scale: FloatArray
    other_scale: FloatArray
    change: FloatArray
    noise: FloatArray
    slack: FloatArray
    size: FloatArray
    grid: FloatArray
    draw: IntArray
    fixed: bool = False

    @property
    def changed(self) -> np.ndarray:
        """Which of them are not noised alike on both sides."""
        return np.asarray((self.change != 0.0) | (self.scale != self.other_scale))


@attrs.frozen
class Release:
    """One independent noise, and how what it was added to moved; several numbers with the same noise are one.

    scale: > 0; the others have its sign taken off.  members: number of the call, and place in its output.
    apart: whether numbers with this noise moved differently, which tells all.  fixed: as of `Elements`.
    """

    law: Law
    scale: float
    other_scale: float
    change: float
    members: tuple[tuple[int, int], ...]
    apart: bool
    fixed: bool

    @property
    def changed(self) -> bool:
        """Whether it is not noised alike on both sides."""
        return self.apart or self.change != 0.0 or self.scale != self.other_scale

    @property
    def loss(self) -> Loss:
        """What it loses, exactly."""
        if self.apart or self.fixed:
            return Certain()
        return noised(self.law, self.change, self.scale, self.other_scale)


def elements(one: Call, other: Call, calls: Sequence[Call], fixed: Collection[int] = ()) -> Elements:
    """Of a sum, or of noise around a location. calls: all of the first run.  fixed: calls with noise from a seed."""
    shape = np.asarray(one.output).shape
    scale, wide = (np.broadcast_to(call.scale, shape).astype(np.float64).ravel() for call in (one, other))
    value = np.broadcast_to(np.asarray(one.value), shape).astype(np.float64).ravel()
    change = _change(np.broadcast_to(np.asarray(one.value), shape), np.broadcast_to(np.asarray(other.value), shape))
    output = np.asarray(one.output, dtype=np.float64).ravel()
    known, drawn = one.number in fixed or one.source in fixed, output
    which = np.full(scale.size, -1, dtype=np.intp)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        noise, slack = (output - value) / scale, np.abs(value / scale)
        size = slack + np.abs(change / scale)
        if one.source is not None and one.spots is not None:
            draw = calls[one.source - 1]
            standard = (np.asarray(draw.output) - np.asarray(draw.value)) / draw.scale
            noise, slack = np.ravel(standard)[one.spots.ravel()], np.zeros_like(scale)
            drawn, which = np.asarray(draw.output, dtype=np.float64).ravel(), one.spots.ravel().astype(np.intp)
            which = which + one.source * SPREAD
            grid = np.broadcast_to(_step(drawn) / np.min(np.abs(draw.scale)), scale.shape)
        else:
            grid = _step(drawn) / np.abs(scale)
    return Elements(one, scale, wide, change, noise, SAME_NOISE + 1e-15 * slack, size, grid, which, known)


def _step(numbers: FloatArray) -> float:
    """The largest power of two of which all of these are multiples; 0.0 where there are none but 0."""
    seen = np.abs(numbers[np.isfinite(numbers) & (numbers != 0.0)])
    if not seen.size:
        return 0.0
    fraction, exponent = np.frexp(seen)
    whole = np.ldexp(fraction, 53).astype(np.int64)
    return float(np.min(np.ldexp((whole & -whole).astype(np.float64), exponent - 53)))


def _change(before: np.ndarray, after: np.ndarray) -> FloatArray:
    """after − before, shape (k,); of whole numbers without rounding or wrapping; NaN where one is no number."""
    whole = before.dtype.kind in "biuO" and after.dtype.kind in "biuO"
    kind = object if whole else np.float64
    first, second = (np.ravel(each).astype(kind) for each in (before, after))
    with np.errstate(invalid="ignore"):
        return np.where(first == second, 0.0, np.asarray(second - first, dtype=np.float64))


def coarse(each: Elements) -> Iterator[str]:
    """What rounds so much that its noise does not hide it as its law says."""
    if each.call.source is None:
        return
    output = np.ravel(np.asarray(each.call.output))
    gaps = np.spacing(np.abs(output if output.dtype.kind == "f" else output.astype(np.float64)))
    with np.errstate(invalid="ignore"):
        bad = each.changed & (gaps > COARSE * np.abs(each.scale))
    if np.any(bad):
        yield f"{each.call.title}: rounds to steps of {float(gaps[bad][0]):.3g}, too coarse for its noise"


def releases(found: Sequence[Elements]) -> list[Release]:
    """All noised numbers by their noise: those with the same noise are one release, whether they moved alike or not."""
    if not found:
        return []
    names = ("scale", "other_scale", "change", "noise", "slack", "size", "grid", "draw")
    scale, wide, change, noise, slack, size, grid, draw = (
        np.concatenate([getattr(each, name) for each in found]) for name in names
    )
    owner = np.concatenate([np.full(each.scale.size, place) for place, each in enumerate(found)])
    index = np.concatenate([np.arange(each.scale.size) for each in found])
    laws = sorted({each.call.law for each in found})
    law = np.array([laws.index(each.call.law) for each in found])[owner]
    order = np.lexsort((draw, noise, law))
    with np.errstate(invalid="ignore"):
        close = np.abs(np.diff(noise[order])) <= np.maximum(slack[order][1:], slack[order][:-1]) * (
            1.0 + np.abs(noise[order][1:])
        )
        by_chance = 0.5 * noise.size * float(np.nansum((slack + grid) * (1.0 + np.abs(noise))))
    whole = np.isin(law[order][1:], [place for place, each in enumerate(laws) if each == "discrete laplace"])
    close &= (np.diff(law[order]) == 0) & ~whole
    one = close & (np.diff(draw[order]) == 0) & (draw[order][1:] >= 0)
    meant = by_chance < BY_CHANCE or np.count_nonzero(close & ~one) > 5.0 + 10.0 * by_chance
    alike = close if meant else one
    made = []
    for group in np.split(order, np.flatnonzero(~alike) + 1):
        first, sign = group[0], math.copysign(1.0, scale[group[0]])
        members = tuple((found[owner[place]].call.number, int(index[place])) for place in group)
        apart = bool(group.size > 1 and not _alike(scale[group], wide[group], change[group], size[group]))
        made.append(
            Release(
                laws[law[first]],
                abs(float(scale[first])),
                sign * float(wide[first]),
                sign * float(change[first]),
                members,
                apart,
                found[owner[first]].fixed,
            )
        )
    return made


def _alike(scale: FloatArray, wide: FloatArray, change: FloatArray, size: FloatArray) -> bool:
    if np.any(scale != wide):
        return False
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = change / scale
        rounded = ROUNDED * (size + size[0])
    return bool(np.all(np.abs(moved - moved[0]) <= 1e-9 * np.abs(moved[0]) + rounded))
