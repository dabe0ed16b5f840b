"""The quick way through a sound chain: entries that say again what an entry before them said.

Most charges differ from an earlier one in their total, their number and their time alone, and most releases in their
numbers and their time. So the first of its sort is read, checked and kept as a template; a later one is written out
from its template, with the number and the total that this reader expects, and compared with the line in the ledger.
What is equal is canonical, and says what was checked before; anything else is left to the slow way, which reads it
whole and names what is wrong. So nothing passes here that would not pass there, and a test compares the two.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Final

from accountant.audit.entry_checks import StateReplay, Terms
from accountant.composition import Amount, amount_text
from accountant.entries import NEWEST_FORMAT, Account, Charged, ChargeLine, OpenCharge, Record, Released, ReleaseLine

TEMPLATES: Final = 4096
"""Templates of each sort that are kept; when there are more, all are learned anew."""

LONGEST_TEMPLATE: Final = 1 << 14
"""Characters of a line that is kept: longer ones are rare, and many of them would fill the memory."""

MOST_IN_RUN: Final = 4096
"""Charges, and releases, of a run; a longer one is told in parts, so that it takes no memory to speak of."""

_DIGITS: Final = 19
"""Of a time in nanoseconds, from 2001 to 2286; as long as all have so many, they sort as text."""

_USED: Final = ',"used":'

_EARLIEST: Final = "1" + "0" * (_DIGITS - 1)

_NEVER: Final = ":"
"""Sorts behind all digits: after a time that has more of them, which is none, nothing is taken in the quick way."""

_SCALE: Final = 4096
"""Above the number of bits of any amount."""


def _zeros(units: int) -> int:
    """The number of zero bits that a number ends in."""
    return (units & -units).bit_length() - 1 if units else _SCALE


class _Remaining:
    """What an account may still be charged, in the units of this turn."""

    __slots__ = ("account", "delta", "delta_before", "loss", "loss_before")

    def __init__(self, account: Account, scale: int) -> None:
        loss = account.ceiling.loss_units - account.committed.loss_units
        delta = account.ceiling.delta_units - account.committed.delta_units
        self.account = account
        self.loss = self.loss_before = -1 if account.closed else loss >> scale
        self.delta = self.delta_before = -1 if account.closed else delta >> scale

    def drawn(self, scale: int) -> Amount:
        """What was charged to it."""
        return Amount((self.loss_before - self.loss) << scale, (self.delta_before - self.delta) << scale)


class ChargeTemplate:
    """A charge that was read once and found sound. What it costs is in the units of the turn it was used in last.

    record: what it said; its time and its total are its own.  uses: how often it was met in that turn.
    next: what followed it last.
    """

    __slots__ = ("delta", "line", "loss", "next", "record", "remaining", "terms", "turn", "uses", "zeros")

    def __init__(self, line: ChargeLine, record: Charged, terms: Terms) -> None:
        self.line, self.record = line, record
        self.terms, self.next, self.turn, self.uses = terms, self, -1, 0
        self.loss, self.delta = terms.amount
        self.zeros = min(_zeros(self.loss), _zeros(self.delta))
        self.remaining: _Remaining


class ReleaseTemplate:
    """The end of a release that was read once and found sound. record: what it said, of a charge of its own."""

    __slots__ = ("line", "record", "rounds", "simulated")

    def __init__(self, line: ReleaseLine, record: Released) -> None:
        self.line, self.record = line, record
        self.rounds = sum(rounds for _, rounds in record.used)
        self.simulated = any(not mechanism.private for mechanism, _ in record.used)


# --- what others are told ---------------------------------------------------------------------------------


class Run:
    """Charges and releases, one after another, that say again what others said before them.

    Whoever adds up looks at each sort of them once, and not at each entry; the state may have changed before a run and
    after it, never within.

    charges: number, sort, time, and the total with it, in units of 2^scale.
    releases: number, the charge's number, sort, and the charge's sort where that is of this run as well.
    open: charges of this run that wait for their release.  time: of the newest entry.  end: the number after it.
    """

    def __init__(self) -> None:
        self.charges: list[tuple[int, ChargeTemplate, str, int, int]] = []
        self.releases: list[tuple[int, int, ReleaseTemplate, ChargeTemplate | None]] = []
        self.open: dict[int, ChargeTemplate] = {}
        self.scale, self.time, self.end = 0, 0, 0

    @cached_property
    def uses(self) -> Counter[ChargeTemplate]:
        """How often each sort of charge occurs, in the order of their first times."""
        return Counter([charge[1] for charge in self.charges])

    @cached_property
    def released(self) -> Counter[tuple[ReleaseTemplate, ChargeTemplate | int]]:
        """How often each sort of release, of which sort of charge: of an earlier one its number."""
        return Counter([(used, charge if sort is None else sort) for _, charge, used, sort in self.releases])

    def total(self, loss: int, delta: int) -> Amount:
        """The total that stands in `charges`."""
        return Amount(loss << self.scale, delta << self.scale)


class Accumulator:
    """Somebody who wants to know what the entries say, in the same pass; an entry is told once, in their order."""

    __slots__ = ()

    def take(self, number: int, record: Record) -> None:
        """The next entry, which was read whole."""
        raise NotImplementedError

    def take_run(self, run: Run) -> None:
        """The next entries."""
        raise NotImplementedError

    def miss(self) -> None:
        """The next entry cannot be read."""


# --- the reader -------------------------------------------------------------------------------------------


class FastReader:
    """Takes charges and releases in place of a `StateReplay`, which knows of them as soon as they are settled.

    A turn lasts from one settlement to the next; the sub-budgets stay as they are for as long. In it, amounts are
    counted in units of 2^scale: real ones end in many zero bits, and short numbers are quick.
    """

    def __init__(self, replay: StateReplay, accumulators: Sequence[Accumulator] = ()) -> None:
        self._replay, self._accumulators = replay, accumulators
        self._run = Run() if accumulators else None
        self._charges: dict[str, ChargeTemplate] = {}
        self._uses: dict[str, ReleaseTemplate] = {}
        self._met: set[int] = set()
        self._newest: ChargeTemplate | None = None
        self._turn, self._begun, self._scale = 0, False, _SCALE
        self._remaining: dict[str, _Remaining] = {}
        self._bound: list[ChargeTemplate] = []
        self._open: dict[int, ChargeTemplate] = {}  # charges of this turn that wait for their release
        self._end = 0  # the number after the newest entry that was taken in
        self._loss, self._delta, self._delta_text = 0, 0, "0p0"
        self._time = self._since = _EARLIEST

    # --- charges ------------------------------------------------------------------------------------------

    def charged(self, number: int, line: str) -> bool:
        """Take charge `number` in, whose digest was checked. False: nothing was taken in."""
        time, newest = line[-20:-1], self._newest
        if not self._time <= time or not time.isdigit() or newest is None:
            return False
        template = newest.next  # what followed last time is the best guess
        if not self._pays(template, number, line, time):
            found = self._charges.get(_remainder(line))
            if found is None or found is template or not self._pays(found, number, line, time):
                return False
            newest.next = template = found
        self._newest = template
        return True

    def _pays(self, template: ChargeTemplate, number: int, line: str, time: str) -> bool:
        """Take a charge in, if it is this template's and its account affords it."""
        if not line.startswith(template.line.head):
            return False
        if template.turn != self._turn:
            if not line.startswith(template.line.middle, line.find('"}', len(template.line.head))):
                return False  # as would be seen below; binding takes time
            if (template.record.drawn is None) is (self._replay.state.format >= NEWEST_FORMAT):
                return False  # it was learnt before an entry upgraded the ledger
            self._bind(template)
        remaining, loss, delta = template.remaining, template.loss, template.delta
        new_loss, new_delta = self._loss + loss, self._delta + delta
        delta_text = amount_text(new_delta, self._scale) if delta else self._delta_text
        if line != template.line.written(str(number), time, amount_text(new_loss, self._scale), delta_text):
            return False
        if loss > remaining.loss or delta > remaining.delta:
            return False
        self._loss, self._delta, self._delta_text, self._time = new_loss, new_delta, delta_text, time
        remaining.loss -= loss
        remaining.delta -= delta
        template.uses += 1
        self._open[number], self._end = template, number + 1
        if self._run is not None:
            self._run.charges.append((number, template, time, new_loss, new_delta))
            if len(self._run.charges) >= MOST_IN_RUN:
                self.settle()
                self.go_on()
        return True

    # --- releases -----------------------------------------------------------------------------------------

    def released(self, number: int, line: str) -> bool:
        """Take release `number` in, whose digest was checked. False: nothing was taken in."""
        end = line.find(_USED)
        used, time, who = self._uses.get(line[end:]), line[end - _DIGITS : end], line[10 : line.find(",")]
        if used is None or not self._time <= time or not time.isdigit() or not who.isdigit() or len(who) > _DIGITS:
            return False
        charge = int(who)
        if line != used.line.written(str(number), time, str(charge)):
            return False
        template = self._open.get(charge)
        if template is None:
            if not self._released_late(charge, used, time):
                return False
        else:
            terms = template.terms
            if terms.why_not_release(used.rounds, terms.rounds, used.simulated):
                return False
            del self._open[charge]
            self._note_release(terms, used, time)
        self._end = number + 1
        if self._run is not None:
            self._run.releases.append((number, charge, used, template))
            if len(self._run.releases) >= MOST_IN_RUN:
                self.settle()
                self.go_on()
        return True

    def _released_late(self, charge: int, used: ReleaseTemplate, time: str) -> bool:
        """The same for a charge of an earlier turn, of which the state knows."""
        replay = self._replay
        terms, left = replay.terms.get(charge), replay.state.open.get(charge)
        if terms is None or left is None or terms.why_not_release(used.rounds, left.rounds, used.simulated):
            return False
        del replay.terms[charge], replay.state.open[charge]
        self._note_release(terms, used, time)
        return True

    def _note_release(self, terms: Terms, used: ReleaseTemplate, time: str) -> None:
        self._time = time
        if used.simulated and terms.announced is not False:
            self._replay.simulated += 1

    # --- templates ----------------------------------------------------------------------------------------

    def learn(self, number: int, record: Record, line: str) -> None:
        """Keep an entry that was taken in the slow way, and was found sound, as a template.

        One that is written otherwise than an entry of its kind is none.
        """
        if isinstance(record, Charged) and self._again(remainder := _remainder(line)):
            if len(self._charges) == TEMPLATES:
                self._charges.clear()
            charge = ChargeLine.from_record(record)
            if charge.at(number, record.time, record.after) == line:
                self._newest = ChargeTemplate(charge, record, self._replay.terms[number])
                self._charges[remainder] = self._newest
        elif isinstance(record, Released) and self._again(line[line.find(_USED) :]):
            if len(self._uses) == TEMPLATES:
                self._uses.clear()
            release = ReleaseLine.from_record(record)
            if release.at(number, record.time, record.charge) == line:
                self._uses[release.tail] = ReleaseTemplate(release, record)

    def _again(self, text: str) -> bool:
        """Whether this was met before; what is met once only is not worth a template."""
        if len(text) > LONGEST_TEMPLATE:
            return False
        if hash(text) in self._met:
            return True
        if len(self._met) == 16 * TEMPLATES:
            self._met.clear()
        self._met.add(hash(text))
        return False

    # --- turns --------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Tell the state of everything that was taken in, before it takes an entry in itself."""
        if not self._end:
            if self._bound:
                self._forget_turn()
            return
        replay, state = self._replay, self._replay.state
        for remaining in self._remaining.values():
            remaining.account.draw(remaining.drawn(self._scale))
        for template in self._bound:
            replay.charges += template.uses
            if template.uses:
                replay.note_account(template.terms.account, template.uses)
            replay.simulated += template.uses if template.terms.announced is False else 0
        for number, template in self._open.items():
            terms = replay.terms[number] = template.terms
            payer = state.payer(terms.account)
            state.open[number] = OpenCharge(terms.account, payer.path, terms.rounds, terms.amount)
        if self._time != self._since:
            state.time = int(self._time)
        state.length = self._end
        if (run := self._run) is not None:
            run.open, run.scale, run.time, run.end = self._open, self._scale, state.time, self._end
            self._run = Run()
            for accumulator in self._accumulators:
                accumulator.take_run(run)
        self._end, self._open = 0, {}
        self._forget_turn()

    def _forget_turn(self) -> None:
        self._remaining, self._bound = {}, []
        self._turn, self._begun = self._turn + 1, False

    def stop(self) -> None:
        """From here on nothing is taken in: the state is not what entries are to be held against."""
        self._charges, self._uses, self._newest = {}, {}, None

    def go_on(self) -> None:
        """Go on from where the state is now."""
        time = str(self._replay.state.time)
        self._time = self._since = time if len(time) == _DIGITS else _EARLIEST if len(time) < _DIGITS else _NEVER

    def _begin(self, zeros: int) -> None:
        total = self._replay.state.total
        self._scale = min(self._scale, zeros, _zeros(total.loss_units), _zeros(total.delta_units))
        self._loss, self._delta = total.loss_units >> self._scale, total.delta_units >> self._scale
        self._delta_text, self._begun = amount_text(self._delta, self._scale), True

    def _bind(self, template: ChargeTemplate) -> None:
        """Use a template in this turn."""
        if self._begun and template.zeros < self._scale:  # it counts in smaller units: all others must, too
            self.settle()
            self.go_on()
        if not self._begun:
            self._begin(template.zeros)
        account = self._replay.state.payer(template.terms.account)
        remaining = self._remaining.get(account.path)
        if remaining is None:
            remaining = self._remaining[account.path] = _Remaining(account, self._scale)
        amount = template.terms.amount
        template.loss, template.delta = amount.loss_units >> self._scale, amount.delta_units >> self._scale
        template.remaining, template.turn, template.uses = remaining, self._turn, 0
        self._bound.append(template)


def _remainder(line: str) -> str:
    """A charge's line without its total, number and time. Only a hint: a template found by it is compared whole."""
    total = line.find('"after":')
    behind, number = line.find("}", total), line.rfind(',"number":')
    return line[:total] + line[behind:number] + line[line.find(",", number + 1) : -20]
