"""Accumulators, statements that go on, and the verification of a new part: the same as from scratch, and as strict."""

import itertools
import json
import re
import sqlite3
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accountant import (
    About,
    ApproxDP,
    BasicComposition,
    BoundedRange,
    Entry,
    Ledger,
    LedgerBroken,
    Plan,
    PureDP,
    ReplaceOne,
    Statement,
)
from accountant.audit import (
    Accumulator,
    Odometer,
    Reading,
    Spending,
    StatementDetails,
    from_spending,
    odometer,
    state,
    stated,
    verify,
    verify_since,
)
from accountant.audit.fast_reader import MOST_IN_RUN
from accountant.audit.report.evidence import Evidence
from accountant.entries import GENESIS, State, decode, decode_charge, digest_of, read_start
from accountant.entries.codec import encode
from accountant.ledger import replica
from proofs_tests.support.ledgers.books import Secure, open_books, rechained, rewritten, sound_books
from proofs_tests.support.ledgers.doubles import Breaks, RandomizedResponse

BIT = RandomizedResponse(0.001)


def one_by_one(entries: Sequence[Entry], *accumulators: Accumulator) -> None:
    """As nobody reads: each entry whole."""
    for entry in entries:
        for accumulator in accumulators:
            accumulator.take(entry.number, decode(entry))


