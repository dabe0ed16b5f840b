"""`forecast`, `advise`, `show --from`, parts and the advice of `open`, on SQLite, exports and PostgreSQL."""

import datetime
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant import AddRemoveOne, ApproxDP, BasicComposition, Ledger, Plan, PureDP, ReplaceOne
from exchequer.commands.auditing import show_ledger
from exchequer.commands.outlook import forecast_ledger
from exchequer.console.times import DAY, HOUR, day_text, nanoseconds, span, span_text, window
from proofs_tests.old_files.frozen import BEGUN, frozen
from proofs_tests.support.ledgers.doubles import RandomizedResponse
from proofs_tests.support.ledgers.durable import Places
from proofs_tests.support.ledgers.durable import places as places
from proofs_tests.support.ledgers.durable import quick_folder as quick_folder
from proofs_tests.support.ledgers.ledger_runs import ended, record, refused, said
from proofs_tests.support.ledgers.ledger_runs import folder as folder
from proofs_tests.support.ledgers.ledger_runs import study as study
from proofs_tests.support.ledgers.postgres import postgresql_server as postgresql_server

URL = "sqlite:///study.db"
DAYS = 10
"""Of the ledger in `steady`: one release a day, and one of a team's every other day."""


def fill(url: str) -> int:
    """A ledger of the first days of 2026; the time after the last of them."""
    with frozen("outlook") as clock:
        with Ledger.open(url, ApproxDP(8.0, 1e-5), composition=BasicComposition(), adjacency=ReplaceOne()) as ledger:
            team, bit = ledger.allocate("team-a", 0.25), ledger.protect(True)
            for day in range(DAYS):
                clock.now = BEGUN + day * DAY + HOUR
                ledger.release(RandomizedResponse(0.25), bit, account="main")
                if day % 2:
                    team.release(RandomizedResponse(0.125), bit)
        return BEGUN + DAYS * DAY


@pytest.fixture
def steady(folder: Path) -> int:
    """study.db, of ten days; the time after them."""
    return fill(URL)


def at(now: int, *arguments: str, code: int = 0) -> str:
    """What a command says at a time."""
    with frozen("outlook") as clock:
        clock.now = now
        return said(*arguments, code=code)


def record_at(now: int, *arguments: str, code: int = 0) -> dict[str, object]:
    with frozen("outlook") as clock:
        clock.now = now
        return record(*arguments, code=code)


# --- times -----------------------------------------------------------------------------------------------------


@given(st.datetimes(min_value=datetime.datetime(1970, 1, 1), max_value=datetime.datetime(2200, 1, 1)))
def test_a_time_is_read_to_the_microsecond(when: datetime.datetime) -> None:
    aware = when.replace(tzinfo=datetime.UTC)
    moment = nanoseconds("--from", when.isoformat())
    assert moment == nanoseconds("--from", aware.isoformat())
    assert moment is not None
    assert datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC) + datetime.timedelta(microseconds=moment // 1000) == aware
    assert nanoseconds("--from", f"{when:%Y-%m}") == nanoseconds("--from", f"{when:%Y-%m}-01")
    assert nanoseconds("--from", f"{when:%Y}") == nanoseconds("--from", f"{when:%Y}-01-01")
    assert day_text(moment) == f"{when:%Y-%m-%d}"


@given(st.integers(1, 999_999), st.sampled_from("hdw"))
def test_a_span_counts_back_from_now(number: int, unit: str) -> None:
    length = {"h": HOUR, "d": DAY, "w": 7 * DAY}[unit] * number
    assert span("--pace", f"{number}{unit}") == length
    assert nanoseconds("--from", f"{number}{unit}", now=10**19) == max(10**19 - length, 0)


@pytest.mark.parametrize(
    "text", ["yesterday", "30m", "0d x", "-30d", "2026-13", "2026-02-30", "", "1234567d", "٣d", "2026-03-01T25:00"]
)
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="--from: expected a time as 2026-03-01, 2026-03-01T09:30"):
        nanoseconds("--from", text)


def test_an_empty_window_or_span_is_refused() -> None:
    assert window(None, None) == (None, None)
    assert window("2026-03", "2026-04") == (nanoseconds("", "2026-03-01"), nanoseconds("", "2026-04-01T00:00+00:00"))
    with pytest.raises(ValueError, match="--from 2026-03 is not before --to 2026-03: a year, a month"):
        window("2026-03", "2026-03")
    for text in ("0d", "90", "d"):
        with pytest.raises(ValueError, match="hours, days or weeks above 0"):
            span("--pace", text)
    assert span_text(DAY * 36_525) == "more than 100 years"
    assert [span_text(n) for n in (0, HOUR, 47 * HOUR + 5, 2 * DAY, 90 * DAY - 1)] == [
        "less than an hour",
        "1 hour",
        "47 hours",
        "2 days",
        "89 days",
    ]
    assert day_text(10**25) == ""


