"""The pytest plugin, as somebody's own tests use it: each run is a pytest of its own in an empty folder."""

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from importlib import metadata
from pathlib import Path

import pytest

SUMS = """
import numpy as np
from exchequer import PureDP

RNG = np.random.default_rng()

def noisy(scale):
    return lambda data: sum(data) + round(RNG.laplace(scale=scale) * 2**20) * 2.0**-20

def test_right(privacy):
    assert privacy.function(noisy(1.0), PureDP(1.0), records=[0, 1], n=2).verdict == "not refuted"

def test_wrong(privacy):
    privacy.function(noisy(0.8), PureDP(1.0), records=[0, 1], n=2)
"""


def run(folder: Path, text: str, *arguments: str, configuration: str = "") -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(text, encoding="utf-8")
    (folder / "pytest.ini").write_text(f"[pytest]\n{configuration}", encoding="utf-8")
    installed = any(point.value == "exchequer.pytest_plugin" for point in metadata.entry_points(group="pytest11"))
    plugin = () if installed else ("-p", "exchequer.pytest_plugin")
    words = [sys.executable, "-m", "pytest", *plugin, "-p", "no:cacheprovider", *arguments]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=300, check=False)


def test_ten_lines_check_a_right_program_and_a_wrong_one(tmp_path: Path) -> None:
    found = run(tmp_path, SUMS, "--privacy-seed=5", "--junitxml=j.xml", "--privacy-sarif=s.json")
    assert found.returncode == 1
    assert "1 failed, 1 passed" in found.stdout
    assert re.search(r"ClaimViolated: .*refuted; loss 1\.\d+ of 1", found.stdout)
    assert "reproduce: pytest 'test_it.py::test_wrong' --privacy-seed=5" in found.stdout
    assert "def check_function" not in found.stdout, "the traceback ends in the test"
    assert "privacy claims" in found.stdout
    assert found.stdout.count("| PureDP(epsilon=1.0) |") == 2
    assert "refuted with a chance of at most 4.5e-07 in all" in found.stdout
    cases = {case.get("name"): case for case in ET.parse(tmp_path / "j.xml").iter("testcase")}
    (property_,) = cases["test_right"].iter("property")
    assert json.loads(str(property_.get("value")))["verdict"] == "not refuted"
    (sarif_run,) = json.loads((tmp_path / "s.json").read_text())["runs"]
    assert sorted(result["kind"] for result in sarif_run["results"]) == ["fail", "pass"]
    (place,) = next(result for result in sarif_run["results"] if result["kind"] == "fail")["locations"]
    assert place["physicalLocation"] == {"artifactLocation": {"uri": "test_it.py"}, "region": {"startLine": 13}}


RECORDED = """
import numpy as np
from exchequer import PureDP

RNG = np.random.default_rng()

def test_right(privacy):
    privacy.recorded(lambda data: sum(data) + RNG.laplace(scale=1.0), PureDP(1.0), records=[0, 1], n=2)

def test_wrong(privacy):
    privacy.recorded(lambda data: sum(data) + RNG.laplace(scale=0.99), PureDP(1.0), [((0, 0), (0, 1))])
"""


def test_programs_are_recorded(tmp_path: Path) -> None:
    found = run(tmp_path, RECORDED, "--privacy-time=2")
    assert "1 failed, 1 passed" in found.stdout
    taken = [float(seconds) for seconds in re.findall(r"\| ([\d.]+) \|$", found.stdout, re.MULTILINE)]
    assert len(taken) == 2
    assert sum(taken) < 4.0, "a second for each of six pairs, were they not told of the time"
    assert re.search(r"ClaimViolated: .*refuted; ε 1\.0101 of 1", found.stdout)
    assert "def check_recorded" not in found.stdout, "the traceback ends in the test"


MANY = """
import numpy as np
import pytest
from exchequer import ApproxDP, BoundedRange, PureDP, ReplaceOne
from exchequer import ExponentialChoice, PlainSelection, Query, RangeSensitivity
from exchequer.testing import ClaimViolated, check_sensitivity, neighbours

COUNTS = Query("counts", lambda d: np.bincount(d, minlength=3).astype(float), RangeSensitivity(2.0), ReplaceOne())

def test_seeded(privacy):
    print("drawn", np.random.random())

def test_twice(privacy):
    first = privacy.function(lambda d: bool(np.random.random() < 0.5), PureDP(1.0), [((0,), (1,))])
    second = privacy.function(lambda d: bool(np.random.random() < 0.5), PureDP(1.0), [((0,), (1,))])
    print("failures", 1.0 - first.confidence, 1.0 - second.confidence)

@pytest.mark.privacy(samples=100)
def test_marked(privacy):
    assert "100 outputs on each" in privacy.function(lambda d: 0, PureDP(1.0), [((0,), (1,))]).witness

def test_a_mechanism(privacy):
    assert privacy.mechanism(PlainSelection(COUNTS, ExponentialChoice(0.3)), records=range(3)).verdict == "exact"

def test_another_check(privacy):
    privacy.run(check_sensitivity, COUNTS, neighbours(ReplaceOne(), range(3), 2), complete=True)
    assert len(privacy.reports) == 1

def test_raw_data_is_refuted_after_many_checks(privacy):
    for _ in range(60):
        with pytest.raises(ClaimViolated):
            privacy.function(lambda d: sum(d), PureDP(1.0), records=[0, 1], n=1)

def test_neither(privacy):
    with pytest.raises(ValueError, match="either pairs= of neighbouring data sets, or records="):
        privacy.function(lambda d: 0, PureDP(1.0))

def test_without():
    pass
"""