class Spender:
    """Does what people do to a ledger, and asks for statements in between."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger, self.team, self.open = ledger, ledger, list[object]()
        self.bit = ledger.protect(True)

    def do(self, what: str, size: int) -> None:
        ledger, bit = (self.ledger, self.team)[size % 2].labelled("main"), self.bit
        match what:
            case "release":
                for number in range(size):
                    ledger.release(Secure(0.001) if number % 3 else BIT, bit, account=f"for-{number % 2}")
            case "about":
                ledger.concerning(About(dataset="adult", user=f"u{size}")).release(BIT, bit)
            case "plan":
                for _ in range(size):
                    with ledger.reserve(Plan.of(BoundedRange(0.001), 3), adjacency=ReplaceOne(), delta=1e-9) as charge:
                        charge.release(Secure(0.001, kind=BoundedRange), bit)
            case "mixed":
                for _ in range(size):
                    with ledger.reserve(Plan.of(PureDP(0.001), 3), adjacency=ReplaceOne()) as charge:
                        charge.release(attrs.evolve(BIT, seed=size) if size > 2 else BIT, bit)
                        charge.release(Secure(0.001), bit)
            case "crash":
                with pytest.raises(RuntimeError):
                    ledger.release(Breaks(0.001), bit, account=f"team-{size}")
            case "reserve":
                ledger.reserve(Plan.of(PureDP(0.0001), size), adjacency=ReplaceOne()).give_back()
                self.open.append(ledger.reserve(Plan.of(PureDP(0.0001), size), adjacency=ReplaceOne()))
            case "allocate" if self.team is self.ledger:
                self.team = self.ledger.allocate("team", 0.25)
            case "checkpoint":
                self.ledger._writer.write_checkpoint()
            case _:
                pass


DEEDS = ["release", "release", "plan", "mixed", "crash", "reserve", "allocate", "checkpoint", "about"]
COURSES = st.lists(st.tuples(st.sampled_from(DEEDS), st.integers(1, 6)), min_size=1, max_size=12)


def from_scratch(ledger: Ledger) -> Statement:
    """Of entries that were read whole, one by one."""
    details = StatementDetails()
    one_by_one(ledger.entries, details)
    spent = ledger.composition.guarantee(ledger._account.drawn, ledger._writer.state.budget)
    return stated(details, ledger.head, spent, ledger.budget, ledger.account)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(course=COURSES)
def test_a_statement_that_goes_on_is_the_one_from_scratch(course: list[tuple[str, int]]) -> None:
    spender = Spender(open_books(ApproxDP(5.0, 1e-3), BasicComposition()))
    for what, size in course:
        spender.do(what, size)
        for ledger in (spender.ledger, spender.team):
            assert ledger.statement() == from_scratch(ledger)
    ledger = spender.ledger
    assert state(ledger.entries, ledger.spent, ledger.budget) == ledger.statement()


def figures(spending: Spending) -> tuple[Odometer, object, object]:
    return from_spending(spending), spending.stated, list(spending.by_place.items())


def evidence_of(evidence: Evidence) -> dict[str, object]:
    """Everything that a report shows."""
    told = {**vars(evidence), "drawn": list(evidence.drawn.groups()), "state": evidence.state.as_dict()}
    told["spending"] = figures(evidence.spending)
    told["plans"] = [(number, plan.account, plan.plan, plan.price, plan.route) for number, plan in evidence.plans]
    told["points"] = list(evidence.spent_over_time())
    return {**told, "sources": evidence.sources, "unknown": evidence.unknown, "length": evidence.state.length}


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(course=COURSES, most=st.sampled_from([1, 2, 7, MOST_IN_RUN]))
def test_accumulators_come_to_the_same_by_runs_and_by_single_entries(course: list[tuple[str, int]], most: int) -> None:
    spender = Spender(open_books(ApproxDP(5.0, 1e-3), BasicComposition()))
    for what, size in course:
        spender.do(what, size)
    entries = spender.ledger.entries
    slow, quick = (Spending(), Evidence()), (Spending(), Evidence())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("accountant.audit.fast_reader.MOST_IN_RUN", most)
        patch.setattr("accountant.audit.spending.MOST_POINTS", 8)
        verify(entries, *quick)
        one_by_one(entries, *slow)
    assert figures(quick[0]) == figures(slow[0])
    assert evidence_of(quick[1]) == evidence_of(slow[1])
    assert odometer(entries).total == spender.ledger._writer.state.total


def test_a_reading_ends_in_the_state_of_its_writer() -> None:
    spender = Spender(open_books(ApproxDP(5.0, 1e-3), BasicComposition()))
    for what in DEEDS * 3:
        spender.do(what, 5)
    reading, entries = Reading(), spender.ledger.entries
    reading.take(entries[:50])
    reading.take(entries[50:])
    writer = spender.ledger._writer.state
    assert reading.state.as_dict() == writer.as_dict()
    assert (reading.state.length, reading.state.time, reading.head) == (writer.length, writer.time, entries[-1].digest)


def test_what_a_statement_keeps_grows_with_what_differs_and_not_with_entries() -> None:
    def kept(releases: int) -> list[int]:
        ledger = open_books(ApproxDP(5.0, 1e-3), BasicComposition())
        for number in range(releases):
            ledger.release(Secure(0.001), ledger.protect(True), account=f"for-{number % 3}")
        ledger.statement()
        read = ledger._writer.replica._reading
        assert read is not None
        details, reading = read
        own = [value for value in vars(details).values() if isinstance(value, list | dict | set)]
        return [*map(len, own), len(reading._replay.terms), len(reading._fast._charges), len(reading._fast._uses)]

    assert kept(30) == kept(600)


def test_a_statement_refuses_entries_before_a_checkpoint_that_do_not_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opening believed the checkpoint; a statement reads what is before it."""
    monkeypatch.setattr("accountant.ledger.writer.BELIEVED_FROM", 0)
    url = f"sqlite:///{tmp_path}/study.db"
    with Ledger.open(url, ApproxDP(1.0, 1e-5), composition=BasicComposition(), adjacency=ReplaceOne()) as ledger:
        ledger.release(BIT, ledger.protect(True))
        ledger._writer.write_checkpoint()
    with sqlite3.connect(tmp_path / "study.db") as connection:
        connection.execute("DROP TRIGGER exchequer_entries_no_update")
        connection.execute("UPDATE exchequer_entries SET line = replace(line, 'main', 'mine') WHERE number = 1")
    connection.close()
    with Ledger.open(url) as ledger, pytest.raises(LedgerBroken, match="entry 1: it is missing, or its digest"):
        ledger.statement()


# --- entries that do not hold ------------------------------------------------------------------------------------

BOOKS = sound_books(120)


@pytest.mark.parametrize("place", [1, 20, 70, 119])
def test_a_reading_refuses_what_does_not_hold(place: int) -> None:
    entry = BOOKS[place]
    spoilt = [*BOOKS[:place], attrs.evolve(entry, line=entry.line.replace('"time":', '"tame":')), *BOOKS[place + 1 :]]
    with pytest.raises(LedgerBroken, match=f"entry {place}: "):
        Reading().take(spoilt)
    with pytest.raises(LedgerBroken, match=f"entry {place}: "):
        Reading().take(rechained(spoilt))
    with pytest.raises(LedgerBroken, match=f"entry {place}: it is called"):
        Reading().take([*BOOKS[:place], attrs.evolve(entry, kind="closed" if entry.kind != "closed" else "opened")])


