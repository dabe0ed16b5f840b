"""What releases lose along a transcript, and whether that is proved: by outputs, and at more than one transcript."""

import time
from collections.abc import Callable, Collection, Sequence
from typing import Final, Generic, TypeVar

import attrs
import numpy as np

from accountant import GDP, ApproxDP, Cost, PureDP
from proofs_tests.harness.neighbours import Pair
from proofs_tests.harness.recording.calls import Call, Diverged
from proofs_tests.harness.recording.comparison import Change, Comparison, compared, summed_draws
from proofs_tests.harness.recording.elsewhere import elsewhere
from proofs_tests.harness.recording.exposure import hidden
from proofs_tests.harness.recording.leaks import by_frequency
from proofs_tests.harness.recording.losses import Certain, Loss, Shifted, against
from proofs_tests.harness.recording.outputs import CannotCompare, difference
from proofs_tests.harness.recording.pointwise import shown
from proofs_tests.harness.recording.runs import OutOfTime, Run, chosen_by, limited, run, unseen

D = TypeVar("D")

ROUNDING: Final = 1e-9
"""What sums of rounded numbers may differ by, in parts of themselves."""

TRANSCRIPTS: Final = 3
"""More runs with noise of their own, each of which must lose as much, before a claim that is not pure is refuted."""

PATIENCE: Final = 4.0
"""Times the seconds of a pair: how long may be tried what speaks against a refutation. Nothing is refuted after it."""


@attrs.frozen
class Finding:
    """Of one pair: what was compared, and why; `unclear` says what was not understood, "" where all was.

    kept: whether the program was seen to keep something from run to run.
    """

    quantity: str
    bound: float
    found: float
    witness: str
    unclear: str = ""
    kept: bool = False

    @property
    def ratio(self) -> float:
        """found/bound; ∞ where nothing was allowed."""
        return self.found / self.bound if self.bound else (float("inf") if self.found else 0.0)


@attrs.frozen(eq=False)
class Question(Generic[D]):
    """One pair, and what is asked about it; as of `check_recorded`."""

    program: Callable[[D], object]
    pair: Pair[D]
    claimed: Cost
    public_draws: bool
    secret_seeds: bool
    seconds: float

    @property
    def nothing(self) -> Finding:
        """What is compared for the claim, and nothing found."""
        quantity, bound, _ = against([], self.claimed)
        return Finding(quantity, bound, 0.0, "")


def cost(
    asked: Question[D], first: Run, comparison: Comparison, by_choice: Collection[int], fixed: Collection[int]
) -> Finding:
    """What all releases lose together, against the claim; refuting only where the program's output shows it."""
    quantity, bound, lost = against(comparison.losses, asked.claimed)
    _, _, most = against([*comparison.losses, *comparison.above], asked.claimed)
    certain = any(isinstance(loss, Certain) for loss in comparison.losses)
    reused = any(release.apart for release in comparison.releases)
    notes = [note for note in comparison.unclear if not (reused and note.startswith("same noise"))]
    blind = [] if asked.public_draws else unseen(first.calls)
    told = [note for note in comparison.unclear if note not in notes]
    text = "; ".join(change.text for change in comparison.changes[:3]) or "no noised value moved"
    text = "; ".join([text, *told])
    if lost <= bound * (1.0 + ROUNDING) + 1e-13:
        if comparison.above:
            text += f"; {quantity} {most:.6g} at most, by its libraries' own accounts, which refute nothing"
        notes += (
            [f"{blind[0].title}: what it decides is not followed, unless it is public (public_draws)"] if blind else []
        )
        return Finding(quantity, bound, min(lost, bound), text, "; ".join(notes))
    reason = f"{blind[0].title}, may hide something" if blind else ""
    if not reason and isinstance(asked.claimed, PureDP | ApproxDP) and _is_pure(asked.claimed) and not certain:
        lost, reason = _in_time(asked, lambda limit: _shown(limit, first, comparison, by_choice, bound))
    elif not reason:
        _, reason = _in_time(asked, lambda limit: (0.0, _steadily(limit, first, comparison, by_choice, fixed, bound)))
    if reason:
        most = against(comparison.losses, asked.claimed)[2]
        doubt = f"{quantity} {most:.6g} if all that is noised were known, but {reason}"
        seen = None if blind else by_outputs(asked, f"{text}; {doubt}")
        return seen or Finding(quantity, bound, 0.0, text, doubt)
    return Finding(quantity, bound, lost, text, "; ".join(notes))


def _in_time(asked: Question[D], proof: Callable[[Question[D]], tuple[float, str]]) -> tuple[float, str]:
    """What is lost, and why it is not proved or ""; a proof that takes too long is none."""
    allowed = PATIENCE * asked.seconds
    try:
        return proof(attrs.evolve(asked, program=limited(asked.program, allowed)))
    except OutOfTime:
        return 0.0, f"whether its output always shows that was not seen in {allowed:g} s (seconds)"


def _shown(
    asked: Question[D], first: Run, comparison: Comparison, by_choice: Collection[int], bound: float
) -> tuple[float, str]:
    most_allowed = bound * (1.0 + ROUNDING) + 1e-13
    return shown(asked.program, asked.pair, first, comparison, by_choice, most_allowed, asked.seconds)


def by_outputs(asked: Question[D], text: str) -> Finding | None:
    """What the outputs alone show, drawn many times for some seconds; None if that is not more than is claimed.

    Nor is anything where seeds count as secret: more runs may draw the same then.
    """
    if asked.secret_seeds:
        return None
    report = by_frequency(asked.program, asked.pair, asked.claimed, asked.seconds)
    if report is None:
        return None
    witness = f"{text}; {report.witness}, confidence {report.confidence:.9g}"
    return Finding(report.quantity, report.bound, report.found, witness)


