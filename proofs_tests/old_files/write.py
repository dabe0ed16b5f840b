"""`python -m proofs_tests.old_files.write DIRECTORY`: such files as `files` holds, of the code at hand.

With `--second` those of `files/second`: of fits that release otherwise since the first were kept. With `--third` those
of `files/third`: of the same fits, which learn otherwise from what they release since the second were.

For a look at what another version writes. What is in `files` stays as it is: a new kind of file may be added.
"""

import contextlib
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

from benchmarks.ledgers.postgres import Server
from proofs_tests.old_files import readouts
from proofs_tests.old_files.cases import CASES, CHANGED, CHARGED, NEW, PURSES, SEED, relation
from proofs_tests.old_files.doors import (
    AdvancedComposition,
    ApproxDP,
    BasicComposition,
    BudgetExceeded,
    Composition,
    GDPComposition,
    Ledger,
    SeededNoise,
    TextbookComposition,
    UnsupportedBudget,
    UnsupportedCost,
    ZCDPComposition,
    as_in_first_format,
    begin_in_first_format,
    in_memory_in_first_format,
    write_checkpoint,
)
from proofs_tests.old_files.frozen import Clock, frozen, put, put_json, said
from proofs_tests.old_files.scripts import LEDGERS
from proofs_tests.old_files.tables import SCHEMA_FILE, as_csv, people, rich

REPORTED: Final = ("basic", "zcdp", "gdp", "unbounded", "sound", "mechanisms")
SECOND: Final = ("basic", "mechanisms", "mechanisms-at-delta", "mechanisms-gdp", "sound-zcdp")
"""Of which another accountant is asked as well."""

RECEIPTED: Final = "basic"
IN_POSTGRESQL: Final = "basic"
SECURE: Final = ("private-boost", "lazy-boost", "halfspace")
"""Of these there is a model with secure noise, too, which nobody can write again."""

LEARNERS: Final = ("private-boost", "lazy-boost", "logistic", "gradient-boosting", "bagging")
PRICES: Final = {
    "plan": "--mechanism bounded-range:0.01 --rounds 100 --delta 1e-5",
    "mixed": "--mechanism zcdp:0.01@5 --mechanism pure-dp:0.1@3 --mechanism laplace-dp:0.2",
    "gaussian": "--mechanism gdp:0.1@7 --mechanism approx-dp:0.1,1e-7",
    "learner": "--learner lazy-boost --n 32561 --rounds 50 --epsilon 1",
    "halfspace": "--halfspace --margin 0.5 --dimension 5 --error 0.3 --failure 0.1 --epsilon 3 --delta 1e-5",
}


@contextlib.contextmanager
def empty_folder() -> Iterator[Path]:
    """A new one, which is the current folder as long as the block lasts."""
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        yield Path(name)


def main(target: Path) -> None:
    """Write all of them."""
    put_json(target / "made_on.json", {"commit": _commit()})
    put_json(target / "tables.json", {name: plain_table(table()) for name, table in NEW.items()})
    for write in (models, secure_models, trained, ledgers, paid, charges, postgresql):
        with empty_folder():
            write(target)


def _commit() -> str:
    git = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return git.stdout.strip()


def plain_table(table: Any) -> object:
    """For JSON."""
    return table if isinstance(table, dict) else table.tolist()


# --- models ------------------------------------------------------------------------------------------------------


def fitted_model(name: str, path: Path) -> Any:
    """One of CASES, fitted and saved here and now, on a ledger of its own with a frozen clock."""
    with frozen(name):
        model = CASES[name].fitted()
    model.save(path)
    return model


def lines_of(model: Any) -> list[str]:
    """The entries of the ledger that paid, as the first format has them; none where there was no ledger."""
    return [as_in_first_format(entry) for entry in model.ledger_.entries] if hasattr(model, "ledger_") else []


def model_readouts(path: Path, table_name: str) -> dict[str, object]:
    """All that is read from a model's file."""
    table = NEW[table_name]()
    found = readouts.of_model(readouts.loaded(path), table)
    return {"table": table_name, "python": found, "shell": readouts.of_model_file(path.read_bytes(), table, Path())}


def models(target: Path, cases: Sequence[str] = tuple(CASES)) -> None:
    """One of each of CASES, with what it says, and with the entries of the ledger that paid."""
    told = {}
    for name in cases:
        case = CASES[name]
        model = fitted_model(name, Path("fitted.json"))
        put(target / "models" / f"{name}.json", Path("fitted.json").read_bytes())
        told[name] = {**model_readouts(Path("fitted.json"), case.table), "lines": lines_of(model)}
    put_json(target / "models.said.json", told)


def secure_models(target: Path) -> None:
    """With real noise."""
    told = {}
    for name in SECURE:
        CASES[name].fitted(random_state=None).save("fitted.json")
        put(target / "secure_models" / f"{name}.json", Path("fitted.json").read_bytes())
        told[name] = model_readouts(Path("fitted.json"), CASES[name].table)
    put_json(target / "secure_models.said.json", told)


