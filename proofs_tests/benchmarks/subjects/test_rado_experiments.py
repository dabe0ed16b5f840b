"""Table 2 and section 7 of 000 again, small: folds, noise, costs and times are what the tables say they are."""

import math
import os
from pathlib import Path

import attrs
import numpy as np
import pytest

from accountant.arrays import FloatArray, SignArray
from accountant.costs import gaussian
from benchmarks.data.rado_domains import BOUNDS, Domain, domain
from benchmarks.rados import rado_features, rado_hardness, rado_noise, rado_speed, rados
from benchmarks.rados.rado_costs import DELTA
from benchmarks.rados.rado_features import (
    ADA,
    ADA_WITHOUT,
    OWN,
    PAPERS,
    PUBLISHED,
    RADO,
    RADO_WITHOUT,
    SUMS,
    Study,
    StudyFold,
    folds_of,
    most_rados,
    of_numbers,
    of_votes,
    published,
    without_privacy,
)
from benchmarks.rados.rado_hardness import (
    drawn,
    growth,
    known,
    noisy_error,
    probe,
    read,
    relative,
    sigma_at,
)
from benchmarks.rados.rado_noise import (
    KINDS,
    PLAIN,
    SUPPORTS,
    AtNoise,
    Kind,
    at_noise,
    centre,
    noised,
    rados_of,
    right,
)
from benchmarks.rados.rado_speed import crafted, crafting, taken
from benchmarks.rados.rado_speed import drawn as drawn_edges
from benchmarks.rados.rado_table import percent
from benchmarks.runner.partial_results import slug
from benchmarks.runner.report import Grid, Measured, Report
from benchmarks.runner.suite import Setting
from exchequer.datasets import DataNotFound
from mechanisms import RadoColumnLaw, SeededNoise
from mechanisms.rados.column_distribution import beta_at

NEEDS_DATA = pytest.mark.skipif(
    not os.environ.get("EXCHEQUER_DATA"), reason="needs UCI domains: set EXCHEQUER_DATA to the folder with real data"
)


def _labels(records: int) -> SignArray:
    return np.where(np.arange(records) % 5 < 2, 1, -1).astype(np.int8)


@pytest.fixture(scope="module")
def study() -> Study:
    """120 records: noise, a coin, a column of 2 and 5 that is the label but for every tenth record, and a constant."""
    rng, labels = np.random.default_rng(8), _labels(120)
    copied = np.where(np.arange(120) % 10 == 0, -labels, labels)
    points = np.column_stack(
        [rng.normal(100.0, 3.0, 120), rng.integers(0, 2, 120), np.where(copied > 0, 5.0, 2.0), np.full(120, 7.0)]
    )
    return attrs.evolve(of_numbers("made up", points, labels), column=2, folds=3)


@pytest.fixture(scope="module")
def part(study: Study) -> StudyFold:
    """The first fold."""
    return next(folds_of(study))


# --- One column -------------------------------------------------------------------------------------------------------


def test_columns_of_two_values_are_found_and_the_telling_one_among_them(study: Study) -> None:
    assert study.features.shape == (120, 5)
    assert np.max(np.abs(study.features)) == 1.0
    assert study.boolean == [1, 2]
    assert study.telling.column == 2
    assert {study.at_random(seed).column for seed in range(8)} == {1, 2}
    assert study.at_random(3).column == study.at_random(3).column
    assert (study.title, study.training) == ("made up: column 2", 80)


def test_folds_are_standardised_by_their_training_records_but_for_the_column(study: Study, part: StudyFold) -> None:
    points = part.y[:, None] * part.edges
    assert np.allclose(np.mean(points, axis=0), [0.0, 0.0, 0.0, 0.0, 1.0])
    assert np.allclose(np.std(points, axis=0), [1.0, 1.0, 1.0, 0.0, 0.0])
    assert set((part.y[:, None] * part.raw)[:, 2]) == {-1.0, 1.0}
    others = [0, 1, 3, 4]
    assert np.array_equal(part.raw[:, others], part.edges[:, others])
    assert np.array_equal(part.raw_test[:, others], part.test_edges[:, others])
    values = np.asarray(part.train["column 0"], dtype=np.float64)
    fresh = np.asarray(part.test["column 0"], dtype=np.float64)
    assert np.allclose(part.test_edges[:, 0], part.y_test * (fresh - values.mean()) / values.std())
    assert [values.size, fresh.size] == [80, 40]
    assert len(list(folds_of(study))) == 3


