"""What `verify` finds in the ledger, what it only notes, and that nonsense is a finding and never a crash."""

import json
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant import (
    AdvancedComposition,
    ApproxDP,
    BasicComposition,
    BoundedRange,
    Composition,
    Entry,
    GDPComposition,
    Ledger,
    Plan,
    PureDP,
    ReplaceOne,
    ZCDPComposition,
)
from accountant.audit.verification import EVERY, MOST_ERRORS, MOST_UNRELEASED, Verification, verify
from accountant.canonical_json import canonical
from accountant.composition.plans import ROUTES
from accountant.composition.rules import NOTHING, amount_record
from accountant.entries.chain import GENESIS, digest_of
from accountant.entries.codec import decode, encode
from accountant.entries.state import State
from proofs_tests.support.ledgers.books import (
    Secure,
    appended,
    first,
    open_books,
    relabelled,
    rewritten,
    sound_books,
)
from proofs_tests.support.ledgers.doubles import Breaks, RandomizedResponse

BOOKS = sound_books(120)
HEAD = BOOKS[-1].digest


def errors(entries: list[Entry]) -> tuple[str, ...]:
    return verify(entries).errors


# --- sound books -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [BasicComposition(), AdvancedComposition(1e-6), ZCDPComposition(), GDPComposition()])
def test_sound_books_are_sound(rule: Composition) -> None:
    entries = sound_books(200, rule)
    found = verify(entries, expect_head=entries[-1].digest)
    assert found.sound
    assert found.errors == ()
    assert (found.entries, found.head) == (200, entries[-1].digest)


@pytest.mark.parametrize("rule", [BasicComposition(), AdvancedComposition(1e-6), ZCDPComposition(), GDPComposition()])
def test_a_line_written_again_from_what_was_read_is_the_same(rule: Composition) -> None:
    for entry in sound_books(120, rule):
        assert encode(entry.number, decode(entry)) == entry.line


def test_no_books_are_not_sound() -> None:
    assert verify([]) == Verification(("the ledger was never opened",), (), 0, GENESIS)


def test_entries_are_read_once_and_one_by_one() -> None:
    """A stream, of which no entry is held on to."""

    def stream() -> Iterator[Entry]:
        yield from BOOKS

    assert verify(stream()) == verify(BOOKS)


def test_progress_is_told_every_thousand_entries_and_at_the_end() -> None:
    told: list[int] = []
    verify(BOOKS, progress=told.append)
    assert told == [len(BOOKS)]
    ledger = open_books(ApproxDP(1.0, 1e-5), BasicComposition())
    for _ in range(EVERY):
        ledger.release(RandomizedResponse(1e-5), ledger.protect(True))
    told.clear()
    assert verify(ledger.entries, progress=told.append).sound
    assert told == [EVERY, 2 * EVERY, 2 * EVERY + 1]
    told.clear()
    assert verify(ledger.entries[:EVERY], progress=told.append).sound
    assert told == [EVERY]


def test_it_prints_its_verdict_and_its_findings() -> None:
    sound, broken = str(verify(BOOKS)), str(verify(BOOKS[1:]))
    assert sound.startswith(f"the ledger adds up, WITH CAVEATS: 120 entries, head {HEAD}\n  caveat: ")
    assert str(verify(open_books(PureDP(1.0), BasicComposition()).entries)).startswith("the ledger is sound: 1 entries")
    assert broken.startswith("THE LEDGER IS NOT SOUND: 119 entries")
    assert "\n  error: entry 0: its digest does not match its content and the entry before it" in broken


# --- forgeries with a recomputed chain ---------------------------------------------------------------------------

CHARGE = first(BOOKS, "charged", '"priced":null')
PRICED = first(BOOKS, "charged", '"priced":{')
PLAN = first(BOOKS, "charged", '"rounds":2},{"cost"')
RETURNED = first(BOOKS, "returned", f'"charge":{PLAN}')
PRICED_BACK = next(e.number for e in BOOKS if e.kind == "returned" and '"rounds":4' in e.line)
RELEASED = first(BOOKS, "released", '"used":[{')
SINGLE = first(BOOKS, "released", '"used":[]')
ALLOCATED = first(BOOKS, "allocated", '"account":"team-1"')
CLOSED = first(BOOKS, "closed", '"account":"team-1"')
CHECKPOINT = first(BOOKS, "checkpoint")
TOTAL = "its running total is not the sum of the costs so far"

