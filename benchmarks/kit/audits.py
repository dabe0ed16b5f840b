"""`check_function` on programs of foreign style: the wrong ones that it catches, and false alarms on correct ones."""

import time
from collections.abc import Sequence
from typing import Any, Final

from scipy import stats

from benchmarks.kit.foreign_programs import CORRECT, WRONG, Program
from benchmarks.runner import Line, Measured, Part, Report, Setting, at_least, at_most
from proofs_tests.harness import ClaimViolated, check_function
from proofs_tests.harness import Report as Found
from proofs_tests.harness.checks import CONFIDENCE
from proofs_tests.harness.checks import SAMPLES as SAMPLES_UNLESS_GIVEN

SAMPLES: Final = 60_000
"""On each data set, at most: 1.25 of Gaussian noise takes some 40,000."""

CAUGHT: Final = 0.95
RUNS: Final = 1_000
FEW: Final = 2_000
"""The same in runs that look for false alarms, whose chance does not depend on it."""

LOW: Final = 0.9
"""A confidence at which false alarms are so frequent that their number says whether it holds."""


def looked(program: Program, samples: int, confidence: float = CONFIDENCE) -> Found:
    """What comes of it, refuted or not."""
    options: dict[str, Any] = {"name": program.name, "samples": samples, "confidence": confidence}
    try:
        return check_function(program.function, program.pairs, program.claimed, **options)
    except ClaimViolated as violated:
        return violated.report


def caught(programs: Sequence[Program], samples: int) -> list[Report]:
    """Of each wrong program whether it is refuted."""
    found = [looked(program, samples) for program in programs]
    share = Measured(sum(each.refuted for each in found) / len(found), form=".3f")
    slowest = Measured(max(each.seconds for each in found), unit="s", form=".1f")
    early = Measured(sum(looked(each, SAMPLES_UNLESS_GIVEN).refuted for each in programs) / len(found), form=".3f")
    lines = [
        at_least("the share that is refuted", share, CAUGHT),
        Line(f"the share at {SAMPLES_UNLESS_GIVEN:,} draws, as many as there are unless more are asked for", early),
        Line("the slowest, until it is refuted", slowest),
        *(Line(f"not refuted: {each.subject}", Measured(each.ratio, form=".3f")) for each in found if not each.refuted),
    ]
    return [Report(f"{len(found)} programs of foreign style that lose more than they claim", lines)]


def false_alarms(runs: int, samples: int) -> list[Report]:
    """Runs over correct programs in turn, in which something is refuted."""
    started = time.monotonic()
    found = [looked(CORRECT[run % len(CORRECT)], samples) for run in range(runs)]
    largest = max(found, key=lambda each: each.ratio)
    lines = [
        at_most("refuted", Measured(float(sum(each.refuted for each in found)), form=".0f"), 0.0),
        Line(f"most of a claim that was seen: {largest.subject}", Measured(largest.ratio, form=".3f")),
        Line("a run", Measured((time.monotonic() - started) / runs, unit="s", form=".2f")),
    ]
    return [Report(f"{runs:,} runs over {len(CORRECT)} correct programs", lines)]


def confidence_held(runs: int, samples: int) -> list[Report]:
    """The same at a low confidence: refuted are no more than it allows, but for a chance of 10^-4."""
    found = [looked(CORRECT[run % len(CORRECT)], samples, LOW) for run in range(runs)]
    allowed = float(stats.binom.ppf(1.0 - 1e-4, runs, 1.0 - LOW))
    lines = [at_most("refuted", Measured(float(sum(each.refuted for each in found)), form=".0f"), allowed)]
    return [Report(f"{runs:,} runs over the same at a confidence of {LOW:g}, a tenth of which may be refuted", lines)]


def parts(setting: Setting) -> list[Part]:
    """All. quick: a few of each, too few to see a confidence hold: proofs_tests/kit/test_functions.py has that."""
    wrong, runs = (WRONG[::24], len(CORRECT) // 4) if setting.quick else (WRONG, RUNS)
    few = FEW // 4 if setting.quick else FEW
    return [
        Part("wrong programs", lambda: caught(wrong, SAMPLES), 2.0 if setting.quick else 60.0),
        Part("correct programs", lambda: false_alarms(runs, few), 2.0 if setting.quick else 600.0),
        Part("a low confidence", lambda: confidence_held(runs, few // 2), 2.0 if setting.quick else 300.0),
    ]
