"""Foreign spends on a ledger: all with one entry or none, once, as somebody's word, and added up with the rest."""

import datetime
import html
import json
import threading
from pathlib import Path
from typing import Any

import opendp.prelude as opendp_prelude
import pytest

from accountant import (
    GDP,
    ZCDP,
    AddRemoveOne,
    AdjacencyMismatch,
    ApproxDP,
    BasicComposition,
    BudgetExceeded,
    Composition,
    GDPComposition,
    Ledger,
    Plan,
    PureDP,
    ReplaceOne,
    Step,
    SubsampledGaussian,
    UnsupportedCost,
    ZCDPComposition,
)
from accountant.audit.report import report
from accountant.audit.second_opinion import second_opinion
from mechanisms import GaussianNoise, L2Sensitivity, PlainMechanism, Query
from mechanisms.foreign import ForeignSpend, declared_elsewhere, from_opendp, plan_of_opacus, read_spends, record_spends

dp: Any = opendp_prelude  # parts of it have no types
dp.enable_features("contrib", "honest-but-curious")

DIGEST = "0" * 63 + "1"


def spend(*steps: Step, delta: float | None = None, adjacency: AddRemoveOne | ReplaceOne | None = None) -> ForeignSpend:
    return ForeignSpend(Plan(steps), adjacency or AddRemoveOne(), "somebody's 1.0", "a sum", "2026-01-31", delta)


def opened(epsilon: float = 2.0) -> Ledger:
    return Ledger(ApproxDP(epsilon, 1e-5), composition=BasicComposition(), adjacency=AddRemoveOne())


def test_all_spends_are_one_entry_that_says_whose_word_they_are() -> None:
    ledger = opened()
    spends = [spend(Step(PureDP(0.25), 3)), spend(Step(GDP(0.1), 1), delta=1e-6)]
    found = record_spends(ledger, spends, declared_by="Data team", digest=DIGEST, source="mail of May 3")
    price = Plan.of(GDP(0.1)).price(1e-6).best
    assert (found.entry, found.spends) == (1, 2)
    assert found.spent == ledger.spent
    assert isinstance(found.spent, ApproxDP)
    assert found.spent.epsilon == pytest.approx(0.75 + price.epsilon)
    assert found.spent.delta == 1e-6
    assert [entry.kind for entry in ledger.entries] == ["opened", "charged", "released"]
    assert all(word in ledger.entries[1].line for word in (DIGEST, "mail of May 3", "cost declared by Data team"))
    verification = ledger.verify()
    assert verification.verdict == "sound"
    assert any("taken at its word: cost declared by Data team, not checked" in note for note in verification.notes)
    assert "declared by Data team, not checked" in str(ledger.statement())
    assert "a sum of somebody's 1.0" in ledger.entries[2].line


def test_whose_word_the_rounds_of_a_plan_cost_is_said_as_well() -> None:
    """Of a plan that was announced as nothing, only what was released says it."""
    ledger = opened()
    trained = declared_elsewhere(len, cost=PureDP(0.5), adjacency=AddRemoveOne(), library="theirs 1", name="a fit")
    with ledger.reserve(Plan.of(PureDP(0.5), 2), adjacency=AddRemoveOne()) as rounds:
        rounds.release(trained, ledger.protect([1]))
    assert any("taken at its word: cost declared by theirs 1" in note for note in ledger.verify().notes)


def test_the_same_file_is_charged_once_unless_it_happened_twice() -> None:
    ledger = opened()
    once = [spend(Step(PureDP(0.25), 1))]
    record_spends(ledger, once, declared_by="A", digest=DIGEST)
    with pytest.raises(ValueError, match="imported before, with entry 1"):
        record_spends(ledger, once, declared_by="somebody else", digest=DIGEST)
    assert len(ledger.entries) == 3
    record_spends(ledger, once, declared_by="A", digest="f" * 64)
    record_spends(ledger, once, declared_by="A", digest=DIGEST, again=True)
    assert ledger.spent == ApproxDP(0.75, 0.0)


