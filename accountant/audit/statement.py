"""What an auditor reads: the guarantee in a sentence, then who spent what on what."""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

import attrs

from accountant.audit.displayed_numbers import as_property, in_symbols, rounded_up
from accountant.audit.separate_fits import SeparateFits
from accountant.composition import ROUTE_CLAIMS, composition_from_record
from accountant.costs import CLAIM_OF_KIND, Budget, Unbounded, own_sources
from accountant.entries import Entry, visible

Row = tuple[str, str, str, int, str]

UNBOUNDED: Final = Unbounded.kind
"""What is spent where no ledger was asked, or one that promises nothing: no number would be true."""

SO_FAR: Final = "released so far"
BY_THIS_FIT: Final = "released by this fit"
"""How a guarantee says what it is about; the second, where other fits had ledgers of their own."""


@attrs.frozen
class Statement:
    """A snapshot of the ledger.

    guarantee: one sentence.  account: the path of the sub-budget it is about, "" for the whole.
    private: False where nothing is promised, and where any release used a simulated noise source, or may have:
      an open reservation that did not announce its mechanism.
    rows: one per group of equal charges: account, mechanism, cost, rounds, noise.
    plans: how plans that were charged as one thing were priced, and what was released of those that mix queries.
    fits: of a fit that is one of several with ledgers of their own; then the guarantee says so.
    """

    guarantee: str
    adjacency: str
    rule: str
    budget: str
    spent: str
    private: bool
    opened: str
    rows: tuple[Row, ...]
    plans: tuple[str, ...]
    claims: tuple[str, ...]
    unreleased: int
    head: str
    account: str = ""
    fits: SeparateFits | None = None

    @property
    def heading(self) -> str:
        """The first line."""
        if not self.promises:
            return "not private"
        return "privacy statement" if self.private else "simulation: not private"

    @property
    def promises(self) -> bool:
        """Whether it promises anything at all: False where no ledger was kept, or one that bounds nothing."""
        return self.spent != UNBOUNDED

    def among(self, fits: SeparateFits) -> "Statement":
        """The same of a fit that is one of several with ledgers of their own: it bounds that fit only."""
        return attrs.evolve(self, guarantee=f"{self.guarantee.replace(SO_FAR, BY_THIS_FIT, 1)} {fits}", fits=fits)

    def as_dict(self) -> dict[str, object]:
        """For JSON, beside a saved model."""
        record = {"heading": self.heading, **attrs.asdict(self)}
        if self.fits is None:  # as it was written before there was such a part
            del record["fits"]
        return record

    @staticmethod
    def from_dict(record: Mapping[str, object]) -> "Statement":
        """The inverse of `as_dict`. Raises KeyError where a part is missing."""
        # Statements of earlier versions were all about the whole, and did not say so.
        later = ("account", "fits")
        fields = {field.name: record[field.name] for field in attrs.fields(Statement) if field.name not in later}
        fields["account"] = record.get("account", "")
        if (fits := record.get("fits")) is not None:
            fields["fits"] = SeparateFits.from_dict(cast("Mapping[str, object]", fits))
        fields["rows"] = tuple(cast("Row", tuple(row)) for row in cast("list[list[object]]", record["rows"]))
        fields["plans"] = tuple(cast("list[str]", record["plans"]))
        fields["claims"] = tuple(cast("list[str]", record["claims"]))
        if fields["spent"] == UNBOUNDED and fields["private"]:
            raise ValueError("a statement that promises nothing calls itself private")
        _refuse_other_types(fields)
        return Statement(**cast("dict[str, Any]", fields))

    def lines(self) -> Iterator[tuple[str, str]]:
        """What stands below the guarantee: a name and a text per line, fit to be printed whatever the ledger says."""
        return ((name, visible(text)) for name, text in self._facts())

    def _facts(self) -> Iterator[tuple[str, str]]:
        yield "adjacency", self.adjacency
        yield "rule", self.rule
        yield from (("budget", self.budget), ("spent", self.spent), ("opened", self.opened))
        for account, mechanism, cost, rounds, noise in self.rows:
            yield "charged", f"{rounds} x {mechanism}, {cost} each, noise: {noise}, account: {account}"
        if len(self.sources) > 1:
            yield "noise", f"of different sources: {' and '.join(self.sources)}"
        if own := own_sources(self.sources):
            yield "noise", f"{' and '.join(own)}: no source of this library, taken at its owner's word"
        yield from (("plan", plan) for plan in self.plans)
        if self.claims:
            yield "rests on", ", ".join(self.claims)
        if self.unreleased:
            yield "unreleased", f"{self.unreleased} charges without a release; they count as spent"
        yield "head", self.head

    @property
    def sources(self) -> list[str]:
        """The names of all noise sources that were charged with, sorted; plans that named none are left out."""
        return sorted({noise for *_, noise in self.rows} - {"-"})

    def __str__(self) -> str:
        below = (f"  {name:<11} {text}" for name, text in self.lines())
        return "\n".join([self.heading, visible(self.guarantee), *below])


