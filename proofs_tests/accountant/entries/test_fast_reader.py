"""The quick way through the ledger accepts only what the slow way accepts, and is the one that is taken."""

import json
import re
from collections.abc import Callable
from unittest.mock import patch

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant import (
    GDP,
    AdvancedComposition,
    ApproxDP,
    BasicComposition,
    BoundedRange,
    Composition,
    Description,
    Entry,
    GDPComposition,
    Plan,
    PureDP,
    ReplaceOne,
    ZCDPComposition,
)
from accountant.audit import fast_reader
from accountant.audit.verification import Verification, Verifier
from accountant.composition.rules import Amount, amount_from_record, amount_text
from proofs_tests.support.ledgers.books import Secure, open_books, rechained, rewritten
from proofs_tests.support.ledgers.doubles import RandomizedResponse


def audited(entries: list[Entry], *, fast: bool) -> tuple[Verification, dict[str, object]]:
    """What is found, and the state at the end."""
    audit = Verifier(fast=fast, claims={"basic"})
    audit.take(entries)
    return audit.verification(), audit._replay.state.as_dict()


def read_whole(entries: list[Entry]) -> int:
    """How many entries went the slow way."""
    audit = Verifier()
    with patch.object(audit, "_read_whole", wraps=audit._read_whole) as slow:
        audit.take(entries)
    assert audit.verification().sound
    return slow.call_count


def routine(days: int) -> list[Entry]:
    """Books of which most entries repeat earlier ones: releases, reservations, sub-budgets, a δ that adds up."""
    ledger = open_books(ApproxDP(50.0, 1e-2), BasicComposition())
    bit, team = ledger.protect(True), ledger.allocate("team", 0.5)
    nested = team.allocate("inner", 1 / 3)
    for _ in range(days):
        for spender in (ledger, team, nested):
            spender.release(RandomizedResponse(0.01), bit)
            spender.labelled("main").release(Secure(0.02), bit, account="boost")
        with ledger.reserve(Plan.of(BoundedRange(0.01), 3), adjacency=ReplaceOne(), delta=1e-6) as charge:
            charge.release(Secure(0.01, kind=BoundedRange), bit)
        with ledger.reserve(Plan.of(PureDP(0.01), 2), adjacency=ReplaceOne()) as charge:
            charge.release(RandomizedResponse(0.01), bit)
            charge.release(RandomizedResponse(0.01), bit)
        ledger.reserve(Plan.of(PureDP(0.001)), adjacency=ReplaceOne())
    return list(ledger.entries)


ROUTINE = routine(6)
USUAL = ["", *'0123456789abcdefp-+.eE"{}[],: \\u_', "é"]
NUMBER = re.compile(r"[0-9]+")


@attrs.frozen
class Spoiler:
    """Changes entries at two places."""

    data: st.DataObject
    entries: list[Entry]

    def place(self) -> int:
        return self.data.draw(st.integers(0, len(self.entries) - 1))

    def write(self, place: int, line: str) -> None:
        self.entries[place] = attrs.evolve(self.entries[place], line=line)

    def character(self) -> None:
        """One or two characters are replaced, taken out or put in."""
        place = self.place()
        line = self.entries[place].line
        at = self.data.draw(st.integers(0, len(line)))
        new = self.data.draw(st.sampled_from(USUAL))
        self.write(place, line[:at] + new + line[at + self.data.draw(st.integers(0, 2)) :])

    def number(self) -> None:
        """A number is written otherwise, or is another one."""
        place = self.place()
        line = self.entries[place].line
        start, end = self.data.draw(st.sampled_from([each.span() for each in NUMBER.finditer(line)] or [(0, 0)]))
        old = line[start:end]
        new = self.data.draw(
            st.sampled_from([f"0{old}", f"{old}0", f"-{old}", f"{old}.0", f"{old}e0", "true", "1", "2"])
        )
        self.write(place, line[:start] + new + line[end:])

    def part(self) -> None:
        """A part of another line, as a forger would take it."""
        place, other = self.place(), self.data.draw(st.integers(0, len(ROUTINE) - 1))
        ours, theirs = json.loads(ROUTINE[place % len(ROUTINE)].line), json.loads(ROUTINE[other].line)
        name = self.data.draw(st.sampled_from(sorted(ours)))
        if name in theirs:
            ours[name] = theirs[name]
        self.write(place, json.dumps(ours, sort_keys=True, separators=(",", ":")))

    def order(self) -> None:
        """Entries are swapped, lost, repeated or called otherwise."""
        place, other = self.place(), self.place()
        match self.data.draw(st.sampled_from(["swap", "lose", "repeat", "relabel"])):
            case "swap":
                self.entries[place], self.entries[other] = self.entries[other], self.entries[place]
            case "lose" if len(self.entries) > 1:
                del self.entries[place]
            case "repeat":
                self.entries.insert(other, self.entries[place])
            case _:
                self.entries[place] = attrs.evolve(self.entries[place], kind=self.entries[other].kind)

    def spoil(self) -> None:
        self.data.draw(st.sampled_from([self.character, self.number, self.part, self.order]))()


