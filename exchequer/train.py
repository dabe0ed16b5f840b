"""`exchequer train` and `exchequer predict`: CSV file in, model or predictions out."""

import csv
import io
from pathlib import Path

import attrs
import click
import numpy as np
import numpy.typing as npt

from accountant import Statement
from exchequer import show
from exchequer.bad_input import about
from learners import EncodedSample, Label, Layout, LazyBoostClassifier, Schema, read_csv
from learners.labels import signs
from learners.schema import Values
from learners.tables import Strings, encode


@attrs.frozen
class Budgeted:
    """What `train` hands to the estimator, which checks it. seed: None draws secure noise."""

    epsilon: float
    delta: float
    rounds: int
    learning_rate: float
    density: float
    seed: int | None


def refuse_overwriting(out: Path, force: bool) -> None:
    """Raise where `out` cannot be written, before anything is read or charged."""
    if out.exists() and not force:
        raise FileExistsError(f"--out: {out} exists already; give another name, or --force to replace it")
    if not out.absolute().parent.is_dir():
        raise FileNotFoundError(f"--out: there is no folder {out.absolute().parent}")


def label_of(schema: Schema, where: Path) -> Label:
    """The schema's label. Raises ValueError where it names none."""
    if schema.label is None:
        raise ValueError(f'{where}: the schema names no label; add [label], name = "..." and classes = ["no", "yes"]')
    return schema.label


def read(path: Path, names: list[str] | None) -> dict[str, Strings]:
    """The file's columns. names: the columns of a file without a header line."""
    with about(path):
        return read_csv(path, names=names)


def take_label(table: dict[str, Strings], label: Label, path: Path) -> Strings:
    """Remove the label column from the table and return it. Raises ValueError where it is missing."""
    if label.name not in table:
        raise ValueError(f"{path}: no column {label.name!r} for the label; its columns are {list(table)}")
    return table.pop(label.name)


def train(data: Path, schema_path: Path, out: Path, budget: Budgeted, *, header: bool, force: bool) -> None:
    """Fit on a CSV file, save the model with its statement, and print both."""
    refuse_overwriting(out, force)
    with about(schema_path):
        schema = Schema.from_toml(schema_path)
    label = label_of(schema, schema_path)
    table = read(data, None if header else [*schema.names, label.name])
    y = take_label(table, label, data)
    refuse_loose_delta(budget.delta, y.size)
    with about(data):
        sample = EncodedSample(Layout(schema), encode(table, schema), signs(y, label.classes))
    model = _fit(sample, budget)
    model.save(out)
    # The accuracy on these records is not printed: it is computed from them, and nobody paid for its release.
    show.paragraph(f"Trained on {y.size} records of {data}; the number of records is public")
    show.vote_table(model)
    show.statement(model.statement_)
    show.paragraph(f"\nSaved to {out}, statement included.")


def refuse_loose_delta(delta: float, n: int) -> None:
    """At delta >= 1/n, publishing one whole record at random would count as private."""
    if n and not delta < 1.0 / n:
        raise ValueError(f"delta: {delta!r} is not below 1/n = {1.0 / n:.3g}, so it promises nothing; use far less")


def _fit(sample: EncodedSample, budget: Budgeted) -> LazyBoostClassifier:
    settings = attrs.asdict(budget)
    model = LazyBoostClassifier(random_state=settings.pop("seed"), **settings)
    try:
        with show.rounds_bar(budget.rounds) as on_round:
            return model.fit_encoded(sample, on_round=on_round)
    except ArithmeticError as error:
        raise ValueError(f"epsilon: no noise goes with {budget.epsilon!r}: {error}") from error


def predict(
    data: Path, model_path: Path, out: Path | None, *, header: bool, force: bool, proba: bool, score: bool
) -> None:
    """Write a CSV of predictions; the model's guarantee, and the accuracy if asked, go to standard error."""
    if out is not None:
        refuse_overwriting(out, force)
    with about(model_path):
        model = LazyBoostClassifier.load(model_path)
    schema = model.model_.schema
    label = label_of(schema, model_path) if score else None
    table = read(data, None if header else [*schema.names, *([label.name] if label else [])])
    with about(data):
        truth = None if label is None else is_positive(take_label(table, label, data), model)
        margins = model.decision_function(table)
    said = margins > 0.0
    columns = {"prediction": [str(name) for name in model.classes_[said.astype(np.intp)]], "score": _numbers(margins)}
    if proba:
        shares = model.predict_proba(table)
        columns |= {f"share {name}": _numbers(shares[:, k]) for k, name in enumerate(model.classes_)}
    _write(columns, out)
    show.note(guarantee(model.statement_))
    if truth is not None:
        show.note(
            f"accuracy {np.mean(said == truth):.4f} on {truth.size} records of {data}. These should not be the "
            "training records: their accuracy would be a release that nobody paid for."
        )


def is_positive(y: Strings, model: LazyBoostClassifier) -> npt.NDArray[np.bool_]:
    """Which labels are the positive class, shape (n,). Raises ValueError for a label of neither class."""
    negative, positive = (str(name) for name in model.classes_)
    strange = np.flatnonzero((y != negative) & (y != positive))
    if strange.size:
        raise ValueError(f"the label {str(y[strange[0]])!r} is neither {negative!r} nor {positive!r}")
    return np.asarray(y == positive)


def guarantee(books: Statement) -> str:
    """The model's promise in one line."""
    return f"{books.heading}: {books.guarantee}"


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
