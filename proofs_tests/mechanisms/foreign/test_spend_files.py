"""Files of foreign spends: what each format says, and what is refused, with its place, before anything is charged."""

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

import mechanisms.foreign.spend_files as spend_files
from accountant import (
    GDP,
    ZCDP,
    AddRemoveOne,
    Adjacency,
    ApproxDP,
    Cost,
    Plan,
    PureDP,
    ReplaceOne,
    Step,
    SubsampledGaussian,
)
from accountant.costs import KINDS
from mechanisms.foreign import plan_of_opacus, read_spends

SPEND: dict[str, Any] = {
    "cost": {"kind": "gdp", "mu": 0.25},
    "adjacency": "add-remove-one",
    "library": "somebody's",
    "version": "1.2",
    "name": "a sum",
}


def read(tmp_path: Path, content: Any, adjacency: Adjacency | None = None, delta: float | None = None) -> Any:
    path = tmp_path / "spends.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return read_spends(path, adjacency=adjacency or AddRemoveOne(), delta=delta)


def ours(*spends: Any) -> dict[str, Any]:
    return {"format": "exchequer-spends-1", "spends": list(spends)}


def test_our_own_format_says_all_there_is_to_say(tmp_path: Path) -> None:
    full = {**SPEND, "date": "2026-01-31", "times": 4, "delta": 1e-6, "adjacency": {"name": "replace-one"}}
    found = read(tmp_path, ours(SPEND, full))
    assert found.kind == "exchequer-spends-1"
    first, second = found.spends
    assert first.steps == Plan([Step(GDP(0.25), 1)], adjacency=AddRemoveOne())
    assert second.steps == Plan([Step(GDP(0.25), 4)], adjacency=ReplaceOne())
    assert (second.library, second.name, second.date, second.delta) == ("somebody's 1.2", "a sum", "2026-01-31", 1e-6)


def test_the_schema_describes_what_is_read() -> None:
    schema = json.loads((Path(spend_files.__file__).parent / "spends.schema.json").read_text())
    assert schema["properties"]["format"]["const"] == spend_files.FORMAT
    assert set(schema["$defs"]["spend"]["properties"]) == set(spend_files.OWN)
    text = json.dumps(schema["$defs"])
    assert all(f'"{kind}"' in text for kind in KINDS if kind != "unbounded")


