"""`exchequer demo` on real data, and the schema that it brings."""

import os
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_breast_cancer

from exchequer.cli import main
from exchequer.commands.demo import NEXT
from exchequer.datasets import SEARCHED, breast_cancer
from learners import Numeric

needs_data = pytest.mark.skipif(not os.environ.get(SEARCHED), reason=f"{SEARCHED} is not set")


def demo(*arguments: str, data: str | None = None) -> str:
    result = CliRunner().invoke(main, ["demo", *arguments], env={SEARCHED: data, "COLUMNS": "80"})
    assert result.exit_code == 0, result.output
    return result.stdout


def accuracies(output: str) -> list[float]:
    """Of the private model, the model without privacy and the larger class, for each data set."""
    lines = [line for line in output.splitlines() if "private" in line]
    return [float(number) for line in lines for number in re.findall(r"(\d+\.\d)% +\d\.\d{3}", line)]


def test_breast_cancer() -> None:
    output = demo()
    assert "427 training records, 142 held out" in output
    assert "privacy statement" in output
    assert "together (1, 1e-05)-differentially private under add-remove-one" in " ".join(output.split())
    assert "noise: secure" in " ".join(output.split())
    assert max(len(line) for line in output.splitlines()) <= 80


def test_a_simulation_says_so_and_repeats() -> None:
    first, second = demo("--seed", "0"), demo("--seed", "0")
    assert "simulation: not private" in first
    assert "PrivateBoostClassifier, simulated, not private" in first
    assert "privacy statement" not in first
    private, public, larger = accuracies(first)
    assert accuracies(second) == [private, public, larger]
    assert larger + 15.0 < private <= 100.0


def test_settings_are_taken_and_stated() -> None:
    output = " ".join(demo("--epsilon", "2", "--delta", "1e-6", "--rounds", "3").split())
    assert "epsilon 2, delta 1e-06, 3 rounds per column" in output
    assert "together (2, 1e-06)-differentially private" in output


def test_the_model_is_shown_in_pictures_and_in_points_and_then_what_to_type() -> None:
    output = demo("--seed", "0")
    pictures = [line for line in output.splitlines() if re.search("[▁▂▃▄▅▆▇█]{32}", line)]
    assert len(pictures) == 8
    assert "higher speaks for malignant" in output
    assert "How to read it" in output
    assert "27 more columns are not shown" in " ".join(output.split())
    for command in NEXT:
        assert command in output
        assert command.split()[1] in main.commands


def test_little_accuracy_is_admitted() -> None:
    output = " ".join(demo("--epsilon", "0.01", "--seed", "1").split())
    assert "427 records are few for differential privacy" in output
    assert "More records shrink that cost" in output


@pytest.mark.parametrize("arguments", [("--epsilon", "0"), ("--rounds", "0"), ("--delta", "1"), ("--data", "nowhere")])
def test_bad_input_is_named(arguments: tuple[str, str]) -> None:
    result = CliRunner().invoke(main, ["demo", *arguments], env={SEARCHED: None})
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert arguments[0].strip("-") in result.stderr


def test_a_folder_without_adult_is_named_before_anything_is_trained(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["demo", "--data", str(tmp_path)], env={SEARCHED: None})
    assert (result.exit_code, result.stdout) == (2, "")
    assert "no adult.data[.gz]" in result.stderr


def test_bounds_are_those_of_the_published_description() -> None:
    """To one significant digit, outward from the ranges that the description prints; not from the records."""
    printed = re.findall(r"\((?:mean|standard error|worst)\): +(\S+) +(\S+)", load_breast_cancer().DESCR)
    columns = breast_cancer().schema.columns
    assert len(printed) == len(columns) == 30
    for (low, high), column in zip(printed, columns, strict=True):
        assert isinstance(column, Numeric)
        assert column.outside == "clip"
        assert one_digit(float(low), up=False) == column.lower
        assert one_digit(float(high), up=True) == column.upper


def one_digit(value: float, *, up: bool) -> float:
    if value == 0.0:
        return 0.0
    unit = 10.0 ** np.floor(np.log10(value))
    rounded = (np.ceil if up else np.floor)(round(value / unit, 9))
    return float(f"{rounded * unit:.6g}")


@needs_data
@pytest.mark.data
def test_adult() -> None:
    output = demo("--data", os.environ[SEARCHED], "--seed", "0")
    assert "32561 training records, 16281 held out" in output
    private, public, larger = accuracies(output)[3:]
    assert larger + 4.0 < private < public + 1.0
