"""kill -9: whatever reached the outside is charged, the chain holds, and reopening is all the repair there is."""

from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from itertools import count
from typing import cast

import pytest

from accountant import Entry, PureDP
from proofs_tests.support.ledgers.durable import CHEAP, Places, opened, sound, written
from proofs_tests.support.ledgers.killed import (
    ACTS,
    POINTS,
    Told,
    killed_at,
    stopped,
    stopped_while_opening,
    storm,
)


def accounts(entries: Sequence[Entry]) -> list[str]:
    """Who was charged, in order."""
    return [str(entry.record["account"]) for entry in entries if entry.kind == "charged"]


def written_by(entries: Sequence[Entry]) -> Mapping[str, list[str]]:
    """The kinds of the entries of each account, in order."""
    found: dict[str, list[str]] = {}
    owner: dict[int, str] = {}
    for entry in entries[1:]:
        record = entry.record
        if "account" in record:
            owner[entry.number] = str(record["account"])
        name = owner[cast("int", record["charge"])] if "charge" in record else owner[entry.number]
        found.setdefault(name, []).append(entry.kind)
    return found


# --- at random ----------------------------------------------------------------------------------------------

TOGETHER = (1, 1, 3, 4)
"""How many children share the ledger, in one storm after another."""


def test_200_kills_at_random_moments(places: Places, nursery: ProcessPoolExecutor) -> None:
    """50 kills on each of 4 ledgers in SQLite; 10 on each in PostgreSQL, where a child takes longer to connect."""
    for seed, together in enumerate(TOGETHER):
        with places() as url:
            kills = 50 if url.startswith("sqlite") else 10
            dead = nursery.submit(storm, url, seed, kills, together).result()
            assert len(dead) >= kills
            assert not any(told.finished for told in dead)
            everything_seen_is_charged(url, dead)


def everything_seen_is_charged(url: str, dead: list[Told]) -> None:
    entries = sound(url)
    charged, seen = Counter(accounts(entries)), [line for told in dead for line in told.lines]
    assert seen, "no child got far enough to see a value: this storm tests nothing"
    assert len(set(seen)) == len(seen)
    assert set(charged.values()) == {1}
    assert set(seen) <= set(charged)
    with opened(url) as ledger:
        assert ledger.spent == PureDP(float(len(charged) * Fraction(CHEAP.epsilon)))
        # A child has at most one charge whose value nobody saw: that of the release it was killed in.
        assert len(charged) - len(seen) <= len(dead)
        assert ledger.statement().unreleased <= len(dead)


# --- at every line ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("act", ACTS)
def test_a_kill_at_any_line(places: Places, nursery: ProcessPoolExecutor, act: str) -> None:
    """Before every second line of accountant/ that a release executes in SQLite; elsewhere before every few."""
    with places() as url:
        opened(url).close()
        embedded = url.startswith("sqlite")
        every = 2 if embedded and act == "release" else 11 if embedded else 29
        runs = nursery.submit(stopped, url, act, every).result()
        groups, whole = written_by(sound(url)), ACTS[act][1]
        assert groups[f"line-{runs[-1].child}"] == whole
        found = Counter(len(groups.get(f"line-{told.child}", [])) for told in runs)
        for told in runs:
            kinds = groups.get(f"line-{told.child}", [])
            assert kinds == whole[: len(kinds)], told
            assert len(kinds) >= max(map(int, told.lines), default=0), told
        assert set(found) == set(range(len(whole) + 1)), "no kill fell between two entries"


def test_a_kill_while_the_books_are_made(places: Places, nursery: ProcessPoolExecutor) -> None:
    """Who is killed while opening leaves books that the next one opens, or none; never half of them."""
    for turn in count():
        with places() as url:
            told = nursery.submit(stopped_while_opening, url, turn * (11 if url.startswith("sqlite") else 53)).result()
            with opened(url) as ledger:
                assert ledger.spent == PureDP(0.0)
            assert [entry.kind for entry in sound(url)] == ["opened"]
        if told.finished:
            assert turn > 5
            return


# --- the crash table ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("point", POINTS)
def test_the_crash_table(places: Places, nursery: ProcessPoolExecutor, point: str) -> None:
    with places() as url:
        opened(url).close()
        told = nursery.submit(killed_at, url, point).result()
        assert not told.finished
        kinds = [entry.kind for entry in written(url)]
        assert kinds == ["opened", *POINTS[point][1]]
        sound(url)
        with opened(url) as ledger:
            charges = kinds.count("charged")
            rounds = 3 if "plan" in point or "round" in point else 1
            assert ledger.spent == PureDP(charges * rounds * CHEAP.epsilon)
            assert ledger.statement().unreleased == charges - kinds.count("released")
