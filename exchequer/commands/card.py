"""`exchequer card`: what a saved model is, what it learnt from, what it promises and what it is not for."""

import html
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any, Final

import numpy as np

from accountant.entries import visible
from exchequer.commands.explain import Lines
from exchequer.console import output
from exchequer.console.input_errors import about, refuse_overwriting, refuse_replacing
from learners import PrivateBoostRegressor, Schema, scorecard
from learners.additive import AdditiveModel
from learners.base import Calibration, PrivateEstimator
from learners.inspection import CardSection
from learners.tables import Boolean, Column, Numeric

LIMITS: Final = (
    "The guarantee is about the records that the model was trained on, and about what was released of them. It is no "
    "statement about whether predictions are right, or fair to a group.",
    "The schema, the label's classes or bounds, and all parameters count as public. If any of them was taken from the "
    "data, that was a release which is not in this ledger.",
    "Models and statistics that were released of the same records elsewhere add to what is spent here; only a ledger "
    "that all of them were charged to knows the sum.",
    "What holds for most records can be learnt about somebody who was never in the data: privacy of this kind does not "
    "prevent that.",
)

STYLE: Final = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse;margin:.5rem 0}td,th{padding:.15rem .8rem .15rem 0;text-align:left;"
    "vertical-align:top;border-bottom:1px solid #ddd}h2{margin-top:2rem;font-size:1.2rem}"
)


def write(path: Path, out: Path, *, data: str | None, measured: str | None, lines: Lines, force: bool) -> None:
    """Write the card; what it is in, its name says. Raises ValueError for another ending than .md and .html."""
    refuse_overwriting(out, force)
    refuse_replacing(out, path)
    if out.suffix.lower() not in (".md", ".html", ".htm"):
        raise ValueError(f"--out: {out} ends neither in .md nor in .html, so what should be in it is unclear")
    with about(path):
        model: PrivateEstimator[Any, Any] = PrivateEstimator.load(path)
    title = f"Model card: {type(model).__name__}"
    parts = list(sections(model, data, measured, lines))
    text = _page(title, parts) if out.suffix.lower() != ".md" else _markdown(title, parts)
    out.write_text(text, encoding="utf-8")
    output.note(f"{out}: {len(parts)} sections. All of it follows from releases and from the options of this command.")


def sections(
    model: PrivateEstimator[Any, Any], data: str | None, measured: str | None, lines: Lines
) -> Iterator[CardSection]:
    """What the card says, in order. data, measured: in the words of whoever asks for it."""
    yield _what(model)
    yield CardSection("Data", (data or "Nobody said what data these were: `--data` of `exchequer card`.",))
    schema = getattr(model.model_, "schema", None)
    if isinstance(schema, Schema):
        yield _schema(schema)
    yield _guarantee(model)
    yield CardSection("Accuracy", tuple(_accuracy(model, measured)))
    try:
        yield from scorecard(model, lines=lines).sections()
    except TypeError as error:
        yield CardSection("The model", (f"{error}: it is not one that is read.",))
    yield CardSection("Limits", LIMITS)


def _what(model: PrivateEstimator[Any, Any]) -> CardSection:
    classes = [str(name) for name in model.classes_] if hasattr(model, "classes_") else []
    schema = getattr(model.model_, "schema", None)
    label = next(iter(schema.label_names), "the label") if isinstance(schema, Schema) else "the label"
    learns = f"{label}: one of {', '.join(classes)}" if classes else f"{label}: a number"
    rows = [("learner", type(model).__name__), ("predicts", learns), ("card of", str(date.today()))]
    rows += [(name, repr(value)) for name, value in model.parameters_.items() if name not in ("epsilon", "delta")]
    return CardSection("What it is", headers=("what", "value"), rows=tuple(rows))


def _schema(schema: Schema) -> CardSection:
    rows = tuple((column.name, type(column).__name__.lower(), _domain(column)) for column in schema.columns)
    said = "What every column may hold; public, and fixed before the data was looked at."
    return CardSection("Schema", (said,), headers=("column", "kind", "domain"), rows=rows)


def _domain(column: Column) -> str:
    """What it may hold, in words."""
    if isinstance(column, Boolean):
        return "0 or 1"
    if isinstance(column, Numeric):
        return column.interval(0, column.bin_number) + (", or missing" if column.own_cell else "")
    return ", ".join(column.values())


def _guarantee(model: PrivateEstimator[Any, Any]) -> CardSection:
    statement = model.statement_
    rows = tuple(output.short_lines(statement, output.SHOWN_FACTS, output.SHOWN_CHARGES))
    return CardSection(statement.heading.capitalize(), (statement.guarantee,), headers=("book", "entry"), rows=rows)


def _accuracy(model: PrivateEstimator[Any, Any], measured: str | None) -> Iterator[str]:
    """What was paid for, and what somebody says."""
    found = model.model_
    if isinstance(found, AdditiveModel) and found.calibration is not None:
        right, unsure = training_accuracy(found.calibration)
        yield (
            f"Paid for: about {right:.1%} ± {unsure:.1%} of the training records are classified as labelled, by the "
            "released histogram of scores. New records are classified a little worse."
        )
    elif isinstance(model, PrivateBoostRegressor) and model.model_.residuals is not None:
        lower, upper = (end * model.model_.scale for end in model.model_.residuals.within(0.9))
        yield f"Paid for: nine of ten training labels lie within {lower:+.4g} and {upper:+.4g} of the prediction."
    else:
        yield "Nothing was paid for: the fit released nothing from which its accuracy follows."
    if measured:
        yield f"Measured, in the words of whoever asked for this card: {measured}"


def training_accuracy(calibration: Calibration) -> tuple[float, float]:
    """The share of training records that are right, and what noise leaves unsure of it, 9 times in 10."""
    counts = np.array(calibration.counts)
    edges = np.array(calibration.edges)
    middles = np.concatenate([edges[:1], 0.5 * (edges[1:] + edges[:-1]), edges[-1:]])
    right = np.where(middles > calibration.threshold, counts[:, 1], counts[:, 0])
    total = max(float(counts.sum()), 1.0)
    unsure = 1.645 * calibration.deviation * float(np.sqrt(counts.size)) / total
    return float(np.clip(right.sum() / total, 0.0, 1.0)), unsure


def _markdown(title: str, parts: list[CardSection]) -> str:
    return f"# {title}\n\n" + "\n\n".join(section.markdown() for section in parts) + "\n"


def _page(title: str, parts: list[CardSection]) -> str:
    head = f'<meta charset="utf-8"><title>{html.escape(visible(title))}</title><style>{STYLE}</style>'
    body = "\n".join(section.html() for section in parts)
    body = f"<h1>{html.escape(title)}</h1>\n{body}"
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>{body}\n</body></html>\n'
