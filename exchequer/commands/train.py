"""`exchequer train` and `exchequer predict`: CSV file in, model or predictions out."""

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias, cast

import attrs
import click
import numpy as np

from accountant import AddRemoveOne, AdjacencyMismatch, Statement
from exchequer.commands.ledgers.paying_ledger import PayingLedger, paying
from exchequer.console import output
from exchequer.console.input_errors import about, refuse_overwriting
from exchequer.console.table_files import Columns, TableFile, TableFileOptions, open_table
from exchequer.trainable import Setting, TrainableLearner
from learners import EncodedSample, Label, PrivateBoostRegressor, RadoRelease, RandomFeatureRegressor, Schema
from learners.base import PrivateClassifier, PrivateEstimator
from learners.tables import Strings, Values, label_texts

Classifier: TypeAlias = PrivateClassifier[Any]
"""Whatever the file or the option names."""

Regressor: TypeAlias = RandomFeatureRegressor | PrivateBoostRegressor
"""What predicts numbers."""


@attrs.frozen
class TrainingRequest:
    """What `train` was asked for. options: of the learner, which checks them.  seed: None draws secure noise.

    payer: the durable ledger that pays; None opens one in memory.
    """

    learner: TrainableLearner
    epsilon: float
    delta: float
    options: Mapping[str, Setting]
    seed: int | None
    payer: PayingLedger | None = None


def label_of(schema: Schema, where: Path) -> Label:
    """The schema's label. Raises ValueError where it names none."""
    if schema.label is None:
        raise ValueError(f'{where}: the schema names no label; add [label], name = "..." and classes = ["no", "yes"]')
    return schema.label


def read(path: Path, schema: Schema, options: TableFileOptions, names: list[str] | None, *, label: str = "") -> Columns:
    """The file's columns. names: the columns of a file without a header line, in order."""
    with about(path):
        return open_table(path, options.format(schema, names), [*schema.names, label])


def take_label(table: Columns, label: Label, path: Path) -> Strings:
    """Remove the label column from the table and return it. Raises ValueError where it is missing."""
    if label.name not in table:
        raise ValueError(f"{path}: no column {label.name!r} for the label; its columns are {list(table)}")
    return label_texts(table.pop(label.name))


def labelled_file(
    data: Path, schema_path: Path, options: TableFileOptions, *, header: bool
) -> tuple[Schema, Label, TableFile]:
    """A schema, its label and the file, not read yet. Raises ValueError where one is missing."""
    with about(schema_path):
        schema = Schema.from_toml(schema_path)
    label = label_of(schema, schema_path)
    names = None if header else [*schema.names, label.name]
    return (
        schema,
        label,
        TableFile(data, options.format(schema, names), label.name),
    )


def labelled_table(
    data: Path, schema_path: Path, options: TableFileOptions, *, header: bool
) -> tuple[Schema, Columns, Strings]:
    """A schema, the file's columns without the label, and the label. Raises ValueError where one is missing."""
    schema, label, file = labelled_file(data, schema_path, options, header=header)
    with about(data):
        table = open_table(data, file.format, [*schema.names, label.name])
    return schema, table, take_label(table, label, data)


def train(
    data: Path,
    schema_path: Path,
    out: Path,
    order: TrainingRequest,
    *,
    header: bool,
    force: bool,
    file_options: TableFileOptions = TableFileOptions(),  # noqa: B008  # frozen
) -> None:
    """Fit on a file, save the model with its statement, and print both."""
    refuse_overwriting(out, force)
    schema, _, file = labelled_file(data, schema_path, file_options, header=header)
    with paying(order.payer) as ledger:
        model = order.learner.build(
            epsilon=order.epsilon,
            delta=order.delta,
            random_state=order.seed,
            schema=schema,
            ledger=ledger,
            **order.options,
        )
        with about(data):
            sample = file.encoded(model)
        refuse_loose_delta(order.delta, sample.n)
        _fit(model, sample, order)
    save(model, out)
    # The accuracy on these records is not printed: it is computed from them, and nobody paid for its release.
    if model.statement_.adjacency == AddRemoveOne.name:
        output.paragraph(f"Trained on {data}; how many records it holds is private, and not printed.")
    else:
        output.paragraph(f"Trained on {sample.n} records of {data}; the number of records is public")
    output.model(model)
    output.statement(model.statement_)
    if order.payer is not None:
        order.payer.receipted(model)
    output.paragraph(f"\nSaved to {out}, statement included.")


def save(model: PrivateEstimator[Any, Any], out: Path) -> None:
    """Save it. Raises OSError, which says what was charged all the same."""
    try:
        model.save(out)
    except OSError as error:
        spent = "; what it cost is charged all the same" if model.receipts_ else ""
        raise OSError(f"--out: the model could not be saved: {error}{spent}") from error


