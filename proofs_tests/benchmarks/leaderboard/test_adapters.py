"""What adapters say of themselves is read without running them, and refused where it makes no sense."""

from pathlib import Path

import pytest

from benchmarks.leaderboard.__main__ import with_all
from benchmarks.leaderboard.adapters import BadAdapter, chosen, every, read, told_apart
from benchmarks.runner import Missing

GOOD = '''# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy==2.4.6"]
#
# [tool.leaderboard]
# name = "mine"
# tasks = ["binary"]
# neighbours = ["add-remove-one"]
# released = "mine"
# reads = "nothing"
#
# [tool.leaderboard.variants.slow]
# rounds = 10
# ///
"""Mine."""


def fit(task, promise, rounds=1):
    return None


raise SystemExit("an adapter is not run to be read")
'''


def written(folder: Path, text: str) -> Path:
    """An adapter's file."""
    path = folder / "mine.py"
    path.write_text(text, encoding="utf-8")
    return path


def test_it_is_read_without_being_run(tmp_path: Path) -> None:
    adapter = read(written(tmp_path, GOOD))
    assert (adapter.name, adapter.tasks, adapter.neighbours) == ("mine", ("binary",), ("add-remove-one",))
    assert adapter.requirements == ("numpy==2.4.6",)
    (system,) = adapter.systems
    assert (system.name, system.options) == ("mine, slow", {"rounds": 10})
    assert adapter.private


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("# /// script", "# script", "expected a header"),
        ('# name = "mine"', "# name = mine", "is no TOML"),
        ("tool.leaderboard", "tool.other", "no table"),
        ('# name = "mine"\n', "", "it lacks name"),
        ('# released = "mine"', '# released = "mine"\n# colour = "red"', "unknown: colour"),
        ('["binary"]', '["ternary"]', "expected a list of some of binary"),
        ('["add-remove-one"]', "[]", "expected a list of some of add-remove-one"),
        ('["numpy==2.4.6"]', '["numpy"]', "expected a list of pins"),
        ('">=3.11"', '"3.11"', "expected such as '>=3.11'"),
        ('">=3.11"', "3.11", "expected such as '>=3.11'"),
        ("def fit(", "def fitted(", r"no function fit\(task, promise\)"),
        ("rounds=1):", "rounds=1)", "line 18: expected ':'"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_file(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = written(tmp_path, GOOD.replace(old, new))
    with pytest.raises(BadAdapter, match=said) as caught:
        read(path)
    assert str(path) in str(caught.value)


def test_another_python_is_asked_for_in_vain_and_nobody_else_is_stopped(tmp_path: Path) -> None:
    adapter = read(written(tmp_path, GOOD.replace('">=3.11"', '">=2.7,<3"')))
    with pytest.raises(Missing, match=r"mine.py: requires-python = '<3,>=2.7', and this is Python 3.* Run this again"):
        adapter.python(tmp_path / "environments")
    assert not (tmp_path / "environments").exists()


def test_every_adapter_of_ours_reads_and_no_two_systems_share_a_name() -> None:
    adapters = every()
    names = [system.name for adapter in adapters for system in adapter.systems]
    assert len(set(names)) == len(names)
    assert sum(adapter.ours for adapter in adapters) >= 3
    assert any(not adapter.private for adapter in adapters)


def test_systems_are_named_by_file_or_path(tmp_path: Path) -> None:
    mine, everybody = written(tmp_path, GOOD), every()
    found = chosen(["constant", str(mine), "constant"], everybody)
    assert [adapter.path.stem for adapter in found] == ["constant", "mine"]
    with pytest.raises(BadAdapter, match="'nobody' is neither"):
        chosen(["nobody"], everybody)
    assert [adapter.path for adapter in with_all(found)][:2] == [adapter.path for adapter in found]
    assert len(with_all(found)) == sum(not adapter.heavy for adapter in everybody) + 1
    (heavy,) = chosen(["opacus_sgd"], everybody)
    assert [adapter for adapter in with_all([heavy]) if adapter.heavy] == [heavy]


def test_what_is_known_not_to_hold_names_one_of_its_tasks(tmp_path: Path) -> None:
    table = '# [tool.leaderboard.refuted]\n# {kind} = "its noise is too small"\n#\n'
    before = "# [tool.leaderboard.variants.slow]"
    path = written(tmp_path, GOOD.replace(before, table.format(kind="binary") + before))
    assert read(path).refuted == {"binary": "its noise is too small"}
    with pytest.raises(BadAdapter, match="expected a table of some of its tasks"):
        read(written(tmp_path, GOOD.replace(before, table.format(kind="regression") + before)))


@pytest.mark.parametrize("name", ["constant", "Constant!", "PrivateBoost", "学习"])
def test_names_that_would_be_taken_for_others_are_refused(tmp_path: Path, name: str) -> None:
    text = GOOD.replace('"mine"', f'"{name}"', 1).replace("# [tool.leaderboard.variants.slow]\n# rounds = 10\n", "")
    mine = read(written(tmp_path, text))
    with pytest.raises(BadAdapter, match="another name"):
        told_apart([mine, *(each for each in every() if each.name != "PrivateBoost")])
    with pytest.raises(BadAdapter, match="another name"):
        told_apart([*every(), mine])


def test_stems_and_systems_of_the_repository_are_told_apart() -> None:
    everybody = every()
    assert told_apart(everybody) == tuple(everybody)
    stems = [adapter.path.stem for adapter in everybody]
    assert len(set(stems)) == len(stems)