def _refuse_other_types(fields: Mapping[str, object]) -> None:
    """Raise TypeError where a part that is printed is not what `as_dict` writes: "no" for False reads as true."""
    rows, unreleased = cast("tuple[Row, ...]", fields["rows"]), fields["unreleased"]
    if not isinstance(fields["private"], bool) or isinstance(unreleased, bool) or not isinstance(unreleased, int):
        raise TypeError("a statement's private is true or false, and its unreleased is a whole number")
    if any(list(map(type, row)) != [str, str, str, int, str] for row in rows):
        raise TypeError("a statement's rows are account, mechanism, cost, rounds and noise")


def unprotected(scope: str) -> Statement:
    """The statement of something that was made of protected data without any ledger. scope: what is promised."""
    return Statement(
        guarantee=f"Nothing is promised. What is protected: {scope}.",
        adjacency="none",
        rule="none",
        budget="none",
        spent=UNBOUNDED,
        private=False,
        opened="never",
        rows=(),
        plans=(),
        claims=(),
        unreleased=0,
        head="none",
    )


def _sentence(spent: Budget, adjacency: str, private: bool) -> str:
    what = as_property(spent)
    if isinstance(spent, Unbounded):
        return (
            "Nothing is promised: these books list what was released and bound nothing. All of it together may tell "
            "everything about anybody, whatever the cost of a single release."
        )
    if private:
        return f"Everything {SO_FAR} is together {what} under {adjacency}."
    return f"With secure noise, everything {SO_FAR} would together be {what} under {adjacency}."


def _added(spent: Budget, adjacency: str, private: bool, account: str) -> str:
    """What a sub-budget is asked may follow from what others released, so its cost is no promise of its own."""
    what = in_symbols(spent)
    adds = "adds at most" if private else "would, with secure noise, add at most"
    return (
        f"What was released so far from the sub-budget {account!r} {adds} {what} under {adjacency} to what the same "
        "books release elsewhere; all of it together is bounded by the statement of the whole."
    )


def _record(entry: Entry, name: str) -> Mapping[str, object]:
    return cast("Mapping[str, object]", entry.record[name])


def _cost_text(record: Mapping[str, object]) -> str:
    numbers = ", ".join(
        f"{name} {rounded_up(cast('float', record[name]))}"
        for name in ("epsilon", "delta", "rho", "mu", "sampling_rate")
        if name in record
    )
    return f"{record['kind']} {numbers}".rstrip()


def _named(record: Mapping[str, object]) -> str:
    rest = ", ".join(f"{name} {value}" for name, value in record.items() if name != "name")
    return f"{record['name']} ({rest})" if rest else str(record["name"])


def state(entries: Sequence[Entry], spent: Budget, budget: Budget, account: str = "") -> Statement:
    """The statement of a ledger's entries, or of those that one sub-budget paid for.

    spent: what its rule makes of their sum.  budget: the most it may come to.
    account: the sub-budget's path, "" for everything.
    """
    details = gather(entries, account)
    private = details.private and not details.unknown and not isinstance(spent, Unbounded)
    opened = entries[0]
    rule = composition_from_record(cast("Mapping[str, str | float]", _record(opened, "composition")))
    adjacency = str(_record(opened, "adjacency")["name"])
    when = datetime.datetime.fromtimestamp(int(cast("int", opened.record["time"])) / 1e9, tz=datetime.UTC)
    return Statement(
        guarantee=(_added(spent, adjacency, private, account) if account else _sentence(spent, adjacency, private)),
        account=account,
        adjacency=_named(_record(opened, "adjacency")),
        rule=_named(_record(opened, "composition")),
        budget=_cost_text(budget.as_dict()),
        spent=_cost_text(spent.as_dict()),
        private=private,
        opened=when.isoformat(timespec="seconds"),
        rows=details.as_rows(),
        plans=tuple(details.plans),
        claims=tuple(sorted(details.claims | set(rule.claims))),
        unreleased=len(details.open),
        head=entries[-1].digest,
    )