# --- show --from, and parts ------------------------------------------------------------------------------------


@pytest.mark.postgres
def test_every_store_answers_alike(places: Places) -> None:
    with places() as url:
        now = fill(url)
        shown = record("show", url, "--from", "2026-01-03", "--to", "2026-01-06", "--entries", "2")
        assert [shown[name]["charges"] for name in ("before", "in", "after", "together")] == [3, 4, 8, 15]  # type: ignore[index]  # JSON
        assert shown["in"]["amount"]["loss"] == 0.875  # type: ignore[index]  # JSON
        assert shown["in"]["simulated"] == 4  # type: ignore[index]  # JSON
        assert [account["in"]["charges"] for account in shown["accounts"]] == [4, 1]  # type: ignore[attr-defined]  # JSON
        assert len(shown["newest"]) == 2  # type: ignore[arg-type]  # JSON
        found = record_at(now, "forecast", url, "--pace", "10d")
        assert (found["first"], found["lasts_days"]) == ("", 14)  # 3.5 of 6 are left, at a quarter a day
        advised = record("advise", url)
        assert (advised["best"], advised["charges"]) == ("basic", 15)


def test_a_window_is_shown_for_people(steady: int) -> None:
    text = said("show", "study.db", "--from", "2026-01-03", "--to", "2026-01-06", "--entries", "3")
    assert "spent in that time, by itself: ε = 0.875" in text
    assert "before 3 0.625" in text
    assert "in it 4 0.875 ε = 0.875 at δ = 0 4 SIMULATED" in text
    assert "together 15 3.125" in text
    assert "The newest 3 entries of that time" in text
    assert "2026-01-05" in text
    team = said("show", "study.db", "--to", "2026-01-06", "--account", "team-a", "--entries", "0")
    assert "spent by team-a in that time, by itself: ε = 0.25" in team
    assert "from the beginning" in team
    assert "there is no sub-budget 'team-b'" in refused("show", "study.db", "--from", "2026", "--account", "team-b")
    assert "is not before --to" in refused("show", "study.db", "--from", "2027", "--to", "2026")
    said("export", "study.db", "--out", "ledger.jsonl")
    ours, theirs = (record("show", place, "--from", "2026-01-03") for place in ("study.db", "ledger.jsonl"))
    assert ours.pop("ledger") != theirs.pop("ledger")
    assert ours == theirs


def test_a_part_is_exported_verified_and_read_by_nothing_else(steady: int) -> None:
    window = ("--from", "2026-01-03", "--to", "2026-01-05")
    assert "entries 8 to 13 of 32" in ended(0, "export", "study.db", *window, "--out", "part.jsonl").stderr
    found = record("verify", "part.jsonl", code=3)
    assert found["verdict"] == "with caveats"
    assert found["errors"] == []
    assert "this is a part of a ledger" in found["caveats"][0]  # type: ignore[index]  # JSON
    part = found["part"]
    assert isinstance(part, dict)
    assert part["entries"] == found["entries"]
    text = said("verify", "part.jsonl", "--strict", code=1)
    assert "adds up, WITH CAVEATS" in text
    assert part["before"] in text
    assert record("verify", "part.jsonl", "--expect-head", str(part["before"]), code=3)["errors"] == []
    for command in (("show",), ("spent",), ("advise",), ("forecast",), ("report", "--out", "r.html")):
        assert "is a part of a ledger" in refused(command[0], "part.jsonl", *command[1:])
    assert "leave out --second-opinion, --since" in refused("verify", "part.jsonl", "--second-opinion")
    assert "exists already" in refused("export", "study.db", "--from", "2026", "--out", "part.jsonl")
    lines = Path("part.jsonl").read_text(encoding="ascii").splitlines()
    Path("bad.jsonl").write_text("\n".join([lines[0], *lines[2:]]) + "\n", encoding="ascii")
    assert "cut off" in refused("verify", "bad.jsonl")


