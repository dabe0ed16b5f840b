"""Cells are measured by real processes, kept one by one, not measured twice, and fail without taking others along."""

import time
from collections.abc import Callable
from pathlib import Path

import attrs
import numpy as np
import pytest

from benchmarks.adapters.protocol import Column
from benchmarks.leaderboard import running
from benchmarks.leaderboard.adapters import Adapter, every, read
from benchmarks.leaderboard.cells import Cell, Measured, Store, delta_of
from benchmarks.leaderboard.running import Busy, Unit, alone, fill, noise_seed, unit
from benchmarks.leaderboard.study import Study
from benchmarks.runner import imported_by
from benchmarks.tables import TableSet

HEADER = """# /// script
# requires-python = ">=3.11"
# dependencies = ["exchequer"]
#
# [tool.leaderboard]
# name = "mine"
# tasks = ["binary"]
# neighbours = ["add-remove-one"]
# released = "mine"
# reads = "nothing"
#
# [tool.leaderboard.variants.good]
# how = "good"
#
# [tool.leaderboard.variants.odd]
# how = "odd"
# ///
"""

BODY = '''
import os
import numpy as np

print("what is printed comes between no answers")

def fit(task, promise, how):
    """Says what it was told, by how likely the second class is."""
    print("nor what is printed here")
    if how == "odd":
        {odd}
    assert "labels" not in task.train
    share = promise.epsilon / 10.0 + promise.seed / 2.0**32 / 1000.0
    first = task.columns[0].name
    return lambda records: np.column_stack([1.0 - share + 0.0 * records[first], share + 0.0 * records[first]])
'''


def table(records: int = 40) -> TableSet:
    """Two classes, one column."""
    labels = np.arange(records) % 2
    columns = (Column("x", 0.0, 1.0),)
    return TableSet("made-up", "binary", columns, ("no", "yes"), (0.0, 1.0), {"x": labels * 0.5}, labels)


@pytest.fixture
def make(tmp_path: Path) -> Callable[[str], Adapter]:
    """An adapter whose variant "odd" does this."""

    def made(odd: str) -> Adapter:
        path = tmp_path / "mine.py"
        path.write_text(HEADER + BODY.replace("{odd}", odd), encoding="utf-8")
        return read(path)

    return made


STUDY = Study(epsilons=(0.5, 1.0), seeds=2)


def test_each_cell_is_measured_once_and_kept(make: Callable[[str], Adapter], tmp_path: Path) -> None:
    adapter, store, said = make("pass"), Store(tmp_path / "cells"), list[str]()
    todo = unit((STUDY,), adapter, table(), 1.0, store)
    assert len(todo.wanted) == 8
    assert [seed for _, _, seed in todo.wanted] == [0] * 4 + [1] * 4  # all cells once, before any twice
    assert fill([todo], store, 2, said.append) == []
    assert said == ["made-up: mine"]
    found = store.get(Cell("made-up", "mine, good", 0.5), todo.key)
    assert found is not None
    assert sorted(found.seeds) == [0, 1]
    shares = [0.05 + noise_seed(seed) / 2.0**32 / 1000.0 for seed in (0, 1)]
    assert found.of("log_loss") == pytest.approx([-np.log(1.0 - p) / 2 - np.log(p) / 2 for p in shares])
    assert found.of("fit")[0] >= 0.0
    assert "exchequer" in found.versions["packages"]
    assert unit((STUDY,), adapter, table(), 1.0, store).wanted == ()
    more = unit((Study(epsilons=(0.5, 1.0), seeds=3),), adapter, table(), 1.0, store)
    assert {seed for _, _, seed in more.wanted} == {2}


def test_a_cell_of_several_studies_has_the_seeds_of_the_largest(make: Callable[[str], Adapter], tmp_path: Path) -> None:
    studies = (attrs.evolve(STUDY, seeds=4), STUDY)
    for order in (studies, studies[::-1]):
        found = unit(order, make("pass"), table(), 1.0, Store(tmp_path / "cells"))
        assert sorted({seed for _, _, seed in found.wanted}) == [0, 1, 2, 3]


