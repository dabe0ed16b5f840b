"""The columns of charges answer every question as a pass over the entries does."""

import json
from collections.abc import Sequence

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant import About, ApproxDP, BasicComposition, Entry, GDPComposition, Ledger, Plan, PureDP, ReplaceOne
from accountant.audit import Reading, Verifier, verify
from accountant.audit.breakdowns import BY, Breakdown, ChargeTable, Question, breakdown
from accountant.audit.breakdowns.charge_table import FIRST
from accountant.composition import NOTHING
from proofs_tests.support.ledgers.books import rewritten, sound_books
from proofs_tests.support.ledgers.doubles import RandomizedResponse

ABOUTS = (
    None,
    About(dataset="hospital", user="ada"),
    About(dataset="school", purpose="pilot", user="bo"),
    About(user="ada"),
)
ACCOUNTS = ("team", "team/a", "teams", "other")
ACTS = st.tuples(st.integers(0, 3), st.sampled_from(ACCOUNTS), st.integers(0, 4), st.sampled_from([0.001, 0.25e-3]))


def written(acts: Sequence[tuple[int, str, int, float]]) -> tuple[Entry, ...]:
    """A ledger of such charges: released, reserved and left open, or given back in part or whole; a model of some."""
    ledger = Ledger(ApproxDP(100.0, 1e-3), composition=BasicComposition(), adjacency=ReplaceOne())
    numbers = []
    for who, account, act, epsilon in acts:
        about = ABOUTS[who]
        handle = ledger if about is None else ledger.concerning(about)
        bit, mechanism = handle.protect(True), RandomizedResponse(epsilon)
        if act < 2:
            handle.release(mechanism, bit, account=account)
        else:
            charge = handle.reserve(Plan.of(PureDP(epsilon), 3), adjacency=ReplaceOne(), account=account)
            for _ in range(act - 2):
                charge.release(mechanism, bit)
            if act != 3:
                charge.give_back()
        numbers.append(next(e.number for e in reversed(tuple(ledger.entries)) if e.kind == "charged"))
    if numbers:
        ledger.note_model("ab" * 32, sorted(set(numbers))[::2])
        ledger.note_model("cd" * 32, [min(numbers)])
    return tuple(ledger.entries)


def told(entries: Sequence[Entry], parts: int = 1) -> ChargeTable:
    table = ChargeTable()
    verifier = Verifier(table)
    for part in range(parts):
        verifier.take(entries[part * len(entries) // parts : (part + 1) * len(entries) // parts])
        verifier.verification()  # tells accumulators of everything so far
    assert verifier.errors == ()
    return table


def same(found: Breakdown, expected: Breakdown) -> None:
    assert found.groups == expected.groups
    assert found.together == expected.together
    assert (found.whole, found.rule, found.question) == (expected.whole, expected.rule, expected.question)


@settings(deadline=None, max_examples=25)
@given(st.lists(ACTS, max_size=12), st.sampled_from(BY), st.integers(0, 30), st.integers(0, 30), st.integers(1, 3))
def test_it_answers_as_a_pass_over_the_entries(
    acts: list[tuple[int, str, int, float]], by: str, start: int, end: int, parts: int
) -> None:
    entries = written(acts)
    table, times = told(entries, parts), [int(str(json.loads(entry.line)["time"])) for entry in entries]
    since, until = times[min(start, len(times) - 1)], times[min(end, len(times) - 1)]
    wanted: list[dict[str, str]] = [{}, {"dataset": "hospital"}, {"account": "team", "user": "ada"}, {"user": ""}]
    wanted += [{"model": "ab"}, {"mechanism": "RandomizedResponse"}, {"day": "2020-01-01"}]
    for where in wanted:
        questions = [Question(by, where), Question(by, where, since=since), Question(by, where, until=until)]
        questions += [Question(by, where, since, until)] if since < until else []
        for question in questions:
            expected = breakdown(entries, question)
            same(table.breakdown(question), expected)
            assert table.count(question) == expected.together.charges
            listed = table.listed(question, 0, 10**6)
            assert len(listed) == expected.together.charges
            total = NOTHING
            for row in listed:
                total = total.plus(row.amount)
            assert total == expected.together.amount
            assert table.listed(question, 1, 2) == listed[1:3]


@pytest.mark.parametrize(("rule", "fast"), [(BasicComposition(), True), (GDPComposition(), False)])
def test_long_ledgers_are_taken_in_runs(rule: BasicComposition | GDPComposition, fast: bool) -> None:
    entries = sound_books(5 * FIRST // 2, rule)
    table = ChargeTable()
    verifier = Verifier(table, fast=fast)
    verifier.take(entries)
    assert verifier.verification().errors == ()  # which tells accumulators of everything so far
    quick = ChargeTable()
    Reading(quick).take(entries)
    for by in BY:
        same(table.breakdown(Question(by)), expected := breakdown(entries, Question(by)))
        same(quick.breakdown(Question(by)), expected)
    assert table.unreadable == 0
    assert table.texts("mechanism", 5) == ["RandomizedResponse"]


def test_damaged_entries_are_counted_and_raise_nothing() -> None:
    entries = sound_books(120)
    place = next(entry.number for entry in entries if entry.kind == "charged")
    for old, new in (('"kind":"pure-dp"', '"kind":"no-such"'), ('"account":', '"acount":')):
        table = ChargeTable()
        assert verify(rewritten(entries, place, old, new), table).errors
        assert table.unreadable
    strange = [entries[0], *(attrs.evolve(entry, line="{}") for entry in entries[1:4]), *reversed(entries[4:])]
    table = ChargeTable()
    assert verify(strange, table).errors
    assert table.unreadable >= 3
    with pytest.raises(ValueError, match="never opened"):
        ChargeTable().breakdown(Question())
