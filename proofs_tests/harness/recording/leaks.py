"""An output that differs though all that was released is the same: a value without noise, or another function of it."""

from collections.abc import Callable, Collection
from typing import TypeVar

import numpy as np

from proofs_tests.harness.neighbours import Pair
from proofs_tests.harness.recording.exposure import MOST, slopes
from proofs_tests.harness.recording.outputs import leaves, same_leaf
from proofs_tests.harness.recording.runs import Run, natural

D = TypeVar("D")


def raw(program: Callable[[D], object], pair: Pair[D], first: Run, second: Run) -> str | None:
    """The part of the output that differs between neighbours and is the same whatever the noise; None if there is none.

    first, second: a run and its replay. Each side is run once more with noise of its own.
    """
    again = Run((), None), Run((), None)
    if first.calls:
        again = natural(program, pair.before), natural(program, pair.after)
        if same_noise(first, again[0]):
            return None
    else:
        again = first, second
    parts = [dict(leaves(each.output)) for each in (first, again[0], second, again[1])]
    one, one_again, other, other_again = parts
    for path in one | other:
        if (path in one) != (path in other):
            if (path in one) == (path in one_again) and (path in other) == (path in other_again):
                return f"{path}: there on one side only"
        elif not same_leaf(one[path], other[path]) and path in one_again and path in other_again:
            steady = same_leaf(one[path], one_again[path]) and same_leaf(other[path], other_again[path])
            if steady:
                return f"{path}: {one[path]!r:.60} against {other[path]!r:.60}, whatever the noise"
    return None


def same_noise(one: Run, other: Run) -> bool:
    """Whether two runs drew the very same numbers: from a fixed seed."""
    pairs = [
        (np.asarray(a.output), np.asarray(b.output))
        for a, b in zip(one.calls, other.calls, strict=False)
        if a.kind in ("noise", "other") and a.primitive == b.primitive
    ]
    return bool(pairs) and all(np.array_equal(a, b) for a, b in pairs)


def another_function(
    program: Callable[[D], object], pair: Pair[D], first: Run, second: Run, by_choice: Collection[int]
) -> bool | None:
    """Whether the output depends on what was released in another way than on the neighbour.

    True: it does. False: it only moved, as if data had been added after the noise. None: that cannot be told, as it
    does not move with the noise near these outputs, or is too long.
    """
    released = [call for call in first.calls if call.kind in ("release", "mapped") and call.number not in by_choice]
    if not released or sum(int(np.size(np.asarray(call.output))) for call in released) > MOST:
        return None
    columns = [
        [column for call in released for column in slopes(program, data, first, call, by_choice)]
        for data in (pair.before, pair.after)
    ]
    seen = False
    for one, other in zip(*columns, strict=True):
        if one is None or other is None or one.shape != other.shape:
            return None
        if not np.allclose(one, other, rtol=1e-6, atol=1e-9):
            return True
        seen = seen or bool(np.any(one))
    return False if seen else None
