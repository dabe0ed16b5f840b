"""A policy refuses at opening and at each charge, before anything is written, and names the rule that it refuses by."""

import contextlib
import datetime
import pickle
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant import (
    About,
    AddRemoveOne,
    ApproxDP,
    BasicComposition,
    BudgetExceeded,
    FeatureValue,
    Ledger,
    NoBound,
    Plan,
    PolicyRefused,
    PureDP,
    Unbounded,
    ZCDPComposition,
)
from accountant.audit import Reading
from accountant.composition import NOTHING
from accountant.entries import Charged, Opened, encode
from accountant.policies import breaches, policy_from_text
from accountant.policies.running_sums import DatasetSums, year_of
from accountant.storage import SqlStore
from proofs_tests.support.ledgers.policed import HEADER, HOSPITAL, SECRET, SIMULATED, pay, policed, policy_in

YEAR = "[limits.year]\nepsilon = 1\ndelta = 0\n"


def refused(ledger: Ledger, epsilon: float = 0.25, **said: object) -> PolicyRefused:
    """The refusal of a charge, of which nothing is written."""
    before = ledger.spent
    with pytest.raises(PolicyRefused) as caught:
        pay(ledger, epsilon, **said)  # type: ignore[arg-type]  # what pay takes
    assert ledger.spent == before
    return caught.value


def test_a_year_is_used_up_exactly_and_by_all_handles(url: str, tmp_path: Path) -> None:
    with policed(url, policy_in(tmp_path, YEAR)) as ledger:
        pay(ledger, 0.25)
        pay(ledger.labelled("pilot"), 0.25)
        pay(ledger.allocate("team", 0.5), 0.125, rounds=2)
        with policed(url, tmp_path / "policy.toml") as other:
            pay(other, 0.1875)
        error = refused(ledger, 0.125)
        pay(ledger, 0.0625)
        for handle in (ledger, ledger.sub_budget("team"), ledger.announce("pilot"), ledger.concerning(About(user="a"))):
            refused(handle, 2.0**-60)
        pay(ledger.concerning(About(dataset="school")), 1.0)
        assert not ledger.verify().errors
        assert not breaches(ledger.entries, policy_from_text(HEADER + YEAR)).breaches
    assert error.rule == "[limits.year] epsilon = 1, delta = 0"
    assert "hospital" in error.found
    assert "ε = 1.0625" in error.found
    assert "nothing was charged" in str(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)  # noqa: S301  # noqa: S301


def test_what_is_given_back_may_be_charged_again(url: str, tmp_path: Path) -> None:
    with policed(url, policy_in(tmp_path, YEAR)) as ledger:
        with ledger.reserve(Plan.of(PureDP(0.25), 4), adjacency=AddRemoveOne(), mechanism=SECRET) as charge:
            refused(ledger)
            assert charge.give_back() == 4
        pay(ledger, 1.0)
        refused(ledger, 2.0**-40)


