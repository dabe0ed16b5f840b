"""What an auditor reads: the guarantee in a sentence, then who spent what on what."""

import datetime
import json
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any, Final, cast

import attrs

from accountant.audit.displayed_numbers import as_property, in_symbols
from accountant.audit.reading import Reading
from accountant.audit.separate_fits import SeparateFits
from accountant.audit.statement_details import Row, StatementDetails, cost_text
from accountant.canonical_json import canonical
from accountant.costs import Budget, Unbounded, adjacency_record, own_sources
from accountant.entries import Entry, visible

UNBOUNDED: Final = Unbounded.kind
"""What is spent where no ledger was asked, or one that promises nothing: no number would be true."""

SO_FAR: Final = "released so far"
BY_THIS_FIT: Final = "released by this fit"
"""How a guarantee says what it is about; the second, where other fits had ledgers of their own."""


@attrs.frozen
class Statement:
    """What a ledger said at one moment: what was spent, on what, under which assumptions.

    guarantee: one sentence.  adjacency, rule, budget, spent: in words.  opened: when the ledger was.
    claims: ids of the theorems that the costs depend on.  unreleased: how many charges have no release.
    head: the digest of the newest entry.  account: the path of the sub-budget it is about, "" for the whole.
    private: False where nothing is promised, and where any release used a simulated noise source, or may have:
      an open reservation that did not announce its mechanism.
    rows: one per group of equal charges: account, mechanism, cost, rounds, noise.
    plans: how plans that were charged as one thing were priced, and what was released of those that mix queries.
    about: what charges say that they are about, and how many say so.
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
    about: tuple[tuple[str, int], ...] = ()

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
        if not self.about:
            del record["about"]
        return record

    @staticmethod
    def from_dict(record: Mapping[str, object]) -> "Statement":
        """The inverse of `as_dict`. Raises KeyError where a part is missing."""
        # Statements of earlier versions were all about the whole, and did not say so.
        later = ("account", "fits", "about")
        fields = {field.name: record[field.name] for field in attrs.fields(Statement) if field.name not in later}
        fields["account"] = record.get("account", "")
        if (fits := record.get("fits")) is not None:
            fields["fits"] = SeparateFits.from_dict(cast("Mapping[str, object]", fits))
        said = cast("list[list[object]]", record.get("about", []))
        fields["about"] = tuple(cast("tuple[str, int]", tuple(each)) for each in said)
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
        for said, charges in self.about:
            yield "about", f"{charges} {'charge' if charges == 1 else 'charges'}: {said}"
        if len(self.sources) > 1:
            yield "noise", f"of different sources: {' and '.join(self.sources)}"
        if own := own_sources(self.sources):
            yield "noise", f"{' and '.join(own)}: no source of this library, taken at its owner's word"
        yield from (("plan", plan) for plan in self.plans)
        if self.claims:
            yield "claims", ", ".join(self.claims)
        if self.unreleased:
            yield "unreleased", f"{self.unreleased} charges without a release; they count as spent"
        yield "head", self.head

    @property
    def sources(self) -> list[str]:
        """The names of all noise sources that were charged with, sorted; plans that named none are left out."""
        return sorted({noise for *_, noise in self.rows} - {"-"})

    def _repr_html_(self) -> str:
        """For notebooks: the guarantee, and below it the same lines as in the text."""
        rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in self.lines())
        said = f"<strong>{escape(self.heading)}</strong><br>{escape(visible(self.guarantee))}"
        return f'<table style="text-align: left"><caption>{said}</caption><tbody>{rows}</tbody></table>'

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
    if any(list(map(type, each)) != [str, int] for each in cast("tuple[tuple[str, int], ...]", fields["about"])):
        raise TypeError("a statement's about is texts, and how many charges say each")


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


def _named(record: Mapping[str, object]) -> str:
    as_written: dict[str, object] = json.loads(canonical(dict(record)))
    rest = ", ".join(f"{name} {value}" for name, value in as_written.items() if name != "name")
    return f"{as_written['name']} ({rest})" if rest else str(as_written["name"])


def state(entries: Iterable[Entry], spent: Budget, budget: Budget, account: str = "") -> Statement:
    """The statement of a ledger's entries, or of those that one sub-budget paid for.

    spent: what its rule makes of their sum.  budget: the most it may come to.
    account: the sub-budget's path, "" for everything.  Raises ValueError for entries that cannot be read.
    """
    return stated(*gather(entries), spent, budget, account)


def gather(entries: Iterable[Entry]) -> tuple[StatementDetails, str]:
    """What one pass over the entries collects, and the digest of the newest. Raises ValueError as `state` does."""
    details = StatementDetails()
    reading = Reading(details, checked=False)
    reading.take(entries)
    return details, reading.head


def stated(details: StatementDetails, head: str, spent: Budget, budget: Budget, account: str = "") -> Statement:
    """The same of what one pass over the entries collected. head: the digest of the newest of them."""
    if (opened := details.opened) is None:
        raise ValueError("the ledger was never opened")
    private = details.private(account) and not isinstance(spent, Unbounded)
    rule = opened.composition
    when = datetime.datetime.fromtimestamp(opened.time / 1e9, tz=datetime.UTC)
    adjacency = adjacency_record(opened.adjacency)
    named = str(adjacency["name"])
    return Statement(
        guarantee=(_added(spent, named, private, account) if account else _sentence(spent, named, private)),
        account=account,
        adjacency=_named(adjacency),
        rule=_named(rule.describe()),
        budget=cost_text(budget),
        spent=cost_text(spent),
        private=private,
        opened=when.isoformat(timespec="seconds"),
        rows=details.rows(account),
        plans=details.plans(account),
        claims=tuple(sorted(details.claims(account) | set(rule.claims))),
        unreleased=details.unreleased(account),
        about=details.about(account),
        head=head,
    )
