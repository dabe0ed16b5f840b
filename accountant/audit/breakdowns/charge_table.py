"""The charges of a ledger as columns of numbers: questions about a million of them take no second pass over entries.

Each text, and each amount, is kept once; a charge is a row of small numbers, about forty bytes. Amounts stay exact: a
sum is so many times each amount.
"""

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

import attrs
import numpy as np
import numpy.typing as npt

from accountant.audit import Accumulator, Run
from accountant.audit.breakdowns.breakdown import PERIODS, SAID, Breakdown, Group, Question
from accountant.composition import NOTHING, Amount
from accountant.entries import NOTHING_SAID, About, Charged, Opened, Produced, Record, Released, Returned

K = TypeVar("K", bound=Hashable)
Rows: TypeAlias = npt.NDArray[np.intp]
Codes: TypeAlias = npt.NDArray[np.int64]

FIRST: Final = 1024
"""Rows that there is room for at first; it is doubled when they are used up."""

_CALENDAR: Final = {"year": "datetime64[Y]", "month": "datetime64[M]", "day": "datetime64[D]"}

_COLUMNS: Final = {
    "number": np.uint64,
    "time": np.uint64,
    "account": np.int32,
    "mechanism": np.int32,
    "about": np.int32,
    "model": np.int32,
    "amount": np.int32,
    "open": np.bool_,
    "simulated": np.bool_,
    "void": np.bool_,
}

DAY: Final = 86_400_000_000_000
"""Nanoseconds."""

MOST_COUNTED: Final = 1 << 22
"""Different numbers that are counted without sorting."""


class Terms(NamedTuple):
    """What all charges of one sort have in common, as numbers of what is kept once."""

    account: int
    mechanism: int
    about: int
    amount: int
    simulated: bool


@attrs.frozen
class ChargeRow:
    """One charge. amount: less what was given back.  open: its value was never released."""

    number: int
    time: int
    account: str
    mechanism: str
    about: About
    amount: Amount
    open: bool
    simulated: bool


class Kept(Generic[K]):
    """Values that are kept once, by a number each."""

    def __init__(self, *first: K) -> None:
        self.values: list[K] = list(first)
        self._numbers = {value: number for number, value in enumerate(first)}

    def number(self, value: K) -> int:
        """Its number, a new one for a new value."""
        found = self._numbers.setdefault(value, len(self.values))
        if found == len(self.values):
            self.values.append(value)
        return found


