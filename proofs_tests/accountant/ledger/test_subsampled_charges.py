"""Gaussians on Poisson samples in a ledger: where they are refused, and what reads them back."""

import datetime
import json
from pathlib import Path

import pytest

from accountant import (
    GDP,
    ZCDP,
    AddRemoveOne,
    AdjacencyMismatch,
    AdvancedComposition,
    ApproxDP,
    BasicComposition,
    GDPComposition,
    Ledger,
    Plan,
    ReplaceOne,
    SubsampledGaussian,
    UnsupportedCost,
    ZCDPComposition,
    verify,
)
from accountant.audit.report import report
from accountant.audit.second_opinion import second_opinion
from accountant.costs import cost_from_dict
from accountant.entries import Entry, chain, decode, encode

COST = SubsampledGaussian.of_noise(1.0, 0.01)
PLAN = Plan.of(COST, 200)


def opened(adjacency: AddRemoveOne | ReplaceOne | None = None) -> Ledger:
    return Ledger(ApproxDP(3.0, 1e-4), composition=BasicComposition(), adjacency=adjacency or AddRemoveOne())


def test_a_reservation_is_charged_at_its_price_and_every_reader_understands_it(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'team.db'}"
    with (
        Ledger.open(url, ApproxDP(3.0, 1e-4), composition=BasicComposition(), adjacency=AddRemoveOne()) as ledger,
        ledger.reserve(PLAN, adjacency=AddRemoveOne(), delta=1e-5),
    ):
        pass
    with Ledger.open(url) as ledger:
        spent = ledger.spent
        assert spent == PLAN.price(1e-5).best
        assert ledger.verify().sound
        assert "200 x plan, subsampled-gaussian mu 1, sampling_rate 0.01 each" in str(ledger.statement())
        assert "claims      basic, pld, subsampled-gaussian" in str(ledger.statement())
        assert any("'subsampled-gaussian'" in error for error in verify(ledger.entries, claims=("basic", "pld")).errors)
        assert second_opinion(ledger.entries).agrees
        page = report(
            ledger.entries,
            verification=ledger.verify(),
            claims=None,
            second_opinion=None,
            title="Samples",
            made=datetime.datetime.now(datetime.UTC),
        )
        assert "subsampled-gaussian" in page
        assert [read.epsilon for read in ledger.odometer().other_rules(1e-5) if read.name == "pld"] == [spent.epsilon]
        entry = ledger.entries[1]
        assert encode(1, decode(entry)) == entry.line


def test_under_any_other_adjacency_it_is_refused_and_nothing_is_charged() -> None:
    ledger = opened(ReplaceOne())
    for delta in (0.0, 1e-5):
        with pytest.raises((AdjacencyMismatch, UnsupportedCost)):
            ledger.reserve(PLAN, adjacency=ReplaceOne(), delta=delta)
    with pytest.raises(AdjacencyMismatch, match="add-remove-one only"):
        ledger.reserve(PLAN, adjacency=ReplaceOne(), delta=1e-5)
    with pytest.raises(AdjacencyMismatch, match="add-remove-one only"):
        ledger.affords(PLAN, delta=1e-5)
    assert len(ledger.entries) == 1


def test_the_remedy_under_replace_one_is_what_a_replaced_record_costs() -> None:
    """Without the sampling one that leaves and one that comes: twice the μ."""
    with pytest.raises(AdjacencyMismatch, match=r"charge GDP\(mu=2\.0\)"):
        opened(ReplaceOne()).affords(PLAN, delta=1e-5)
    with pytest.raises(AdjacencyMismatch, match=r"promises add-remove-one(?m:$)"):
        opened(ReplaceOne()).affords(Plan.of(SubsampledGaussian(1e308, 0.5)), delta=1e-5)


def test_a_plan_that_names_its_adjacency_is_refused_under_another() -> None:
    plan = Plan(Plan.of(GDP(0.25), 3).steps, adjacency=AddRemoveOne())
    assert plan.last(2).adjacency == AddRemoveOne()
    with pytest.raises(AdjacencyMismatch, match="this plan's costs hold under add-remove-one"):
        opened(ReplaceOne()).reserve(plan, adjacency=ReplaceOne(), delta=1e-5)
    with opened().reserve(plan, adjacency=AddRemoveOne(), delta=1e-5):
        pass
    with pytest.raises(ValueError, match=r"adjacency: .* add-remove-one only"):
        Plan(PLAN.steps, adjacency=ReplaceOne())


def test_verify_finds_one_that_was_written_under_another_adjacency() -> None:
    ledger = opened()
    with ledger.reserve(PLAN, adjacency=AddRemoveOne(), delta=1e-5):
        pass
    lines = [json.loads(entry.line) for entry in ledger.entries]
    for line in lines[:2]:
        line["adjacency"] = {"name": "replace-one"}
    forged: list[Entry] = []
    for line in lines:
        text = json.dumps(line, sort_keys=True, separators=(",", ":"))
        before = forged[-1].digest if forged else chain.GENESIS
        forged.append(Entry(len(forged), line["kind"], text, chain.digest_of(before, text)))
    errors = verify(forged).errors
    assert any("add-remove-one only" in error for error in errors)


def test_rules_that_have_a_sound_reading_take_it_without_the_sampling_and_others_name_the_remedy() -> None:
    assert ZCDPComposition().amount(COST) == ZCDPComposition().amount(GDP(1.0))
    assert GDPComposition().amount(COST) == GDPComposition().amount(GDP(1.0))
    assert AdvancedComposition(1e-6).amount(COST) == AdvancedComposition(1e-6).amount(GDP(1.0))
    nothing = SubsampledGaussian(1.0, 0.0)
    assert all(
        not rule.amount(nothing).loss_units for rule in (BasicComposition(), ZCDPComposition(), GDPComposition())
    )
    with pytest.raises(UnsupportedCost, match="reserve a Plan of all its rounds at a delta"):
        BasicComposition().amount(COST)
    ledger = Ledger(ZCDP(200.0), composition=ZCDPComposition(), adjacency=AddRemoveOne())
    with ledger.reserve(PLAN, adjacency=AddRemoveOne()):
        assert ledger.spent == ZCDP(200 * GDP(1.0).to_zcdp().rho)
    assert second_opinion(ledger.entries).agrees


def test_its_record_is_read_back_and_is_no_budget() -> None:
    assert cost_from_dict(COST.as_dict()) == COST
    assert COST.as_dict() == {"kind": "subsampled-gaussian", "mu": 1.0, "sampling_rate": 0.01}
    ledger = opened()
    line = json.loads(ledger.entries[0].line)
    line["budget"] = COST.as_dict()
    text = json.dumps(line, sort_keys=True, separators=(",", ":"))
    with pytest.raises(ValueError, match="is not a budget"):
        decode(Entry(0, "opened", text, chain.digest_of(chain.GENESIS, text)))
