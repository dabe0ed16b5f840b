"""`exchequer train`: a table in, a private model out."""

import inspect
import math
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import attrs
import click

from accountant import AddRemoveOne, AdjacencyMismatch, BasicComposition, BudgetExceeded
from accountant.costs import positive, probability_below_one
from accountant.renamed import old_names
from exchequer.commands.training_input import labelled_database, labelled_file, numbers_of, read_all
from exchequer.console.input_errors import about, checked, refuse_overwriting, refuse_replacing
from exchequer.console.table_databases import DatabaseTable, Source, failing
from exchequer.console.table_files import TableFile, TableFileOptions
from exchequer.trainable import (
    DEFAULT,
    DEFAULT_FOR_NUMBERS,
    LEARNERS,
    Setting,
    TrainableLearner,
    as_parameters,
)
from learners.tables import Schema, encode, label_texts

if TYPE_CHECKING:
    from exchequer.commands.ledgers.paying_ledger import PayingLedger
    from learners.base import PrivateEstimator

OWN_OPTIONS: Final = {
    "epsilon": "--epsilon",
    "delta": "--delta",
    "random_state": "--seed",
    "ledger": "--ledger",
    "tune": "--tune",
    "schema": "the schema",
    "classes": "the schema's label",
    "label_bounds": "the schema's label",
}
"""Parameters that have a place of their own, which --set does not take."""


@attrs.frozen
class TrainingRequest:
    """What `train` was asked for. options: of the learner, which checks them.  seed: None draws secure noise.

    learner: None for the one that is recommended for such a label.  delta: None for the learner's own.
    payer: the durable ledger that pays; None opens one in memory.
    parameters: further ones of the learner, by their names in Python.  tune: a TOML file of settings.
    fetch: whether records leave a database also where the learner trains there.
    """

    learner: TrainableLearner | None
    epsilon: float
    delta: float | None
    options: Mapping[str, Setting]
    seed: int | None
    payer: "PayingLedger | None" = None
    parameters: Mapping[str, object] = attrs.field(factory=dict)
    tune: Path | None = None
    fetch: bool = False


def train(
    data: Source,
    schema_path: Path,
    out: Path,
    order: TrainingRequest,
    *,
    header: bool,
    force: bool,
    file_options: TableFileOptions = TableFileOptions(),  # noqa: B008  # frozen
) -> None:
    """Fit on a file or on a table in a database, save the model with its statement, and print both."""
    refuse_overwriting(out, force)
    refuse_replacing(
        out, *([data] if isinstance(data, Path) else []), schema_path, *([] if order.tune is None else [order.tune])
    )
    if order.fetch and isinstance(data, Path):
        raise click.UsageError("--fetch is for tables in databases; a file is read by this program in any case")
    checked("epsilon", positive, order.epsilon)
    checked("delta", probability_below_one, order.delta or 0.0)
    schema, file = (
        labelled_file(data, schema_path, file_options, header=header)
        if isinstance(data, Path)
        else labelled_database(data, schema_path, file_options, header=header)
    )
    learner = _learner(order, schema)
    delta = learner.delta if order.delta is None else order.delta
    if isinstance(file, TableFile):
        _refuse_bad_values(file, schema, delta)
    from exchequer.commands.ledgers.paying_ledger import paying
    from exchequer.console import output

    arguments = _arguments(order, learner, schema)
    with paying(order.payer) as ledger:
        model = learner.build(
            epsilon=order.epsilon, delta=delta, random_state=order.seed, schema=schema, ledger=ledger, **arguments
        )
        with _what_fits():
            n = _fit(model, file, schema, order, learner)
    save(model, out)
    # The accuracy on these records is not printed: it is computed from them, and nobody paid for its release.
    if model.statement_.adjacency == AddRemoveOne.name:
        output.paragraph(f"Trained on {_shown(file)}; how many records it holds is private, and not printed.")
    else:
        output.paragraph(f"Trained on {n} records of {_shown(file)}; the number of records is public")
    if tuned := getattr(model, "tuned_", None):
        output.paragraph(f"Chosen among the settings of {order.tune}: {tuned}.")
    output.model(model)
    output.short_statement(model.statement_)
    if order.payer is not None:
        order.payer.receipted(model)
    output.paragraph(f"\nSaved to {out}, statement included.")