FORGERIES: list[tuple[int, str, str, str]] = [
    (0, '"format":2', '"format":3', "is written in format 3, this version reads 1 to 2"),
    (0, '"name":"basic"', '"name":"magic"', "unknown rule of composition"),
    (0, '"kind":"approx-dp"', '"kind":"zcdp"', "it cannot be read"),
    (0, '"budget":', '"budget":null,"was":', "it cannot be read"),
    (CHARGE, '"epsilon":0.001,"kind"', '"epsilon":0.0005,"kind"', TOTAL),
    (CHARGE, '"epsilon":0.001,"kind"', '"epsilon":200.0,"kind"', "it takes the total above the budget"),
    (CHARGE, '"name":"replace-one"', '"name":"add-remove-one"', "its adjacency is not that of the ledger"),
    (CHARGE, '"name":"replace-one"', '"name":"replace-two"', "unknown adjacency"),
    (CHARGE, '"kind":"pure-dp"', '"kind":"gdp"', "it cannot be read"),
    (CHARGE, '"kind":"charged"', '"kind":"charge"', "it cannot be read (KeyError: 'charge')"),
    (CHARGE, '"steps":[{', '"steps":[],"was":[{', "at least one Step"),
    (CHARGE, '"rounds":1', '"rounds":0', "whole number"),
    (CHARGE, '"rounds":1', '"rounds":true', "whole number"),
    (CHARGE, '"zeta":null', '"zeta":NaN', "not JSON compliant"),
    (CHARGE, '"zeta":null', '"sense":6,"zeta":null', "unknown parts of a description"),
    (CHARGE, '"claims":["basic"]', '"claims":[1]', "it cannot be read (TypeError: "),
    (CHARGE, '"claims":["basic"]', '"claims":"ba"', "it says more than an entry of its kind, or says it otherwise"),
    (CHARGE, '"account":', '"aaa":1,"account":', "it says more than an entry of its kind, or says it otherwise"),
    (CHARGE, '"epsilon":0.001,"kind"', '"epsilon":"0.001","kind"', "it says more than an entry of its kind"),
    (CHARGE, '"account":"main"', '"account": "main"', "its line is not canonical JSON"),
    (CHARGE, '{"account":"main"', '{"account":"main","account":"main"', "its line is not canonical JSON"),
    (CHARGE, '"account":"main"', '"account":"m\\u0061in"', "its line is not canonical JSON"),
    (CHARGE, '"epsilon":0.001,"kind"', '"epsilon":1e-3,"kind"', "its line is not canonical JSON"),
    (CHARGE, '"loss":"', '"loss":"0', "is not how an amount is written"),
    (CHARGE, '"loss":"', '"loss":"-', "is not how an amount is written"),
    (CHARGE, '"delta":"0p0"', '"delta":"0p1"', "is not how an amount is written"),
    (CHARGE, '"delta":"0p0"', '"gamma":"0p0"', "an amount has a loss and a delta"),
    (PRICED, '"route":"', '"route":"sub-', "which is no theorem known here"),
    (RELEASED, '"rounds":1', '"rounds":9', "it releases 9 rounds of"),
    (RELEASED, f'"charge":{PLAN}', f'"charge":{RELEASED}', "which is not open"),
    (RELEASED, '"private":true', '"private":false', "it releases simulated noise where secure noise was charged for"),
    (SINGLE, '"charge":', '"charge":100', f"it releases charge 100{SINGLE - 1}, which is not open"),
    (SINGLE, '"charge":', '"charge":-', "whole number of at least 0"),
    (RETURNED, f'"charge":{PLAN}', f'"charge":{SINGLE}', f"it gives back rounds of charge {SINGLE}, which is not open"),
    (RETURNED, '"rounds":2', '"rounds":9', "it gives back 9 rounds of 3 that were charged, or more than they cost"),
    (RETURNED, '"rounds":2', '"rounds":1', "it gives back another amount than these rounds were charged at"),
    (RETURNED, '"rounds":2', '"rounds":0', "at least one round"),
    (PRICED_BACK, '"rounds":4', '"rounds":3', "it gives back a part of a plan that was charged at one price"),
    (ALLOCATED, '"account":"team-1"', '"account":"team-0"', "there is, or was, a sub-budget 'team-0'"),
    (ALLOCATED, '"account":"team-1"', '"account":" team-1"', "is no name for a sub-budget"),
    (ALLOCATED, '"account":"team-1"', '"account":"x/team-1"', "there is no sub-budget 'x' for it to be in"),
    (CLOSED, '"account":"team-1"', '"account":"team-9"', "it closes a sub-budget, but there is no sub-budget 'team-9'"),
    (CLOSED, '"returned":{"delta":"', '"returned":{"delta":"1', "it returns another amount than was left"),
    (CHECKPOINT, '"rounds":2', '"rounds":3', "its state is not what the entries before it add up to"),
    (CHECKPOINT, '"rounds":2', '"rounds":2.0', "its state is not what the entries before it add up to"),
    (CHECKPOINT, '"open":[', '"open":[{},', "its state is not what the entries before it add up to"),
    (CHECKPOINT, '"closed":false', '"closed":0', "its state is not what the entries before it add up to"),
]  # fmt: skip


