"""Labels of all leaves as one release: exact law, cost, and what the cost is not."""

import itertools
import math

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant import ZCDP, BoundedRange, Ledger, ReplaceOne, ZCDPComposition
from accountant.arrays import FloatArray
from mechanisms import L1Sensitivity, NoiseSource, SecureNoise, SeededNoise, Slickness
from mechanisms.queries.weighted_queries import LEAF_GAPS
from mechanisms.selection.leaf_labels import LeafLabelChoice, LeafLabels
from proofs_tests.harness import loss_width, max_loss, output_distribution


@attrs.frozen(eq=False)
class Leaves:
    """Label weights of leaves, label −1 first."""

    leaf: FloatArray
    slickness: Slickness


def certificate(zeta: float) -> Slickness:
    return Slickness(zeta, 100, ReplaceOne(), "test", ("L0",))


def law(gaps: list[float], eta: float) -> dict[tuple[int, ...], float]:
    """Log-probability of every labelling."""

    def program(noise: NoiseSource) -> tuple[int, ...]:
        return tuple(LeafLabelChoice(eta).draw(np.array(gaps), noise).tolist())

    return output_distribution(program)


gap_lists = st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), min_size=1, max_size=4)


@given(gap_lists, st.floats(0.01, 30.0))
def test_it_is_the_exponential_mechanism_over_labelled_trees(gaps: list[tuple[float, float]], eta: float) -> None:
    """[001-leaf-labels] P(labels) ∝ exp(−eta·error), the error of a leaf being the weight of the other label."""
    first = [gap for gap, _ in gaps]
    found = law(first, eta)
    errors = {
        labels: sum(max(-label * gap, 0.0) for label, gap in zip(labels, first, strict=True))
        for labels in itertools.product((-1, 1), repeat=len(first))
    }
    total = np.logaddexp.reduce([-eta * error for error in errors.values()])
    assert found == pytest.approx({labels: -eta * error - total for labels, error in errors.items()}, abs=1e-9)


@given(gap_lists, st.floats(0.01, 30.0))
def test_the_width_is_exactly_eta_times_the_sum_of_the_changes(gaps: list[tuple[float, float]], eta: float) -> None:
    """[001-leaf-labels] Widths of leaves add up, so the joint cost is eta·Δ₁ and 10 % less is caught."""
    first, second = ([pair[i] for pair in gaps] for i in (0, 1))
    change = float(np.abs(np.subtract(first, second)).sum())
    width = loss_width(law(first, eta), law(second, eta))
    assert width == pytest.approx(eta * change, abs=1e-9 * (1 + eta))
    assert width <= LeafLabelChoice(eta).cost(L1Sensitivity(change)).epsilon + 1e-9 * (1 + eta)


def test_a_record_that_changes_leaves_pays_for_both() -> None:
    """[001-leaf-labels] Parallel composition would charge eta·ζ here; the exact width is 2·eta·ζ."""
    zeta, eta = 0.01, 5.0
    width = loss_width(law([0.3, 0.2], eta), law([0.3 - zeta, 0.2 + zeta], eta))
    assert width == pytest.approx(2 * eta * zeta)
    assert width > 1.9 * eta * zeta
    assert max_loss(law([0.3, 0.2], eta), law([0.3 - zeta, 0.2 + zeta], eta)) <= width


def test_the_cost_is_one_bounded_range_for_all_leaves() -> None:
    zeta = 0.01
    mechanism = LeafLabels(LEAF_GAPS, 5.0, zeta).under(certificate(zeta))
    assert isinstance(mechanism.cost, BoundedRange)
    assert 0.1 <= mechanism.cost.epsilon <= 0.1 + 1e-9
    assert mechanism.description.norm == "l1"
    assert LeafLabelChoice(5.0).cost(L1Sensitivity(0.0)) == BoundedRange(0.0)
    for eta in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="positive"):
            LeafLabels(LEAF_GAPS, eta, zeta)


@pytest.mark.parametrize("noise", [SecureNoise(), SeededNoise(1)])
def test_labels_are_signs_one_per_leaf(noise: NoiseSource) -> None:
    randomizer = LeafLabelChoice(1e6)
    assert randomizer.draw(np.array([0.5, -0.25, 1.0]), noise).tolist() == [1, -1, 1]
    assert randomizer.draw(np.array([]), noise).shape == (0,)
    empty = [int(randomizer.draw(np.array([0.0]), noise)[0]) for _ in range(60)]
    assert set(empty) == {-1, 1}
    for bad in (math.nan, math.inf):
        with pytest.raises(ValueError, match="finite"):
            randomizer.draw(np.array([bad]), noise)


def test_a_ledger_releases_them() -> None:
    data = Leaves(np.array([[0.1, 0.4], [0.5, 0.0]]), certificate(0.01))
    ledger = Ledger(ZCDP(10.0), composition=ZCDPComposition(), adjacency=ReplaceOne())
    mechanism = LeafLabels(LEAF_GAPS, 200.0, 0.01, SeededNoise(0)).under(data.slickness)
    assert ledger.release(mechanism, ledger.protect(data)).tolist() == [1, -1]
    assert isinstance(mechanism.cost, BoundedRange)
    assert ledger.spent == mechanism.cost.to_zcdp()
