"""`exchequer ledger deployment`: what it writes keeps the registry's rules, says what is true, and hides no TODO."""

import copy
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import jsonschema
import pytest
import yaml

from accountant import (
    GDP,
    ZCDP,
    About,
    ApproxDP,
    BasicComposition,
    Budget,
    Composition,
    Cost,
    GDPComposition,
    Ledger,
    NoBound,
    PureDP,
    ReplaceOne,
    Unbounded,
    ZCDPComposition,
)
from exchequer.commands.exports.deployment_rules import OPTIONAL, SHAPE, problems
from proofs_tests.support.ledgers.durable import BUDGET
from proofs_tests.support.ledgers.ledger_runs import ended, refused, said, tampered
from proofs_tests.support.ledgers.ledger_runs import folder as folder
from proofs_tests.support.ledgers.ledger_runs import study as study
from proofs_tests.support.ledgers.reports import Secure

REGISTRY = "EXCHEQUER_DEPLOYMENTS_REGISTRY"
"""Names a checkout of opendp/deployments-registry-data."""

EVIL = "x: 1 # y `code` [a](b) \\\\(z) <b> | 'q' \"p\""

Record = dict[str, Any]


@attrs.frozen
class Paid(Secure):
    """Says that its noise is real, and has whatever cost a test gives it."""

    paid: Cost = BUDGET

    @property
    def cost(self) -> Cost:
        return self.paid


def written(*arguments: str) -> Record:
    """The record that the command wrote."""
    ended(0, "deployment", "study.db", "--out", "record.yaml", *arguments)
    record: Record = yaml.safe_load(Path("record.yaml").read_text(encoding="utf-8"))
    return record


def spent(budget: Budget, rule: Composition, cost: Any, *about: About) -> None:
    with Ledger.open("sqlite:///study.db", budget, composition=rule, adjacency=ReplaceOne()) as ledger:
        for each in about or (About(),):
            handle = ledger.concerning(each)
            handle.release(Paid(0.1, paid=cost), handle.protect(True))


def loss(record: Record) -> Record:
    part: Record = record["deployment"]["privacy_loss"]
    return part


def schema() -> Any:
    place = os.environ.get(REGISTRY)
    if not place:
        pytest.skip(f"{REGISTRY} names no checkout of the registry")
    return yaml.safe_load((Path(place) / "schemas" / "deployments-schema.yaml").read_text(encoding="utf-8"))


def valid(record: Record) -> list[str]:
    validator = jsonschema.Draft7Validator(schema(), format_checker=jsonschema.Draft7Validator.FORMAT_CHECKER)
    return [error.message for error in validator.iter_errors(record)]


# --- what is written -------------------------------------------------------------------------------------------

CASES: list[tuple[Budget, Composition, Any, str, Record]] = [
    (BUDGET, BasicComposition(), PureDP(0.1), "Pure DP", {"epsilon": 0.1}),
    (ApproxDP(1.0, 1e-5), BasicComposition(), ApproxDP(0.1, 1e-7), "Approximate DP", {"epsilon": 0.1, "delta": 1e-7}),
    (ZCDP(1.0), ZCDPComposition(), ZCDP(0.01), "Zero-concentrated DP", {"rho": 0.01}),
]


@pytest.mark.parametrize(("budget", "rule", "cost", "variant", "parameters"), CASES)
def test_a_record_says_what_was_spent(
    folder: Path, budget: Budget, rule: Composition, cost: Any, variant: str, parameters: Record
) -> None:
    spent(budget, rule, cost)
    record = written()
    assert problems(record) == []
    assert record["deployment"]["dp_variant"]["variant_name"] == variant
    assert loss(record)["privacy_parameters"] == parameters
    assert (record["status"], record["tier"]) == ("Draft", 3)


@pytest.mark.parametrize("delta", [1e-6, 1e-9])
def test_gdp_is_given_as_what_it_implies_and_called_by_its_name(folder: Path, delta: float) -> None:
    spent(GDP(1.0), GDPComposition(), GDP(0.5))
    record = written("--delta", str(delta))
    promise = GDP(0.5).to_approx(delta=delta)
    given = loss(record)["privacy_parameters"]
    assert record["deployment"]["dp_variant"]["variant_name"] == "Approximate DP"
    assert promise.epsilon <= given["epsilon"] <= promise.epsilon * 1.00001
    assert given["delta"] == delta
    assert "Gaussian differential privacy (GDP) with μ = 0.5" in loss(record)["privacy_parameters_details"]


def test_one_data_set_is_chosen_and_the_rest_is_named(folder: Path) -> None:
    hospital, school = About(dataset="hospital", user="ada", host="box"), About(dataset="school", purpose="pilot")
    spent(BUDGET, BasicComposition(), PureDP(0.125), hospital, hospital, school)
    record = written("--where", "dataset=hospital")
    assert loss(record)["privacy_parameters"] == {"epsilon": 0.25}
    assert "all of it came to ε = 0.375" in loss(record)["privacy_parameters_details"]
    assert "dataset `hospital`" in loss(record)["privacy_parameters_details"]
    assert record["url_slug"] == "hospital"
    text = Path("record.yaml").read_text(encoding="utf-8")
    assert not [word for word in ("ada", "box", "pilot", "school") if f" {word}" in text or f"`{word}`" in text]
    assert loss(written("--force"))["privacy_parameters"] == {"epsilon": 0.375}
    assert "no charge is asked for" in refused("deployment", "study.db", "--out", "no.yaml", "--where", "dataset=moon")


def texts(node: object) -> Iterator[str]:
    if isinstance(node, Mapping):
        for value in node.values():
            yield from texts(value)
    elif isinstance(node, list):
        for value in node:
            yield from texts(value)
    elif isinstance(node, str):
        yield node


