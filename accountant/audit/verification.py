"""What an auditor asks of the ledger: are these the entries that were written, and do they add up?

`verify` reads them once, oldest first, and never holds them all. It recomputes every digest, replays every sum in
exact arithmetic, and lists what is wrong, a sentence per finding. LEDGER.md says what an entry may say.
"""

import itertools
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Final, Literal, TypeAlias

import attrs

from accountant.audit.displayed_numbers import in_symbols
from accountant.audit.entry_checks import EntryChecker
from accountant.audit.fast_reader import Accumulator
from accountant.audit.reading import NONSENSE, Reader
from accountant.canonical_json import canonical
from accountant.composition import OwnRule, RuleNotInstalled
from accountant.costs import Unbounded, own_sources
from accountant.entries import (
    LATEST,
    LONGEST_LINE,
    DamagedEntry,
    Entry,
    KeyChange,
    Record,
    Signed,
    Start,
    decode,
    decode_charge,
    encode,
    kind_of,
    visible,
)
from accountant.witnesses import WriterSignatures

MOST_ERRORS: Final = 100
"""Findings that are kept; of any more, their number."""

MOST_UNRELEASED: Final = 20
"""Charges without a release that a note spells out; of any more, their number."""

MOST_SOURCES: Final = 5
"""Noise sources that a note names; of any more, their number."""

MOST_CHARACTERS: Final = 300
"""Of a finding."""

EVERY: Final = 1000
"""Entries after which `progress` is called."""

Verdict: TypeAlias = Literal["sound", "with caveats", "not sound", "cannot be checked"]
"""with caveats: all sums are right, and yet the ledger is worth less than it looks; see `Verification.caveats`.
cannot be checked: no digest is wrong, but nobody here can add up, see `Verification.unchecked`."""

_SAID: Final[Mapping[Verdict, str]] = {
    "sound": "the ledger is sound",
    "with caveats": "the ledger adds up, WITH CAVEATS",
    "not sound": "THE LEDGER IS NOT SOUND",
    "cannot be checked": "THE LEDGER CANNOT BE CHECKED HERE",
}


@attrs.frozen
class Verification:
    """The outcome of verifying a ledger.

    errors: what is wrong, a sentence each; the first hundred, then how many more.
    notes: what is allowed, and worth knowing.  entries: how many were read.
    head: the digest of the last one, 64 zeros where there is none.
    caveats: why a ledger that adds up is not plainly sound: nothing is promised, noise was simulated, or charges were
      never released.
    unchecked: why no sum could be checked: the rule of composition is not installed here, or not in that version.
    expected: the digest that had to be among the entries', "" if none was asked for; where it is not, that is an error.
    """

    errors: tuple[str, ...]
    notes: tuple[str, ...]
    entries: int
    head: str
    caveats: tuple[str, ...] = ()
    unchecked: str = ""
    expected: str = ""

    @property
    def sound(self) -> bool:
        """Whether digests, sums, ceilings and prices are right; whether that protects anybody is for `verdict`."""
        return not self.errors and not self.unchecked

    @property
    def verdict(self) -> Verdict:
        """ "sound" only where there is nothing wrong and no caveat."""
        if self.errors or self.unchecked:
            return "not sound" if self.errors else "cannot be checked"
        return "with caveats" if self.caveats else "sound"

    @property
    def findings(self) -> list[tuple[str, str]]:
        """What there is to say, the worst first: its kind ("error", "unchecked", "caveat" or "note") and a sentence."""
        rest = (note for note in self.notes if note not in self.caveats)
        unchecked = (self.unchecked,) if self.unchecked else ()
        listed = (("error", self.errors), ("unchecked", unchecked), ("caveat", self.caveats), ("note", rest))
        return [(kind, sentence) for kind, sentences in listed for sentence in sentences]

    def __str__(self) -> str:
        first = f"{_SAID[self.verdict]}: {self.entries} entries, head {self.head}"
        return "\n".join([first, *(f"  {kind}: {sentence}" for kind, sentence in self.findings)])


def verify(
    entries: Iterable[Entry],
    *accumulators: Accumulator,
    expect_head: str | None = None,
    claims: Collection[str] | None = None,
    progress: Callable[[int], object] | None = None,
    writers: WriterSignatures | None = None,
) -> Verification:
    """Whether the ledger holds together: chain, sums, ceilings, prices, and what was released of what.

    expect_head: a digest that an auditor kept; if no entry has it, this ledger is not the one that it was taken from.
    claims: the ids of all known claims; a charge that depends on another one is an error.
    progress: called with the number of entries read so far, after every thousand and after the last.
    accumulators: are told what the entries say, sound or not, in the same pass; whatever that is, they raise nothing.
    writers: what is expected of writers' signatures, and who signed what; every signature is checked without it, too.
    """
    audit = Verifier(*accumulators, expect_head=expect_head, claims=claims, writers=writers)
    rest, before = iter(entries), -1
    while audit.entries > before:
        before = audit.entries
        audit.take(itertools.islice(rest, EVERY))
        if progress is not None and audit.entries > before:
            progress(audit.entries)
    return audit.verification()