def test_budgets_seeds_and_options(tmp_path: Path) -> None:
    runs = [run(tmp_path, MANY, "-s", "-m", "privacy", "--privacy-seed=1", "--privacy-false-alarms=6e-3") for _ in "ab"]
    assert all("7 passed, 1 deselected" in found.stdout for found in runs), runs[0].stdout
    drawn = {re.findall(r"drawn ([\d.]+)", found.stdout)[0] for found in runs}
    assert len(drawn) == 1, "the same seed draws the same"
    (first, second) = map(float, re.findall(r"failures (\S+) (\S+)", runs[0].stdout)[0])
    assert first == pytest.approx(0.9 * 6e-3 / 7 / 2)
    assert second == pytest.approx(0.9 * 6e-3 / 7 / 6)


def test_processes_of_xdist_share_the_seed_and_one_table(tmp_path: Path) -> None:
    found = run(tmp_path, MANY, "-n", "2", "--privacy-seed=3")
    assert "8 passed" in found.stdout
    assert found.stdout.count("| not refuted") + found.stdout.count("| exact") == 5
    assert "seed 3;" in found.stdout


def test_time_and_configuration(tmp_path: Path) -> None:
    slow = "import time\n" + SUMS.replace("sum(data) +", "time.sleep(0.001) or sum(data) +")
    found = run(tmp_path, slow, "-k", "right", configuration="privacy_time = 2\nprivacy_false_alarms = 1e-3")
    assert "1 passed" in found.stdout
    assert "at most 0.00045 in all" in found.stdout
    seconds = float(re.findall(r"\| ([\d.]+) \|$", found.stdout, re.MULTILINE)[-1])
    assert seconds < 6.0
    bad = run(tmp_path, SUMS, configuration="privacy_false_alarms = 2")
    assert bad.returncode == 4
    assert "privacy_false_alarms: expected a chance in (0, 1), got 2.0" in bad.stderr


LATE = """
import pytest
from exchequer import PureDP
from exchequer.testing import ClaimViolated, check_function

PAIRS = [((0,), (1,))]

@pytest.fixture
def checked(privacy):
    return privacy.function(sum, PureDP(1.0), PAIRS)

def test_setup(checked):
    pass

@pytest.mark.parametrize("k", range(2))
def test_late(request, k):
    privacy = request.getfixturevalue("privacy")
    print("failure", 1.0 - privacy.function(lambda data: 0, PureDP(1.0), PAIRS, samples=100).confidence)

def test_own(privacy):
    privacy.run(check_function, lambda data: 0, PAIRS, PureDP(1.0), samples=100, confidence=0.9)
"""


def test_what_is_refuted_in_a_fixture_is_told_and_what_comes_late_shares_the_budget(tmp_path: Path) -> None:
    found = run(tmp_path, LATE, "-s", "--privacy-false-alarms=0.1", "--privacy-sarif=new/s.json")
    assert "3 passed, 1 error" in found.stdout
    assert found.stdout.count("| PureDP(epsilon=1.0) | refuted |") == 1
    assert found.stdout.count("| PureDP(epsilon=1.0) | not refuted") == 3
    failures = [float(each) for each in re.findall(r"failure (\S+)", found.stdout)]
    assert failures == pytest.approx([0.1 * 0.1 / 2 / 2, 0.1 * 0.1 / 6 / 2])
    assert "chance of at most 0.13 in all, more than 0.1: tests give confidences of their own" in found.stdout
    assert len(json.loads((tmp_path / "new" / "s.json").read_text())["runs"][0]["results"]) == 4


def test_findings_are_written_where_there_are_none(tmp_path: Path) -> None:
    found = run(tmp_path, "def test_nothing(): pass", "--privacy-sarif=s.json")
    assert found.returncode == 0
    assert json.loads((tmp_path / "s.json").read_text())["runs"][0]["results"] == []


def test_the_time_of_a_test_is_that_of_all_its_checks(tmp_path: Path) -> None:
    twice = SUMS.replace("sum(data) +", "time.sleep(0.001) or sum(data) +") + "\n\ndef test_twice(privacy):\n"
    twice += "    for _ in range(3):\n        privacy.function(noisy(1.0), PureDP(1.0), records=[0, 1], n=2)\n"
    found = run(tmp_path, "import time\n" + twice, "-k", "twice", configuration="privacy_time = 4\n")
    assert "1 passed" in found.stdout
    seconds = [float(each) for each in re.findall(r"\| ([\d.]+) \|$", found.stdout, re.MULTILINE)]
    assert min(seconds) < 2.0 < max(seconds)
