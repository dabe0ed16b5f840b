"""Books that promise nothing: they take what no finite budget pays for, and nobody takes them for private ones."""

import hashlib
import io
import json
import math
import operator
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant import (
    GDP,
    ZCDP,
    AdvancedComposition,
    ApproxDP,
    BasicComposition,
    Budget,
    Composition,
    Cost,
    Entry,
    Ledger,
    NoBound,
    NoConversion,
    NotSpendable,
    Plan,
    PureDP,
    ReplaceOne,
    Step,
    SubBudgetRefused,
    Unbounded,
    UnsupportedBudget,
    UnsupportedCost,
    ZCDPComposition,
)
from accountant.audit.model_claims import ModelClaim
from accountant.audit.plain_language import as_approx, readings
from accountant.audit.saved_models import compare_model
from accountant.audit.second_opinion import second_opinion
from accountant.audit.second_opinion.peer_totals import Parts
from accountant.audit.statement import UNBOUNDED, Statement
from accountant.audit.verification import Verifier, verify
from accountant.composition.calibration import largest_eta
from accountant.costs.cost_kinds import KINDS, cost_from_dict
from accountant.entries.chain import GENESIS, digest_of
from accountant.entries.codec import decode
from accountant.entries.entry_kinds import Charged, Checkpoint
from accountant.entries.export import read_export, write_export
from accountant.entries.state import State
from exchequer.prices import pricing_rules
from mechanisms.selection.private_selection import selection_cost
from mechanisms.selection.stopping import PoissonStopping
from proofs_tests.harness.divergence import measured
from proofs_tests.harness.neighbours import Pair
from proofs_tests.harness.statistical import lower_bounds
from proofs_tests.mutants.mutant import smaller
from proofs_tests.support.ledgers.doubles import RandomizedResponse
from proofs_tests.support.ledgers.ledger_runs import CAVEATS, ended, record, refused, run
from proofs_tests.support.ledgers.ledger_runs import folder as folder
from proofs_tests.support.ledgers.reports import html, notices, page
from proofs_tests.support.mechanisms.strategies import any_cost
from proofs_tests.support.programs.markup import section, table

FINITE: list[tuple[Composition, Budget]] = [
    (BasicComposition(), ApproxDP(100.0, 1e-5)),
    (BasicComposition(), PureDP(100.0)),
    (AdvancedComposition(1e-6), ApproxDP(100.0, 1e-5)),
    (ZCDPComposition(), ApproxDP(100.0, 1e-5)),
    (ZCDPComposition(), ZCDP(100.0)),
]
UNPRICED = Plan((Step(PureDP(0.1), 2), Step(Unbounded(), 1)))


@attrs.frozen(slots=False)
class Raw(RandomizedResponse):
    """Gives the protected bit away, and says so."""

    epsilon: float = 1.0

    @property
    def cost(self) -> Cost:
        return Unbounded()

    def sample(self, data: bool) -> bool:
        return data


def open_ledger() -> Ledger:
    return Ledger(Unbounded(), composition=NoBound(), adjacency=ReplaceOne())


def broken(ledger: Ledger) -> Ledger:
    """The ledger after releases of every kind: without a bound, with one, as a plan, given back, never released."""
    data = ledger.protect(True)
    assert [ledger.release(Raw(), data, account="broken") for _ in range(3)] == [True] * 3
    ledger.release(RandomizedResponse(0.5), data)
    with ledger.reserve(UNPRICED, adjacency=ReplaceOne()) as plan:
        plan.release(RandomizedResponse(0.1), data)
        assert plan.give_back() == 2
    with ledger.reserve(Plan.of(GDP(0.1), 2), adjacency=ReplaceOne(), delta=1e-6):
        pass
    return ledger


RELEASES = 3 + 1 + 1 + 1  # two of three were given back, and two at one price count as one


@pytest.fixture
def durable(folder: Path) -> Iterator[Ledger]:
    url = f"sqlite:///{folder}/study.db"
    with Ledger.open(url, Unbounded(), composition=NoBound(), adjacency=ReplaceOne()) as ledger:
        yield broken(ledger)


# --- the cost -----------------------------------------------------------------------------------------------------


def test_the_cost_has_no_numbers_an_order_with_itself_and_no_conversion() -> None:
    assert Unbounded() == Unbounded()
    assert Unbounded() <= Unbounded()
    assert Unbounded().as_dict() == {"kind": "unbounded"}
    assert cost_from_dict(json.loads(json.dumps(Unbounded().as_dict()))) == Unbounded()
    assert KINDS["unbounded"] is Unbounded
    with pytest.raises(TypeError):
        cost_from_dict({"kind": "unbounded", "epsilon": 1.0})
    for other in (PureDP(1.0), ApproxDP(1.0, 0.5), ZCDP(1.0), GDP(1.0)):
        for low, high in ((other, Unbounded()), (Unbounded(), other)):
            with pytest.raises(TypeError):
                operator.le(low, high)
    for name in ("to_pure", "to_approx", "to_zcdp", "split"):
        with pytest.raises(NoConversion, match=f"Unbounded has no {name}"):
            getattr(Unbounded(), name)


