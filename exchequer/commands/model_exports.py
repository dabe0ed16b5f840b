"""`exchequer export`: a saved model as SQL, as ONNX, or as Python that needs nothing of ours.

Like `exchequer.cli`, this imports what the command does when it runs, and not before.
"""

from pathlib import Path
from typing import Final

import click

from exchequer.commands.ledgers import ledger_options
from exchequer.console.input_errors import about, refuse_overwriting, refuse_replacing

FILE, OUT = ledger_options.FILE, ledger_options.OUT

SQL: Final = ("duckdb", "postgresql", "sqlite")
"""Dialects, by the names that `learners.exports.DIALECTS` has."""


@click.command()
@click.argument("model", type=FILE)
@click.option("--sql", type=click.Choice(SQL), help="Write a SELECT in this dialect; needs --table.")
@click.option(
    "--table",
    help="With --sql: the table or view whose records are predicted, such as people or s.people; with duckdb "
    "also a file, such as people.csv.",
)
@click.option(
    "--key",
    "keys",
    multiple=True,
    metavar="COLUMN",
    help="With --sql: a column of the table to put before the predictions, such as its key; several times. Default: "
    "all columns that the model reads.",
)
@click.option("--out", type=OUT, help="With --sql: where the SQL goes. Default: standard output.")
@click.option("--onnx", type=OUT, help="Write the model for ONNX runtimes here. Needs pip install 'exchequer[onnx]'.")
@click.option("--python", type=OUT, help="Write a Python module with predict, scores and shares here.")
@click.option("--force", is_flag=True, help="Replace files that exist.")
def export(
    model: Path,
    sql: str | None,
    table: str | None,
    keys: tuple[str, ...],
    out: Path | None,
    onnx: Path | None,
    python: Path | None,
    force: bool,
) -> None:
    """Write a saved MODEL for where the data is: as SQL, as ONNX, or as Python without this package.

    Each gives what `exchequer predict` gives, and each record by itself: scores are the same to the last bit, shares
    but for the last digit. A record that `predict` refuses gets no prediction, and `refused` says which column is to
    blame. Columns of all kinds are exported; an ONNX graph takes dates as seconds since 1970. With duckdb a CSV file is
    read as the model's schema says it is written, header line or not. An export is made of what was released: it costs
    nothing more, and may be published like the model.

    \b
    Examples:
      exchequer export model.json --sql duckdb --table people --key id --out predict.sql
      exchequer export model.json --python model.py --onnx model.onnx
    """
    if sql is None and onnx is None and python is None:
        raise click.UsageError("give --sql, --onnx or --python")
    if sql is not None and table is None:
        raise click.UsageError(
            "--sql needs --table: the table or view whose records are predicted, such as --table people"
            + (", or a file, such as --table people.csv" if sql == "duckdb" else "")
        )
    if sql is None and table is not None:
        raise click.UsageError("--table is for --sql; say --sql duckdb, postgresql or sqlite")
    if sql is None and (out is not None or keys):
        raise click.UsageError("--out and --key are for --sql; --onnx and --python name their own files")
    written = dict[Path, str]()
    for option, file in (("--out", out), ("--onnx", onnx), ("--python", python)):
        if file is not None:
            refuse_overwriting(file, force, option)
            refuse_replacing(file, model, option=option)
            if other := written.get(file.resolve()):
                raise click.UsageError(f"{option} and {other} name the same file, {file}; give each its own")
            written[file.resolve()] = option
    texts, graph = _exported(model, sql, table, keys, onnx is not None, python is not None)
    for file, text in zip((out, python), texts, strict=True):
        if text is not None and file is not None:
            file.write_text(text, encoding="utf-8")
        elif text is not None:
            click.echo(text, nl=False)
    if onnx is not None:
        onnx.write_bytes(graph)


def _exported(
    path: Path, sql: str | None, table: str | None, keys: tuple[str, ...], onnx: bool, python: bool
) -> tuple[tuple[str | None, str | None], bytes]:
    """SQL and Python, None for what was not asked for, and ONNX. Raises before anything is written."""
    from learners.base import PrivateEstimator
    from learners.exports import DialectName, as_onnx, as_python, as_sql, portable

    with about(path):
        model = portable(PrivateEstimator.load(path))
    dialect: DialectName | None = sql  # type: ignore[assignment]  # click has checked it
    with about("--sql"):
        query = None if dialect is None or table is None else as_sql(model, dialect, table, keys)
    with about("--python"):
        module = as_python(model) if python else None
    with about("--onnx"):
        try:
            graph = as_onnx(model).SerializeToString() if onnx else b""
        except ImportError as error:
            raise ValueError(str(error)) from error
    return (query, module), graph
