"""`check_recorded`: a program's claim against the exact loss of what it was seen to release, pair by pair."""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

import attrs

from accountant import Cost
from proofs_tests.harness.neighbours import Pair
from proofs_tests.harness.recording.calls import Diverged
from proofs_tests.harness.recording.comparison import compared
from proofs_tests.harness.recording.costs import Finding, Question, by_outputs, cost, most, moves
from proofs_tests.harness.recording.elsewhere import used_otherwise
from proofs_tests.harness.recording.leaks import raw, same_noise
from proofs_tests.harness.recording.outputs import CannotCompare, Raised, difference
from proofs_tests.harness.recording.runs import Run, chosen_by, natural, run, unseen
from proofs_tests.harness.recording.seeds import fixed_draws
from proofs_tests.harness.report import Report, judged

D = TypeVar("D")

KEPT: Final = (
    "later runs on the same data draw less than the first, so that the program keeps something from run to run, as in "
    "a cache; give one that begins anew each time"
)

Sensitivities = float | Sequence[float]


def check_recorded(
    program: Callable[[D], object],
    pairs: Iterable[Pair[D]] | Iterable[tuple[D, D]],
    *,
    claimed: Cost,
    sensitivities: Sensitivities | None = None,
    public_draws: bool = False,
    secret_seeds: bool = False,
    seconds: float = 2.0,
    time_limit: float | None = None,
    progress: Callable[[int], None] | None = None,
    subject: str = "",
) -> Report:
    """Compare a claim with what a program loses, by recording its noise on one data set and giving it back on another.

    Given the same outputs of all noise, neighbours must draw alike and give the same; what was to be noised may move,
    and costs what the exact curves say (the idea of dp-recorder, arXiv 2602.17454).
    program: data to output; may use numpy, `random`, OpenDP, diffprivlib, interpret or our own sources: see `recorded`.
    claimed: what the program is said to cost, of any kind but Unbounded.  sensitivities: how far each release may move,
    ℓ1 for Laplace noise, ℓ2 for Gaussian noise, the largest change of a score for a choice; in order, or one for all.
    public_draws: whether other draws, such as of a sample or a start, count as known. Else they may hide something, and
    a claim above which the releases lose is not refuted where there are any.
    secret_seeds: whether noise that is the same in every run is as good as any. Else its seed counts as known. Where it
    is, nothing is concluded from more runs, which may draw the same.
    seconds: of a pair at most, to look for a transcript that shows more than is claimed, and as many to look at outputs
    drawn many times where the draws of two neighbours differ, or where the output hides a part of the noise. Four times
    as many to try what speaks against a refutation; where they are over nothing is refuted.
    time_limit: in seconds; after it no further pair is begun, and what was found by then is reported.
    progress: called with the number of pairs done.  subject: for the report; the program's name unless given.
    Refuted or not refuted, never exact: other pairs and other outputs are not seen. What was not understood refutes
    nothing, and is in the witness; nor does a library's own account, which bounds a loss from above. Noise is taken to
    be what its primitive says. Raises ClaimViolated.
    """
    started, findings, done = time.perf_counter(), list[tuple[Finding, Pair[D]]](), 0
    for pair in (Pair(*each) for each in pairs):
        asked = Question(program, pair, claimed, public_draws, secret_seeds, seconds)
        findings += [(found, pair) for found in _findings(asked, sensitivities)]
        done += 1
        if findings[-1][0].kept:
            break  # runs on other pairs would begin with what these have left
        if progress is not None:
            progress(done)
        if time_limit is not None and time.perf_counter() - started >= time_limit:
            break
    if not findings:
        raise ValueError("pairs: expected at least one pair of neighbouring data sets")
    worst, pair = max(findings, key=lambda each: (each[0].ratio, each[0].unclear))
    unclear = next((found.unclear for found, _ in findings if found.unclear), "")
    text = f"{pair.before!r:.180} against {pair.after!r:.180}; {worst.witness}"
    text += f"; not understood: {unclear}" if unclear else ""
    spent = time.perf_counter() - started
    name = subject or getattr(program, "__name__", type(program).__name__)
    return judged(
        Report(
            name,
            repr(claimed),
            worst.quantity,
            worst.bound,
            worst.found,
            "search",
            text,
            done,
            spent,
            not_understood=unclear,
        )
    )


