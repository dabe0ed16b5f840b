"""`exchequer predict`: predictions for a table, and how good they are where the truth is known."""

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias, cast

import click
import numpy as np

from accountant import Statement
from accountant.arrays import FloatArray
from exchequer.commands.training_input import label_of, read, take_label
from exchequer.console import output
from exchequer.console.input_errors import about, refuse_overwriting, refuse_replacing
from exchequer.console.table_files import Columns, TableFileOptions, each_block
from learners import PrivateBoostRegressor, RadoRelease, RandomFeatureRegressor
from learners.base import PrivateClassifier, PrivateEstimator
from learners.tables import Strings, Values

Classifier: TypeAlias = PrivateClassifier[Any]
"""Whatever the file or the option names."""

Regressor: TypeAlias = RandomFeatureRegressor | PrivateBoostRegressor
"""What predicts numbers."""

HELD_BACK = "These should not be the training records: their accuracy would be a release that nobody paid for."


def predict(
    data: Path,
    model_path: Path,
    out: Path | None,
    *,
    header: bool,
    force: bool,
    proba: bool,
    score: bool,
    intervals: float | None = None,
    file_options: TableFileOptions = TableFileOptions(),  # noqa: B008  # frozen
) -> None:
    """Write a CSV of predictions; the model's guarantee, and how good they are if asked, go to standard error.

    intervals: their coverage, in (0, 1); None for none.
    """
    if out is not None:
        refuse_overwriting(out, force)
        refuse_replacing(out, data, model_path)
    with about(model_path):
        model = predictor(model_path)
    numbers = isinstance(model, Regressor)
    _refuse_others(model, model_path, proba=proba, intervals=intervals is not None)
    schema = cast("Any", model).model_.schema
    label = label_of(schema, model_path) if score else None
    names = None if header else [*schema.names, *([label.name] if label else [])]

    def answered(table: Columns, truth: Strings | FloatArray | None) -> tuple[dict[str, list[str]], list[str]]:
        if numbers:
            return _numbers_of(cast("Regressor", model), table, truth, intervals)
        return _classes_of(cast("Classifier", model), table, truth, proba)

    truth, said = None, list[str]()
    with about(data):
        if label is None:  # a block of the file at a time, as nothing is said of all of it
            blocks = each_block(data, file_options.format(schema, names), lambda block: answered(block, None)[0])
            _write(blocks, out)
        else:
            table = read(data, schema, file_options, names, label=label.name)
            truth = take_label(table, label, data)
            columns, said = answered(table, truth)
            _write([columns], out)
    output.note(guarantee(model.statement_))
    if truth is not None:
        output.note(f"{said[0]} on {truth.size} records of {data}. {HELD_BACK}")
        for line in said[1:]:
            output.note(line)


def _refuse_others(model: Classifier | Regressor, path: Path, *, proba: bool, intervals: bool) -> None:
    kind = type(model).__name__
    if proba and isinstance(model, Regressor):
        raise ValueError("--proba: the model predicts numbers; only classes have shares")
    if proba and not hasattr(model, "predict_proba"):
        raise ValueError(f"--proba: {path} is of a {kind}, which gives scores only")
    if intervals and not hasattr(model, "predict_interval"):
        raise ValueError(f"--intervals: {path} is of a {kind}, which has none; private-boost-regressor has")


def _classes_of(
    model: Classifier, table: Columns, truth: Strings | FloatArray | None, proba: bool
) -> tuple[dict[str, list[str]], list[str]]:
    """Columns of the file, and how good they are in words."""
    known = None if truth is None else known_classes(cast("Strings", truth), model)
    scores = model.decision_function(table)
    predicted = model.predict(table).astype(np.str_)
    columns = {"prediction": cast("list[str]", predicted.tolist()), **_scored(scores, model)}
    if proba:
        shares = cast("Any", model).predict_proba(table)
        columns |= {f"share {name}": _numbers(shares[:, k]) for k, name in enumerate(model.classes_)}
    if known is None:
        return columns, []
    said = [f"accuracy {np.mean(predicted == known):.4f}", _larger_class(known)]
    return columns, [*said, *([_area(scores, known == str(model.classes_[1]))] if scores.ndim == 1 else [])]


