"""Ledgers enter themselves in a registry, are found there by others, and count for what they are or more."""

import shutil
from pathlib import Path

import pytest
import sqlalchemy as sa

from accountant import About, Ledger, LedgerBroken, LedgerMismatch, LedgerUnavailable, PolicyRefused, PureDP
from accountant.registry import Registry, location_of
from accountant.storage import SqlStore
from proofs_tests.support.ledgers.durable import Places, behind_its_back
from proofs_tests.support.ledgers.policed import HOSPITAL, pay, policed, policy_in


def new_registry(folder: Path) -> str:
    """A registry in a file."""
    Registry.create(url := f"sqlite:///{folder}/registry.db").close()
    return url


def test_ledgers_over_a_data_set_find_each_other(places: Places) -> None:
    with places() as registry, places() as first, places() as second:
        Registry.create(registry).close()
        with (
            policed(first, None, HOSPITAL, registry, 2.0) as one,
            policed(second, None, About(purpose="pilot"), registry, 3.0) as two,
        ):
            assert two.others() is None
            pay(one, 0.5)
            pay(other := two.concerning(HOSPITAL), 0.25)
            found = other.others()
            assert found is not None
            assert [part.registration.ledger for part in found.parts] == [two.id, one.id]
            assert found.spent is not None
            assert found.budget is not None
            assert (found.spent.epsilon, found.budget.epsilon, found.budget.delta) == (0.75, 5.0, 0.0)
            alone = one.concerning(About(dataset="school")).others()
            assert alone is not None
            assert len(alone.parts) == 1
        with Registry.open(registry, "read") as opened:
            assert sorted(each.dataset for each in opened.ledgers()) == ["hospital", "hospital", "school"]
            assert all("password" not in each.location and each.first for each in opened.ledgers())


def test_what_cannot_be_read_counts_with_its_whole_budget(tmp_path: Path) -> None:
    registry = new_registry(tmp_path)
    places = [f"sqlite:///{tmp_path}/{name}.db" for name in ("gone", "other", "cut", "mine")]
    for place in places[:3]:
        with policed(place, None, HOSPITAL, registry, 2.0) as ledger:
            if "cut" in place:
                shutil.copy(tmp_path / "cut.db", tmp_path / "kept.db")
            pay(ledger, 0.5)
    policed(places[2], None, HOSPITAL, registry, 2.0).close()  # the registry knows of the charge by now
    (tmp_path / "gone.db").unlink()
    (tmp_path / "other.db").unlink()
    policed(places[1], None, HOSPITAL, None, 9.0).close()
    shutil.copy(tmp_path / "kept.db", tmp_path / "cut.db")
    with policed(places[3], None, HOSPITAL, registry, 1.0) as ledger:
        found = ledger.others()
    assert found is not None
    assert [part.spent.as_dict()["epsilon"] for part in found.parts] == [0.0, 2.0, 2.0, 2.0]
    reasons = [part.why_unread for part in found.parts]
    for reason, said in zip(reasons, ("", "does not exist", "another ledger", "cut off or rolled back"), strict=True):
        assert said in reason


def test_a_copy_that_goes_on_is_refused_when_either_is_opened_again(tmp_path: Path) -> None:
    """Each of two copies has the whole budget: together they would spend it twice."""
    registry, place = new_registry(tmp_path), f"sqlite:///{tmp_path}/first.db"
    with policed(place, None, HOSPITAL, registry, 2.0) as ledger:
        pay(ledger, 0.5)
    shutil.copy(tmp_path / "first.db", tmp_path / "copy.db")
    with policed(f"sqlite:///{tmp_path}/copy.db", None, HOSPITAL, registry, 2.0) as copy:
        pay(copy, 1.5)
    with pytest.raises(LedgerMismatch, match=r"knows of entries .*copy\.db: it was rolled back, or is a copy"):
        policed(place, None, HOSPITAL, registry, 2.0)
    with policed(f"sqlite:///{tmp_path}/mine.db", None, HOSPITAL, registry, 1.0) as mine:
        assert (found := mine.others()) is not None
        assert not any(part.lost for part in found.parts)


def test_what_was_spent_before_a_ledger_was_rolled_back_counts_beside_what_is_spent_now(tmp_path: Path) -> None:
    registry, place = new_registry(tmp_path), f"sqlite:///{tmp_path}/first.db"
    policed(place, None, HOSPITAL, registry, 2.0).close()
    shutil.copy(tmp_path / "first.db", tmp_path / "kept.db")
    with policed(place, None, HOSPITAL, registry, 2.0) as ledger:
        pay(ledger, 2.0)  # known to the registry when it is closed
    shutil.copy(tmp_path / "kept.db", tmp_path / "first.db")
    with policed(place, None, HOSPITAL, None, 2.0) as ledger:
        pay(ledger, 2.0)
    with policed(f"sqlite:///{tmp_path}/mine.db", None, HOSPITAL, registry, 1.0) as mine:
        assert (found := mine.others()) is not None
        assert [part.lost for part in found.parts] == [False, True]
        assert found.spent is not None
        assert found.spent.epsilon >= 4.0