# --- the command line --------------------------------------------------------------------------------------------


def people_files() -> None:
    """A table and its schema, in the current folder."""
    table = people()
    Path("people.csv").write_text(as_csv({**table, "rich": rich(table)}), encoding="utf-8")
    Path("people.toml").write_text(SCHEMA_FILE, encoding="utf-8")


def train(learner: str) -> tuple[dict[str, object], bytes]:
    """What `exchequer train` prints, and the file that it writes."""
    with frozen(learner):
        told = said(
            *("train", "people.csv", "--schema", "people.toml", "--learner", learner, "--epsilon", "4"),
            *("--delta", "1e-6", "--seed", "7", "--out", "model.json", "--force"),
        )
    return told, Path("model.json").read_bytes()


def released_rados() -> dict[str, object]:
    """Rados from the command line, and what is learnt from them."""
    with frozen("rados"):
        order = ("--epsilon", "4", "--delta", "1e-6", "--number", "20", "--seed", "7", "--force")
        release = said("rados", "release", "people.csv", "--schema", "people.toml", *order, "--out", "rados.json")
        return {"release": release, "show": said("rados", "show", "rados.json"), **learnt_from_rados()}


def learnt_from_rados() -> dict[str, object]:
    """What is learnt from the file rados.json."""
    told = said("rados", "fit", "rados.json", "--out", "linear.json", "--rounds", "20", "--force")
    predict = said("predict", "people.csv", "--model", "linear.json", "--score")
    return {"fit": told, "model": Path("linear.json").read_text(encoding="utf-8"), "predict": predict}


def trained(target: Path) -> None:
    """Files of `train` and `rados`, and prices."""
    people_files()
    told = trained_models(target, LEARNERS)
    told["rados"] = released_rados()
    put(target / "trained" / "rados.json", Path("rados.json").read_bytes())
    put_json(target / "trained.said.json", told)
    put_json(target / "prices.json", priced())


def trained_models(target: Path, learners: Sequence[str]) -> dict[str, object]:
    """Files of `train`, and what it prints."""
    told: dict[str, object] = {}
    for learner in learners:
        told[learner], content = train(learner)
        put(target / "trained" / f"{learner}.json", content)
    return told


def priced() -> dict[str, object]:
    """What `price` says."""
    return {name: said("price", *order.split(), "--json") for name, order in PRICES.items()}


# --- ledgers -----------------------------------------------------------------------------------------------------


def play(name: str, opens: Callable[[Any], Ledger]) -> Ledger:
    """One of LEDGERS, written here and now. opens: the ledger, empty, of a promise."""
    promise = LEDGERS[name]
    with frozen(name) as clock:
        ledger = opens(promise)
        promise.script(ledger, clock, checkpoint=write_checkpoint)
    return ledger


def in_memory(promise: Any) -> Ledger:
    """A ledger that is kept nowhere; of the first format, as all that were kept."""
    return in_memory_in_first_format(promise.budget, composition=promise.composition, adjacency=promise.adjacency)


def opens_at(url: str) -> Callable[[Any], Ledger]:
    """A ledger that is kept there, of the first format."""

    def opens(promise: Any) -> Ledger:
        begin_in_first_format(url, promise.budget, composition=promise.composition, adjacency=promise.adjacency)
        return Ledger.open(url, signing_key=readouts.signing_key())

    return opens


def cost_for(name: str) -> str:
    """A plan that the rule of that ledger takes."""
    return "gdp:0.01@5" if "gdp" in name else "pure-dp:0.01@5"


def accounts_of(ledger: Ledger) -> tuple[str, ...]:
    """The paths of its sub-budgets."""
    return tuple(str(entry.record["account"]) for entry in ledger.entries if entry.kind == "allocated")


def ledgers(target: Path) -> None:
    """SQLite files, exports, reports and receipts."""
    told, reports = {}, {}
    for name in LEDGERS:
        file = f"{name}.db"
        with play(name, opens_at(f"sqlite:///{file}")) as ledger:
            found, accounts = readouts.of_ledger(ledger), accounts_of(ledger)
            if name in REPORTED:
                reports[name] = readouts.of_report(ledger, name)
            if name == RECEIPTED:
                public = readouts.signing_key().public.hex
                put_json(target / "receipts.json", {"public key": public, "receipts": readouts.of_receipts(ledger)})
        put(target / "ledgers" / file, Path(file).read_bytes())
        told[name] = {
            "python": found,
            "shell": readouts.of_ledger_file(file, cost_for(name), accounts, second=name in SECOND),
            "accounts": accounts,
            "export": readouts.exported(file),
        }
    put_json(target / "ledgers.said.json", told)
    put_json(target / "reports.json", reports)


# --- models that were paid for ---------------------------------------------------------------------------------