def test_a_digest_is_of_the_content_and_not_of_its_spelling(tmp_path: Path) -> None:
    text = json.dumps(ours(SPEND))
    spelt = json.dumps(ours(dict(reversed(SPEND.items()))), indent=3)
    assert read(tmp_path, text).digest == read(tmp_path, spelt).digest
    assert read(tmp_path, text).digest != read(tmp_path, ours(SPEND, SPEND)).digest


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("{", "is no JSON"),
        ("[" * 100_000, "is no JSON"),
        ('{"a": NaN}', "NaN is no number of JSON"),
        ({}, "none of the known formats"),
        ([], "none of the known formats"),
        ({"format": "exchequer-spends-2", "spends": [SPEND]}, "is of another version"),
        (ours(), "spends: expected a list of at least one"),
        ({**ours(SPEND), "more": 1}, "unknown: 'more'"),
        (ours(SPEND, 7), r"spends\[1\]: expected names and values"),
        (ours({**SPEND, "epsilon": 1}), r"spends\[0\]: unknown: 'epsilon'"),
        (ours({k: v for k, v in SPEND.items() if k != "library"}), r"spends\[0\]: missing: library"),
        (ours({**SPEND, "cost": {"kind": "gdp", "mu": "0.1"}}), "cost: mu must be a number"),
        (ours({**SPEND, "cost": {"kind": "gdp", "mu": True}}), "cost: mu must be a number"),
        (ours({**SPEND, "cost": {"kind": "gdp", "mu": -1}}), "expected a non-negative finite number"),
        (ours({**SPEND, "cost": {"kind": "gdp"}}), "cost: "),
        (ours({**SPEND, "cost": {"kind": "magic"}}), "unknown kind of cost 'magic'"),
        (ours({**SPEND, "adjacency": "both"}), "adjacency: expected add-remove-one or replace-one, got 'both'"),
        (ours({**SPEND, "times": 0}), "whole number of at least 1"),
        (ours({**SPEND, "times": 1.5}), "whole number of at least 1"),
        (ours({**SPEND, "name": " "}), "name: expected a text"),
        (ours({**SPEND, "date": "yesterday"}), "date: expected one as 2026-01-31"),
        (ours({**SPEND, "delta": 1}), r"\(0, 1\)"),
        (
            ours(
                {
                    **SPEND,
                    "cost": {"kind": "subsampled-gaussian", "mu": 1, "sampling_rate": 0.1},
                    "adjacency": "replace-one",
                }
            ),
            "add-remove-one only",
        ),
        ({"history": [[1.0, 0.1]]}, r"history\[0\]"),
        ({"privacy_budget": {"kind": "Own"}}, "privacy_budget: expected a kind of"),
        ({"privacy_budget": {"kind": "PureDPBudget"}, "protected_change": "AddOneRow"}, "needs epsilon"),
        ({"privacy_budget": {"kind": "PureDPBudget", "epsilon": 1}}, "protected_change: AddOneRow"),
    ],
)
def test_what_is_no_such_file_is_refused_with_its_place(tmp_path: Path, content: Any, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        read(tmp_path, content)


HISTORY = [[1.0, 0.01, 500], [0.8, 0.02, 100]]


@pytest.mark.parametrize(
    "content",
    [
        HISTORY,
        {"history": HISTORY, "mechanism": "rdp"},
        {"privacy_accountant_state_dict": {"history": HISTORY, "mechanism": "prv"}, "epoch": 3},
    ],
)
def test_states_of_opacus_are_their_plans(tmp_path: Path, content: Any) -> None:
    found = read(tmp_path, content)
    (spend,) = found.spends
    assert found.kind == "Opacus"
    assert spend.steps == plan_of_opacus(HISTORY)
    assert spend.library.startswith("Opacus (")


def test_a_checkpoint_needs_torch_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    path.write_bytes(b"\x80\x02}q\x00.")
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        with pytest.raises(ImportError, match=r"torch, which is not installed.*state_dict"):
            read_spends(path, adjacency=AddRemoveOne())
        return
    torch.save({"privacy_accountant_state_dict": {"history": [(1.0, 0.01, 500)], "mechanism": "rdp"}}, path)
    (spend,) = read_spends(path, adjacency=AddRemoveOne()).spends
    assert spend.steps == plan_of_opacus([(1.0, 0.01, 500)])


@pytest.mark.parametrize(
    ("budget", "cost"),
    [
        ({"kind": "PureDPBudget", "epsilon": 1}, PureDP(1.0)),
        ({"kind": "ApproxDPBudget", "epsilon": 1, "delta": 1e-6}, ApproxDP(1.0, 1e-6)),
        ({"kind": "RhoZCDPBudget", "rho": 0.5}, ZCDP(0.5)),
    ],
)
def test_a_session_of_tumult_costs_its_budget(tmp_path: Path, budget: Any, cost: Cost) -> None:
    found = read(tmp_path, {"privacy_budget": budget, "protected_change": "AddOneRow", "version": "0.20"})
    assert [step.cost for step in found.spends[0].steps.steps] == [cost]
    assert found.spends[0].library == "Tumult Analytics 0.20"


def described(**changed: Any) -> dict[str, Any]:
    return {
        "input_metric": "SymmetricDistance",
        "input_distance": 1,
        "output_measure": "MaxDivergence",
        "loss": 0.5,
        "version": "0.16.0",
        **changed,
    }


def test_measurements_of_opendp_are_read_as_described(tmp_path: Path) -> None:
    both = [described(), described(output_measure="Approximate<MaxDivergence>", loss=[0.5, 1e-7], times=3)]
    found = read(tmp_path, both)
    assert [step for spend in found.spends for step in spend.steps.steps] == [
        Step(PureDP(0.5), 1),
        Step(ApproxDP(0.5, 1e-7), 3),
    ]
    replaced = read(tmp_path, described(input_distance=2), ReplaceOne())
    assert replaced.spends[0].adjacency == ReplaceOne()
    for wrong, named in (
        ({"input_distance": 1}, "neighbours under replace-one are 2 apart"),
        ({"input_distance": 2, "loss": 0}, "a loss of 0"),
        ({"input_distance": 2, "loss": "1"}, "loss: expected a number"),
        ({"input_distance": 2, "output_measure": "ExtrinsicDivergence"}, "output measure ExtrinsicDivergence"),
        ({"input_distance": 2, "input_metric": "AbsoluteDistance"}, "input metric AbsoluteDistance"),
    ):
        with pytest.raises(ValueError, match=named):
            read(tmp_path, described(**wrong), ReplaceOne())


def test_serialized_measurements_are_read_by_opendp_and_call_nothing_else(tmp_path: Path) -> None:
    dp: Any = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib", "honest-but-curious")
    vectors = dp.vector_domain(dp.atom_domain(bounds=(0, 10)))
    noisy = (vectors, dp.symmetric_distance()) >> dp.t.then_sum() >> dp.m.then_laplace(5.0)
    text = dp.serialize(noisy) if hasattr(dp, "serialize") else __import__("opendp.mod").mod.serialize(noisy)
    (spend,) = read(tmp_path, text).spends
    assert [step.cost for step in spend.steps.steps] == [PureDP(2.0)]
    for module, function in (("os", "system"), ("mod", "make_x"), ("measurements", "__import__"), (None, "make_sum")):
        record: dict[str, Any] = {"__module__": module, "__function__": function, "__kwargs__": {}}
        with pytest.raises(ValueError, match="is no constructor of OpenDP"):
            read(tmp_path, record)
        with pytest.raises(ValueError, match="is no constructor of OpenDP"):
            read(tmp_path, {**json.loads(text), "__kwargs__": {"measurement1": record}})


def test_samples_keep_their_kind(tmp_path: Path) -> None:
    cost = {"kind": "subsampled-gaussian", "mu": 1, "sampling_rate": 0.1}
    (spend,) = read(tmp_path, ours({**SPEND, "cost": cost})).spends
    assert [step.cost for step in spend.steps.steps] == [SubsampledGaussian(1.0, 0.1)]
