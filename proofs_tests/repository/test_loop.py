"""The quick loop: what is on record as slow is there, and few cases are spread evenly."""

import ast
import functools
from pathlib import Path

import pytest

from proofs_tests.conftest import SLOW, few_cases

ROOT = Path(__file__).parents[2]


@functools.cache
def _defined(file: str) -> set[str]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def test_what_is_on_record_as_slow_is_a_test() -> None:
    listed = SLOW.read_text(encoding="utf-8").splitlines()
    assert listed == sorted(set(listed))
    for line in listed:
        file, _, name = line.partition("::")
        assert set(name.split("::")) <= _defined(file), line


@pytest.mark.parametrize(
    ("cases", "most", "chosen"),
    [(1, 3, [0]), (2, 3, [0, 1]), (3, 3, [0, 1, 2]), (9, 3, [0, 4, 8]), (5, 1, [0]), (4, 2, [0, 3])],
)
def test_few_cases_are_the_first_the_last_and_some_between(cases: int, most: int, chosen: list[int]) -> None:
    names = [f"test_a[{number}]" for number in range(cases)] + ["test_b"]
    assert few_cases(names, most) == [*(f"test_a[{number}]" for number in chosen), "test_b"]
