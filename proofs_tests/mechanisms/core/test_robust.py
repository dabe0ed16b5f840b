"""The named robust mechanisms are `RobustMechanism` with a randomizer: the same costs, draws and entries."""

import copy
import functools
from typing import Any, TypeVar

import attrs
import numpy as np
import pytest

import mechanisms
from accountant import ReplaceOne
from mechanisms import (
    ExponentialChoice,
    FiniteMechanism,
    GammaNorm,
    GammaNormNoise,
    GaussianNoise,
    L1Sensitivity,
    LaplaceNoise,
    LeafLabelChoice,
    LeafLabels,
    NoisyMaxChoice,
    PermuteAndFlip,
    PermuteAndFlipChoice,
    PlainMechanism,
    Query,
    Randomizer,
    RobustGaussian,
    RobustLaplace,
    RobustMechanism,
    RobustSelection,
    SecureNoise,
    SeededNoise,
    WeightedExponential,
    WeightedNoisyMax,
)
from mechanisms.core.sensitivity import Sensitivity
from proofs_tests.support.mechanisms.weighted import Values, certificate, l1_vector, l2_vector, scores

V = TypeVar("V")
S = TypeVar("S", bound=Sensitivity)
R = TypeVar("R")
ZETA = 0.125
DATA = Values(np.array([0.5, 0.0, 1.0]), certificate())


def same(named: RobustMechanism[Values, V, S, R], general: RobustMechanism[Values, V, S, R]) -> None:
    """In cost, in the ledger under the older name, and in what one seed draws."""
    assert isinstance(named.noise, SeededNoise)
    assert (named.query.name, named.randomizer, named.zeta) == (general.query.name, general.randomizer, general.zeta)
    assert named.robust_cost == general.robust_cost
    first, second = named.under(certificate()), general.under(certificate())
    assert first.description == second.description
    assert first.description.mechanism == type(named).__name__
    np.testing.assert_array_equal(np.asarray(first.sample(DATA)), np.asarray(second.sample(DATA)))


def test_named_vectors_are_robust_mechanisms_with_a_randomizer() -> None:
    one, two, noise = l1_vector(), l2_vector(), functools.partial(SeededNoise, 1)
    same(RobustLaplace(one, 4.0, ZETA, noise()), RobustMechanism(one, LaplaceNoise(4.0), ZETA, noise()))
    same(RobustGaussian(two, 4.0, ZETA, noise()), RobustMechanism(two, GaussianNoise(4.0), ZETA, noise()))
    same(GammaNorm(two, 4.0, ZETA, noise()), RobustMechanism(two, GammaNormNoise(4.0), ZETA, noise()))
    same(LeafLabels(one, 4.0, ZETA, noise()), RobustMechanism(one, LeafLabelChoice(4.0), ZETA, noise()))


def test_named_selections_are_robust_selections_with_a_randomizer() -> None:
    query = scores()
    pairs: list[tuple[RobustSelection[Values], RobustSelection[Values]]] = [
        (
            WeightedExponential(query, 4.0, ZETA, SeededNoise(1)),
            RobustSelection(query, ExponentialChoice(4.0), ZETA, SeededNoise(1)),
        ),
        (
            WeightedNoisyMax(query, 4.0, ZETA, SeededNoise(1), 3),
            RobustSelection(query, NoisyMaxChoice(4.0, 3), ZETA, SeededNoise(1)),
        ),
        (
            PermuteAndFlip(query, 4.0, ZETA, SeededNoise(1)),
            RobustSelection(query, PermuteAndFlipChoice(4.0), ZETA, SeededNoise(1)),
        ),
    ]
    for named, general in pairs:
        same(named, general)
        certified = general.under(certificate())
        assert isinstance(certified, FiniteMechanism)
        laws = (certified.log_probabilities(DATA), named.under(certificate()).log_probabilities(DATA))
        np.testing.assert_array_equal(*laws)


