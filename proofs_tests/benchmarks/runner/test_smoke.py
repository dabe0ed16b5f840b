"""Every benchmark runs in its quick form, as a user would start it, and leaves its files: CI's smoke."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.runner.catalogue import CATALOGUE
from benchmarks.runner.partial_results import ROOT, slug
from benchmarks.runner.report import Measured, Table
from benchmarks.runner.run import ABSENT, outcome_of, said
from benchmarks.runner.suite import Benchmark

DATA_FREE = {
    "audits",
    "blocks",
    "composition",
    "databases",
    "foreign",
    "hall",
    "ledger",
    "ledger-readers",
    "ledger-serve",
    "one-run",
    "recordings",
    "verification-kit",
}

TITLES = {
    "random-features": ("recommended", "Least ε", "Table 1", "Figure 4", "Figures 5", "Figures 1", "Figure 3"),
    "fairness": ("Figures 7 and 8", "Table 2", "Figure 9", "Parity", "by group"),
}
"""What some table of these is called, each."""


@pytest.mark.data
@pytest.mark.parametrize("benchmark", CATALOGUE, ids=lambda benchmark: benchmark.name)
def test_the_quick_form_runs_and_leaves_its_files(benchmark: Benchmark, tmp_path: Path) -> None:
    if not os.environ.get("EXCHEQUER_DATA") and benchmark.name not in DATA_FREE:
        pytest.skip("needs real data: set EXCHEQUER_DATA to the folder with it")
    words = [sys.executable, "-m", "benchmarks", benchmark.name, "--quick", "--out", str(tmp_path)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]
    place = tmp_path / benchmark.name
    outcome = outcome_of(json.loads((place / f"{benchmark.name}.json").read_text(encoding="utf-8")))
    assert outcome.quick
    assert not said(ABSENT, outcome.tables)
    assert outcome.met
    assert any(outcome.pictures)
    assert all((place / picture).is_file() for picture in outcome.pictures if picture)
    assert (place / f"{benchmark.name}.csv").stat().st_size > 500
    assert f"# {benchmark.name}" in done.stdout
    if benchmark.name in TITLES:
        titles = [table.title for table in outcome.tables]
        assert all(any(each in title for title in titles) for each in TITLES[benchmark.name])
        assert len({slug(title) for title in titles}) == len(titles)
        assert max(map(len, titles)) <= 110
        assert all(map(_has_numbers, outcome.tables))


def _has_numbers(table: Table) -> bool:
    """But for what was chosen, which is words."""
    return "settings" in table.title or any(isinstance(each.cell, Measured) for each in table.cells())