@pytest.mark.parametrize(
    ("text", "about", "said", "rule"),
    [
        ('[about]\nrequired = ["purpose", "dataset"]', HOSPITAL, SECRET, "[about] required"),
        ('[noise]\nsource = "secure"', HOSPITAL, SIMULATED, "[noise] source"),
        ('[noise]\nsource = "secure"', HOSPITAL, None, "[noise] source"),
        ("[sub_budgets]\nonly = true", HOSPITAL, SECRET, "[sub_budgets] only"),
        ('[sub_budgets]\nrequired = ["holdout"]', HOSPITAL, SECRET, "[sub_budgets] required"),
        ("[limits.release]\nepsilon = 0.2\ndelta = 0", HOSPITAL, SECRET, "[limits.release]"),
        ("[limits.dataset]\nepsilon = 0.2\ndelta = 0", HOSPITAL, SECRET, "[limits.dataset]"),
        (YEAR, About(user="ana"), SECRET, "[limits.year]"),
        ("[datasets.hospital.total]\nepsilon = 0.2\ndelta = 0", HOSPITAL, SECRET, "[datasets.hospital.total]"),
    ],
)
def test_each_rule_refuses_a_charge_and_is_found_later(
    text: str, about: About, said: object, rule: str, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path}/ledger.db"
    with policed(url, policy_in(tmp_path, text), about) as ledger:
        error = refused(ledger, said=said)
        assert error.rule.startswith(rule)
        assert error.remedy
    with policed(url, None, about) as ledger:
        pay(ledger, 0.25, said=said)  # type: ignore[arg-type]  # of the table above
        number = next(entry.number for entry in ledger.entries if entry.kind == "charged")
        found = breaches(ledger.entries, policy_from_text(HEADER + text))
    assert [(each.number, each.violation.rule) for each in found.breaches] == [(number, error.rule)]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ('[open]\nusers = ["ana"]', "[open] users"),
        ('[open]\nprograms = ["train.py"]', "[open] programs"),
        ('[promise]\nadjacency = ["replace-one"]', "[promise] adjacency"),
        ('[promise]\nforbidden_adjacency = ["add-remove-one"]', "[promise] forbidden_adjacency"),
        ('[promise]\nforbidden_composition = ["basic"]', "[promise] forbidden_composition"),
    ],
)
def test_opening_is_refused_before_a_file_is_made(text: str, rule: str, tmp_path: Path) -> None:
    policy = policy_in(tmp_path, text)
    with pytest.raises(PolicyRefused) as caught:
        policed(f"sqlite:///{tmp_path}/ledger.db", policy)
    assert caught.value.rule.startswith(rule)
    assert not (tmp_path / "ledger.db").exists()


def test_who_may_open_may_not_charge_as_somebody_else(tmp_path: Path) -> None:
    policy = policy_in(tmp_path, '[open]\nusers = ["ana"]\nprograms = ["train.py"]')
    said = About(user="ana", program="train.py, exchequer 1.0")
    with policed(f"sqlite:///{tmp_path}/ledger.db", policy, said) as ledger:
        pay(ledger, 0.25)
        refused(ledger.concerning(About(user="ben")))


def test_a_rule_that_keeps_no_such_limit_is_refused_at_opening(tmp_path: Path) -> None:
    policy = policy_in(tmp_path, YEAR)
    for budget, rule in ((ApproxDP(1.0, 1e-6), ZCDPComposition()), (Unbounded(), NoBound())):
        with pytest.raises(PolicyRefused, match="cannot keep this"):
            Ledger.open(
                f"sqlite:///{tmp_path}/l.db",
                budget,
                composition=rule,
                adjacency=AddRemoveOne(),
                policy=policy,
            )


def test_a_limit_under_zcdp_is_what_a_budget_of_that_size_allows(tmp_path: Path) -> None:
    limit = ApproxDP(0.5, 1e-6)
    policy = policy_in(tmp_path, "[limits.dataset]\nepsilon = 0.5\ndelta = 1e-6")
    rule = ZCDPComposition()

    def opened(name: str, budget: ApproxDP, file: Path | str) -> Ledger:
        url = f"sqlite:///{tmp_path}/{name}.db"
        return Ledger.open(url, budget, composition=rule, adjacency=FeatureValue(0), about=HOSPITAL, policy=file)

    with opened("limited", ApproxDP(9.0, 1e-9), policy) as limited, opened("small", limit, "") as small:
        plan = Plan.of(PureDP(0.05), 1)
        for ledger in (limited, small):
            with contextlib.suppress(PolicyRefused, BudgetExceeded):
                while True:
                    ledger.reserve(plan, adjacency=FeatureValue(0))
        assert len(limited.entries) == len(small.entries)


def test_the_environment_names_a_policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXCHEQUER_POLICY", str(policy_in(tmp_path, YEAR)))
    url = f"sqlite:///{tmp_path}/ledger.db"
    with Ledger.open(
        url, PureDP(9.0), composition=BasicComposition(), adjacency=AddRemoveOne(), about=HOSPITAL
    ) as ledger:
        refused(ledger, 1.5)


def test_a_sub_budget_that_was_closed_is_known_to_be_one(tmp_path: Path) -> None:
    text = '[sub_budgets]\nonly = true\nrequired = ["team"]\n'
    with policed(f"sqlite:///{tmp_path}/l.db", policy_in(tmp_path, text)) as ledger:
        refused(ledger)
        team = ledger.allocate("team", 0.5)
        pay(team, 0.5)
        pay(team.allocate("inner", 0.5), 1.0)
        team.close_account("inner")
        refused(ledger)
        pay(team, 0.25)
        assert not breaches(ledger.entries, policy_from_text(HEADER + text)).breaches