def test_arguments_have_their_older_names_and_places() -> None:
    query = scores()
    by_name = WeightedNoisyMax(query=query, eta=1.0, zeta=ZETA, noise=SeededNoise(0), candidates=2)
    assert by_name.randomizer == NoisyMaxChoice(1.0, 2)
    assert RobustGaussian(query=l2_vector(), sigma=2.0, zeta=ZETA).randomizer.sigma == 2.0
    assert RobustLaplace(query=l1_vector(), scale=2.0, zeta=ZETA).randomizer.scale == 2.0
    assert GammaNorm(query=l2_vector(), scale=2.0, zeta=ZETA).randomizer.scale == 2.0
    assert isinstance(RobustMechanism(l1_vector(), LaplaceNoise(1.0), ZETA).noise, SecureNoise)
    assert isinstance(PermuteAndFlip(query=query, eta=1.0, zeta=ZETA).noise, SecureNoise)


@pytest.mark.parametrize(
    ("mechanism", "name", "value"),
    [
        (RobustLaplace(l1_vector(), 4.0, ZETA), "scale", 4.0),
        (RobustGaussian(l2_vector(), 5.0, ZETA), "sigma", 5.0),
        (WeightedExponential(scores(), 6.0, ZETA), "eta", 6.0),
        (WeightedNoisyMax(scores(), 6.0, ZETA, candidates=2), "candidates", 2),
    ],
)
def test_numbers_of_the_randomizer_are_still_read_from_the_mechanism(
    mechanism: object, name: str, value: float
) -> None:
    with pytest.warns(FutureWarning, match=rf"mechanism\.randomizer\.{name}"):
        assert getattr(mechanism, name) == value


def test_a_robust_mechanism_has_nothing_else_of_its_randomizer() -> None:
    mechanism: object = RobustLaplace(l1_vector(), 4.0, ZETA)
    for name in ("cost", "draw", "claims", "parameters", "log_probabilities"):
        assert not hasattr(mechanism, name)


def test_mechanisms_are_values() -> None:
    query, noise = l1_vector(), SecureNoise()
    mechanism = RobustLaplace(query, 4.0, ZETA, noise)
    assert mechanism == RobustLaplace(query, 4.0, ZETA, noise) != RobustLaplace(query, 5.0, ZETA, noise)
    assert hash(mechanism) == hash(copy.copy(mechanism))
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        mechanism.zeta = 1.0  # type: ignore[misc]  # the point of the test


def test_the_randomizer_is_still_given_and_read_as_the_kernel() -> None:
    made: Any = PlainMechanism
    query = Query("sum", np.asarray, L1Sensitivity(1.0), ReplaceOne(), ("laplace-dp",))
    with pytest.warns(FutureWarning, match="the parameter 'kernel' is called 'randomizer' now"):
        old = made(query, kernel=LaplaceNoise(2.0))
    assert old.cost == PlainMechanism(query, LaplaceNoise(2.0)).cost
    with pytest.warns(FutureWarning, match="the parameter 'kernel' is called 'randomizer' now"):
        assert old.kernel is old.randomizer


@pytest.mark.parametrize("name", ["Kernel", "FiniteKernel", "GaussianKernel", "ExponentialKernel"])
def test_classes_go_on_by_their_names_of_before(name: str) -> None:
    with pytest.warns(FutureWarning, match=f"mechanisms.{name} is mechanisms"):
        assert issubclass(getattr(mechanisms, name), Randomizer)


@pytest.mark.parametrize("base", [RobustGaussian, RobustMechanism, PlainMechanism])
def test_a_kernel_that_would_no_longer_be_drawn_from_is_refused(base: type) -> None:
    with pytest.raises(TypeError, match=r"Proved: a mechanism's kernel is called its randomizer now"):
        type("Proved", (base,), {"kernel": property(lambda self: GaussianNoise(10.0))})


def test_an_entry_names_the_class_that_somebody_gave_a_mechanism() -> None:
    class Ours(RobustGaussian[Values]):
        pass

    own = Ours(l2_vector(), 2.0, ZETA).under(certificate())
    general = RobustMechanism(l2_vector(), GaussianNoise(2.0), ZETA).under(certificate())
    assert (own.description.mechanism, general.description.mechanism) == ("Ours", "RobustGaussian")
