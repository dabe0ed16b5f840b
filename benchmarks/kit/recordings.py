"""`check_recorded` on other libraries and on our own learners: what is refuted, what is not understood, pair by pair.

Each library is recorded where the interpreter that runs this has it, and said to be not installed elsewhere. To have
all: a virtual environment with exchequer, diffprivlib, interpret-core, smartnoise-synth and scikit-learn below 1.8.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

from benchmarks.kit import (
    recorded_diffprivlib,
    recorded_interpret,
    recorded_opendp,
    recorded_ours,
    recorded_smartnoise,
    recorded_synthesizers,
)
from benchmarks.kit.recorded_cases import Case, Row, table, version
from benchmarks.runner import Line, Measured, Part, Report, Setting, Table, at_most

LIBRARIES: Final[dict[str, Callable[[], list[Case]]]] = {
    "exchequer": recorded_ours.found,
    "opendp": recorded_opendp.found,
    "diffprivlib": recorded_diffprivlib.found,
    "interpret-core": recorded_interpret.found,
    "smartnoise-sql": recorded_smartnoise.found,
    "smartnoise-synth": recorded_synthesizers.found,
}
"""By the name of the package."""

OURS: Final = "exchequer"
NOT_INSTALLED: Final = "not installed"
QUICK: Final = 9
"""Every so many cases, in a quick run."""


def of_library(library: str, quick: bool) -> list[Table]:
    """How many of each verdict, and each case; or that it is not there."""
    if library != OURS and not version(library):
        return [Report(library, [Line(NOT_INSTALLED, f"pip install {library}, and run this again")])]
    made = LIBRARIES[library]()[:: QUICK if quick else 1]
    rows = [Row(case, case.look()) for case in made]
    refuted = Measured(float(sum(row.verdict == "refuted" for row in rows)), form=".0f")
    unclear = Measured(float(sum(row.verdict == "not understood" for row in rows)), form=".0f")
    lines = [
        Line("recorded", Measured(float(len(rows)), form=".0f")),
        at_most("refuted", refuted, 0.0) if library == OURS else Line("refuted", refuted),
        Line("not understood, and not refuted", unclear),
    ]
    return [Report(f"{library}: pairs of programs", lines), table(library, rows)]


def parts(setting: Setting) -> list[Part]:
    """A library each."""
    return [Part(library, partial(of_library, library, setting.quick), 30.0) for library in LIBRARIES]
