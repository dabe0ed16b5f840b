"""Runs a benchmark part by part, with the time left, and writes its page, its numbers and its pictures."""

import csv
import json
import time
import traceback
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import attrs
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks.data import explained
from benchmarks.runner.machine import commit, machine, today, versions
from benchmarks.runner.partial_results import Kept, Shelf, slug
from benchmarks.runner.plots import draw
from benchmarks.runner.report import CSV_HEAD, Line, Report, Table, as_record, from_record
from benchmarks.runner.suite import Benchmark, Part, Setting
from exchequer.datasets import DataNotFound


class Missing(RuntimeError):
    """Something that a part needs is not on this machine; the message says what, and how to get it."""


@attrs.frozen
class Outcome:
    """What a run found.

    tables: in the order of the parts.  pictures: the file name of each table's plot, "" for those without numbers.
    seconds: of all parts, those of earlier runs included.  reused: how many parts an earlier run had measured.
    date, commit, machine, versions: of the run that finished it.
    """

    name: str
    tables: tuple[Table, ...] = attrs.field(converter=tuple[Table, ...])
    pictures: tuple[str, ...]
    seconds: float
    quick: bool
    reused: int = 0
    date: str = attrs.field(factory=today)
    commit: str = attrs.field(factory=commit)
    machine: str = attrs.field(factory=machine)
    versions: dict[str, str] = attrs.field(factory=versions)

    @property
    def met(self) -> bool:
        """Whether everything that was asked was reached."""
        return all(table.met for table in self.tables)

    @property
    def where(self) -> str:
        """The day, the commit, the machine and the versions."""
        shown = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        return f"{self.date}, commit {self.commit}, {self.machine}, {shown}; {self.seconds / 60:.1f} minutes"

    @property
    def page(self) -> str:
        """Markdown: all tables with their plots, and where they were measured."""
        shown = [
            f"{table.table}\n\n![{table.title}]({picture})" if picture else table.table
            for table, picture in zip(self.tables, self.pictures, strict=True)
        ]
        return "\n\n".join([*shown, self.where])

    def as_record(self) -> dict[str, Any]:
        """For JSON. The inverse of `outcome_of`."""
        plain = attrs.asdict(self, recurse=False, filter=lambda field, value: field.name not in ("tables", "reused"))
        return {**plain, "seconds": round(self.seconds, 1), "tables": [as_record(table) for table in self.tables]}

    @property
    def text(self) -> str:
        """The same as text, on one line."""
        return json.dumps(self.as_record(), ensure_ascii=False, indent=None, separators=(",", ":")) + "\n"


def outcome_of(record: dict[str, Any]) -> Outcome:
    """The inverse of `Outcome.as_record`."""
    return Outcome(
        **{
            **record,
            "tables": [from_record(table) for table in record["tables"]],
            "pictures": tuple(record["pictures"]),
        }
    )


def parts_of(benchmark: Benchmark, setting: Setting) -> list[Part]:
    """What there is to measure. Raises ValueError where two parts have one name."""
    parts: list[Part] = import_module(benchmark.module).parts(setting)
    names = [slug(part.name) for part in parts]
    if len(set(names)) != len(names):
        raise ValueError(f"{benchmark.name}: two parts of one name among {names}")
    return parts


def run(benchmark: Benchmark, setting: Setting, console: Console | None = None) -> Outcome:
    """Measure what an earlier run has not, part by part, and write all files to `setting.out`."""
    setting.out.mkdir(parents=True, exist_ok=True)
    parts = parts_of(benchmark, setting)
    shelf, tables, seconds, reused = Shelf.of(setting, benchmark.module), list[Table](), 0.0, 0
    with _progress(console) as progress:
        task = progress.add_task(benchmark.name, total=len(parts), left="")
        for place, part in enumerate(parts):
            progress.update(task, description=f"{benchmark.name}: {part.name[:40]}", left=_left(parts[place:]))
            if not progress.console.is_terminal:
                progress.console.print(
                    f"{benchmark.name}, {place + 1} of {len(parts)}: {part.name}, {_left(parts[place:])}"
                )
            kept = shelf.get(part.name) if part.kept else None
            reused += kept is not None
            if kept is None:
                kept = _measured(part)
                if not said(ABSENT, kept.tables) and not said(FAILED, kept.tables):
                    shelf.put(part.name, kept)
            tables += kept.tables
            seconds += kept.seconds
            progress.advance(task)
        progress.update(task, description=benchmark.name, left="")
    outcome = Outcome(benchmark.name, tables, drawn(tables, setting.out), seconds, setting.quick, reused)
    write(benchmark, outcome, setting.out)
    return outcome


ABSENT: Final = "not measured"
FAILED: Final = "failed"


def _measured(part: Part) -> Kept:
    start = time.perf_counter()
    try:
        tables = tuple(part.make())
    except DataNotFound as error:
        tables = (Report(part.name, [Line(ABSENT, explained(error))]),)
    except Missing as error:
        tables = (Report(part.name, [Line(ABSENT, str(error))]),)
    except Exception as error:
        # The other parts are still worth their time; the exit code and the page tell of this one.
        traceback.print_exc()
        tables = (Report(part.name, [Line(FAILED, f"{type(error).__name__}: {error}", met=False)]),)
    return Kept(tables, time.perf_counter() - start)


def said(what: str, tables: Sequence[Table]) -> bool:
    """Whether a part says ABSENT, or FAILED: the next run tries it again."""
    return any(line.what == what for table in tables if isinstance(table, Report) for line in table.lines)


def _progress(console: Console | None) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, TextColumn("{task.fields[left]}"), console=console or Console(stderr=True))


def _left(parts: Sequence[Part]) -> str:
    seconds = sum(part.seconds for part in parts)
    return f"about {seconds / 60:.0f} min left" if seconds > 90 else f"about {seconds:.0f} s left"


def drawn(tables: Sequence[Table], folder: Path) -> tuple[str, ...]:
    """A picture a table, numbered, as titles may begin alike; those of an earlier run are removed."""
    for old in folder.glob("[0-9][0-9]-*.png"):
        old.unlink(missing_ok=True)
    names = [f"{place:02}-{slug(table.title)[:60].strip('-')}.png" for place, table in enumerate(tables, 1)]
    return tuple(name if draw(table, folder / name) else "" for table, name in zip(tables, names, strict=True))


def write(benchmark: Benchmark, outcome: Outcome, folder: Path) -> None:
    """The page; all cells as CSV; and everything, exactly, as JSON."""
    name = outcome.name
    with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, CSV_HEAD)
        writer.writeheader()
        writer.writerows(cell.as_row() for table in outcome.tables for cell in table.cells())
    (folder / f"{name}.json").write_text(outcome.text, encoding="utf-8")
    size = "quick run: sizes and repeats are too small for what is asked" if outcome.quick else "full run"
    head = f"# {name}\n\n{benchmark.reproduces} Data: {benchmark.data} ({size}.)"
    (folder / f"{name}.md").write_text(f"{head}\n\n{outcome.page}\n", encoding="utf-8")