def test_handles_close_in_any_order(places: Places) -> None:
    with places() as registry, places() as url:
        Registry.create(registry).close()
        one, two = (policed(url, None, HOSPITAL, registry, 2.0) for _ in range(2))
        pay(one, 0.5)
        pay(two, 0.25)
        two.close()
        one.close()
        one.close()
        with policed(url, None, HOSPITAL, registry, 2.0), Registry.open(registry, "read") as opened:
            (found,) = opened.ledgers()
            assert found.spent == PureDP(0.75)
            assert len(opened.places(found.ledger)) == 1


def test_a_registry_that_was_asked_for_must_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, missing = f"sqlite:///{tmp_path}/ledger.db", f"sqlite:///{tmp_path}/missing.db"
    with pytest.raises(LedgerMismatch, match="--create"):
        policed(ledger, None, HOSPITAL, missing)
    monkeypatch.setenv("EXCHEQUER_REGISTRY", missing)
    with pytest.raises(LedgerMismatch, match="registry of ledgers"):
        Ledger.open(ledger)
    monkeypatch.delenv("EXCHEQUER_REGISTRY")
    policed(ledger, None).close()
    with pytest.raises(LedgerMismatch, match="but a ledger"):
        Registry.open(ledger)
    with pytest.raises(LedgerUnavailable, match="registry of ledgers"):
        policed(ledger, None, HOSPITAL, "postgresql+psycopg://nobody@127.0.0.1:1/none?connect_timeout=2")


def test_the_rest_of_a_password_is_not_taken_for_a_host_and_named(tmp_path: Path) -> None:
    url = "postgresql+psycopg://ana:se@cret@127.0.0.1:1/none?connect_timeout=2"
    for opens in (lambda: Registry.open(url), lambda: Registry.create(url), lambda: Ledger.open(url)):
        with pytest.raises(ValueError, match="spelt %40") as caught:
            opens()
        assert "cret" not in str(caught.value)


def test_a_registry_that_was_changed_is_refused_before_anything_is_charged(tmp_path: Path) -> None:
    registry, url = new_registry(tmp_path), f"sqlite:///{tmp_path}/ledger.db"
    policy = policy_in(tmp_path, "[limits.dataset]\nepsilon = 1\ndelta = 0\n")
    policed(f"sqlite:///{tmp_path}/large.db", None, HOSPITAL, registry, 9.0).close()
    with policed(url, policy, HOSPITAL, registry, 1.0) as ledger:
        with behind_its_back(registry, disarmed=True) as connection:
            connection.exec_driver_sql("DELETE FROM exchequer_entries WHERE number > 0")
        with pytest.raises(LedgerBroken, match="registry of ledgers"):
            pay(ledger, 0.25)
        assert ledger.spent == PureDP(0.0)


def test_limits_count_other_ledgers_with_their_whole_budgets(tmp_path: Path) -> None:
    registry = new_registry(tmp_path)
    policy = policy_in(tmp_path, "[limits.dataset]\nepsilon = 1\ndelta = 0\n")
    with policed(f"sqlite:///{tmp_path}/a.db", policy, HOSPITAL, registry, 0.75) as first:
        pay(first, 0.5)
        with policed(f"sqlite:///{tmp_path}/b.db", policy, HOSPITAL, registry, 9.0) as second:
            pay(second, 0.25)
            with pytest.raises(PolicyRefused, match="1 other ledger"):
                pay(second, 0.125)
            pay(second.concerning(About(dataset="school")), 1.0)
            with pytest.raises(PolicyRefused, match="whole budgets"):
                pay(first, 0.125)


@pytest.mark.postgres
def test_no_password_is_kept_and_the_place_is_still_found(places: Places) -> None:
    with places() as url:
        if not url.startswith("postgresql"):
            pytest.skip("files have no passwords")
        with policed(url, None) as ledger:
            pay(ledger, 0.25)
        secret = sa.make_url(url).set(password="hush").update_query_dict({"sslpassword": "hush"})
        store = SqlStore(secret.render_as_string(hide_password=False), "read")
        location = location_of(store)
        store.close()
        assert "hush" not in location
        assert "***" not in location
        assert sa.make_url(location).database == secret.database


def test_the_registry_is_append_only(tmp_path: Path) -> None:
    registry = new_registry(tmp_path)
    with pytest.raises(Exception, match="append-only"), behind_its_back(registry) as connection:
        connection.exec_driver_sql("DELETE FROM exchequer_entries")