@pytest.mark.parametrize(("place", "old", "new", "finding"), FORGERIES)
def test_forgeries_are_found_in_their_place(place: int, old: str, new: str, finding: str) -> None:
    found = errors(rewritten(BOOKS, place, old, new))
    assert any(error.startswith(f"entry {place}: ") and finding in error for error in found), found
    assert not any("digest" in error for error in found)


def test_times_do_not_go_back() -> None:
    when = json.loads(BOOKS[50].line)["time"]
    early = rewritten(BOOKS, 50, f'"time":{when}', f'"time":{json.loads(BOOKS[0].line)["time"] - 1}')
    assert errors(early) == ("entry 50: its time is before that of the entry before it",)
    late = rewritten(BOOKS, 50, f'"time":{when}', f'"time":{when + 10**18}')
    assert errors(late)[0] == "entry 51: its time is before that of the entry before it"
    never = rewritten(BOOKS, 50, f'"time":{when}', f'"time":{10**19}')
    assert "entry 50: it cannot be read (its time is after the year 2286)" in errors(never)


def test_what_stands_beside_the_line_must_agree_with_it() -> None:
    entry = BOOKS[CHARGE]
    for column, value, finding in [
        ("number", 7, f"it is numbered {CHARGE} and called 'charged', and stands as number 7, 'charged'"),
        ("kind", "released", f"called 'charged', and stands as number {CHARGE}, 'released'"),
        ("kind", "opened", f"called 'charged', and stands as number {CHARGE}, 'opened'"),
    ]:
        found = errors([*BOOKS[:CHARGE], relabelled(entry, column, value), *BOOKS[CHARGE + 1 :]])
        assert len(found) == 1
        assert finding in found[0]


def test_one_lost_entry_is_one_loss_and_not_a_hundred() -> None:
    lost = errors([*BOOKS[:SINGLE], *BOOKS[SINGLE + 1 :]])
    assert len(lost) == 3, lost  # the chain, the number, and the checkpoint that knows of the release
    again = errors([*BOOKS[: SINGLE + 1], *BOOKS[SINGLE:]])
    assert len(again) == 3, again  # the chain, the number, and a release of what is released


def test_entries_before_the_first_and_books_opened_twice() -> None:
    line = BOOKS[CHARGE].line.replace(f'"number":{CHARGE}', '"number":0')
    alone = Entry(0, "charged", line, digest_of(GENESIS, line))
    assert errors([alone]) == ("entry 0: it stands before the ledger was opened", "the ledger was never opened")
    second = (
        BOOKS[0].line.replace('"number":0', f'"number":{len(BOOKS)}').replace(json_time(BOOKS[0]), json_time(BOOKS[-1]))
    )
    assert errors(appended(BOOKS, "opened", second)) == (f"entry {len(BOOKS)}: the ledger is opened a second time",)


def json_time(entry: Entry) -> str:
    return f'"time":{json.loads(entry.line)["time"]}'


def test_a_budget_that_the_rule_cannot_keep_opens_nothing() -> None:
    entries = sound_books(10, ZCDPComposition())
    found = errors(rewritten(entries, 0, '"delta":1e-05', '"delta":0.0'))
    assert "it cannot be added up (UnsupportedBudget" in found[0]
    assert "entry 1: it stands before the ledger was opened" in found
    assert found[-1] == "the ledger was never opened"


