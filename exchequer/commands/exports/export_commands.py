"""`exchequer ledger entries`, `deployment`, `pack` and `check-pack`: their options and their help."""

from pathlib import Path

import click

from exchequer.commands.ledgers.ledger_commands import ledger as ledger
from exchequer.commands.ledgers.ledger_options import AS_JSON, FILE, FORCE, LEDGER, OUT, SECOND_OPINION


@ledger.command()
@LEDGER
@click.option("--csv", "as_csv", is_flag=True, help="Write CSV for spreadsheets: the one form that there is so far.")
@click.option("--out", default="-", metavar="FILE", help="Where the rows go. Default: they are printed.")
@FORCE
def entries(ledger: str, as_csv: bool, out: str, force: bool) -> None:
    """Write one row for each charge: when, for whom, on which data, at what cost, and what became of it.

    Costs are given exactly, in the ledger's own notation (3p-5 is 3/32, its digits hexadecimal), and as numbers that
    are rounded up; what was given back is rounded down. The file is UTF-8, with commas, as RFC 4180 has it. A text that
    a spreadsheet would take for a formula has an apostrophe before it. Nothing is verified here: `exchequer ledger
    verify` does that.

    \b
    Example:
      exchequer ledger entries study.db --csv --out entries.csv
    """
    if not as_csv:
        raise click.UsageError("give --csv; `exchequer ledger export` writes JSON Lines")
    from exchequer.commands.exports import entry_rows as work

    work.write_rows(ledger, out, force=force)


@ledger.command()
@LEDGER
@click.option("--out", type=OUT, required=True, help="Where the record goes, as YAML.")
@click.option(
    "--where",
    "wanted",
    multiple=True,
    metavar="NAME=TEXT",
    help="Only charges that say so, as dataset=hospital; see `exchequer ledger spent`. Default: all are one.",
)
@click.option(
    "--delta",
    type=float,
    default=1e-6,
    show_default=True,
    help="At which a budget in mu is given as (epsilon, delta): the registry has no variant for it.",
)
@FORCE
def deployment(ledger: str, out: Path, wanted: tuple[str, ...], delta: float, force: bool) -> None:
    """Write a record for the registry of deployments of differential privacy, of tier 3.

    It has everything that the ledger knows: the unit of privacy, the variant, what was spent, mechanisms, composition,
    versions. What only people know is left as a TODO, and the file is valid all the same. Names of users and machines
    stay out, as such a record is published. The ledger is verified first: nothing is written of one that is not sound,
    nor of charges with simulated noise. Needs PyYAML: pip install 'exchequer[exports]'.

    \b
    Examples:
      exchequer ledger deployment study.db --out record.yaml
      exchequer ledger deployment study.db --where dataset=hospital --out hospital.yaml
    """
    from exchequer.commands.exports import deployment_file as work

    click.get_current_context().exit(work.write_deployment(ledger, out, wanted, delta, force=force))


@ledger.command()
@LEDGER
@click.option("--out", type=OUT, required=True, help="Where the pack goes, as a zip file.")
@click.option("--model", "models", type=FILE, multiple=True, help="A saved model to go with it; several times.")
@click.option("--public-key", type=FILE, help="The key, in PEM, that all receipts of the models must be signed with.")
@SECOND_OPINION
@FORCE
def pack(
    ledger: str, out: Path, models: tuple[Path, ...], public_key: Path | None, second_opinion: bool, force: bool
) -> None:
    """Write all evidence on a ledger to one zip file, for a trusted research environment or an archive.

    It holds the statement, all entries, the models with their receipts, what `exchequer ledger verify` found, the
    report, a record of disclosure criteria and versions for programs (SATRE 3.3.09), and sums of all of it. The same
    input makes the same bytes, but for the time that it bears, which SOURCE_DATE_EPOCH sets. Nothing is written of a
    ledger that is not sound, nor with a model whose claim it does not confirm. Entries may name people and machines.

    \b
    Example:
      exchequer ledger pack study.db --out pack.zip --model model.json --public-key study.key.pub
      exchequer ledger check-pack pack.zip --expect-head 4be02dd5...
    """
    from exchequer.commands.exports import packs as work

    code = work.write_pack(ledger, out, models, public_key, second=second_opinion, force=force)
    click.get_current_context().exit(code)


@ledger.command("check-pack")
@click.argument("pack", type=FILE)
@click.option("--expect-head", metavar="DIGEST", help="A head that you kept: the ledger in it must have had it once.")
@click.option("--public-key", type=FILE, help="The key, in PEM, that all receipts in it must be signed with.")
@AS_JSON
def check_pack(pack: Path, expect_head: str | None, public_key: Path | None, as_json: bool) -> None:
    """Say whether a PACK is as `exchequer ledger pack` made it: verify its entries, make all the rest again, compare.

    Ends with 0 if so, with 1 if anything was changed, added or removed, or nothing can be read, and with 3 where the
    ledger has caveats, or the pack was made by other versions, so that not all of it can be compared. Who made it is
    another question, which a head or a key from elsewhere answers.

    \b
    Example:
      exchequer ledger check-pack pack.zip --expect-head 4be02dd5... --public-key study.key.pub
    """
    from exchequer.commands.exports import packs as work

    click.get_current_context().exit(work.print_check(pack, expect_head, public_key, as_json=as_json))
