"""What the commands print: tables, statements and progress, through rich.

Names and values come from schemas, files and ledgers, so they enter as `Text`, as rich would read "[x]" as markup, and
with what a terminal would obey spelt out.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from rich import box
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from accountant import Statement
from accountant.entries import visible, visible_lines

if TYPE_CHECKING:
    from learners import LazyBoostClassifier, PrivateBoostClassifier, PrivateBoostRegressor
    from learners.base import PrivateEstimator
    from learners.base import Progress as OnRound
    from learners.inspection import CardSection

SHOWN_VOTES = 12
"""Lines of a vote table that are printed; the model holds them all."""

SHOWN_FACTS = 14
"""Lines of a statement that are printed beside a model, whose file holds them all."""

SHOWN_CHARGES = 3
"""Of them, lines of charges."""

MANY_ENTRIES = 20_000
"""Ledgers of no more are read within a second or so, and need no progress bar."""

LARGE_FILE = 20_000_000
"""Files of fewer bytes are read within a second or two, and need no progress bar."""


def console() -> Console:
    """Standard output; 80 columns wide where it is not a terminal."""
    return Console(highlight=False)


def title(text: str, style: str = "") -> None:
    """A line that opens the output. style: a colour."""
    console().print(Text(visible(text), style=f"bold {style}".strip()))


def heading(text: str, style: str = "") -> None:
    """A line that opens a section."""
    console().print()
    title(text, style)


def paragraph(text: str) -> None:
    """Text, wrapped at the width of the terminal. Its line feeds are ours: names in it go through `visible` first."""
    console().print(Text(visible_lines(text)))


def table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Sequence[str] = (), whole: Sequence[str] = ()
) -> None:
    """A table. numbers: columns that are set flush right.  They and those in `whole` are never wrapped."""
    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        number = name in numbers
        drawn.add_column(name, justify="right" if number else "left", no_wrap=number or name in whole, overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(visible(cell)) for cell in row))
    console().print(drawn)


def facts(lines: Iterable[tuple[str, str]]) -> None:
    """A name and a text per line."""
    drawn = Table.grid(padding=(0, 2, 0, 0))
    drawn.add_column(no_wrap=True)
    drawn.add_column(overflow="fold")
    for name, text in lines:
        drawn.add_row(Text(visible(name)), Text(visible(text)))
    console().print(drawn)


@contextmanager
def rounds_bar(rounds: int | None) -> "Iterator[OnRound]":
    """A progress bar on standard error, silent where that is not a terminal. Yields what `fit` calls.

    rounds: how many there will be; None where nobody knows.
    """
    with _bar("learning", rounds, "rounds") as done:
        yield lambda number, rule: done(number)


@contextmanager
def entries_bar(what: str, entries: int) -> Iterator[Callable[[int], None]]:
    """A progress bar over a ledger that takes long to read. Yields what is called with the number of entries so far."""
    if entries <= MANY_ENTRIES:
        yield lambda number: None
        return
    with _bar(what, entries, "entries") as done:
        yield lambda number: None if number % 1000 and number != entries else done(number)


@contextmanager
def file_bar(name: str, total: int, size: int) -> Iterator[Callable[[int], None]]:
    """A progress bar with the time left over a file that takes long to read. Yields what is called with what is done.

    total: bytes or records, whichever are counted.  size: of the file, in bytes.
    """
    target = Console(stderr=True)
    if size < LARGE_FILE or not target.is_terminal:
        yield lambda number: None
        return
    columns = (
        TextColumn(f"reading {visible(name)}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=target, transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda number: bar.update(task, completed=number)


@contextmanager
def _bar(what: str, total: int | None, unit: str) -> Iterator[Callable[[int], None]]:
    target = Console(stderr=True)
    if not target.is_terminal:
        yield lambda number: None
        return
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TextColumn(unit), TimeElapsedColumn())
    with Progress(*columns, console=target, transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda number: bar.update(task, completed=number)


def model(learnt: "PrivateEstimator[Any, Any]") -> None:
    """What was learnt, where it is of a kind that can be read."""
    # An auditor need not wait for them.
    from learners import LazyBoostClassifier, PrivateBoostClassifier, PrivateBoostRegressor

    heading("The model")
    if isinstance(learnt, LazyBoostClassifier):
        vote_table(learnt)
    elif isinstance(learnt, PrivateBoostClassifier | PrivateBoostRegressor):
        effects(learnt)
    elif hasattr(learnt, "classes_"):
        names = ", ".join(visible(str(name)) for name in learnt.classes_)
        paragraph(f"A {type(learnt).__name__} for the classes {names}.")
    else:
        paragraph(f"A {type(learnt).__name__}, which predicts numbers.")


def effects(model: "PrivateBoostClassifier | PrivateBoostRegressor") -> None:
    """How far each column can move the score, or the label, and where it is highest."""
    curves = model.explain()
    classes = getattr(model, "classes_", np.array([]))
    if classes.size > 2:
        paragraph(f"Effects of {len(curves)} columns on {classes.size} classes; `exchequer explain` shows them.")
        return
    what, unit, form = ("score", "Scores are on the scale of log-odds.", ".2f") if classes.size else _unit_of(model)
    rows = [
        (" x ".join(curve.columns), format(curve.span, form), " x ".join(curve.cells[int(np.argmax(curve.effects))]))
        for curve in curves[:SHOWN_VOTES]
    ]
    most = f"most for {classes[1]} where it is" if classes.size else "most where it is"
    table(["column", f"moves the {what} by up to", most], rows, numbers=[])
    rest = len(curves) - len(rows)
    paragraph(
        f"{unit} `exchequer explain` prints the whole model as a scorecard."
        + (f" {rest} more columns, with smaller effects, are not shown." if rest else "")
    )


def _unit_of(model: Any) -> tuple[str, str, str]:
    """What effects of a regression move, on which scale, and how they are written."""
    log = model.model_.loss == "poisson"
    return "label", f"Effects are {'on a logarithmic scale' if log else 'in the unit of the label'}.", ".3g"


def vote_table(model: "LazyBoostClassifier") -> None:
    """The model itself: which feature speaks for which class, with how many votes."""
    votes, (negative, positive) = model.explain(), model.classes_.tolist()
    rows = [
        (str(abs(vote.votes)), str(positive if vote.votes > 0 else negative), vote.feature, vote.value)
        for vote in votes[:SHOWN_VOTES]
    ]
    if not votes:
        paragraph(f"All votes cancel out: it answers {visible(negative)} for every record.")
        return
    table(["votes", "for class", "if column", "is"], rows, numbers=["votes"])
    rest = len(votes) - len(rows)
    paragraph(
        "Where the condition does not hold, the same votes go to the other class."
        + (f" {rest} more lines, with no more votes each, are not shown." if rest else "")
    )


def section(part: "CardSection") -> None:
    """A part of a card."""
    heading(part.heading)
    for text in part.text:
        paragraph(text if part.verbatim else visible(text))
    if part.rows:
        table(part.headers, part.rows, numbers=part.numbers)


def statement(found: Statement, most: int | None = None) -> None:
    """The ledger's statement, wrapped at the width of the terminal. most: lines that are printed, None for all."""
    plain = found.private and not found.unreleased
    heading(f"The ledger's {found.heading}" if found.private else found.heading, "" if plain else "yellow")
    paragraph(visible(found.guarantee))
    facts(short_lines(found, most))


def short_lines(found: Statement, most: int | None) -> list[tuple[str, str]]:
    """What stands below the guarantee, with the head. most: lines, None for all."""
    lines = list(found.lines())
    charged = [place for place, (name, _) in enumerate(lines) if name == "charged"]
    if most is not None and len(charged) > SHOWN_CHARGES:
        rest = len(charged) - SHOWN_CHARGES + 1
        lines[charged[SHOWN_CHARGES - 1] : charged[-1] + 1] = [("...", f"{rest} more lines of charges")]
    if most is not None and len(lines) > most:
        lines[most - 2 : -1] = [("...", f"{len(lines) - most + 1} more lines")]  # the last one is the head
    return lines


def note(text: str) -> None:
    """A line for the person at the keyboard, on standard error."""
    click.echo(visible_lines(text), err=True)