def test_who_leaves_the_only_telling_column_out_errs_more(part: StudyFold) -> None:
    errors = without_privacy(part, 50, SeededNoise(0))
    assert tuple(errors) == (ADA, RADO, ADA_WITHOUT, RADO_WITHOUT)
    assert errors[ADA] < 0.2
    assert errors[ADA_WITHOUT] > 0.3


def test_published_rados_keep_the_column_in_its_window(part: StudyFold, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def kept(rados: FloatArray, rounds: int, smooth: bool) -> FloatArray:
        seen.append(rados)
        return np.zeros(rados.shape[1])

    monkeypatch.setattr(rado_features, "learnt", kept)
    assert published(part, 0.01, 20, SeededNoise(0)) == {}  # no rado exists
    errors = published(part, 1.0, 20, SeededNoise(0))
    assert tuple(errors) == (PUBLISHED, PAPERS)
    assert errors[PUBLISHED] == 1.0  # θ = 0 names no class
    (rados,) = seen
    low = math.ceil(81.0 / (1.0 + math.exp(0.5)))
    negatives = int(np.sum(part.raw[:, 2] < 0.0))
    assert rados.shape == (40, 5)
    assert np.all((low - negatives <= rados[:, 2]) & (rados[:, 2] <= 80 - low - negatives))


def test_own_supports_have_as_many_rados_as_the_epsilon_buys(part: StudyFold) -> None:
    assert most_rados(80, 0.1) == 0
    number, law = most_rados(80, 3.0), RadoColumnLaw(80)
    assert law.epsilon(DELTA, number) <= 3.0 < law.epsilon(DELTA, number + 1)
    assert most_rados(80, 20.0) == 40  # never more than are used elsewhere
    assert tuple(rado_features.ours(part, 0.1, 20, SeededNoise(0))) == (SUMS,)
    assert tuple(rado_features.ours(part, 3.0, 20, SeededNoise(0))) == (SUMS, OWN)


def test_tables_say_what_a_release_reaches_and_what_it_really_costs(study: Study) -> None:
    found = rado_features.measured(study, (0.01, 5.0), 20)
    grid, costs = rado_features.grid(found, "a column"), rado_features.costs(found, "a column")
    rows = {str(row[0]): row[1:] for row in grid.rows}
    assert grid.head == ("learner", "ε=0.01", "ε=5")
    assert grid.title == "made up: column 2, a column, is protected: test error in %, m=120, folds: 3"
    for name in (ADA, ADA_WITHOUT, RADO, RADO_WITHOUT):
        assert rows[name] == (percent(found.fixed[name]),) * 2
    assert (rows[PUBLISHED][0], rows[PAPERS][0], rows[f"{OWN}: (ε, 1e-06)"][0]) == ("-", "-", "-")
    errors, cell = [100.0 * each for each in found.at[5.0][SUMS]], rows[f"{SUMS}: (ε, 1e-06)"][1]
    assert isinstance(cell, Measured)
    assert [cell.value, cell.spread] == pytest.approx([np.mean(errors), np.std(errors)])
    exact = RadoColumnLaw.truncated(80, beta_at(5.0)).epsilon(DELTA, 40)
    assert [line.found for line in costs.lines] == [
        "δ ≥ 1/2 at every ε",
        "no rado exists",
        Measured(exact, unit="ε", form=".4g"),
        *(Measured(number, unit="rados", form=",.0f") for number in (0, most_rados(80, 5.0))),
    ]


def test_a_vote_that_is_not_known_is_no(tmp_path: Path) -> None:
    lines = ["republican," + ",".join(["?", "y", "n", *"y" * 13]), "democrat," + ",".join(["y", "n", "?", *"n" * 13])]
    (tmp_path / "house-votes-84.data").write_text("\n".join(lines) + "\n")
    votes = of_votes(tmp_path)
    assert votes.labels.tolist() == [-1, 1]
    assert votes.features[:, [0, 1, 2, 15, 16]].tolist() == [[-1, 1, -1, 1, 1], [1, -1, -1, -1, 1]]
    with pytest.raises(DataNotFound, match=r"fertility_Diagnosis\.txt"):
        rado_features.tables("fertility", str(tmp_path), quick=True)


# --- Noise ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def noisy(made_up: Domain) -> AtNoise:
    """At one σ, three folds, twenty rounds."""
    return at_noise(made_up, 0.5, 20, 3)


@pytest.fixture(scope="module")
def made_up() -> Domain:
    """90 records whose first two of four features tell the classes apart."""
    rng, labels = np.random.default_rng(5), _labels(90)
    points = rng.normal(size=(90, 4))
    points[:, :2] += labels[:, None]
    return Domain("made up", points, labels)


def test_noise_on_edges_costs_what_a_record_can_move() -> None:
    assert rado_noise.epsilon(0.0, 4) == math.inf
    for sigma in (1.0, 30.0):
        assert rado_noise.epsilon(sigma, 4) == pytest.approx(gaussian.epsilon(4.0 / sigma, DELTA))
    edges = np.array([[3.0, 0.0, 4.0, 0.0], [0.1, 0.2, 0.3, 0.4]])
    clean = noised(edges, 0.0, np.random.default_rng(0))
    assert np.allclose(clean, [[1.2, 0.0, 1.6, 0.0], edges[1]])
    rest = noised(np.zeros((4_000, 4)), 3.0, np.random.default_rng(0))
    assert abs(float(np.std(rest)) - 3.0) < 5.0 * 3.0 / math.sqrt(2.0 * rest.size)


def test_rados_sum_as_many_records_as_they_should() -> None:
    sizes = {each: np.sum(rados_of(np.eye(40), each, SeededNoise(0)), axis=1).tolist() for each in SUPPORTS}
    assert {each: set(found) for each, found in sizes.items() if each != "any"} == {
        "m/10": {4},
        "m/2": {20},
        "9m/10": {36},
    }
    assert len(sizes["any"]) == 20
    assert len(set(sizes["any"])) > 3


def test_differences_are_paired_by_fold(noisy: AtNoise) -> None:
    kind = Kind("m/2", "strong", False)
    gaps = [100.0 * (one - two) for one, two in zip(noisy.rado[kind], noisy.ada, strict=True)]
    less = noisy.less(kind, None)
    assert [less.value, less.spread] == pytest.approx([np.mean(gaps), np.std(gaps)])
    assert noisy.less(kind, kind) == Measured(0.0, 0.0, unit="points", form=".2f")
    assert set(noisy.rado) == set(KINDS)
    assert max(noisy.ada) < 0.4


def test_both_panels_have_a_row_for_each_kind(noisy: AtNoise) -> None:
    middle, last = centre([noisy]), right([noisy])
    assert [row[0] for row in middle.rows] == [f"m* {each}{end}" for end in ("", ", smoothed") for each in SUPPORTS]
    assert middle.head == last.head == ("learner", "σ=0.5")
    assert middle.rows[0][1] == noisy.less(PLAIN[False], None)
    assert [row[0] for row in last.rows] == [f"m* {each}{end}" for end in ("", ", smoothed") for each in SUPPORTS[1:]]
    assert last.rows[-1][1] == noisy.less(Kind("9m/10", "median", True), PLAIN[True])
    bases = (noisy.ada, noisy.rado[PLAIN[False]], noisy.rado[PLAIN[True]])
    assert [row[1] for row in rado_noise.errors([noisy]).rows] == [percent(each) for each in bases]


def test_prices_are_those_of_each_dimension() -> None:
    grid = rado_noise.prices((0.0, 30.0))
    assert grid.head == ("domain", "σ=0", "σ=30")
    assert [row[0] for row in grid.rows[:3]] == ["transfusion (d=4)", "banknote (d=4)", "abalone (d=8)"]
    free, abalone = grid.rows[2][1:]
    assert isinstance(free, Measured)
    assert isinstance(abalone, Measured)
    assert free.value == math.inf
    assert abalone.value == rado_noise.epsilon(30.0, 8)


def test_private_learners_stand_beside_those_that_are_not(made_up: Domain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rado_noise, "BOUNDS", {"made up": [(-4.0, 4.0)] * 4})
    grid = rado_noise.ours(made_up, (1e3,), 20)
    assert grid.head == ("learner", "ε=1000")
    commoner, *errors = [row[1] for row in grid.rows]
    assert commoner == Measured(40.0, unit="%", form=".2f")
    assert len(errors) == 5
    # So large an ε leaves hardly any noise: all of them learn.
    assert all(each.value < 25.0 for each in errors if isinstance(each, Measured))


@pytest.mark.data
@NEEDS_DATA
@pytest.mark.parametrize("name", BOUNDS)
def test_bounds_hold_all_but_a_few_values(name: str) -> None:
    points, bounds = domain(name).points, np.array(BOUNDS[name])
    outside = np.mean((points < bounds[:, 0]) | (points > bounds[:, 1]))
    assert bounds.shape == (points.shape[1], 2)
    assert outside < (3e-4 if name == "eeg" else 1e-4)
    assert (outside > 0.0) == (name in ("abalone", "eeg"))


# --- Hardness ---------------------------------------------------------------------------------------------------------


def test_growth_is_per_record() -> None:
    assert growth((8, 12), (0.1, 1.6)).value == pytest.approx(2.0)
    assert growth((8, 12, 14, 15), (0.1, 1.6, 1.6, 4.8)).value == pytest.approx(2.0)


def test_edges_are_read_from_exact_rados_and_not_from_noised_ones() -> None:
    found = known(12)
    assert found.exact < 1e-10
    assert found.twin == pytest.approx(1.0)
    assert found.same < 1e-10
    assert found.noisy > 10.0
    grid = rado_hardness.supports_known((12,))
    assert grid.head == ("error", "m=12")
    assert [row[1] for row in grid.rows] == [Measured(each, form=".2g") for each in attrs.astuple(found)]
    assert gaussian.epsilon(2.0 * rado_hardness.RADIUS * math.sqrt(13) / sigma_at(1.0, 26), DELTA) == pytest.approx(1.0)
    edges = drawn(12, np.random.default_rng(0))
    assert np.max(np.linalg.norm(edges, axis=1)) <= rado_hardness.RADIUS * (1.0 + 1e-12)
    assert relative(np.zeros_like(edges), edges) == 1.0
    assert noisy_error(edges, 26, 1) > 10.0


def test_supports_are_read() -> None:
    assert read(14).right
    times, told, few = rado_hardness.edges_known((10, 12))
    assert isinstance(told, Report)
    assert told.lines[0].found == Measured(2, unit="of 2", form=".0f")
    for grid in (times, few):
        assert isinstance(grid, Grid)
        assert grid.head == ("edges", "m=10", "m=12")
        (row,) = grid.rows
        assert all(isinstance(cell, Measured) and cell.value > 0.0 for cell in row[1:])


def test_whose_rados_they_are_is_told() -> None:
    found = probe(12, 4)
    assert found.right
    assert min(found.seconds, found.seconds_none) > 0.0
    grid, told = rado_hardness.probed((1, 2), 4)
    assert isinstance(grid, Grid)
    assert isinstance(told, Report)
    assert grid.head == ("the rados", "candidates=4", "candidates=8")
    assert told.lines[0].found == Measured(2, unit="of 2", form=".0f")


# --- Speed, and the whole ---------------------------------------------------------------------------------------------


def test_crafting_is_held_against_the_product_of_the_same_turn() -> None:
    report, more = (crafted(200, 1, threads, judged=False) for threads in (1, 2))
    assert [line.met for line in (*report.lines, *more.lines)] == [None] * 8
    for each in (report, more):
        assert [line.asked for line in each.lines] == ["", "≤ 3", "", ""]
    supports = np.random.default_rng(1).integers(0, 2, (1000, 20), dtype=np.uint8).astype(np.float32)
    products = rado_speed.product(drawn_edges(200))()
    assert isinstance(products, list)
    assert np.array_equal(products[0], supports @ drawn_edges(200).edges[:20])


def test_memory_of_crafting_is_that_of_a_process_of_its_own() -> None:
    held = np.ones(2**26)  # half a GiB, which must not count
    memory = taken(1_000, 1, judged=False).lines[0].found
    assert isinstance(memory, Measured)
    assert crafting(1_000)["peak"] > 0.5 * held.nbytes / 2**30
    assert memory.value < 0.45


@pytest.mark.parametrize("quick", [True, False])
def test_parts_have_names_of_their_own(quick: bool, tmp_path: Path) -> None:
    names = [slug(part.name) for part in rados.parts(Setting(None, quick, tmp_path))]
    assert len(set(names)) == len(names)
