"""The peers: environments are made whole or again, workers answer, what is absent is said, tables are right."""

import gc
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs
import numpy as np
import pytest

from benchmarks.data.splits import Part, Split
from benchmarks.peer_workers import books_dp_accounting, books_ours, fits_opendp, fits_ours, serve
from benchmarks.peers import peer_accounting, peer_environments
from benchmarks.peers.peer_costs import NOT_TOLD, Cost, memory, ratios, times
from benchmarks.peers.peer_data import Few, Files, arrays
from benchmarks.peers.peer_environments import OURS, PINS, has, place_of, present, python_of
from benchmarks.peers.peer_processes import Worker
from benchmarks.peers.peer_quality import Size, lead, quality
from benchmarks.peers.peer_systems import (
    ALL_CODE,
    ENTRANTS,
    FROM_COLUMNS,
    ONE_EACH,
    PEERS,
    RECOMMENDED,
    Entrant,
    promises,
)
from benchmarks.peers.peers import parts
from benchmarks.runner.partial_results import ROOT
from benchmarks.runner.report import Measured, Report
from benchmarks.runner.run import ABSENT, Missing
from benchmarks.runner.suite import Setting
from benchmarks.systems.registry import many_boosted_rules
from benchmarks.systems.systems import Measurement, System
from exchequer.datasets import DataNotFound, breast_cancer
from learners import Categorical, Label, Numeric, Schema

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells memory in /proc")


class OneSplit:
    """A plan of one small split."""

    name, protocol, reseeded = "breast_cancer", "test set", False

    def __init__(self) -> None:
        self._split = Split.of(breast_cancer())

    def __call__(self, seed: int) -> list[Split]:
        return [self._split]


def made_up() -> Split:
    """A number and a colour, either of which says the label four times in five."""
    columns = (Numeric("x", 0.0, 1.0, bins=4), Categorical("colour", ("red", "blue")))
    schema, rng = Schema(columns, Label("y", ("no", "yes"))), np.random.default_rng(0)

    def part(n: int) -> Part:
        yes = rng.random(n) < 0.5
        told = [np.where(rng.random(n) < 0.8, yes, ~yes) for _ in range(2)]
        table = {"x": 0.5 * told[0] + 0.4 * rng.random(n), "colour": np.where(told[1], "red", "blue")}
        return Part(schema, table, np.where(yes, "yes", "no"))

    return Split("made up", part(4_000), part(500))