# --- rules that do promise something ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("rule", "budget"), FINITE, ids=str)
def test_no_finite_budget_pays_for_it(rule: Composition, budget: Budget) -> None:
    ledger = Ledger(budget, composition=rule, adjacency=ReplaceOne())
    data = ledger.protect(True)
    ledger.release(RandomizedResponse(0.5), data)
    before, spent = ledger.entries, ledger.spent
    advice = r"no finite budget pays for it; Ledger\(Unbounded\(\), composition=NoBound\(\)\) records it"
    with pytest.raises(UnsupportedCost, match=f"{rule.name} composition cannot take Unbounded.*{advice}"):
        ledger.release(Raw(), data)
    for delta in (0.0, 1e-6):
        with pytest.raises(UnsupportedCost, match=r"no finite (budget|price)"):
            ledger.reserve(UNPRICED, adjacency=ReplaceOne(), delta=delta)
        with pytest.raises(UnsupportedCost, match=r"no finite (budget|price)"):
            ledger.affords(UNPRICED, delta=delta)
    with ledger.reserve(Plan.of(PureDP(0.1)), adjacency=ReplaceOne()) as plan, pytest.raises(NotSpendable):
        plan.release(Raw(), data)
    assert ledger.entries[: len(before)] == before
    assert [entry.kind for entry in ledger.entries[len(before) :]] == ["charged"]  # the plan of the line above
    assert type(spent) is type(ledger.spent)
    with pytest.raises(UnsupportedBudget, match="only NoBound"):
        ledger.allocate("part", Unbounded())
    assert ledger.verify().sound


@pytest.mark.parametrize("rule", [rule for rule, _ in FINITE], ids=str)
def test_only_one_rule_keeps_a_budget_without_a_bound(rule: Composition) -> None:
    with pytest.raises(UnsupportedBudget, match=r"cannot keep Unbounded\(\): it promises nothing, and only NoBound"):
        Ledger(Unbounded(), composition=rule, adjacency=ReplaceOne())


@pytest.mark.parametrize("budget", [budget for _, budget in FINITE], ids=str)
def test_and_it_keeps_no_other(budget: Budget, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedBudget, match=r"promises nothing: ask for Unbounded\(\), or use another rule"):
        Ledger(budget, composition=NoBound(), adjacency=ReplaceOne())
    with pytest.raises(UnsupportedBudget):
        Ledger.open(f"sqlite:///{tmp_path}/no.db", budget, composition=NoBound(), adjacency=ReplaceOne())
    assert not list(tmp_path.iterdir())


def test_a_plan_with_it_has_no_price() -> None:
    with pytest.raises(UnsupportedCost, match="no finite price"):
        UNPRICED.price(1e-6)
    for rule in pricing_rules.RULES:
        with pytest.raises(pricing_rules.DoesNotApply, match="no finite price"):
            rule.epsilon(UNPRICED, 1e-6)


# --- the ledger --------------------------------------------------------------------------------------------------


def test_the_books_take_everything_and_count_it() -> None:
    ledger = broken(open_ledger())
    assert (ledger.spent, ledger.budget) == (Unbounded(), Unbounded())
    newest = decode(ledger.entries[-1])
    assert isinstance(newest, Charged)
    assert newest.after.loss == RELEASES
    assert ledger.remaining.endless
    assert repr(ledger.remaining) == "Amount(loss=inf, delta=0.0)"
    found = ledger.verify()
    assert found.sound
    assert any(note.startswith("not private") for note in found.notes)
    assert "unbounded" in ledger.receipt(1).cost


@given(st.lists(st.one_of(any_cost, st.builds(GDP, st.floats(0.0, 9.0)), st.just(Unbounded())), min_size=1))
def test_whatever_is_charged_nothing_is_promised(costs: list[Cost]) -> None:
    ledger = open_ledger()
    for _ in range(2):  # twice, so that the fast reader of `verify` meets it again
        with ledger.reserve(Plan.sequence(costs), adjacency=ReplaceOne()):
            pass
    assert ledger.spent == Unbounded()
    assert ledger.odometer().total.loss == 2 * len(costs)
    assert ledger.verify().sound
    slow = Verifier(fast=False)
    slow.take(ledger.entries)
    assert slow.verification() == ledger.verify()
    said = str(ledger.statement())
    assert said.startswith("not private\nNothing is promised")
    assert "privacy statement" not in said


