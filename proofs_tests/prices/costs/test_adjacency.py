"""Relations are told apart, and come back from the ledger as they went in."""

import json

import pytest

from accountant.costs.adjacency import (
    AddRemoveOne,
    Adjacency,
    FeatureValue,
    FeatureValues,
    ReplaceOne,
    adjacency_from_record,
    adjacency_record,
    feature_adjacency,
)

ALL: tuple[Adjacency, ...] = (
    ReplaceOne(), AddRemoveOne(), FeatureValue(0), FeatureValue(3), FeatureValues((0, 3)), FeatureValues((1, 2, 7)),
)  # fmt: skip


def test_relations_differ() -> None:
    for place, one in enumerate(ALL):
        assert [one == other for other in ALL] == [place == there for there in range(len(ALL))]
    assert len({relation.name for relation in ALL}) == 4
    assert len({str(relation) for relation in ALL}) == len(ALL)


@pytest.mark.parametrize("relation", ALL)
def test_books_keep_a_relation(relation: Adjacency) -> None:
    record = json.loads(json.dumps(adjacency_record(relation)))
    assert record["name"] == relation.name
    assert adjacency_from_record(record) == relation
    with pytest.raises(ValueError, match="unknown adjacency"):
        adjacency_from_record({**record, "more": 1})
    with pytest.raises(ValueError, match="unknown adjacency"):
        adjacency_from_record({**record, "name": "neither"})


def test_records_that_say_something_else_are_refused() -> None:
    records: tuple[dict[str, object], ...] = (
        {}, {"name": "feature-value"}, {"name": "feature-value", "column": "1"}, {"name": "feature-values"},
        {"name": "feature-values", "columns": 3}, {"name": "feature-values", "columns": [1]},
        {"name": "feature-value", "column": -1},
    )  # fmt: skip
    for record in records:
        with pytest.raises(ValueError, match=r"adjacency|column"):
            adjacency_from_record(record)


def test_columns_are_numbers_and_different() -> None:
    assert FeatureValues((3, 1)).columns == (1, 3)
    assert str(FeatureValues((3, 1))).count("1, 3") == 1
    others: tuple[object, ...] = (-1, True, 1.0, "1", None)
    for wrong in others:
        with pytest.raises(ValueError, match="expected a column number"):
            FeatureValue(wrong)  # type: ignore[arg-type]  # the point of the test
        with pytest.raises(ValueError, match="expected a column number"):
            FeatureValues((0, wrong))  # type: ignore[arg-type]  # the point of the test
    for columns in ((), (1,), (1, 1), (1, 2, 2)):
        with pytest.raises(ValueError, match="two different columns or more"):
            FeatureValues(columns)


def test_one_column_or_several() -> None:
    assert feature_adjacency([4]) == FeatureValue(4)
    assert feature_adjacency([4, 2]) == FeatureValues((2, 4))
    for columns in ([], [2, 2]):
        with pytest.raises(ValueError, match="two different columns"):
            feature_adjacency(columns)
