"""The commands of `exchequer`, their options and their help; what they do is in the modules beside this one.

Those modules are imported when a command runs: they take numpy, scipy, scikit-learn and OpenDP along, which
would make `exchequer --help` slow.
"""

from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from exchequer.commands import model_exports, rado_commands
from exchequer.commands.auditing import asking_commands, auditing_commands, serving_commands
from exchequer.commands.exports import export_commands
from exchequer.commands.ledgers import ledger_options, writer_commands
from exchequer.commands.many_ledgers import overview_commands, registry_commands
from exchequer.commands.outlook import outlook_commands
from exchequer.commands.schemas import schema_commands
from exchequer.commands.training_commands import advise, card, learners, predict, train
from exchequer.console import versions
from exchequer.console.input_errors import Commands
from exchequer.console.option_types import LINES
from exchequer.prices.halfspace_price import halfspace_options, price_halfspace, refuse_strangers

if TYPE_CHECKING:
    from exchequer.commands.explain import Format, Lines

FILE, OUT = ledger_options.FILE, ledger_options.OUT


def version() -> str:
    """The installed version."""
    try:
        return metadata.version("exchequer")
    except metadata.PackageNotFoundError:
        return "(not installed: run from a checkout)"


@click.group(cls=Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@versions.version_options(version())
@click.pass_context
def main(ctx: click.Context) -> None:
    """Train models on personal data, and prove how little they reveal.

    A model trained here is differentially private: whoever sees it can hardly tell whether any one person's
    record was other than it is. How hardly is a number, EPSILON: 1 is a strong promise, 10 a weak one. DELTA
    is the small probability with which the promise may fail. A ledger writes down every bit of EPSILON and
    DELTA that is spent, and refuses what is not in the budget.

    \b
    Start with:
      exchequer demo
      exchequer advise --n 20000 --columns 12 --epsilon 1
      exchequer schema draft people.csv --label income --out people.toml
      exchequer train people.csv --schema people.toml --epsilon 1 --out model.json
      exchequer predict new.csv --model model.json --out predictions.csv
      exchequer explain model.json
      exchequer card model.json --out card.html
      exchequer learners
      exchequer price --mechanism bounded-range:0.1@10 --delta 1e-5
      exchequer ledger --help
      exchequer rados --help
      exchequer help

    Exit codes: 0 when all went well, 2 when something is wrong with the input; the message says what. Commands that
    answer a question with yes or no end with 0 or 1: audit, verify-model, ledger verify, report and price; 3 says that
    a ledger adds up with caveats, see exchequer ledger --help, or that audit did not understand something; 130 after
    Ctrl-C.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


main.add_command(writer_commands.ledger)  # with what each of these modules registers on it
main.add_command(asking_commands.ledger)
main.add_command(overview_commands.ledger)
main.add_command(registry_commands.ledger)
main.add_command(outlook_commands.ledger)
main.add_command(serving_commands.ledger)
main.add_command(export_commands.ledger)
main.add_command(auditing_commands.verify_model)
main.add_command(rado_commands.rados)
main.add_command(model_exports.export)
main.add_command(schema_commands.schema)
main.add_command(train)
main.add_command(predict)
main.add_command(learners)
main.add_command(card)
main.add_command(advise)


@main.command()
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder with adult.data and adult.test (or .gz): run on Adult as well. Default: the folder named by the "
    "environment variable EXCHEQUER_DATA, if set.",
)
@click.option("--epsilon", type=float, help="What a model may cost, above 0. Default: 1.")
@click.option("--delta", type=float, help="Probability that the promise may fail, between 0 and 1. Default: 1e-5.")
@click.option(
    "--rounds", type=int, help="How many rounds each column of the model has, from 1. Default: 8, as train takes it."
)
@ledger_options.SEED
def demo(data: Path | None, epsilon: float | None, delta: float | None, rounds: int | None, seed: int | None) -> None:
    """Train a private model on real, public data and compare it with a model without privacy.

    Uses the breast cancer data that ship with scikit-learn, and Adult (census income) where its folder is
    given. Prints the accuracy on held-out records, the model's curves and the head of its card, the ledger's statement,
    and the two commands that come next. Takes under half a minute.

    \b
    Examples:
      exchequer demo
      exchequer demo --epsilon 0.5 --data ~/datasets/adult
    """
    from exchequer.commands.demo import run

    run(data, epsilon, delta, rounds, seed)


@main.command()
@click.argument("model", type=FILE)
@click.option(
    "--plots",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for pictures of the model, as PNG: a curve per column, or the votes. Needs matplotlib: "
    "pip install 'exchequer[plots]'.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "json"]),
    default="text",
    show_default=True,
    help="How it is printed: for the terminal, for a report, for programs.",
)
@click.option(
    "--tolerance",
    type=float,
    default=1.0,
    show_default=True,
    help="How many points a line of a scorecard may be off, from 0.5. Larger prints fewer lines.",
)
@click.option(
    "--lines",
    type=LINES,
    help="How many lines a column has at most: cells that noise does not tell apart, then those most alike, are put "
    "together. all prints as many as it takes to answer as `exchequer predict` does, but for the tolerance. Default: "
    "12, and no more than the schema's bins.",
)
@click.option("--force", is_flag=True, help="Replace pictures that exist.")
def explain(model: Path, plots: Path | None, form: "Format", tolerance: float, lines: "Lines", force: bool) -> None:
    """Say what a saved MODEL does, and what it cost.

    Prints the privacy statement, then the model for a reader: points to add up by hand, votes, or trees. All of it
    follows from what was released, so it is safe to publish at the price that the statement names.

    \b
    Examples:
      exchequer explain model.json
      exchequer explain model.json --lines all
      exchequer explain model.json --plots pictures --format markdown > model.md
    """
    from exchequer.commands import explain as work

    work.explain(model, form, plots, tolerance=tolerance, force=force, lines=lines)


@main.command()
@click.option(
    "--mechanism",
    "mechanisms",
    multiple=True,
    metavar="KIND:NUMBERS[@ROUNDS]",
    help="A cost, as pure-dp:EPS, laplace-dp:EPS (Laplace noise), approx-dp:EPS,DELTA, zcdp:RHO, bounded-range:EPS or "
    "gdp:MU (Gaussian noise) or subsampled-gaussian:MU,RATE (on a Poisson sample); all numbers from 0. "
    "With @ROUNDS it is repeated so often, else --rounds times. Give it several times for a mixed plan.",
)
@click.option("--learner", type=click.Choice(["lazy-boost"]), help="Price a learner instead: what `train` runs.")
@click.option("--rounds", type=int, default=1, show_default=True, help="How often it is released, from 1 to 100000.")
@click.option(
    "--delta",
    type=float,
    default=1e-5,
    show_default=True,
    help="Probability that the promise may fail, in all, from 0 to below 1; should be far below 1/n.",
)
@click.option("--epsilon", type=float, help="With --learner or --halfspace: what the run may cost, above 0.")
@click.option("--n", type=int, help="With --learner: the number of records, from 1. It counts as public.")
@click.option("--density", type=float, help="With --learner: see train. Default: as train takes it.")
@click.option("--learning-rate", type=float, help="With --learner: see train. Default: as train takes it.")
@halfspace_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs instead of a table.")
@click.pass_context
def price(
    ctx: click.Context,
    /,
    mechanisms: tuple[str, ...],
    learner: str | None,
    rounds: int,
    delta: float,
    epsilon: float | None,
    n: int | None,
    density: float | None,
    learning_rate: float | None,
    halfspace: bool,
    as_json: bool,
    **given: float | None,
) -> None:
    """Say what a plan costs under each rule of composition, before any data is touched.

    Every release costs some privacy, and rules of composition say what many releases cost together. They
    differ a lot; this shows which is best for a plan, and which of them a ledger may stop by.

    \b
    What 100 releases cost together:
      exchequer price --mechanism bounded-range:0.01 --rounds 100 --delta 1e-5
    A mixed plan:
      exchequer price --mechanism zcdp:0.01@5 --mechanism pure-dp:0.1@3
    How little noise a learner needs for epsilon 1:
      exchequer price --learner lazy-boost --n 32561 --rounds 200 --epsilon 1
    How many records it takes to learn a halfspace, and what for:
      exchequer price --halfspace --margin 0.1 --dimension 20 --error 0.1 --failure 0.05 --epsilon 1
    """
    if sum([bool(mechanisms), learner is not None, halfspace]) != 1:
        raise click.UsageError("give either --mechanism or --learner or --halfspace")
    repeated = rounds if ctx.get_parameter_source("rounds") is ParameterSource.COMMANDLINE else None
    others = {"rounds": repeated, "n": n, "density": density, "learning_rate": learning_rate}
    refuse_strangers(halfspace, given, others)
    if halfspace:
        price_halfspace(given, epsilon, delta, as_json=as_json)
        return
    from exchequer.prices import price as work

    if learner is None:
        work.price_plan(mechanisms, rounds, delta, as_json=as_json)
        return
    if n is None or epsilon is None:
        raise click.UsageError("--learner needs --n and --epsilon")
    run = work.boosting(n, rounds, density, learning_rate)
    work.price_learner(run, epsilon, delta, as_json=as_json)


@main.command("help")
@click.argument("topic", nargs=-1)
@click.option("--whole", is_flag=True, help="Print pages from beginning to end, not their first paragraph only.")
@click.pass_context
def help_(ctx: click.Context, topic: tuple[str, ...], whole: bool) -> None:
    """Explain a TOPIC: a term, an error, or a task. Works offline. Without TOPIC it lists all of them.

    \b
    Examples:
      exchequer help
      exchequer help zcdp
      exchequer help outside-schema
      exchequer help durable-ledger --whole
    """
    from exchequer.commands import help_topics as work

    if topic:
        work.tell(" ".join(topic), main.list_commands(ctx), whole=whole)
    else:
        work.index()


@main.command(
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []},
    add_help_option=False,
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def audit(ctx: click.Context, arguments: tuple[str, ...]) -> None:
    """Check that mechanisms cost what they declare."""
    # The verification kit is above this package, so it is found by name and not imported.
    point = next(iter(metadata.entry_points(group="exchequer.commands", name="audit")), None)
    if point is None:
        raise click.ClickException("the verification kit is not installed: install exchequer with pip, not by path")
    command = point.load()
    assert isinstance(command, click.Command)
    given = ["--help" if argument == "-h" else argument for argument in arguments]
    command.main(given, prog_name=ctx.command_path, standalone_mode=False)
