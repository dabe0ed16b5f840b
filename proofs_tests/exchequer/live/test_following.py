"""A served ledger that others write to, cut, rewrite, replace or break: the page follows, or turns red for good."""

import datetime
import hashlib
import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import attrs
import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from accountant import About, Entry, Ledger, MemoryStore, Plan
from accountant.audit import verify
from accountant.storage import SqlStore
from benchmarks.ledgers.ledger_readers import stored
from exchequer.live import Follower, Source
from exchequer.live.follower import AGAIN
from proofs_tests.support.ledgers.books import Secure, rewritten, sound_books
from proofs_tests.support.ledgers.durable import behind_its_back, opened, written
from proofs_tests.support.programs.served import Served, serving, wait

BIT = Secure(2.0**-30)
FORGED = "UPDATE exchequer_entries SET line = replace(line, 'ada', 'eve') WHERE number = {}"


def adas(url: str) -> int:
    """The number of the first charge that Ada made."""
    return next(entry.number for entry in written(url) if '"user":"ada"' in entry.line)


def spend(ledger: Ledger, times: int = 1) -> None:
    said = ledger.concerning(About(dataset="hospital", user="ada"))
    for _ in range(times):
        said.release(BIT, said.protect(True))


@pytest.fixture
def ledger(url: str) -> Iterator[Ledger]:
    """A ledger with three releases."""
    with opened(url) as found:
        spend(found, 3)
        yield found


def verdict(served: Served) -> dict[str, object]:
    found: dict[str, object] = json.loads(served.ask("/verify.json").body)
    return found


# --- somebody writes -------------------------------------------------------------------------------------------


def test_the_page_follows_writers(url: str, ledger: Ledger) -> None:
    with serving(url) as served:
        assert "3 of 3 charges" in served.ask("/spent").body
        writers = [threading.Thread(target=_write, args=(url, 10)) for _ in range(3)]
        for writer in writers:
            writer.start()
        while any(writer.is_alive() for writer in writers):
            for target in ("/", "/spent?by=user", "/entries"):
                answer = served.ask(target)
                assert answer.code == 200
                assert "NOT SOUND" not in answer.body
        for writer in writers:
            writer.join()
        entries = len(written(url))
        served.wait(lambda: served.follower.seen.read == entries)
        assert verdict(served)["verdict"] == "sound"
        assert verdict(served)["head"] == ledger.head
        assert "33 of 33 charges" in served.ask("/spent?by=user&where.user=ada").body
        assert ledger.head in served.ask("/").body
    assert served.said == []


def _write(url: str, times: int) -> None:
    with opened(url) as ledger:
        spend(ledger, times)


def test_an_open_charge_is_a_caveat_until_it_is_released(url: str, ledger: Ledger) -> None:
    with serving(url) as served:
        charge = ledger.reserve(Plan.of(BIT.cost, 1), adjacency=BIT.adjacency, mechanism=BIT.description)
        served.wait(lambda: served.follower.seen.verdict == "with caveats")
        assert "1 not released" in served.ask("/spent").body
        charge.release(BIT, ledger.protect(True))
        charge.__exit__(None, None, None)
        served.wait(lambda: served.follower.seen.verdict == "sound" and served.follower.seen.head == ledger.head)
        assert "not released" not in served.ask("/spent").body


def test_an_empty_database_is_no_sound_ledger(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'study.db'}"
    SqlStore(url, "create").close()
    with serving(url) as served:
        assert verdict(served)["verdict"] == "not sound"
        for target in ("/", "/spent", "/entries"):
            assert "NOT SOUND" in served.ask(target).body
        with opened(url) as ledger:
            spend(ledger)
            head = ledger.head
        served.wait(lambda: served.follower.seen.head == head)
        assert served.follower.seen.verdict == "sound"
        assert "1 of 1 charges" in served.ask("/spent").body


