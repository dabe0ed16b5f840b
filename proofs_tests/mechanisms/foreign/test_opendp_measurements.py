"""OpenDP's own measurements on a ledger: cost by measure, adjacency by metric, charged before they run."""

from collections.abc import Callable
from typing import Any

import opendp.prelude as opendp_prelude
import pytest

from accountant import (
    ZCDP,
    AddRemoveOne,
    Adjacency,
    AdjacencyMismatch,
    ApproxDP,
    BasicComposition,
    BudgetExceeded,
    FeatureValue,
    GDPComposition,
    Ledger,
    PureDP,
    ReplaceOne,
    ZCDPComposition,
)
from accountant.audit.second_opinion import second_opinion
from accountant.costs import curves
from accountant.entries import Charged, decode
from mechanisms.foreign import from_opendp
from proofs_tests.claims import known

dp: Any = opendp_prelude  # parts of it have no types
dp.enable_features("contrib", "honest-but-curious")

DATA = [1, 2, 9, 10, 4]


def domain(size: int | None = None) -> Any:
    return dp.vector_domain(dp.atom_domain(bounds=(0, 10)), size=size)


def summed(noise: Any, metric: Any = None, size: int | None = None) -> Any:
    return (domain(size), metric or dp.symmetric_distance()) >> dp.t.then_sum() >> noise


def opened(budget: Any = None, adjacency: Adjacency | None = None) -> Ledger:
    return Ledger(budget or ApproxDP(3.0, 1e-5), composition=BasicComposition(), adjacency=adjacency or AddRemoveOne())


def test_a_measurement_is_charged_as_its_map_says_and_the_entry_says_whose_word_that_is() -> None:
    ledger = opened()
    value = ledger.release(from_opendp(summed(dp.m.then_laplace(5.0)), adjacency=AddRemoveOne()), ledger.protect(DATA))
    assert isinstance(value, int)
    assert ledger.spent == ApproxDP(2.0, 0.0)
    record = decode(ledger.entries[1])
    assert isinstance(record, Charged)
    assert record.mechanism is not None
    said = dict(record.mechanism.parameters)
    assert str(said["trust"]).startswith("cost declared by OpenDP ")
    assert "privacy map" in str(said["priced by"])
    assert record.mechanism.norm == "SymmetricDistance"
    assert [entry.kind for entry in ledger.entries] == ["opened", "charged", "released"]
    verification = ledger.verify()
    assert verification.sound
    assert any("no source of this library" in note for note in verification.notes)
    assert "declared-elsewhere" in known()
    assert second_opinion(ledger.entries).unknown


def test_nothing_runs_that_the_ledger_cannot_pay() -> None:
    ran: list[object] = []

    def noisy(data: Any) -> int:
        ran.append(data)
        return 0

    user = dp.m.make_user_measurement(
        domain(), dp.symmetric_distance(), dp.max_divergence(), noisy, lambda d_in: 2.0 * d_in, TO=dp.i32
    )
    ledger = opened()
    mechanism, data = from_opendp(user, adjacency=AddRemoveOne()), ledger.protect(DATA)
    ledger.release(mechanism, data)
    with pytest.raises(BudgetExceeded):
        ledger.release(mechanism, data)
    assert len(ran) == 1


@pytest.mark.parametrize(
    ("metric", "adjacency", "times"),
    [
        (dp.symmetric_distance, AddRemoveOne(), 1),
        (dp.symmetric_distance, ReplaceOne(), 2),
        (dp.insert_delete_distance, AddRemoveOne(), 1),
        (dp.insert_delete_distance, ReplaceOne(), 2),
    ],
)
def test_the_adjacency_says_how_far_apart_neighbours_are(
    metric: Callable[[], Any], adjacency: Adjacency, times: int
) -> None:
    measurement = dp.m.make_user_measurement(
        domain(), metric(), dp.max_divergence(), lambda _: 0, lambda d_in: 0.25 * d_in, TO=dp.i32
    )
    assert from_opendp(measurement, adjacency=adjacency).cost == PureDP(0.25 * times)
    assert from_opendp(measurement, adjacency=adjacency, distance=6).cost == PureDP(1.5)
    with pytest.raises(ValueError, match="neighbours under"):
        from_opendp(measurement, adjacency=adjacency, distance=times - 1)