class Verifier(Reader):
    """`verify`, some entries at a time. fast: False to read every entry whole, for comparison.

    accumulators: are told what the entries say, sound or not, in the same pass; whatever that is, they raise nothing.
    start: a checkpoint to go on from, with its digest; else it begins with the first entry.
    """

    def __init__(
        self,
        *accumulators: Accumulator,
        expect_head: str | None = None,
        claims: Collection[str] | None = None,
        fast: bool = True,
        start: tuple[Start, str] | None = None,
        writers: WriterSignatures | None = None,
    ) -> None:
        self._checker = EntryChecker(claims)
        self._writers = WriterSignatures() if writers is None else writers
        super().__init__(self._checker, accumulators, expect_head)
        self._start = 0
        if start is not None:
            self._go_on_from(*start)
        self._errors: list[str] = []
        self._more = 0
        self._unchecked = ""
        self._learns = fast

    def _go_on_from(self, start: Start, digest: str) -> None:
        self._checker.state.resume(*start)
        self._writers.go_on_from(start.number, self._checker.state)
        self._start, self.head = start.number, digest
        self.entries = self._due = start.number + 1
        if digest == self._expected:
            self._seen = self.entries
        self._settle()

    def take(self, entries: Iterable[Entry]) -> None:
        """The next entries."""
        super().take(self._writers.watch(entries))

    @property
    def errors(self) -> tuple[str, ...]:
        """What was wrong so far."""
        return tuple(self._errors)

    @property
    def older(self) -> int | None:
        """The first charge before the start that an entry released or gave back; what it was for was not looked at."""
        return self._checker.older

    def forget_older(self) -> None:
        """Ask from here on only."""
        self._settle()
        self._checker.older = None

    @property
    def charges(self) -> int:
        """How many charges were read."""
        self._settle()
        return self._checker.charges

    def _read_whole(self, entry: Entry, linked: bool) -> None:
        """The slow way: what is wrong with an entry is said here, and only here."""
        self._fast.settle()
        where, record = f"entry {self._due}", None
        wrong = [] if linked else ["its digest does not match its content and the entry before it"]
        try:
            record = self._written_as_due(entry) if linked else None
            if record is None:
                record = _readable(entry)
                wrong += self._misplaced(entry, record)
            if not self._unchecked:
                wrong += self._replay.apply(self._due, record)
                if linked and isinstance(record, Signed | KeyChange):
                    wrong += self._writers.check(entry, record, self._replay.state)
            if self._learns and not wrong and not self._unchecked:
                self._fast.learn(self._due, record, entry.line)
        except RuleNotInstalled as error:
            if self._replay.state.opened is not None:  # no ledger is opened twice, by whatever rule
                wrong.append(f"it cannot be read ({error})")
            else:
                self._unchecked = self._unchecked or _plain(str(error))
        except DamagedEntry as error:
            wrong.append(f"it cannot be read ({error})")
        except NONSENSE as error:
            wrong.append(f"it cannot be added up ({type(error).__name__}: {error})")
        self._fast.go_on()
        for sentence in wrong:
            self._note_error(f"{where}: {sentence}")
        if record is not None:
            self._tell(self._due, record)
        else:
            for accumulator in self._accumulators:
                accumulator.miss()

    def _note_error(self, sentence: str) -> None:
        if len(self._errors) < MOST_ERRORS:
            self._errors.append(_plain(sentence))
        else:
            self._more += 1

    def _written_as_due(self, entry: Entry) -> Record | None:
        """A charge that stands where it must, and is written as it must be; None for `_misplaced` to tell."""
        return decode_charge(self._due, entry.line) if entry.kind == "charged" and entry.number == self._due else None

    def _misplaced(self, entry: Entry, record: Record) -> Iterator[str]:
        """What is wrong with an entry's place, and with how its line is written."""
        due, kind = self._due, kind_of(record)
        if entry.number == due and entry.kind == kind and encode(due, record) == entry.line:
            return
        said = json.loads(entry.line)
        number = said.get("number")
        placed = type(number) is int and number == entry.number
        if not placed or number != due or kind != entry.kind:
            yield (
                f"it is numbered {number!r} and called {kind!r}, and stands as number {entry.number!r}, "
                f"{entry.kind!r}, where number {due} is due"
            )
        if not _is_canonical(said, entry.line):
            yield "its line is not canonical JSON"
        elif type(number) is int and encode(number, record) != entry.line:
            yield "it says more than an entry of its kind, or says it otherwise"
        if placed:
            self._due = number  # so that one lost entry is one finding, and not one for each that follows

    def verification(self) -> Verification:
        """What was found."""
        self._settle()
        errors = list(self._errors)
        if self._more:
            errors.append(f"and {self._more} more findings")
        if self._replay.state.opened is None and not self._unchecked:
            errors.append("the ledger was never opened")
        if self._expected is not None and self._seen < 0:
            errors.append(not_expected(self.head, self._expected))
        errors += self._writers.errors(self._replay.charges)
        caveats = tuple(self._caveats())
        expected = self._expected or ""
        return Verification(
            tuple(errors), tuple(self._notes()), self.entries, self.head, caveats, self._unchecked, expected
        )

    def _caveats(self) -> Iterator[str]:
        yield from self._not_private()
        yield from self._writers.caveats()
        if waiting := len(self._replay.state.open):
            of = "" if self._start else f"of {self._replay.charges} "
            yield f"{waiting} {of}charges without a release: they count as spent"

    def _not_private(self) -> Iterator[str]:
        replay = self._checker
        if replay.state.opened is not None and isinstance(replay.state.budget, Unbounded):
            yield "not private: this ledger promises nothing, as its budget is unbounded"
        if replay.simulated:
            yield f"{replay.simulated} of {self._charges()} drew simulated noise: their releases are not private"

    def _charges(self) -> str:
        since = f" from entry {self._start} on" if self._start else ""
        return f"{self._replay.charges} charges{since}"

    def _notes(self) -> Iterator[str]:
        if 0 <= self._seen < self.entries:
            yield f"{self.entries - self._seen} entries were written since the expected head"
        if self._start:
            yield from self._of_start()
        yield from self._not_private()
        replay = self._checker
        if replay.state.opened is not None and isinstance(rule := replay.state.rule, OwnRule):
            yield _plain(
                f"costs add up by {rule.name!r}, version {rule.version!r}, of {type(rule).__module__}: no rule of this "
                "library, taken at its owner's word; a second opinion adds the same costs up without it"
            )
        if own := own_sources(replay.sources):
            names = ", ".join(map(repr, own[:MOST_SOURCES]))
            names += f" and {len(own) - MOST_SOURCES} more" if len(own) > MOST_SOURCES else ""
            yield _plain(f"noise came from {names}, no source of this library: that it is secure is its owner's word")
        for said in sorted(replay.declared)[:MOST_SOURCES]:
            yield _plain(f"declared elsewhere, and taken at its word: {said}")
        if len(replay.declared) > MOST_SOURCES:
            yield f"costs were declared elsewhere by {len(replay.declared) - MOST_SOURCES} more"
        if replay.unlisted:
            yield _plain(
                f"{replay.unlisted} of {self._charges()}, the first to {replay.first_unlisted!r}, named neither "
                "a sub-budget nor an announced label: the budget around the sub-budgets paid"
            )
        yield from map(_plain, self._writers.notes(self._replay.charges))
        waiting = replay.state.open
        for number, charge in itertools.islice(waiting.items(), MOST_UNRELEASED):
            yield _plain(f"entry {number}: charged to {charge.account!r} and never released (it counts)")
        if len(waiting) > MOST_UNRELEASED:
            yield f"{len(waiting) - MOST_UNRELEASED} more charges were never released (they count)"

    def _of_start(self) -> Iterator[str]:
        """What was not read, and is believed."""
        yield (
            f"entries before number {self._start} were not read: the kept head vouches for the checkpoint there, "
            "which says what they add up to; whether they were sound was found when that head was kept"
        )
        state = self._replay.state
        promise = f"{in_symbols(state.budget)} by {state.rule.name!r} under {state.adjacency.name}"
        yield _plain(
            f"the first entry promises {promise}: compare that with what you know, as the kept head covers it only "
            "so far as charges and ceilings agree"
        )


def not_expected(head: str, expected: str) -> str:
    """The finding where no entry has the digest that was expected."""
    return (
        f"the head is {head}, and no entry has the digest {expected!r} that was expected: "
        "entries were cut off, or the ledger was rolled back or rewritten"
    )


def _readable(entry: Entry) -> Record:
    """The entry, read. Raises DamagedEntry."""
    if not isinstance(entry.line, str) or not entry.line.isascii():
        raise DamagedEntry("its line is not a text in ASCII")
    if len(entry.line) > LONGEST_LINE:
        raise DamagedEntry(f"its line is longer than {LONGEST_LINE} characters")
    record = decode(entry)
    if record.time >= LATEST:
        raise DamagedEntry("its time is after the year 2286")
    return record


def _is_canonical(said: dict[str, object], line: str) -> bool:
    try:
        return canonical(said) == line
    except ValueError:  # NaN, or a number beyond any float
        return False


def _plain(sentence: str) -> str:
    """Fit to be printed, whatever the ledger says: a terminal obeys some characters."""
    return visible(sentence if len(sentence) <= MOST_CHARACTERS else f"{sentence[:MOST_CHARACTERS]}…")
