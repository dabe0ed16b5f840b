"""The commands of `exchequer ledger` that write to one: their options and their help.

Like `exchequer.cli`, this imports what a command does when it runs, and not before.
"""

from pathlib import Path

import click

from exchequer.commands.ledgers.ledger_options import AS_JSON, FILE, LEDGER, OUT, WRITER_KEY, about_option


@click.group("ledger")
def ledger() -> None:
    """Open, share out and audit durable ledgers.

    A durable ledger is a database that says who spent how much privacy on what. Every entry is chained to the one
    before it, so whoever keeps the digest of the newest one, the head, will see if any of them was changed.

    LEDGER is a URL, sqlite:///study.db or postgresql+psycopg://user@host/database, or the path of a SQLite file that
    exists (open begins one as well, if it ends in .db, .sqlite or .sqlite3); for commands that only read, also the path
    of what `exchequer ledger export` wrote. Where it is the only argument, the environment variable EXCHEQUER_LEDGER
    stands in for it.

    \b
    From the beginning to the audit:
      exchequer ledger open study.db --epsilon 2 --delta 1e-5
      exchequer ledger allocate study.db team-a --share 0.5
      exchequer train people.csv --schema people.toml --epsilon 1 --ledger study.db --account team-a --out model.json
      exchequer ledger show study.db
      exchequer ledger verify study.db --second-opinion
      exchequer ledger report study.db --out report.html

    \b
    Exit codes:
      0  all is well: the ledger is sound and confirms the model's claim, the plan fits, it was done
      1  the answer is no: the ledger is not sound or not what the claim says, the plan does not fit
      2  there is no answer: no such ledger, a file that cannot be read, wrong input, or a refusal; nothing was done
      3  with caveats (verify, report, verify-model): all sums are right, but noise was simulated, nothing is promised,
         or charges were never released
    """


# --- the budget, and its parts ---------------------------------------------------------------------------------


@ledger.command("open")
@LEDGER
@click.option("--epsilon", type=float, help="The budget, above 0; 1 is a strong promise, 10 a weak one.")
@click.option("--delta", type=float, help="With --epsilon: probability that the promise may fail. Default: 0, never.")
@click.option("--rho", type=float, help="The budget in zCDP instead, above 0.")
@click.option("--mu", type=float, help="The budget in Gaussian differential privacy instead, above 0.")
@click.option(
    "--composition",
    type=click.Choice(["basic", "advanced", "zcdp", "gdp"]),
    help="How costs add up: basic adds epsilons, advanced and zcdp add rhos, gdp squares of mus, "
    "which is exact where all noise is Gaussian, and takes nothing else. Default: basic, with --rho zcdp, with --mu "
    "gdp.",
)
@click.option("--delta-prime", type=float, help="With advanced: the part of delta that this rule costs, above 0.")
@click.option(
    "--adjacency",
    metavar="RELATION",
    help="What the promise hides: add-remove-one that a record is there; replace-one what it says, while the number of "
    "records is public; feature-value:COLUMN one entry of that column, counted from 0, feature-values:COLUMN,COLUMN "
    "a record's entries of several. Default: add-remove-one.",
)
@click.option(
    "--expect",
    "expected",
    multiple=True,
    metavar="KIND:NUMBERS[@ROUNDS]",
    help="A plan that this ledger is for, written as --mechanism of `exchequer ledger price`; several times for a "
    "mixed one. Prints what each rule would charge for it, and opens nothing where the budget does not cover it.",
)
def open_(
    ledger: str,
    epsilon: float | None,
    delta: float | None,
    rho: float | None,
    mu: float | None,
    composition: str | None,
    delta_prime: float | None,
    adjacency: str | None,
    expected: tuple[str, ...],
) -> None:
    """Begin a durable ledger, with a budget that never changes.

    A new ledger in SQLite may be named by its path, where that ends in .db, .sqlite or .sqlite3.

    Where there is a ledger already, it is left as it is: this is refused if it promises something else. Prints the id
    and the head, which should be kept elsewhere. A rule cannot be changed later: where another one would charge much
    less, a line says so, with the numbers; --expect makes it exact. Ends with 1 where a ledger that is there already
    does not pay for that plan any more.

    \b
    Examples:
      exchequer ledger open study.db --epsilon 2 --delta 1e-5
      exchequer ledger open study.db --epsilon 2 --delta 1e-5 --composition zcdp --expect pure-dp:0.05@200
      exchequer ledger open postgresql+psycopg://team@db.example/study --rho 0.5 --adjacency replace-one
    """
    from exchequer.commands.ledgers import spend_plan as work

    budget, rule = work.budget_of(epsilon, delta, rho, mu), work.rule_of(composition, delta_prime)
    relation = None if adjacency is None else work.adjacency_of(adjacency)
    click.get_current_context().exit(work.open_ledger(ledger, budget, rule, relation, expected))