@pytest.mark.parametrize("metric", [dp.change_one_distance, dp.hamming_distance])
def test_metrics_of_replaced_records_are_for_replace_one(metric: Callable[[], Any]) -> None:
    measurement = dp.m.make_user_measurement(
        domain(5), metric(), dp.max_divergence(), lambda _: 0, lambda d_in: 0.25 * d_in, TO=dp.i32
    )
    assert from_opendp(measurement, adjacency=ReplaceOne()).cost == PureDP(0.25)
    with pytest.raises(ValueError, match=f"{metric().type}: no distance in it covers add-remove-one"):
        from_opendp(measurement, adjacency=AddRemoveOne())
    with pytest.raises(ValueError, match="no distance in it covers feature-value"):
        from_opendp(measurement, adjacency=FeatureValue(0))


def test_a_known_size_is_no_free_release_under_add_remove_one() -> None:
    """OpenDP's map is right: no two sets of five records are one apart. A ledger would have charged 0 for all of it."""
    measurement = summed(dp.m.then_laplace(5.0), size=5)
    assert measurement.map(1) == 0.0
    with pytest.raises(ValueError, match="the number of records is fixed"):
        from_opendp(measurement, adjacency=AddRemoveOne())
    assert from_opendp(measurement, adjacency=ReplaceOne()).cost == PureDP(2.0)


def test_measures_become_kinds_of_cost() -> None:
    gaussian = summed(dp.m.then_gaussian(10.0))
    assert from_opendp(gaussian, adjacency=AddRemoveOne()).cost == ZCDP(0.5)
    assert from_opendp(dp.c.make_approximate(gaussian), adjacency=AddRemoveOne()).cost == ZCDP(0.5)
    pure = summed(dp.m.then_laplace(10.0))
    assert from_opendp(dp.c.make_approximate(pure), adjacency=AddRemoveOne()).cost == ApproxDP(1.0, 0.0)
    curve = dp.c.make_zCDP_to_approxDP(gaussian)
    read = from_opendp(curve, adjacency=AddRemoveOne(), delta=1e-6).cost
    assert isinstance(read, ApproxDP)
    # OpenDP converts ρ to (ε, δ) by the same theorem: within 1 % of ours, and its own profile confirms it.
    assert read.epsilon == pytest.approx(curves.zcdp_epsilon(0.5, 1e-6), rel=0.01)
    assert curve.map(1).delta(read.epsilon) <= 1e-6 < curve.map(1).delta(0.9 * read.epsilon)
    fixed = dp.c.make_fix_delta(curve, 1e-6)
    assert from_opendp(fixed, adjacency=AddRemoveOne()).cost == ApproxDP(*fixed.map(1))
    leaky = dp.m.make_user_measurement(
        domain(),
        dp.symmetric_distance(),
        dp.approximate(dp.zero_concentrated_divergence()),
        lambda _: 0,
        lambda d_in: (0.1 * d_in, 1e-7 * d_in),
        TO=dp.i32,
    )
    cost = from_opendp(leaky, adjacency=AddRemoveOne(), delta=1e-6).cost
    assert isinstance(cost, ApproxDP)
    assert cost.delta == 1e-6
    assert curves.zcdp_epsilon(0.1, 9e-7) <= cost.epsilon * (1 + 1e-9)
    with pytest.raises(ValueError, match="spends 1e-07 by itself"):
        from_opendp(leaky, adjacency=AddRemoveOne(), delta=1e-7)


def test_what_has_no_cost_here_is_refused_by_name() -> None:
    gaussian, pure = summed(dp.m.then_gaussian(10.0)), summed(dp.m.then_laplace(10.0))
    with pytest.raises(ValueError, match=r"read at a δ; give one"):
        from_opendp(dp.c.make_zCDP_to_approxDP(gaussian), adjacency=AddRemoveOne())
    with pytest.raises(ValueError, match="has no δ to choose"):
        from_opendp(pure, adjacency=AddRemoveOne(), delta=1e-6)
    number = dp.m.make_laplace(dp.atom_domain(T=dp.i32), dp.absolute_distance(dp.i32), 1.0)
    with pytest.raises(ValueError, match=r"input metric AbsoluteDistance.*Chain the transformation"):
        from_opendp(number, adjacency=AddRemoveOne())
    renyi = dp.m.make_user_measurement(
        domain(),
        dp.symmetric_distance(),
        dp.renyi_divergence(),
        lambda _: 0,
        lambda d_in: lambda order: order,
        TO=dp.i32,
    )
    with pytest.raises(ValueError, match="output measure RenyiDivergence"):
        from_opendp(renyi, adjacency=AddRemoveOne())
    with pytest.raises(TypeError, match="expected one of OpenDP's measurements, got Transformation"):
        from_opendp(dp.t.make_sum(domain(), dp.symmetric_distance()), adjacency=AddRemoveOne())


