"""`python -m benchmarks.runner.results --out DIR`: takes over full runs, writes RESULTS.md and the figures of pages.

What is taken over is each run's JSON, which holds all of its tables exactly, into benchmarks/results. RESULTS.md and
the figures in README.md, AUDITS.md and docs are made of these files alone, and a test sees that they are. Of the
pictures that a run draws, only those that these pages show are drawn there.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Final

import attrs

from benchmarks.runner.audit_figures import AUDITS
from benchmarks.runner.catalogue import CATALOGUE
from benchmarks.runner.packaged_figures import PACKAGED, packaged
from benchmarks.runner.partial_results import ROOT
from benchmarks.runner.readme import filled
from benchmarks.runner.readme_figures import FIGURES, draw_pictures
from benchmarks.runner.report import Report, markdown
from benchmarks.runner.run import ABSENT, FAILED, Outcome, outcome_of, said

KEPT: Final = ROOT / "benchmarks" / "results"
PAGE: Final = ROOT / "benchmarks" / "RESULTS.md"
FIGURED: Final = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
"""Pages that may have figures between markers."""

AUDITED: Final = ROOT / "AUDITS.md"


def outcomes(folder: Path = KEPT) -> dict[str, Outcome]:
    """The runs whose files are there, in the order of the catalogue."""
    files = {each.name: folder / f"{each.name}.json" for each in CATALOGUE}
    return {name: outcome_of(json.loads(file.read_text("utf-8"))) for name, file in files.items() if file.is_file()}


def take_over(out: Path, into: Path = KEPT) -> list[str]:
    """Take over full runs, and say what was left where it is: quick runs, and what did not run."""
    left = []
    into.mkdir(exist_ok=True)
    for each in CATALOGUE:
        file = out / each.name / f"{each.name}.json"
        outcome = outcome_of(json.loads(file.read_text("utf-8"))) if file.is_file() else None
        if outcome is None or outcome.quick or any(said(what, outcome.tables) for what in (ABSENT, FAILED)):
            why = "no run" if outcome is None else "a quick run" if outcome.quick else "parts are missing"
            left.append(f"{each.name}: {why}")
            continue
        outcome = attrs.evolve(outcome, pictures=("",) * len(outcome.tables))
        (into / file.name).write_text(outcome.text, encoding="utf-8")
    return left


def page(found: dict[str, Outcome]) -> str:
    """RESULTS.md."""
    rows = []
    for each in CATALOGUE:
        outcome = found.get(each.name)
        if outcome is None:
            rows.append((each.name, each.reproduces, "no run", "", "", ""))
            continue
        asked = [line.met for t in outcome.tables if isinstance(t, Report) for line in t.lines if line.met is not None]
        verdict = f"{sum(asked)} of {len(asked)}" if asked else ""
        when = f"{outcome.date}, {outcome.commit}"
        link = f"[{each.name}](#{each.name})"
        rows.append((link, each.reproduces, each.data, f"{outcome.seconds / 60:.1f} min", verdict, when))
    head = ("benchmark", "what it is", "data", "took", "asked lines met", "run")
    front = markdown("All benchmarks", head, rows)
    parts = [f"# {name}\n\n{outcome.page}" for name, outcome in found.items()]
    return "\n\n".join([INTRODUCTION, front, missed(found), *parts]) + "\n"


INTRODUCTION: Final = """<!-- Made by `python -m benchmarks.runner.results`; do not edit. -->
# Results

Every table is of a full run of `python -m benchmarks NAME`; under each benchmark stand the day, the commit ("+": files
differed from it), the machine and the versions. "Printed" is what the paper, or whoever claims it, prints; "ratio" is
ours over that; "±" and "spread" are standard deviations, or half of the distance between quartiles where medians are
shown. Seconds are this machine's; ratios were taken in one run."""


def missed(found: dict[str, Outcome]) -> str:
    """What was asked and not reached."""
    lines = [
        (name, table.title, line.what, str(line.found), line.asked)
        for name, outcome in found.items()
        for table in outcome.tables
        if isinstance(table, Report)
        for line in table.lines
        if line.met is False
    ]
    if not lines:
        return "Nothing that was asked was missed."
    return markdown("Asked and missed", ("benchmark", "table", "line", "found", "asked"), lines)


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runner.results", description=__doc__)
    parser.add_argument("--out", type=Path, help="where runs left their files; without it, what was taken over before")
    options = parser.parse_args(arguments)
    for line in take_over(options.out) if options.out else ():
        print(f"left where it is: {line}", file=sys.stderr)
    found = outcomes()
    text = page(found)
    figured = {path: filled(path.read_text("utf-8"), found, FIGURES) for path in FIGURED}
    audits = filled(AUDITED.read_text("utf-8"), found, AUDITS)
    PAGE.write_text(text, encoding="utf-8")
    AUDITED.write_text(audits, encoding="utf-8")
    PACKAGED.write_text(packaged(found), encoding="utf-8")
    for path, filled_in in figured.items():
        path.write_text(filled_in, encoding="utf-8")
    draw_pictures(found, KEPT)
    print(
        f"wrote {PAGE.name}, and the figures in README.md, {AUDITED.name} and docs, from {len(found)} runs",
        file=sys.stderr,
    )


if __name__ == "__main__":
    main()