def _larger_class(known: Strings) -> str:
    """What the accuracy is to be compared with."""
    names, counts = np.unique(known, return_counts=True)
    most = int(np.argmax(counts))
    return f"for comparison: {names[most]!s} for every record would be right on {counts[most] / known.size:.4f} of them"


def _area(scores: FloatArray, positive: Values) -> str:
    """The area under the curve of a score, where there are records of both classes."""
    if bool(positive.all()) or not bool(positive.any()):
        return "no AUC, as all records are of one class"
    from sklearn.metrics import roc_auc_score

    return f"AUC {roc_auc_score(positive, scores):.4f}"


def _numbers_of(
    model: Regressor, table: Columns, truth: Strings | FloatArray | None, coverage: float | None
) -> tuple[dict[str, list[str]], list[str]]:
    """Columns of the file, and how good they are in words."""
    known = cast("FloatArray | None", truth)
    predicted = model.predict(table)
    columns = {"prediction": _numbers(predicted)}
    ends = None
    if coverage is not None:
        ends = cast("PrivateBoostRegressor", model).predict_interval(table, coverage)
        columns |= {"lower": _numbers(ends[:, 0]), "upper": _numbers(ends[:, 1])}
    if known is None:
        return columns, []
    variance = float(np.var(known))
    said = [f"R² {1.0 - float(np.mean((predicted - known) ** 2)) / variance:.4f}"] if variance > 0.0 else []
    said.append(f"mean absolute error {np.mean(np.abs(predicted - known)):.6g}")
    alone = np.mean(np.abs(known - np.median(known)))
    said.append(f"for comparison: their median for every record would have a mean absolute error of {alone:.6g}")
    if ends is not None:
        inside = np.mean((ends[:, 0] <= known) & (known <= ends[:, 1]))
        said.append(f"{inside:.1%} lie within their intervals, which were to hold {coverage:.0%}")
    return columns, said


def predictor(path: Path) -> Classifier | Regressor:
    """Whatever learner saved the model, if it reads tables by a schema. Raises ValueError."""
    model: PrivateEstimator[Any, Any] = PrivateEstimator.load(path)
    if isinstance(model, RadoRelease):
        raise ValueError("these are rados, and no model; learn one from them with `exchequer rados fit`")
    if getattr(model.model_, "schema", None) is None:
        raise ValueError(f"a {type(model).__name__} without a schema reads no files; load it in Python")
    return cast("Classifier | Regressor", model)  # or what predicts in the same way


def _scored(scores: FloatArray, model: Classifier) -> dict[str, list[str]]:
    """One column of scores, or one for each of three classes or more."""
    if scores.ndim == 1:
        return {"score": _numbers(scores)}
    return {f"score {name}": _numbers(scores[:, k]) for k, name in enumerate(model.classes_)}


def known_classes(y: Strings, model: Classifier) -> Strings:
    """The labels. Raises ValueError for one that is none of the model's classes."""
    names = [str(name) for name in model.classes_]
    strange = np.flatnonzero(~np.isin(y, names))
    if strange.size:
        listed = f"neither {names[0]!r} nor {names[1]!r}" if len(names) == 2 else f"none of {names}"
        raise ValueError(f"the label {str(y[strange[0]])!r} is {listed}")
    return y


def guarantee(statement: Statement) -> str:
    """The model's promise in one line."""
    return f"{statement.heading}: {statement.guarantee}"


def _numbers(values: Values) -> list[str]:
    """Each as the shortest text that is read as the same double."""
    return list(map(repr, np.asarray(values, dtype=np.float64).tolist()))


def _write(blocks: Iterable[dict[str, list[str]]], out: Path | None) -> None:
    """All of it, or nothing where a block is refused."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for number, columns in enumerate(blocks):
        if not number:
            writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    if out is None:
        click.echo(text.getvalue(), nl=False)
    else:
        out.write_text(text.getvalue(), encoding="utf-8")
