"""What charges say that they are about, added up in the pass that verifies them: data sets, users, purposes, models.

`accountant.audit.breakdowns` answers the same questions, and more, in a pass of its own; a test compares the two.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final, NamedTuple

import attrs

from accountant.audit import Accumulator, Run
from accountant.composition import NOTHING, Amount, Composition
from accountant.entries import NOTHING_SAID, About, Charged, Opened, Produced, Record, Released, Returned

MOST_MODELS: Final = 1000
"""Models that are kept one by one; the others are only counted."""

MOST_ABOUTS: Final = 10_000
"""Different things that charges are about; what comes after them is added up as one, so that memory stays small."""

OTHERS: Final = "(others)"
"""What these are called."""

_BEYOND: Final = About(dataset=OTHERS, purpose=OTHERS, user=OTHERS, host=OTHERS, program=OTHERS)


class ProducedModel(NamedTuple):
    """A model that came of charges. datasets: those that these charges name."""

    number: int
    record: Produced
    datasets: tuple[str, ...]


@attrs.define
class SpentOn:
    """What charges that say the same came to. said: "" where they say nothing.  open: how many have no release yet."""

    said: str
    charges: int = 0
    amount: Amount = NOTHING
    open: int = 0

    @property
    def is_said(self) -> bool:
        """Whether they say anything."""
        return bool(self.said)


class _Open(NamedTuple):
    """A charge that may still give rounds back. about: its number."""

    about: int
    rounds: int


class AboutSpending(Accumulator):
    """What was charged for each thing that charges are about. said: charges that say anything, those given back too.

    models: the first MOST_MODELS that came of charges.  produced: how many there are.
    """

    def __init__(self) -> None:
        self._rule: Composition | None = None
        self._abouts: list[About] = [NOTHING_SAID]
        self._places: dict[About, int] = {NOTHING_SAID: 0}
        self._charges: list[int] = [0]
        self._amounts: list[Amount] = [NOTHING]
        self._open: dict[int, _Open] = {}
        self._numbers, self._which = array("q"), array("i")  # charges that say something, and what
        self.models: list[ProducedModel] = []
        self.said, self.produced = 0, 0

    # --- being told ---------------------------------------------------------------------------------------

    def take(self, number: int, record: Record) -> None:
        """The next entry. Raises ValueError for what cannot be added up."""
        match record:
            case Opened():
                self._rule = self._rule or record.composition
            case Charged() if self._rule is not None:
                place = self._place(record.about)
                self._add(place, record.amount(self._rule), 1)
                self._open[number] = _Open(place, record.plan.rounds)
                if place:
                    self._remember(number, place)
            case Released(charge=charge):
                self._open.pop(charge, None)
            case Returned():
                self._returned(record)
            case Produced():
                self.produced += 1
                if len(self.models) < MOST_MODELS:
                    self.models.append(ProducedModel(number, record, tuple(self._datasets(record))))
            case _:
                pass

    def take_run(self, run: Run) -> None:
        """The next entries."""
        places = {}
        for template, uses in run.uses.items():
            place = places[template] = self._place(template.record.about)
            self._add(place, template.terms.amount.times(uses), uses)
        for number, template in run.open.items():
            self._open[number] = _Open(places[template], template.terms.rounds)
        for _, charge in run.released:
            if isinstance(charge, int):
                self._open.pop(charge, None)
        if any(places.values()):
            for number, template, *_ in run.charges:
                if place := places[template]:
                    self._remember(number, place)

    def _place(self, about: About) -> int:
        found = self._places.get(about)
        if found is not None:
            return found
        if len(self._abouts) > MOST_ABOUTS:
            about = _BEYOND
        found = self._places.setdefault(about, len(self._abouts))
        if found == len(self._abouts):
            self._abouts.append(about)
            self._charges.append(0)
            self._amounts.append(NOTHING)
        return found

    def _add(self, place: int, amount: Amount, charges: int) -> None:
        self._charges[place] += charges
        self._amounts[place] = self._amounts[place].plus(amount)
        if place:
            self.said += charges

    def _remember(self, number: int, place: int) -> None:
        self._numbers.append(number)
        self._which.append(place)

    def _returned(self, record: Returned) -> None:
        known = self._open.get(record.charge)
        if known is None or record.rounds > known.rounds:
            return
        self._amounts[known.about] = self._amounts[known.about].minus(record.amount)
        if record.rounds == known.rounds:
            self._charges[known.about] -= 1
            del self._open[record.charge]
        else:
            self._open[record.charge] = known._replace(rounds=known.rounds - record.rounds)

    # --- answering ----------------------------------------------------------------------------------------

    def by(self, name: str) -> list[SpentOn]:
        """The charges by what they say of `name`, a field of `About`, the largest amount first."""
        texts = [str(getattr(about, name)) for about in self._abouts]
        found: dict[str, SpentOn] = {}
        for text, charges, amount in zip(texts, self._charges, self._amounts, strict=True):
            group = found.setdefault(text, SpentOn(text))
            group.charges += charges
            group.amount = group.amount.plus(amount)
        for charge in self._open.values():
            found[texts[charge.about]].open += 1
        kept = (group for group in found.values() if group.charges)
        return sorted(kept, key=lambda group: (*(-part for part in group.amount), group.said))

    def says(self, name: str) -> bool:
        """Whether any charge says this."""
        return any(group.is_said for group in self.by(name))

    def _datasets(self, record: Produced) -> Iterator[str]:
        seen = set()
        for number in record.charges:
            at = bisect_left(self._numbers, number)
            if at < len(self._numbers) and self._numbers[at] == number:
                name = self._abouts[self._which[at]].dataset
                if name and name not in seen:
                    seen.add(name)
                    yield name
