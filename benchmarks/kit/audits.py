"""`check_function` on programs of foreign style: the wrong ones that it catches, and false alarms on correct ones."""

import time
from collections.abc import Sequence
from typing import Final

from benchmarks.kit.foreign_programs import CORRECT, WRONG, Program
from benchmarks.runner import Line, Measured, Part, Report, Setting, at_least, at_most
from proofs_tests.harness import ClaimViolated, check_function
from proofs_tests.harness import Report as Found

SAMPLES: Final = 60_000
"""On each data set, at most: 1.25 of Gaussian noise takes some 40,000."""

CAUGHT: Final = 0.95
RUNS: Final = 1_000
FEW: Final = 2_000
"""The same in runs that look for false alarms, whose chance does not depend on it."""


def looked(program: Program, samples: int) -> Found:
    """What comes of it, refuted or not."""
    try:
        return check_function(program.function, program.pairs, program.claimed, name=program.name, samples=samples)
    except ClaimViolated as violated:
        return violated.report


def caught(programs: Sequence[Program], samples: int) -> list[Report]:
    """Of each wrong program whether it is refuted."""
    found = [looked(program, samples) for program in programs]
    share = Measured(sum(each.refuted for each in found) / len(found), form=".3f")
    slowest = Measured(max(each.seconds for each in found), unit="s", form=".1f")
    lines = [
        at_least("the share that is refuted", share, CAUGHT),
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


def parts(setting: Setting) -> list[Part]:
    """Both. quick: a few of each."""
    wrong, runs = (WRONG[::8], len(CORRECT)) if setting.quick else (WRONG, RUNS)
    few = FEW // 4 if setting.quick else FEW
    return [
        Part("wrong programs", lambda: caught(wrong, SAMPLES), 2.0 if setting.quick else 60.0),
        Part("correct programs", lambda: false_alarms(runs, few), 2.0 if setting.quick else 600.0),
    ]
