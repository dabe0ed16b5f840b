"""The figures that this library promises, on the real data, and that a charge does not grow with the books."""

import os
import statistics

import pytest

from accountant import ApproxDP, ZCDPComposition
from benchmarks import adult
from benchmarks.ledger import per_release
from benchmarks.report import Line, Report

NEEDS_DATA = pytest.mark.skipif(
    not os.environ.get("EXCHEQUER_DATA"), reason="needs Adult: set EXCHEQUER_DATA to the folder with real data"
)


@pytest.mark.data
@NEEDS_DATA
def test_adult_reaches_its_figures_over_ten_seeds() -> None:
    report = adult.run(None)
    assert len(report.lines) == len(adult.PURE) + len(adult.ZCDP)
    assert report.met, str(report)


@pytest.mark.data
@NEEDS_DATA
def test_adult_is_encoded_as_the_paper_has_it() -> None:
    sample = adult.encoded(adult.load(None))
    assert (sample.n, sample.layout.d) == (32_561, 162)


def test_a_charge_does_not_grow_with_the_books() -> None:
    """Absolute times are the benchmark's business; here only growth, and a bound that no machine should miss."""
    batches = per_release(ZCDPComposition(), ApproxDP(1.0, 1e-5), 40_000)
    first, last = statistics.median(batches[:5]), statistics.median(batches[-5:])
    assert last < 4 * first
    assert last < 500.0


def test_a_missed_figure_shows() -> None:
    report = Report("t", (Line("a", "1", "2", False), Line("b", "1")))
    assert not report.met
    assert "MISSED" in str(report)