def test_other_code_other_bounds_or_other_records_are_measured_anew(
    make: Callable[[str], Adapter], tmp_path: Path
) -> None:
    adapter, store = make("pass"), Store(tmp_path / "cells")
    fill([unit((STUDY,), adapter, table(), 1.0, store)], store, 1, lambda line: None)
    assert unit((STUDY,), adapter, table(60), 1.0, store).wanted
    flipped = attrs.evolve(table(), labels=1 - table().labels)
    assert unit((STUDY,), adapter, flipped, 1.0, store).wanted
    assert unit((STUDY,), adapter, attrs.evolve(table(), test_rows=slice(0, 8)), 1.0, store).wanted
    assert unit((STUDY,), make("share = 0"), table(), 1.0, store).wanted


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        ("raise ValueError('no such luck')", "no such luck"),
        ("os._exit(3)", "ended"),
        ("return lambda records: np.full(3, np.nan)", "not finite"),
        ("return lambda records: np.zeros(3)", "shape"),
    ],
)
def test_one_that_fails_is_told_and_the_others_go_on(
    make: Callable[[str], Adapter], tmp_path: Path, odd: str, said: str
) -> None:
    adapter, store = make(odd), Store(tmp_path / "cells")
    todo = unit((STUDY,), adapter, table(), 1.0, store)
    lines = fill([todo], store, 1, lambda line: None)
    assert [line.partition(": ")[0] for line in lines] == [f"mine, odd on made-up, ε={e:g}" for e in STUDY.epsilons]
    assert all(said in line for line in lines)
    for epsilon in STUDY.epsilons:
        good = store.get(Cell("made-up", "mine, good", epsilon), todo.key)
        assert good is not None
        assert len(good.seeds) == 2
    failed = store.get(Cell("made-up", "mine, odd", 0.5), todo.key)
    assert failed is not None
    assert said in failed.failed
    assert not failed.seeds
    assert unit((STUDY,), adapter, table(), 1.0, store).wanted == ()
    assert len(unit((STUDY,), adapter, table(), 1.0, store, again=True).wanted) == 4


def test_an_import_that_fails_names_the_line_and_the_header(make: Callable[[str], Adapter], tmp_path: Path) -> None:
    adapter = make("pass")
    text = adapter.path.read_text(encoding="utf-8").replace("import os\n", "import os\nimport not_there\n")
    adapter.path.write_text(text, encoding="utf-8")
    store = Store(tmp_path / "cells")
    lines = fill([unit((STUDY,), read(adapter.path), table(), 1.0, store)], store, 1, lambda line: None)
    at = 1 + text.splitlines().index("import not_there")
    said = f"mine.py, line {at}: ModuleNotFoundError: No module named 'not_there'; its package belongs in the header's"
    assert lines
    assert all(said in line for line in lines)


def test_an_error_is_told_by_its_last_step_in_the_adapter_and_as_it_is(
    make: Callable[[str], Adapter], tmp_path: Path
) -> None:
    adapter = make("deeper()")
    lines = [*adapter.path.read_text(encoding="utf-8").splitlines(), "def deeper():", "    int('no number')"]
    adapter.path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    store, said = Store(tmp_path / "cells"), list[str]()
    found = fill([unit((STUDY,), read(adapter.path), table(), 1.0, store)], store, 1, said.append)
    why = f"mine.py, line {len(lines)}: ValueError: invalid literal for int() with base 10: 'no number'"
    assert found == [f"mine, odd on made-up, ε={epsilon:g}: {why}" for epsilon in STUDY.epsilons]
    (whole,) = [line for line in said if "Traceback" in line]  # once for a file, not for each cell
    assert "deeper()" in whole


def test_a_failure_at_one_epsilon_takes_no_other_along(make: Callable[[str], Adapter], tmp_path: Path) -> None:
    adapter, store = make("assert promise.epsilon > 0.7"), Store(tmp_path / "cells")
    todo = unit((STUDY,), adapter, table(), 1.0, store)
    (line,) = fill([todo], store, 1, lambda line: None)
    assert line.startswith("mine, odd on made-up, ε=0.5: ")
    found = store.get(Cell("made-up", "mine, odd", 1.0), todo.key)
    assert found is not None
    assert len(found.seeds) == 2


def test_a_fit_that_takes_too_long_is_ended(
    make: Callable[[str], Adapter], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "LIMIT", 2.0)
    # A process that it starts holds the pipe, too, and is ended with it.
    adapter, store = make("import time; os.fork(); time.sleep(600)"), Store(tmp_path / "cells")
    start = time.monotonic()
    (line,) = fill([unit((STUDY,), adapter, table(), 1.0, store)], store, 1, lambda line: None)
    assert "mine, odd on made-up, ε=0.5: took longer than 2 s" in line
    assert time.monotonic() - start < 120.0


