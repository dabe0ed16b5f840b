"""Plain and certified mechanisms: the price is the randomizer's for the query's own bound, or nothing is released."""

from collections.abc import Callable
from typing import Any, ClassVar, cast

import attrs
import numpy as np
import pytest

from accountant import (
    GDP,
    AddRemoveOne,
    ApproxDP,
    BoundedRange,
    LaplaceDP,
    PureDP,
    ReplaceOne,
)
from accountant.arrays import FloatArray
from mechanisms.additive import GaussianNoise, LaplaceNoise, RobustLaplace
from mechanisms.core.mechanism import FiniteMechanism, Mechanism
from mechanisms.core.plain import PlainMechanism, PlainSelection, Query, at_delta
from mechanisms.core.robust import (
    CertificateMismatch,
    CertifiedMechanism,
    CertifiedSelection,
    RobustCost,
    RobustMechanism,
    RobustQuery,
    Slickness,
    SlicknessTooWeak,
    accept,
    check_certificate,
)
from mechanisms.core.sensitivity import L1Sensitivity, L2Sensitivity, RangeSensitivity
from mechanisms.randomness.sources import SecureNoise, SeededNoise
from mechanisms.selection.noisy_choice import ExponentialChoice, WeightedExponential
from proofs_tests.support.mechanisms.closed_forms import gaussian_delta
from proofs_tests.support.mechanisms.just_above import just_above


def _refusing(data: FloatArray) -> None:
    if data.size != 2:
        raise ValueError("expected two")


def _doubled(data: FloatArray) -> FloatArray:
    return 2.0 * data


def _same(data: FloatArray) -> FloatArray:
    return data


def gaussian(sigma: float = 2.0) -> PlainMechanism[FloatArray, FloatArray, L2Sensitivity, FloatArray]:
    query = Query("x", _doubled, L2Sensitivity(0.6), AddRemoveOne(), ("own",), _refusing)
    return PlainMechanism(query, GaussianNoise(sigma), SeededNoise(3))


def test_a_plain_mechanism_costs_what_its_randomizer_says_of_its_query() -> None:
    mechanism = gaussian()
    assert mechanism.cost == GaussianNoise(2.0).cost(L2Sensitivity(0.6))
    assert mechanism.adjacency == AddRemoveOne()
    assert mechanism.description.sensitivity == 0.6
    assert mechanism.description.claims == ("gdp", "own")
    mechanism.check(np.zeros(2))
    with pytest.raises(ValueError, match="expected two"):
        mechanism.check(np.zeros(3))
    assert mechanism.sample(np.array([1e9, 0.0]))[0] == pytest.approx(2e9)
    assert Query("x", abs, RangeSensitivity(1.0), ReplaceOne()).claims == ()


def test_a_mechanism_at_a_delta_is_the_same_one_at_its_best_price() -> None:
    for delta in (1e-6, 0.01):
        mechanism = at_delta(gaussian(), delta)
        cost = mechanism.cost
        assert isinstance(cost, ApproxDP)
        assert cost.delta == delta
        # The sampler's grid adds 2^-40 to μ.
        assert gaussian_delta(0.3, cost.epsilon) <= delta < gaussian_delta(0.3, cost.epsilon * 0.9999)
        assert mechanism.adjacency == AddRemoveOne()
        assert not isinstance(mechanism, FiniteMechanism)
        assert mechanism.description.claims[-1] == "gdp"
        assert mechanism.description.parameters[:-1] == (("sigma", 2.0), ("priced from", repr(gaussian().cost)))
        mechanism.check(np.zeros(2))
        with pytest.raises(ValueError, match="expected two"):
            mechanism.check(np.zeros(3))
        assert mechanism.sample(np.array([1e9, 0.0]))[0] == pytest.approx(2e9)