def test_rounds_come_back_once_and_not_after_the_release() -> None:
    ledger = open_books(ApproxDP(1.0, 1e-5), BasicComposition())
    charge = ledger.reserve(Plan.of(PureDP(0.25), 4), adjacency=ReplaceOne())
    for _ in range(2):
        charge.release(RandomizedResponse(0.25), ledger.protect(True))
    assert charge.give_back() == 2
    assert ledger.verify().sound
    again: dict[str, object] = {
        "after": {"delta": "0p0", "loss": "1p-2"},
        "amount": {"delta": "0p0", "loss": "1p-2"},
        "charge": 1,
        "kind": "returned",
        "number": 3,
        "rounds": 1,
        "time": time.time_ns(),
    }
    forged = appended(ledger.entries, "returned", canonical(again))
    assert errors(forged) == ("entry 3: it gives rounds of this charge back a second time",)
    with charge:
        pass
    late = appended(ledger.entries, "returned", canonical({**again, "number": 4, "time": time.time_ns()}))
    assert errors(late) == ("entry 4: it gives back rounds of charge 1, which is not open",)


def test_a_checkpoint_that_lists_too_little_is_not_compared_at_length(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or else many short ones, in books with many open charges, would take for ever."""
    state = State()
    state.apply(0, decode(BOOKS[0]))
    assert state.says(json.loads(canonical(state.as_dict())))
    monkeypatch.setattr(State, "as_dict", None)
    lies: list[dict[str, object]] = [
        {},
        {"accounts": [], "open": []},
        {"accounts": [{}], "open": [{}]},
        {"accounts": 1},
    ]
    for says in lies:
        assert not state.says(says)


NAMES = st.lists(st.sampled_from(["", "a", "b", "main", " "]), max_size=5).map("/".join)


@given(allocated=st.sets(st.sampled_from(["a", "b", "a/b", "a/b/a", "b/a"])), account=NAMES)
def test_a_charge_draws_on_the_longest_allocated_beginning_of_its_path(allocated: set[str], account: str) -> None:
    state, paths = State(), set[str]()
    state.apply(0, decode(BOOKS[0]))
    for path in sorted(allocated):
        if state.why_not_allocate(path, NOTHING) is None:
            state.allocate(path, NOTHING)
            paths.add(path)
    beginnings = {path for path in paths if f"{account}/".startswith(f"{path}/")}
    assert state.payer(account).path == max(beginnings, key=len, default="")


# --- prices ------------------------------------------------------------------------------------------------------


def priced(epsilon: float, plan: Plan, delta: float = 1e-6, route: str = "zcdp") -> list[Entry]:
    """Books with one plan at a price, chain and total as if it were right."""
    price = ApproxDP(epsilon, delta)
    ledger = open_books(ApproxDP(100.0, 1e-3), BasicComposition())
    record = {
        "account": "main",
        "adjacency": {"name": "replace-one"},
        "after": amount_record(BasicComposition().amount(price)),
        "amount": amount_record(BasicComposition().amount(price)),
        "kind": "charged",
        "mechanism": None,
        "number": 1,
        "priced": {"cost": price.as_dict(), "route": route},
        "steps": [{"cost": step.cost.as_dict(), "rounds": step.rounds} for step in plan.steps],
        "time": json.loads(ledger.entries[0].line)["time"] + 1,
    }
    return appended(ledger.entries, "charged", json.dumps(record, sort_keys=True, separators=(",", ":")))


def test_a_price_is_computed_again() -> None:
    plan = Plan.sequence([BoundedRange(0.1)] * 10 + [PureDP(0.2)])
    best = plan.price(1e-6)
    for route in ROUTES:
        assert errors(priced(best.best.epsilon, plan, route=route)) == ()  # by whichever theorem, it is worth that
    assert errors(priced(best.best.epsilon * 1.1, plan)) == ()
    cheap = "entry 1: its plan costs more than the price it was charged at"
    assert errors(priced(best.best.epsilon * (1.0 - 1e-6), plan, route=best.route)) == (cheap,)
    assert errors(priced(0.0, plan)) == (cheap,)
    assert errors(priced(best.best.epsilon, plan, delta=1e-7)) == (cheap,)


# --- the head ----------------------------------------------------------------------------------------------------


def test_the_expected_head_is_the_newest_or_an_older_one_or_an_error() -> None:
    assert not any("expected head" in note for note in verify(BOOKS, expect_head=HEAD).notes)
    older = verify(BOOKS, expect_head=BOOKS[100].digest)
    assert older.sound
    assert "19 entries were written since the expected head" in older.notes
    lost = verify([*BOOKS[:SINGLE], *BOOKS[SINGLE + 1 :]], expect_head=BOOKS[100].digest)
    assert "19 entries were written since the expected head" in lost.notes
    for nowhere in ("f" * 64, GENESIS, ""):
        (error,) = verify(BOOKS, expect_head=nowhere).errors
        assert error == (
            f"the head is {HEAD}, and no entry has the digest {nowhere!r} that was expected: "
            "entries were cut off, or the ledger was rolled back or rewritten"
        )


# --- claims ------------------------------------------------------------------------------------------------------


def test_claims_that_nobody_knows_are_errors_named_once() -> None:
    entries = list(BOOKS)
    routes = {"L5", "kov", "zcdp-tight", "L3", "pld", "gdp"}
    assert verify(entries, claims=["basic", *routes]).sound
    assert verify(entries, claims=None).sound
    assert errors(entries) == ()
    found = verify(rewritten(entries, CHARGE, '"claims":["basic"]', '"claims":["basic","folklore"]'),
                   claims={"basic", *routes}).errors  # fmt: skip
    assert found == (f"entry {CHARGE}: it depends on the claim 'folklore', which is not known",)
    unknown = verify(entries, claims=[]).errors
    assert unknown[0] == "entry 0: it depends on the claim 'basic', which is not known"
    assert len([error for error in unknown if "'basic'" in error]) == 1
    assert any(error.startswith(f"entry {PRICED}: it depends on the claim 'L5'") for error in unknown)


def test_claims_of_what_was_released_and_of_the_rule_count() -> None:
    used = rewritten(BOOKS, RELEASED, '"claims":["basic"]', '"claims":["folklore"]')
    known = {"basic", "L5", "kov", "zcdp-tight", "L3", "pld", "gdp"}
    assert verify(used, claims=known).errors == (
        f"entry {RELEASED}: it depends on the claim 'folklore', which is not known",
    )
    books = sound_books(3, AdvancedComposition(1e-6))
    assert verify(books, claims=["basic"]).errors == (
        "entry 0: it depends on the claim 'advanced-filter', which is not known",
        "entry 0: it depends on the claim 'zcdp-tight', which is not known",
    )


# --- notes -------------------------------------------------------------------------------------------------------


def crashes(ledger: Ledger, count: int) -> None:
    for number in range(count):
        with pytest.raises(RuntimeError):
            ledger.release(Breaks(0.001), ledger.protect(True), account=f"team-{number}")


def test_charges_without_a_release_are_noted() -> None:
    ledger = open_books(ApproxDP(1.0, 1e-5), BasicComposition())
    crashes(ledger, MOST_UNRELEASED)
    notes = ledger.verify().notes
    assert notes[1:] == tuple(
        f"entry {number + 1}: charged to 'team-{number}' and never released (it counts)"
        for number in range(MOST_UNRELEASED)
    )
    crashes(ledger, 7)
    assert ledger.verify().notes[1 + MOST_UNRELEASED :] == ("7 more charges were never released (they count)",)
    assert ledger.verify().sound


def test_simulated_noise_is_noted_with_the_number_of_charges() -> None:
    ledger = open_books(ApproxDP(1.0, 1e-5), BasicComposition())
    bit = ledger.protect(True)
    for _ in range(5):
        ledger.release(Secure(0.01), bit)
    assert ledger.verify().notes == ()
    for _ in range(4):
        ledger.release(RandomizedResponse(0.01), bit)
    for seed in range(3):  # it shows in what was released, though nothing was announced
        with ledger.reserve(Plan.of(PureDP(0.01), 2), adjacency=ReplaceOne()) as charge:
            charge.release(RandomizedResponse(0.01, seed), bit)
            charge.release(Secure(0.01), bit)
    assert ledger.verify().notes == ("7 of 12 charges drew simulated noise: their releases are not private",)


def test_of_many_errors_the_first_hundred_are_spelled_out() -> None:
    ledger = open_books(ApproxDP(1.0, 1e-5), BasicComposition())
    for _ in range(MOST_ERRORS + 50):
        ledger.release(RandomizedResponse(0.001), ledger.protect(True))
    found = errors(rewritten(ledger.entries, 1, '"epsilon":0.001,"kind"', '"epsilon":0.0005,"kind"'))
    totals = [f"entry {2 * n + 1}: {TOTAL}" for n in range(MOST_ERRORS - 1)]
    assert found[:MOST_ERRORS] == (totals[0], "entry 1: its amount is not what its costs come to", *totals[1:])
    assert found[MOST_ERRORS:] == ("and 51 more findings",)
