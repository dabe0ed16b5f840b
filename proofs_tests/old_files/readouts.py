"""All that can be read from a model's file or a ledger's, in Python and on the command line."""

import datetime
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from proofs_tests.old_files.doors import (
    ClaimText,
    Ledger,
    PrivateEstimator,
    PublicKey,
    RadoBoostClassifier,
    RadoRelease,
    Receipt,
    SigningKey,
    Statement,
    private_key,
    report,
    verify,
)
from proofs_tests.old_files.frozen import kept_json, plain, said
from proofs_tests.old_files.tables import as_csv

SAYS: Final = ("predict", "decision_function", "predict_proba", "explain")

# --- models ------------------------------------------------------------------------------------------------------


def named(table: object) -> Mapping[str, Any]:
    """A table's columns by their names, as a file has them."""
    if isinstance(table, Mapping):
        return table
    columns = np.asarray(table)
    return {f"x{number}": columns[:, number].tolist() for number in range(columns.shape[1])}


def as_table(stored: Any) -> Any:
    """A table from JSON: columns by their names, or an array."""
    return stored if isinstance(stored, Mapping) else np.array(stored)


def of_model(model: Any, table: Any) -> dict[str, object]:
    """What a model says of a table's records, its public attributes, and what it says that it cost."""
    found: dict[str, object] = {}
    for what in SAYS:
        if hasattr(model, what):
            answer = getattr(model, what)
            found[what] = plain(answer() if what == "explain" else answer(table))
    hidden = ("_", "model_", "ledger_", "statement_", "receipts_", "parameters_", "tuned_")  # as in the file, if there
    names = sorted(name for name in vars(model) if name.endswith("_") and not name.startswith(hidden))
    found["attributes"] = {name: plain(getattr(model, name)) for name in names}
    found["learner"] = type(model).__name__
    if isinstance(model, RadoRelease):
        found["learnt"] = plain(RadoBoostClassifier(rounds=5).fit_rados(model).coef_)
    return found | of_statement(model.statement_) | {"receipts": [of_receipt(each) for each in model.receipts_]}


def of_statement(statement: Statement) -> dict[str, object]:
    """A statement, for people and for programs."""
    return {
        "statement": str(statement),
        "statement as JSON": statement.as_dict(),
        "read again": str(Statement.from_dict(statement.as_dict())),
    }


def of_receipt(receipt: Receipt) -> list[object]:
    """A receipt, for people and for programs."""
    return [str(receipt), receipt.as_dict()]


def of_model_file(content: bytes, table: Any, folder: Path) -> dict[str, object]:
    """What the command line says of a model's file, in an empty folder that is the current one."""
    (folder / "model.json").write_bytes(content)
    (folder / "table.csv").write_text(as_csv(named(table)), encoding="utf-8")
    return {
        "explain": said("explain", "model.json", "--lines", "all", "--format", "markdown"),
        "explain --json": said("explain", "model.json", "--lines", "all", "--format", "json"),
        "predict": said("predict", "table.csv", "--model", "model.json"),
        "predict --proba": said("predict", "table.csv", "--model", "model.json", "--proba"),
        "rados show": said("rados", "show", "model.json"),
    }


def loaded(path: Path) -> Any:
    """A model of whatever learner, from its file."""
    return PrivateEstimator.load(path)


# --- ledgers -----------------------------------------------------------------------------------------------------

DELTAS: Final = (1e-3, 1e-6)


def of_ledger(ledger: Ledger) -> dict[str, object]:
    """What a ledger says of itself."""
    return {
        "id": ledger.id,
        "head": ledger.head,
        "budget": ledger.budget.as_dict(),
        "composition": ledger.composition.describe(),
        "adjacency": str(ledger.adjacency),
        "spent": ledger.spent.as_dict(),
        "remaining": plain(ledger.remaining),
        "verify": str(ledger.verify()),
        **of_statement(ledger.statement()),
        "odometer": of_odometer(ledger.odometer()),
    }


def of_odometer(odometer: Any) -> dict[str, object]:
    """All its read-outs."""
    return {
        "epsilon": plain(odometer.curve((*DELTAS, 0.0))),
        "least delta": plain(odometer.least_delta),
        "other rules": plain(odometer.other_rules(1e-5)),
        "over time": plain(odometer.over_time(1e-4)),
        "total": plain(odometer.total),
        "charges": odometer.charges,
        "rounds": [[cost.as_dict(), rounds] for cost, rounds in odometer.rounds.items()],
        "priced": odometer.priced,
        "by sub-budget": plain(odometer.by_sub_budget),
        "by account": plain(odometer.by_account),
        "by mechanism": plain(odometer.by_mechanism),
        "points": plain(odometer.points),
    }


def of_ledger_file(file: str, cost: str, accounts: Sequence[str], *, second: bool) -> dict[str, object]:
    """What the command line says of a ledger, but for its export.

    cost: one that its rule takes, as `price` has it.  second: whether another accountant is asked, too.
    """
    found: dict[str, object] = {
        "show": said("ledger", "show", file),
        "show --json": said("ledger", "show", file, "--entries", "1000", "--json"),
        "verify": said("ledger", "verify", file),
        "verify --json": said("ledger", "verify", file, "--json"),
        "verify --strict": said("ledger", "verify", file, "--strict"),
        "price": said("ledger", "price", file, "--mechanism", cost, "--json"),
    }
    if second:
        found["second opinion"] = said("ledger", "verify", file, "--second-opinion", "--json")
    for account in accounts:
        found[f"show {account} --json"] = said("ledger", "show", file, "--account", account, "--json")
    return found


def exported(file: str) -> str:
    """What `exchequer ledger export` writes."""
    return str(said("ledger", "export", file, "--out", "-")["out"])


MADE: Final = datetime.datetime(2026, 1, 2, 12, 30, tzinfo=datetime.UTC)
CLAIMS: Final = {
    name: ClaimText(name, "confirmed", f"What {name} says.", "a source")
    for name in ("basic", "L2", "laplace-dp", "gdp", "001-per-round-zeta")
}
"""Of the registry as it was; what it says today is none of these files' business."""


def of_report(ledger: Ledger, title: str) -> str:
    """The report for people, without the version that made it."""
    entries = ledger.entries
    found = verify(entries)
    text = report(entries, verification=found, claims=CLAIMS, second_opinion=None, title=title, made=MADE)
    return re.sub(r"Exchequer [0-9.]+[0-9](\.dev[0-9]+)?", "Exchequer", text)


def of_receipts(ledger: Ledger) -> list[list[object]]:
    """A receipt for every entry; every second one says what was bought."""
    bought = [None if number % 2 else f"{number:064x}" for number in range(len(ledger.entries))]
    return [of_receipt(ledger.receipt(number, bought=bought[number])) for number in range(len(ledger.entries))]


def signing_key() -> SigningKey:
    """The key that all receipts are signed with: no secret, its 32 bytes are 0, 1, 2 and so on."""
    return SigningKey(private_key(bytes(range(32))))


def public_key() -> PublicKey:
    """Its public half, as it was kept."""
    return PublicKey(kept_json("receipts")["public key"])