def test_what_is_no_plain_cost_is_not_taken() -> None:
    with pytest.raises(UnsupportedCost, match="no plain cost"):
        NoBound().amount("free")  # type: ignore[arg-type]  # that it is refused is the point


def test_the_statement_is_not_one_of_privacy() -> None:
    found = broken(open_ledger()).statement()
    assert (found.heading, found.promises, found.private) == ("not private", False, False)
    assert found.budget == found.spent == UNBOUNDED == "unbounded"
    rows = {(account, mechanism): (cost, rounds) for account, mechanism, cost, rounds, _ in found.rows}
    assert rows[("broken", "RandomizedResponse(bit)")] == ("unbounded", 3)
    assert rows[("main", "RandomizedResponse(bit)")] == ("pure-dp epsilon 0.5", 1)
    assert Statement.from_dict(json.loads(json.dumps(found.as_dict()))) == found
    assert open_ledger().statement().heading == "not private"  # before anything is released as well


def test_it_has_no_parts(durable: Ledger) -> None:
    shares: list[Fraction | float | Budget] = [0.5, Fraction(1), 1, Unbounded()]
    for ledger in (open_ledger(), durable):
        before = ledger.entries
        for share in shares:
            with pytest.raises(SubBudgetRefused, match="no limit"):
                ledger.allocate("part", share)
        with pytest.raises(UnsupportedBudget, match=r"ask for Unbounded\(\)"):
            ledger.allocate("part", PureDP(1.0))
        assert ledger.entries == before


def test_a_durable_one_is_found_again_as_it_was(durable: Ledger, folder: Path) -> None:
    url, head, entries = f"sqlite:///{folder}/study.db", durable.head, durable.entries
    durable.close()
    with Ledger.open(url, Unbounded(), composition=NoBound(), expect_head=head) as again:
        assert (again.spent, again.composition, again.head) == (Unbounded(), NoBound(), head)
        again.release(Raw(), again.protect(False))
        assert again.entries[: len(entries)] == entries
        assert again.verify(expect_head=head).sound
        again._writer.write_checkpoint()
        newest = decode(again.entries[-1])
        state = State()
        assert isinstance(newest, Checkpoint)
        opened = again._writer.state.opened
        assert opened is not None
        state.resume(opened, len(again.entries) - 1, newest)
        assert state.says(newest.state)
        assert verify(again.entries).sound


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"composition":{"name":"no-bound"}', '"composition":{"name":"basic"}'),
        ('"budget":{"kind":"unbounded"}', '"budget":{"epsilon":1.0,"kind":"pure-dp"}'),
        ('"budget":{"kind":"unbounded"}', '"budget":{"epsilon":1.0,"kind":"unbounded"}'),
    ],
)
def test_forged_books_are_found_out(old: str, new: str) -> None:
    """A finite rule under a budget that promises nothing, and the other way round, are no books."""
    forged, head = list[Entry](), GENESIS
    for entry in broken(open_ledger()).entries:
        line = entry.line.replace(old, new)
        head = digest_of(head, line)
        forged.append(attrs.evolve(entry, line=line, digest=head))
    found = verify(forged)
    assert found.errors[0].startswith("entry 0: it cannot be")
    assert "the ledger was never opened" in found.errors


def test_an_export_verifies_without_the_library(durable: Ledger) -> None:
    out = io.StringIO()
    write_export(durable.entries, out)
    lines = out.getvalue().splitlines(keepends=True)
    assert verify(read_export(lines), expect_head=durable.head).sound
    before, counted = "0" * 64, 0
    for entry in map(json.loads, lines[1:]):
        before = hashlib.sha256((before + entry["line"]).encode("ascii")).hexdigest()
        assert before == entry["digest"]
        counted += entry["line"].count('{"kind":"unbounded"},"rounds":1')
    assert before == json.loads(lines[0])["head"]
    assert counted == 4


# --- what is read out of them -----------------------------------------------------------------------------------------


def test_the_odometer_has_no_epsilon() -> None:
    found = broken(open_ledger()).odometer()
    assert found.at([0.0, 1e-6, 0.999]) == [math.inf] * 3
    assert found.least_delta == 1.0
    assert {each for *_, each in found.over_time(1e-6)} == {math.inf}
    assert {each.epsilon for each in found.other_rules(1e-6)} == {None}
    assert found.pld_curve([1e-6]) == [(1e-6, None)]


