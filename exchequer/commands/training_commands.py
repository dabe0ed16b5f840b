"""`exchequer train`, `predict`, `learners` and `card`: their options and their help; the work is beside this."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from exchequer.commands.ledgers import ledger_options
from exchequer.console.option_types import LINES, PARAMETER
from exchequer.console.table_databases import FileOrTable, Source
from exchequer.console.table_files import TableFileOptions, table_file_options
from exchequer.trainable import LEARNERS, Setting, current_options, learner_options

if TYPE_CHECKING:
    from exchequer.commands.explain import Lines

FILE, OUT = ledger_options.FILE, ledger_options.OUT


@click.command()
@click.argument("data", type=FileOrTable())
@click.option(
    "--schema",
    type=FILE,
    required=True,
    help="TOML file that says which columns there are, their categories or bounds, and the label with its "
    "classes. It must be written from public knowledge, never from the data.",
)
@click.option("--epsilon", type=float, required=True, help="What the model may cost, above 0; 1 is a strong promise.")
@click.option(
    "--delta",
    type=float,
    help="Probability that the promise may fail, from 0 to below 1, far below 1/n. Default: 1e-6 with learners that "
    "need one, as private-boost, else 0, the strictest; more gives accuracy with many rounds.",
)
@learner_options
@click.option(
    "--set",
    "parameters",
    type=PARAMETER,
    multiple=True,
    help="Any further parameter of the learner by its name in Python, such as n_estimators=50; `exchequer learners "
    "NAME` lists them. Several times for several.",
)
@click.option(
    "--tune",
    type=FILE,
    help="TOML file of [[settings]], each with parameters of the learner: the best is chosen privately, on the same "
    "epsilon, of which each fit then gets a half or less. With private-boost.",
)
@click.option(
    "--fetch",
    is_flag=True,
    help="With a database: take the records out in blocks, also where the learner could train there.",
)
@ledger_options.SEED
@ledger_options.NO_HEADER
@table_file_options
@ledger_options.payer_options
@click.option("--out", type=OUT, required=True, help="Where the model goes, as JSON with its privacy statement.")
@click.option("--force", is_flag=True, help="Replace --out if it exists.")
def train(
    data: Source,
    schema: Path,
    learner: str | None,
    tune: Path | None,
    parameters: tuple[tuple[str, object], ...],
    fetch: bool,
    epsilon: float,
    delta: float | None,
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
    **options: Setting | None,
) -> None:
    """Train a private model on DATA, a CSV (or .csv.gz) or Parquet file, and save it with its privacy statement.

    DATA may be a table in a database instead: duckdb:///people.db#people, sqlite:///people.db#people or
    postgresql://user@host/database#people.
    Its records stay there with private-boost, private-boost-regressor and lazy-boost; other learners that read tables
    in blocks fetch them. A password belongs in PGPASSWORD or ~/.pgpass, as others can read a command line.

    The schema's label says what is learnt: classes, or numbers between public bounds. What a model is good for, and
    which others there are, is in `exchequer learners`.

    What is printed and saved is safe to publish, at the price that the statement names. Models trained on the same
    records cost the sum of their prices. Each run opens a new ledger, which knows of no other run; with --ledger all
    runs are charged to one, which refuses what is not in its budget. Error messages are not for
    publishing; they may quote a value of your data. The accuracy on DATA itself is not printed, because it would
    have to be paid for; keep some records back and use `exchequer predict --score` on them.

    \b
    Example:
      exchequer train people.csv --schema people.toml --epsilon 1 --delta 1e-6 --out model.json
      exchequer train people.csv --schema people.toml --epsilon 1 --out model.json --ledger study.db --account team-a
    \b
    A schema:
      [label]
      name = "income"
      classes = ["low", "high"]        # of two, the second is the positive class; for numbers, instead:
                                       # lower = 0, upper = 1e6 on lines of their own
      [[columns]]
      name = "age"
      kind = "numeric"
      lower = 0                        # public bounds
      upper = 100
      bins = 10
      outside = "clip"                 # or "error"
      [[columns]]
      name = "sex"
      kind = "categorical"
      categories = ["female", "male"]
    """
    given = current_options(options)
    if learner is not None:
        LEARNERS[learner].refuse_others(learner, given)
    ledger_options.refuse_unpaid(ledger, account, signing_key, about)
    ledger_options.refuse_simulated(ledger, seed)
    from exchequer.commands import train as work

    payer = None
    if ledger is not None:
        from exchequer.commands.ledgers.paying_ledger import PayingLedger

        payer = PayingLedger(ledger, account or "", signing_key, about, writer_key)
    asked = None if learner is None else LEARNERS[learner]
    order = work.TrainingRequest(asked, epsilon, delta, given, seed, payer, dict(parameters), tune, fetch)
    work.train(data, schema, out, order, header=not no_header, force=force, file_options=file_options)


@click.command()
@click.argument("data", type=FileOrTable())
@click.option("--model", type=FILE, required=True, help="A model that `exchequer train` saved.")
@click.option("--out", type=OUT, help="Where the predictions go, as CSV. Default: standard output.")
@click.option(
    "--key",
    "keys",
    multiple=True,
    metavar="COLUMN",
    help="A column of DATA to put before the predictions, such as its key; several times.",
)
@click.option(
    "--into",
    metavar="TABLE",
    help="With a database: write the predictions to this new table of it, with all shares. One that exists is refused.",
)
@click.option(
    "--keep-refused",
    is_flag=True,
    help="With a database: a record that is refused has no prediction, and a column says why. Default: an error.",
)
@click.option("--force", is_flag=True, help="Replace --out if it exists.")
@click.option(
    "--proba",
    is_flag=True,
    help="Add a share from 0 to 1 for each class: a probability where the model estimates one, as private-boost and "
    "logistic do, else a share of the vote, which ranks records and no more.",
)
@click.option(
    "--score",
    is_flag=True,
    help="Compare with the label column of DATA: accuracy, and of two classes the AUC; of numbers, R² and the mean "
    "absolute error.",
)
@click.option(
    "--intervals",
    type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True),
    metavar="SHARE",
    help="Of numbers: add ends of an interval that holds this share of labels, such as .9; the model must have been "
    "trained with --intervals.",
)
@click.option(
    "--no-header",
    is_flag=True,
    help="The file has no line with column names: its columns are the model's in order, then the label if --score.",
)
@table_file_options
def predict(
    data: Source,
    model: Path,
    out: Path | None,
    keys: tuple[str, ...],
    into: str | None,
    keep_refused: bool,
    force: bool,
    proba: bool,
    score: bool,
    intervals: float | None,
    no_header: bool,
    file_options: TableFileOptions,
) -> None:
    """Predict the class, or the number, of each record in DATA, with a saved model.

    DATA is a CSV or a Parquet file, or a table in a database, such as duckdb:///people.db#people. There the model runs
    as SQL, and records stay where they are, but with --score, --intervals and learners that `exchequer export` has no
    SQL for. A database promises no order: name a --key.

    Writes one line per record: the predicted class, and a score that is positive for the second class of the
    schema; of three classes or more, a score for each, and the highest wins; of a regression, the number. Whatever
    learner made the model is recognised. Predicting costs no privacy of the records that the model was trained on.
    Further columns in DATA, a label among them, are left aside. The model's guarantee goes to standard error.

    \b
    Examples:
      exchequer predict new.csv --model model.json --out predictions.csv
      exchequer predict held-out.csv --model model.json --score --out predictions.csv
      exchequer predict 'postgresql://me@host/study#people' --model model.json --key id --into people_predicted
    """
    from exchequer.commands import predict as work

    work.predict(
        data,
        model,
        out,
        work.PredictionRequest(proba, score, intervals, keys, into, keep_refused),
        header=not no_header,
        force=force,
        file_options=file_options,
    )


@click.command()
@click.argument("name", required=False, type=click.Choice(list(LEARNERS)), metavar="[NAME]")
@ledger_options.AS_JSON
def learners(name: str | None, as_json: bool) -> None:
    """List what `exchequer train` can train, and what each is for; with NAME, its parameters and their defaults.

    \b
    Examples:
      exchequer learners
      exchequer learners private-boost-regressor
    """
    from exchequer.commands import learner_list as work

    work.show(name, as_json=as_json)


@click.command()
@click.argument("model", type=FILE)
@click.option("--out", type=OUT, required=True, help="Where the card goes: Markdown for .md, a page for .html.")
@click.option("--data", help="What the records are, whose, and from when, in a sentence or two of your own; public.")
@click.option(
    "--measured",
    help="How good the model turned out to be, in your own words: on which records, and by whom. Nobody pays for what "
    "you say here.",
)
@click.option(
    "--lines", type=LINES, help="How many lines a column has at most; see `exchequer explain`. Default: a dozen."
)
@click.option("--force", is_flag=True, help="Replace --out if it exists.")
def card(model: Path, out: Path, data: str | None, measured: str | None, lines: "Lines", force: bool) -> None:
    """Write the card of a saved MODEL: data, schema, guarantee, the accuracy that was paid for, the model, its limits.

    \b
    Examples:
      exchequer card model.json --out card.md --data "Adult, US census of 1994"
      exchequer card model.json --out card.html --measured "85.7 % right on 16,281 records of the public test set"
    """
    from exchequer.commands import card as work

    work.write(model, out, data=data, measured=measured, lines=lines, force=force)


@click.command()
@click.option("--n", type=int, required=True, help="How many records there are, about; from 1.")
@click.option("--columns", type=int, required=True, help="How many columns are learnt from, from 1.")
@click.option("--classes", type=click.IntRange(2), default=2, show_default=True, help="How many classes the label has.")
@click.option("--numbers", is_flag=True, help="The label is a number, and has no classes.")
@click.option("--epsilon", type=float, required=True, help="What the model may cost, above 0.")
@click.option(
    "--delta", type=float, default=1e-6, show_default=True, help="From 0 to below 1, far below 1/n; 0 for pure privacy."
)
@ledger_options.AS_JSON
def advise(n: int, columns: int, classes: int, numbers: bool, epsilon: float, delta: float, as_json: bool) -> None:
    """Say what a private model would be worth, and what it would reveal, before any data is touched.

    From five public numbers: which learner, how large its noise is, how accurate it was on public data with as much
    noise, and what epsilon means as a bound on what anybody can learn about one person.

    \b
    Examples:
      exchequer advise --n 20000 --columns 12 --epsilon 1
      exchequer advise --n 1300 --columns 6 --numbers --epsilon 2 --delta 1e-5
    """
    from exchequer.prices import advice as work

    work.advise(n, columns, 0 if numbers else classes, epsilon, delta, as_json=as_json)