# --- environments -------------------------------------------------------------------------------------------------


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A peer. pip finds its package in a folder, and nothing else anywhere."""
    place = tmp_path / "packages"
    place.mkdir()
    facts = "tinypeer-1.0.dist-info"
    with zipfile.ZipFile(place / "tinypeer-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tinypeer.py", "NAME = 'tiny'\n")
        wheel.writestr(f"{facts}/METADATA", "Metadata-Version: 2.1\nName: tinypeer\nVersion: 1.0\n")
        wheel.writestr(f"{facts}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{facts}/RECORD", "")
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(place))
    monkeypatch.setitem(PINS, "tiny", ("tinypeer==1.0",))
    return "tiny"


def test_an_interrupted_environment_is_made_again_and_a_whole_one_is_kept(tiny: str, tmp_path: Path) -> None:
    home = tmp_path / "environments"
    left = place_of(tiny, home) / "bin" / "left"
    left.parent.mkdir(parents=True)
    left.write_text("of an installation that did not end")
    python = python_of(tiny, home)
    assert python.parent == left.parent
    assert not left.exists()
    said = subprocess.run([python, "-c", "import tinypeer; print(tinypeer.NAME)"], capture_output=True, text=True)
    assert said.stdout == "tiny\n"
    left.write_text("of a later hand")
    assert python_of(tiny, home) == python
    assert left.exists()


def test_what_pip_cannot_install_is_missing_with_the_remedy(
    tiny: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = venv.create
    monkeypatch.setattr(venv, "create", lambda place, **_: create(place))  # without pip, which takes a while
    with pytest.raises(Missing, match=r"tiny: pip could not install tinypeer==1\.0 .* EXCHEQUER_PEERS"):
        python_of(tiny, tmp_path)
    monkeypatch.setenv("EXCHEQUER_PEERS", str(tmp_path))
    found, lines = present([tiny, OURS, tiny])
    assert found == {OURS: Path(sys.executable)}
    assert [line.what for line in lines] == [ABSENT]


def test_an_interpreter_that_has_everything_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PINS, "here", (f"numpy=={np.__version__}",))
    assert python_of("here", tmp_path) == Path(sys.executable)
    assert not has(("numpy==0.1",))
    assert not has(("no-such-package==1.0",))
    assert not list(tmp_path.iterdir())


# --- workers ------------------------------------------------------------------------------------------------------


def test_a_worker_fits_and_tells_times_memory_and_scores(tmp_path: Path) -> None:
    """Naive Bayes of OpenDP at an ε where noise hides nothing."""
    split = made_up()
    job = {**Files(tmp_path).of(split), "epsilon": 20.0, "delta": 1e-5, "scores": str(tmp_path / "s.npy")}
    with Worker(fits_opendp, Path(sys.executable)) as worker:
        answer = worker.ask(do="fit", **job)
        assert min(answer["fit"], answer["predict"]) > 0.0
        if worker.imports is not None:
            assert 0.0 < worker.imports <= answer["loaded"] + 1.0 <= answer["peak"] + 1.0
        scores = np.load(tmp_path / "s.npy")
        assert np.mean((scores > 0.0) == split.test.positive) > 0.75
        with pytest.raises(RuntimeError, match=r"fits_opendp failed at [\s\S]*No such file"):
            worker.ask(do="fit", **{**job, "train": str(tmp_path / "nowhere.npz")})
        assert worker.ask(do="fit", **job)["fit"] > 0.0  # it goes on


def test_a_worker_that_cannot_begin_says_why() -> None:
    with (
        pytest.raises(RuntimeError, match=r"ended:[\s\S]*no_such_worker"),
        Worker(ModuleType("no_such_worker"), Path(sys.executable)) as worker,
    ):
        worker.ask(do="fit")


def test_what_a_package_prints_does_not_come_between_the_answers() -> None:
    program = (
        "from benchmarks.peer_workers.serve import serve\n"
        "serve({'say': lambda job: print('loud', flush=True) or {'said': job['what']}}, lambda: print('louder'))"
    )
    question = '{"do": "say", "what": 3}\n'
    done = subprocess.run([sys.executable, "-c", program], input=question, capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.splitlines()[1:] == ['{"said": 3}']
    assert done.stderr.splitlines() == ["louder", "loud"]


@LINUX
def test_a_peak_can_be_forgotten() -> None:
    gc.collect()  # or what other tests left behind may be freed in between
    before = serve.forget_peak()
    assert before is not None
    held = np.ones(2**23)
    most = serve.peak()
    assert most is not None
    assert most >= before + 60.0
    del held
    after = serve.resident()
    assert after is not None
    assert after < most


def test_naive_bayes_takes_the_noise_that_opendps_own_map_asks_for() -> None:
    fits_opendp.imports()
    scales = [fits_opendp.smallest_scale(2, epsilon, 1e-5) for epsilon in (0.1, 1.0)]
    assert 7.0 < scales[0] / scales[1] < 11.0
    for columns in (1, 22):
        rho = columns / (2.0 * fits_opendp.smallest_scale(columns, 1.0, 1e-5) ** 2)
        # ε = ρ + 2√(ρ ln 1/δ) is the simplest conversion; OpenDP's is a little better.
        assert 1.0 < rho + 2.0 * np.sqrt(rho * np.log(1e5)) < 1.25
    counts = np.array(fits_opendp.histogram(2, 2, 30.0)(np.arange(4_000) % 4))
    assert counts.shape == (4,)
    assert np.all(np.abs(counts - 1_000) < 6 * 30.0)


def test_records_too_wide_for_a_number_are_refused() -> None:
    with pytest.raises(OverflowError, match="63 bits"):
        fits_opendp.load(arrays("breast_cancer", OneSplit()(0)[0].train))


@pytest.mark.parametrize("entrant", [each for each in ENTRANTS if each.peer == OURS], ids=lambda each: each.name)
def test_ours_learn_in_every_form(entrant: Entrant) -> None:
    (split,) = OneSplit()(0)
    train, test = (fits_ours.load(arrays(split.name, part)) for part in (split.train, split.test))
    scores = fits_ours.fit(train, {**entrant.job(20.0, 1e-5), "seed": 0})(test)
    assert np.mean((scores > 0.0) == split.test.positive) > 0.8


def test_our_rules_are_the_registrys() -> None:
    rules = next(each for each in ENTRANTS if "1-Rules" in each.name)
    known = many_boosted_rules("adult", 1.0, 1e-5, 0).get_params()
    assert fits_ours.estimator({**rules.job(1.0, 1e-5), "seed": 0}, None).get_params() == known


# --- who takes part -----------------------------------------------------------------------------------------------


def test_everybody_is_somebody_else_and_says_what_it_promises() -> None:
    names = [each.name for each in ENTRANTS]
    assert len(set(names)) == len(names)
    assert {each.peer for each in ALL_CODE} == {each.peer for each in ENTRANTS} == {OURS, *PINS} - {"dp-accounting"}
    assert sorted(each.peer for each in ONE_EACH) == sorted({each.peer for each in ENTRANTS})
    assert {RECOMMENDED, FROM_COLUMNS} <= set(ALL_CODE)
    assert [row[0] for row in promises().rows] == names


def test_only_measurements_of_peers_made_in_the_same_way_are_kept(tmp_path: Path) -> None:
    peer = PEERS[0]
    found = Measurement(peer.name, "adult", "test set", 1.0, 1e-5, 0, 0.8, 0.9, 0.1)
    peer.results(tmp_path).add(found)
    assert peer.results(tmp_path).get(found.key) == found
    other = attrs.evolve(peer, settings={**peer.settings, "C": 2.0})
    assert other.results(tmp_path).get(found.key) is None
    ours = attrs.evolve(found, system=RECOMMENDED.name)
    RECOMMENDED.results(tmp_path).add(ours)
    assert RECOMMENDED.results(tmp_path).get(ours.key) is None


def test_few_records_are_the_same_few() -> None:
    few = Few(OneSplit(), 50)
    (split,) = few(0)
    assert (split.train.labels.size, split.test.labels.size) == (50, 50)
    assert few(1)[0] is split
    assert few.protocol == "test set, 50 records"
    assert split.train.sample.n == 50


# --- tables -------------------------------------------------------------------------------------------------------


def test_what_is_absent_is_said_and_the_others_are_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(peer: str, folder: Path) -> Path:
        raise Missing(f"{peer}: nowhere")

    monkeypatch.setattr(peer_environments, "python_of", nowhere)
    entrants = tuple(each for each in ALL_CODE if each.peer in (OURS, "interpret"))
    tables = quality(OneSplit(), Size(entrants, (1.0,), 1, judged=True), tmp_path)
    assert isinstance(tables[0], Report)
    assert [(line.what, line.found) for line in tables[0].lines] == [(ABSENT, "interpret: nowhere")]
    for table in tables[1:]:
        assert [record.row for record in table.cells()] == [RECOMMENDED.name, "boosted 1-Rules, 200 rounds"]
        assert all(isinstance(record.cell, Measured) and 0.3 < record.cell.value <= 1.0 for record in table.cells())
    assert len(tables) == 3


def row(name: str, accuracy: float, auc: float) -> tuple[System, dict[float, list[Measurement]]]:
    def unused(*_: object) -> Any:
        raise NotImplementedError

    return System(name, unused), {1.0: [Measurement(name, "adult", "test set", 1.0, 1e-5, 0, accuracy, auc, 0.1)]}


def test_ours_is_held_against_the_best_peer_at_each_figure() -> None:
    first, second = PEERS[0].name, PEERS[1].name
    tables = dict([row(RECOMMENDED.name, 0.8, 0.9), row(first, 0.7, 0.95), row(second, 0.75, 0.6)])
    (report,) = lead(tables, "t", judged=True)
    assert [(line.asked, line.met) for line in report.lines] == [
        (f"> 0.7500, {second}", True),
        (f"> 0.9500, {first}", False),
    ]
    (report,) = lead(tables, "t", judged=False)
    assert [line.met for line in report.lines] == [None, None]
    assert lead(dict([row(RECOMMENDED.name, 0.8, 0.9)]), "t", judged=True) == []


def test_costs_are_medians_and_ratios_to_ours_from_columns() -> None:
    found = {
        FROM_COLUMNS: Cost([1.0, 2.0, 4.0], [0.1, 0.1, 0.1], 100.0, 10.0),
        PEERS[0]: Cost([2.0, 6.0, 16.0], [0.2, 0.3, 0.2], 50.0, 40.0),
        PEERS[1]: Cost([1.0, 2.0, 4.0], [0.1, 0.1, 0.1], None, None),
    }
    over = {(record.row, record.column): record.cell for record in ratios(found, "t").cells()}
    three = [over[PEERS[0].name, column] for column in ("fit", "predict", "memory")]
    assert [cell.value for cell in three if isinstance(cell, Measured)] == pytest.approx([3.0, 2.0, 4.0])
    assert over[PEERS[1].name, "memory"] == NOT_TOLD
    assert [str(cell) for cell in times(found, "t").rows[1][1:]] == ["6 ± 3.5 s", "0.2 ± 0.025 s"]
    assert [str(cell) for cell in memory(found, "t").rows[1][1:]] == ["50 MiB", "40 MiB"]
    assert memory(found, "t").rows[2][1:] == (NOT_TOLD, NOT_TOLD)


# --- accounting ---------------------------------------------------------------------------------------------------


class Clerk:
    """Answers at once, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def ask(self, **job: Any) -> dict[str, Any]:
        self.asked.append(job)
        return {"seconds": 1e-3 * len(self.asked), "epsilon": job.get("rounds", 0) / 100.0}


