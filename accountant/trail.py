"""Entries of the books: a hash chain over canonical JSON.

Canonical JSON is `json.dumps(record, sort_keys=True, separators=(",", ":"))`, ASCII only; an entry's digest is
SHA-256 over the digest before it and those bytes. So a changed, lost, swapped or repeated entry breaks the
chain, and a cut-off end shows against a `head` that an auditor kept elsewhere.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Final, Literal, Protocol

import attrs

from accountant.composition import (
    NOTHING,
    Amount,
    Composition,
    amount_from_record,
    composition_from_record,
)
from accountant.costs import GDP, ApproxDP, BoundedRange, cost_from_dict
from accountant.plans import Plan, Step

GENESIS: Final = "0" * 64

Kind = Literal["opened", "charged", "released"]


@attrs.frozen
class Entry:
    """One line of the books: its number, its kind, its canonical JSON and its digest."""

    number: int
    kind: Kind
    line: str
    digest: str

    @property
    def record(self) -> dict[str, object]:
        """The line, read."""
        parsed: dict[str, object] = json.loads(self.line)
        return parsed


def digest_of(before: str, line: str) -> str:
    """SHA-256 of one canonical line and the digest before it, in hexadecimal."""
    return hashlib.sha256(f"{before}{line}".encode("ascii")).hexdigest()


def canonical(record: dict[str, object]) -> str:
    """The canonical JSON of a record. Raises ValueError on NaN or infinity."""
    return json.dumps(record, sort_keys=True, separators=(",", ":"), allow_nan=False)


class EntryStore(Protocol):
    """Where entries live: append-only. `append` returns only when the entry is as durable as the store is."""

    def append(self, kind: Kind, line: str) -> None:
        """Add the next entry; its digest follows from the line and the digest before."""

    def entries(self) -> Sequence[Entry]:
        """All entries, oldest first."""

    @property
    def head(self) -> str:
        """The digest of the newest entry, or GENESIS."""


class MemoryStore:
    """Entries in this process's memory: gone when it ends.

    Digests are computed when somebody asks for them: in memory an early digest protects nothing, and a
    charge stays cheap.
    """

    def __init__(self) -> None:
        # Plain tuples and strings, which the garbage collector stops tracking: appending stays flat.
        self._rows: list[tuple[Kind, str]] = []
        self._digests: list[str] = []

    def append(self, kind: Kind, line: str) -> None:
        self._rows.append((kind, line))

    def _hash_the_rest(self) -> list[str]:
        before = self._digests[-1] if self._digests else GENESIS
        for _, line in self._rows[len(self._digests) :]:
            before = digest_of(before, line)
            self._digests.append(before)
        return self._digests

    def entries(self) -> Sequence[Entry]:
        rows = zip(self._rows, self._hash_the_rest(), strict=True)
        return tuple(Entry(number, kind, line, digest) for number, ((kind, line), digest) in enumerate(rows))

    @property
    def head(self) -> str:
        return self._hash_the_rest()[-1] if self._rows else GENESIS


def verify(entries: Iterable[Entry], *, expect_head: str | None = None) -> list[str]:
    """What is wrong with the books: nothing for sound ones, else one sentence per finding.

    Recomputes every digest and every sum from the costs, in exact arithmetic. A charge that was never
    followed by its release is reported too: it counts as spent, and somebody should know.
    expect_head: the head digest that an auditor kept; a mismatch means entries were cut off or rolled back.
    """
    audit = _Audit()
    for entry in entries:
        audit.take(entry)
    return audit.findings(expect_head)


class _Audit:
    """One pass over the books."""

    def __init__(self) -> None:
        self.before, self.expected = GENESIS, 0
        self.rule: Composition | None = None
        self.total, self.ceiling = NOTHING, NOTHING
        self.found: list[str] = []
        self.open: dict[int, str] = {}
        self.adjacency: object = None
        self.rounds: dict[int, int] = {}

    def take(self, entry: Entry) -> None:
        where = f"entry {self.expected}"
        try:
            if digest_of(self.before, entry.line) != entry.digest:
                self.found.append(f"{where}: its digest does not match its content and the entry before it")
            record = entry.record
            self._place(where, entry, record)
            self._content(where, record)
        except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            self.found.append(f"{where}: it cannot be read ({type(error).__name__}: {error})")
        self.before, self.expected = entry.digest, self.expected + 1

    def _place(self, where: str, entry: Entry, record: dict[str, object]) -> None:
        number, kind = record.get("number"), record.get("kind")
        if number != self.expected or kind != entry.kind:
            self.found.append(f"{where}: it is numbered {number!r} and called {kind!r}")

    def _content(self, where: str, record: dict[str, object]) -> None:
        match record.get("kind"):
            case "opened":
                self._opened(where, record)
            case "charged":
                self._charged(where, record)
            case "released":
                self._released(where, record)
            case other:
                self.found.append(f"{where}: unknown kind {other!r}")

    def _released(self, where: str, record: dict[str, object]) -> None:
        number = _whole(record["charge"])
        if self.open.pop(number, None) is None:
            self.found.append(f"{where}: it releases charge {number}, which is not open")
        used = [_whole(part["rounds"]) for part in _as_list(record["used"])]
        if any(rounds < 1 for rounds in used) or sum(used) > self.rounds.get(number, 0):
            self.found.append(
                f"{where}: it releases {sum(used)} rounds of {self.rounds.get(number, 0)} that were charged"
            )

    def _opened(self, where: str, record: dict[str, object]) -> None:
        if self.rule is not None:
            self.found.append(f"{where}: the books are opened a second time")
        self.rule, self.adjacency = composition_from_record(_as_dict(record["composition"])), record["adjacency"]
        budget = cost_from_dict(_as_dict(record["budget"]))
        if isinstance(budget, BoundedRange | GDP):
            raise ValueError(f"a {budget.kind} cost is not a budget")
        self.ceiling = self.rule.ceiling(budget)

    def _charged(self, where: str, record: dict[str, object]) -> None:
        if self.rule is None:
            raise ValueError("a charge before the books were opened")
        steps = [
            Step(cost_from_dict(_as_dict(step["cost"])), _whole(step["rounds"])) for step in _as_list(record["steps"])
        ]
        plan = Plan(steps)
        added = plan.amount(self.rule) if record["priced"] is None else self._priced(where, plan, record["priced"])
        self.total = self.total.plus(added)
        if amount_from_record(_as_text(record["after"])) != self.total:
            self.found.append(f"{where}: its running total is not the sum of the costs so far")
        if not self.total.within(self.ceiling):
            self.found.append(f"{where}: it takes the total above the budget")
        if record["adjacency"] != self.adjacency:
            self.found.append(f"{where}: its adjacency is not that of the books")
        self.rounds[self.expected] = plan.rounds
        self.open[self.expected] = str(record.get("account"))

    def _priced(self, where: str, plan: Plan, record: object) -> Amount:
        """A plan that was charged as one thing: its price is computed again."""
        assert self.rule is not None
        price = cost_from_dict(_as_dict(_as_object(record)["cost"]))
        if not isinstance(price, ApproxDP) or plan.price(price.delta).best.epsilon > price.epsilon * (1.0 + 1e-9):
            self.found.append(f"{where}: its plan costs more than the price it was charged at")
        return self.rule.amount(price)

    def findings(self, expect_head: str | None) -> list[str]:
        found = list(self.found)
        if self.rule is None:
            found.append("the books were never opened")
        if expect_head is not None and expect_head != self.before:
            found.append(f"the head is {self.before}, expected {expect_head}: entries were cut off or rolled back")
        found += [
            f"entry {number}: charged to {who!r} and never released (it counts)" for number, who in self.open.items()
        ]
        return found


def _step(record: dict[str, object]) -> Step:
    return Step(cost_from_dict(_as_dict(record["cost"])), _whole(record["rounds"]))


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"expected a whole number, got {value!r}")
    return value


def _as_object(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise TypeError(f"expected an object, got {value!r}")
    return value


def _as_dict(value: object) -> dict[str, float | str]:
    if not isinstance(value, dict):
        raise TypeError(f"expected an object, got {value!r}")
    return value


def _as_text(value: object) -> dict[str, str]:
    return {name: str(item) for name, item in _as_dict(value).items()}


def _as_list(value: object) -> list[dict[str, object]]:
    if not isinstance(value, list):
        raise TypeError(f"expected a list, got {value!r}")
    return value