def test_one_that_ends_between_answers_is_told(make: Callable[[str], Adapter], tmp_path: Path) -> None:
    late = "import threading; threading.Timer(0.0, os._exit, [3]).start()"
    adapter, store = make(late), Store(tmp_path / "cells")
    lines = fill([unit((STUDY,), adapter, table(), 1.0, store)], store, 1, lambda line: None)
    assert all("ended" in line or "mine" in line for line in lines)


def test_two_runs_do_not_measure_into_one_folder(make: Callable[[str], Adapter], tmp_path: Path) -> None:
    adapter, store = make("pass"), Store(tmp_path / "cells")
    todo = unit((STUDY,), adapter, table(), 1.0, store)
    with alone(store.folder), pytest.raises(Busy, match="another run measures"):
        fill([todo], store, 1, lambda line: None)


def test_what_an_adapter_imports_of_ours_is_part_of_it() -> None:
    by_stem = {adapter.path.stem: adapter for adapter in every()}
    names = {path.name for path in imported_by(by_stem["boosted_ada_ssp"].path)}
    assert {"ada_ssp.py", "protocol.py"} <= names
    assert "_tables.py" in {path.name for path in imported_by(by_stem["private_boost"].path)}


def test_packages_that_cannot_be_had_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXCHEQUER_PEERS", str(tmp_path / "peers"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    path = tmp_path / "far.py"
    path.write_text(HEADER.replace('"exchequer"', '"no-such-package==1.0"') + BODY, encoding="utf-8")
    store = Store(tmp_path / "cells")
    (line,) = fill([Unit(read(path), table(), 1.0, "key", ())], store, 1, lambda line: None)
    assert "no-such-package: pip could not install no-such-package==1.0" in line


def test_cells_are_files_that_come_back_as_they_were(tmp_path: Path) -> None:
    cell = Cell("adult", "a system, at 1/3", 0.05, "n^-1.1", "replace-one", 10.0)
    store, found = Store(tmp_path), Measured(cell, "k", {0: {"auc": 1 / 3}, 10: {"auc": 0.5}}, "", {"machine": "m"})
    assert store.get(cell, "k") is None
    store.put(found)
    assert store.get(cell, "k") == found
    assert store.get(cell, "other") is None
    places = {
        attributes.place
        for attributes in (
            cell,
            Cell("adult", "a system, at 1/3", 0.05, "1e-5", "replace-one", 10.0),
            Cell("adult", "a system, at 1/3", 0.05, "n^-1.1", "add-remove-one", 10.0),
            Cell("adult", "a system, at 1/3", 0.05, "n^-1.1", "replace-one"),
            Cell("adult", "a system, at 1/3", 0.5, "n^-1.1", "replace-one", 10.0),
            Cell("adult", "a system, at 1/3", float("inf")),
        )
    }
    assert len(places) == 6


def test_delta_follows_the_number_of_records() -> None:
    assert delta_of("1e-5", 10) == 1e-5
    assert delta_of("n^-1.1", 1_000) == pytest.approx(1_000**-1.1)


@pytest.mark.parametrize(
    ("predictions", "said"),
    [
        ([0.1, 0.9], True),
        ([0.0, 1.0], True),
        ([0.0, 0.0], False),
        ([-0.1, 0.9], False),
        ([0.1, 1.1], False),
        ([], False),
    ],
)
def test_scores_that_look_like_probabilities_are_told(predictions: list[float], said: bool) -> None:
    found = np.array(predictions)
    assert running.like_probabilities(found) is said
    assert not running.like_probabilities(np.column_stack([1.0 - found, found]))


def test_a_score_that_looks_like_a_probability_is_told_while_it_runs(
    make: Callable[[str], Adapter], tmp_path: Path
) -> None:
    odd, said = make("pass"), list[str]()
    text = odd.path.read_text(encoding="utf-8")
    odd.path.write_text(
        text.replace("np.column_stack([1.0 - share", "(lambda pair: pair[1] * records[first])([1.0 - share")
    )
    fill(
        [unit((STUDY,), read(odd.path), table(), 1.0, Store(tmp_path / "cells"))],
        Store(tmp_path / "cells"),
        1,
        said.append,
    )
    assert said.count(f"mine, good: {running.LIKE_PROBABILITIES}") == 1