def test_an_export_up_to_a_time_is_a_whole_one(steady: int) -> None:
    result = ended(0, "export", "study.db", "--to", "2026-01-04", "--out", "early.jsonl")
    assert "a whole export of the ledger as it was then" in result.stderr
    assert record("diff", "early.jsonl", "study.db")["relation"] == "grown"
    assert "Σε = " in said("diff", "early.jsonl", "study.db")  # what the new charges cost
    assert record("verify", "early.jsonl", code=3)["errors"] == []
    assert "no entry was written in that time" in refused("export", "study.db", "--from", "2027", "--out", "none.jsonl")
    assert not Path("none.jsonl").exists()


# --- forecast --------------------------------------------------------------------------------------------------


def test_a_forecast_for_people(steady: int) -> None:
    text = at(steady, "forecast", "study.db", "--pace", "10d")
    assert "what remains of (all of it), the first to end, lasts 14 days, until 2026-01-25" in text
    assert "team-a 1.375" in text
    assert "an estimate, and no promise" in text
    none = at(steady, "forecast", "study.db")
    assert "no forecast at the pace of the last 90d: it is younger than that" in none
    assert "as the last, the most usual" in none
    team = at(steady, "forecast", "study.db", "--pace", "10d", "--account", "team-a")
    assert "what remains lasts 22 days" in team
    assert "hours, days or weeks" in refused("forecast", "study.db", "--pace", "soon")
    shown = at(steady, "show", "study.db", "--pace", "10d")
    assert (
        "Forecast: at the pace of the last 10d, what remains of (all of it), the first to end, lasts 14 days" in shown
    )
    assert "Forecast: no forecast" in at(steady, "show", "study.db", "--pace", "90d")
    assert "Forecast" not in at(steady, "show", "study.db")  # nothing to say, and nobody asked
    assert "forecast" not in record_at(steady, "show", "study.db")
    assert record_at(steady, "show", "study.db", "--pace", "10d")["forecast"] == {
        "pace_days": 10.0,
        "first": "",
        "lasts_days": 14,
        "why": None,
    }


def test_a_plan_fits_or_not(steady: int) -> None:
    fit = record_at(steady, "forecast", "study.db", "--pace", "10d", "--plan", "pure-dp:0.5@2")
    assert (fit["plan"]["fits"], fit["plan"]["times"], fit["plan"]["fits_for_days"]) == (True, 3, 10)  # type: ignore[index]  # JSON
    no = record_at(steady, "forecast", "study.db", "--pace", "10d", "--plan", "pure-dp:4", code=1)
    assert (no["plan"]["fits"], no["plan"]["times"], no["plan"]["fits_for_days"]) == (False, 0, 0)  # type: ignore[index]  # JSON
    assert "DOES NOT FIT" in at(steady, "forecast", "study.db", "--plan", "pure-dp:4", code=1)
    text = at(steady, "forecast", "study.db", "--pace", "10d", "--plan", "pure-dp:0.5", "--account", "team-a")
    assert "The plan: it fits" in text
    assert "fits 2 times" in text
    assert "--plan 'rado:1': unknown kind" in refused("forecast", "study.db", "--plan", "rado:1")