@settings(max_examples=250)
@given(data=st.data())
def test_both_ways_find_the_same_in_spoilt_books(data: st.DataObject) -> None:
    """With digests computed anew, so that the quick way gets to see what was spoilt."""
    entries = list(ROUTINE)
    for _ in range(data.draw(st.integers(1, 3))):
        Spoiler(data, entries).spoil()
    forged = rechained(entries)
    if data.draw(st.booleans()):
        forged = [attrs.evolve(new, number=old.number) for new, old in zip(forged, entries, strict=True)]
    assert audited(forged, fast=True) == audited(forged, fast=False)


# --- it is the way that is taken, and it adds up -----------------------------------------------------------------


def test_what_repeats_is_read_whole_twice_and_never_again() -> None:
    """Nine sorts of charges and three of releases, of a hundred days or of ten; and what opens the ledger."""
    assert read_whole(routine(10)) == read_whole(routine(100)) == 3 + 2 * (9 + 3)


COSTS = st.sampled_from([0.5, 0.1, 1e-9, 2.0**-60, 5e-324, 0.0])


@given(data=st.data())
@pytest.mark.parametrize("rule", [BasicComposition(), AdvancedComposition(1e-6), ZCDPComposition(), GDPComposition()])
def test_both_ways_add_up_to_the_same(rule: Composition, data: st.DataObject) -> None:
    """Amounts of very different sizes, on three accounts, some of which are closed on the way."""
    ledger = open_books(ApproxDP(50.0, 1e-5), rule)
    kind = GDP if isinstance(rule, GDPComposition) else PureDP
    bit, spenders = ledger.protect(True), [ledger, ledger.allocate("a", 0.25), ledger.allocate("b", 1 / 3)]
    for number, cost in data.draw(st.lists(st.tuples(st.integers(0, 2), COSTS), max_size=40)):
        spenders[number].release(RandomizedResponse(cost, kind=kind), bit)
    ledger.close_account("a")
    ledger.release(RandomizedResponse(0.1, kind=kind), bit)
    ledger._writer.write_checkpoint()
    entries = list(ledger.entries)
    quick, slow = audited(entries, fast=True), audited(entries, fast=False)
    assert quick == slow
    assert slow[1] == ledger._writer.state.as_dict()


def overdrawn() -> list[Entry]:
    """A hundred equal releases, and a budget that pays for ninety."""
    ledger = open_books(ApproxDP(1.0, 1e-5), BasicComposition())
    for _ in range(100):
        ledger.release(RandomizedResponse(1 / 128), ledger.protect(True))
    return rewritten(ledger.entries, 0, '"epsilon":1.0', f'"epsilon":{90 / 128}')


def overdrawn_delta() -> list[Entry]:
    """Twenty plans at a price with a δ, and a budget whose δ pays for fifteen."""
    ledger = open_books(ApproxDP(1.0, 2.0**-10), BasicComposition())
    for _ in range(20):
        with ledger.reserve(Plan.of(PureDP(1e-3)), adjacency=ReplaceOne(), delta=2.0**-20) as charge:
            charge.release(RandomizedResponse(1e-3), ledger.protect(True))
    return rewritten(ledger.entries, 0, '"delta":0.0009765625', f'"delta":{15 * 2.0**-20}')


def overdrawn_below() -> list[Entry]:
    """The same with a sub-budget of which the forger made one with a smaller ceiling."""
    ledger = open_books(ApproxDP(1.0, 1e-5), BasicComposition())
    team = ledger.allocate("team", PureDP(0.5))
    for _ in range(10):
        team.release(RandomizedResponse(1 / 32), ledger.protect(True))
    return rewritten(ledger.entries, 1, '"loss":"1p-1"', '"loss":"5p-5"')


def closed_before() -> list[Entry]:
    """Charges to a sub-budget after it was closed."""
    ledger = open_books(ApproxDP(1.0, 1e-5), BasicComposition())
    team = ledger.allocate("team", 0.5)
    for _ in range(10):
        team.release(RandomizedResponse(0.01), ledger.protect(True))
    ledger.close_account("team")
    entries = list(ledger.entries)
    moved = entries[-1].line.replace(f'"number":{len(entries) - 1}', '"number":10')
    time = re.search(r'"time":[0-9]+', entries[10].line)
    assert time is not None
    moved = re.sub(r'"time":[0-9]+', time.group(), moved)
    return rechained([*entries[:10], attrs.evolve(entries[-1], line=moved), *entries[10:-1]], 10)


def simulated() -> list[Entry]:
    """Secure noise was announced each time, and once a simulation was released."""
    ledger, step = open_books(ApproxDP(1.0, 1e-5), BasicComposition()), Secure(0.01)
    for turn in range(12):
        announced = step.description if turn > 5 else RandomizedResponse(0.01).description
        with ledger.reserve(Plan.of(step.cost), adjacency=ReplaceOne(), mechanism=announced) as charge:
            charge.release(step if turn > 5 else RandomizedResponse(0.01), ledger.protect(True))
    entries = list(ledger.entries)
    used = entries[2].line[entries[2].line.index('"used"') :]
    late = entries[20].line[entries[20].line.index('"used"') :]
    return rewritten(entries, 20, late, used)