def _is_pure(claimed: PureDP | ApproxDP) -> bool:
    return isinstance(claimed, PureDP) or claimed.delta == 0.0


def _steadily(
    asked: Question[D],
    first: Run,
    comparison: Comparison,
    by_choice: Collection[int],
    fixed: Collection[int],
    bound: float,
) -> str:
    """Why it is not proved that so much is lost; "" where it is lost, and shows, at other transcripts too."""
    if comparison.above:
        return f"{comparison.above[0].cost!r} is only a bound"
    reason = hidden(asked.program, asked.pair.before, first, comparison.changes, by_choice)
    for _ in range(TRANSCRIPTS):
        if reason:
            break
        try:
            reason = _at_another(asked, fixed, bound)
        except (Diverged, CannotCompare) as error:
            reason = f"with other noise: {error}"
    return reason or _less_elsewhere(asked, first, by_choice, fixed, bound)


def _less_elsewhere(
    asked: Question[D], first: Run, by_choice: Collection[int], fixed: Collection[int], bound: float
) -> str:
    """Why not all transcripts lose so much, or show it, as far as can be seen: what is not pure is lost by all.

    A claim of one number, noised as Gaussian noise is, may be refuted at one threshold; all others need the tails.
    """
    total = Together(asked.claimed)
    for other in elsewhere(asked.program, asked.pair, first, by_choice, fixed, float("inf")):
        if other.comparison is None or other.first is None:
            return other.text
        lost = total(other.comparison.losses)
        if not lost > bound * (1.0 + ROUNDING) + 1e-13:
            return f"at other outputs it loses {lost:.6g}"
        one = isinstance(asked.claimed, GDP) and len(other.comparison.losses) == 1
        unseen = other.near and not one and _hidden_at(asked, other.first, other.comparison, by_choice)
        if unseen:
            return f"at other outputs: {unseen}"
    return ""


def _hidden_at(asked: Question[D], first: Run, comparison: Comparison, by_choice: Collection[int]) -> str | None:
    return hidden(asked.program, asked.pair.before, first, comparison.changes, by_choice)


class Together:
    """What losses are together, against a claim; as they mostly are the same at all transcripts, the last is kept."""

    def __init__(self, claimed: Cost) -> None:
        self._claimed = claimed
        self._last: tuple[tuple[object, ...], float] | None = None

    def __call__(self, losses: Sequence[Loss]) -> float:
        """Of the quantity that is compared for the claim."""
        shifts = [loss for loss in losses if isinstance(loss, Shifted)]
        key = tuple((loss.law, float(f"{loss.moved:.12g}")) for loss in shifts)
        if self._last is None or len(shifts) < len(losses) or self._last[0] != key:
            self._last = key, against(losses, self._claimed)[2]
        return self._last[1]


def most(asked: Question[D], found: Finding, first: Run, by_choice: Collection[int], fixed: Collection[int]) -> Finding:
    """The largest of what is found and of what is lost at other outputs; those are tried for half of the time."""
    end, total = time.monotonic() + 0.5 * asked.seconds, Together(asked.claimed)
    for other in elsewhere(asked.program, asked.pair, first, by_choice, fixed, end):
        if other.comparison is None or other.first is None:
            found = found if found.unclear else attrs.evolve(found, unclear=f"{other.text}, and may lose more then")
            continue
        lost = total(other.comparison.losses)
        if lost > max(found.found, found.bound) * (1.0 + ROUNDING) + 1e-13:
            again = cost(asked, other.first, other.comparison, by_choice, fixed)
            if again.found > again.bound or not found.unclear:
                found = again
            if again.found > again.bound:
                return again
        elif lost > found.found * (1.0 + ROUNDING) + 1e-13:
            found = attrs.evolve(found, found=min(lost, found.bound), witness=f"{found.witness}; at other outputs more")
    return found


def _at_another(asked: Question[D], fixed: Collection[int], bound: float) -> str | None:
    try:
        first = run(asked.program, asked.pair.before)
    except Exception as error:  # whatever somebody else's program raises
        return f"with other noise it raises {type(error).__name__}"
    by_choice = chosen_by(first.calls)
    second = run(asked.program, asked.pair.after, first.calls, None, by_choice)
    if difference(first.output, second.output) is not None:
        by_choice = frozenset()
        second = run(asked.program, asked.pair.after, first.calls)
    comparison = compared(first.calls, second.calls, by_choice, fixed)
    lost = against(comparison.losses, asked.claimed)[2]
    if not lost > bound * (1.0 + ROUNDING) + 1e-13:
        return f"with other noise it loses {lost:.6g}"
    return hidden(asked.program, asked.pair.before, first, comparison.changes, by_choice)


def moves(
    changes: Sequence[Change], calls: Sequence[Call], sensitivities: float | Sequence[float] | None
) -> list[Finding]:
    """Changes above what was declared, by the caller or the mechanism. Raises ValueError for a wrong number of them."""
    summed = summed_draws(calls)
    releases = [
        call.number
        for call in calls
        if call.kind in ("release", "choice", "mapped")
        or (call.kind == "noise" and call.number not in summed and np.any(np.asarray(call.value)))
    ]
    if isinstance(sensitivities, Sequence) and len(sensitivities) != len(releases):
        raise ValueError(f"sensitivities: {len(sensitivities)} were given for {len(releases)} releases")
    found = []
    for change in changes:
        declared = change.call.declared
        if sensitivities is not None and change.call.number in releases:
            order = releases.index(change.call.number)
            declared = sensitivities[order] if isinstance(sensitivities, Sequence) else float(sensitivities)
        if declared is not None and change.moved > declared * (1.0 + ROUNDING):
            found.append(Finding(f"change of {change.call.title}", declared, change.moved, change.text))
    return found
