"""Rules of composition from other packages: registered, written down, found again, replayed, and checked by the kit."""

import importlib
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest
from click.testing import CliRunner

from accountant import (
    GDP,
    ZCDP,
    AddRemoveOne,
    AdvancedComposition,
    ApproxDP,
    BasicComposition,
    Composition,
    GDPComposition,
    Ledger,
    OwnRule,
    Plan,
    PureDP,
    RuleNotInstalled,
    TextbookComposition,
    UnsupportedBudget,
    UnsupportedCost,
    ZCDPComposition,
    verify,
)
from accountant.audit.second_opinion import second_opinion
from accountant.composition import composition_from_record
from accountant.costs import curves
from exchequer.cli import main
from proofs_tests.harness import ClaimViolated, check_rule
from proofs_tests.support.ledgers import cheating_rules, own_rules
from proofs_tests.support.ledgers.own_rules import RenyiOfOneOrder, TakesAway

PLACE = "proofs_tests.support.ledgers.own_rules"
CHEATING = "proofs_tests.support.ledgers.cheating_rules"
BUDGET = ApproxDP(3.0, 1e-6)

Install = Callable[[dict[str, str]], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Registers entry points as an installed distribution does, by a folder with its metadata on the path."""
    folder = tmp_path / "site"
    monkeypatch.syspath_prepend(str(folder))

    def register(points: dict[str, str], package: str = "their_rules") -> None:
        info = folder / f"{package}-1.0.dist-info"
        info.mkdir(parents=True, exist_ok=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        lines = "\n".join(f"{name} = {value}" for name, value in points.items())
        (info / "entry_points.txt").write_text(f"[exchequer.composition_rules]\n{lines}\n")
        importlib.invalidate_caches()

    return register


@pytest.fixture
def installed(install: Install) -> Install:
    install({RenyiOfOneOrder.name: f"{PLACE}:RenyiOfOneOrder"})
    return install


def opened(url: str | None = None) -> Ledger:
    rule = RenyiOfOneOrder(12.0)
    if url is None:
        return Ledger(BUDGET, composition=rule, adjacency=AddRemoveOne())
    return Ledger.open(url, BUDGET, composition=rule, adjacency=AddRemoveOne())


@pytest.mark.usefixtures("installed")
def test_a_ledger_is_charged_verified_and_read_by_a_rule_of_ones_own(tmp_path: Path) -> None:
    for url in (None, f"sqlite:///{tmp_path / 'books.db'}"):
        ledger = opened(url)
        with ledger.reserve(Plan.of(GDP(0.1), 10), adjacency=AddRemoveOne()):
            pass
        spent = ledger.spent
        assert isinstance(spent, ApproxDP)
        assert curves.zcdp_epsilon(0.05, 1e-6) <= spent.epsilon <= 3.0
        assert '"composition":{"name":"renyi-of-one-order","order":12.0,"version":"1.0"}' in ledger.entries[0].line
        assert ledger.verify().sound
        assert "renyi-of-one-order" in str(ledger.statement())
        assert ledger.odometer().epsilon(1e-6) == pytest.approx(spent.epsilon)
        opinion = second_opinion(ledger.entries)
        assert opinion.agrees
        assert "own-rule" in ledger.composition.claims
        if url is not None:
            ledger.close()
            with Ledger.open(url, composition=RenyiOfOneOrder(12.0)) as again:
                assert again.spent == spent


def test_without_its_package_a_rule_is_refused_and_the_remedy_named() -> None:
    with pytest.raises(RuleNotInstalled, match=r"'renyi-of-one-order' is unknown: install the package"):
        opened()
    with pytest.raises(ValueError, match="a newer version of this library may know it"):
        composition_from_record({"name": "magic"})


@pytest.mark.usefixtures("installed")
def test_a_ledger_whose_rule_is_gone_or_of_another_version_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path / 'books.db'}"
    ledger = opened(url)
    entries = list(ledger.entries)
    ledger.close()
    monkeypatch.setattr(RenyiOfOneOrder, "version", "2.0")
    with pytest.raises(RuleNotInstalled, match=r"version '2\.0', the ledger names version '1\.0'"):
        Ledger.open(url)
    monkeypatch.undo()  # takes the other package off the path as well
    found = verify(entries)
    assert (found.verdict, found.sound, found.errors) == ("cannot be checked", False, ())
    assert "install the package" in found.unchecked
    changed = [attrs.evolve(each, line=each.line.replace('"id":"', '"id":"0')) for each in entries]
    assert verify(changed).verdict == "not sound", "its digests are checked all the same"
    assert verify(entries[1:]).verdict == "not sound"


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("command", ["verify", "show", "report"])
def test_the_commands_give_no_answer_where_the_rule_is_gone(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(f"sqlite:///{tmp_path / 'books.db'}").close()
    monkeypatch.undo()
    out = ["--out", str(tmp_path / "report.html")] if command == "report" else []
    result = CliRunner().invoke(main, ["ledger", command, str(tmp_path / "books.db"), *out])
    assert result.exit_code == 2
    assert "install the package" in " ".join(result.output.split())
    assert "NOT SOUND" not in result.output
    assert not (tmp_path / "report.html").exists()


@pytest.mark.usefixtures("installed")
def test_verify_says_whose_rule_it_is() -> None:
    found = opened().verify()
    assert found.verdict == "sound"
    assert any("'renyi-of-one-order', version '1.0', of proofs_tests" in note for note in found.notes)


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (f"{PLACE}:BUDGETS", "cannot be loaded"),
        ("no.such.module:Rule", "cannot be loaded"),
        ("accountant:BasicComposition", "is no OwnRule called"),
    ],
)
def test_what_is_registered_and_is_no_rule_is_named(install: Install, value: str, named: str) -> None:
    install({RenyiOfOneOrder.name: value})
    with pytest.raises(RuleNotInstalled, match=named):
        opened()


@pytest.mark.usefixtures("installed")
def test_a_record_must_be_the_rules_own() -> None:
    record = RenyiOfOneOrder(12.0).describe()
    assert composition_from_record(record) == RenyiOfOneOrder(12.0)
    with pytest.raises(RuleNotInstalled, match="unexpected keyword"):
        composition_from_record({**record, "more": 1.0})
    own = type("Basic", (RenyiOfOneOrder,), {"name": "basic"})()
    with pytest.raises(UnsupportedBudget, match="under a name of its own"):
        Ledger(BUDGET, composition=own, adjacency=AddRemoveOne())


@pytest.mark.usefixtures("installed")
def test_a_charge_never_takes_anything_off() -> None:
    with pytest.raises(TypeError, match="must give an Amount of at least 0"):
        TakesAway(8.0).amount(PureDP(1.0))
    with pytest.raises(UnsupportedBudget, match="ApproxDP with delta > 0 only"):
        Ledger(ZCDP(1.0), composition=RenyiOfOneOrder(8.0), adjacency=AddRemoveOne())


# --- the kit -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rule",
    [
        BasicComposition(),
        ZCDPComposition(),
        GDPComposition(),
        AdvancedComposition(1e-7),
        TextbookComposition(1e-7),
        RenyiOfOneOrder(3.0),
        RenyiOfOneOrder(12.0),
    ],
)
@pytest.mark.usefixtures("installed")
def test_the_kit_passes_sound_rules(rule: Composition) -> None:
    reports = check_rule(rule)
    assert len(reports) == 7
    assert all(report.verdict == "not refuted" for report in reports)


@pytest.mark.parametrize("wrong", own_rules.WRONG)
def test_the_kit_refutes_wrong_rules(install: Install, wrong: type[RenyiOfOneOrder]) -> None:
    install({RenyiOfOneOrder.name: f"{PLACE}:{wrong.__name__}"})
    with pytest.raises(ClaimViolated):
        check_rule(wrong(8.0))


def test_the_kit_refutes_a_rule_that_nobody_else_can_read() -> None:
    with pytest.raises(ClaimViolated, match="RuleNotInstalled"):
        check_rule(RenyiOfOneOrder(8.0))


def test_a_tenth_too_little_is_refuted_where_the_rule_is_tight(install: Install) -> None:
    """Sums of μ² are exact, so nine tenths of them are below what Gaussians lose."""
    install({own_rules.NineTenthsOfGaussians.name: f"{PLACE}:NineTenthsOfGaussians"})
    with pytest.raises(ClaimViolated, match="GDP"):
        check_rule(own_rules.NineTenthsOfGaussians())


@pytest.mark.parametrize("wrong", cheating_rules.CHEATING)
def test_the_kit_refutes_rules_that_cheat_where_nobody_looks_first(install: Install, wrong: type[OwnRule]) -> None:
    install({wrong.name: f"{CHEATING}:{wrong.__name__}"})
    with pytest.raises(ClaimViolated, match="seed"):
        check_rule(wrong())


def test_a_rule_whose_code_fails_is_named_and_nothing_is_charged(install: Install) -> None:
    install({"fails": f"{CHEATING}:Fails"})
    ledger = Ledger(BUDGET, composition=cheating_rules.Fails(), adjacency=AddRemoveOne())
    with pytest.raises(UnsupportedCost, match=r"'fails' failed in counted of PureDP.*ZeroDivisionError"):
        ledger.reserve(Plan.of(PureDP(0.1)), adjacency=AddRemoveOne())
    assert len(ledger.entries) == 1


def test_what_a_rule_adds_cannot_be_overridden() -> None:
    with pytest.raises(TypeError, match="amount cannot be overridden; write `counted`"):
        type("Free", (RenyiOfOneOrder,), {"name": "free", "amount": lambda self, cost: None})
    aside = type("Aside", (), {"read": lambda self, amount, delta: 0.0})  # not in the class itself
    with pytest.raises(TypeError, match="read cannot be overridden"):
        type("Free", (aside, RenyiOfOneOrder), {"name": "free"})


@pytest.mark.usefixtures("installed")
def test_parameters_are_compared_as_they_are_written() -> None:
    """NaN differs from itself here, and cannot be written there."""
    record = RenyiOfOneOrder(8.0).describe()
    with pytest.raises(ValueError, match="describes itself"):
        composition_from_record({**record, "order": float("nan")})