@ledger.command()
@click.argument("ledger")
@click.argument("name")
@click.option("--share", help="This part of the budget above, above 0 to 1; 0.25 and 1/3 are taken exactly.")
@click.option("--epsilon", type=float, help="Or this much: epsilon, above 0.")
@click.option("--delta", type=float, help="With --epsilon: delta. Default: 0.")
@click.option("--rho", type=float, help="Or this much: rho, above 0.")
@click.option("--mu", type=float, help="Or this much: mu, above 0.")
@click.option("--account", default="", help="The sub-budget that it is taken from. Default: the whole budget.")
def allocate(
    ledger: str,
    name: str,
    share: str | None,
    epsilon: float | None,
    delta: float | None,
    rho: float | None,
    mu: float | None,
    account: str,
) -> None:
    """Set a part of a budget aside: the sub-budget NAME.

    Charges to NAME, or to NAME/anything, draw on it and on nothing else; others cannot touch it.

    \b
    Examples:
      exchequer ledger allocate study.db team-a --share 0.25
      exchequer ledger allocate study.db first --epsilon 0.1 --account team-a
    """
    from exchequer.commands.ledgers import spend_plan as work

    work.allocate(ledger, name, work.part_of(share, work.budget_of(epsilon, delta, rho, mu)), account)


@ledger.command()
@click.argument("ledger")
@click.argument("name")
def label(ledger: str, name: str) -> None:
    """Announce the label NAME: from now on, charges to NAME, or to NAME/anything, may draw on what is not set aside:
    of the sub-budget that NAME begins with, or else of the whole budget.

    A ledger without sub-budgets takes any label. One that has some refuses names that are neither a sub-budget's nor
    announced, as they may be misspelt, and others would pay. The label main needs no announcement.

    \b
    Examples:
      exchequer ledger label study.db pilot
      exchequer train people.csv --schema people.toml --epsilon 1 --ledger study.db --account pilot --out model.json
    """
    from exchequer.commands.ledgers import spend_plan as work

    work.announce(ledger, name)


@ledger.command()
@click.argument("ledger")
@click.argument("name")
def close(ledger: str, name: str) -> None:
    """Close the sub-budget NAME for good; what it did not spend goes back to the budget above.

    NAME is its path: the sub-budget first of team-a is team-a/first. Sub-budgets of its own must be closed before.

    \b
    Example:
      exchequer ledger close study.db team-a
    """
    from exchequer.commands.ledgers import spend_plan as work

    work.close(ledger, name)