def test_nobody_can_read_an_epsilon_into_it() -> None:
    ledger = broken(open_ledger())
    with pytest.raises(NoConversion, match="promises nothing"):
        as_approx(Unbounded())
    with pytest.raises(NoConversion, match="promises nothing"):
        list(readings(ledger.spent))
    with pytest.raises(ValueError, match="promises nothing"):
        second_opinion(ledger.entries)
    with pytest.raises(ValueError, match="promises nothing"):
        Parts.of({PureDP(1.0): 1, Unbounded(): 1})
    with pytest.raises(UnsupportedCost, match="nothing to check"):
        measured(Pair(np.zeros(1), np.zeros(1)), Unbounded())
    with pytest.raises(UnsupportedCost, match="nothing to check"):
        lower_bounds(Unbounded(), np.array([0.9]), np.array([0.1]))
    with pytest.raises(UnsupportedCost, match="no factor"):
        smaller(Unbounded(), 2.0)
    with pytest.raises(UnsupportedCost, match="not supported"):
        selection_cost([PureDP(0.1), Unbounded()], PoissonStopping(2.0))
    with pytest.raises(UnsupportedBudget, match=r"ask for Unbounded\(\)"):
        largest_eta(lambda eta: Plan.of(PureDP(eta)), ApproxDP(1.0, 1e-6), ledger.composition)


def test_the_report_promises_nothing() -> None:
    entries = broken(open_ledger()).entries
    text, tree = html(entries), page(entries)
    assert "privacy statement" not in text.lower()
    assert any(notice.startswith("Not private") for notice in notices(tree))
    guarantee = section(tree, "No guarantee").text
    assert "Nothing is promised" in guarantee
    assert "unbounded (not private)" in guarantee
    budgets = table(tree, "Budgets and sub-budgets")
    assert budgets[1][1:5] == ["no limit", f"releases = {RELEASES}", "no limit", "unbounded (not private)"]
    assert "3 × unbounded" in text
    assert not any(symbol in guarantee for symbol in ("ε", "ρ", "δ", "nan", "%"))
    for absent in ("What other rules", "burn-down", "at most the factor", "NIST"):
        assert absent not in text


def test_a_model_that_these_books_paid_for_is_not_confirmed() -> None:
    ledger = open_ledger()
    ledger.release(RandomizedResponse(0.5), ledger.protect(True), account="Learner")
    written = json.loads(json.dumps(ledger.statement().as_dict()))
    claim = ModelClaim("Learner", PureDP(0.5), "0" * 64, written, (ledger.receipt(1),))
    found = compare_model(claim, ledger.entries)
    assert [error for error in found.errors if "promises nothing" in error] == list(found.errors)
    assert found.errors
    assert (found.fit, found.spent) == (Unbounded(), Unbounded())
    assert not any("simulated" in note for note in found.notes if not note.startswith("the ledger"))


# --- the command line -------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("durable")
def test_every_command_says_that_it_is_not_private() -> None:
    shown = ended(0, "show", "study.db").stdout
    assert shown.lstrip().startswith("not private")
    assert "no limit" in shown
    assert "not private" in ended(CAVEATS, "verify", "study.db").stdout
    assert "not private" in ended(CAVEATS, "report", "study.db", "--out", "report.html").stdout
    assert "not private" in ended(0, "open", "study.db").stdout
    assert "not private" in ended(0, "price", "study.db", "--mechanism", "pure-dp:0.1@5").stdout
    ended(0, "export", "study.db", "--out", "books.jsonl")
    assert "not private" in ended(CAVEATS, "verify", "books.jsonl").stdout
    for said in (shown, Path("report.html").read_text(encoding="utf-8")):
        assert "privacy statement" not in said.lower()


@pytest.mark.usefixtures("durable")
def test_the_same_for_programs() -> None:
    shown = record("show", "study.db")
    assert shown["budget"] == shown["spent"] == {"kind": "unbounded"}
    assert json.dumps(shown["statement"]).startswith('{"heading": "not private"')
    (account,) = json.loads(json.dumps(shown["accounts"]))
    assert (account["ceiling"]["loss"], account["left"]["loss"], account["drawn"]["loss"]) == (None, None, RELEASES)
    price = record("price", "study.db", "--mechanism", "pure-dp:0.1@5")
    assert (price["fits"], price["spent_after"]) == (True, {"kind": "unbounded"})
    verified = record("verify", "study.db", "--second-opinion", code=CAVEATS)
    assert verified["second_opinion"] is None
    assert "no second opinion: this ledger promises nothing" in json.dumps(verified["notes"])


@pytest.mark.usefixtures("durable")
def test_what_the_command_line_refuses() -> None:
    assert "no limit" in refused("allocate", "study.db", "part", "--share", "0.5")
    for form in ("unbounded", "unbounded@3", "unbounded:1"):
        assert "no finite price" in refused("price", "study.db", "--mechanism", form)
        result = run("price", "--mechanism", form, "--delta", "1e-6")
        assert result.exit_code == 2
        assert "no finite price" in result.stderr