class ChargeTable(Accumulator):
    """All charges so far. Told by a reader in its pass; `breakdown` and `listed` answer from what it was told.

    unreadable: charges, and what was said of charges, that could not be taken in: sums are short of them.
    One thread at a time.
    """

    def __init__(self) -> None:
        self.opened: Opened | None = None
        self.unreadable = 0
        self.length = 0
        self._known_whole: Amount | None = None
        self._room: dict[str, npt.NDArray[Any]] = {name: np.zeros(FIRST, dtype) for name, dtype in _COLUMNS.items()}
        self._accounts, self._mechanisms, self._models = Kept[str](), Kept[str](""), Kept[str]("")
        self._abouts, self._amounts = Kept[About](NOTHING_SAID), Kept[tuple[int, int, int]]()
        self._left: dict[int, int] = {}  # rounds of charges that may give some back

    def __len__(self) -> int:
        """How many charges there are, those that were given back whole among them."""
        return self.length

    # --- being told ---------------------------------------------------------------------------------------

    def take(self, number: int, record: Record) -> None:
        """The next entry. One that cannot be taken in is counted."""
        try:
            self._take(number, record)
        except (ValueError, TypeError, LookupError, ArithmeticError):
            self.unreadable += 1

    def miss(self) -> None:
        """The next entry cannot be read."""
        self.unreadable += 1

    def _take(self, number: int, record: Record) -> None:
        match record:
            case Opened():
                self.opened = self.opened or record
            case Charged() if self.opened is not None:
                terms = self._terms(record, record.amount(self.opened.composition))
                self._append([number], [record.time], [terms], [0])
                self._left[number] = record.plan.rounds
            case Released(charge=charge, used=used):
                self._left.pop(charge, None)
                self._mark([charge], "open", False)
                if any(not mechanism.private for mechanism, _ in used):
                    self._mark([charge], "simulated", True)
            case Returned():
                self._returned(record)
            case Produced(model=model, charges=charges):
                self._produced(model, charges)
            case _:
                pass

    def take_run(self, run: Run) -> None:
        """The next entries."""
        sorts = list(run.uses)
        terms = [self._terms(sort.record, sort.terms.amount) for sort in sorts]
        place = {sort: number for number, sort in enumerate(sorts)}
        numbers, times = [charge[0] for charge in run.charges], [int(charge[2]) for charge in run.charges]
        self._append(numbers, times, terms, [place[charge[1]] for charge in run.charges])
        for number, sort in run.open.items():
            self._left[number] = sort.terms.rounds
        if not run.releases:
            return
        self._mark([charge for _, charge, _, _ in run.releases], "open", False)
        simulated = [charge for _, charge, used, _ in run.releases if used.simulated]
        self._mark(simulated, "simulated", True)
        for _, charge, _, sort_of in run.releases:
            if sort_of is None:
                self._left.pop(charge, None)

    def _terms(self, record: Charged, amount: Amount) -> Terms:
        said = record.mechanism
        return Terms(
            self._accounts.number(record.account),
            self._mechanisms.number("" if said is None else said.mechanism),
            self._abouts.number(record.about),
            self._amounts.number(_short(amount)),
            said is not None and not said.private,
        )

    def _append(self, numbers: list[int], times: list[int], terms: list[Terms], which: list[int]) -> None:
        """New rows. which: of the terms, for each."""
        end = self.length + len(numbers)
        while end > len(self._room["number"]):
            self._room = {name: np.concatenate([kept, np.zeros_like(kept)]) for name, kept in self._room.items()}
        new = slice(self.length, end)
        self._room["number"][new], self._room["time"][new] = numbers, times
        for name in Terms._fields:
            self._room[name][new] = np.array([getattr(each, name) for each in terms], _COLUMNS[name])[which]
        self._room["open"][new] = True
        self.length, self._known_whole = end, None

    def _column(self, name: str) -> npt.NDArray[Any]:
        return self._room[name][: self.length]

    def _rows(self, numbers: Iterable[int]) -> Rows:
        """The rows of charges; of those that there are none of, none."""
        wanted = np.array([number for number in numbers if 0 <= number < 1 << 63], np.uint64)
        rows = np.searchsorted(self._column("number"), wanted)
        rows = np.minimum(rows, max(self.length - 1, 0))
        return rows[self._column("number")[rows] == wanted] if self.length else rows[:0]

    def _mark(self, numbers: Iterable[int], name: str, value: bool) -> None:
        self._room[name][self._rows(numbers)] = value

    def _returned(self, record: Returned) -> None:
        rows = self._rows([record.charge])
        left, self._known_whole = self._left.get(record.charge, 0) - record.rounds, None
        for row in rows:
            amount = self._amount(int(self._room["amount"][row])).minus(record.amount)
            self._room["amount"][row] = self._amounts.number(_short(amount))
            self._room["open"][row] = left > 0
            self._room["void"][row] = left == 0
        if left > 0:
            self._left[record.charge] = left
        else:
            self._left.pop(record.charge, None)

    def _produced(self, model: str, charges: Iterable[int]) -> None:
        column = self._room["model"]
        for row in self._rows(charges):
            said = self._models.values[column[row]].split(",")
            column[row] = self._models.number(",".join(dict.fromkeys([*filter(None, said), model])))

    # --- answering ----------------------------------------------------------------------------------------

    def breakdown(self, question: Question) -> Breakdown:
        """As `breakdown` of the same entries. Raises ValueError where the ledger was never opened."""
        if self.opened is None:
            raise ValueError("the ledger was never opened")
        rows = self._asked(question)
        codes, texts = self._told_apart(question.by, rows)
        groups = self._groups(rows, codes, texts)
        together = Group("")
        if len(rows):
            together = self._groups(rows, np.zeros(len(rows), np.int64), [""])[0]
        ordered = sorted(groups, key=lambda group: (*(-part for part in group.amount), group.said))
        return Breakdown(question, self.opened.composition, tuple(ordered), together, self._whole())

    def count(self, question: Question) -> int:
        """How many charges a question asks for."""
        return len(self._asked(question))

    def listed(self, question: Question, skip: int, most: int) -> list[ChargeRow]:
        """The charges that a question asks for, the newest first: at most so many, after those that are skipped."""
        rows = self._asked(question)[::-1][skip : skip + most]
        return [self._row(int(row)) for row in rows]

    def texts(self, name: str, most: int) -> list[str]:
        """What charges say of `name`, one of `BY` but no period, in the order of their first times; at most so many."""
        if name in SAID:
            said: Iterator[str] = (str(getattr(about, name)) for about in self._abouts.values)
        else:
            said = iter(self._kept(name).values)
        return list(itertools.islice(filter(None, dict.fromkeys(said)), most))

    def _row(self, row: int) -> ChargeRow:
        room = self._room
        return ChargeRow(
            int(room["number"][row]),
            int(room["time"][row]),
            self._accounts.values[room["account"][row]],
            self._mechanisms.values[room["mechanism"][row]],
            self._abouts.values[room["about"][row]],
            self._amount(int(room["amount"][row])),
            bool(room["open"][row]),
            bool(room["simulated"][row]),
        )

    def _asked(self, question: Question) -> Rows:
        """The rows that a question asks for, in their order."""
        chosen = ~self._room["void"][: self.length]
        time = self._column("time")
        if question.since is not None:
            chosen &= time >= np.uint64(max(question.since, 0))
        if question.until is not None:
            chosen &= time < np.uint64(max(question.until, 0))
        for name, wanted in question.where.items():
            chosen &= self._agrees(name, wanted)
        return np.flatnonzero(chosen)

    def _agrees(self, name: str, wanted: str) -> npt.NDArray[np.bool_]:
        if name in PERIODS:
            codes, texts = self._told_apart(name, np.arange(self.length))
            return np.array([text == wanted for text in texts] or [False])[codes]
        holds: Callable[[str], bool] = wanted.__eq__
        if name == "account":
            holds = lambda said: f"{said}/".startswith(f"{wanted}/")  # noqa: E731  # one line of three alike
        elif name == "model":
            holds = lambda said: bool(wanted) and any(each.startswith(wanted) for each in said.split(","))  # noqa: E731
        if name in SAID:
            found = [holds(str(getattr(about, name))) for about in self._abouts.values]
        else:
            found = [holds(text) for text in self._kept(name).values]
        return np.array(found or [False])[self._column("about" if name in SAID else name).astype(np.intp)]

    def _told_apart(self, by: str, rows: Rows) -> tuple[Codes, list[str]]:
        """For each row the number of what it says, and what that is."""
        texts = Kept[str]()
        if by in PERIODS:
            days = (self._column("time")[rows] // np.uint64(DAY)).astype(np.int64)  # none is after the year 2554
            start = int(days.min(initial=1 << 20))
            between = np.arange(start, days.max(initial=start) + 1).astype("datetime64[D]").astype(_CALENDAR[by])
            of_day = np.array([texts.number(str(period)) for period in between])
            return of_day[days - start].astype(np.int64), texts.values
        if by not in SAID:
            return self._column(by)[rows].astype(np.int64), self._kept(by).values
        of_about = np.array([texts.number(str(getattr(about, by))) for about in self._abouts.values])
        return of_about[self._column("about")[rows].astype(np.intp)].astype(np.int64), texts.values

    def _kept(self, name: str) -> Kept[str]:
        return {"account": self._accounts, "mechanism": self._mechanisms, "model": self._models}[name]

    def _groups(self, rows: Rows, codes: Codes, texts: list[str]) -> list[Group]:
        """Rows with the same code together."""
        kinds, order = len(texts), np.arange(len(rows))
        counts = np.bincount(codes, minlength=kinds)
        first, last = np.zeros(kinds, np.intp), np.zeros(kinds, np.intp)
        last[codes] = order  # of equal codes the last one stays
        first[codes[::-1]] = order[::-1]
        sums = self._sums(rows, codes)
        open_ = np.bincount(codes[self._column("open")[rows]], minlength=kinds)
        simulated = np.bincount(codes[self._column("simulated")[rows]], minlength=kinds)
        time = self._column("time")
        return [
            Group(
                texts[code],
                int(counts[code]),
                _total(sums[code]),
                int(open_[code]),
                int(simulated[code]),
                int(time[rows[first[code]]]),
                int(time[rows[last[code]]]),
            )
            for code in np.flatnonzero(counts).tolist()
        ]

    def _whole(self) -> Amount:
        """What all charges come to; computed once for each state."""
        if self._known_whole is None:
            rows = self._asked(Question())
            self._known_whole = _total(self._sums(rows, np.zeros(len(rows), np.int64)).get(0, {}))
        return self._known_whole

    def _sums(self, rows: Rows, codes: Codes) -> dict[int, dict[int, list[int]]]:
        """For each code the loss and the delta that its rows come to, by the power of two that they are in."""
        kinds = len(self._amounts.values)
        sums: dict[int, dict[int, list[int]]] = {}
        for pair, times in _counted(codes * np.int64(kinds) + self._column("amount")[rows]):
            code, kind = divmod(pair, kinds)
            loss, delta, power = self._amounts.values[kind]
            parts = sums.setdefault(code, {}).setdefault(power, [0, 0])
            parts[0] += times * loss
            parts[1] += times * delta
        return sums

    def _amount(self, number: int) -> Amount:
        loss, delta, power = self._amounts.values[number]
        return Amount(loss << power, delta << power)


def _counted(numbers: Codes) -> Iterator[tuple[int, int]]:
    """Each number, and how often it occurs."""
    if not len(numbers):
        return
    if numbers.max() < MOST_COUNTED:
        counts = np.bincount(numbers)
        found = np.flatnonzero(counts)
        counts = counts[found]
    else:
        found, counts = np.unique(numbers, return_counts=True)
    yield from zip(found.tolist(), counts.tolist(), strict=True)


def _short(amount: Amount) -> tuple[int, int, int]:
    """Loss, delta and a power of two that both were divided by: floats are short numbers then."""
    both = amount.loss_units | amount.delta_units
    power = (both & -both).bit_length() - 1 if both else 0
    return amount.loss_units >> power, amount.delta_units >> power, power


def _total(sums: dict[int, list[int]]) -> Amount:
    total = NOTHING
    for power, (loss, delta) in sums.items():
        total = total.plus(Amount(loss << power, delta << power))
    return total