def _shown(file: TableFile | DatabaseTable) -> str:
    return file.shown if isinstance(file, DatabaseTable) else str(file.path)


@contextmanager
def _what_fits() -> Iterator[None]:
    """Say which epsilon a ledger would still pay, where its rule adds them up."""
    try:
        yield
    except BudgetExceeded as error:
        left, enough = error.remaining, error.requested.delta <= error.remaining.delta
        epsilon = math.floor(float(left.loss) * 1e4) / 1e4
        if error.rule.name != BasicComposition().name or not enough or not epsilon > 0.0:
            raise
        raise ValueError(f"--ledger: {error}; --epsilon {epsilon:g} would fit") from error


def _learner(order: TrainingRequest, schema: Schema) -> TrainableLearner:
    """The one that was asked for, or the one that is recommended. Raises UsageError for another kind of label."""
    numbers = schema.number_label is not None
    name = next((key for key, each in LEARNERS.items() if each == order.learner), "")
    if order.learner is None:
        name = DEFAULT_FOR_NUMBERS if numbers else DEFAULT
        LEARNERS[name].refuse_others(name, order.options)
        return LEARNERS[name]
    if order.learner.numbers != numbers:
        has, takes = ("bounds", "classes") if numbers else ("classes", "numbers with bounds")
        fit = [key for key, each in LEARNERS.items() if each.numbers == numbers]
        raise click.UsageError(f"--learner {name} learns {takes}, and the label has {has}; try {' or '.join(fit)}")
    return order.learner


def _refuse_bad_values(file: TableFile, schema: Schema, delta: float) -> None:
    """Before anything heavy is imported; of a larger file a fit finds them as it encodes it."""
    if isinstance(file.path, Path) and file.path.stat().st_size <= QUICKLY_CHECKED:
        table = read_all(file, schema)
        with about(file.path):
            if schema.number_label is not None:
                numbers_of(table[file.label], file.label)
            n = encode(table, schema).shape[1]
        refuse_loose_delta(delta, n)


QUICKLY_CHECKED: Final = 500_000
"""Bytes of a file that is read and encoded within a tenth of a second, so that it does not matter that this is done
twice."""


def _arguments(order: TrainingRequest, learner: TrainableLearner, schema: Schema) -> dict[str, object]:
    """What the learner is built with, apart from what all take. Raises ValueError naming an option it lacks."""
    given = as_parameters(order.options)
    known = set(inspect.signature(learner.kind).parameters)
    for name in order.parameters:
        if name in OWN_OPTIONS or name in given:
            raise ValueError(f"--set {name}: it is given by {OWN_OPTIONS.get(name, 'an option of its own')}")
        if name not in known:
            own = ", ".join(sorted(known - set(OWN_OPTIONS)))
            raise ValueError(f"--set {name}: {learner.estimator} has no such parameter; it has {own}")
    tuned: dict[str, object] = {}
    if order.tune is not None:
        if "tune" not in known:
            able = [key for key, each in LEARNERS.items() if "tune" in inspect.signature(each.kind).parameters]
            raise ValueError(f"--tune: {learner.estimator} has no private tuning; try --learner {' or '.join(able)}")
        settings = settings_of(order.tune)
        _refuse_strangers(order.tune, settings, learner, known - set(OWN_OPTIONS))
        tuned["tune"] = settings
    bounds = {"label_bounds": schema.number_label.bounds} if schema.number_label is not None else {}
    return {**given, **order.parameters, **tuned, **bounds}