def refuse_loose_delta(delta: float, n: int) -> None:
    """At delta >= 1/n, publishing one whole record at random would count as private. Errors are for the curator."""
    if n and not delta < 1.0 / n:
        raise ValueError(f"delta: {delta!r} is not below 1/n = {1.0 / n:.3g}, so it promises nothing; use far less")


def _fit(model: Classifier, sample: EncodedSample, order: TrainingRequest) -> None:
    try:
        with output.rounds_bar(
            model.get_params().get(order.learner.steps) if order.learner.steps else None
        ) as on_round:
            model.fit_encoded(sample, on_round=on_round)
    except AdjacencyMismatch as error:
        wanted = "" if error.proved_for is None else error.proved_for.name
        raise ValueError(
            f"--ledger: {error}; nothing was charged. Open another one with `exchequer ledger open LEDGER --adjacency "
            f"{wanted}`{_or_other_relation(order)}"
        ) from error
    except ArithmeticError as error:
        raise ValueError(f"epsilon: no noise goes with {order.epsilon!r}: {error}") from error


def _or_other_relation(order: TrainingRequest) -> str:
    return ", or train with another --adjacency" if "adjacency" in order.learner.defaults else ""


def predict(
    data: Path,
    model_path: Path,
    out: Path | None,
    *,
    header: bool,
    force: bool,
    proba: bool,
    score: bool,
    file_options: TableFileOptions = TableFileOptions(),  # noqa: B008  # frozen
) -> None:
    """Write a CSV of predictions; the model's guarantee, and the accuracy if asked, go to standard error."""
    if out is not None:
        refuse_overwriting(out, force)
    with about(model_path):
        model = predictor(model_path)
    if isinstance(model, Regressor):
        refused = {"--proba": proba, "--score": score}
        _predict_numbers(model, data, out, file_options, header=header, refused=refused)
        return
    if proba and not hasattr(model, "predict_proba"):
        raise ValueError(f"--proba: {model_path} is of a {type(model).__name__}, which gives scores only")
    schema = model.model_.schema
    label = label_of(schema, model_path) if score else None
    names = None if header else [*schema.names, *([label.name] if label else [])]
    table = read(data, schema, file_options, names, label=label.name if label else "")
    with about(data):
        truth = None if label is None else known_classes(take_label(table, label, data), model)
        said, columns = model.predict(table).astype(np.str_), _scored(model, table)
    if proba:
        shares = model.predict_proba(table)
        columns |= {f"share {name}": _numbers(shares[:, k]) for k, name in enumerate(model.classes_)}
    _write({"prediction": said.tolist(), **columns}, out)
    output.note(guarantee(model.statement_))
    if truth is not None:
        output.note(
            f"accuracy {np.mean(said == truth):.4f} on {truth.size} records of {data}. These should not be the "
            "training records: their accuracy would be a release that nobody paid for."
        )


def _predict_numbers(
    model: Regressor,
    data: Path,
    out: Path | None,
    options: TableFileOptions,
    *,
    header: bool,
    refused: Mapping[str, bool],
) -> None:
    """The same for a regression: one number per record. Raises ValueError for options that are about classes."""
    if wrong := [name for name, given in refused.items() if given]:
        raise ValueError(f"{', '.join(wrong)}: the model predicts numbers; only classes have shares and an accuracy")
    schema = cast("Schema", model.model_.schema)  # there is one, as `predictor` says
    table = read(data, schema, options, None if header else schema.names)
    with about(data):
        predicted = model.predict(table)
    _write({"prediction": _numbers(predicted)}, out)
    output.note(guarantee(model.statement_))


def predictor(path: Path) -> Classifier | Regressor:
    """Whatever learner saved the model, if it reads tables by a schema. Raises ValueError."""
    model: PrivateEstimator[Any, Any] = PrivateEstimator.load(path)
    if isinstance(model, RadoRelease):
        raise ValueError("these are rados, and no model; learn one from them with `exchequer rados fit`")
    if getattr(model.model_, "schema", None) is None:
        raise ValueError(f"a {type(model).__name__} without a schema reads no files; load it in Python")
    return cast("Classifier | Regressor", model)  # or what predicts in the same way


def _scored(model: Classifier, table: Columns) -> dict[str, list[str]]:
    """One column of scores, or one for each of three classes or more."""
    scores = model.decision_function(table)
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
    return [f"{value:.6g}" for value in values.tolist()]


def _write(columns: dict[str, list[str]], out: Path | None) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    if out is None:
        click.echo(text.getvalue(), nl=False)
    else:
        out.write_text(text.getvalue(), encoding="utf-8")
