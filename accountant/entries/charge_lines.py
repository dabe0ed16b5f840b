"""Lines of charges and releases, of which ledgers are full: written from what they share, and read part by part.

Most charges repeat what an earlier one said but for their numbers and their time; what they share is a `ChargeLine`, or
a `ReleaseLine`, which is rendered once. Even where no charge is like another, most parts of them are.
"""

import functools
import json
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

import attrs

from accountant.canonical_json import canonical
from accountant.composition import Amount, Plan, amount_from_record, amount_record, amount_text
from accountant.costs import Adjacency, ApproxDP, Description, adjacency_from_record, adjacency_record
from accountant.entries.about import NOTHING_SAID, About
from accountant.entries.entry_kinds import Charged, Released
from accountant.entries.json_parts import amount_of, object_of, objects_of, priced_of, step_of, text_of

T = TypeVar("T")

# --- to JSON ----------------------------------------------------------------------------------------------


@attrs.frozen
class ChargeLine:
    """The line of a charge without its total, its number and its time.

    head: up to the total's δ.  middle: from behind the total up to the number.  tail: from there up to the time.
    """

    head: str
    middle: str
    tail: str

    @staticmethod
    def of(
        account: str,
        adjacency: Adjacency,
        plan: Plan,
        *,
        announced: str = "null",
        price: ApproxDP | None = None,
        route: str | None = None,
        about: About = NOTHING_SAID,
        amount: Amount | None = None,
    ) -> "ChargeLine":
        """announced: `Description.canonical`.  price, route: of a plan that is charged as one thing.

        amount: what it comes to, exactly; None in the first format.  about: what it is about, where that is said.
        Raises ValueError for a number that JSON does not have.
        """
        return ChargeLine(
            _charge_head(account, adjacency, about),
            f"{_before_mechanism(amount)}{announced}{_NUMBER}",
            _charge_tail(plan, price, route),
        )

    @staticmethod
    def from_record(record: Charged) -> "ChargeLine":
        """What a charge shares with others like it."""
        announced = "null" if record.mechanism is None else record.mechanism.canonical
        return ChargeLine.of(
            record.account,
            record.adjacency,
            record.plan,
            announced=announced,
            price=record.price,
            route=record.route,
            about=record.about,
            amount=record.drawn,
        )

    def without_amount(self) -> "ChargeLine":
        """The same as the first format has it."""
        _, _, rest = self.middle.partition(_MECHANISM)
        return attrs.evolve(self, middle=f"{_NO_AMOUNT}{rest}")

    def at(self, number: int, time: int, after: Amount) -> str:
        """The line of charge `number`. after: the total with it."""
        loss, delta = after
        return self.written(str(number), str(time), amount_text(loss), amount_text(delta))

    def written(self, number: str, time: str, loss: str, delta: str) -> str:
        """The line, of texts."""
        return f'{self.head}{delta}","loss":"{loss}{self.middle}{number}{self.tail}{time}}}'


_MECHANISM: Final = '"mechanism":'
_NUMBER: Final = ',"number":'


def _charge_head(account: str, adjacency: Adjacency, about: About) -> str:
    said = "" if not about else f'"about":{canonical(about.as_dict())},'
    return f'{{{said}"account":{canonical(account)},"adjacency":{_adjacency_text(adjacency)},"after":{{"delta":"'


def _before_mechanism(amount: Amount | None) -> str:
    drawn = "" if amount is None else f'"amount":{canonical(amount_record(amount))},'
    return f'"}},{drawn}"kind":"charged",{_MECHANISM}'


def _charge_tail(plan: Plan, price: ApproxDP | None, route: str | None) -> str:
    steps = [{"cost": step.cost.as_dict(), "rounds": step.rounds} for step in plan.steps]
    priced = "null" if price is None else canonical({"cost": price.as_dict(), "route": route})
    return f',"priced":{priced},"steps":{canonical(steps)},"time":'


@attrs.frozen
class ReleaseLine:
    """The line of a release without its charge, its number and its time. tail: from behind the time on."""

    tail: str

    @staticmethod
    def of(used: Iterable[tuple[str, int]]) -> "ReleaseLine":
        """used: `Description.canonical` of what a reservation released, and how often."""
        listed = ",".join(f'{{"mechanism":{each},"rounds":{rounds}}}' for each, rounds in used)
        return ReleaseLine(f',"used":[{listed}]}}')

    @staticmethod
    def from_record(record: Released) -> "ReleaseLine":
        """What a release shares with others like it."""
        return ReleaseLine.of((each.canonical, rounds) for each, rounds in record.used)

    def at(self, number: int, time: int, charge: int) -> str:
        """The line of release `number`, of the value that `charge` paid for."""
        return self.written(str(number), str(time), str(charge))

    def written(self, number: str, time: str, charge: str) -> str:
        """The line, of texts."""
        return f'{{"charge":{charge},"kind":"released","number":{number},"time":{time}{self.tail}'