def test_a_selection_at_a_delta_keeps_its_law() -> None:
    query = Query("scores", _same, RangeSensitivity(2.0), ReplaceOne())
    selection: PlainSelection[FloatArray] = PlainSelection(query, ExponentialChoice(0.5), SeededNoise(1))
    scores = np.array([0.0, 1.0, 3.0])
    law = np.exp(0.5 * scores) / np.exp(0.5 * scores).sum()
    for mechanism in (selection, at_delta(selection, 1e-3)):
        assert isinstance(mechanism, FiniteMechanism)
        assert np.exp(mechanism.log_probabilities(scores)).tolist() == pytest.approx(law.tolist(), rel=1e-12)
    assert isinstance(selection.cost, BoundedRange)
    just_above(selection.cost.epsilon, 1.0)


@attrs.frozen(eq=False)
class Weighted:
    """A value with the certificate of its weighting."""

    slickness: Slickness
    value: FloatArray


SLICK = Slickness(0.1, 50, ReplaceOne(), "Measure()", ("slick",))
DATA = Weighted(SLICK, np.array([1e9]))


def _query(sensitivity: Callable[[float], L1Sensitivity]) -> RobustQuery[Weighted, FloatArray, L1Sensitivity]:
    return RobustQuery("value", lambda data: 3.0 * data.value, sensitivity, ReplaceOne(), ("query",))


def robust(zeta: float) -> RobustLaplace[Weighted]:
    return RobustLaplace(_query(lambda distance: L1Sensitivity(2.0 * distance)), 0.5, zeta, SeededNoise(2))


def test_a_robust_cost_is_that_of_the_bound_at_the_promised_distance() -> None:
    mechanism = robust(0.2)
    assert mechanism.sensitivity == L1Sensitivity(0.4)
    assert mechanism.robust_cost == RobustCost(LaplaceNoise(0.5).cost(L1Sensitivity(0.4)), 0.2)
    assert mechanism.adjacency == ReplaceOne()
    certified = mechanism.under(SLICK)
    assert isinstance(certified.cost, LaplaceDP)
    just_above(certified.cost.epsilon, 0.8, within=5e-12)
    assert certified.adjacency == ReplaceOne()
    assert certified.sample(DATA)[0] == pytest.approx(3e9)
    assert certified.description.zeta == 0.2
    assert certified.description.claims == ("laplace-dp", "query", "slick")
    assert not isinstance(mechanism, Mechanism)


def test_a_robust_mechanism_draws_from_the_noise_it_was_given_and_else_from_the_operating_system() -> None:
    query = _query(lambda distance: L1Sensitivity(2.0 * distance))
    assert isinstance(RobustMechanism(query, LaplaceNoise(0.5), 0.2).noise, SecureNoise)
    noise = SeededNoise(2)
    mechanism = RobustMechanism(query, LaplaceNoise(0.5), 0.2, noise)
    assert mechanism.noise is noise
    assert mechanism.robust_cost == robust(0.2).robust_cost


def test_a_weaker_certificate_is_refused_however_the_mechanism_is_made() -> None:
    for zeta in (0.1, 0.2, 1.0):
        robust(zeta).under(SLICK)
    for zeta in (0.0999999, 0.01):
        with pytest.raises(SlicknessTooWeak, match="holds only up to"):
            robust(zeta).under(SLICK)
        with pytest.raises(SlicknessTooWeak, match="holds only up to"):
            CertifiedMechanism(robust(zeta), SLICK)
    other = attrs.evolve(SLICK, adjacency=AddRemoveOne())
    with pytest.raises(CertificateMismatch, match="the certificate is for"):
        robust(0.2).under(other)
    accept(SLICK, RobustCost(GDP(1.0), 0.1), ReplaceOne())


def test_data_under_another_certificate_are_refused() -> None:
    certified = robust(0.2).under(SLICK)
    certified.check(DATA)
    check_certificate(DATA, SLICK)
    with pytest.raises(CertificateMismatch, match="for n = 50, the data has n = 51"):
        certified.check(attrs.evolve(DATA, slickness=attrs.evolve(SLICK, n=51)))
    for change in (
        {"zeta": 0.11},
        {"zeta": 0.09},
        {"producer": "Other()"},
        {"adjacency": AddRemoveOne()},
        {"claims": ()},
    ):
        with pytest.raises(CertificateMismatch):
            certified.check(attrs.evolve(DATA, slickness=attrs.evolve(SLICK, **change)))


