"""Two runs with the same outputs of all primitives, side by side: what was noised has moved, and what that loses."""

import math
from collections.abc import Collection, Iterator, Sequence

import attrs
import numpy as np

from accountant import Cost, PureDP
from accountant.arrays import FloatArray
from mechanisms.randomness import choice_probabilities
from proofs_tests.harness.neighbours import Pair
from proofs_tests.harness.recording.calls import Call, NotPriced
from proofs_tests.harness.recording.elements import Elements, Release, coarse, elements, releases
from proofs_tests.harness.recording.losses import Certain, Loss, Mapped, Outcomes, bounded_cells


@attrs.frozen(eq=False)
class Change:
    """How what one call noised has moved: how far, in the norm of its noise, and at which elements of its output."""

    call: Call
    moved: float
    elements: np.ndarray
    text: str


@attrs.frozen(eq=False)
class Comparison:
    """Of one pair along one transcript: losses that are known, the calls that changed, and what was not understood.

    above: upper bounds of the losses of what only its library prices, which refute nothing.
    """

    losses: tuple[Loss, ...]
    changes: tuple[Change, ...]
    unclear: tuple[str, ...]
    releases: tuple[Release, ...] = ()
    above: tuple[Mapped, ...] = ()


def summed_draws(calls: Sequence[Call]) -> frozenset[int]:
    """The numbers of draws of noise that a sum was seen of."""
    return frozenset(call.source for call in calls if call.kind == "release" and call.source is not None)


def is_release(one: Call, other: Call, summed: Collection[int], by_choice: Collection[int]) -> bool:
    """Whether a call is a release of numbers by itself. summed: as of `summed_draws`."""
    if one.number in by_choice:
        return False
    return one.kind == "release" or (one.kind == "noise" and _counts(one, other, one.number in summed))


def compared(
    first: Sequence[Call], second: Sequence[Call], by_choice: Collection[int], fixed: Collection[int] = ()
) -> Comparison:
    """The calls of a run and of its replay, number by number.

    by_choice: calls that count by the choice that they led to; all other noisy scores count by themselves.
    fixed: calls whose noise is the same in every run.
    """
    found, changes, unclear, above = list[Loss](), list[Change](), list[str](), list[Mapped]()
    added = list[Elements]()
    summed = summed_draws(first)
    for one, other in zip(first, second, strict=True):
        if one.kind == "choice" and (one.source is None or one.source in by_choice):
            _choice(one, other, found, changes, unclear)
        elif one.kind == "mapped":
            _mapped(one, other, above, changes, unclear)
        elif is_release(one, other, summed, by_choice):
            added.append(elements(one, other, first, fixed))
    for each in added:
        changes += _changed(each)
        unclear += coarse(each)
    together = _grouped(added)
    for release in (each for each in together if each.changed):
        found.append(_loss(release, first, second))
        if release.apart:
            numbers = sorted({number for number, _ in release.members})
            unclear.append(f"same noise in calls {', '.join(map(str, numbers))}")
    return Comparison(tuple(found), tuple(changes), tuple(unclear), tuple(together), tuple(above))


def _grouped(added: Sequence[Elements]) -> list[Release]:
    """Of noise that is bounded, each by itself, as its law depends on the value."""
    apart = [each for each in added if each.call.span is not None]
    found = releases([each for each in added if each.call.span is None])
    return found + [release for each in apart for release in releases([each])]


def _loss(release: Release, first: Sequence[Call], second: Sequence[Call]) -> Loss:
    one, other = (calls[release.members[0][0] - 1] for calls in (first, second))
    if one.span is None or release.apart or release.fixed:
        return release.loss
    cells = [bounded_cells(call, (one, other)) for call in (one, other)]
    return Outcomes(Pair(*cells)) if other.span == one.span else Certain()


def _counts(one: Call, other: Call, summed: bool) -> bool:
    """Whether noise with a location is a release by itself: a sum that follows has the location in it."""
    moved = not np.array_equal(np.asarray(one.value), np.asarray(other.value))
    widened = not np.array_equal(one.scale, other.scale)
    return moved or (not summed and (widened or bool(np.any(np.asarray(one.value)))))


def _changed(each: Elements) -> Iterator[Change]:
    hit = each.changed
    if not np.any(hit):
        return
    norm = np.linalg.norm if each.call.law == "gaussian" else np.sum
    moved = float(norm(np.abs(each.change[_once(each.call)])))
    text = f"{each.call.title}: the value moved by {moved:.6g}, noise of scale {np.abs(each.scale[hit][0]):.6g}"
    if np.any(each.scale != each.other_scale):
        text += f", and of {np.abs(each.other_scale[each.scale != each.other_scale][0]):.6g} on the neighbour"
    if each.fixed:
        text += ", the same noise in every run, as from a seed that is known"
    yield Change(each.call, moved, hit, text)


def _once(call: Call) -> np.ndarray:
    """The places of the elements of a sum, one for each number of its noise: what one number is added to moves once."""
    if call.spots is None:
        return np.arange(np.asarray(call.output).size)
    return np.unique(call.spots.ravel(), return_index=True)[1]


def _choice(one: Call, other: Call, found: list[Loss], changes: list[Change], unclear: list[str]) -> None:
    values = [np.asarray(call.value, dtype=np.float64) for call in (one, other)]
    if np.array_equal(values[0], values[1]) and np.array_equal(one.scale, other.scale):
        return
    moved = float(np.max(np.abs(values[1] - values[0]))) if one.law != "probabilities" else math.nan
    text = f"{one.title}: chances moved" + ("" if math.isnan(moved) else f", a score by {moved:.6g}")
    changes.append(Change(one, moved, np.ones(1, dtype=bool), text))
    try:
        both = Pair(*(chances(call) for call in (one, other)))
    except ValueError as error:
        unclear.append(f"{one.title}: {error}")
        return
    found += [Outcomes(both)] * max(int(np.asarray(one.output).size), 1)


def chances(call: Call) -> FloatArray:
    """ln of the chances of each outcome of a choice, shape (k,). Raises ValueError where the scores have none."""
    value = np.asarray(call.value, dtype=np.float64)
    if call.law == "probabilities":
        return value
    rules = {
        "exponential choice": choice_probabilities.exponential,
        "noisy max": choice_probabilities.noisy_max,
        "permute and flip": choice_probabilities.permute_and_flip,
    }
    return rules[call.law](value, 1.0 / float(call.scale))


def _mapped(one: Call, other: Call, above: list[Mapped], changes: list[Change], unclear: list[str]) -> None:
    assert one.price is not None
    try:
        cost: Cost = one.price(one.value, other.value)
    except NotPriced as error:
        unclear.append(f"{one.title}: no price for {error}")
        return
    if cost == PureDP(0.0):
        return
    hit = np.full(np.asarray(one.output).shape or (1,), True).ravel()
    changes.append(Change(one, math.nan, hit, f"{one.title}: costs at most {cost!r} by its library's own account"))
    above.append(Mapped(cost))