def test_data_outside_the_domain_is_refused_before_the_charge() -> None:
    ledger = opened()
    mechanism = from_opendp(summed(dp.m.then_laplace(5.0)), adjacency=AddRemoveOne())
    with pytest.raises(ValueError, match="Nothing was charged"):
        ledger.release(mechanism, ledger.protect([1, 99]))
    assert len(ledger.entries) == 1


def test_the_ledger_must_promise_the_same_adjacency() -> None:
    ledger = opened(adjacency=ReplaceOne())
    with pytest.raises(AdjacencyMismatch):
        ledger.release(from_opendp(summed(dp.m.then_laplace(5.0)), adjacency=AddRemoveOne()), ledger.protect(DATA))


def test_a_concentrated_one_draws_on_a_ledger_of_rho() -> None:
    ledger = Ledger(ZCDP(0.5), composition=ZCDPComposition(), adjacency=AddRemoveOne())
    ledger.release(from_opendp(summed(dp.m.then_gaussian(10.0)), adjacency=AddRemoveOne()), ledger.protect(DATA))
    assert ledger.spent == ZCDP(0.5)
    with pytest.raises(TypeError, match="GDP costs only"):
        GDPComposition().amount(from_opendp(summed(dp.m.then_gaussian(10.0)), adjacency=AddRemoveOne()).cost)


# --- what is not what it says -------------------------------------------------------------------------------------


def constant(input_domain: Any, metric: Any, measure: Any, loss: Callable[[Any], Any]) -> Any:
    return dp.m.make_user_measurement(input_domain, metric, measure, lambda _: 0, loss, TO=dp.i32)


def test_parts_of_ones_own_do_not_pass_by_name() -> None:
    """Their texts are those of OpenDP's own."""
    metric, measure = dp.user_distance("SymmetricDistance()"), dp.user_divergence("MaxDivergence")
    own = dp.user_domain("VectorDomain(AtomDomain(T=i32))", lambda _: True)
    symmetric = dp.symmetric_distance()
    with pytest.raises(ValueError, match="input metric ExtrinsicDistance"):
        from_opendp(constant(domain(), metric, dp.max_divergence(), lambda _: 0.1), adjacency=AddRemoveOne())
    with pytest.raises(ValueError, match="output measure ExtrinsicDivergence"):
        from_opendp(constant(domain(), symmetric, measure, lambda _: 0.1), adjacency=AddRemoveOne())
    with pytest.raises(ValueError, match="of type ExtrinsicDomain"):
        from_opendp(constant(own, symmetric, dp.max_divergence(), lambda _: 0.1), adjacency=AddRemoveOne())
    nested = dp.vector_domain(dp.user_domain("AtomDomain(T=i32)", lambda _: True))
    with pytest.raises(ValueError, match="ExtrinsicDomain"):
        from_opendp(constant(nested, symmetric, dp.max_divergence(), lambda _: 0.1), adjacency=AddRemoveOne())


def test_data_frames_whose_group_lengths_may_be_public_are_refused() -> None:
    frame = dp.lazyframe_domain([dp.series_domain("a", dp.atom_domain(T=dp.i32))])
    measurement = constant(frame, dp.symmetric_distance(), dp.max_divergence(), lambda _: 0.1)
    with pytest.raises(ValueError, match=r"of type LazyFrameDomain.*declared_elsewhere"):
        from_opendp(measurement, adjacency=AddRemoveOne())


