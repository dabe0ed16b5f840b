"""What the second opinion asks of dp-accounting, after known answers; and what it knows of Laplace noise by itself."""

import math
import sys
from types import SimpleNamespace

import dp_accounting
import mpmath
import numpy as np
import pytest
from dp_accounting import GaussianDpEvent, rdp
from dp_accounting.pld import privacy_loss_distribution
from dp_accounting.rdp import RdpAccountant

from accountant import GDP, PureDP
from accountant.arrays import FloatArray
from accountant.audit.second_opinion import extreme_pairs, peer, second_opinion
from accountant.audit.second_opinion.peer import PeerMissing, PeerReadsDifferently
from proofs_tests.support.ledgers.second_books import ZCDP_RULE, books


@pytest.mark.parametrize("epsilon", [1e-7, 1e-3, 0.1, 1.0, 6.0, 300.0])
def test_laplace_noise_is_what_its_definition_says(epsilon: float) -> None:
    """By mpmath from the densities e^{−|y|}/2 and e^{−|y − ε|}/2, for divergences, ρ and δ."""
    with mpmath.workdps(60):
        e = mpmath.mpf(epsilon)
        for order in (1.01, 2.0, 30.0):
            a = mpmath.mpf(order)
            parts = mpmath.exp((a - 1) * e) / 2, mpmath.exp(-a * e) / 2
            # In between the loss is l, with density e^{(l − ε)/2}/4.
            between = mpmath.exp(-e / 2) / 4 * 2 * mpmath.sinh((a - 0.5) * e) / (a - 0.5)
            true = mpmath.log(sum(parts) + between) / (a - 1)
            found = float(extreme_pairs.laplace_renyi(epsilon, np.array([order]))[0])
            assert found == pytest.approx(float(true), rel=1e-11)
        assert extreme_pairs.laplace_rho(epsilon) == pytest.approx(float(e + mpmath.exp(-e) - 1), rel=2e-7)
        for share in (-1.5, -1.0, -0.3, 0.0, 0.7, 0.999, 1.0, 1.2):
            x = share * e
            # Losses above x: all of them below −ε, none from ε on; P minus e^x·Q of where y < (ε − x)/2.
            cut = (e - x) / 2
            upper = 1 - mpmath.exp(-cut) / 2 if cut > 0 else mpmath.exp(cut) / 2
            lower = mpmath.exp(cut - e) / 2 if cut < e else 1 - mpmath.exp(e - cut) / 2
            true = 0 if share >= 1 else 1 - mpmath.exp(x) if share <= -1 else upper - mpmath.exp(x) * lower
            found = float(extreme_pairs.laplace_profile(epsilon, np.array([float(x)]))[0])
            assert found == pytest.approx(float(true), rel=1e-9, abs=1e-300)


def test_without_dp_accounting_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    for kind in (ImportError, ValueError):
        with pytest.raises(kind, match=r"pip install 'exchequer\[pld\]'"):
            second_opinion(books(ZCDP_RULE, [(GDP(0.1), 1)]).entries)
    assert issubclass(PeerMissing, ImportError)


@pytest.mark.parametrize("factor", [0.5, 2.0, 1.0 / math.sqrt(2.0), 1.01])
@pytest.mark.parametrize("name", ["GaussianDpEvent", "LaplaceDpEvent", "ZCDpEvent", "RandomizedResponseDpEvent"])
def test_a_peer_that_means_something_else_is_told_so(name: str, factor: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice the cost for the same event, or half of it, would accuse sound books, or let forged ones pass."""
    event = getattr(dp_accounting, name)
    monkeypatch.setattr(dp_accounting, name, lambda number, *more: event(number * factor, *more))
    with pytest.raises(PeerReadsDifferently, match="reads this differently"):
        second_opinion(books(ZCDP_RULE, [(GDP(0.1), 1)]).entries)


@pytest.mark.parametrize("name", ["from_gaussian_mechanism", "from_laplace_mechanism"])
def test_a_peer_whose_distributions_mean_something_else_is_told_so(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = getattr(privacy_loss_distribution, name)

    def other(scale: float, sensitivity: float = 1.0, **more: float) -> object:
        return theirs(0.5 * scale, sensitivity=sensitivity, **more)

    monkeypatch.setattr(privacy_loss_distribution, name, other)
    with pytest.raises(PeerReadsDifferently, match=r"δ at ε = 0"):
        second_opinion(books(ZCDP_RULE, [(GDP(0.1), 1)]).entries)


@pytest.mark.parametrize("factor", [0.5, 0.99, 1.01])
@pytest.mark.parametrize("name", ["get_epsilon_for_delta", "get_delta_for_epsilon", "compose", "self_compose"])
def test_a_peer_that_composes_or_reads_out_otherwise_is_told_so(
    name: str, factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever turns laws into a total; a composition that leaves one law out stands for one that goes wrong."""
    law = privacy_loss_distribution.PrivacyLossDistribution
    theirs = getattr(law, name)

    def other(self: object, number: object, *more: float) -> object:
        return self if name.endswith("compose") else factor * theirs(self, number, *more)

    entries = books(ZCDP_RULE, [(GDP(0.1), 1)]).entries
    assert second_opinion(entries).agrees
    monkeypatch.setattr(law, name, other)
    peer.forget()
    with pytest.raises(PeerReadsDifferently, match="reads this differently"):
        second_opinion(entries)


def test_another_meaning_of_replace_one_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """google/differential-privacy#464 would double a Gaussian under replace-one, where no Gaussian is asked for."""
    entries = books(ZCDP_RULE, [(GDP(0.1), 10), (PureDP(0.1), 3)]).entries
    before = [total.epsilon for total in second_opinion(entries).theirs]

    class Doubling(RdpAccountant):  # type: ignore[misc]  # untyped base
        def _maybe_compose(self, event: object, count: int, do_compose: bool) -> object:
            replaced = self._neighboring_relation is dp_accounting.NeighboringRelation.REPLACE_ONE
            if isinstance(event, GaussianDpEvent) and replaced:
                event = GaussianDpEvent(0.5 * event.noise_multiplier)
            return super()._maybe_compose(event, count, do_compose)

    doubled = Doubling([2.0], dp_accounting.NeighboringRelation.REPLACE_ONE).compose(GaussianDpEvent(1.0))
    assert doubled.rdp[0] == 4.0 * RdpAccountant([2.0]).compose(GaussianDpEvent(1.0)).rdp[0]
    monkeypatch.setattr(rdp, "RdpAccountant", Doubling)
    assert [total.epsilon for total in second_opinion(entries).theirs] == before
    monkeypatch.setattr(peer, "gaussian_curve", asked_of_replacements)
    peer.forget()
    with pytest.raises(PeerReadsDifferently, match="Gaussian"):  # as it used to be asked
        second_opinion(entries)


def asked_of_replacements(asked: SimpleNamespace, orders: FloatArray, mu: float, times: int) -> FloatArray:
    accountant = asked.RdpAccountant(list(orders), asked.NeighboringRelation.REPLACE_ONE)
    rdp: FloatArray = accountant.compose(asked.GaussianDpEvent(1.0 / mu), times).rdp
    return rdp
