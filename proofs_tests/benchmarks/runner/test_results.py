"""RESULTS.md and the figures in README.md and docs are what the files of runs say; what makes them refuses gaps."""

import re
from pathlib import Path

import attrs
import pytest

from benchmarks.runner.catalogue import CATALOGUE
from benchmarks.runner.readme import MARKED, NotThere, filled, number, short
from benchmarks.runner.readme_figures import FIGURES, PICTURES, draw_pictures
from benchmarks.runner.report import Grid, Measured, Report, at_most
from benchmarks.runner.results import FIGURED, KEPT, PAGE, outcomes, page, take_over
from benchmarks.runner.run import Outcome

TOY = Outcome(
    "composition",
    [
        Grid("error: toy", ("", "ε=1", "ε=10"), (("ours", Measured(0.25, form=".2f"), Measured(0.125, form=".2f")),)),
        Report("seconds", [at_most("a fit", Measured(3.0, unit="s"), 2.0)]),
    ],
    ("01-error-toy.png", ""),
    61.0,
    False,
    versions={"python": "3.11"},
)


def test_the_results_page_is_made_of_the_files_of_full_runs() -> None:
    found = outcomes()
    assert list(found) == [benchmark.name for benchmark in CATALOGUE]
    assert not any(outcome.quick for outcome in found.values())
    assert PAGE.read_text(encoding="utf-8") == page(found)


def texts() -> list[str]:
    return [path.read_text(encoding="utf-8") for path in FIGURED]


def test_the_figures_in_pages_are_those_of_the_files() -> None:
    runs = outcomes()
    for text in texts():
        assert filled(text, runs, FIGURES) == text
    assert {match[2] for text in texts() for match in MARKED.finditer(text)} == set(FIGURES)


def test_the_pictures_that_pages_show_are_there_and_no_others() -> None:
    shown = {
        (path.parent / name).resolve()
        for path, text in zip(FIGURED, texts(), strict=True)
        for name in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)
    }
    assert {path for path in shown if path.is_relative_to(KEPT)} == {KEPT / name for name in PICTURES}
    assert sorted(KEPT.rglob("*.png")) == sorted(KEPT / name for name in PICTURES)


def test_pictures_are_drawn_of_the_runs(tmp_path: Path) -> None:
    (tmp_path / "old.png").write_bytes(b"")
    draw_pictures(outcomes(), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(PICTURES)
    assert all(path.stat().st_size > 5000 for path in tmp_path.iterdir())


def test_a_number_that_a_run_changed_shows_in_the_page_and_in_others() -> None:
    """So that the two tests above can fail."""
    runs = outcomes()
    fast = [
        Report(t.title, [attrs.evolve(line, found=Measured(1e-3, unit="s")) for line in t.lines])
        if isinstance(t, Report) and t.title.startswith("Adult, ε = 1")
        else t
        for t in runs["speed"].tables
    ]
    other = {**runs, "speed": attrs.evolve(runs["speed"], tables=fast)}
    assert any(filled(text, other, FIGURES) != text for text in texts())
    assert page(other) != page(runs)


def test_numbers_are_found_by_the_beginnings_of_their_row_and_column() -> None:
    runs = {"composition": TOY}
    assert number(runs, "composition", "error", "ours", "ε=1").value == 0.25
    assert number(runs, "composition", "seconds", "a fit").value == 3.0
    assert short(0.125, 2) == ".12"
    for title, row, column in (("error", "theirs", "ε=1"), ("error", "ours", "ε=2"), ("none", "ours", "ε=1")):
        with pytest.raises(NotThere):
            number(runs, "composition", title, row, column)
    with pytest.raises(NotThere, match="no run of peers"):
        number(runs, "peers", "accuracy", "ours")


def test_markers_are_filled_and_unknown_ones_refused() -> None:
    text = "before\n<!-- figures: x -->\nold\n<!-- end of figures -->\nafter\n"
    assert filled(text, {}, {"x": lambda runs: "new"}) == text.replace("old", "new")
    with pytest.raises(NotThere, match="known: y"):
        filled(text, {}, {"y": lambda runs: "new"})


def test_what_was_missed_is_said_first() -> None:
    text = page({"composition": TOY})
    assert "| composition | seconds | a fit | 3 s | ≤ 2 |" in text
    assert text.index("Asked and missed") < text.index("# composition")
    assert "0 of 1" in text
    assert "no run" in text


def test_quick_runs_are_not_taken_over(tmp_path: Path) -> None:
    out, into = tmp_path / "out", tmp_path / "into"
    for outcome in (TOY, attrs.evolve(TOY, name="ledger", quick=True)):
        place = out / outcome.name
        place.mkdir(parents=True)
        (place / f"{outcome.name}.json").write_text(outcome.text, encoding="utf-8")
    left = take_over(out, into)
    assert "ledger: a quick run" in left
    assert list(outcomes(into)) == ["composition"]
    assert not list(into.rglob("*.png"))
