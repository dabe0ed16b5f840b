"""Two runs with the same outputs of all primitives, side by side: what was noised has moved, and what that loses."""

import math
from collections.abc import Collection, Iterator, Sequence

import attrs
import numpy as np

from accountant import PureDP, Unbounded
from accountant.arrays import FloatArray
from mechanisms.randomness import choice_probabilities
from proofs_tests.harness.neighbours import Pair
from proofs_tests.harness.recording.calls import Call, Law
from proofs_tests.harness.recording.losses import Certain, Loss, Mapped, Outcomes, noised
from proofs_tests.harness.recording.opendp_draws import NotPriced

COARSE = 2.0**-20
"""Numbers that lie further apart than this many scales of the noise are too coarse for it."""

SAME_NOISE = 1e-12
"""Standardised noise that agrees so well is the same noise: by chance two numbers do so once in 10^12."""


@attrs.frozen(eq=False)
class Change:
    """How what one call noised has moved: how far, in the norm of its noise, and at which elements of its output."""

    call: Call
    moved: float
    elements: np.ndarray
    text: str


@attrs.frozen(eq=False)
class Comparison:
    """Of one pair along one transcript: all losses, the calls that changed, and what was not understood."""

    losses: tuple[Loss, ...]
    changes: tuple[Change, ...]
    unclear: tuple[str, ...]


@attrs.frozen(eq=False)
class _Elements:
    """Numbers noised one by one, each of shape (k,): signed scales on both sides, changes, and standardised noise."""

    call: Call
    scale: FloatArray
    other_scale: FloatArray
    change: FloatArray
    noise: FloatArray
    slack: FloatArray


def compared(first: Sequence[Call], second: Sequence[Call], by_choice: Collection[int]) -> Comparison:
    """The calls of a run and of its replay, number by number.

    by_choice: calls that count by the choice that they led to; all other noisy scores count by themselves.
    """
    found, changes, unclear, elements = list[Loss](), list[Change](), list[str](), list[_Elements]()
    summed = {call.source for call in first if call.kind == "release"}
    for one, other in zip(first, second, strict=True):
        if one.kind == "choice" and (one.source is None or one.source in by_choice):
            _choice(one, other, found, changes, unclear)
        elif one.kind == "mapped":
            _mapped(one, other, found, changes, unclear)
        elif (one.kind == "release" and one.number not in by_choice) or (
            one.kind == "noise" and one.number not in by_choice and _counts(one, other, one.number in summed)
        ):
            elements.append(_elements(one, other, first))
    for each in elements:
        changes += _changed(each)
        unclear += _coarse(each)
    found += _losses(elements, unclear)
    return Comparison(tuple(found), tuple(changes), tuple(unclear))


def _counts(one: Call, other: Call, summed: bool) -> bool:
    """Whether noise with a location is a release by itself: a sum that follows has the location in it."""
    moved = not np.array_equal(np.asarray(one.value), np.asarray(other.value))
    widened = not np.array_equal(one.scale, other.scale)
    return moved or (not summed and (widened or bool(np.any(np.asarray(one.value)))))


def _elements(one: Call, other: Call, calls: Sequence[Call]) -> _Elements:
    shape = np.asarray(one.output).shape
    scale, wide = (np.broadcast_to(call.scale, shape).astype(np.float64).ravel() for call in (one, other))
    value = np.broadcast_to(np.asarray(one.value), shape).astype(np.float64).ravel()
    change = _change(np.broadcast_to(np.asarray(one.value), shape), np.broadcast_to(np.asarray(other.value), shape))
    output = np.asarray(one.output, dtype=np.float64).ravel()
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        noise, slack = (output - value) / scale, np.abs(value / scale)
        if one.source is not None and one.spots is not None:
            draw = calls[one.source - 1]
            standard = (np.asarray(draw.output) - np.asarray(draw.value)) / draw.scale
            noise, slack = np.ravel(standard)[one.spots.ravel()], np.zeros_like(scale)
    return _Elements(one, scale, wide, change, noise, SAME_NOISE + 1e-15 * slack)


def _change(before: np.ndarray, after: np.ndarray) -> FloatArray:
    """after − before, shape (k,); of whole numbers without rounding or wrapping; NaN where one is no number."""
    whole = before.dtype.kind in "biuO" and after.dtype.kind in "biuO"
    kind = object if whole else np.float64
    first, second = (np.ravel(each).astype(kind) for each in (before, after))
    with np.errstate(invalid="ignore"):
        return np.where(first == second, 0.0, np.asarray(second - first, dtype=np.float64))


def _is_changed(each: _Elements) -> np.ndarray:
    return np.asarray((each.change != 0.0) | (each.scale != each.other_scale))