def test_after_a_time_that_is_none_no_earlier_one_is_taken() -> None:
    """Of twenty digits, as no clock shows it: the quick way compares times as texts of nineteen."""
    place = next(entry.number for entry in BOOKS[60:] if entry.kind == "charged")
    later = json.loads(BOOKS[place].line)
    later["time"] = 10**19
    line = json.dumps(later, sort_keys=True, separators=(",", ":"))
    spoilt = rechained([*BOOKS[:place], attrs.evolve(BOOKS[place], line=line), *BOOKS[place + 1 :]])
    with pytest.raises(LedgerBroken, match=f"entry {place + 1}: its time is before"):
        Reading().take(spoilt)


def test_a_statement_names_a_route_that_is_no_theorem_here() -> None:
    """`verify` calls it an error; whoever reads the ledger is told all the same what it says."""
    ledger = open_books(ApproxDP(5.0, 1e-3), BasicComposition())
    ledger.reserve(Plan.of(BoundedRange(0.001), 3), adjacency=ReplaceOne(), delta=1e-9)
    route = json.loads(ledger.entries[1].line)["priced"]["route"]
    strange = rewritten(ledger.entries, 1, f'"route":"{route}"', '"route":"newer"')
    assert not verify(strange).sound
    assert "newer" in state(strange, ledger.spent, ledger.budget).claims


def test_a_long_ledger_is_opened_as_strictly_as_a_short_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replica, "FEW", 4)
    url = f"sqlite:///{tmp_path}/long.db"
    with Ledger.open(url, ApproxDP(1.0, 1e-5), composition=BasicComposition(), adjacency=ReplaceOne()) as ledger:
        for _ in range(20):
            ledger.release(BIT, ledger.protect(True))
        kept, said = ledger._writer.state.as_dict(), ledger.statement()
    with Ledger.open(url) as again:
        assert again._writer.state.as_dict() == kept
        assert again.statement() == said


# --- charges, part by part ---------------------------------------------------------------------------------------

CHARGES = [entry for entry in BOOKS if entry.kind == "charged"]


def said() -> Iterator[Entry]:
    ledger = open_books(ApproxDP(1.0, 1e-5), BasicComposition())
    ledger.concerning(About(dataset='a"d,"number":1', purpose="\u00e9")).release(
        BIT, ledger.protect(True), account='"}x'
    )
    yield from (entry for entry in ledger.entries if entry.kind == "charged")


def test_a_charge_read_by_its_parts_is_the_charge() -> None:
    for entry in [*CHARGES, *said()]:
        assert decode_charge(entry.number, entry.line) == decode(entry)


@settings(max_examples=300)
@given(data=st.data())
def test_what_is_read_by_its_parts_is_written_as_it_must_be(data: st.DataObject) -> None:
    """Spoilt in one place, or put together from two charges: it is the line of what was read, or left to `decode`."""
    entry, other = data.draw(st.sampled_from(CHARGES)), data.draw(st.sampled_from([*CHARGES, *said()]))
    at = data.draw(st.integers(0, len(entry.line)))
    if data.draw(st.booleans()):
        new = data.draw(st.sampled_from(["", *'0123456789abcdefp-+.eE"{}[],: \\u_']))
        line = entry.line[:at] + new + entry.line[at + data.draw(st.integers(0, 2)) :]
    else:
        line = entry.line[:at] + other.line[data.draw(st.integers(0, len(other.line))) :]
    record = decode_charge(entry.number, line)
    if record is not None:
        assert encode(entry.number, record) == line


# --- since a kept head -------------------------------------------------------------------------------------------


@attrs.frozen
class Listed:
    """Entries as whoever owns the database shows them. columns: what it says of their kinds may be a lie."""

    entries: Sequence[Entry]

    def find(self, digest: str) -> int | None:
        return next((entry.number for entry in reversed(self.entries) if entry.digest == digest), None)

    def checkpoint(self, latest: int) -> Entry | None:
        found = (entry for entry in self.entries if entry.kind == "checkpoint" and entry.number <= latest)
        return max(found, key=lambda entry: entry.number, default=None)

    def since(self, start: int) -> Iterator[Entry]:
        return itertools.islice(iter(self.entries), start, None)

    def newest(self) -> Entry | None:
        return self.entries[-1] if self.entries else None