def test_until_all_was_read_there_is_a_page_that_says_so(url: str, ledger: Ledger) -> None:
    with serving(url, begin=False) as served:
        for target in ("/", "/spent", "/entries"):
            waiting = served.ask(target)
            assert (waiting.code, waiting.headers["retry-after"]) == (503, "2")
            assert "Reading, 0 %" in waiting.body
        assert served.ask("/verify.json").code == 503
        served.follower.start()
        served.ready()
        assert served.ask("/").code == 200


def test_a_rule_that_nobody_here_has_is_no_sound_ledger(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    store = MemoryStore()
    for entry in rewritten(sound_books(30), 0, '"name":"basic"', '"name":"nobody-has-it","version":"1.0"'):
        store.append(entry.kind, entry.line)
    with serving(stored(store, path)) as served:
        assert verdict(served)["verdict"] == "cannot be checked"
        for target in ("/", "/spent", "/entries"):
            answer = served.ask(target)
            assert answer.code == 200
            assert "CANNOT BE CHECKED" in answer.body
            assert "live-mark live-good" not in answer.body
        assert "nobody-has-it" in served.ask("/").body


# --- nothing is written ----------------------------------------------------------------------------------------


@contextmanager
def _statements() -> Iterator[list[str]]:
    """Everything that any engine is asked meanwhile."""
    seen: list[str] = []

    def note(connection: object, cursor: object, statement: str, *rest: object) -> None:
        seen.append(statement)

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", note)


def test_no_statement_but_reading_is_ever_sent(url: str, ledger: Ledger) -> None:
    with _statements() as seen, serving(url) as served:
        for target in ("/", "/spent?by=user", "/entries", "/entries?from=2020-01-01&page=2", "/verify.json"):
            served.ask(target)
    assert seen
    kinds = {statement.split()[0].upper() for statement in seen}
    assert kinds <= {"SELECT", "PRAGMA", "SHOW"}, kinds
    assert not any("pg_advisory" in statement or "exchequer_turn" in statement for statement in seen)


def test_its_connections_cannot_write(url: str, ledger: Ledger) -> None:
    with closing(Source(url)) as source:
        for statement in (
            "INSERT INTO exchequer_entries VALUES (10000, 'charged', '{}', 'x')",
            "DELETE FROM exchequer_entries",
            "UPDATE exchequer_entries SET line = ''",
            "DROP TABLE exchequer_entries",
            "CREATE TABLE other (x int)",
        ):
            with source.store()._engine.connect() as connection, pytest.raises(DBAPIError, match=r"read-?only"):
                connection.exec_driver_sql(statement)
    assert verify(written(url)).sound


def test_a_file_keeps_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    with opened(f"sqlite:///{path}") as ledger:
        spend(ledger, 3)

    def state() -> tuple[str, list[str], int]:
        names = sorted(os.listdir(tmp_path))
        return hashlib.sha256(path.read_bytes()).hexdigest(), names, path.stat().st_mtime_ns

    before = state()
    with serving(str(path)) as served:
        for target in ("/", "/spent", "/entries", "/verify.json"):
            assert served.ask(target).code == 200
        served.wait(lambda: served.follower._again == -1)
    assert state() == before


# --- somebody does what nobody may -----------------------------------------------------------------------------


def red(served: Served, *why: str) -> None:
    """The page is red, and stays it."""
    served.wait(lambda: served.follower.seen.verdict == "not sound")
    for target in ("/", "/spent?by=user", "/entries"):
        answer = served.ask(target)
        assert answer.code == 200
        assert "NOT SOUND" in answer.body
        assert "live-mark live-good" not in answer.body
    for text in why:
        assert text in served.ask("/").body
    assert verdict(served)["verdict"] == "not sound"
    assert verdict(served)["errors"]


def test_a_ledger_that_is_cut_off_is_red_for_good(url: str, ledger: Ledger) -> None:
    entries = written(url)
    with serving(url) as served:
        with behind_its_back(url, disarmed=True) as connection:
            connection.exec_driver_sql(f"DELETE FROM exchequer_entries WHERE number >= {len(entries) - 2}")
        red(served, "Entries were cut off", entries[-1].digest)
        with behind_its_back(url) as connection:  # put back what was there: nobody believes it any more
            for entry in entries[-2:]:
                row = {"number": entry.number, "kind": entry.kind, "line": entry.line, "digest": entry.digest}
                text = "INSERT INTO exchequer_entries VALUES (:number, :kind, :line, :digest)"
                connection.execute(sa.text(text), row)
        red(served, "Entries were cut off")


def test_a_newest_entry_that_was_changed_is_noticed(url: str, ledger: Ledger) -> None:
    last = len(written(url)) - 1
    with serving(url) as served:
        with behind_its_back(url, disarmed=True) as connection:
            connection.exec_driver_sql(f"UPDATE exchequer_entries SET digest = '{'0' * 64}' WHERE number = {last}")
        red(served, "It was rewritten")


def test_an_old_entry_that_was_changed_is_noticed(url: str, ledger: Ledger) -> None:
    with serving(url) as served:
        with behind_its_back(url, disarmed=True) as connection:
            connection.exec_driver_sql(FORGED.format(number := adas(url)))
        red(served, f"It was rewritten: entry {number}")


def test_a_forged_new_entry_is_noticed(url: str, ledger: Ledger) -> None:
    with serving(url) as served:
        last = written(url)[-1]
        with behind_its_back(url) as connection:
            row = {"number": last.number + 1, "line": last.line, "digest": "0" * 64}
            text = "INSERT INTO exchequer_entries VALUES (:number, 'charged', :line, :digest)"
            connection.execute(sa.text(text), row)
        red(served, "its digest does not match")


def test_tables_that_are_gone_are_noticed(url: str, ledger: Ledger) -> None:
    cascade = "" if url.startswith("sqlite") else " CASCADE"
    with serving(url) as served:
        ledger.close()
        with behind_its_back(url, disarmed=True) as connection:
            connection.exec_driver_sql("DROP TABLE exchequer_entries" + cascade)
            connection.exec_driver_sql("DROP TABLE exchequer_schema")
        red(served, "holds no ledger")


def _swap(path: Path, other: Path) -> None:
    os.replace(other, path)


def _copy(path: Path, other: Path) -> None:
    shutil.copyfile(other, path)


@pytest.mark.parametrize("place", [_swap, _copy])
def test_a_file_that_was_replaced_is_noticed(tmp_path: Path, place: Callable[[Path, Path], None]) -> None:
    path, other = tmp_path / "study.db", tmp_path / "other.db"
    for each, times in ((path, 3), (other, 5)):
        with opened(f"sqlite:///{each}") as ledger:
            spend(ledger, times)
    with serving(str(path)) as served:
        place(path, other)
        red(served, *(["It was rewritten"] if place is _swap else []))  # a copy is no database for a moment


def test_the_same_ledger_in_another_file_goes_on(tmp_path: Path) -> None:
    path, moved = tmp_path / "study.db", tmp_path / "moved.db"
    with opened(f"sqlite:///{path}") as ledger:
        spend(ledger, 3)
    with serving(str(path)) as served:
        path.rename(moved)
        served.wait(lambda: bool(served.follower.seen.trouble))
        answer = served.ask("/")
        assert "cannot be read just now" in answer.body
        assert "live-mark live-good" not in answer.body
        assert verdict(served)["reachable"] is False
        assert str(tmp_path) not in answer.body
        with opened(f"sqlite:///{moved}") as ledger:
            spend(ledger)
            head = ledger.head
        moved.rename(path)
        served.wait(lambda: served.follower.seen.head == head and not served.follower.seen.trouble)
        assert served.follower.seen.verdict == "sound"
        assert "4 of 4 charges" in served.ask("/spent").body
        assert len([text for text in served.said if "just now" in text]) <= 2  # once for each thing that is wrong


def test_a_damaged_file_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    with opened(f"sqlite:///{path}") as ledger:
        spend(ledger, 200)
    with serving(str(path)) as served:
        data = bytearray(path.read_bytes())
        data[4096:] = b"\xa5" * (len(data) - 4096)
        path.write_bytes(data)
        red(served)


def test_a_ledger_that_is_damaged_from_the_beginning_is_red(url: str, ledger: Ledger) -> None:
    number = adas(url)
    with behind_its_back(url, disarmed=True) as connection:
        connection.exec_driver_sql(FORGED.format(number))
        connection.exec_driver_sql(f"UPDATE exchequer_entries SET line = '{{}}' WHERE number = {number + 1}")
    with serving(url) as served:
        red(served, "could not be taken in")
        ledger.close()
        assert f"entry {number}: its digest does not match" in served.ask("/").body
        assert "it cannot be read" in served.ask("/entries").body
        served.wait(lambda: served.follower.seen.looked is not None)
        assert served.follower.seen.lost == ""  # it is as it was, and was never sound


# --- what nobody may see ---------------------------------------------------------------------------------------


def test_a_reader_that_hangs_does_not_stay_green(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    with opened(f"sqlite:///{path}") as ledger:
        spend(ledger, 3)
    with serving(str(path), every=3600.0) as served:
        assert "live-mark live-good" in served.ask("/").body
        assert served.ask("/healthz").code == 200
        early = datetime.datetime.now(datetime.UTC) - datetime.timedelta(seconds=61)
        served.follower.seen = attrs.evolve(served.follower.seen, looked=early)
        answer = served.ask("/")
        assert "Nobody could look at the ledger" in answer.body
        assert "live-mark live-good" not in answer.body
        assert verdict(served)["reachable"] is False
        assert served.ask("/healthz").code == 503


def _fails(start: int) -> Iterator[Entry]:
    raise KeyError(f"a secret of the server, at {start}")


def test_errors_have_a_number_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    with opened(f"sqlite:///{path}") as ledger:
        spend(ledger, 3)
    with serving(str(path), every=3600.0, read=_fails) as served:
        answer = served.ask("/entries")
        assert answer.code == 500
        number = answer.body.split()[-1].rstrip(".")
        assert answer.body == f"Something went wrong here. The server's log has it as error {number}.\n"
        assert sum(number in text for text in served.said) == 1
        assert "x-frame-options" in answer.headers
        assert "secret" in "".join(served.said)


def test_passwords_and_places_stay_here(ledger: Ledger, url: str) -> None:
    if url.startswith("sqlite"):
        secret = str(Path(sa.make_url(url).database or "").parent)
        asked = url
    else:
        secret = "hunter2zzz"
        asked = sa.make_url(url).set(password=secret).render_as_string(hide_password=False)
    with serving(asked) as served:
        for target in ("/", "/spent", "/entries", "/verify.json", "/healthz", "/nothing", "/spent?x=1"):
            answer = served.ask(target)
            assert secret not in answer.body + "".join(answer.headers.values())
    assert secret not in "".join(served.said)


def test_a_follower_reads_the_old_entries_again_in_parts(quick_folder: Path) -> None:
    path = quick_folder / "study.db"
    with opened(f"sqlite:///{path}") as ledger:
        spend(ledger, AGAIN // 2 + 50)
    with closing(Source(str(path))) as source:
        follower = Follower(source, None)
        follower.look()
        assert follower._again == AGAIN - 1
        follower.look()
        assert follower._again == -1
        with behind_its_back(f"sqlite:///{path}", disarmed=True) as connection:
            connection.exec_driver_sql(f"UPDATE exchequer_entries SET line = '{{}}' WHERE number = {AGAIN + 3}")
        follower.look()
        assert not follower.seen.lost
        follower.look()
        assert f"entry {AGAIN + 3} " in follower.seen.lost
    wait(lambda: not follower.alive)