def test_certificates_and_promises_are_checked_at_birth() -> None:
    for wrong in (0.0, -0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="expected a number"):
            robust(wrong)
        with pytest.raises(ValueError, match="expected a number"):
            attrs.evolve(SLICK, zeta=wrong)
        with pytest.raises(ValueError, match="expected a number"):
            RobustCost(PureDP(1.0), wrong)
    with pytest.raises(ValueError, match="whole number"):
        attrs.evolve(SLICK, n=0)


def test_a_certified_selection_has_its_law() -> None:
    query: RobustQuery[Weighted, FloatArray, RangeSensitivity] = RobustQuery(
        "scores", lambda data: data.value, lambda zeta: RangeSensitivity(4.0 * zeta), ReplaceOne(), ()
    )
    selection = WeightedExponential(query, 0.5, 0.2).under(SLICK)
    assert isinstance(selection, CertifiedSelection)
    scores = np.array([0.0, 1.0])
    chances = np.exp(selection.log_probabilities(Weighted(SLICK, scores)))
    assert chances.tolist() == pytest.approx([1.0 / (1.0 + np.exp(0.5)), 1.0 / (1.0 + np.exp(-0.5))], rel=1e-12)
    assert isinstance(selection.cost, BoundedRange)
    just_above(selection.cost.epsilon, 0.4, within=5e-12)


def test_a_sensitivity_in_another_norm_is_refused_before_anything_is_charged() -> None:
    """The ℓ1 length of a change may be √d times its ℓ2 length: the price would be too low by that."""
    plain: Any = PlainMechanism  # as where nobody runs mypy
    with pytest.raises(TypeError, match="query 'x': Laplace noise needs its sensitivity in l1"):
        plain(Query("x", _same, L2Sensitivity(1.0), ReplaceOne()), LaplaceNoise(1.0))
    query, laplace = cast("Any", RobustQuery), cast("Any", RobustLaplace)
    mechanism = laplace(query("y", _same, lambda zeta: L2Sensitivity(zeta), ReplaceOne(), ()), 1.0, 0.1)
    with pytest.raises(TypeError, match="query 'y': Laplace noise needs its sensitivity in l1"):
        _ = mechanism.robust_cost
    with pytest.raises(TypeError, match="in l1"):
        mechanism.under(Slickness(0.1, 5, ReplaceOne(), "test", ()))


def test_what_is_no_query_is_refused_where_it_is_made() -> None:
    query: Any = Query
    with pytest.raises(TypeError, match="adjacency"):
        query("x", _same, L1Sensitivity(1.0), "replace-one")
    with pytest.raises(TypeError, match="callable"):
        query("x", "len", L1Sensitivity(1.0), ReplaceOne())


@pytest.mark.parametrize("base", [PlainMechanism, RobustMechanism, RobustLaplace])
def test_a_subclass_is_never_priced_for_a_kernel_that_it_does_not_draw_from(base: type) -> None:
    with pytest.raises(TypeError, match=r"Proved: a mechanism's kernel is called its randomizer now"):
        type("Proved", (base,), {"kernel": LaplaceNoise(10.0)})
    assert issubclass(type("Ours", (base,), {"randomizers": ()}), base), "of its own"


@pytest.mark.parametrize("base", [PlainMechanism, RobustMechanism])
def test_what_else_a_subclass_does_when_it_is_made_is_done(base: type) -> None:
    class Counting:
        made: ClassVar[list[type]] = []

        def __init_subclass__(cls, **named: object) -> None:
            super().__init_subclass__(**named)
            Counting.made.append(cls)

    both = type("Both", (base, Counting), {})
    assert Counting.made == [both]
