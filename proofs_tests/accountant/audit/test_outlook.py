"""Windows of time, forecasts and advice: laws that hold for any ledger, and figures that a real ledger keeps."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant import (
    GDP,
    ZCDP,
    AdvancedComposition,
    ApproxDP,
    BasicComposition,
    Budget,
    Composition,
    Cost,
    Entry,
    GDPComposition,
    Ledger,
    NoBound,
    Plan,
    PureDP,
    ReplaceOne,
    Reservation,
    Unbounded,
    ZCDPComposition,
)
from accountant.audit import Reading, gather, verify
from accountant.audit.breakdowns import Question, breakdown
from accountant.audit.outlook import (
    AFTER,
    BEFORE,
    IN,
    Forecast,
    PaceReader,
    Part,
    Releases,
    Window,
    WindowSpending,
    advise,
    fits,
    read_window,
    time_of,
)
from accountant.composition import NOTHING, TextbookComposition
from accountant.costs import curves
from accountant.entries import decode
from proofs_tests.old_files.frozen import BEGUN, Clock, frozen
from proofs_tests.support.ledgers.books import Secure, rechained
from proofs_tests.support.ledgers.doubles import RandomizedResponse

HOUR = 3_600_000_000_000
DAY = 24 * HOUR

Step = tuple[str, int, int]
"""What is done, which of several costs, and after how many hours."""

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["release", "team", "plan", "open", "late", "part"]), st.integers(0, 3), st.integers(0, 40)
    ),
    max_size=30,
)
COSTS = (0.125, 0.1, 2.0**-20, 0.03)


@contextmanager
def spent(steps: Iterable[Step], budget: Budget | None = None) -> Iterator[tuple[Ledger, Clock]]:
    """A ledger on which these steps were taken, and its clock. What is given back late is of the plan before."""
    with frozen("outlook") as clock:
        ledger = Ledger(budget or ApproxDP(50.0, 1e-3), composition=BasicComposition(), adjacency=ReplaceOne())
        team, bit = ledger.allocate("team", 0.25), ledger.protect(True)
        waiting: list[Reservation] = []
        for what, which, hours in steps:
            clock.now += hours * HOUR
            cost = COSTS[which]
            match what:
                case "release":
                    ledger.release(Secure(cost) if which % 2 else RandomizedResponse(cost), bit, account="main")
                case "team":
                    team.release(RandomizedResponse(cost), bit, account="boost")
                case "late" if waiting:
                    waiting.pop().give_back()
                case "part":
                    with ledger.reserve(Plan.of(PureDP(cost), 4), adjacency=ReplaceOne()) as charge:
                        charge.release(RandomizedResponse(cost), bit)
                        clock.now += HOUR
                        charge.give_back()
                case _:
                    waiting.append(team.reserve(Plan.of(PureDP(cost), 3), adjacency=ReplaceOne()))
        yield ledger, clock


def times(entries: Sequence[Entry]) -> list[int]:
    return sorted({time_of(entry) for entry in entries})


def together(parts: Iterable[Part]) -> Part:
    total = Part()
    for part in parts:
        total = total.plus(part)
    return total


# --- windows ---------------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(STEPS, st.data())
def test_a_window_parts_the_ledger_exactly(steps: list[Step], data: st.DataObject) -> None:
    with spent(steps) as (ledger, _):
        entries = ledger.entries
    edges = st.sampled_from(times(entries)).flatmap(lambda at: st.sampled_from([at - 1, at, at + 1])) | st.none()
    since, until = data.draw(edges), data.draw(edges)
    if since is not None and until is not None and since >= until:
        since, until = (until, since) if until < since else (since, None)
    found = read_window(entries, Window(since, until))
    reading = Reading()
    reading.take(entries)
    for path, account in reading.state.accounts.items():
        assert together(found.parts(path)).amount == account.drawn
    parts, whole = found.parts(), breakdown(entries, Question())
    assert together(parts).amount == whole.whole == reading.state.total
    assert together(parts).charges == whole.together.charges
    inside = breakdown(entries, Question(since=since, until=until)).together
    assert parts[IN] == Part(inside.charges, inside.amount, inside.simulated)
    if since is not None:
        early = breakdown(entries, Question(until=since)).together
        assert parts[BEFORE] == Part(early.charges, early.amount, early.simulated)
    assert together(found.by_account().values()).amount == parts[IN].amount
    assert found.alone(together(parts)) == ledger.spent


@settings(max_examples=30)
@given(STEPS, st.integers(0, 1200))
def test_runs_are_counted_as_entry_by_entry(steps: list[Step], hours: int) -> None:
    with spent([*steps, *steps, *steps]) as (ledger, clock):
        entries, now = ledger.entries, clock.now
    quick, slow = (PaceReader(now, hours * HOUR + 1) for _ in range(2))
    reading = Reading(quick)
    reading.take(entries)
    for entry in entries:
        slow.take(entry.number, decode(entry))
    for path in ("", "team"):
        assert quick.parts(path) == slow.parts(path)
        assert quick.direct(path) == slow.direct(path)
    assert quick.forecast(reading.state) == slow.forecast(reading.state)


def test_simulated_noise_of_a_plan_is_seen_when_it_is_drawn() -> None:
    steps = [("part", 1, 1)] * 6 + [("release", 0, 1), ("release", 1, 1)]
    with spent(steps) as (ledger, _):
        found = read_window(ledger.entries, Window())
    assert found.parts()[IN].simulated == 7  # not that of the secure one
    assert found.parts()[IN].charges == 8


def test_nothing_lies_in_an_empty_window() -> None:
    with pytest.raises(ValueError, match="not before"):
        Window(5, 5)
    assert [Window(5, 7).place(time) for time in (4, 5, 6, 7)] == [BEFORE, IN, IN, AFTER]
    with pytest.raises(ValueError, match="never opened"):
        read_window([], Window())


# --- forecasts -------------------------------------------------------------------------------------------------


def forecast(ledger: Ledger, now: int, pace: int) -> Forecast:
    reader = PaceReader(now, pace)
    reading = Reading(reader)
    reading.take(ledger.entries)
    return reader.forecast(reading.state)


@settings(max_examples=40)
@given(STEPS, st.integers(0, 3), st.booleans())
def test_who_spends_more_has_not_longer(steps: list[Step], which: int, team: bool) -> None:
    steps = [("release", 0, 1), ("release", 0, 1), ("team", 0, 1), ("team", 0, 1), *steps]
    with spent(steps) as (ledger, clock):
        now, pace = clock.now + DAY, clock.now + DAY - BEGUN
        before = forecast(ledger, now, pace)
        bit = ledger.protect(True)
        ledger.release(RandomizedResponse(COSTS[which]), bit, account="team/x" if team else "main")
        after = forecast(ledger, now, pace)
    for old, new in zip(before.accounts, after.accounts, strict=True):
        assert old.lasts is not None
        assert new.lasts is not None
        assert new.lasts <= old.lasts
        assert new.left.within(old.left)
    assert before.first is not None
    assert after.first is not None
    assert (after.first.lasts or 0) <= (before.first.lasts or 0)


@given(st.integers(1, 60), st.integers(2, 30))
def test_a_steady_pace_lasts_as_long_as_arithmetic_says(hours: int, charges: int) -> None:
    with spent([("release", 0, hours)] * charges, PureDP(16.0)) as (ledger, clock):
        pace = clock.now - BEGUN
        root = forecast(ledger, clock.now, pace).accounts[0]
        assert root.spent == Part(charges, ledger.composition.amount(PureDP(0.125)).times(charges), charges)
        assert root.lasts == (96 - charges) * pace // charges  # three quarters of 16, in parts of 1/8
        usual = root.usual
        assert usual is not None
        assert usual == root.last
        assert (usual.times, usual.fits) == (charges, 96 - charges)


def test_what_still_fits_is_paid_for_and_no_more() -> None:
    with spent([("release", 1, 1)] * 5, PureDP(1.0)) as (ledger, clock):
        last = forecast(ledger, clock.now, HOUR).accounts[0].last
        assert last is not None
        assert last.fits == 2  # 0.75 less five times 0.1, which is a little more than 1/10
        for left in (1, 0):
            ledger.release(RandomizedResponse(0.1), ledger.protect(True), account="main")
            again = forecast(ledger, clock.now, HOUR).accounts[0].last
            assert again is not None
            assert again.fits == left
        with pytest.raises(ValueError, match="remains"):
            ledger.release(RandomizedResponse(0.1), ledger.protect(True), account="main")


def test_too_little_history_gets_no_number() -> None:
    with spent([("release", 0, 30), ("release", 0, 30), ("team", 0, 1)]) as (ledger, clock):
        young = forecast(ledger, clock.now, 90 * DAY)
        assert [account.why for account in young.accounts] == ["it is younger than that"] * 2
        assert (young.first, {account.lasts for account in young.accounts}) == (None, {None})
        few = forecast(ledger, clock.now, 30 * HOUR)
        assert [account.why for account in few.accounts] == ["it has 1 charge in that time"] * 2
        enough = forecast(ledger, clock.now, 61 * HOUR)
        assert enough.first is not None
        assert enough.first.path == ""
        late = forecast(ledger, clock.now + 40 * DAY, 30 * DAY)
        assert late.accounts[0].why == "it has no charges in that time"
        assert late.accounts[0].last is not None


def test_rounds_that_came_back_are_no_pace_and_closed_accounts_pass_theirs_on() -> None:
    with frozen("outlook") as clock:
        ledger = Ledger(PureDP(8.0), composition=BasicComposition(), adjacency=ReplaceOne())
        team, bit = ledger.allocate("team", 0.5), ledger.protect(True)
        for _ in range(2):
            clock.now += DAY
            ledger.reserve(Plan.of(PureDP(1.0), 2), adjacency=ReplaceOne()).give_back()
            team.release(RandomizedResponse(0.5), bit)
        nothing = forecast(ledger, clock.now, 2 * DAY)
        assert nothing.account("").why == "it has no charges in that time"
        assert nothing.first is not None
        assert (nothing.first.path, nothing.first.lasts) == ("team", 6 * DAY)
        ledger.close_account("team")
        closed = forecast(ledger, clock.now, 2 * DAY)
        assert [account.path for account in closed.accounts] == [""]
        assert closed.accounts[0].lasts == 14 * DAY  # 7 are left, and 1 went in two days
        with pytest.raises(ValueError, match="closed"):
            closed.account("team")


def test_no_limit_is_no_forecast() -> None:
    with frozen("outlook") as clock:
        ledger = Ledger(Unbounded(), composition=NoBound(), adjacency=ReplaceOne())
        found = forecast(ledger, clock.now + DAY, HOUR).accounts[0]
        assert (found.lasts, found.why) == (None, "it has no limit, and promises nothing")
        assert found.lasts_after(NOTHING, HOUR) is None


@given(st.integers(0, 12))
def test_a_plan_fits_until_what_is_left_is_less(eighths: int) -> None:
    with spent([("release", 0, 1)] * 8, PureDP(16.0)) as (ledger, clock):
        root = forecast(ledger, clock.now, 8 * HOUR).accounts[0]
        amount = ledger.composition.amount(PureDP(1.0)).times(eighths)
        assert root.lasts_after(amount, 8 * HOUR) == (88 - 8 * eighths) * HOUR * (eighths < 12)
        reading = Reading()
        reading.take(ledger.entries)
        assert fits(reading.state.root, amount) == (11 // eighths if eighths else None)


# --- advice ----------------------------------------------------------------------------------------------------

KEPT: list[tuple[Composition, Budget, Sequence[Cost]]] = [
    (BasicComposition(), PureDP(50.0), (PureDP(0.1), PureDP(0.3))),
    (BasicComposition(), ApproxDP(50.0, 1e-3), (PureDP(0.1), ApproxDP(0.2, 1e-6))),
    (ZCDPComposition(), ApproxDP(50.0, 1e-5), (PureDP(0.1), GDP(0.2), ZCDP(0.01))),
    (ZCDPComposition(), ZCDP(5.0), (PureDP(0.1), ZCDP(0.01))),
    (GDPComposition(), ApproxDP(50.0, 1e-5), (GDP(0.1), GDP(0.3))),
    (GDPComposition(), GDP(5.0), (GDP(0.1), GDP(0.3))),
    (AdvancedComposition(1e-6), ApproxDP(50.0, 1e-5), (PureDP(0.1), ApproxDP(0.2, 1e-8))),
    (TextbookComposition(1e-6), ApproxDP(50.0, 1e-5), (PureDP(0.1), PureDP(0.2))),
]


def charged(rule: Composition, budget: Budget, costs: Iterable[tuple[Cost, int]]) -> Ledger:
    ledger = Ledger(budget, composition=rule, adjacency=ReplaceOne())
    for cost, rounds in costs:
        ledger.reserve(Plan.of(cost, rounds), adjacency=ReplaceOne())
    return ledger


@settings(max_examples=80)
@given(st.sampled_from(KEPT), st.lists(st.tuples(st.integers(0, 2), st.integers(1, 5)), max_size=8))
def test_the_own_row_is_what_was_spent_and_others_are_what_they_would_have_spent(
    kept: tuple[Composition, Budget, Sequence[Cost]], picks: list[tuple[int, int]]
) -> None:
    rule, budget, kinds = kept
    costs = [(kinds[which % len(kinds)], rounds) for which, rounds in picks]
    ledger = charged(rule, budget, costs)
    spending = gather(ledger.entries)
    found = advise(Releases.of(spending), rule, budget, spent=spending.total, reading=False)
    assert found.own.total == ledger.spent
    assert found.own.amount == spending.total
    assert found.own.left == ledger.remaining
    again = advise(Releases.of(spending), rule, budget, reading=False)
    assert again.own == found.own  # added up anew from the costs
    for line in found.lines:
        if line.total is not None and line.rule is not None and line.fits:
            assert charged(line.rule, budget, costs).spent == line.total
    best = found.best
    assert best is not None
    assert all(line.loss is None or not line.fits or (best.loss or 0.0) <= line.loss for line in found.lines)


def test_priced_plans_stay_priced_or_become_rounds() -> None:
    budget = ApproxDP(20.0, 1e-5)
    ledger = Ledger(budget, composition=BasicComposition(), adjacency=ReplaceOne())
    ledger.reserve(Plan.of(PureDP(0.1), 100), adjacency=ReplaceOne(), delta=1e-6)
    with ledger.reserve(Plan.of(PureDP(0.25), 4), adjacency=ReplaceOne()) as charge:
        charge.release(RandomizedResponse(0.25), ledger.protect(True))
        charge.give_back()
    spending = gather(ledger.entries)
    found = advise(Releases.of(spending), ledger.composition, budget, spent=spending.total)
    assert found.own.total == ledger.spent
    rows = {line.name: line for line in found.lines}
    rho = 100 * PureDP(0.1).to_zcdp().rho + PureDP(0.25).to_zcdp().rho
    assert rows["zcdp"].loss == pytest.approx(curves.zcdp_epsilon(rho, 1e-5))
    assert "cannot take" in rows["gdp"].why
    assert found.reading is not None
    assert found.reading.epsilon is not None
    assert found.reading.epsilon < (found.own.loss or 0.0)
    assert "reading only" in found.reading.note


def test_basic_used_twice_what_another_rule_would() -> None:
    costs, budget = [(PureDP(0.01), 200)], ApproxDP(4.0, 1e-5)
    found = advise(Releases.of_plan(Plan.of(*costs[0])), BasicComposition(), budget)
    better = found.saves(1.5)
    assert better is not None
    assert better.name == "zcdp"
    assert better.total == charged(ZCDPComposition(), budget, costs).spent
    assert better.claims == ("zcdp-filter", "zcdp-tight")
    assert found.most_left == better
    assert advise(Releases.of_plan(Plan.of(PureDP(1.0))), BasicComposition(), budget).saves(1.5) is None


def test_a_delta_compares_ledgers_that_have_none() -> None:
    releases = Releases.of_plan(Plan.of(PureDP(0.01), 200))
    pure = advise(releases, BasicComposition(), PureDP(3.0))
    assert [line.name for line in pure.lines if line.total is not None] == ["basic"]
    at = advise(releases, BasicComposition(), PureDP(3.0), delta=1e-6)
    assert {line.name: line.fits for line in at.lines if line.total is not None} == {
        "basic": None,
        "zcdp": None,
        "advanced": None,
    }
    assert at.best is not None
    assert at.best.name == "zcdp"
    unbounded = advise(Releases.of_plan(Plan.of(GDP(0.5))), NoBound(), Unbounded(), delta=1e-6)
    assert unbounded.own.why == "it counts releases, and promises nothing"
    assert unbounded.best is not None
    assert unbounded.best.name == "gdp"
    with pytest.raises(ValueError, match="the ledger promises δ = 1e-05"):
        advise(releases, BasicComposition(), ApproxDP(3.0, 1e-5), delta=1e-6)


def test_deltas_of_the_releases_bound_what_others_may_spend() -> None:
    costs = Plan.of(ApproxDP(0.1, 1e-6), 8)
    found = {line.name: line for line in advise(Releases.of_plan(costs), BasicComposition(), ApproxDP(2.0, 1e-5)).lines}
    assert "cannot take" in found["zcdp"].why
    assert isinstance(found["advanced"].rule, AdvancedComposition)
    assert found["advanced"].rule.delta_prime == pytest.approx(2e-6)
    assert found["advanced"].fits
    many = attrs.evolve(Releases.of_plan(costs), rounds={ApproxDP(0.1, 1e-6): 11})
    over = {line.name: line for line in advise(many, BasicComposition(), ApproxDP(2.0, 1e-5)).lines}
    assert over["basic"].fits is False
    assert over["advanced"].total is None


def test_unsound_entries_are_counted_as_missed() -> None:
    with spent([("part", 0, 1), ("release", 0, 1)]) as (ledger, _):
        entries = [entry for entry in ledger.entries if entry.kind != "charged" or entry.number > 4]
    found = WindowSpending(Window())
    for entry in (*entries[1:], *entries):
        found.take(entry.number, decode(entry))
    found.miss()
    assert found.missed == 4  # a charge before the first entry, and twice what gives back what nobody was charged
    verify(rechained(entries), found)
    assert found.missed == 5


def test_windows_of_many_accounts_are_apart() -> None:
    with spent([("team", 0, 1), ("release", 2, 1)]) as (ledger, _):
        found = WindowSpending(Window())
        Reading(found).take(ledger.entries)
    assert list(found.by_account()) == ["main", "team/boost"]
    assert found.parts("team")[IN].amount == ledger.composition.amount(PureDP(0.125))
