"""Files that somebody sent: said once, in numbers that floats hold, and no code of theirs is run."""

import base64
import contextlib
import importlib
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mechanisms.foreign.file_contents as file_contents
from accountant import AddRemoveOne
from mechanisms.foreign import plan_of_opacus, read_spends

SPEND = (
    '{"cost": {"kind": "approx-dp", "epsilon": %s, "delta": %s}, "adjacency": "add-remove-one", "library": "x", '
    '"version": "1", "name": "n"}'
)


def read(path: Path, text: str) -> Any:
    path.write_text(text)
    return read_spends(path, adjacency=AddRemoveOne())


def ours(epsilon: str = "1", delta: str = "0") -> str:
    return '{"format": "exchequer-spends-1", "spends": [%s]}' % (SPEND % (epsilon, delta))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (ours('1, "epsilon": 0.001'), "'epsilon' is said twice"),
        (ours()[:-1] + ', "spends": []}', "'spends' is said twice"),
        (ours("1e-400"), "1e-400 is beyond what floats hold: it would be taken for 0.0"),
        (ours("0.000" + "0" * 400 + "1"), "taken for 0.0"),
        (ours("1", "1e-330"), "taken for 0.0"),
        (ours("1e400"), "taken for inf"),
        (ours("1" + "0" * 400), "beyond what floats hold"),
        ('[[1e400, 0.1, 10]]', "taken for inf"),
    ],
)  # fmt: skip
def test_what_would_be_read_as_another_number_is_refused(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        read(tmp_path / "spends.json", text)


@given(st.floats(0.0, 1e300), st.floats(0.0, 0.999))
def test_every_number_that_a_float_is_comes_back(epsilon: float, delta: float) -> None:
    content = json.loads(
        ours(repr(epsilon), repr(delta)), parse_float=file_contents._float, parse_int=file_contents._whole
    )
    cost = content["spends"][0]["cost"]
    assert (cost["epsilon"], cost["delta"]) == (epsilon, delta)


@given(st.integers(1, 10**6), st.integers(-1000, 400))
def test_no_written_number_above_0_is_read_as_0(digits: int, exponent: int) -> None:
    with contextlib.nullcontext() if -320 <= exponent <= 300 else contextlib.suppress(ValueError):
        assert file_contents._float(f"{digits}e{exponent}") > 0.0


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (ours().replace('"x"', "{}"), "library: expected a text"),
        (ours().replace('"1"', "1"), "version: expected a text"),
        (ours().replace('"approx-dp"', "[]"), "kind must be a text"),
        ('{"privacy_budget": {"kind": "PureDPBudget", "epsilon": 1, "delta": 0.5}}', "unknown: 'delta'"),
        ('{"privacy_budget": {"kind": [], "epsilon": 1}}', "expected a kind of"),
        ('{"privacy_budget": {"kind": "PureDPBudget", "epsilon": "1"}}', "non-negative finite number"),
        ('{"privacy_budget": {"kind": "ApproxDPBudget", "epsilon": 1}}', "needs delta"),
        ('{"__function__": "make_x", "__module__": []}', "is no constructor"),
    ],
)
def test_other_types_and_parts_are_refused_by_name(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        read(tmp_path / "spends.json", text)


def test_a_file_that_tells_no_size_is_not_read_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_contents, "LARGEST_FILE", 100)
    with pytest.raises(ValueError, match="larger than 100 bytes"):
        read(tmp_path / "spends.json", ours())
    with pytest.raises(ValueError, match="larger than 100 bytes"):
        read_spends(Path(os.devnull).with_name("zero"), adjacency=AddRemoveOne())


def serialized(kwargs: Mapping[str, Any]) -> str:
    named = {"__function__": "make_sum", "__module__": "transformations", "__version__": "0.16.0"}
    return json.dumps({**named, "__kwargs__": kwargs})


