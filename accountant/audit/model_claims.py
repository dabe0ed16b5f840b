"""What a saved model's file says about its cost, and the digest of its content, which binds receipts to it."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final, cast

import attrs

from accountant.audit.statement import UNBOUNDED, Statement
from accountant.canonical_json import canonical
from accountant.costs import ApproxDP, PureDP, positive, probability_below_one
from accountant.entries import Receipt

SHOWN: Final = 300
"""Characters of a value that a finding quotes."""

ALONE: Final = (
    "its claim stands alone, there is nothing to compare: the file names no entry of any ledger. Either the model was "
    "fitted with a ledger of its own, which ended with that fit, or its receipts were taken out"
)

LEARNT: Final = (
    "its claim stands alone: it was learnt from rados, which were paid for, and costs nothing itself. Verify the file "
    "of the rados instead, and learn from it again: `exchequer rados fit` gives the same model, of the release {}"
)

NOTHING_PROMISED: Final = "it promises nothing, and says so: it was made without protection, and without any ledger"

DIGITS: Final = 64
"""Of a digest; files may say anything."""

CONTENT: Final = ("learner", "parameters", "classes", "tuned", "model")
"""The parts of a model's file that say which model it is. The others are its statement and its receipts."""


@attrs.frozen
class ModelClaim:
    """What a model's file says about its cost.

    target: what its fit was to cost at most.  statement: as it stands in the file.
    content: the digest of the model, target included, which its receipts should be for.
    rados: the digest of the release that it was learnt from, None where there was none.
    """

    learner: str
    target: PureDP | ApproxDP
    content: str
    statement: Mapping[str, object]
    receipts: tuple[Receipt, ...]
    rados: str | None = None

    @property
    def head(self) -> str:
        """The newest entry of the ledger when the statement was made."""
        return str(self.statement.get("head"))

    @property
    def promises(self) -> bool:
        """Whether it promises anything."""
        return self.statement.get("spent") != UNBOUNDED

    @property
    def alone(self) -> str:
        """Why there is nothing to compare."""
        if not self.promises:
            return NOTHING_PROMISED
        return ALONE if self.rados is None else LEARNT.format(self.rados[:DIGITS])

    @property
    def path(self) -> str:
        """The sub-budget or label that it was fitted on, "" for neither: its account ends in the learner's name."""
        account = self.receipts[0].account if self.receipts else ""
        return account.removesuffix(f"/{self.learner}") if account != self.learner else ""

    @property
    def account(self) -> str:
        """What its charges must have been charged to."""
        return f"{self.path}/{self.learner}" if self.path else self.learner


def read_model_claim(path: str | Path) -> ModelClaim:
    """A model's claim. Raises ValueError naming the file and what is wrong with it, or OSError."""
    try:
        return _claim(json.loads(Path(path).read_text(encoding="utf-8")))
    except RecursionError:
        raise ValueError(f"{path}: nested too deeply") from None
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError) as error:
        what = f"there is no {error}" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"{path}: {what[:SHOWN]}") from error


def _claim(record: object) -> ModelClaim:
    if not isinstance(record, dict) or record.get("format") != "exchequer-model" or record.get("version") != 1:
        raise ValueError("not an exchequer model of version 1")
    learner, statement, receipts = record["learner"], record["statement"], record.get("receipts", [])
    if not isinstance(learner, str) or not isinstance(statement, dict) or not isinstance(receipts, list):
        raise TypeError("its learner, statement or receipts are not what a model's file has there")
    Statement.from_dict(statement)
    parameters = cast("Mapping[str, float]", record["parameters"])
    epsilon, delta = positive(parameters["epsilon"]), probability_below_one(parameters["delta"])
    target = ApproxDP(epsilon, delta) if delta else PureDP(epsilon)
    content = content_digest(cast("Mapping[str, object]", record))
    model = record["model"]
    rados = model.get("rados") if isinstance(model, dict) else None
    read = tuple(Receipt.from_dict(each) for each in receipts)
    return ModelClaim(learner, target, content, statement, read, None if rados is None else str(rados))


def content_digest(record: Mapping[str, object]) -> str:
    """SHA-256, in hexadecimal, of the canonical JSON of a model's content: the same before saving and in the file.

    Raises KeyError where a part is missing, and TypeError, ValueError or RecursionError where JSON has nothing for it.
    """
    written = json.loads(json.dumps({name: record[name] for name in CONTENT}))  # tuples become lists, as in a file
    return hashlib.sha256(canonical(written).encode("ascii")).hexdigest()
