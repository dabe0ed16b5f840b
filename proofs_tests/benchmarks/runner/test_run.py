"""The one shape: parts are measured once, an interrupted run goes on, what is missing is said, files are made."""

import csv
import json
import sys
import types
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks import __main__ as command
from benchmarks.runner import partial_results as kept_module
from benchmarks.runner.catalogue import CATALOGUE
from benchmarks.runner.partial_results import Shelf, slug
from benchmarks.runner.plots import draw
from benchmarks.runner.report import (
    Grid,
    Line,
    Measured,
    Report,
    Table,
    as_record,
    at_least,
    at_most,
    from_record,
)
from benchmarks.runner.run import Missing, Outcome, outcome_of, parts_of, run
from benchmarks.runner.suite import Benchmark, Part, Setting
from exchequer.datasets import DataNotFound

QUIET = Console(quiet=True)
TOY = Benchmark("toy-one", "toys", "Nothing.", "none.", 0.1)

CURVES = Grid(
    "error by ε",
    ("", "ε=0.1", "ε=1"),
    (("ours", Measured(0.25, 0.01, 0.3, form=".3f"), Measured(0.1, form=".3f")), ("words", "none", "few")),
)
WORDS = Grid("words only", ("a", "b"), (("x", "y"),))
ASKED = Report("what was asked", [at_most("seconds", Measured(1.0, unit="s"), 2.0), Line("in words", "as it is")])


class Toy(types.ModuleType):
    """A benchmark of three parts. seen: which of them were measured.  broken: whether the third is interrupted."""

    def __init__(self) -> None:
        super().__init__("benchmarks.toys.toy_one")
        self.seen: list[str] = []
        self.broken = False

    def parts(self, setting: Setting) -> list[Part]:
        return [self._part("first", CURVES), self._part("second", ASKED), self._part("third", WORDS)]

    def _part(self, name: str, table: Table) -> Part:
        def make() -> list[Table]:
            self.seen.append(name)
            if self.broken and name == "third":
                raise KeyboardInterrupt
            return [table]

        return Part(name, make)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Toy:
    module = Toy()
    monkeypatch.setitem(sys.modules, "benchmarks.toys.toy_one", module)
    return module