class Details:
    """What one pass over the entries collects.

    open: the rounds of each charge without a release.  unknown: open charges that did not announce a mechanism.
    """

    def __init__(self, account: str) -> None:
        self.rows: dict[tuple[str, str, str, str], int] = {}
        self.claims: set[str] = set()
        self.open: dict[int, int] = {}
        self.plans: list[str] = []
        self.unknown: set[int] = set()
        self.private = True
        self._account, self._ours = account, not account

    def take(self, number: int, kind: str, record: Mapping[str, object]) -> None:
        """The next entry."""
        if kind == "allocated":
            # What was charged to a path before it had a budget of its own was paid by the account above it.
            self._ours = self._ours or record["account"] == self._account
        elif kind == "charged":
            if self._ours and f"{record['account']}/".startswith(f"{self._account}/" if self._account else ""):
                self._charged(number, record)
        elif (charge := cast("int", record["charge"])) in self.open:
            if kind == "returned":
                _returned(self, record)
                return
            del self.open[charge]
            self.unknown.discard(charge)
            _released(self, cast("list[Mapping[str, object]]", record["used"]))

    def _charged(self, number: int, record: Mapping[str, object]) -> None:
        steps = cast("list[Mapping[str, object]]", record["steps"])
        self.open[number] = sum(cast("int", step["rounds"]) for step in steps)
        if record["mechanism"] is None:
            self.unknown.add(number)  # what it releases is noted when it closes
        _charged(self, record)

    def mechanism(self, record: Mapping[str, object]) -> tuple[str, str]:
        """Note one mechanism's noise and claims; its name and its noise source for the rows."""
        self.private = self.private and bool(record["private"])
        self.claims.update(cast("list[str]", record["claims"]))
        return f"{record['mechanism']}({record['query']})", str(record["noise"])

    def as_rows(self) -> tuple[Row, ...]:
        return tuple((who, what, cost, n, noise) for (who, what, cost, noise), n in self.rows.items())


def gather(entries: Sequence[Entry], account: str = "") -> Details:
    """One pass over the entries that an account paid for, and the accounts below it."""
    details = Details(account)
    for entry in entries:
        if entry.kind in ("charged", "released", "returned", "allocated"):
            details.take(entry.number, entry.kind, entry.record)
    return details


def _returned(details: Details, record: Mapping[str, object]) -> None:
    """Note that rounds were given back; a charge that gave all of them back waits for no release."""
    charge, rounds = cast("int", record["charge"]), cast("int", record["rounds"])
    details.plans.append(f"{rounds} of the {details.open[charge]} rounds of entry {charge} were given back unused")
    details.open[charge] -= rounds
    if not details.open[charge]:
        del details.open[charge]
        details.unknown.discard(charge)


def _released(details: Details, used: list[Mapping[str, object]]) -> None:
    """Note what was really drawn; where it was of several queries, how often each."""
    counts: dict[str, int] = {}
    for each in used:
        name, _ = details.mechanism(cast("Mapping[str, object]", each["mechanism"]))
        counts[name] = counts.get(name, 0) + cast("int", each["rounds"])
    if len(counts) > 1:
        details.plans.append("released " + ", ".join(f"{rounds} x {name}" for name, rounds in counts.items()))


def _charged(details: Details, record: Mapping[str, object]) -> None:
    announced = cast("Mapping[str, object] | None", record["mechanism"])
    name, noise = ("plan", "-") if announced is None else details.mechanism(announced)
    steps = cast("list[Mapping[str, object]]", record["steps"])
    if (priced := cast("Mapping[str, object] | None", record["priced"])) is not None:
        price = _cost_text(cast("Mapping[str, object]", priced["cost"]))
        rounds = sum(cast("int", step["rounds"]) for step in steps)
        details.plans.append(f"{rounds} rounds of {record['account']} as one plan: {price} (by {priced['route']})")
        details.claims.add(ROUTE_CLAIMS[str(priced["route"])])
    if len(steps) > 1:
        name = f"step of {name}"  # which step is which query stands in what was released
    for step in steps:
        declared = cast("Mapping[str, object]", step["cost"])
        details.claims.update({CLAIM_OF_KIND[kind] for kind in [str(declared["kind"])] if kind in CLAIM_OF_KIND})
        cost = _cost_text(declared)
        key = (str(record["account"]), name, cost, noise)
        details.rows[key] = details.rows.get(key, 0) + cast("int", step["rounds"])
