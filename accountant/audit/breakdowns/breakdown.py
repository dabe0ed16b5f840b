"""Who spent how much, on which data, what for, when: the charges that answer a question, by what they say."""

import datetime
import itertools
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Final

import attrs

from accountant.audit import Reading
from accountant.composition import NOTHING, Amount, Composition
from accountant.costs import float_up
from accountant.entries import Charged, Entry, Opened, Produced, Released, Returned, decode

SAID: Final = ("dataset", "dataset_digest", "purpose", "user", "host", "program")
"""What a charge may say that it is about."""

PERIODS: Final = {"year": "%Y", "month": "%Y-%m", "day": "%Y-%m-%d"}

BY: Final = (*SAID, "account", "mechanism", "model", *PERIODS)
"""What charges can be told apart by."""

NOT_SAID: Final = "(not said)"

EVERY: Final = 1000
"""Entries that are held at once."""


@attrs.frozen
class ChargeFacts:
    """A charge as a question sees it.

    amount, rounds: less what was given back.  open: whether its value was never released.
    simulated: whether it drew simulated noise.  model: digests of what came of it, with commas.
    """

    number: int
    time: int
    record: Charged
    amount: Amount
    rounds: int
    open: bool
    simulated: bool
    model: str = ""

    def says(self, name: str) -> str:
        """One of `BY`; "" where the charge does not say it. Raises KeyError for anything else."""
        if name in SAID:
            return str(getattr(self.record.about, name))
        if name in PERIODS:
            return datetime.datetime.fromtimestamp(self.time // 10**9, tz=datetime.UTC).strftime(PERIODS[name])
        announced = self.record.mechanism
        found = {
            "account": self.record.account,
            "mechanism": "" if announced is None else announced.mechanism,
            "model": self.model,
        }
        return found[name]


@attrs.frozen
class Question:
    """Which charges, and by what they are told apart.

    by: of `BY`.  where: what they must say; "account" also holds for accounts below it.  since, until: the first time
    and the first one too late, in nanoseconds since 1970. Raises ValueError.
    """

    by: str = "account"
    where: Mapping[str, str] = attrs.field(factory=dict)
    since: int | None = None
    until: int | None = None

    def __attrs_post_init__(self) -> None:
        for name in (self.by, *self.where):
            if name not in BY:
                raise ValueError(f"{name!r} is not something that charges say: expected one of {', '.join(BY)}")
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise ValueError("the start of the time is not before its end")

    def asks(self, charge: ChargeFacts) -> bool:
        """Whether it is about this charge."""
        late = self.since is None or charge.time >= self.since
        early = self.until is None or charge.time < self.until
        return late and early and all(_agrees(charge, name, text) for name, text in self.where.items())


def _agrees(charge: ChargeFacts, name: str, wanted: str) -> bool:
    said = charge.says(name)
    if name == "account":
        return f"{said}/".startswith(f"{wanted}/")
    if name == "model":
        return any(each.startswith(wanted) for each in said.split(",")) if wanted else not said
    return said == wanted


@attrs.define
class Group:
    """Charges that say the same of what was asked for.

    said: "" where they do not say it.  first, last: times of charges, in nanoseconds since 1970.
    """

    said: str
    charges: int = 0
    amount: Amount = NOTHING
    open: int = 0
    simulated: int = 0
    first: int = 0
    last: int = 0

    @property
    def name(self) -> str:
        """What they say, for people."""
        return self.said or NOT_SAID

    def take(self, charge: ChargeFacts) -> None:
        """One more."""
        self.first = self.first if self.charges else charge.time
        self.charges, self.last = self.charges + 1, charge.time
        self.amount = self.amount.plus(charge.amount)
        self.open += charge.open
        self.simulated += charge.simulated


@attrs.frozen
class Breakdown:
    """The answer. groups: the largest amount first.  together: all of them; rule: how amounts add up."""

    question: Question
    rule: Composition
    groups: tuple[Group, ...]
    together: Group
    whole: Amount

    def share(self, group: Group) -> float:
        """Of all that the ledger ever charged, rounded up; of Σδ where there is no other loss."""
        for part, whole in ((group.amount.loss, self.whole.loss), (group.amount.delta, self.whole.delta)):
            if whole:
                return float_up(Fraction(part, whole))
        return 0.0


def breakdown(entries: Iterable[Entry], question: Question) -> Breakdown:
    """The charges that a question asks for, grouped.

    Raises LedgerBroken where digests or sums do not hold: what is wrong could say less than what was spent. ValueError
    where the ledger was never opened.
    """
    facts, reading, rest = _ChargesSoFar(), Reading(), iter(entries)
    while some := list(itertools.islice(rest, EVERY)):
        reading.take(some)
        for entry in some:
            facts.take(entry)
    if facts.opened is None:
        raise ValueError("the ledger was never opened")
    groups, together, whole = dict[str, Group](), Group(""), NOTHING
    for charge in facts.charges():
        whole = whole.plus(charge.amount)
        if question.asks(charge):
            said = charge.says(question.by)
            groups.setdefault(said, Group(said)).take(charge)
            together.take(charge)
    ordered = sorted(groups.values(), key=lambda group: (*(-part for part in group.amount), group.said))
    return Breakdown(question, facts.opened.composition, tuple(ordered), together, whole)


class _ChargesSoFar:
    """The charges of the entries so far."""

    def __init__(self) -> None:
        self.opened: Opened | None = None
        self._found: dict[int, ChargeFacts] = {}
        self._models: dict[int, list[str]] = {}

    def take(self, entry: Entry) -> None:
        """The next entry."""
        if entry.kind not in ("opened", "charged", "released", "returned", "produced"):
            return
        record = decode(entry)
        match record:
            case Opened():
                self.opened = record
            case Charged() if self.opened is not None:
                simulated = record.mechanism is not None and not record.mechanism.private
                amount = record.amount(self.opened.composition)
                self._found[entry.number] = ChargeFacts(
                    entry.number, record.time, record, amount, record.plan.rounds, True, simulated
                )
            case Released(charge=charge, used=used):
                drawn = any(not mechanism.private for mechanism, _ in used)
                self._change(charge, lambda old: attrs.evolve(old, open=False, simulated=old.simulated or drawn))
            case Returned(charge=charge, amount=amount, rounds=rounds):
                left = self._rounds(charge) - rounds
                self._change(
                    charge, lambda old: attrs.evolve(old, amount=old.amount.minus(amount), open=left > 0, rounds=left)
                )
            case Produced(model=model, charges=charges):
                for number in charges:
                    self._models.setdefault(number, []).append(model)
            case _:
                pass

    def _rounds(self, charge: int) -> int:
        return self._found[charge].rounds if charge in self._found else 0

    def _change(self, number: int, change: Callable[[ChargeFacts], ChargeFacts]) -> None:
        if (old := self._found.get(number)) is not None:
            self._found[number] = change(old)

    def charges(self) -> Iterable[ChargeFacts]:
        """Each, with the models that came of it; one that all was given back of is none."""
        for number, charge in self._found.items():
            if charge.rounds:
                yield attrs.evolve(charge, model=",".join(dict.fromkeys(self._models.get(number, []))))


def asked_charges(entries: Iterable[Entry], question: Question) -> tuple[ChargeFacts, ...]:
    """Each charge that a question asks for, oldest first; how it groups them does not matter."""
    facts = _ChargesSoFar()
    for entry in entries:
        facts.take(entry)
    return tuple(charge for charge in facts.charges() if question.asks(charge))
