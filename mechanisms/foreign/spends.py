"""What was spent elsewhere, before this ledger knew of it: charged as somebody declares it, and marked as that."""

import datetime
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import attrs
from attrs.validators import instance_of

from accountant import (
    Adjacency,
    AdjacencyMismatch,
    BeyondFloats,
    Budget,
    Composition,
    Description,
    Ledger,
    Plan,
    UnsupportedCost,
)
from accountant.costs import open_probability, word_of
from accountant.entries import MAIN, Charged, decode
from mechanisms.foreign.declared import FOREIGN_CLAIM

QUERY: Final = "declared elsewhere"
"""What an entry says was released: nobody here knows more."""

FILE: Final = "spends"
"""The parameter that holds the digest of what was imported."""

MOST_SPENDS: Final = 10_000
MOST_CALLS: Final = 10**6
"""Of all spends of a file together: an entry counts each."""

LONGEST_TEXT: Final = 200


def _text(instance: object, attribute: "attrs.Attribute[str]", value: str) -> None:
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        raise ValueError(f"{attribute.name}: expected a text of at most {LONGEST_TEXT} characters, got {value!r:.99}")


def _named(instance: object, attribute: "attrs.Attribute[str]", value: str) -> None:
    _text(instance, attribute, value)
    if not value.strip():
        raise ValueError(f"{attribute.name}: expected a text, got {value!r}")


def _date(instance: object, attribute: "attrs.Attribute[str]", value: str) -> None:
    try:
        if value:
            datetime.date.fromisoformat(value)
    except (TypeError, ValueError):
        raise ValueError(f"date: expected one as 2026-01-31, got {value!r:.99}") from None


@attrs.frozen
class ForeignSpend:
    """One spend of another library, that has happened.

    steps: what it cost, as whoever declares it says.  adjacency: the relation under which that holds.
    library: its name and version.  name: what ran, in that library's words.  date: when, as 2026-01-31, or "".
    delta: in (0, 1), at which it is read where a ledger adds up (ε, δ) and takes no such cost; None for the importer's.
    Raises ValueError for values that are impossible.
    """

    steps: Plan = attrs.field(validator=instance_of(Plan))
    adjacency: Adjacency
    library: str = attrs.field(validator=_named)
    name: str = attrs.field(validator=_named)
    date: str = attrs.field(default="", validator=_date)
    delta: float | None = attrs.field(default=None, converter=attrs.converters.optional(open_probability))

    def owed(self, rule: Composition, delta: float | None) -> Plan:
        """What a ledger of that rule is charged: its steps as they are, else all of them at their best (ε, δ).

        delta: for spends that name none.  Raises UnsupportedCost.
        """
        try:
            self.steps.amount(rule)
        except UnsupportedCost as error:
            at = delta if self.delta is None else self.delta
            if at is None:
                raise UnsupportedCost(f"{error}; or name a delta at which it is read as (ε, δ)") from None
            price = self.steps.cheapest(at).best
            rule.amount(price)
            return Plan.of(price)
        return self.steps

    def described(self, declared_by: str) -> Description:
        """What the entry says: who declared it, and that nobody here checked it."""
        more = (("date", self.date),) if self.date else ()
        return _described(f"{self.name} of {self.library}", self.library, declared_by, more)


class Recorded(NamedTuple):
    """What was charged: the entry, in how many spends, and the total from then on."""

    entry: int
    spends: int
    spent: Budget


