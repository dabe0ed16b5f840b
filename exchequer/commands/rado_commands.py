"""The commands of `exchequer rados`: their options and their help.

Like `exchequer.cli`, this imports what a command does when it runs, and not before.
"""

from pathlib import Path

import click
from click.core import ParameterSource

from exchequer.commands.ledgers import ledger_options
from exchequer.console.table_databases import FileOrTable, Source
from exchequer.console.table_files import TableFileOptions, table_file_options

FILE, OUT = ledger_options.FILE, ledger_options.OUT
NOTHING = "none"
"""How no protection is spelt on the command line."""


@click.group("rados")
def rados() -> None:
    """Release sums of records, and learn from these alone: two parties, one file between them.

    A rado is the sum of the features of some records, drawn at random, each with the sign of its label. Whoever holds
    the records releases a thousand of them, with noise, and pays for that once; whoever gets the file learns a linear
    classifier from it, as often as they like, and never sees a record.

    \b
    Two parties:
      exchequer rados release people.csv --schema people.toml --epsilon 1 --delta 1e-6 --out rados.json
      exchequer rados show rados.json
      exchequer rados fit rados.json --out model.json
      exchequer predict new.csv --model model.json
    """


@rados.command()
@click.argument("data", type=FileOrTable())
@click.option(
    "--schema",
    type=FILE,
    required=True,
    help="TOML file with the columns, their public bounds or categories, and the label; see `exchequer train --help`.",
)
@click.option(
    "--protection",
    type=click.Choice(["examples", "feature", NOTHING]),
    default="examples",
    show_default=True,
    help="What is hidden: examples, whole records (replace-one); feature, the --sensitive columns of a record and "
    "nothing else; none, nothing at all, and the file says so.",
)
@click.option("--epsilon", type=float, help="What the release may cost, above 0; 1 is a strong promise.")
@click.option("--delta", type=float, help="Chance that the promise fails, above 0, far below 1/n. Default 1e-6.")
@click.option("--number", type=int, help="How many rados. Default: 1000, or half of the records where these are fewer.")
@click.option("--sensitive", multiple=True, metavar="COLUMN", help="With feature: a column to hide; give several.")
@click.option(
    "--route",
    type=click.Choice(["rados", "edges", "sums", "own-supports"]),
    help="With examples: noise on the rados (default), or on the edges that they are sums of. With feature: columns "
    "from noisy sums (default), or, of one column of two values, rados over own-supports as they are.",
)
@click.option("--truncation", type=float, help="With own-supports: truncate as DP-FEAT does at this epsilon.")
@click.option("--support", type=int, help="Records in each rado, with edges or without protection. Default: any.")
@click.option(
    "--radius",
    type=float,
    help="With examples: public length to which records are shortened, columns being standardised. Default: the root "
    "of the number of features.",
)
@click.option("--raw", is_flag=True, help="Do not standardise columns; scale them by the schema's bounds alone.")
@ledger_options.SEED
@ledger_options.NO_HEADER
@table_file_options
@ledger_options.payer_options
@click.option("--out", type=OUT, required=True, help="Where the rados go, as JSON with their statement.")
@click.option("--force", is_flag=True, help="Replace --out if it exists.")
def release(
    data: Source,
    schema: Path,
    protection: str,
    epsilon: float | None,
    delta: float | None,
    number: int | None,
    sensitive: tuple[str, ...],
    route: str | None,
    truncation: float | None,
    support: int | None,
    radius: float | None,
    raw: bool,
    seed: int | None,
    no_header: bool,
    file_options: TableFileOptions,
    ledger: str | None,
    account: str | None,
    signing_key: Path | None,
    about: tuple[str, ...],
    writer_key: Path | None,
    out: Path,
    force: bool,
) -> None:
    """Release rados of the table in DATA, charged before anything is drawn.

    DATA is a CSV or a Parquet file, or a table in a database, such as duckdb:///people.db#people, whose records are
    fetched.

    The file holds the rados, what they were scaled by, the schema, and the privacy statement; it is safe to publish at
    the price and within the scope that the statement names. `exchequer verify-model` compares it with the ledger, which
    for feature must be opened with --adjacency feature-value:COLUMN, or feature-values:COLUMN,COLUMN for several,
    counted from 0 in the order of the schema.

    \b
    Examples:
      exchequer rados release people.csv --schema people.toml --epsilon 1 --out rados.json
      exchequer rados release people.csv --schema people.toml --protection feature --sensitive sex \\
        --epsilon 0.1 --out rados.json
    """
    ledger_options.refuse_unpaid(ledger, account, signing_key, about)
    if protection == NOTHING:
        source = click.get_current_context().get_parameter_source("ledger")
        ledger = ledger if source is ParameterSource.COMMANDLINE else None  # EXCHEQUER_LEDGER is for what is paid for
        if (epsilon, delta, ledger) != (None, None, None):
            raise click.UsageError("--epsilon, --delta and --ledger: nothing is paid for with --protection none")
    elif epsilon is None:
        raise click.UsageError("--epsilon is missing: what the release may cost, above 0")
    ledger_options.refuse_simulated(ledger, seed)
    from exchequer.commands import rados as work
    from exchequer.commands.ledgers.paying_ledger import PayingLedger

    order = work.RadoRequest(
        None if protection == NOTHING else protection,
        1.0 if epsilon is None else epsilon,
        1e-6 if delta is None else delta,
        {
            "number": number,
            "sensitive": list(sensitive),
            "route": route,
            "truncation": truncation,
            "support": support,
            "radius": radius,
            "standardise": not raw,
        },
        seed,
        None if ledger is None else PayingLedger(ledger, account or "", signing_key, about, writer_key),
    )
    work.release(data, schema, out, order, header=not no_header, force=force, file_options=file_options)


@rados.command()
@click.argument("file", type=FILE)
def show(file: Path) -> None:
    """Say what a FILE of rados holds, what it hides, and what it cost."""
    from exchequer.commands import rados as work

    work.show_release(file)


@rados.command()
@click.argument("file", type=FILE)
@click.option("--rounds", type=int, default=1000, show_default=True, help="Of boosting, from 1.")
@click.option(
    "--oracle",
    default="strong",
    show_default=True,
    help="Which feature a round moves: strong, the most correlated; median; or a number up to 1, the most correlated "
    "of those at most as much.",
)
@click.option("--shrinkage", type=float, default=1.0, show_default=True, help="Steps are divided by it, from 1.")
@click.option("--least", type=float, default=0.0, show_default=True, help="Stop where no feature correlates by more.")
@click.option("--smoothing", type=float, help="From 0 to below 1; 0 is as published. Default: what the rados call for.")
@click.option("--out", type=OUT, required=True, help="Where the model goes, as JSON with the statement of the rados.")
@click.option("--force", is_flag=True, help="Replace --out if it exists.")
def fit(
    file: Path,
    rounds: int,
    oracle: str,
    shrinkage: float,
    least: float,
    smoothing: float | None,
    out: Path,
    force: bool,
) -> None:
    """Learn a linear classifier from a FILE of rados, and from nothing else; that costs no privacy.

    The same file and options give the same model, so whoever has the rados can check it.

    \b
    Example:
      exchequer rados fit rados.json --out model.json
    """
    from exchequer.commands import rados as work

    given = {"rounds": rounds, "shrinkage": shrinkage, "least": least, "smoothing": smoothing}
    work.fit(file, out, {**given, "oracle": work.oracle(oracle)}, force=force)
