"""What each data set was charged, in all and in each calendar year: running sums over a ledger's entries."""

import bisect
import datetime
from collections.abc import Iterable
from typing import Final

from accountant.audit import Accumulator, Run
from accountant.composition import NOTHING, Amount, Composition
from accountant.entries import Charged, Entry, Record, Released, Returned, decode, decode_charge

_FIRST: Final = 1970
_YEARS: Final = [
    int(datetime.datetime(year, 1, 1, tzinfo=datetime.UTC).timestamp()) * 10**9 for year in range(_FIRST, 2300)
]


def year_of(time: int) -> int:
    """The calendar year in UTC of nanoseconds since 1970."""
    return _FIRST - 1 + bisect.bisect_right(_YEARS, time)


class DatasetSums(Accumulator):
    """Exact sums by a ledger's own rule, less what was given back.

    A charge that does not say which data set it concerns may concern any, and counts for every one.
    seen: the number of entries that are in the sums; entries that were seen before are left out.
    """

    __slots__ = ("_open", "_rule", "_total", "_yearly", "seen")

    def __init__(self, rule: Composition) -> None:
        self._rule, self.seen = rule, 0
        self._total: dict[str, Amount] = {}
        self._yearly: dict[tuple[str, int], Amount] = {}
        self._open: dict[int, tuple[str, int]] = {}

    def total(self, dataset: str) -> Amount:
        """What was charged to a data set, ever."""
        return _both(self._total.get(dataset, NOTHING), self._total.get("", NOTHING), dataset)

    def in_year(self, dataset: str, year: int) -> Amount:
        """What was charged to a data set in that year."""
        yearly = self._yearly
        return _both(yearly.get((dataset, year), NOTHING), yearly.get(("", year), NOTHING), dataset)

    def catch_up(self, entries: Iterable[Entry], end: int) -> None:
        """Take in the entries that are new, up to number `end`, which is not included."""
        for entry in entries:
            if entry.number >= end:
                return
            charge = decode_charge(entry.number, entry.line) if entry.kind == "charged" else None
            self.take(entry.number, charge or decode(entry))

    def take(self, number: int, record: Record) -> None:
        """The next entry."""
        if number < self.seen:
            return
        match record:
            case Charged():
                self.charge(number, record.about.dataset, record.time, record.amount(self._rule))
            case Released(charge=charge):
                self._open.pop(charge, None)
            case Returned(charge=charge, amount=amount) if charge in self._open:
                self._give_back(*self._open[charge], amount)
            case _:
                pass
        self.seen = number + 1

    def charge(self, number: int, dataset: str, time: int, amount: Amount) -> None:
        """A charge that is entry `number`."""
        year = year_of(time)
        self._add(dataset, year, amount)
        self._open[number] = dataset, year
        self.seen = max(self.seen, number + 1)

    def released(self, number: int, charge: int) -> None:
        """Entry `number` releases a charge: it is known here without being read, if all before it are."""
        if number == self.seen:
            self._open.pop(charge, None)
            self.seen = number + 1

    def take_run(self, run: Run) -> None:
        """The next entries."""
        years: dict[int, int] = {}
        amounts = {sort: sort.record.amount(self._rule) for sort in run.uses}
        if run.charges:
            first, last = (year_of(int(run.charges[place][2])) for place in (0, -1))
            if first == last:
                for sort, uses in run.uses.items():
                    self._add(sort.record.about.dataset, first, amounts[sort].times(uses))
            else:
                for number, sort, time, _, _ in run.charges:
                    years[number] = year_of(int(time))
                    self._add(sort.record.about.dataset, years[number], amounts[sort])
            for number, sort in run.open.items():
                self._open[number] = sort.record.about.dataset, years.get(number, first)
        for _, charge, _, own in run.releases:
            if own is None:
                self._open.pop(charge, None)
        self.seen = max(self.seen, run.end)

    def _add(self, dataset: str, year: int, amount: Amount) -> None:
        self._total[dataset] = self._total.get(dataset, NOTHING).plus(amount)
        self._yearly[dataset, year] = self._yearly.get((dataset, year), NOTHING).plus(amount)

    def _give_back(self, dataset: str, year: int, amount: Amount) -> None:
        self._total[dataset] = self._total[dataset].minus(amount)
        self._yearly[dataset, year] = self._yearly[dataset, year].minus(amount)


def _both(named: Amount, unsaid: Amount, dataset: str) -> Amount:
    return named.plus(unsaid) if dataset else named