@functools.lru_cache(maxsize=64)
def _adjacency_text(adjacency: Adjacency) -> str:
    return canonical(dict(adjacency_record(adjacency)))


# --- charges, in parts ------------------------------------------------------------------------------------

_PARTS_KEPT: Final = 2048
"""Parts of each sort that are remembered."""

_parsed: Final = json.JSONDecoder().raw_decode
"""A part's JSON and where it ends, which `_same` makes sure of."""

_LONGEST_PART: Final = 1 << 11
"""Characters of a part that is remembered."""

_LONGEST: Final = 1 << 16
"""Characters of a line that is read by its parts."""

_AFTER: Final = '"after":{"delta":"'
_NO_AMOUNT: Final = _before_mechanism(None)


def decode_charge(number: int, line: str) -> Charged | None:
    """What charge `number` says, if its line is `encode`'s to the byte; None where `decode` has to tell.

    Each part of a line is read by itself, and remembered: even where no charge is like another, most parts are. A part
    counts if what was read of it is written the same way, so that together they are the line and nothing else.
    """
    if len(line) > _LONGEST:
        return None
    after = line.find(_AFTER) + len(_AFTER)
    end = line.find('"}', after)
    mechanism, at = line.find(_MECHANISM, end) + len(_MECHANISM), line.rfind(_NUMBER)
    behind = line.find(",", at + 1)
    time = line[-20:-1]
    if not (len(_AFTER) <= after <= end < mechanism <= at < behind < len(line) - 20) or line[-1] != "}":
        return None
    if line[at + len(_NUMBER) : behind] != str(number) or not (time.isdecimal() and time[0] != "0" and line.isascii()):
        return None
    try:
        account, adjacency, about = _part(_read_head, line[:after])
        drawn = None if (part := line[end:mechanism]) == _NO_AMOUNT else _part(_read_amount, part)
        plan, price, route = _part(_read_tail, line[behind:-20])
        delta, _, loss = line[after:end].partition('","loss":"')
        total = amount_from_record({"delta": delta, "loss": loss})
        announced = _part(_read_mechanism, line[mechanism:at])
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError):
        return None
    if about and drawn is None:
        return None
    return Charged(int(time), account, adjacency, total, announced, plan, price, route, about, drawn)


def _part(read: Callable[[str], T], text: str) -> T:
    """What a part says; `read` remembers short ones."""
    return read(text) if len(text) <= _LONGEST_PART else read.__wrapped__(text)  # type: ignore[attr-defined]  # of lru_cache


@functools.lru_cache(maxsize=_PARTS_KEPT)
def _read_head(text: str) -> tuple[str, Adjacency, About]:
    record, _ = _parsed(f'{text}"}}}}')
    about = About.from_dict(object_of(record["about"])) if "about" in record else NOTHING_SAID
    account, adjacency = text_of(record["account"]), adjacency_from_record(object_of(record["adjacency"]))
    return _same((account, adjacency, about), _charge_head(account, adjacency, about), text)


@functools.lru_cache(maxsize=_PARTS_KEPT)
def _read_amount(text: str) -> Amount:
    record, _ = _parsed(f"{{{text[3:]}0}}")
    amount = amount_of(record["amount"])
    return _same(amount, _before_mechanism(amount), text)


@functools.lru_cache(maxsize=_PARTS_KEPT)
def _read_tail(text: str) -> tuple[Plan, ApproxDP | None, str | None]:
    record, _ = _parsed(f"{{{text[1:]}0}}")
    price, route = (None, None) if record["priced"] is None else priced_of(object_of(record["priced"]))
    plan = Plan(tuple(step_of(step) for step in objects_of(record["steps"])))
    return _same((plan, price, route), _charge_tail(plan, price, route), text)


@functools.lru_cache(maxsize=_PARTS_KEPT)
def _read_mechanism(text: str) -> Description | None:
    if text == "null":
        return None
    record, _ = _parsed(text)
    read = Description.from_dict(object_of(record))
    return _same(read, read.canonical, text)


def _same(read: T, written: str, text: str) -> T:
    """What was read. Raises ValueError where it is written otherwise."""
    if written != text:
        raise ValueError("it is written otherwise than an entry of its kind")
    return read