def test_of_imports_at_the_same_moment_one_is_charged(tmp_path: Path) -> None:
    """Both have looked for the file before either is charged: threads that meet there, each with the ledger open."""
    url, threads = f"sqlite:///{tmp_path}/study.db", 4
    Ledger.open(url, ApproxDP(9.0, 1e-5), composition=BasicComposition(), adjacency=AddRemoveOne()).close()
    together, said = threading.Barrier(threads), list[str]()

    class Late(ForeignSpend):
        def owed(self, rule: Composition, delta: float | None) -> Plan:
            together.wait(60.0)
            return super().owed(rule, delta)

    def imports() -> None:
        with Ledger.open(url) as ledger:
            one = Late(Plan.of(PureDP(1.0)), AddRemoveOne(), "somebody's 1.0", "a sum")
            try:
                said.append(f"entry {record_spends(ledger, [one], declared_by='A', digest=DIGEST).entry}")
            except ValueError as error:
                said.append(str(error))

    running = [threading.Thread(target=imports) for _ in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    with Ledger.open(url) as ledger:
        assert ledger.spent == ApproxDP(1.0, 0.0)
        assert ledger.verify().verdict == "sound"
        kinds = [str(entry.kind) for entry in ledger.entries]
    assert (kinds.count("charged"), kinds.count("returned"), kinds.count("released")) == (threads, threads - 1, 1)
    assert min(said) == "entry 1"
    assert all("imported before, with entry 1" in each for each in sorted(said)[1:])


def test_nothing_is_charged_where_one_spend_cannot_be() -> None:
    ledger, good = opened(), spend(Step(PureDP(0.25), 1))
    with pytest.raises(UnsupportedCost, match=r"spends\[1\] \(a sum of somebody's 1\.0\).*name a delta"):
        record_spends(ledger, [good, spend(Step(GDP(1.0), 1))], declared_by="A", digest=DIGEST)
    replaced = spend(Step(PureDP(0.1), 1), adjacency=ReplaceOne())
    with pytest.raises(AdjacencyMismatch, match=r"spends\[1\].*was declared under replace-one"):
        record_spends(ledger, [good, replaced], declared_by="A", digest=DIGEST)
    with pytest.raises(BudgetExceeded):
        record_spends(ledger, [good, spend(Step(PureDP(0.25), 8))], declared_by="A", digest=DIGEST)
    with pytest.raises(ValueError, match="calls; an entry holds"):
        record_spends(ledger, [spend(Step(PureDP(0.0), 10**7))], declared_by="A", digest=DIGEST)
    for wrong in ("", " ", "x" * 201):
        with pytest.raises(ValueError, match="declared_by"):
            record_spends(ledger, [good], declared_by=wrong, digest=DIGEST)
    with pytest.raises(ValueError, match="expected 1 to"):
        record_spends(ledger, [], declared_by="A", digest=DIGEST)
    assert len(ledger.entries) == 1


def test_rules_that_take_a_cost_take_it_as_it_is() -> None:
    for rule, budget in ((ZCDPComposition(), ZCDP(9.0)), (GDPComposition(), GDP(9.0))):
        ledger = Ledger(budget, composition=rule, adjacency=AddRemoveOne())
        record_spends(ledger, [spend(Step(GDP(0.5), 4))], declared_by="A", digest=DIGEST)
        assert ledger.remaining == rule.ceiling(budget).minus(rule.amount(GDP(1.0)))
    ledger = Ledger(ZCDP(9.0), composition=ZCDPComposition(), adjacency=AddRemoveOne())
    with pytest.raises(UnsupportedCost, match="implies no ρ"):
        record_spends(ledger, [spend(Step(ApproxDP(0.1, 1e-6), 1))], declared_by="A", digest=DIGEST)


# --- one ledger for all -------------------------------------------------------------------------------------------

HISTORY = [(1.0, 0.01, 1000)]


def own_sum() -> PlainMechanism[Any, Any, Any, Any]:
    query: Query[Any, Any, L2Sensitivity] = Query(
        "our sum", lambda data: [float(sum(data))], L2Sensitivity(1.0), AddRemoveOne()
    )
    return PlainMechanism(query, GaussianNoise(4.0))


def mixed(ledger: Ledger, tmp_path: Path, delta: float | None) -> Ledger:
    """A sum of ours, a sum of OpenDP, and a training that Opacus declares."""
    data = ledger.protect([1, 0, 1])
    bits = dp.vector_domain(dp.atom_domain(bounds=(0, 1)))
    theirs = from_opendp(
        (bits, dp.symmetric_distance()) >> dp.t.then_sum() >> dp.m.then_laplace(4.0), adjacency=AddRemoveOne()
    )
    ledger.release(theirs, data)
    ours = own_sum()
    plan = Plan.of(ours.cost)
    with ledger.reserve(plan, adjacency=AddRemoveOne(), delta=delta or 0.0, mechanism=ours.description) as rounds:
        rounds.release(ours, data)
    path = tmp_path / "history.json"
    path.write_text(json.dumps({"history": HISTORY, "mechanism": "rdp"}))
    found = read_spends(path, adjacency=ledger.adjacency)
    record_spends(ledger, found.spends, declared_by="ML team", digest=found.digest, source=path.name, delta=delta)
    return ledger


def test_one_statement_and_one_report_of_opendp_opacus_and_ours(tmp_path: Path) -> None:
    ledger = mixed(opened(9.0), tmp_path, 1e-6)
    parts = [
        PureDP(0.25).to_approx(),
        Plan.of(GDP(0.25)).price(1e-6).best,
        plan_of_opacus(HISTORY).price(1e-6).best,
    ]
    spent = ledger.spent
    assert isinstance(spent, ApproxDP)
    assert spent.epsilon == pytest.approx(sum(part.epsilon for part in parts))
    assert spent.delta == pytest.approx(2e-6)
    assert ledger.verify().verdict == "sound"
    assert second_opinion(ledger.entries).agrees
    page = report(
        ledger.entries,
        verification=ledger.verify(),
        claims=None,
        second_opinion=None,
        title="One ledger for all",
        made=datetime.datetime.now(datetime.UTC),
    )
    for text in (html.unescape(page), str(ledger.statement())):
        assert "measurement of OpenDP" in text
        assert "DP-SGD of Opacus (rdp accountant), declared by ML team, not checked" in text
        assert "declared-elsewhere" in text
    assert "our sum" in page


def test_what_all_of_it_costs_by_each_rule(tmp_path: Path) -> None:
    """Under zCDP the sample counts without its sampling; priced as one plan, which it was not, it would be far less."""
    rho = 0.25 * 0.25 / 2.0
    ledger = Ledger(ZCDP(2000.0), composition=ZCDPComposition(), adjacency=AddRemoveOne())
    mixed(ledger, tmp_path, None)
    spent = ledger.spent
    assert isinstance(spent, ZCDP)
    assert spent.rho == pytest.approx(PureDP(0.25).to_zcdp().rho + rho + 500.0)
    read = {each.name: each.epsilon for each in ledger.odometer().other_rules(1e-5)}
    steps = [Step(PureDP(0.25), 1), Step(GDP(0.25), 1), Step(SubsampledGaussian.of_noise(1.0, 0.01), 1000)]
    truth = Plan(steps).route("pld", 1e-5)
    assert truth is not None
    assert read["pld"] == pytest.approx(truth, rel=1e-6)
    assert read["basic"] is None
    assert truth < 3.0