def _refuse_strangers(
    path: Path, settings: list[dict[str, object]], learner: TrainableLearner, known: set[str]
) -> None:
    """Raise ValueError naming all parameters in the settings that the learner lacks."""
    strange = [
        f"{name!r} in setting {place}" for place, each in enumerate(settings, 1) for name in each if name not in known
    ]
    if strange:
        own = ", ".join(sorted(known))
        raise ValueError(f"--tune: {path}: {', '.join(strange)}: {learner.estimator} takes {own}")


def settings_of(path: Path) -> list[dict[str, object]]:
    """The settings in a TOML file, one [[settings]] table each. Raises ValueError."""
    with about(path), path.open("rb") as file:
        found = tomllib.load(file).get("settings")
    if not isinstance(found, list) or not found or not all(isinstance(each, dict) for each in found):
        raise ValueError(
            f"{path}: expected a [[settings]] table for each setting, with the learner's parameters by their names in "
            "Python, such as rounds_per_column = 4"
        )
    return cast("list[dict[str, object]]", found)


def save(model: "PrivateEstimator[Any, Any]", out: Path) -> None:
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


def _fit(
    model: "PrivateEstimator[Any, Any]",
    file: TableFile | DatabaseTable,
    schema: Schema,
    order: TrainingRequest,
    learner: TrainableLearner,
) -> int:
    """The number of records, which may be private."""
    from exchequer.console import output
    from learners.base import PrivateClassifier

    steps = model.get_params().get(learner.steps) if learner.steps else None
    model._parameters()  # what is wrong with these is not wrong with the file
    try:
        if isinstance(file, DatabaseTable):
            return _fit_in_database(model, file, learner, steps, order.fetch)
        if isinstance(model, PrivateClassifier):
            with about(file.path):
                sample = file.encoded(model)
            refuse_loose_delta(model.delta, sample.n)
            with output.rounds_bar(steps) as on_round:
                model.fit_encoded(sample, on_round=on_round)
            return sample.n
        table = read_all(file, schema)
        with about(file.path):
            column = table.pop(file.label)
            y = label_texts(column) if schema.number_label is None else numbers_of(column, file.label)
        refuse_loose_delta(model.delta, y.size)
        with output.rounds_bar(steps) as on_round:
            model.fit(table, y, on_round=on_round)
        return y.size
    except AdjacencyMismatch as error:
        wanted = "" if error.proved_for is None else error.proved_for.name
        raise ValueError(
            f"--ledger: {error}; nothing was charged. Open another one with `exchequer ledger open LEDGER --adjacency "
            f"{wanted}`{_or_other_relation(learner)}"
        ) from error
    except ArithmeticError as error:
        raise ValueError(f"epsilon: no noise can be calibrated to {order.epsilon!r}: {error}") from error


def _fit_in_database(
    model: "PrivateEstimator[Any, Any]", file: DatabaseTable, learner: TrainableLearner, steps: int | None, fetch: bool
) -> int:
    """The number of records, counted before the fit."""
    from exchequer.console import output
    from learners.databases import FETCH, NotInSql

    if not model.takes_blocks:
        able = [name for name, each in LEARNERS.items() if each.kind.takes_blocks]
        raise ValueError(f"{learner.estimator} reads files only; of tables in databases {', '.join(able)} do")
    with about(file.shown), failing():
        table = file.opened("stay" if model.trains_in_databases and not fetch else "fetched")
        n = table.n
        refuse_loose_delta(model.delta, n)
        fit: Any = model.fit
        with output.rounds_bar(steps) as on_round:
            try:
                fit(table, None, on_round=on_round)
            except NotInSql as error:
                raise NotInSql(str(error).replace(FETCH, "--fetch takes the records out in blocks")) from None
    return n


def _or_other_relation(learner: TrainableLearner) -> str:
    return ", or train with another --adjacency" if "adjacency" in learner.defaults else ""


if not TYPE_CHECKING:
    __getattr__ = old_names(__name__)