def test_accountants_take_turns_and_the_first_round_is_not_counted() -> None:
    clerk = Clerk()
    workers = dict.fromkeys((OURS, "opendp"), clerk)
    turns = peer_accounting.Turns(workers, (100, 300), 2)  # type: ignore[arg-type]  # a clerk is asked alike
    rates, over = peer_accounting.charges(turns)
    # Ours twice and OpenDP's two, of which one is not asked at 300.
    assert [job["charges"] for job in clerk.asked] == ([100] * 4 + [300] * 3) * 3
    assert [row[0] for row in rates.rows] == [each.name for each in peer_accounting.CHARGED if each.peer in workers]
    assert rates.rows[3][2] == over.rows[2][2] == peer_accounting.TOO_LONG
    titles = [table.title for table in peer_accounting.plans(peer_accounting.GAUSSIAN, turns)]
    assert len(titles) == len(set(titles)) == 3  # no PLD, so nothing over it
    assert len({job["loss"] for job in clerk.asked if job["do"] == "price"}) == 3


@pytest.mark.parametrize(("kind", "theirs"), [("gaussian", "gaussian"), ("pure", "response")])
def test_our_price_is_that_of_privacy_loss_distributions(kind: str, theirs: str) -> None:
    pytest.importorskip("dp_accounting")
    plan = {"loss": 0.01, "rounds": 100, "delta": 1e-5}
    pld = books_dp_accounting.price({**plan, "kind": theirs, "rule": "pld", "grid": 1e-5})
    assert books_ours.price({**plan, "kind": kind})["epsilon"] == pytest.approx(pld["epsilon"], rel=2e-3)


