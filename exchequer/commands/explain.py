"""`exchequer explain`: what a saved model does and what it cost, for a reader, a report or a program."""

import json
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import click

from accountant import Statement
from accountant.entries import visible
from exchequer.console import output
from exchequer.console.input_errors import about, checked
from learners.additive import AdditiveModel
from learners.base import PrivateEstimator
from learners.inspection import CardSection, Linear, Scorecard, plots, scorecard, tolerated
from learners.votes import VoteModel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Format: TypeAlias = Literal["text", "markdown", "json"]

Lines: TypeAlias = int | Literal["all"] | None
"""Of a column at most; None for a dozen, "all" for as many as it takes to answer as `predict` does."""

PICTURES: Final = 40
"""Curves that are drawn one by one; the card holds them all."""


def explain(
    path: Path, form: Format, pictures: Path | None, *, tolerance: float, force: bool, lines: Lines = "all"
) -> None:
    """Print scorecard and statement, and draw the pictures if a folder for them is given."""
    checked("--tolerance", tolerated, tolerance)
    with about(path):
        model: PrivateEstimator[Any, Any] = PrivateEstimator.load(path)
        card = scorecard(model, tolerance=tolerance, lines=lines)
    drawn = [] if pictures is None else _draw(model, pictures, force)
    statement = model.statement_
    match form:
        case "text":
            output.paragraph(visible(f"{statement.heading}: {statement.guarantee}"))
            for section in card.sections():
                output.section(section)
            output.short_statement(statement)
        case "markdown":
            click.echo(_markdown(type(model).__name__, statement, card), nl=False)
        case "json":
            record = {
                "learner": type(model).__name__,
                "statement": statement.as_dict(),
                "scorecard": card.as_dict(),
                "plots": [str(file) for file in drawn],
            }
            click.echo(json.dumps(record, indent=1))  # in ASCII: a terminal obeys no escape of JSON
    if drawn:
        output.note(f"{len(drawn)} pictures in {pictures}")


def _markdown(learner: str, statement: Statement, card: Scorecard) -> str:
    lines = tuple((name, text) for name, text in statement.lines())
    section = CardSection(statement.heading, (statement.guarantee,), headers=("book", "entry"), rows=lines)
    return f"# {learner}\n\n{section.markdown()}\n\n{card.markdown()}"


# --- pictures --------------------------------------------------------------------------------------------------


def _draw(model: PrivateEstimator[Any, Any], folder: Path, force: bool) -> list[Path]:
    """Write the pictures; the files. Raises before anything is written."""
    try:
        planned = [(folder / name, figure) for name, figure in _figures(model)]
    except ImportError as error:
        raise ValueError(f"--plots: {error}") from error
    if not planned:
        raise ValueError(f"--plots: there are no pictures of a {type(model).__name__}")
    taken = [file for file, _ in planned if file.exists()]
    if taken and not force:
        raise FileExistsError(f"--plots: {taken[0]} exists already; give another folder, or --force to replace it")
    folder.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        # A name in a script that matplotlib's font lacks shows as boxes, which is no reason to alarm anybody.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        for file, figure in planned:
            figure.savefig(file, dpi=120)
    return [file for file, _ in planned]


def _figures(model: PrivateEstimator[Any, Any]) -> Iterator[tuple[str, "Figure"]]:
    """File names and what is drawn there."""
    learnt = model.model_
    if isinstance(learnt, VoteModel):
        figure = plots.new_figure(7.0, 6.0)
        plots.votes(model, ax=figure.add_subplot())
        yield "votes.png", figure
    elif isinstance(learnt, AdditiveModel | Linear):
        yield "curves.png", plots.curves(model)
        additive, classes = plots.additive(model)
        for place, term in enumerate(plots.ordered_terms(additive)[:PICTURES], 1):
            names = [additive.schema.columns[column].name for column in term.columns]
            figure = plots.new_figure(7.0, 5.0)
            plots.draw_term(additive.schema, term, classes, figure.add_subplot())
            yield f"{place:02d}-{'-x-'.join(map(_as_file, names))}.png", figure


def _as_file(name: str) -> str:
    """A column's name without what file systems dislike; the number before it keeps names apart."""
    return re.sub(r"[^\w.-]+", "_", name).strip("._")[:60] or "column"
