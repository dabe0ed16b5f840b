"""Trees and their majority vote: predictions against a slow reference, text, and files."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learners.encoding.encoder import EncodedSample
from learners.tables.schema import Boolean, Categorical, Label, Numeric, Schema
from learners.votes.binary_trees import LeafSplit, Tree
from learners.votes.majority_vote import Vote, VoteModel

SCHEMA = Schema(
    (
        Categorical("job", ("clerk", "smith", "?")),
        Numeric("age", 0, 8, bins=4, encoding="thresholds"),
        Boolean("member"),
    ),
    Label("rich", ("no", "yes")),
)
MODEL = VoteModel(SCHEMA, ())
D = MODEL.layout.d
SMITH, OVER_SIX, MEMBER = 1, 5, 6

TREE = Tree((LeafSplit(0, SMITH), LeafSplit(0, OVER_SIX), LeafSplit(1, MEMBER)), (-1, 1, 1, -1))
"""smith? no: over six? (no: −1, yes: +1), yes: member? (no: +1, yes: −1)."""


@st.composite
def trees(draw: st.DrawFn, largest: int = 6) -> Tree:
    size = draw(st.integers(0, largest))
    splits = tuple(LeafSplit(draw(st.integers(0, number)), draw(st.integers(0, D - 1))) for number in range(size))
    return Tree(splits, tuple(draw(st.sampled_from((-1, 1))) for _ in range(size + 1)))


codes = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 1)), min_size=1, max_size=12)


def holds(record: tuple[int, ...], feature: int) -> bool:
    """The seven features, written out."""
    job, age, member = record
    return [job == 0, job == 1, job == 2, age >= 1, age >= 2, age >= 3, member == 1][feature]


def slowly(tree: Tree, record: tuple[int, ...]) -> int:
    """One record's label, split by split."""
    leaf = 0
    for number, split in enumerate(tree.splits, 1):
        if leaf == split.leaf and holds(record, split.feature):
            leaf = number
    return tree.labels[leaf]


def columns(records: list[tuple[int, int, int]]) -> "np.ndarray[tuple[int, int], np.dtype[np.intp]]":
    return np.array(records, dtype=np.intp).T


@given(trees(), codes)
def test_predictions_are_those_of_walking_down_record_by_record(
    tree: Tree, records: list[tuple[int, int, int]]
) -> None:
    expected = [slowly(tree, record) for record in records]
    found = tree.on_codes(MODEL.layout, columns(records))
    assert found.dtype == np.int8
    assert found.tolist() == expected
    sample = EncodedSample(MODEL.layout, columns(records), np.ones(len(records), dtype=np.int8))
    assert tree.predictions(sample).tolist() == expected


@given(st.lists(trees(), min_size=1, max_size=5), codes)
def test_scores_are_the_mean_vote(several: list[Tree], records: list[tuple[int, int, int]]) -> None:
    votes = [[slowly(tree, record) for tree in several] for record in records]
    assert VoteModel(SCHEMA, several).scores(columns(records)) == pytest.approx(np.mean(votes, axis=1), abs=1e-15)


def test_no_tree_has_no_opinion() -> None:
    assert MODEL.scores(columns([(0, 0, 0), (1, 1, 1)])).tolist() == [0.0, 0.0]
    assert MODEL.text() == ""


def test_text_reads_from_the_root_down() -> None:
    assert TREE.text(SCHEMA).splitlines() == [
        "job: smith?",
        "  no: age: >= 6?",
        "    no: no",
        "    yes: yes",
        "  yes: member: 1?",
        "    no: yes",
        "    yes: no",
    ]
    assert Tree((), (1,)).text(Schema.boolean(["x"])) == "+1"
    assert VoteModel(SCHEMA, [TREE, Tree((), (1,))]).text().splitlines()[-3:] == ["", "round 2", "yes"]


def test_the_table_counts_the_splits_that_ask_for_a_feature() -> None:
    again = Tree((LeafSplit(0, MEMBER), LeafSplit(0, MEMBER)), (1, 1, 1))
    assert VoteModel(SCHEMA, [TREE, again]).table() == [
        Vote(3, "member", "1"),
        Vote(1, "age", ">= 6"),
        Vote(1, "job", "smith"),
    ]


@given(st.lists(trees(), max_size=4))
def test_a_model_comes_back_from_json(several: list[Tree]) -> None:
    model = VoteModel(SCHEMA, several)
    assert VoteModel.from_record(json.loads(json.dumps(model.as_record()))) == model


BAD_TREES: list[object] = [
    None,
    [],
    [0],
    [0, 2],
    [D, 1],
    [-2, 1],
    [0.0, 1],
    {},
    {"splits": []},
    {"splits": [], "labels": []},
    {"splits": [], "labels": [0]},
    {"splits": [], "labels": [True]},
    {"splits": [], "labels": [1.0]},
    {"splits": [], "labels": "1"},
    {"splits": [], "labels": [1], "weight": 2},
    {"splits": {}, "labels": [1]},
    {"splits": [[0, 0]], "labels": [1]},
    {"splits": [[0, D]], "labels": [1, 1]},
    {"splits": [[0, -1]], "labels": [1, 1]},
    {"splits": [[1, 0]], "labels": [1, 1]},
    {"splits": [[-1, 0]], "labels": [1, 1]},
    {"splits": [[0, "0"]], "labels": [1, 1]},
    {"splits": [[0, 0.0]], "labels": [1, 1]},
    {"splits": [[0, 0, 0]], "labels": [1, 1]},
    {"splits": [0], "labels": [1, 1]},
]


@pytest.mark.parametrize("tree", BAD_TREES, ids=repr)
def test_a_malformed_tree_is_refused(tree: object) -> None:
    with pytest.raises(ValueError, match=r"expected|does not fit|needs"):
        VoteModel.from_record({"schema": SCHEMA.as_dict(), "rules": [tree]})


@pytest.mark.parametrize(
    "record",
    [{}, {"schema": None, "rules": []}, {"schema": SCHEMA.as_dict()}, {"schema": SCHEMA.as_dict(), "rules": 1}],
)
def test_a_malformed_model_is_refused(record: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="expected"):
        VoteModel.from_record(record)


def test_a_tree_that_contradicts_itself_is_refused_at_birth() -> None:
    for splits, labels in [((), (1, 1)), ((), (2,)), ((LeafSplit(1, 0),), (1, 1)), ((LeafSplit(0, -1),), (1, 1))]:
        with pytest.raises(ValueError, match=r"expected|does not fit"):
            Tree(splits, labels)
    with pytest.raises(ValueError, match="does not fit a schema of 7 features"):
        VoteModel(SCHEMA, [Tree((LeafSplit(0, 7),), (1, 1))])
