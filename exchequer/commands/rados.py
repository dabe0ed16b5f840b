"""`exchequer rados`: CSV file to rados, rados to model."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import attrs
import numpy as np

from accountant import Adjacency, AdjacencyMismatch
from exchequer.commands.ledgers.paying_ledger import PayingLedger, paying
from exchequer.commands.train import refuse_loose_delta, save
from exchequer.commands.training_input import labelled_table
from exchequer.console import output
from exchequer.console.input_errors import about, refuse_overwriting, refuse_replacing
from exchequer.console.table_databases import Source
from exchequer.console.table_files import TableFileOptions
from learners import RadoBoostClassifier, RadoRelease
from learners.rados import OracleName, Protection

MOST_FEATURES = 12
"""Features of a model that are printed; the file holds them all."""


@attrs.frozen
class RadoRequest:
    """What `release` was asked for. options: of `RadoRelease`, which checks them.  seed: None draws secure noise.

    payer: the durable ledger that pays; None opens one in memory.
    """

    protection: str | None
    epsilon: float
    delta: float
    options: Mapping[str, object]
    seed: int | None
    payer: PayingLedger | None = None


def release(
    data: Source,
    schema_path: Path,
    out: Path,
    order: RadoRequest,
    *,
    header: bool,
    force: bool,
    file_options: TableFileOptions = TableFileOptions(),  # noqa: B008  # frozen
) -> None:
    """Release rados of a file, save them with their statement, and print that."""
    refuse_overwriting(out, force)
    refuse_replacing(out, *([data] if isinstance(data, Path) else []), schema_path)
    schema, table, y = labelled_table(data, schema_path, file_options, header=header)
    if schema.label is None:
        raise ValueError(f"{schema_path}: rados are of classes, and the label has bounds")
    if order.protection is not None:
        refuse_loose_delta(order.delta, y.size)
    with paying(order.payer) as ledger:
        holder = RadoRelease(
            cast("Protection", order.protection),
            order.epsilon,
            order.delta,
            schema=schema,
            ledger=ledger,
            random_state=order.seed,
            **cast("dict[str, Any]", dict(order.options)),
        )
        holder._parameters()  # what is wrong with these is not wrong with the file
        with about(data):
            sample = holder.encoded(table, y)
        try:
            holder.fit_encoded(sample)
        except AdjacencyMismatch as error:
            raise ValueError(
                f"--ledger: {error}; nothing was charged. Open another one with `exchequer ledger open LEDGER "
                f"--adjacency {_relation(error.proved_for)}`"
            ) from error
    save(holder, out)
    _print_release(holder)
    if order.payer is not None:
        order.payer.receipted(holder)
    output.paragraph(f"\nSaved to {out}, statement included.")


def _relation(relation: Adjacency | None) -> str:
    """As `exchequer ledger open` takes it."""
    if relation is None:
        return "RELATION"
    columns = getattr(relation, "columns", None) or getattr(relation, "column", None)
    if columns is None:
        return relation.name
    return f"{relation.name}:{','.join(map(str, columns)) if isinstance(columns, tuple) else columns}"


def show_release(file: Path) -> None:
    """What a file of rados says of itself."""
    with about(file):
        _print_release(RadoRelease.load(file))


def _print_release(holder: RadoRelease) -> None:
    rados = holder.rados_
    number, features = rados.vectors.shape
    output.title(f"{number} rados of {rados.records} records, {features} features")
    output.facts([("protected", rados.scope), ("features", ", ".join(rados.coding.feature_names))])
    output.statement(holder.statement_)


def oracle(text: str) -> OracleName:
    """ "strong", "median" or a number. Raises ValueError."""
    if text in ("strong", "median"):
        return cast("OracleName", text)
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"--oracle: {text!r} is none of strong, median and a number up to 1") from None


def fit(file: Path, out: Path, options: Mapping[str, object], *, force: bool) -> None:
    """Learn from a file of rados, save the model and print it."""
    refuse_overwriting(out, force)
    refuse_replacing(out, file)
    with about(file):
        holder = RadoRelease.load(file)
    model = RadoBoostClassifier(**cast("dict[str, Any]", dict(options))).fit_rados(holder)
    save(model, out)
    negative, positive = (str(name) for name in model.classes_)
    output.title(f"A linear classifier from {len(holder.rados_.vectors)} rados, after {model.rounds_} rounds")
    weights = model.model_.theta[: model.features_.size]
    weights = weights / (float(np.max(np.abs(weights))) or 1.0)
    order = np.argsort(-np.abs(weights), kind="stable")[:MOST_FEATURES]
    rows = [(f"{weights[each]:+.3f}", str(model.features_[each])) for each in order.tolist() if weights[each]]
    output.table(["weight", "feature, as it was scaled"], rows, numbers=["weight"])
    output.paragraph(f"Positive weights speak for {positive}, negative ones for {negative}.")
    output.statement(model.statement_)
    output.paragraph(f"\nSaved to {out}. It was learnt from the release with the digest {model.model_.rados}.")
