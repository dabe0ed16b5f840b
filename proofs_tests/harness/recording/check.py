"""`check_recorded`: a program's claim against the exact loss of what it was seen to release, pair by pair."""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import attrs

from accountant import Cost
from proofs_tests.harness.neighbours import Pair
from proofs_tests.harness.recording.calls import Call, Diverged
from proofs_tests.harness.recording.comparison import Change, Comparison, compared
from proofs_tests.harness.recording.exposure import hidden
from proofs_tests.harness.recording.leaks import another_function, raw, same_noise
from proofs_tests.harness.recording.losses import Certain, against
from proofs_tests.harness.recording.outputs import CannotCompare, difference
from proofs_tests.harness.recording.runs import Run, chosen_by, natural, run, unseen
from proofs_tests.harness.report import Report, judged

D = TypeVar("D")

Sensitivities = float | Sequence[float]
ROUNDING = 1e-9
"""What sums of rounded numbers may differ by, in parts of themselves."""


@attrs.frozen
class Finding:
    """Of one pair: what was compared, and why; `unclear` says what was not understood, "" where all was."""

    quantity: str
    bound: float
    found: float
    witness: str
    unclear: str = ""

    @property
    def ratio(self) -> float:
        """found/bound; ∞ where nothing was allowed."""
        return self.found / self.bound if self.bound else (float("inf") if self.found else 0.0)


def check_recorded(
    program: Callable[[D], object],
    pairs: Iterable[Pair[D]],
    *,
    claimed: Cost,
    sensitivities: Sensitivities | None = None,
    public_draws: bool = False,
    progress: Callable[[int], None] | None = None,
    subject: str = "",
) -> Report:
    """Compare a claim with what a program loses, by recording its noise on one data set and giving it back on another.

    Given the same outputs of all noise, neighbours must draw alike and give the same; what was to be noised may move,
    and costs what the exact curves say (the idea of dp-recorder, arXiv 2602.17454).
    program: data to output; may use numpy, `random`, OpenDP, diffprivlib or our own sources: see `recorded`.
    claimed: what the program is said to cost, of any kind but Unbounded.  sensitivities: how far each release may move,
    ℓ1 for Laplace noise, ℓ2 for Gaussian noise, the largest change of a score for a choice; in order, or one for all.
    public_draws: whether other draws, such as of a sample or a start, count as known. Else they may hide something, and
    a claim above which the releases lose is not refuted where there are any.
    progress: called with the number of pairs done.  subject: for the report; the program's name unless given.
    Refuted or not refuted, never exact: other pairs and other outputs are not seen. What was not understood refutes
    nothing, and is in the witness. Noise is taken to be what its primitive says. Raises ClaimViolated.
    """
    started, findings = time.perf_counter(), list[tuple[Finding, Pair[D]]]()
    for pair in pairs:
        findings += [(found, pair) for found in _findings(program, pair, claimed, sensitivities, public_draws)]
        if progress is not None:
            progress(len({id(each) for _, each in findings}))
    if not findings:
        raise ValueError("pairs: expected at least one pair of neighbouring data sets")
    worst, pair = max(findings, key=lambda each: (each[0].ratio, each[0].unclear))
    unclear = next((found.unclear for found, _ in findings if found.unclear), "")
    text = f"{pair.before!r:.180} against {pair.after!r:.180}; {worst.witness}"
    text += f"; not understood: {unclear}" if unclear else ""
    seconds, number = time.perf_counter() - started, len({id(each) for _, each in findings})
    name = subject or getattr(program, "__name__", type(program).__name__)
    return judged(
        Report(name, repr(claimed), worst.quantity, worst.bound, worst.found, "search", text, number, seconds)
    )