def record_spends(
    ledger: Ledger,
    spends: Sequence[ForeignSpend],
    *,
    declared_by: str,
    digest: str,
    source: str = "",
    delta: float | None = None,
    account: str = MAIN,
    again: bool = False,
) -> Recorded:
    """Charge spends that happened elsewhere, all of them with one entry, or none.

    declared_by: whose word they are.  source: where that comes from, a file's name say.
    digest: of what was read, so that it is not charged twice: the same one is refused unless `again`. Of two imports at
    the same moment the first entry stands, and the other is given back.
    delta: at which spends are read that this ledger's rule takes only as (ε, δ), and that name none.
    Their price is worked out before anything is written. What the budget does not cover is refused: a ledger never says
    more than it promises, and a spend that broke the promise belongs in one that promises less. [declared-elsewhere]
    Raises ValueError, AdjacencyMismatch, UnsupportedCost with the number of the culprit, and BudgetExceeded.
    """
    if not 0 < len(spends) <= MOST_SPENDS:
        raise ValueError(f"expected 1 to {MOST_SPENDS} spends, got {len(spends)}")
    if not isinstance(declared_by, str) or not declared_by.strip() or len(declared_by) > LONGEST_TEXT:
        raise ValueError(f"declared_by: expected whose word this is, a short text, got {declared_by!r:.99}")
    if not again and (found := entry_of(ledger, digest)) is not None:
        raise ValueError(_imported_before(found))
    owed = [_owed(place, spend, ledger, delta) for place, spend in enumerate(spends)]
    plan = Plan([step for each in owed for step in each.steps])
    if plan.rounds > MOST_CALLS:
        raise ValueError(f"these spends come to {plan.rounds} calls; an entry holds {MOST_CALLS}: split them")
    more = ((FILE, digest), ("source", source[:LONGEST_TEXT]), ("count", len(spends)))
    libraries = ", ".join(sorted({spend.library for spend in spends}))
    one = spends[0]
    what = f"{one.name} of {one.library}" if len(spends) == 1 else f"{len(spends)} spends of {libraries}"
    announced = _described(what[:LONGEST_TEXT], libraries, declared_by, more)
    reservation = ledger.reserve(plan, adjacency=ledger.adjacency, account=account, mechanism=announced)
    with reservation:
        first = entry_of(ledger, digest)
        if not again and first is not None and first < reservation.number:  # while these were priced
            reservation.give_back()
            raise ValueError(_imported_before(first))
        for spend, each in zip(spends, owed, strict=True):
            reservation.note_drawn_elsewhere(spend.described(declared_by), each.rounds)
    return Recorded(reservation.number, len(spends), ledger.spent)


def _imported_before(entry: int) -> str:
    return (
        f"these spends were imported before, with entry {entry}: they would be charged twice. If they happened twice, "
        "say so: again=True, or --again"
    )


def _owed(place: int, spend: ForeignSpend, ledger: Ledger, delta: float | None) -> Plan:
    where = f"spends[{place}] ({spend.name} of {spend.library})"
    if spend.adjacency != ledger.adjacency:
        raise AdjacencyMismatch(
            f"{where} was declared under {spend.adjacency.name}, and this ledger promises {ledger.adjacency.name}; "
            f"nothing was charged. Import it into a ledger that promises {spend.adjacency.name}, or have it declared "
            f"for {ledger.adjacency.name} by whoever can prove that",
            spend.adjacency,
        )
    try:
        return spend.owed(ledger.composition, delta)
    except (UnsupportedCost, BeyondFloats) as error:
        raise type(error)(f"{where}: {error}; nothing was charged") from error


def _described(what: str, noise: str, declared_by: str, more: Iterable[tuple[str, float | int | str]]) -> Description:
    return Description(
        mechanism=f"{what}, declared by {declared_by}, not checked",
        query=QUERY,
        parameters=(word_of(declared_by, ", not checked"), *more),
        norm="records",
        sensitivity=1.0,
        zeta=None,
        noise=noise[:LONGEST_TEXT],
        private=True,
        claims=(FOREIGN_CLAIM,),
    )


def entry_of(ledger: Ledger, digest: str) -> int | None:
    """The number of the first entry that charged what has this digest, None where there is none."""
    for entry in ledger.entries:
        if entry.kind == "charged" and digest in entry.line:
            record = decode(entry)
            said = record.mechanism if isinstance(record, Charged) else None
            if said is not None and (FILE, digest) in said.parameters:
                return entry.number
    return None