def pay(ledger: Ledger, cases: Sequence[str], clock: Clock) -> Iterator[tuple[str, Any]]:
    """Models, paid for in turn by a sub-budget, under a label, and under none."""
    purses = (ledger.allocate("team", 0.5), ledger.announce("pilot"), ledger.labelled("main"))
    for number, name in enumerate(cases):
        yield name, CASES[name].fitted(ledger=purses[number % 3], random_state=SeededNoise(SEED))
        clock.tick()


def paid_models(purse: str, folder: Path) -> None:
    """Models with signed receipts, and the ledger that paid, of the first format."""
    url, budget = f"sqlite:///{folder / purse}.db", ApproxDP(400.0, 1e-3)
    with frozen(purse) as clock:
        begin_in_first_format(url, budget, composition=BasicComposition(), adjacency=PURSES[purse].adjacency)
        with Ledger.open(url, signing_key=readouts.signing_key()) as ledger:
            for name, model in pay(ledger, PURSES[purse].cases, clock):
                model.save(folder / f"{name}.json")


def verified(model: str, purse: str) -> dict[str, object]:
    """What `verify-model` says of a file in the current folder."""
    order = ("verify-model", model, "--ledger", f"{purse}.db")
    return {
        "signed": said(*order, "--public-key", "key.pub"),
        "json": said(*order, "--public-key", "key.pub", "--json"),
        "whoever signed": said(*order),
    }


def paid(target: Path, purses: Sequence[str] = tuple(PURSES)) -> None:
    """The same, with what `verify-model` says, and what is learnt from rados that were paid for."""
    readouts.signing_key().public.save("key.pub")
    people_files()
    for purse, what in ((purse, PURSES[purse]) for purse in purses):
        paid_models(purse, Path())
        for name in (f"{purse}.db", "key.pub", *(f"{each}.json" for each in what.cases)):
            put(target / purse / name, Path(name).read_bytes())
        told: dict[str, object] = {name: verified(f"{name}.json", purse) for name in what.cases}
        told["export"] = readouts.exported(f"{purse}.db")
        if "rados" in what.cases:
            told["from rados"] = learnt_from_rados()
        put_json(target / f"{purse}.said.json", told)


RULES: Final[Mapping[str, Composition]] = {
    "basic": BasicComposition(),
    "zcdp": ZCDPComposition(),
    "gdp": GDPComposition(),
    "advanced-tight": AdvancedComposition(5e-7),
    "textbook": TextbookComposition(5e-7),
}


def charged(name: str, rule: str) -> list[str]:
    """The lines that a fit adds to a ledger with that rule; none where it is refused."""
    with frozen(name):
        ledger = in_memory_in_first_format(ApproxDP(400.0, 1e-3), composition=RULES[rule], adjacency=relation(name))
        with contextlib.suppress(UnsupportedCost, UnsupportedBudget, BudgetExceeded, ValueError):
            CASES[name].fitted(ledger=ledger)
    return [entry.line for entry in ledger.entries][1:]


def charges(target: Path, cases: Sequence[str] = CHARGED) -> None:
    """What fits add to ledgers of every rule."""
    put_json(target / "charges.json", {rule: {name: charged(name, rule) for name in cases} for rule in RULES})


def third(target: Path) -> None:
    """What CHANGED fits write now: models, and files of `train`."""
    with empty_folder():
        models(target, CHANGED)
    with empty_folder():
        people_files()
        put_json(target / "trained.said.json", trained_models(target, [each for each in LEARNERS if each in CHANGED]))


def second(target: Path) -> None:
    """The same, ledgers that paid, and what is charged."""
    third(target)
    with empty_folder():
        paid(target, [purse for purse, what in PURSES.items() if {*what.cases} & {*CHANGED}])
    charges(target, [name for name in CHARGED if name in CHANGED])


# --- PostgreSQL --------------------------------------------------------------------------------------------------


def postgresql(target: Path) -> None:
    """The statements that make the tables, and the rows in them."""
    made: list[str] = []
    with Server() as server, server.database() as url:
        sa.event.listen(sa.Engine, "before_cursor_execute", lambda *given: made.append(given[2]))
        with play(IN_POSTGRESQL, opens_at(url)) as ledger:
            head = ledger.head
        engine = sa.create_engine(url, poolclass=sa.NullPool)
        with engine.connect() as connection:
            rows = [list(row) for row in connection.execute(sa.text("SELECT * FROM exchequer_entries ORDER BY number"))]
            versions = [list(row) for row in connection.execute(sa.text("SELECT * FROM exchequer_schema"))]
    statements = [each for each in made if each.lstrip().startswith("CREATE")]
    content = {"statements": statements, "versions": versions, "rows": rows, "head": head, "script": IN_POSTGRESQL}
    put_json(target / "postgresql.json", content)


if __name__ == "__main__":
    warnings.simplefilter("error")
    kinds = {"": main, "--second": second, "--third": third}
    if len(sys.argv) not in (2, 3) or (kind := "".join(sys.argv[2:])) not in kinds:
        sys.exit(__doc__)
    kinds[kind](Path(sys.argv[1]).resolve())