def test_a_run_leaves_a_page_numbers_and_pictures(toy: Toy, tmp_path: Path) -> None:
    outcome = run(TOY, Setting(None, False, tmp_path), QUIET)
    assert outcome.met
    page = (tmp_path / "toy-one.md").read_text(encoding="utf-8")
    assert "0.250 ± 0.010 (printed 0.300: 0.833×)" in page
    assert "| seconds | 1 s | ≤ 2 | met |" in page
    assert outcome.pictures[2] == ""  # no numbers, no picture, and no link to one
    assert page.count("![") == 2
    assert all((tmp_path / picture).is_file() for picture in outcome.pictures if picture)
    with (tmp_path / "toy-one.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert (rows[0]["row"], rows[0]["column"], rows[0]["ours"], rows[0]["printed"]) == ("ours", "ε=0.1", "0.25", "0.3")
    assert rows[0]["ratio"] == repr(0.25 / 0.3)
    again = outcome_of(json.loads((tmp_path / "toy-one.json").read_text(encoding="utf-8")))
    assert again.tables == outcome.tables
    assert again.page == outcome.page.replace(f"{outcome.seconds / 60:.1f} min", f"{again.seconds / 60:.1f} min")


def test_an_interrupted_run_goes_on_where_it_was(toy: Toy, tmp_path: Path) -> None:
    setting = Setting(None, False, tmp_path)
    toy.broken = True
    with pytest.raises(KeyboardInterrupt):
        run(TOY, setting, QUIET)
    assert toy.seen == ["first", "second", "third"]
    toy.broken = False
    outcome = run(TOY, setting, QUIET)
    assert toy.seen == ["first", "second", "third", "third"]
    assert outcome.reused == 2
    assert [table.title for table in outcome.tables] == [CURVES.title, ASKED.title, "words only"]


def test_what_other_code_data_or_size_measured_does_not_count(
    toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(TOY, Setting(None, False, tmp_path), QUIET)
    run(TOY, Setting(None, True, tmp_path), QUIET)
    assert len(toy.seen) == 6
    run(TOY, Setting(None, False, tmp_path), QUIET)  # a quick look does not undo a full run
    assert len(toy.seen) == 6
    run(TOY, Setting(str(tmp_path), True, tmp_path), QUIET)
    assert len(toy.seen) == 9
    monkeypatch.setattr(kept_module, "code_digest", lambda module: "other")
    run(TOY, Setting(str(tmp_path), True, tmp_path), QUIET)
    assert len(toy.seen) == 12


def test_the_digest_is_of_what_a_benchmark_imports_and_not_of_what_shows_it() -> None:
    names = {path.stem for path in kept_module._imported("benchmarks.kit.verification_kit")}
    assert {"verification_kit", "verification_power", "report", "suite", "timing"} <= names
    assert not names & {"plots", "run", "results", "composition"}
    assert any("mutants" in str(path) for path in kept_module._imported("benchmarks.kit.verification_kit"))
    assert kept_module.code_digest("benchmarks.prices.composition") != kept_module.code_digest("benchmarks.rados.rados")


def test_half_a_file_is_not_taken_for_a_part(tmp_path: Path) -> None:
    shelf = Shelf.of(Setting(None, False, tmp_path), TOY.module)
    shelf.folder.mkdir(parents=True)
    (shelf.folder / "first.json").write_text('{"key": [', encoding="utf-8")
    assert shelf.get("first") is None


@pytest.mark.parametrize("error", [DataNotFound("no adult.data"), Missing("no PostgreSQL: install it")])
def test_what_is_missing_is_said_and_tried_again(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []

    def make() -> list[Table]:
        calls.append(1)
        raise error

    module = types.ModuleType("benchmarks.toys.toy_one")
    module.parts = lambda setting: [Part("one", make)]  # type: ignore[attr-defined]  # a module made here
    monkeypatch.setitem(sys.modules, "benchmarks.toys.toy_one", module)
    for number in (1, 2):
        outcome = run(TOY, Setting(None, False, tmp_path), QUIET)
        assert len(calls) == number
    assert str(error) in outcome.tables[0].table


def test_a_part_that_fails_does_not_take_the_others_along(
    toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> list[Table]:
        raise ValueError("no such thing")

    parts = [Part("broken", broken), Part("whole", lambda: [CURVES])]
    monkeypatch.setattr(toy, "parts", lambda setting: parts)
    outcome = run(TOY, Setting(None, False, tmp_path), QUIET)
    assert not outcome.met
    assert "ValueError: no such thing" in outcome.tables[0].table
    assert outcome.tables[1] == CURVES
    assert "Traceback" in capsys.readouterr().err
    assert run(TOY, Setting(None, False, tmp_path), QUIET).reused == 1


def test_parts_have_names_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("benchmarks.toys.toy_one")
    module.parts = lambda setting: [Part("A b", list), Part("a-b", list)]  # type: ignore[attr-defined]  # a module
    monkeypatch.setitem(sys.modules, "benchmarks.toys.toy_one", module)
    with pytest.raises(ValueError, match="two parts of one name"):
        parts_of(TOY, Setting(None, True, tmp_path))


@pytest.mark.parametrize("benchmark", CATALOGUE, ids=lambda benchmark: benchmark.name)
@pytest.mark.parametrize("quick", [True, False])
def test_every_benchmark_lists_its_parts_without_measuring(benchmark: Benchmark, quick: bool, tmp_path: Path) -> None:
    parts = parts_of(benchmark, Setting(None, quick, tmp_path))
    assert parts
    assert all(part.seconds > 0.0 for part in parts)
    assert len(slug(benchmark.name)) == len(benchmark.name)


def test_tables_survive_json() -> None:
    for table in (CURVES, ASKED, Report("infinite", [Line("x", Measured(float("inf"), float("nan")))])):
        found = from_record(json.loads(json.dumps(as_record(table), allow_nan=False)))
        assert str(found) == str(table)


def test_numbers_know_their_spread_and_their_ratio() -> None:
    mean = Measured.mean([1.0, 3.0], printed=4.0, form=".1f")
    assert (mean.value, mean.spread, mean.ratio) == (2.0, 1.0, 0.5)
    assert Measured.mean([1.0]).spread is None
    median = Measured.median([1.0, 2.0, 3.0, 4.0, 100.0])
    assert (median.value, median.spread) == (3.0, 1.0)
    assert at_least("x", median, 4.0).met is False
    assert at_least("x", median, 4.0, judged=False).met is None


def test_bars_and_curves_are_drawn_and_words_are_not(tmp_path: Path) -> None:
    assert draw(CURVES, tmp_path / "curves.png")
    assert draw(ASKED, tmp_path / "bars.png")
    assert not draw(Grid("words", ("a", "b=1", "b=2"), (("x", "y", "z"),)), tmp_path / "words.png")
    assert not (tmp_path / "words.png").exists()
    assert (tmp_path / "curves.png").read_bytes()[:4] == b"\x89PNG"


def test_the_front_page_lists_every_benchmark_with_its_data_and_time(capsys: pytest.CaptureFixture[str]) -> None:
    command.main([])
    listed = capsys.readouterr().out
    for benchmark in CATALOGUE:
        assert benchmark.name in listed
        assert f"data: {benchmark.data} (about {benchmark.minutes:g} minutes)" in listed


def test_the_exit_code_says_how_it_went(monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(*tables: Table, words: tuple[str, ...] = ()) -> int:
        outcome = Outcome("composition", tables, ("",) * len(tables), 0.0, bool(words))
        monkeypatch.setattr(command, "one", lambda benchmark, options: outcome)
        with pytest.raises(SystemExit) as done:
            command.main(["composition", *words])
        assert isinstance(done.value.code, int)
        return done.value.code

    missed = Report("r", [at_most("x", Measured(3.0), 2.0)])
    absent = Report("r", [Line("not measured", "no data")])
    assert [ended(ASKED), ended(missed), ended(missed, absent), ended(missed, words=("--quick",))] == [0, 1, 2, 1]
    failed = Report("r", [Line("failed", "ValueError: x", met=False)])
    assert ended(failed, absent) == 3
