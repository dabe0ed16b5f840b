"""Table 2 and section 7 of 000 again, small: folds, noise, costs and times are what the tables say they are."""

import math
import os
from pathlib import Path

import attrs
import numpy as np
import pytest

from accountant import gaussian
from benchmarks import rado_features, rado_hardness, rado_noise
from benchmarks.rado_costs import DELTA
from benchmarks.rado_domains import BOUNDS, Domain, domain
from benchmarks.rado_features import (
    ADA,
    ADA_WITHOUT,
    HEAD,
    OWN,
    PAPERS,
    PUBLISHED,
    RADO,
    RADO_WITHOUT,
    SUMS,
    Part,
    Study,
    most_rados,
    of_numbers,
    of_votes,
    parts,
    published,
    without_privacy,
)
from benchmarks.rado_hardness import drawn, factor, noisy_error, probe, read, relative, sigma_at
from benchmarks.rado_noise import KINDS, SUPPORTS, AtNoise, Kind, at_noise, centre, noised, rados_of, right
from boosting.measures import FloatArray
from boosting.schema import SignArray
from exchequer.datasets import DataNotFound
from mechanisms import RadoColumnLaw, SeededNoise
from mechanisms.rado_law import beta_at

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
def part(study: Study) -> Part:
    """The first fold."""
    return next(parts(study))


# --- One column -------------------------------------------------------------------------------------------------------


def test_columns_of_two_values_are_found_and_the_telling_one_among_them(study: Study) -> None:
    assert study.features.shape == (120, 5)
    assert np.max(np.abs(study.features)) == 1.0
    assert study.boolean == [1, 2]
    assert study.telling.column == 2
    assert {study.at_random(seed).column for seed in range(8)} == {1, 2}
    assert study.at_random(3).column == study.at_random(3).column
    assert (study.title, study.training) == ("made up: column 2", 80)


def test_folds_are_standardised_by_their_training_records_but_for_the_column(study: Study, part: Part) -> None:
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
    assert len(list(parts(study))) == 3


def test_who_leaves_the_only_telling_column_out_errs_more(part: Part) -> None:
    errors = without_privacy(part, 50, SeededNoise(0))
    assert tuple(errors) == (ADA, RADO, ADA_WITHOUT, RADO_WITHOUT)
    assert errors[ADA] < 0.2
    assert errors[ADA_WITHOUT] > 0.3