@pytest.mark.parametrize(
    ("measure", "loss"),
    [
        (dp.max_divergence, lambda _: 0.0),
        (dp.max_divergence, lambda d_in: 0.0 if d_in == 1 else 1.0),
        (dp.zero_concentrated_divergence, lambda _: 0.0),
        (lambda: dp.approximate(dp.max_divergence()), lambda _: (0.0, 0.0)),
    ],
)
def test_a_loss_of_nothing_between_neighbours_is_refused(
    measure: Callable[[], Any], loss: Callable[[Any], Any]
) -> None:
    measurement = constant(domain(), dp.symmetric_distance(), measure(), loss)
    with pytest.raises(ValueError, match="gives a loss of 0 at distance 1"):
        from_opendp(measurement, adjacency=AddRemoveOne())


@pytest.mark.parametrize(
    ("loss", "named"),
    [
        (lambda far: 1.0 if far < 2 else 0.125, "0.125 at distance 2 and 1.0 at distance 1"),
        (lambda far: 1.0 / (far - 1), "no loss at distance 2: OpenDPException"),
    ],
)
def test_a_map_that_falls_or_fails_is_refused(loss: Any, named: str) -> None:
    """Neighbours that are replaced are two steps apart, and may be no easier to tell apart than at one."""
    wrong = dp.m.make_user_measurement(
        domain(), dp.symmetric_distance(), dp.max_divergence(), lambda _: 0, loss, TO=dp.i32
    )
    with pytest.raises(ValueError, match=named):
        from_opendp(wrong, adjacency=ReplaceOne())


@pytest.mark.skipif(not hasattr(dp.c, "make_adaptive_composition"), reason="of OpenDP 0.14 and later")
def test_what_is_asked_on_the_way_is_charged_before_it_is_asked() -> None:
    """An adaptive composition costs all that its queryable will ever answer; beyond its distance there is no map."""
    both = dp.c.make_adaptive_composition(
        input_domain=domain(),
        input_metric=dp.symmetric_distance(),
        output_measure=dp.max_divergence(),
        d_in=1,
        d_mids=[2.0, 0.5],
    )
    ledger = opened()
    asked = ledger.release(from_opendp(both, adjacency=AddRemoveOne()), ledger.protect(DATA))
    assert ledger.spent == ApproxDP(2.5, 0.0)
    asked(summed(dp.m.then_laplace(5.0)))
    assert ledger.spent == ApproxDP(2.5, 0.0)
    with pytest.raises(ValueError, match="no loss at distance 2"):
        from_opendp(both, adjacency=ReplaceOne())
    odometer = dp.c.make_fully_adaptive_composition(domain(), dp.symmetric_distance(), dp.max_divergence())
    with pytest.raises(TypeError, match="one of OpenDP's measurements, got Odometer"):
        from_opendp(odometer, adjacency=AddRemoveOne())  # its loss is not known before


def test_a_curve_of_nothing_is_refused_and_one_of_little_is_not() -> None:
    symmetric, concentrated = dp.symmetric_distance(), dp.zero_concentrated_divergence()
    nothing = dp.c.make_zCDP_to_approxDP(constant(domain(), symmetric, concentrated, lambda _: 0.0))
    with pytest.raises(ValueError, match="gives a loss of 0 at distance 1"):
        from_opendp(nothing, adjacency=AddRemoveOne(), delta=1e-6)
    little = dp.c.make_zCDP_to_approxDP(constant(domain(), symmetric, concentrated, lambda _: 1e-9))
    assert from_opendp(little, adjacency=AddRemoveOne(), delta=0.01).cost == ApproxDP(0.0, 0.01)


def test_a_small_chance_of_everything_is_a_cost() -> None:
    leaky = constant(domain(), dp.symmetric_distance(), dp.approximate(dp.max_divergence()), lambda _: (0.0, 1e-7))
    assert from_opendp(leaky, adjacency=AddRemoveOne()).cost == ApproxDP(0.0, 1e-7)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("data", [["a secret"], [1, "a secret"], {"a": "secret"}, [2**40], None])
def test_no_warning_and_no_error_shows_protected_data(data: Any, capfd: pytest.CaptureFixture[str]) -> None:
    ledger = opened()
    mechanism = from_opendp(summed(dp.m.then_laplace(5.0)), adjacency=AddRemoveOne())
    with pytest.raises(ValueError, match="Nothing was charged") as refused:
        ledger.release(mechanism, ledger.protect(data))
    assert "secret" not in repr(refused.value)
    assert refused.value.__context__ is None
    assert "secret" not in "".join(capfd.readouterr())