def _changed(each: _Elements) -> Iterator[Change]:
    hit = _is_changed(each)
    if not np.any(hit):
        return
    norm = np.linalg.norm if each.call.law == "gaussian" else np.sum
    moved = float(norm(np.abs(each.change)))
    text = f"{each.call.title}: the value moved by {moved:.6g}, noise of scale {np.abs(each.scale[hit][0]):.6g}"
    if np.any(each.scale != each.other_scale):
        text += f", and of {np.abs(each.other_scale[each.scale != each.other_scale][0]):.6g} on the neighbour"
    yield Change(each.call, moved, hit, text)


def _coarse(each: _Elements) -> Iterator[str]:
    if each.call.source is None:
        return
    output = np.ravel(np.asarray(each.call.output))
    gaps = np.spacing(np.abs(output if output.dtype.kind == "f" else output.astype(np.float64)))
    with np.errstate(invalid="ignore"):
        bad = _is_changed(each) & (gaps > COARSE * np.abs(each.scale))
    if np.any(bad):
        yield f"{each.call.title}: rounds to steps of {float(gaps[bad][0]):.3g}, too coarse for its noise"


def _losses(elements: Sequence[_Elements], unclear: list[str]) -> Iterator[Loss]:
    """Of all noised numbers: those with the same noise are one release, if they moved alike, or else tell all."""
    if not elements:
        return
    names = ("scale", "other_scale", "change", "noise", "slack")
    scale, wide, change, noise, slack = (np.concatenate([getattr(each, name) for each in elements]) for name in names)
    owner = np.concatenate([np.full(each.scale.size, place) for place, each in enumerate(elements)])
    laws = sorted({each.call.law for each in elements})
    law = np.array([laws.index(each.call.law) for each in elements])[owner]
    order = np.lexsort((noise, law))
    with np.errstate(invalid="ignore"):
        close = np.abs(np.diff(noise[order])) <= np.maximum(slack[order][1:], slack[order][:-1]) * (
            1.0 + np.abs(noise[order][1:])
        )
    whole = np.isin(law[order][1:], [place for place, each in enumerate(laws) if each == "discrete laplace"])
    alike = close & (np.diff(law[order]) == 0) & ~whole
    for group in np.split(order, np.flatnonzero(~alike) + 1):
        first = group[0]
        if group.size > 1 and not _alike(scale[group], wide[group], change[group]):
            numbers = sorted({elements[owner[place]].call.number for place in group})
            unclear.append(f"same noise in calls {', '.join(map(str, numbers))}")
            yield Certain()
        elif change[first] != 0.0 or scale[first] != wide[first]:
            sign = math.copysign(1.0, scale[first])
            name: Law = laws[law[first]]
            yield noised(name, sign * change[first], abs(scale[first]), sign * wide[first])


def _alike(scale: FloatArray, wide: FloatArray, change: FloatArray) -> bool:
    if np.any(scale != wide):
        return False
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = change / scale
    return bool(np.all(np.abs(moved - moved[0]) <= 1e-9 * np.abs(moved[0])))


def _choice(one: Call, other: Call, found: list[Loss], changes: list[Change], unclear: list[str]) -> None:
    values = [np.asarray(call.value, dtype=np.float64) for call in (one, other)]
    if np.array_equal(values[0], values[1]) and np.array_equal(one.scale, other.scale):
        return
    moved = float(np.max(np.abs(values[1] - values[0]))) if one.law != "probabilities" else math.nan
    text = f"{one.title}: chances moved" + ("" if math.isnan(moved) else f", a score by {moved:.6g}")
    changes.append(Change(one, moved, np.ones(1, dtype=bool), text))
    try:
        both = Pair(*(_chances(call) for call in (one, other)))
    except ValueError as error:
        unclear.append(f"{one.title}: {error}")
        return
    found += [Outcomes(both)] * max(int(np.asarray(one.output).size), 1)


def _chances(call: Call) -> FloatArray:
    """ln of the chances of each outcome, shape (k,). Raises ValueError where the scores have none."""
    value = np.asarray(call.value, dtype=np.float64)
    if call.law == "probabilities":
        return value
    rules = {
        "exponential choice": choice_probabilities.exponential,
        "noisy max": choice_probabilities.noisy_max,
        "permute and flip": choice_probabilities.permute_and_flip,
    }
    return rules[call.law](value, 1.0 / float(call.scale))


def _mapped(one: Call, other: Call, found: list[Loss], changes: list[Change], unclear: list[str]) -> None:
    assert one.price is not None
    try:
        cost = one.price(one.value, other.value)
    except NotPriced as error:
        unclear.append(f"{one.title}: no price for {error}")
        return
    if cost == PureDP(0.0):
        return
    hit = np.full(np.asarray(one.output).shape or (1,), True).ravel()
    changes.append(Change(one, math.nan, hit, f"{one.title}: costs {cost!r} by its own account"))
    found.append(Certain() if isinstance(cost, Unbounded) else Mapped(cost))