def _findings(
    program: Callable[[D], object],
    pair: Pair[D],
    claimed: Cost,
    sensitivities: Sensitivities | None,
    public_draws: bool,
) -> list[Finding]:
    quantity, bound, _ = against([], claimed)
    first = run(program, pair.before)
    try:
        by_choice, calm = _repeated(program, pair.before, first)
        if calm:
            return [Finding(quantity, bound, 0.0, "run twice on the same data", calm)]
        second = run(program, pair.after, first.calls, None, by_choice)
        if by_choice and difference(first.output, second.output) is not None:
            by_choice = frozenset()
            second = run(program, pair.after, first.calls)
    except Diverged as diverged:
        return [_diverged(diverged, first, quantity, bound)]
    except CannotCompare as error:
        return [Finding(quantity, bound, 0.0, "outputs cannot be compared", str(error))]
    comparison = compared(first.calls, second.calls, by_choice)
    leak = _leak(program, pair, first, second, by_choice)
    if leak is not None:
        return [attrs.evolve(leak, quantity=quantity, bound=bound)]
    found = [_cost(program, pair, first, comparison, by_choice, claimed, public_draws)]
    return found + _moves(comparison.changes, first.calls, sensitivities)


def _repeated(program: Callable[[D], object], data: D, first: Run) -> tuple[frozenset[int], str]:
    """Which noisy scores count by the choice alone, and what is unclear: noise given back must give the output back."""
    by_choice = chosen_by(first.calls)
    for each in (by_choice, frozenset[int]()) if by_choice else (by_choice,):
        try:
            if difference(first.output, run(program, data, first.calls, None, each).output) is None:
                return each, ""
        except Diverged:
            continue
    return (
        frozenset(),
        "given all recorded noise back, the program gives something else: it draws where nothing is seen",
    )


def _diverged(diverged: Diverged, first: Run, quantity: str, bound: float) -> Finding:
    before = first.calls if diverged.first is None else first.calls[: diverged.first.number]
    blind = unseen(before)
    if blind:
        return Finding(quantity, bound, 0.0, diverged.text, f"{blind[0].title}, and then: {diverged.text}")
    return Finding(quantity, bound, float("inf"), diverged.text)


def _leak(
    program: Callable[[D], object], pair: Pair[D], first: Run, second: Run, by_choice: frozenset[int]
) -> Finding | None:
    """Where the output differs though all that was released is the same."""
    text = difference(first.output, second.output)
    if text is None:
        return None
    plain = raw(program, pair, first, second)
    if plain is not None:
        return Finding("", 0.0, float("inf"), f"a value without noise, {plain}")
    blind = unseen(first.calls)
    if blind:
        return Finding("", 0.0, 0.0, text, f"{blind[0].title}, was not seen added to a value, and {text}")
    if another_function(program, pair, first, second, by_choice):
        return Finding("", 0.0, float("inf"), f"the output is another function of what was released, {text}")
    return Finding("", 0.0, 0.0, text, f"data are used after the noise: {text}")


def _cost(
    program: Callable[[D], object],
    pair: Pair[D],
    first: Run,
    comparison: Comparison,
    by_choice: frozenset[int],
    claimed: Cost,
    public_draws: bool,
) -> Finding:
    quantity, bound, lost = against(comparison.losses, claimed)
    text = "; ".join(change.text for change in comparison.changes[:3]) or "no noised value moved"
    reused = any(isinstance(loss, Certain) for loss in comparison.losses)
    notes = [note for note in comparison.unclear if not (reused and note.startswith("same noise"))]
    told = [note for note in comparison.unclear if note not in notes]
    text = "; ".join([text, *told])
    if lost <= bound * (1.0 + ROUNDING) + 1e-13:
        return Finding(quantity, bound, min(lost, bound), text, "; ".join(notes))
    blind = [] if public_draws else unseen(first.calls)
    reason = f"{blind[0].title}, may hide something" if blind else ""
    reason = reason or hidden(program, pair.before, first, comparison.changes, by_choice) or ""
    if reason:
        return Finding(
            quantity, bound, 0.0, text, f"{quantity} {lost:.6g} if all that is noised were known, but {reason}"
        )
    return Finding(quantity, bound, lost, text, "; ".join(notes))


def _moves(changes: Sequence[Change], calls: Sequence[Call], sensitivities: Sensitivities | None) -> list[Finding]:
    """Changes above what was declared, by the caller or by the mechanism."""
    releases = [call.number for call in calls if call.kind in ("release", "choice", "mapped")]
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


def draws_alike(program: Callable[[D], object], data: D) -> bool:
    """Whether two runs draw the very same noise: from a fixed seed, which hides nothing from those who know it."""
    return same_noise(natural(program, data), natural(program, data))
