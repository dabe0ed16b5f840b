"""Tables of libraries that are not known by name: DuckDB's relations, and frames that narwhals wraps."""

from typing import Any

import duckdb
import narwhals
import numpy as np
import pandas as pd
import polars as pl
import pytest

from learners import Boolean, Categorical, Integer, Numeric, PrivateBoostClassifier, Schema
from learners.tables import Label, encode, number_table, table_column

SCHEMA = Schema(
    (
        Integer("a", 0, 9, missing="own"),
        Numeric("b", 0.0, 10.0),
        Categorical("c", ["x", "y", "z"], missing="z"),
        Boolean("d"),
    ),
    Label("y", ("no", "yes")),
)
FRAME = pl.DataFrame(
    {
        "a": [1, None, 3, 9],
        "b": [0.5, 2.5, 5.0, 10.0],
        "c": ["x", "y", None, "x"],
        "d": [True, False, True, True],
        "y": ["no", "yes", "no", "yes"],
    }
)
RELATION = "select * from FRAME"


def test_a_relation_of_duckdb_is_the_table_that_it_gives() -> None:
    relation: Any = duckdb.sql(RELATION)
    assert encode(relation, SCHEMA).tolist() == encode(FRAME, SCHEMA).tolist()
    numbers: Any = duckdb.sql("select range::double as a, range * 2.5 as b from range(5)")
    assert number_table(numbers).tolist() == [[k, 2.5 * k] for k in range(5)]
    assert table_column(numbers, "a").tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]  # type: ignore[union-attr]  # an array


def test_a_query_runs_once_and_never_for_the_labels_apart() -> None:
    relation: Any = duckdb.sql(RELATION)
    model = PrivateBoostClassifier(1.0, 1e-6, schema=SCHEMA, random_state=0)
    with pytest.raises(TypeError, match=r"run it once: table = relation.to_arrow_table\(\)"):
        model.fit(relation, relation["y"])
    table: Any = relation.to_arrow_table()
    again = PrivateBoostClassifier(1.0, 1e-6, schema=SCHEMA, random_state=0).fit(FRAME, FRAME["y"])
    assert model.fit(table, table["y"]).predict(relation).tolist() == again.predict(FRAME).tolist()


@pytest.mark.parametrize("frame", [FRAME, FRAME.to_pandas(), FRAME.to_arrow()], ids=["polars", "pandas", "arrow"])
def test_a_wrapped_frame_is_the_frame_inside(frame: Any) -> None:
    wrapped: Any = narwhals.from_native(frame, eager_only=True)
    assert encode(wrapped, SCHEMA).tolist() == encode(FRAME, SCHEMA).tolist()
    assert encode({name: wrapped[name] for name in SCHEMA.names}, SCHEMA).tolist() == encode(FRAME, SCHEMA).tolist()
    model = PrivateBoostClassifier(1.0, 1e-6, schema=SCHEMA, random_state=0).fit(wrapped, wrapped["y"])
    assert model.predict(wrapped).tolist() == model.predict(FRAME).tolist()


def test_one_record_changes_nothing_about_the_others_in_a_wrapped_frame() -> None:
    """As in the frame itself: narwhals is asked for it, and converts nothing."""
    schema = Schema((Categorical("c", ["1", "2", "x"], missing="x", other="x"),))
    for values in ([1, 2], [1, 2, None], [1, 2, "x"], [1, 2, 2.5]):
        frame = pd.DataFrame({"c": np.array(values, dtype=object)})
        wrapped: Any = narwhals.from_native(frame, eager_only=True)
        assert encode(wrapped, schema)[0].tolist()[:2] == [0, 1]