def test_opendp_reads_no_pickles_and_no_texts_that_it_would_read_once_more(tmp_path: Path) -> None:
    """A module named in a text of a margin was imported, and pickled functions reached polars."""
    opendp: Any = pytest.importorskip("opendp.mod")
    module = tmp_path / "bomb_of_a_file.py"
    module.write_text("raise SystemExit('it was run')")
    inner = {"__module__": "mod", "__function__": "import_optional_dependency", "__version__": "0.16.0"}
    margin = json.dumps({**inner, "__kwargs__": {"name": module.stem}})
    features = set(opendp.GLOBAL_FEATURES)
    sys.path.insert(0, str(tmp_path))
    try:
        for kwargs in (
            {"m": {"__margin__": {"by": [margin]}}},
            {"m": [{"__expr__": base64.b64encode(b"PLPYFN").decode()}]},
            {"m": {"deep": {"__lazyframe__": ""}}},
            {"m": {"__reduce__": ""}},
        ):
            with pytest.raises(ValueError, match="may bring code along"):
                read(tmp_path / "measurement.json", serialized(kwargs))
    finally:
        sys.path.remove(str(tmp_path))
    assert module.stem not in sys.modules
    with pytest.raises(ValueError, match="OpenDP cannot read"):
        read(tmp_path / "measurement.json", serialized({}))
    assert features == opendp.GLOBAL_FEATURES  # reading a file enables nothing


# --- checkpoints of torch: where it is installed ------------------------------------------------------------------


@pytest.mark.parametrize("version", ["2.5.1", "1.13.0+cu117", "unknown", "2"])
def test_a_torch_that_runs_what_a_checkpoint_brings_along_is_refused(version: str) -> None:
    with pytest.raises(ValueError, match=r"install 2\.6 or newer"):
        file_contents.refuse_unsafe(version)
    file_contents.refuse_unsafe("2.6.0+cpu")
    file_contents.refuse_unsafe("10.0")


class Bomb:
    """Makes a file where it is unpickled as Python's pickle does."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (open, (str(self.path), "w"))


HISTORY = [(1.1, 0.01, 100), (0.9, 0.02, 50)]


@pytest.mark.parametrize("suffix", [".pt", ".PTH"])
@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.filterwarnings("ignore")  # of what it calls
def test_a_checkpoint_is_read_and_runs_nothing(tmp_path: Path, zipped: bool, suffix: str) -> None:
    torch: Any = pytest.importorskip("torch", reason="checkpoints are read where torch is installed")
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    state = {"history": HISTORY, "mechanism": "prv"}
    whole = {
        "module_state_dict": model.state_dict(),
        "optimizer_state_dict": optimizer.state_dict(),
        "privacy_accountant_state_dict": state,
    }
    path = tmp_path / f"model{suffix}"

    def saved(content: Any) -> Path:
        torch.save(content, path, _use_new_zipfile_serialization=zipped)
        return path

    found = read_spends(saved(whole), adjacency=AddRemoveOne())
    assert [each.steps for each in found.spends] == [plan_of_opacus(HISTORY)]
    assert found.digest == read(tmp_path / "state.json", json.dumps(state)).digest  # the same spend, once
    bomb = tmp_path / "it_was_run"
    with pytest.raises(ValueError, match="nothing else in it is run"):
        read_spends(saved({**whole, "more": Bomb(bomb)}), adjacency=AddRemoveOne())
    assert not bomb.exists()
    for wrong in (None, [5], [(torch.tensor(1.0), 0.1, 1)], torch.ones(2, 3), [(1.0, 0.1, True)]):
        with pytest.raises(ValueError, match="history"):
            read_spends(saved({"history": wrong, "mechanism": "rdp"}), adjacency=AddRemoveOne())
    with pytest.raises(ValueError, match="holds no state of an accountant"):
        read_spends(saved(model.state_dict()), adjacency=AddRemoveOne())


def test_without_torch_a_checkpoint_names_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "model.pth"
    path.write_bytes(b"")
    try:
        importlib.import_module("torch")
    except ImportError:
        with pytest.raises(ImportError, match=r"json\.dump"):
            read_spends(path, adjacency=AddRemoveOne())
    else:
        with pytest.raises(ValueError, match=r"json\.dump"):
            read_spends(path, adjacency=AddRemoveOne())