def test_what_only_people_know_is_a_todo_and_stays_valid(folder: Path) -> None:
    spent(BUDGET, BasicComposition(), PureDP(0.1), About(dataset=EVIL, purpose=EVIL, program=EVIL))
    record = written()
    basic = record["deployment"]["basic"]
    for name in ("name", "description", "intended_use", "data_product_region"):
        assert basic[name].startswith("TODO: ")
    assert basic["data_curators"] == ["TODO: who publishes it"]
    text = Path("record.yaml").read_text(encoding="utf-8")
    for line in ("data_product_type: ", "publication_date: ", "data_source_type: ", "access_type: ", "release_type: "):
        (found,) = [each for each in text.splitlines() if each.strip().startswith(line)]
        assert "  # TODO: " in found
    assert not [each for each in texts(record) if "\\\\" in each]
    assert problems(record) == []
    tokens = [token for token in yaml.scan(text) if isinstance(token, yaml.ScalarToken)]
    assert {token.style for token in tokens} <= {None, "|", "'", '"'}


def test_a_record_is_valid_by_the_registrys_own_schema(folder: Path) -> None:
    schema()
    cases: list[tuple[Budget, Composition, Any]] = [(budget, rule, cost) for budget, rule, cost, _, _ in CASES]
    for budget, rule, cost in (*cases, (GDP(1.0), GDPComposition(), GDP(0.5))):
        Path("study.db").unlink(missing_ok=True)
        spent(budget, rule, cost, About(dataset=EVIL))
        assert valid(written("--force")) == []


def test_our_rules_forbid_what_the_registrys_schema_forbids(folder: Path) -> None:
    schema()
    spent(BUDGET, BasicComposition(), PureDP(0.1))
    record = written()
    tried = 0
    for changed in spoilt(record):
        tried += 1
        assert problems(changed) or not valid(changed)
    assert tried > 90
    assert parts(schema()) == ours(SHAPE)


def parts(node: Mapping[str, Any], place: str = "") -> dict[str, object]:
    """Of the registry's schema: every part, with its enumeration."""
    found: dict[str, object] = {}
    for name, inner in node.get("properties", {}).items():
        found[f"{place}/{name}"] = sorted(map(str, inner.get("enum", [])))
        found |= parts(inner, f"{place}/{name}")
    return found


def ours(shape: Any, place: str = "") -> dict[str, object]:
    """The same of our rules; an enumeration is what a check lists in its complaint."""
    found: dict[str, object] = {}
    for name, inner in shape.items():
        where = f"{place}/{name}"
        if isinstance(inner, Mapping):
            found |= {where: [], **ours(inner, where)}
        else:
            complaint = inner(object())
            listed = complaint.removeprefix("expected one of ") if "expected one of" in complaint else ""
            found[where] = sorted(listed.split(", ")) if listed else []
            if where == "/tier":
                found[where] = ["1", "2", "3"]  # ours writes no other than 3
    return found


# --- rules of our own ------------------------------------------------------------------------------------------


def spoilt(record: Record) -> Iterator[Record]:
    """The record with each part left out, made of another type, empty, or joined by a stranger."""

    def places(node: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        if isinstance(node, Mapping):
            for name, value in node.items():
                yield (*path, name)
                yield from places(value, (*path, name))

    for path in places(record, ()):
        for what in ("missing", "type", "stranger", "enumeration"):
            changed = copy.deepcopy(record)
            node = changed
            for name in path[:-1]:
                node = node[name]
            if what == "missing":
                del node[path[-1]]
            elif what == "type":
                node[path[-1]] = {"no": "such"} if not isinstance(node[path[-1]], dict) else "text"
            elif what == "stranger":
                node["surprise"] = "x"
            elif path[-1].endswith(("_type", "_date", "status", "tier", "variant_name", "model_name")):
                node[path[-1]] = "nothing that is listed"
            else:
                continue
            yield changed


def test_every_way_to_spoil_a_record_is_found(folder: Path) -> None:
    spent(BUDGET, BasicComposition(), PureDP(0.1))
    record = written()
    assert problems(record) == []
    for changed in spoilt(record):
        assert problems(changed)
    assert problems("text")
    wrong = copy.deepcopy(record)
    loss(wrong)["privacy_parameters"] = {"epsilon": 0.1, "rho": 0.1}
    assert problems(wrong) == ["/deployment/privacy_loss/privacy_parameters: Pure DP is given by epsilon"]
    loss(wrong)["privacy_parameters"] = {"epsilon": True}
    assert problems(wrong)
    assert {"data_product_sector", "epsilon", "delta", "rho"} == OPTIONAL


# --- refusals --------------------------------------------------------------------------------------------------


def test_what_is_not_private_gets_no_record(study: str, folder: Path) -> None:
    assert "simulated noise, which is not private" in refused("deployment", "study.db", "--out", "r.yaml")
    bad = tampered("DELETE FROM exchequer_entries WHERE number = 5")
    assert "No record was written" in said("deployment", bad, "--out", "r.yaml", code=1)
    with Ledger.open("sqlite:///open.db", Unbounded(), composition=NoBound(), adjacency=ReplaceOne()) as ledger:
        ledger.release(Paid(0.1, paid=PureDP(0.1)), ledger.protect(True))

    assert "promises nothing" in refused("deployment", "open.db", "--out", "r.yaml")
    assert "expected NAME=TEXT" in refused("deployment", "study.db", "--out", "r.yaml", "--where", "hospital")
    assert "--delta" in refused("deployment", "study.db", "--out", "r.yaml", "--delta", "0")
    assert not (folder / "r.yaml").exists()
