"""What was spent before, in and after a window of time: each charge stands in one of the three, so they add up exactly.

A charge counts at its own time, less what was given back of it, whenever that was: rounds that nobody drew were never
spent. So the parts are those of the ledger as it is now, and not a picture of what it showed then.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import attrs

from accountant.audit import Accumulator, Reading, Run
from accountant.composition import NOTHING, Amount, Composition
from accountant.costs import Budget
from accountant.entries import Allocated, Charged, Entry, Opened, Record, Released, Returned

BEFORE, IN, AFTER = 0, 1, 2
"""Where a time lies."""

_TEXTS: Final = 10**18, 10**19
"""Times that a run writes with as many digits as each other, so that they sort as texts."""


@attrs.frozen
class Window:
    """From `since` on, up to `until`, which is not in it; in nanoseconds since 1970, None without end.

    Raises ValueError where nothing lies between them.
    """

    since: int | None = None
    until: int | None = None

    def __attrs_post_init__(self) -> None:
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise ValueError("the start of the time is not before its end")

    def place(self, time: int) -> int:
        """BEFORE, IN or AFTER."""
        if self.since is not None and time < self.since:
            return BEFORE
        return IN if self.until is None or time < self.until else AFTER


@attrs.frozen
class Part:
    """So many charges, and what they add up to. One that all was given back of is none.

    simulated: how many of them drew simulated noise, or announced it.
    """

    charges: int = 0
    amount: Amount = NOTHING
    simulated: int = 0

    def plus(self, other: "Part") -> "Part":
        """Both together."""
        simulated = self.simulated + other.simulated
        return Part(self.charges + other.charges, self.amount.plus(other.amount), simulated)


class _Open(NamedTuple):
    """A charge that may still give rounds back. simulated: whether it is counted as such already."""

    payer: str
    account: str
    place: int
    rounds: int
    simulated: bool


class WindowSpending(Accumulator):
    """What the entries so far spent before, in and after a window. `read_window` makes one of a whole ledger.

    It raises nothing, whatever entries say, so that it may be told of a ledger that is not sound.
    opened: the first entry.  missed: entries that could not be counted; above 0, nothing here is exact.
    """

    def __init__(self, window: Window) -> None:
        self.window = window
        self.opened: Opened | None = None
        self.missed = 0
        self._parts: dict[tuple[str, str], list[Part]] = {}
        self._allocated: set[str] = set()
        self._open: dict[int, _Open] = {}
        self._resumed = False

    @property
    def promise(self) -> Opened:
        """The first entry. Raises ValueError where it is missing."""
        if self.opened is None:
            raise ValueError("the ledger was never opened")
        return self.opened

    @property
    def rule(self) -> Composition:
        """The rule of this ledger."""
        return self.promise.composition

    def resume(self, opened: Opened, sub_budgets: Iterable[str]) -> None:
        """Go on from a checkpoint: charges before it are not counted, nor what is given back of them."""
        self.opened, self._allocated, self._resumed = opened, set(sub_budgets), True

    # --- answers ------------------------------------------------------------------------------------------

    def parts(self, path: str = "") -> tuple[Part, Part, Part]:
        """Before, in and after the window: what drew on this sub-budget and those below it; "" is everything."""
        found = [parts for (payer, _), parts in self._parts.items() if not path or f"{payer}/".startswith(f"{path}/")]
        before, inside, after = (_together(parts[place] for parts in found) for place in (BEFORE, IN, AFTER))
        return before, inside, after

    def direct(self, path: str) -> tuple[Part, Part, Part]:
        """The same of what this sub-budget itself paid for, and none below it."""
        found = [parts for (payer, _), parts in self._parts.items() if payer == path]
        before, inside, after = (_together(parts[place] for parts in found) for place in (BEFORE, IN, AFTER))
        return before, inside, after

    def by_account(self, path: str = "") -> dict[str, Part]:
        """What each label, or path, was charged in the window, of what drew on this sub-budget; by name."""
        found: dict[str, Part] = {}
        for (payer, account), parts in sorted(self._parts.items()):
            if parts[IN].charges and (not path or f"{payer}/".startswith(f"{path}/")):
                found[account] = found.get(account, Part()).plus(parts[IN])
        return found

    def alone(self, part: Part) -> Budget:
        """What these charges lose by themselves, in the budget's kind, rounded up."""
        return self.rule.guarantee(part.amount, self.promise.budget)

    # --- entries ------------------------------------------------------------------------------------------

    def take(self, number: int, record: Record) -> None:
        """The next entry."""
        try:
            self._take(number, record)
        except (LookupError, TypeError, ValueError, ArithmeticError):
            self.missed += 1

    def miss(self) -> None:
        """The next entry cannot be read."""
        self.missed += 1

    def _take(self, number: int, record: Record) -> None:
        match record:
            case Opened():
                self.opened = record
            case Charged():
                place, amount = self.window.place(record.time), record.amount(self.rule)
                payer = self._count(record, amount, place, 1)
                self._open[number] = _Open(payer, record.account, place, record.plan.rounds, _simulated(record))
                self._met(number, record, amount, payer)
            case Returned():
                self._returned(number, record)
            case Released(charge=charge, used=used):
                self._released(self._open.pop(charge, None), any(not mechanism.private for mechanism, _ in used))
            case Allocated(account=path):
                self._allocated.add(path)
            case _:
                pass

    def take_run(self, run: Run) -> None:
        """The next entries."""
        ends = [0, *self._ends(run.charges), len(run.charges)]
        for place in (BEFORE, IN, AFTER):
            uses = Counter([charge[1] for charge in run.charges[ends[place] : ends[place + 1]]])
            for template, times in uses.items():
                self._count(template.record, template.terms.amount, place, times)
        for template, number in {charge[1]: charge[0] for charge in run.charges}.items():
            record = template.record
            self._met(number, record, template.terms.amount, self._payer(record.account))
        for number, template in run.open.items():
            self._open[number] = self._waiting(run, number, ends, template.record)
        drawn_simulated = any(used.simulated for used, _ in run.released)
        for _, number, used, made in run.releases if drawn_simulated else ():
            if made is not None and used.simulated and not _simulated(made.record):
                self._released(self._waiting(run, number, ends, made.record), True)
        for used, charge in run.released:
            if isinstance(charge, int):
                self._released(self._open.pop(charge, None), used.simulated)

    def _ends(self, charges: Sequence[tuple[int, object, str, int, int]]) -> tuple[int, int]:
        """How many charges of a run are before the window, and how many are before its end."""

        def up_to(time: int | None, without: int) -> int:
            if time is None or not _TEXTS[0] <= time < _TEXTS[1]:
                return without if time is None else 0 if time < _TEXTS[0] else len(charges)
            return bisect_left(charges, str(time), key=lambda charge: charge[2])

        return up_to(self.window.since, 0), up_to(self.window.until, len(charges))

    def _waiting(self, run: Run, number: int, ends: Sequence[int], record: Charged) -> _Open:
        at = bisect_left(run.charges, number, key=lambda charge: charge[0])
        place = BEFORE if at < ends[1] else IN if at < ends[2] else AFTER
        return _Open(self._payer(record.account), record.account, place, record.plan.rounds, _simulated(record))

    def _met(self, number: int, record: Charged, amount: Amount, payer: str) -> None:
        """Charge `number` was the latest of its sort so far."""

    def _counted(self, record: Charged, amount: Amount, payer: str, place: int, times: int) -> None:
        """So many charges like this one were counted."""

    def _count(self, record: Charged, amount: Amount, place: int, times: int) -> str:
        """Count charges like this one; the path of the sub-budget that paid."""
        payer = self._payer(record.account)
        simulated = times if _simulated(record) else 0
        self._add(payer, record.account, place, Part(times, amount.times(times), simulated))
        self._counted(record, amount, payer, place, times)
        return payer

    def _add(self, payer: str, account: str, place: int, part: Part) -> None:
        parts = self._parts.setdefault((payer, account), [Part(), Part(), Part()])
        parts[place] = parts[place].plus(part)

    def _released(self, charge: _Open | None, simulated: bool) -> None:
        """The value of a charge was drawn. Only of a plan that announced nothing is the noise not known before."""
        if charge is not None and simulated and not charge.simulated:
            self._add(charge.payer, charge.account, charge.place, Part(0, NOTHING, 1))

    def _returned(self, number: int, record: Returned) -> None:
        charge = self._open.get(record.charge)
        if charge is None and self._resumed:
            return  # of a charge that stands before the checkpoint
        if charge is None or record.rounds > charge.rounds:
            raise ValueError(f"entry {number} gives back rounds that are not open")
        parts, left = self._parts[charge.payer, charge.account], charge.rounds - record.rounds
        old = parts[charge.place]
        simulated = old.simulated - (charge.simulated and not left)
        parts[charge.place] = Part(old.charges - (not left), old.amount.minus(record.amount), simulated)
        if left:
            self._open[record.charge] = charge._replace(rounds=left)
        else:
            del self._open[record.charge]

    def _payer(self, account: str) -> str:
        while account and account not in self._allocated:
            account = account.rpartition("/")[0]
        return account


def read_window(entries: Iterable[Entry], window: Window) -> WindowSpending:
    """Read a ledger once. Raises LedgerBroken where it does not hold, ValueError where it was never opened."""
    found = WindowSpending(window)
    Reading(found).take(entries)
    found.promise  # noqa: B018  # raises
    return found


def time_of(entry: Entry) -> int:
    """When an entry was written, in nanoseconds since 1970. Raises ValueError where it does not say."""
    if (digits := entry.line[-20:-1]).isdecimal() and digits.isascii() and entry.line[-28:-20].endswith('"time":'):
        return int(digits)
    try:
        record: object = entry.record
    except RecursionError:
        record = None
    time = record.get("time") if isinstance(record, dict) else None
    if isinstance(time, bool) or not isinstance(time, int):
        raise ValueError(f"entry {entry.number} does not say when it was written")
    return time


def _simulated(record: Charged) -> bool:
    """Whether a charge announced simulated noise."""
    return record.mechanism is not None and not record.mechanism.private


def _together(parts: Iterable[Part]) -> Part:
    total = Part()
    for part in parts:
        total = total.plus(part)
    return total