@cache
def kept_books() -> tuple[tuple[Entry, ...], int]:
    """With two checkpoints, charges that wait from before each, and what was written after a head was kept."""
    ledger = open_books(ApproxDP(1.0, 1e-5), BasicComposition())
    bit, waiting = ledger.protect(True), []
    for _ in range(2):
        for number in range(8):
            ledger.release(Secure(0.001), bit, account=f"for-{number % 2}")
        waiting.append(ledger.reserve(Plan.of(PureDP(0.001), 4), adjacency=ReplaceOne()))
        ledger._writer.write_checkpoint()
        ledger.release(Secure(0.001), bit)
    kept = len(ledger.entries) - 1
    for _ in range(6):
        ledger.release(Secure(0.001), bit)
    waiting[1].release(Secure(0.001), bit)
    waiting[1].give_back()
    return tuple(ledger.entries), kept


def forged(entries: Sequence[Entry], place: int, old: str, new: str) -> list[Entry]:
    """Changed, and every digest from there on computed anew."""
    assert old in entries[place].line
    return rewritten(list(entries), place, old, new)


def test_the_new_part_is_found_sound_and_counted() -> None:
    entries, kept = kept_books()
    found = verify_since(Listed(entries), entries[kept].digest)
    assert found.verification.errors == verify(entries).errors == ()
    assert (found.new, found.verification.entries) == (len(entries) - kept - 1, len(entries))
    assert found.verification.head == entries[-1].digest
    checkpoints = [entry.number for entry in entries if entry.kind == "checkpoint"]
    assert found.start == checkpoints[0]  # the later one does not say what the charge that was given back was for
    nothing_new = verify_since(Listed(entries[: kept + 1]), entries[kept].digest)
    assert (nothing_new.new, nothing_new.start) == (0, checkpoints[1])
    assert verify_since(Listed(entries), entries[3].digest).start == 0


@pytest.mark.parametrize("head", ["f" * 64, GENESIS, ""])
def test_a_head_that_nobody_had_is_refused_as_by_verify(head: str) -> None:
    entries, _ = kept_books()
    found = verify_since(Listed(entries), head)
    assert found.new is None
    assert found.verification.errors == verify(entries, expect_head=head).errors


def test_a_cut_or_rewritten_ledger_has_not_the_kept_head() -> None:
    entries, kept = kept_books()
    head = entries[kept].digest
    assert verify_since(Listed(entries[:kept]), head).new is None
    for place in (1, kept - 1, kept):
        time = re.search(r'"time":[0-9]+', entries[place].line)
        assert time is not None
        changed = forged(entries, place, time[0], f"{time[0][:-1]}{(int(time[0][-1]) + 1) % 10}")
        assert verify_since(Listed(changed), head).new is None


def test_every_change_from_the_checkpoint_on_is_found_and_none_before_it_moves_a_sum() -> None:
    """With stored digests left as they are, as an owner would who knows what is kept."""
    entries, kept = kept_books()
    head = entries[kept].digest
    start = verify_since(Listed(entries), head).start
    for place in range(start, len(entries)):
        line = entries[place].line
        for old in sorted(set(re.findall(r"[0-9a-f]{2,}", line))):
            spoilt = list(entries)
            new = old[:-1] + ("1" if old[-1] != "1" else "2")
            spoilt[place] = attrs.evolve(entries[place], line=line.replace(old, new, 1))
            assert not verify_since(Listed(spoilt), head).verification.sound, (place, old)


def lied(entries: Sequence[Entry], place: int, change: dict[str, object]) -> list[Entry]:
    """A checkpoint whose state says something else, its own digest made to fit and no other."""
    record = json.loads(entries[place].line)
    record["state"].update(change)
    line = json.dumps(record, sort_keys=True, separators=(",", ":"))
    new = attrs.evolve(entries[place], line=line, digest=digest_of(entries[place - 1].digest, line))
    return [*entries[:place], new, *entries[place + 1 :]]


def test_a_forged_checkpoint_is_not_what_the_kept_head_vouches_for() -> None:
    entries, kept = kept_books()
    head = entries[kept].digest
    start = verify_since(Listed(entries), head).start
    found = verify_since(Listed(lied(entries, start, {"open": []})), head).verification
    assert any("its digest does not match" in error for error in found.errors)