def _findings(asked: Question[D], sensitivities: Sensitivities | None) -> list[Finding]:
    nothing, program, pair = asked.nothing, asked.program, asked.pair
    try:
        first = run(program, pair.before)
    except Exception as error:  # whatever somebody else's program raises
        return [_stopped(asked, error)]
    try:
        by_choice, calm = _repeated(program, pair.before, first)
        if calm and _keeps(program, pair.before, first):
            return [attrs.evolve(nothing, witness="run again on the same data", unclear=KEPT, kept=True)]
        if calm:
            seen = by_outputs(asked, calm)
            return [seen or attrs.evolve(nothing, witness="run twice on the same data", unclear=calm)]
        fixed = frozenset[int]() if asked.secret_seeds else fixed_draws(program, pair.before, first)
        known = _without_noise(asked, first) if fixed else None
        if known is not None:
            return [known]
        second = run(program, pair.after, first.calls, None, by_choice)
        if by_choice and difference(first.output, second.output) is not None:
            by_choice = frozenset()
            second = run(program, pair.after, first.calls)
    except Diverged as diverged:
        return [_diverged(asked, diverged, first)]
    except CannotCompare as error:
        return [attrs.evolve(nothing, witness="outputs cannot be compared", unclear=str(error))]
    comparison = compared(first.calls, second.calls, by_choice, fixed)
    if difference(first.output, second.output) is not None:
        return [_leak(asked, first, second)]
    far = moves(comparison.changes, first.calls, sensitivities)
    otherwise = used_otherwise(program, pair.before, first, by_choice)
    if otherwise:
        return [by_outputs(asked, otherwise) or attrs.evolve(nothing, witness=otherwise, unclear=otherwise), *far]
    found = cost(asked, first, comparison, by_choice, fixed)
    if not found.ratio > 1.0 and not found.unclear:
        found = most(asked, found, first, by_choice, fixed)
    return [found, *far]


def _stopped(asked: Question[D], error: Exception) -> Finding:
    """Where the first run raises: what that says of the data, if only one side raises. Raises it else."""
    if isinstance(natural(asked.program, asked.pair.after).output, Raised):
        raise error
    return _by_outputs(asked, f"on one of the two it raises {type(error).__name__}: {error}", "")


def _keeps(program: Callable[[D], object], data: D, first: Run) -> bool:
    """Whether later runs on the same data draw less than the first: the answer, or the noise, was kept."""
    runs = [natural(program, data).calls for _ in range(2)]
    names = [[call.primitive for call in calls] for calls in runs]
    return names[0] == names[1] and len(names[0]) < len(first.calls)


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


def _without_noise(asked: Question[D], first: Run) -> Finding | None:
    """Where the same comes out in every run on the one side, and something else in every run on the other."""
    runs = [natural(asked.program, data) for data in (asked.pair.before, asked.pair.after, asked.pair.after)]
    text = difference(runs[0].output, runs[1].output)
    if difference(first.output, runs[0].output) or difference(runs[1].output, runs[2].output) or text is None:
        return None
    seeded = next(call for call in first.calls if call.kind in ("noise", "release"))
    witness = (
        f"{seeded.title}: the same noise in every run, as from a seed that is known, so that it hides nothing; {text}"
    )
    return attrs.evolve(asked.nothing, found=float("inf"), witness=witness)


def _diverged(asked: Question[D], diverged: Diverged, first: Run) -> Finding:
    last = len(first.calls) if diverged.first is None else diverged.first.number
    blind = [] if asked.public_draws else [call for call in unseen(first.calls) if call.number <= last]
    reason = f"{blind[0].title}, and then: {diverged.text}" if blind else ""
    return _by_outputs(asked, diverged.text, reason)


def _leak(asked: Question[D], first: Run, second: Run) -> Finding:
    """Where the output differs though all that was released is the same."""
    text, blind = difference(first.output, second.output) or "", unseen(first.calls)
    plain = raw(asked.program, asked.pair, first, second, asked.claimed, blind, asked.secret_seeds, asked.seconds)
    if plain is not None and plain.proved:
        return attrs.evolve(asked.nothing, found=float("inf"), witness=f"a value without noise, {plain.text}")
    if plain is not None:
        return attrs.evolve(asked.nothing, witness=text, unclear=plain.text)
    doubt = bool(blind) and not asked.public_draws
    reason = f"{blind[0].title}, was not seen added to a value, and {text}" if doubt else ""
    return _by_outputs(asked, f"the output is another function of what was released, {text}", reason)


def _by_outputs(asked: Question[D], text: str, reason: str) -> Finding:
    """What differs is no proof by itself: where nothing else is in doubt, the outputs are drawn, many times."""
    nothing = attrs.evolve(asked.nothing, witness=text)
    if reason:
        return attrs.evolve(nothing, unclear=reason)
    said = f"{text}; whether that loses more than is claimed is not seen in {asked.seconds:g} s of outputs"
    return by_outputs(asked, text) or attrs.evolve(nothing, unclear=said)


def draws_alike(program: Callable[[D], object], data: D) -> bool:
    """Whether two runs draw the very same noise: from a fixed seed, which hides nothing from those who know it."""
    return same_noise(natural(program, data), natural(program, data))