@ledger.command()
@LEDGER
@click.option(
    "--mechanism",
    "mechanisms",
    multiple=True,
    required=True,
    metavar="KIND:NUMBERS[@ROUNDS]",
    help="A cost, as pure-dp:EPS, approx-dp:EPS,DELTA, laplace-dp:EPS, zcdp:RHO, bounded-range:EPS, gdp:MU or "
    "subsampled-gaussian:MU,RATE. With @ROUNDS it is repeated so often, else --rounds times. Give it several times for "
    "a mixed plan.",
)
@click.option("--rounds", type=int, default=1, show_default=True, help="How often it is released, from 1 to 100000.")
@click.option(
    "--delta",
    type=float,
    default=0.0,
    show_default=True,
    help="Above 0, on a ledger that adds up epsilon and delta: charge the plan as one thing, at the best price that "
    "any theorem gives at this delta, as `exchequer train` does. At 0 its rounds are added up by the ledger's rule.",
)
@click.option("--account", default="", help="Who would be charged. Default: the whole budget.")
@AS_JSON
def price(ledger: str, mechanisms: tuple[str, ...], rounds: int, delta: float, account: str, as_json: bool) -> None:
    """Say what a plan would cost on this ledger, and what would be left. Spends nothing.

    Ends with 0 if the plan fits, and with 1 if it would be refused.

    \b
    Examples:
      exchequer ledger price study.db --mechanism pure-dp:0.1@5
      exchequer ledger price study.db --mechanism bounded-range:0.01 --rounds 100 --delta 1e-6 --account team-a
    """
    from exchequer.commands.ledgers import spend_plan as work

    click.get_current_context().exit(work.price(ledger, mechanisms, rounds, delta, account, as_json=as_json))


@ledger.command()
@click.argument("file", type=OUT)
def key(file: Path) -> None:
    """Make a key to sign with, in FILE; the public key goes to FILE.pub.

    Models that are trained with `--signing-key FILE` carry receipts that say who gave them. A key may also be a
    writer's, see `exchequer ledger writers`, or a witness's, see `exchequer ledger anchor`; use one for one purpose.

    \b
    Example:
      exchequer ledger key study.key
    """
    from exchequer.commands.ledgers import spend_plan as work

    work.make_key(file)


@ledger.command("import")
@click.argument("ledger")
@click.argument("file", type=FILE)
@click.option("--declared-by", required=True, metavar="NAME", help="Whose word it is; stands in the entry and report.")
@click.option("--source", default="", help="Where the declaration comes from. Default: the name of FILE.")
@click.option(
    "--delta",
    type=float,
    help="Where a cost is read that this ledger's rule takes as epsilon and delta only, as a history of Opacus on a "
    "ledger that adds epsilons; each such spend costs this delta.",
)
@click.option("--account", help="Who is charged: a sub-budget, or a label. Default: the whole budget.")
@about_option("What")
@WRITER_KEY
@click.option("--again", is_flag=True, help="Charge spends that were imported before: they happened twice.")
@AS_JSON
def import_(
    ledger: str,
    file: Path,
    declared_by: str,
    source: str,
    delta: float | None,
    account: str | None,
    about: tuple[str, ...],
    writer_key: Path | None,
    again: bool,
    as_json: bool,
) -> None:
    """Charge what other libraries spent, as FILE declares it: one entry for all of it, or none.

    The entry says that this was declared, by whom, and that nobody checked it. FILE is JSON: our own format,
    {"format": "exchequer-spends-1", "spends": [...]}, which LEDGER.md describes; the state_dict, or the history, of an
    accountant of Opacus; measurements that OpenDP serialized, or their metric, measure and loss; the budget of a
    session of Tumult. Or it is a checkpoint of Opacus (.pt), if torch is installed.

    What the budget does not cover is refused, as a ledger that goes beyond its budget would promise what is not so:
    open one with a budget that covers what happened, and import there. --about says whose data it was on.

    \b
    Examples:
      exchequer ledger import study.db spends.json --declared-by "Data team"
      exchequer ledger import study.db history.json --declared-by "ML team" --delta 1e-6 --source "run 17"
    """
    from exchequer.commands.ledgers import import_spends as work

    work.import_spends(
        ledger, file, declared_by, source, delta, account, writer_key, about, again=again, as_json=as_json
    )
