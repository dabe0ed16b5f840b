"""The references of the benchmark of composition are exact, and a price below them shows."""

import math
import sys
from pathlib import Path

import pytest

from accountant import GDP, BoundedRange, PureDP
from accountant.costs import curves, gaussian
from benchmarks.prices import composition
from benchmarks.prices.composition import OURS
from benchmarks.prices.exact_prices import DELTA
from benchmarks.prices.tightness import KINDS
from benchmarks.runner.report import Grid, Measured, Report
from benchmarks.runner.run import Missing
from benchmarks.runner.suite import Setting


def test_one_round_is_randomized_response() -> None:
    """(e^ε − e^x)/(1 + e^ε) = δ, solved for x."""
    known = math.log(math.exp(0.3) - DELTA * (1.0 + math.exp(0.3)))
    assert composition.exact(PureDP(0.3), 1) == pytest.approx(known, rel=1e-10)


def test_one_round_of_bounded_range_is_its_closed_form() -> None:
    known, found = curves.bounded_range_epsilon(0.3, DELTA), composition.exact(BoundedRange(0.3), 1)
    assert 0.999 * known < found <= known


@pytest.mark.parametrize("rounds", [1, 100, 10_000])
def test_gaussians_are_as_the_accountant_has_them(rounds: int) -> None:
    found = composition.exact(GDP(0.05), rounds)
    assert found == pytest.approx(gaussian.epsilon(0.05 * math.sqrt(rounds), DELTA), rel=1e-9)


@pytest.mark.parametrize("cost", composition.COSTS, ids=composition.label)
def test_what_is_asked_is_reached(cost: composition.Round) -> None:
    pytest.importorskip("dp_accounting")
    epsilons, ratios, report = composition.composed(cost, (1, 20))
    assert isinstance(epsilons, Grid)
    assert isinstance(ratios, Grid)
    assert epsilons.head == ratios.head == ("", "rounds=1", "rounds=20")
    assert isinstance(report, Report)
    assert report.met, report.table
    assert len(report.lines) == (2 if isinstance(cost, BoundedRange) else 4)


@pytest.mark.parametrize("factor", [0.999, 1.02])
def test_a_price_below_the_exact_value_or_far_above_is_missed(factor: float) -> None:
    found: dict[str, list[float | None]] = {
        OURS: [factor], composition.EXACT: [1.0], composition.PEER: [None]
    }  # fmt: skip
    (line,) = composition.asked(found, (10,))
    assert line.met is False


def test_a_price_below_the_peers_is_missed() -> None:
    found: dict[str, list[float | None]] = {OURS: [1.0], composition.EXACT: [1.0], composition.PEER: [1.001]}
    over_exact, over_peer = composition.asked(found, (10,))
    assert (over_exact.met, over_peer.met) == (True, False)


def test_without_dp_accounting_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dp_accounting.pld", None)
    with pytest.raises(Missing, match="pip install"):
        composition.peer(PureDP(0.1), 1)


def test_every_price_has_a_time(tmp_path: Path) -> None:
    grid, asked = composition.times((1, 1_000), 1, judged=False)
    assert isinstance(grid, Grid)
    assert all(isinstance(cell, Measured) and cell.value > 0.0 for row in grid.rows for cell in row[1:])
    assert isinstance(asked, Report)
    assert [line.met for line in asked.lines] == [None] * len(composition.COSTS)
    names = [part.name for part in composition.parts(Setting(None, True, tmp_path))]
    assert len(names) == len(set(names)) == len(composition.COSTS) + len(KINDS) + 2