def test_an_entry_that_is_only_called_a_checkpoint_is_none() -> None:
    entries, kept = kept_books()
    called = [*entries[:kept], attrs.evolve(entries[kept], kind="checkpoint"), *entries[kept + 1 :]]
    found = verify_since(Listed(called), entries[kept].digest)
    assert found.start == 0
    assert any("stands as number" in error for error in found.verification.errors)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"epsilon":1.0', '"epsilon":2.0'),
        ('"name":"replace-one"', '"name":"add-remove-one"'),
        ('"name":"basic"', '"name":"zcdp"'),
    ],
)
def test_another_promise_than_the_one_that_was_kept_is_found(old: str, new: str) -> None:
    """Entry 0 alone is changed, and its digest: the chain from the checkpoint on does not cover it."""
    entries, kept = kept_books()
    line = entries[0].line.replace(old, new)
    assert line != entries[0].line
    first = attrs.evolve(entries[0], line=line, digest=digest_of(GENESIS, line))
    assert not verify_since(Listed([first, *entries[1:]]), entries[kept].digest).verification.sound


def test_what_is_written_after_the_head_is_checked_as_by_verify() -> None:
    entries, kept = kept_books()
    head = entries[kept].digest
    for place in range(kept + 1, len(entries)):
        for old, new in (('"epsilon":0.001,"kind"', '"epsilon":0.0005,"kind"'), ('"rounds":1', '"rounds":9')):
            if old in entries[place].line:
                changed = forged(entries, place, old, new)
                assert verify_since(Listed(changed), head).verification.errors == verify(changed).errors != ()


def test_a_charge_from_before_the_checkpoint_gives_back_what_it_was_charged() -> None:
    """A later checkpoint does not say which of its rounds cost what; an earlier one is taken, and it is found."""
    entries, kept = kept_books()
    place = next(entry.number for entry in entries[kept:] if entry.kind == "returned")
    changed = forged(entries, place, '"rounds":3', '"rounds":2')
    found = verify_since(Listed(changed), entries[kept].digest).verification
    assert any(f"entry {place}: it gives back another amount" in error for error in found.errors)


def test_simulated_noise_of_a_charge_from_before_the_checkpoint_is_a_caveat() -> None:
    """Which did not say what it would draw; its release was read, and says it."""
    ledger = open_books(ApproxDP(1.0, 1e-5), BasicComposition())
    with ledger.reserve(Plan.of(PureDP(0.001), 1), adjacency=ReplaceOne()) as waiting:
        ledger._writer.write_checkpoint()
        waiting.release(BIT, ledger.protect(True))
    ledger.release(Secure(0.001), ledger.protect(True))
    head = ledger.head
    ledger.release(Secure(0.001), ledger.protect(True))
    found = verify_since(Listed(ledger.entries), head)
    assert found.start == 2
    assert found.verification.verdict == ledger.verify().verdict == "with caveats"
    assert "drew simulated noise" in found.verification.caveats[0]


@pytest.mark.parametrize("nonsense", ['"x"', "[]", "7", "null", '{"delta":null,"loss":"0p0"}'])
def test_a_checkpoint_of_nonsense_is_refused_and_read_around(nonsense: str) -> None:
    entries, kept = kept_books()
    start = verify_since(Listed(entries), entries[kept].digest).start
    accounts = json.loads(entries[start].line)["state"]["accounts"]
    accounts[0]["ceiling"] = json.loads(nonsense)
    found = lied(entries, start, {"accounts": accounts})
    with pytest.raises(LedgerBroken, match="cannot be used"):
        read_start(Listed(found).since, found[start])
    assert not verify_since(Listed(found), entries[kept].digest).verification.sound


def test_the_state_of_a_new_part_is_that_of_the_whole() -> None:
    entries, kept = kept_books()
    whole, reading = State(), Reading()
    for entry in entries:
        whole.apply(entry.number, decode(entry))
    reading.take(entries)
    assert reading.state.as_dict() == whole.as_dict()
    found = verify_since(Listed(entries), entries[kept].digest).verification
    assert [caveat.split(" charges")[0].split(" of")[0] for caveat in found.caveats] == [str(len(whole.open))]