def test_a_long_ledger_is_read_from_a_checkpoint_older_than_the_pace(
    steady: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with frozen("outlook") as clock, Ledger.open(URL) as ledger:
        clock.now = steady
        ledger._writer.write_checkpoint()
        bit = ledger.protect(True)
        for day in range(3):
            clock.now = steady + day * DAY + HOUR
            ledger.release(RandomizedResponse(0.25), bit, account="main")
            ledger._writer.write_checkpoint()
    now = steady + 3 * DAY
    whole = record_at(now, "forecast", "study.db", "--pace", "60h")
    monkeypatch.setattr(forecast_ledger, "BELIEVED_FROM", 0)
    monkeypatch.setattr(show_ledger, "BELIEVED_FROM", 0)
    found = record_at(now, "forecast", "study.db", "--pace", "60h")
    checkpoint = found.pop("checkpoint")
    assert isinstance(checkpoint, int)
    assert checkpoint < 48
    team = [each["accounts"].pop() for each in (whole, found)]  # type: ignore[attr-defined]  # JSON
    assert [each["lasts_days"] for each in team] == [None, None]
    assert found == whole
    assert "were not read: the checkpoint there is believed" in at(now, "forecast", "study.db", "--pace", "60h")
    assert "checkpoint" not in record_at(now, "forecast", "study.db", "--pace", "30d")
    assert "forecast" not in record_at(now, "show", "study.db", "--pace", "60h")  # its checkpoint is younger
    assert "depends on entries that were not read" in at(now, "show", "study.db", "--pace", "60h")


# --- advice ----------------------------------------------------------------------------------------------------


def test_advice_on_a_ledger(folder: Path) -> None:
    with Ledger.open(URL, ApproxDP(4.0, 1e-5), composition=BasicComposition(), adjacency=ReplaceOne()) as ledger:
        ledger.reserve(Plan.of(PureDP(0.01), 139), adjacency=ReplaceOne())
        ledger.release(RandomizedResponse(0.01), ledger.protect(True))
        spent = ledger.spent
    found = record("advise", "study.db")
    rows = {row["rule"]: row for row in found["rules"]}  # type: ignore[attr-defined]  # JSON
    assert rows["basic"]["total"] == spent.as_dict()
    assert (found["best"], found["most_left"]) == ("zcdp", "zcdp")
    assert rows["zcdp"]["total"]["epsilon"] < 0.7 * rows["basic"]["total"]["epsilon"]
    assert found["for_reading_only"]["epsilon"] < rows["zcdp"]["total"]["epsilon"]  # type: ignore[index]  # JSON
    text = said("advise", "study.db")
    assert "basic, its rule, charged ε = 1.4" in text
    assert "zcdp would have charged ε = 0.5" in text or "zcdp would have charged ε = 0.4" in text
    assert "[zcdp-filter], [zcdp-tight]" in text
    assert "for reading only" in text
    assert "this is advice for the next one" in text
    again = said("open", "study.db")
    assert "Advice: basic charges ε = 1.4 at δ = 0 where zcdp would charge ε = " in again
    assert "--delta: delta: the ledger promises δ = 1e-05" in refused("advise", "study.db", "--delta", "1e-6")


def test_advice_where_a_budget_has_no_delta(study: str) -> None:
    text = said("advise", "study.db")
    assert "no other rule takes both this budget and these costs" in text
    assert "--delta 1e-6 compares them all" in text
    found = record("advise", "study.db", "--delta", "1e-6")
    assert {row["rule"] for row in found["rules"] if row["total"]} == {"basic", "zcdp", "advanced"}  # type: ignore[attr-defined]  # JSON
    assert found["rules"][0]["own"]  # type: ignore[index]  # JSON


def test_opening_advises(folder: Path) -> None:
    text = said("open", "sqlite:///a.db", "--epsilon", "2", "--delta", "1e-5")
    assert "Advice: of releases of ε = 0.02 each, basic pays for 100 out of this budget, zcdp for 5" in text
    zcdp = ("--epsilon", "2", "--delta", "1e-5", "--composition", "zcdp")
    for number, more in enumerate((("--epsilon", "2"), ("--rho", "1"), zcdp)):
        assert "Advice" not in said("open", f"sqlite:///{number}.db", *more)


def test_opening_for_a_plan(folder: Path) -> None:
    budget = ("--epsilon", "2", "--delta", "1e-5")
    error = refused("open", URL, *budget, "--expect", "approx-dp:0.02,1e-9@300", "--expect", "zcdp:0.001")
    assert "the plan does not fit in ε = 2 at δ = 1e-05" in error
    assert "--composition advanced --delta-prime 5e-06" in error
    assert "Nothing was opened" in error
    assert not Path("study.db").exists()
    assert "unknown kind" in refused("open", URL, *budget, "--expect", "rado:1")
    text = said("open", URL, *budget, "--expect", "pure-dp:0.01@150")
    assert "The expected plan: it fits" in text
    assert "Charged as one plan, fixed before its first release: ε = 0.4" in text
    assert "Advice: basic charges ε = 1.5 at δ = 0 where zcdp would charge ε = 0.4" in text
    whole = said("open", "sqlite:///b.db", *budget, "--expect", "pure-dp:0.01@300")  # Σε = 3 is too much round by round
    assert "MORE THAN THE BUDGET" in whole
    assert "that fits" in whole
    with Ledger.open(URL) as ledger:
        ledger.reserve(Plan.of(PureDP(1.0)), adjacency=AddRemoveOne())
    again = said("open", URL, "--expect", "pure-dp:1.5", code=1)
    assert "The expected plan: it DOES NOT FIT" in again
    assert json.loads(ended(0, "show", "study.db", "--json").stdout)["budget"]["epsilon"] == 2.0
    pure = refused("open", "sqlite:///p.db", "--epsilon", "1", "--expect", f"pure-dp:{PureDP(0.3).epsilon}@4")
    assert "basic would charge ε = 1.2; give a larger budget" in pure


def test_charges_are_told_apart_by_one_thing_at_a_time(steady: int) -> None:
    assert "--by: one at a time, got user, model" in refused("spent", "study.db", "--by", "user", "--by", "model")
