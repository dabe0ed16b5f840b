"""Products of rows with weights: each row's bits are its own, they are right, and they are the same on any machine."""

import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant.arrays import FloatArray
from learners.additive.additive_model import softmax
from learners.encoding.row_products import ROOM, folded, row_products

MANY = 100_003


def bits(values: FloatArray) -> bytes:
    """Of each number, so that 0.0 and −0.0 differ, and one NaN is another's like."""
    return np.ascontiguousarray(values).tobytes()


def drawn(rows: int, width: int, seed: int, spread: float = 3.0) -> tuple[FloatArray, FloatArray]:
    """Numbers of different sizes, which sums round, and weights."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((rows, width)) * np.exp(
        spread * rng.standard_normal((rows, width))
    ), rng.standard_normal(width)


@given(st.integers(1, 70), st.integers(1, 80), st.integers(0, 2**32 - 1))
def test_a_row_has_the_same_bits_alone_as_in_any_batch_and_layout(width: int, rows: int, seed: int) -> None:
    """[records-alone]"""
    points, weights = drawn(rows, width, seed)
    alone = np.concatenate([row_products(points[row : row + 1].copy(), weights) for row in range(rows)])
    wide = np.repeat(np.repeat(points, 2, axis=0), 3, axis=1)
    for found in (
        row_products(points, weights),
        row_products(np.asfortranarray(points), weights),
        row_products(points[::-1], weights)[::-1],
        row_products(wide[::2, ::3], weights),
        row_products(wide[1::2, 1::3], weights[::1]),
        row_products(points[:, ::-1].copy()[:, ::-1], weights),
    ):
        assert bits(found) == bits(alone)
    start, stop = rows // 3, rows // 3 + (rows + 1) // 2
    assert bits(row_products(points[start:stop], weights)) == bits(alone[start:stop])


@pytest.mark.parametrize("width", [1, 3, 20])
def test_pieces_and_threads_change_nothing(width: int, tmp_path: Path) -> None:
    """More rows than a piece has room for, and, of 20 columns, enough for threads; in memory and in a mapped file."""
    assert MANY * 20 > 2**20 > ROOM
    points, weights = drawn(MANY, width, width)
    found = row_products(points, weights)
    np.save(tmp_path / "points.npy", points)
    mapped = np.load(tmp_path / "points.npy", mmap_mode="r")
    assert bits(row_products(mapped, weights)) == bits(found)
    assert bits(row_products(np.asfortranarray(points), weights)) == bits(found)
    for start in (0, 1, 4095, MANY - 1000):
        assert bits(row_products(points[start : start + 1000], weights)) == bits(found[start : start + 1000])
        assert bits(row_products(points[start : start + 1], weights)) == bits(found[start : start + 1])


@given(st.integers(1, 300), st.integers(0, 2**32 - 1))
def test_it_is_the_product_but_for_few_roundings(width: int, seed: int) -> None:
    """Against fractions: a term is rounded as a product, and then ⌈log₂ d⌉ times as part of a sum."""
    points, weights = drawn(2, width, seed)
    for row, found in zip(points, row_products(points, weights), strict=True):
        terms = [Fraction(x) * Fraction(w) for x, w in zip(row.tolist(), weights.tolist(), strict=True)]
        roundings = 1 + (width - 1).bit_length()
        allowed = Fraction(roundings, 2**53) * (1 + Fraction(1, 2**40)) * sum(map(abs, terms))
        assert abs(Fraction(float(found)) - sum(terms)) <= allowed


def test_made_rows_are_multiplied_and_asked_for_in_pieces() -> None:
    points, weights = drawn(MANY, 2, 0)
    sizes: list[int] = []

    def made(rows: FloatArray) -> FloatArray:
        sizes.append(len(rows))
        return np.column_stack([rows, rows * rows])

    found = row_products(points, np.array([*weights, *weights]), made)
    assert sum(sizes) == MANY
    assert max(sizes) * 4 <= ROOM
    assert found == pytest.approx(points @ weights + points**2 @ weights, rel=1e-9, abs=1e-9)


def test_sums_that_overflow_on_their_way_are_found_and_neighbours_do_not_matter() -> None:
    large = np.finfo(np.float64).max
    points = np.array(
        [
            [large, large, -large, -large],
            [large, large, -large, 0.0],
            [large, large, large, large],
            [-large, -large, 0.0, -1.0],
            [1.0, 2.0, 3.0, 4.0],
            [large, 1.0, -large, 1.0],
        ]
    )
    weights = np.ones(4)
    found = row_products(points, weights)
    assert found[[0, 2, 3, 4]].tolist() == [0.0, np.inf, -np.inf, 10.0]
    assert found[1] == pytest.approx(large)
    assert abs(found[5]) <= 2.0  # ones are lost in the roundings of what is so large
    heavy = row_products(points, weights * 2.0**40)
    assert heavy[[0, 1, 2, 3, 4]].tolist() == [0.0, np.inf, np.inf, -np.inf, 10.0 * 2.0**40]
    for row in range(len(points)):
        assert bits(row_products(points[row : row + 1], weights)) == bits(found[row : row + 1])
        assert bits(row_products(points[row : row + 1], weights * 2.0**40)) == bits(heavy[row : row + 1])


def test_no_rows_have_no_products() -> None:
    assert row_products(np.empty((0, 3)), np.ones(3)).shape == (0,)


@given(st.integers(1, 33), st.integers(1, 9), st.integers(0, 99))
def test_folded_sums_are_sums_in_any_layout(width: int, rows: int, seed: int) -> None:
    values = np.random.default_rng(seed).integers(-100, 100, (width, rows)).astype(np.float64)
    for columns in (values.copy(), values.copy(order="F"), np.repeat(values, 2, axis=1)[:, ::2]):
        assert folded(columns).tolist() == values.sum(axis=0).tolist()


@given(st.integers(3, 12), st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_shares_of_classes_have_the_same_bits_alone(classes: int, rows: int, seed: int) -> None:
    """[records-alone]"""
    scores = np.random.default_rng(seed).standard_normal((rows, classes)) * 20.0
    found = softmax(scores)
    exact = np.exp(scores - scores.max(axis=1, keepdims=True))
    assert found == pytest.approx(exact / exact.sum(axis=1, keepdims=True), rel=1e-13)
    assert bits(np.concatenate([softmax(scores[row : row + 1].copy()) for row in range(rows)])) == bits(found)
    assert bits(softmax(np.asfortranarray(scores))) == bits(found)
    assert bits(softmax(scores[::-1])[::-1]) == bits(found)


PRINTED = """
import hashlib, numpy as np
from learners.additive.additive_model import linked, softmax
from learners.encoding.row_products import row_products
rng = np.random.default_rng(5)
points, weights = rng.standard_normal((3001, 37)), rng.standard_normal(37)
found = row_products(points, weights)
said = [found, row_products(points * 2.0**1021, weights), softmax(points[:, :5]), linked(found)]
print(hashlib.sha256(b"".join(np.ascontiguousarray(each).tobytes() for each in said)).hexdigest())
"""


def test_processors_with_other_vectors_say_the_same() -> None:
    """As numpy would run on one that has none but the least vectors that it takes."""
    module = sys.modules.get("numpy._core._multiarray_umath") or sys.modules["numpy.core._multiarray_umath"]
    extras = [name for name in module.__cpu_dispatch__ if module.__cpu_features__.get(name)]
    said = set()
    for off in {"", " ".join(extras)}:
        run = subprocess.run(
            [sys.executable, "-c", PRINTED],
            env={**os.environ, "NPY_DISABLE_CPU_FEATURES": off, "OPENBLAS_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        said.add(run.stdout)
    assert len(said) == 1


def test_probabilities_take_no_power_through_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """numpy's exponential is made for a processor's vectors: which bits come out may depend on a value's place."""

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("numpy's exponential")

    scores = np.random.default_rng(0).normal(size=(50, 3))
    expected = softmax(scores)
    for name in ("exp", "exp2", "expm1", "power"):
        monkeypatch.setattr(np, name, refused)
    assert softmax(scores).tobytes() == expected.tobytes()
