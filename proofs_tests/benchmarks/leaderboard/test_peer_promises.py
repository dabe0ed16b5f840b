"""What we vouch for of the peers that we wrote from papers, or whose own rule we extend: sensitivities, and noise."""

import math
from collections import defaultdict

import numpy as np
import pytest

from accountant.arrays import FloatArray
from accountant.costs import gaussian
from benchmarks.adapters.peers import ada_ssp, boosted_ada_ssp, interpret_ebm
from benchmarks.adapters.protocol import Neighbours, Promise

PAIRS = 20_000
PROMISES = [(epsilon, delta) for epsilon in (0.05, 0.5, 1.0, 3.0, 10.0) for delta in (1e-9, 1e-5, 1e-3)]


def rows(rng: np.random.Generator, turn: int) -> tuple[FloatArray, FloatArray]:
    """Two records as `features` makes them: no number below 0, norm at most 1; often equal, or at right angles."""
    found = np.abs(rng.normal(size=(2, int(rng.integers(1, 5)))))
    found *= rng.choice([1.0, 0.5], size=(2, 1)) / np.linalg.norm(found, axis=1, keepdims=True)
    if turn % 4 == 0:
        found[1] = found[0]
    if turn % 4 == 1 and found.shape[1] > 1:
        found = np.eye(found.shape[1])[[0, 1]]
    return found[0], found[1]


def labels(rng: np.random.Generator, one_hot: bool) -> FloatArray:
    """Of two records, as `targets` makes them; shape (2, targets)."""
    if one_hot:
        return np.asarray(np.eye(3)[rng.integers(3, size=2)])
    return rng.choice([-1.0, 1.0, 0.3], size=(2, 1))


def worst(neighbours: Neighbours, one_hot: bool) -> dict[str, float]:
    """The largest change seen over what is said of it, by release."""
    rng, found = np.random.default_rng(0), defaultdict[str, float](float)
    said = ada_ssp.sensitivities(neighbours, one_hot)
    for turn in range(PAIRS):
        (x, z), (y, w) = rows(rng, turn), labels(rng, one_hot)
        gram, cross = np.outer(x, x), np.outer(x, y)
        if neighbours == "replace-one":
            gram, cross = gram - np.outer(z, z), cross - np.outer(z, w)
        others = rng.normal(size=(4, x.size)) * rng.choice([1.0, 0.0, 3.0])
        whole = others.T @ others + (np.outer(z, z) if neighbours == "replace-one" else 0.0)
        moved = abs(np.linalg.eigvalsh(whole + gram)[0] - np.linalg.eigvalsh(whole)[0])
        found["gram"] = max(found["gram"], float(np.linalg.norm(np.triu(gram))) / said.gram)
        found["cross"] = max(found["cross"], float(np.linalg.norm(cross)) / said.cross)
        found["least"] = max(found["least"], float(moved) / said.least)
    return found


@pytest.mark.parametrize("one_hot", [False, True], ids=["signs", "one-hot"])
@pytest.mark.parametrize("neighbours", ["add-remove-one", "replace-one"])
def test_no_pair_moves_a_release_of_ada_ssp_farther_than_it_says_and_some_do_as_far(
    neighbours: Neighbours, one_hot: bool
) -> None:
    """So a bound 10 % too small fails, and one 10 % too large would be waste."""
    for release, ratio in worst(neighbours, one_hot).items():
        assert 0.99 < ratio < 1.0 + 1e-9, release


def test_residuals_of_boosted_ada_ssp_are_clipped_one_by_one() -> None:
    """Then a record replaced moves a round's sums by twice a row's norm at most, and opposite residuals do so."""
    found = np.random.default_rng(1).normal(scale=3.0, size=(50, 3))
    found[0] = 0.0
    together = boosted_ada_ssp.clipped(found)
    assert np.max(np.linalg.norm(together, axis=1)) < 1.0 + 1e-9
    assert np.array_equal(together[:1], boosted_ada_ssp.clipped(found[:1]))
    assert ada_ssp.sensitivities("replace-one", one_hot=False).cross == 2.0


@pytest.mark.parametrize(("epsilon", "delta"), PROMISES)
def test_their_gaussian_curves_are_ours(epsilon: float, delta: float) -> None:
    """They run where our package may not be, so they have their own."""
    ours = gaussian.mu(epsilon, delta)
    assert ada_ssp.mu_of(epsilon, delta) == pytest.approx(ours, rel=1e-9)
    assert interpret_ebm.gaussian_mu(epsilon, delta) == pytest.approx(ours, rel=1e-9)


@pytest.mark.parametrize("composition", ["gdp", "classic"])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-5), (1.0, 1e-5), (3.0, 1e-3)])
def test_dp_ebm_under_replace_one_is_told_an_epsilon_that_doubles_its_noise(
    epsilon: float, delta: float, composition: str
) -> None:
    """Both parts, at twice their sensitivity, keep to their shares of the promise; all of it is used by one of them."""
    rule = {"gdp": interpret_ebm.gaussian_mu, "classic": interpret_ebm.classic_mu}[composition]
    told = interpret_ebm.told(Promise(epsilon, delta, "replace-one", 0), composition)
    used = [2.0 * rule(part * told, 0.5 * delta) / rule(part * epsilon, 0.5 * delta) for part in interpret_ebm.PARTS]
    assert max(used) == pytest.approx(1.0, rel=1e-6)
    for part in interpret_ebm.PARTS:
        spent = gaussian.delta(2.0 * rule(part * told, 0.5 * delta), part * epsilon)
        assert spent <= 0.5 * delta * (1.0 + 1e-6)
    assert interpret_ebm.told(Promise(epsilon, delta, "add-remove-one", 0), composition) == epsilon


def test_the_printed_noise_of_ada_ssp_keeps_the_promise_or_is_refused() -> None:
    for epsilon, delta in PROMISES:
        try:
            multiplier = ada_ssp.printed_multiplier(epsilon, delta)
        except ValueError:
            continue
        assert gaussian.delta(math.sqrt(ada_ssp.RELEASES) / multiplier, epsilon) <= delta * (1.0 + 1e-9)