def test_published_rados_keep_the_column_in_its_window(part: Part, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_own_supports_have_as_many_rados_as_the_epsilon_buys(part: Part) -> None:
    assert most_rados(80, 0.1) == 0
    number, law = most_rados(80, 3.0), RadoColumnLaw(80)
    assert law.epsilon(DELTA, number) <= 3.0 < law.epsilon(DELTA, number + 1)
    assert most_rados(80, 20.0) == 40  # never more than are used elsewhere
    assert tuple(rado_features.ours(part, 0.1, 20, SeededNoise(0))) == (SUMS,)
    assert tuple(rado_features.ours(part, 3.0, 20, SeededNoise(0))) == (SUMS, OWN)


def test_rows_say_what_a_release_really_costs(study: Study) -> None:
    found = rado_features.measured(study, (0.01, 5.0), 20)
    grid = rado_features.grid("made up", [found])
    first, second = grid.rows
    assert len(first) == len(second) == len(HEAD)
    assert first[:3] == ("made up: column 2", "120", "0.01")
    assert first[7:11] == ("-", "-", "no rado exists", "-")
    assert first[12:] == ("-", "-")
    exact = RadoColumnLaw.truncated(80, beta_at(5.0)).epsilon(DELTA, 40)
    assert second[9:11] == ("δ ≥ 1/2 at every ε", f"{exact:.3g}")
    assert second[13] == str(most_rados(80, 5.0))
    assert first[3:7] == second[3:7]
    errors = [100.0 * each for each in found.at[5.0][SUMS]]
    assert second[11] == f"{np.mean(errors):.2f} ± {np.std(errors, ddof=1):.2f}"


def test_a_vote_that_is_not_known_is_no(tmp_path: Path) -> None:
    lines = ["republican," + ",".join(["?", "y", "n", *"y" * 13]), "democrat," + ",".join(["y", "n", "?", *"n" * 13])]
    (tmp_path / "house-votes-84.data").write_text("\n".join(lines) + "\n")
    votes = of_votes(tmp_path)
    assert votes.labels.tolist() == [-1, 1]
    assert votes.features[:, [0, 1, 2, 15, 16]].tolist() == [[-1, 1, -1, 1, 1], [1, -1, -1, -1, 1]]
    with pytest.raises(DataNotFound, match=r"fertility_Diagnosis\.txt"):
        rado_features.tables(tmp_path)


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
    assert noisy.less(kind, None) == f"{np.mean(gaps):+.2f} ± {np.std(gaps, ddof=1):.2f}"
    assert noisy.less(kind, kind) == "+0.00 ± 0.00"
    assert set(noisy.rado) == set(KINDS)
    assert max(noisy.ada) < 0.4


def test_both_panels_have_a_column_for_each_kind(noisy: AtNoise) -> None:
    middle, last = centre([noisy]), right([noisy])
    assert middle.head[4:] == tuple(f"m* {each}{end}" for end in ("", ", smoothed") for each in SUPPORTS)
    assert middle.rows[0][:3] == ("made up", "0.5", f"{rado_noise.epsilon(0.5, 4):.3g}")
    assert middle.rows[0][4] == noisy.less(Kind("any", "strong", False), None)
    assert last.head[4:] == tuple(f"m* {each}, median{end}" for end in ("", ", smoothed") for each in SUPPORTS[1:])
    assert last.rows[0][-1] == noisy.less(Kind("9m/10", "median", True), Kind("any", "strong", True))
    assert [len(grid.rows[0]) for grid in (middle, last)] == [len(middle.head), len(last.head)]


def test_private_learners_stand_beside_those_that_are_not(made_up: Domain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rado_noise, "BOUNDS", {"made up": [(-4.0, 4.0)] * 4})
    grid = rado_noise.ours([made_up], (1e3,), 20)
    ((name, share, epsilon, *errors),) = grid.rows
    assert (name, share, epsilon) == ("made up", "40.00", "1000")
    assert len(errors) == 5
    # So large an ε leaves hardly any noise: all of them learn.
    assert all(float(each.split()[0]) < 25.0 for each in errors)


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
    assert factor(None, 8, 0.1) == "-"
    assert factor((8, 0.1), 12, 1.6) == "2.00"


def test_edges_are_read_from_exact_rados_and_not_from_noised_ones() -> None:
    grid = rado_hardness.supports_known((12,))
    (m, n, exact, few, twin, same, paired, noisy), head = grid.rows[0], grid.head
    assert (m, n, few, paired) == ("12", "24", "11", "26")
    assert float(exact) < 1e-10
    assert (float(twin), float(same) < 1e-10) == (1.0, True)
    assert float(noisy) > 10.0
    assert len(head) == 8
    assert gaussian.epsilon(2.0 * rado_hardness.RADIUS * math.sqrt(13) / sigma_at(1.0, 26), DELTA) == pytest.approx(1.0)
    edges = drawn(12, np.random.default_rng(0))
    assert np.max(np.linalg.norm(edges, axis=1)) <= rado_hardness.RADIUS * (1.0 + 1e-12)
    assert relative(np.zeros_like(edges), edges) == 1.0
    assert noisy_error(edges, 26, 1) > 10.0


def test_supports_are_read_and_the_title_says_how_fast() -> None:
    assert read(14).right
    grid = rado_hardness.edges_known((10, 12))
    assert "at m = 12, so hardness is no protection" in grid.title
    assert [(row[0], row[3]) for row in grid.rows] == [("10", "yes"), ("12", "yes")]
    assert grid.rows[0][2] == "-"
    assert all(int(row[4]) >= 1 for row in grid.rows)


def test_whose_rados_they_are_is_told() -> None:
    found = probe(12, 4)
    assert found.right
    assert min(found.seconds, found.seconds_none) > 0.0
    grid = rado_hardness.probed((1, 2), 4)
    assert [(*row[:2], row[-1]) for row in grid.rows] == [("1", "4", "yes"), ("2", "8", "yes")]
