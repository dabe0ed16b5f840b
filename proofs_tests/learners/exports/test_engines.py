"""Exported models in the real engines, record by record and bit by bit, on tables that are hard on them."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pytest

from benchmarks.ledgers.postgres import Server
from learners import Numeric
from learners.exports import as_onnx, as_python, portable
from learners.exports.sql_columns import TRUTHS
from learners.kinds import MISSING_TEXTS
from proofs_tests.support.learners.engines import (
    Answer,
    Columns,
    in_duckdb,
    in_onnxruntime,
    in_postgresql,
    in_python,
    in_sqlite,
)
from proofs_tests.support.learners.exported import KINDS, apart, fitted, query, table_for
from proofs_tests.support.learners.hostile_tables import SCHEMA

MANY: Final = 100_000
"""Records for the learner that is recommended; the others are tried on FEW, to spare time."""

FEW: Final = 2000
ULPS: Final = 4 * np.finfo(np.float64).eps
"""Shares are at most 1, and go through an engine's own exponential."""

Engine = Callable[[str], Callable[[Columns], Answer]]
"""From a kind of model to what answers for it."""

ALL: Final = (*KINDS, "halfspace")


def _sql(name: str, dialect: str, run: Callable[[str, Columns], Answer]) -> Callable[[Columns], Answer]:
    statement = query(portable(fitted(name)), dialect)  # type: ignore[arg-type]  # one of the names
    return lambda columns: run(statement, columns)


def _onnx(name: str) -> Callable[[Columns], Answer]:
    return in_onnxruntime(as_onnx(portable(fitted(name))).SerializeToString(), NUMBERS)


def _number_of(column: Numeric) -> Callable[[npt.NDArray[Any]], npt.NDArray[np.float64]]:
    return lambda values: column.numbers(values)


def _truths(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """What a caller of a runtime makes of words; NaN of a missing one, and 2 of what is none."""
    said = {text: float(code) for text, code in TRUTHS.items()}
    texts = ["" if each is None else str(each).strip() for each in values.tolist()]
    return np.array([said.get(each, np.nan if each in MISSING_TEXTS else 2.0) for each in texts])


NUMBERS: Final = {
    column.name: _number_of(column)
    for column in SCHEMA.columns
    if isinstance(column, Numeric) and column.name in ("weight, or ?", "day", "moment")
} | {"smoker": _truths}


ENGINES: Final[dict[str, Engine]] = {
    "duckdb": lambda name: _sql(name, "duckdb", in_duckdb),
    "sqlite": lambda name: _sql(name, "sqlite", in_sqlite),
    "python": lambda name: in_python(as_python(portable(fitted(name)))),
    "onnxruntime": _onnx,
}


def check(name: str, run: Callable[[Columns], Answer], n: int) -> None:
    """Scores have the bits of `decision_function`; but for an exponential, whose last bits are the engine's."""
    table = table_for(name, n)
    found = apart(name, table, run(table.columns))
    if name == "regression of counts":
        assert found.scores <= 9.0 * ULPS
    else:
        assert (found.scores, found.same) == (0.0, 1.0)
    assert found.shares <= ULPS


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ALL)
def test_an_engine_says_what_the_learner_says(name: str, engine: str) -> None:
    check(name, ENGINES[engine](name), FEW)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_recommended_learner_on_many_records(engine: str) -> None:
    check("additive", ENGINES[engine]("additive"), MANY)


def test_the_quickest_on_many_records_too() -> None:
    check("halfspace", ENGINES["duckdb"]("halfspace"), MANY)
    check("halfspace", ENGINES["onnxruntime"]("halfspace"), MANY)


@pytest.mark.postgres
@pytest.mark.parametrize("name", ALL)
def test_postgresql_says_what_the_learner_says(name: str, postgresql_server: Server) -> None:
    check(name, _sql(name, "postgresql", in_postgresql(postgresql_server)), MANY if name == "additive" else FEW)
