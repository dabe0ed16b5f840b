"""The commands of `exchequer schema`: their options and their help.

Like `exchequer.cli`, this imports what a command does when it runs, and not before.
"""

from pathlib import Path

import click

from exchequer.commands.ledgers import ledger_options
from exchequer.console.table_databases import FileOrTable, Source
from exchequer.console.table_files import TableFileOptions, table_file_options

FILE, OUT = ledger_options.FILE, ledger_options.OUT


@click.group("schema")
def schema() -> None:
    """Draft the public schema of a file, and check a file against it.

    A schema says which columns there are, their bounds or categories, and the label. What it says must be public: a
    model is trained within it, and nobody pays for what it reveals.

    \b
    From a file to a model:
      exchequer schema draft people.csv --label income --out people.toml
      (fill in the TODOs)
      exchequer schema check people.csv --schema people.toml
      exchequer train people.csv --schema people.toml --epsilon 1 --out model.json
    """


@schema.command()
@click.argument("data", type=FileOrTable(), metavar="FILE")
@click.option("--label", default="", help="The column to predict. Default: the one that the dictionary says is.")
@click.option(
    "--regression", is_flag=True, help="The label is a number. Default: if the dictionary or its type says so."
)
@click.option(
    "--values-are-public",
    is_flag=True,
    help="You declare that the values of FILE are public: bounds and categories are taken from them.",
)
@click.option(
    "--public-sample",
    "sample",
    type=FILE,
    help="Take bounds, categories and types from the values of this file, all of which are public.",
)
@click.option(
    "--dictionary",
    type=FILE,
    help="Take them from this data dictionary: CSV or JSON with name, type, range (or min, max), categories, unit, "
    "description, role for each column.",
)
@click.option("--no-header", is_flag=True, help="FILE has no line with column names; see --names.")
@click.option(
    "--names",
    default="",
    metavar="A,B,…",
    help="With --no-header: the names, in order. Default: those of the dictionary, else column1, column2, …",
)
@click.option(
    "--paid",
    is_flag=True,
    help="Release bounds and categories that nothing public says privately, for --epsilon and --delta in all.",
)
@click.option("--epsilon", type=float, help="With --paid: what all of that may cost, above 0.")
@click.option(
    "--delta", type=float, default=1e-6, show_default=True, help="With --paid: needed by lists of categories."
)
@ledger_options.payer_options
@table_file_options
@click.option("--out", type=OUT, help="Where the schema goes, as TOML. Default: standard output.")
@click.option("--force", is_flag=True, help="Replace --out if it exists.")
def draft(
    data: Source,
    label: str,
    regression: bool,
    values_are_public: bool,
    sample: Path | None,
    dictionary: Path | None,
    no_header: bool,
    names: str,
    paid: bool,
    epsilon: float | None,
    delta: float,
    ledger: str | None,
    account: str | None,
    signing_key: Path | None,
    about: tuple[str, ...],
    writer_key: Path | None,
    file_options: TableFileOptions,
    out: Path | None,
    force: bool,
) -> None:
    """Write a schema for FILE (CSV, .csv.gz or Parquet), with comments and a TODO for every bound to be thought about.

    FILE may be a table in a database, such as duckdb:///people.db#people, which says its columns' types.
    From FILE itself it takes the names of columns and guesses their types; that is a release that nobody pays for, and
    is printed and marked so. Bounds and categories come from what is public, or are a TODO, which `exchequer train` and
    all others that read schemas refuse.

    \b
    Examples:
      exchequer schema draft people.csv --label income --out people.toml
      exchequer schema draft people.csv --label income --dictionary codebook.csv --out people.toml
      exchequer schema draft wine.csv --label quality --values-are-public --out wine.toml
      exchequer schema draft people.csv --label income --paid --epsilon 0.5 --ledger study.db --out people.toml
    """
    if names and not no_header:
        raise click.UsageError("--names goes with --no-header: the header line has the names")
    if values_are_public and sample is not None:
        raise click.UsageError("--values-are-public and --public-sample: give one of them")
    if paid and values_are_public:
        raise click.UsageError("--paid and --values-are-public: what is public needs no payment; give one of them")
    if paid != (epsilon is not None):
        raise click.UsageError("--paid and --epsilon go together")
    if paid:
        ledger_options.refuse_unpaid(ledger, account, signing_key, about)
    from exchequer.commands.schemas import draft_schema as work
    from exchequer.commands.schemas.column_facts import Price

    listed = tuple(name.strip() for name in names.split(",")) if names else ()
    price = None if epsilon is None else Price.checked(epsilon, delta)
    payer = None
    if paid and ledger is not None:
        from exchequer.commands.ledgers.paying_ledger import PayingLedger

        payer = PayingLedger(ledger, account or "", signing_key, about, writer_key)
    order = work.DraftRequest(
        label, regression, not no_header, listed, values_are_public, sample, dictionary, price, payer
    )
    work.draft(data, out, order, file_options, force=force)


@schema.command()
@click.argument("data", type=FileOrTable(), metavar="FILE")
@click.option("--schema", "schema_path", type=FILE, required=True, help="The schema, as TOML.")
@ledger_options.NO_HEADER
@table_file_options
def check(data: Source, schema_path: Path, no_header: bool, file_options: TableFileOptions) -> None:
    """List all that is wrong between FILE and its schema, in one run; for the curator, who may see the data.

    FILE may be a table in a database, such as duckdb:///people.db#people, whose records are fetched.
    Unknown categories with their counts, numbers outside of the bounds, missing and unreadable values, labels, columns
    that are missing or left over. Ends with 0 where `exchequer train` would take the file, and with 1 where not.

    \b
    Example:
      exchequer schema check people.csv --schema people.toml
    """
    from exchequer.commands.schemas import check_schema as work

    click.get_current_context().exit(work.check(data, schema_path, file_options, header=not no_header))