def too_many() -> list[Entry]:
    """A release of two rounds, as there was before, of a plan of one."""
    ledger = open_books(ApproxDP(1.0, 1e-5), BasicComposition())
    for rounds in (2, 2, 2, 2, 1, 1, 1, 1):
        with ledger.reserve(Plan.of(PureDP(0.01), rounds), adjacency=ReplaceOne()) as charge:
            for _ in range(rounds):
                charge.release(RandomizedResponse(0.01), ledger.protect(True))
    return rewritten(ledger.entries, 16, '"rounds":1', '"rounds":2')


def unsaid() -> list[Entry]:
    """A plan's release that does not say of what, as that of a single release need not."""
    ledger = open_books(ApproxDP(1.0, 1e-5), BasicComposition())
    for _ in range(4):
        ledger.release(RandomizedResponse(0.01), ledger.protect(True))
    with ledger.reserve(Plan.of(PureDP(0.01), 2), adjacency=ReplaceOne()) as charge:
        charge.release(RandomizedResponse(0.01), ledger.protect(True))
    line = ledger.entries[-1].line
    return rewritten(ledger.entries, len(ledger.entries) - 1, line[line.index('"used"') :], '"used":[]}')


TINY = 2.0**-60


def left_out(costs: list[float], since: int, start: int) -> list[Entry]:
    """Totals that from entry `start` on leave out what tiny charges cost, those from entry `since` on."""
    ledger = open_books(ApproxDP(50.0, 1e-5), BasicComposition())
    for cost in costs:
        ledger.release(RandomizedResponse(cost), ledger.protect(True), account=f"for {cost}")
    entries, tiny = list(ledger.entries), 0
    for place, entry in enumerate(entries):
        tiny += place >= since and f'"epsilon":{TINY!r},"kind"' in entry.line
        if place >= start and entry.kind == "charged":
            after = amount_from_record(json.loads(entry.line)["after"]).minus(Amount.of(TINY).times(tiny))
            line = re.sub(r'(?<="loss":")[^"]+', amount_text(after.loss_units), entry.line, count=1)
            entries[place] = attrs.evolve(entry, line=line)
    return rechained(entries)


def one_left_out() -> list[Entry]:
    """Of one tiny charge, after which large ones follow."""
    return left_out([0.5] * 5 + [TINY] + [0.5] * 8, 0, 17)


def many_left_out() -> list[Entry]:
    """Of tiny ones among large ones."""
    return left_out([0.5, TINY] * 8, 11, 11)


@pytest.mark.parametrize(
    ("forged", "finding", "count"),
    [
        (overdrawn, "it takes the total above the budget", 10),
        (one_left_out, "its running total is not the sum of the costs so far", 6),
        (many_left_out, "its running total is not the sum of the costs so far", 11),
        (overdrawn_delta, "it takes the total above the budget", 5),
        (overdrawn_below, "it takes the sub-budget 'team' above its ceiling", 5),
        (closed_before, "it is charged to the sub-budget 'team', which is closed", 6),
        (simulated, "it releases simulated noise where secure noise was charged for", 1),
        (too_many, "it releases 2 rounds of 1 that were charged", 1),
        (unsaid, "it does not say what was released of a plan", 1),
    ],
)
def test_what_the_state_forbids_does_not_pass_the_quick_way(
    forged: Callable[[], list[Entry]], finding: str, count: int
) -> None:
    """Lines like those before them, in a place where they are wrong."""
    quick, slow = audited(forged(), fast=True), audited(forged(), fast=False)
    assert sum(finding in error for error in quick[0].errors) == count
    assert quick[0].errors == slow[0].errors


# --- what it keeps is bounded ------------------------------------------------------------------------------------


def kept(entries: list[Entry]) -> tuple[int, int]:
    audit = Verifier()
    audit.take(entries)
    assert audit.verification().sound
    return len(audit._fast._charges), len(audit._fast._uses)


def test_templates_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    assert kept(ROUTINE) == (9, 3)
    monkeypatch.setattr(fast_reader, "TEMPLATES", 2)
    charges, uses = kept(ROUTINE)
    assert charges <= 2
    assert uses <= 2
    assert audited(ROUTINE, fast=True) == audited(ROUTINE, fast=False)


class Wordy(RandomizedResponse):
    """Its entry is too long to be a template."""

    @property
    def description(self) -> Description:
        return attrs.evolve(super().description, query="x" * fast_reader.LONGEST_TEMPLATE)


def test_what_is_long_or_met_once_is_not_kept() -> None:
    ledger = open_books(ApproxDP(1.0, 1e-5), BasicComposition())
    for number in range(20):
        ledger.release(RandomizedResponse(1e-3 + 1e-6 * number), ledger.protect(True))
    for _ in range(4):
        ledger.release(Wordy(1e-3), ledger.protect(True))
    assert kept(list(ledger.entries)) == (0, 1)