# --- years, and charges that do not say -------------------------------------------------------------------


def at(year: int, **parts: int) -> int:
    """Nanoseconds since 1970 of a moment in UTC."""
    moment = datetime.datetime(year, **{"month": 1, "day": 1, **parts}, tzinfo=datetime.UTC)
    return int(moment.timestamp()) * 10**9


def written_then(url: str, *charges: tuple[int, float, About]) -> None:
    """A ledger with charges of the past."""
    store = SqlStore(url, "create")
    total, rule = NOTHING, BasicComposition()
    records: list[Opened | Charged] = [Opened(at(2000), PureDP(100.0), rule, AddRemoveOne(), "0" * 32)]
    for time, epsilon, about in charges:
        plan = Plan.of(PureDP(epsilon), 1)
        total = total.plus(plan.amount(rule))
        records.append(Charged(time, "main", AddRemoveOne(), total, SECRET, plan, None, None, about, plan.amount(rule)))
    for number, record in enumerate(records):
        list(store.begin(number))
        store.append("opened" if number == 0 else "charged", encode(number, record))
        store.commit()
    store.close()


def test_years_are_calendar_years_and_who_does_not_say_counts_for_all(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/ledger.db"
    last_moment = at(2021) - 1
    written_then(url, (last_moment, 0.75, About()), (at(2021), 0.5, About()))
    text = f"{YEAR}[limits.dataset]\nepsilon = 2\ndelta = 0\n"
    with policed(url, policy_in(tmp_path, text)) as ledger:
        pay(ledger, 0.5)
        assert refused(ledger, 0.3).rule.startswith("[limits.dataset]")
        pay(ledger.concerning(About(dataset="school")), 0.75)
        refused(ledger.concerning(About(dataset="school")), 0.01)
    assert (year_of(last_moment), year_of(at(2021))) == (2020, 2021)


@given(st.integers(1971, 2280), st.integers(-(10**9), 10**9))
def test_the_year_is_that_of_the_calendar(year: int, nanoseconds: int) -> None:
    assert year_of(at(year) + nanoseconds) == (year if nanoseconds >= 0 else year - 1)


# --- against an exact model ---------------------------------------------------------------------------------

CHARGES = st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), st.integers(1, 40)), min_size=1, max_size=12)


@given(CHARGES)
def test_accepted_are_exactly_the_charges_that_keep_every_limit(charges: list[tuple[str, int]]) -> None:
    text = "[limits.dataset]\nepsilon = 1\ndelta = 0\n[datasets.b.total]\nepsilon = 0.5\ndelta = 0\n"
    limits = {"a": Fraction(1), "b": Fraction(1, 2), "c": Fraction(1)}
    ledger = Ledger(PureDP(100.0), composition=BasicComposition(), adjacency=AddRemoveOne())
    sums, over = dict.fromkeys(limits, Fraction(0)), list[int]()
    for dataset, sixtyfourths in charges:
        sums[dataset] += Fraction(sixtyfourths, 64)
        pay(ledger.concerning(About(dataset=dataset)), sixtyfourths / 64)
        number = max(entry.number for entry in ledger.entries if entry.kind == "charged")
        over += [number] if sums[dataset] > limits[dataset] else []
    found = breaches(ledger.entries, policy_from_text(HEADER + text))
    assert [each.number for each in found.breaches] == over
    quick, slow = DatasetSums(ledger.composition), DatasetSums(ledger.composition)
    Reading(quick, checked=False).take(ledger.entries)
    slow.catch_up(ledger.entries, len(ledger.entries))
    year = year_of(int(ledger.entries[-1].record["time"]))  # type: ignore[call-overload]  # a number
    for dataset, total in sums.items():
        for each in (quick, slow):
            assert each.total(dataset).loss == each.in_year(dataset, year).loss == total
    assert quick.seen == slow.seen == len(ledger.entries)