def test_randomised_response_as_an_event_of_dp_accounting_forgets_how_often() -> None:
    """Why its price goes by the distribution."""
    accounting = pytest.importorskip("dp_accounting")
    pld = pytest.importorskip("dp_accounting.pld")
    event = accounting.RandomizedResponseDpEvent(2.0 / (1.0 + np.exp(0.01)), 2)
    books = pld.PLDAccountant(accounting.NeighboringRelation.REPLACE_ONE)
    assert books.compose(event, 100).get_epsilon(1e-5) < 0.011


@pytest.mark.parametrize("rule", ["zcdp", "basic"])
def test_a_charge_of_ours_takes_time(rule: str) -> None:
    assert books_ours.charge({"rule": rule, "charges": 10, "times": 5})["seconds"] > 0.0


# --- the benchmark ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("quick", [True, False])
def test_parts_are_named_and_lack_only_data(quick: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EXCHEQUER_DATA", raising=False)
    made = {part.name: part for part in parts(Setting(None, quick, tmp_path))}
    assert list(made)[:4] == ["packages", "promises", "Adult: quality", "Adult: costs"]
    assert len(made) == (5 if quick else 9)
    assert made["promises"].make()[0].met
    monkeypatch.setattr(peer_environments, "python_of", lambda peer, folder: Path(sys.executable))
    for name in ("Adult: quality", "Adult: costs"):
        with pytest.raises(DataNotFound):
            made[name].make()
