"""`exchequer predict`: predictions for a table, and how good they are where the truth is known."""

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias, cast

import attrs
import click
import numpy as np

from accountant import Statement
from accountant.arrays import FloatArray
from exchequer.commands import predict_in_database as predictions
from exchequer.commands.training_input import label_of, read, take_label
from exchequer.console import output
from exchequer.console.input_errors import about, refuse_overwriting, refuse_replacing
from exchequer.console.table_databases import Source, TableAddress
from exchequer.console.table_files import Columns, TableFileOptions, each_block, refuse_file_options
from learners import PrivateBoostRegressor, RadoRelease, RandomFeatureRegressor
from learners.base import PrivateClassifier, PrivateEstimator
from learners.tables import Strings, Values

Classifier: TypeAlias = PrivateClassifier[Any]
"""Whatever the file or the option names."""

Regressor: TypeAlias = RandomFeatureRegressor | PrivateBoostRegressor
"""What predicts numbers."""

HELD_BACK = "These should not be the training records: their accuracy would be a release that nobody paid for."


@attrs.frozen
class PredictionRequest:
    """What `predict` was asked for.

    proba: whether shares come out.  score: whether answers are compared with the label.  intervals: their coverage, in
    (0, 1); None for none.  keys: columns of the table that come first.
    into: the new table of the database that answers go to; None for a CSV.  keep_refused: whether a record of a
    database that the model refuses has no answer, where it is an error else.
    """

    proba: bool = False
    score: bool = False
    intervals: float | None = None
    keys: tuple[str, ...] = ()
    into: str | None = None
    keep_refused: bool = False


def predict(
    data: Source,
    model_path: Path,
    out: Path | None,
    order: PredictionRequest,
    *,
    header: bool,
    force: bool,
    file_options: TableFileOptions = TableFileOptions(),  # noqa: B008  # frozen
) -> None:
    """Write a CSV of predictions; the model's guarantee, and how good they are if asked, go to standard error."""
    if out is not None:
        refuse_overwriting(out, force)
        refuse_replacing(out, *([data] if isinstance(data, Path) else []), model_path)
    refuse_file_options(data, file_options, header)
    _refuse_options(data, out, order)
    with about(model_path):
        model = predictor(model_path)
    _refuse_others(model, model_path, order)
    if order.into is not None:
        assert isinstance(data, TableAddress)
        with about(data):
            written = predictions.write(model, data, order.into, order.keys, keep_refused=order.keep_refused)
        output.note(guarantee(model.statement_))
        output.note(f"{written} records are answered in the table {order.into}")
        return
    schema = cast("Any", model).model_.schema
    label = label_of(schema, model_path) if order.score else None
    names = None if header else [*schema.names, *([label.name] if label else [])]
    with about(data):
        if label is not None:
            table = read(data, schema, file_options, names, others=[label.name, *order.keys])
            truth = take_label(table, label, data)
            columns, said = _answered(model, table, truth, order)
            _write([columns], out)
            said = [f"{said[0]} on {truth.size} records of {data}. {HELD_BACK}", *said[1:]]
        else:  # a block at a time, as nothing is said of all of it
            blocks, said = None, list[str]()
            if isinstance(data, TableAddress) and order.intervals is None:
                refused = order.keep_refused
                blocks = predictions.inside(model, data, order.keys, proba=order.proba, keep_refused=refused)
            if blocks is None:
                wanted = [*schema.names, *order.keys]
                format = file_options.format(schema, names)
                blocks = each_block(data, format, lambda block: _answered(model, block, None, order)[0], wanted)
            _write(blocks, out)
    output.note(guarantee(model.statement_))
    if isinstance(data, TableAddress) and not order.keys:
        output.note("a database promises no order: --key COLUMN says which record each line is about")
    for line in said:
        output.note(line)


def _answered(
    model: Classifier | Regressor, table: Columns, truth: Strings | FloatArray | None, order: PredictionRequest
) -> tuple[dict[str, list[str]], list[str]]:
    """Columns of the CSV, and how good they are in words."""
    if strange := [name for name in order.keys if name not in table]:
        raise ValueError(f"--key: no columns {strange}; its columns are {list(table)}")
    columns, said = (
        _numbers_of(model, table, truth, order.intervals)
        if isinstance(model, Regressor)
        else _classes_of(model, table, truth, order.proba)
    )
    return predictions.beside({name: predictions.texts(table[name]) for name in order.keys}, columns), said


def _refuse_options(data: Source, out: Path | None, order: PredictionRequest) -> None:
    """Raise ValueError for options that do not go together."""
    if order.into is not None and not isinstance(data, TableAddress):
        raise ValueError("--into: a new table beside DATA, which must be the address of a table in a database")
    if order.into is not None and (out is not None or order.score or order.intervals is not None):
        raise ValueError("--into: answers stay in the database; leave out --out, --score and --intervals")
    if order.keep_refused and (not isinstance(data, TableAddress) or order.score or order.intervals is not None):
        raise ValueError("--keep-refused: only where the database answers: for the address of a table in a database")


def _refuse_others(model: Classifier | Regressor, path: Path, order: PredictionRequest) -> None:
    proba, intervals = order.proba, order.intervals is not None
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
