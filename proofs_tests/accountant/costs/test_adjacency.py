"""Relations between neighbours: what is refused, and that the ledger gives back what was written."""

import json

import pytest

from accountant import AddRemoveOne, FeatureValue, FeatureValues, ReplaceOne
from accountant.costs.adjacency import Adjacency, adjacency_from_record, adjacency_record, feature_adjacency


@pytest.mark.parametrize("relation", [ReplaceOne(), AddRemoveOne(), FeatureValue(3), FeatureValues((4, 1))], ids=str)
def test_books_give_back_what_was_written(relation: Adjacency) -> None:
    assert adjacency_from_record(json.loads(json.dumps(adjacency_record(relation)))) == relation


def test_one_column_is_one_relation_and_several_are_another() -> None:
    assert feature_adjacency((2,)) == FeatureValue(2)
    assert feature_adjacency((2, 0)) == FeatureValues((0, 2))
    assert FeatureValues((2, 0)) == FeatureValues((0, 2))
    assert "columns 0, 2" in str(FeatureValues((2, 0)))


@pytest.mark.parametrize("columns", [(), (1,), (1, 1), (-1, 2), (True, 2), (1.0, 2)], ids=str)
def test_columns_that_are_none_are_refused(columns: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="expected"):
        FeatureValues(columns)


@pytest.mark.parametrize(
    "record",
    [
        {"name": "feature-values"},
        {"name": "feature-values", "columns": [1]},
        {"name": "feature-values", "columns": [1, 2], "more": 1},
        {"name": "feature-values", "columns": ["a", "b"]},
        {"name": "feature-value", "column": "1"},
        {"name": "strangers"},
    ],
    ids=str,
)
def test_unknown_relations_are_refused(record: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"expected|unknown"):
        adjacency_from_record(record)
