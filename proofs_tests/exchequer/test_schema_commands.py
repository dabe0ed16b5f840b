"""Drafts of schemas from public sources, what they leave open, and a check that lists everything at once."""

import json
import math
import tomllib
from pathlib import Path
from typing import cast

import attrs
import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from accountant import AddRemoveOne, ApproxDP, BasicComposition, Ledger, ReplaceOne
from exchequer.cli import main
from exchequer.commands.schemas.check_schema import checked
from exchequer.commands.schemas.column_facts import ColumnFacts, Price
from exchequer.commands.schemas.column_problems import column_findings
from exchequer.commands.schemas.data_dictionary import read_dictionary
from exchequer.commands.schemas.paid_values import (
    EDGES,
    Neighbours,
    bounds_of,
    cell_counts,
    cells,
    paid_facts,
    text_counts,
    threshold_for,
)
from exchequer.console.table_files import TableFileOptions
from learners import Categorical, Date, Integer, Numeric, Ordered, Schema
from learners.tables import Label, NumberLabel, OpenQuestions, OutsideSchema, encode, open_questions

PEOPLE = """age,height,plan,since,member,notes,income
31,1.71,gold,2020-01-05,yes,likes tea,low
44,,basic,2021-02-06,no,,high
,1.65,basic,2019-07-08,no,"a, b",low
29,1.8,gold,2024-12-31,yes,none,high
"""
CODEBOOK = """Name,Type,Range,Categories,Unit,Description,Role
age,integer,0..110,,years,Age at the interview,
height,number,"[0.5, 2.5]",,m,,
plan,ordinal,,basic|gold,,,
since,date,2000-01-01 to 2030-01-01,,,,
member,boolean,,,,,
notes,free text,,,,,
income,categorical,,low|high,,,label
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EXCHEQUER_LEDGER", raising=False)
    Path("people.csv").write_text(PEOPLE)
    Path("codebook.csv").write_text(CODEBOOK)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, env={"COLUMNS": "200"})


def drafted(*options: str, file: str = "people.csv") -> tuple[dict[str, object], Result]:
    """What the draft says, and all that was printed."""
    found = run("schema", "draft", file, *options)
    assert found.exit_code == 0, found.output
    return tomllib.loads(found.stdout), found


COLUMNS = (
    Integer("age", 0, 110, bins=10, outside="clip", missing="own", other="missing"),
    Numeric("height", 0.5, 2.5, outside="clip", missing="own", other="missing"),
    Ordered("plan", ["basic", "gold"], missing="own", other="missing"),
    Date("since", "2000-01-01", "2030-01-01", outside="clip", missing="own", other="missing"),
)


def test_a_dictionary_leaves_nothing_open_and_types_are_not_looked_for_in_the_data() -> None:
    said, found = drafted("--dictionary", "codebook.csv")
    schema = Schema.from_dict(said)
    assert schema.columns[:4] == COLUMNS
    assert (schema.label, schema.ignored) == (Label("income", ("low", "high")), ("notes",))
    assert "unpaid release from the data: the names of 7 columns, from the header line\n" in found.stderr
    assert "types" not in found.stderr
    assert "# Age at the interview. Unit: years." in found.stdout
    assert "TODO" not in found.stdout


def test_dictionaries_come_in_several_forms() -> None:
    plain = {"age": {"type": "int", "min": 0, "max": 110, "unit": "years"}, "plan": {"values": ["basic", "gold"]}}
    fields = [
        {"name": "age", "type": "integer", "unit": "years", "constraints": {"minimum": 0, "maximum": 110}},
        {"name": "plan", "type": "string", "constraints": {"enum": ["basic", "gold"]}},
    ]
    for number, content in enumerate((plain, {"fields": fields}, {"properties": plain})):
        path = Path(f"{number}.json")
        path.write_text(json.dumps(content))
        age, plan = read_dictionary(path)
        assert (age.name, age.type, age.lower, age.upper, age.unit) == ("age", "integer", 0, 110, "years")
        assert (plan.type, plan.categories) == ("text", ("basic", "gold"))
    for text, why in (
        ("name,type\na,colour\n", "type 'colour'"),
        ("name,range\na,wide\n", "range 'wide'"),
        ("x\n1\n", "without a name"),
    ):
        Path("d.csv").write_text(text)
        with pytest.raises(ValueError, match=why):
            read_dictionary(Path("d.csv"))


def test_without_anything_public_all_bounds_are_open_and_types_are_marked_as_unpaid() -> None:
    found = run("schema", "draft", "people.csv", "--label", "income", "--out", "people.toml")
    assert found.exit_code == 0, found.output
    text = Path("people.toml").read_text()
    asked = [(question.column, question.key) for question in open_questions(text)]
    assert asked == [
        ("age", "lower"), ("age", "upper"), ("height", "lower"), ("height", "upper"), ("plan", "categories"),
        ("since", "lower"), ("since", "upper"), ("notes", "categories"), ("income", "classes"),
    ]  # fmt: skip
    for value in ("31", "1.71", "gold", "2020", "tea"):
        assert value not in text.replace("2024-12-31", "")  # an example of a date in a question
    assert (
        "types of 7 columns, as most of the first records have them: age integer, height number, plan text"
        in found.stderr
    )
    assert text.count("# UNPAID RELEASE from the data: ") == 2


def test_everything_that_reads_schemas_refuses_what_is_open_all_of_it_at_once() -> None:
    run("schema", "draft", "people.csv", "--label", "income", "--out", "people.toml")
    price = ("--schema", "people.toml", "--epsilon", "1")
    for command in (
        ("train", "people.csv", *price, "--out", "m.json"),
        ("schema", "check", "people.csv", "--schema", "people.toml"),
        ("rados", "release", "people.csv", *price, "--out", "r.json"),
    ):
        found = run(*command)
        assert found.exit_code == 2
        lines = found.stderr.splitlines()
        assert lines[0] == "Error: people.toml: 9 TODOs are open; answer from public knowledge, never from the data:"
        assert len(lines) == 10
        assert lines[1].startswith(
            "  line 16: age, lower: the least age that is possible, by public knowledge; in which unit?"
        )
    with pytest.raises(OpenQuestions) as caught:
        Schema.from_toml("people.toml")
    assert len(caught.value.questions) == 9
    text = Path("people.toml").read_text()
    rest = text.replace('name = "notes"\nkind = "categorical"', 'name = "notes"\nkind = "ignored"')
    assert [question.column for question in open_questions(rest)].count("notes") == 0
    assert len(open_questions(rest)) == 8


def test_values_are_taken_where_the_user_says_that_they_are_public() -> None:
    Path("sample.csv").write_text(PEOPLE.replace("44", "99"))
    for option, top, source in (
        (("--values-are-public",), 44, "whose values are public"),
        (("--public-sample", "sample.csv"), 99, "the public sample sample.csv"),
    ):
        said, found = drafted("--label", "income", *option)
        schema = Schema.from_dict(said)
        bins = 16 if top == 44 else 10  # a cell for each number, where they are few
        assert schema.columns[0] == Integer("age", 29, top, bins=bins, outside="clip", missing="own", other="missing")
        assert schema.label == Label("income", ("high", "low"))
        assert cast("Categorical", schema.columns[2]).categories == ("basic", "gold", "(missing)", "(other)")
        assert source in found.stdout
        assert ("unpaid" in found.stderr) == (option[0] != "--values-are-public")


def test_a_regression_and_files_without_a_header_line() -> None:
    Path("plain.csv").write_text("3,a,0.5\n4,b,0.7\n")
    said, _ = drafted(
        "--no-header", "--names", "n,kind,cost", "--label", "cost", "--values-are-public", file="plain.csv"
    )
    schema = Schema.from_dict(said)
    assert schema.number_label == NumberLabel("cost", 0.5, 0.7)
    assert schema.file is not None
    assert schema.file.columns == ("n", "kind", "cost")
    wrong = run("schema", "draft", "plain.csv", "--no-header", "--names", "a,b")
    assert "--names: 2 names, and its first line has 3 fields" in wrong.stderr
    said, _ = drafted("--no-header", file="plain.csv")
    assert said["file"] == {"columns": ["column1", "column2", "column3"]}
    Path("empty.csv").write_text("")
    assert "the file has no columns" in run("schema", "draft", "empty.csv").stderr
    Path("tabs.txt").write_text("1\t2\n")
    assert "one column only: " in run("schema", "draft", "tabs.txt", "--no-header").stderr
    assert "no column 'x'; the columns are" in run("schema", "draft", "people.csv", "--label", "x").stderr
    for options, why in (
        (("--names", "a"), "--names goes with --no-header"),
        (("--values-are-public", "--public-sample", "people.csv"), "give one of them"),
        (("--paid",), "--paid and --epsilon go together"),
        (("--paid", "--epsilon", "1", "--values-are-public"), "what is public needs no payment"),
    ):
        refused = run("schema", "draft", "people.csv", *options)
        assert (refused.exit_code, why in refused.stderr) == (2, True)


# --- check ------------------------------------------------------------------------------------------------------

SCHEMA = Schema(
    (
        Integer("age", 18, 99),
        Numeric("height", 1.0, 2.0, outside="clip", missing="own", other="missing"),
        Categorical("sex", ["f", "m", "rest"], other="rest"),
        Date("since", "2020-01-01", "2025-01-01"),
        Ordered("grade", ["low", "high"]),
        Numeric("lost", 0.0, 1.0),
    ),
    Label("y", ("no", "yes")),
    ignored=("id",),
)
ROWS = [
    *["30,1.5,f,2020-05-05,low,no,1,"] * 7,
    *["120,2.5,x,2019-05-05,mid,maybe,2,"] * 3,
    *[",,m,,,,3,"] * 2,
    "x,?,f,01.05.2021,high,yes,4,left",
    "20.5,inf,f,2024-12-31,high,yes,4,",
]


def test_a_check_counts_everything_and_says_what_becomes_of_it() -> None:
    Path("data.csv").write_text("\n".join(["age,height,sex,since,grade,y,id,rest", *ROWS]))
    found = checked(Path("data.csv"), SCHEMA, TableFileOptions())
    assert (found.records, found.missing, found.left, found.refused) == (14, ("lost",), ("rest",), True)
    seen = {(each.column, each.what): (each.records, each.which, each.refused, each.first) for each in found.findings}
    assert seen == {
        ("age", "missing"): (2, "'' (2)", True, 10),
        ("age", "no number"): (1, "'x'", True, 12),
        ("age", "no whole number"): (1, "'20.5'", True, 13),
        ("age", "outside 18 to 99"): (3, "'120' (3)", True, 7),
        ("height", "missing"): (2, "'' (2)", False, 10),
        ("height", "no number"): (1, "'?'", False, 12),
        ("height", "infinite"): (1, "'inf'", True, 13),
        ("height", "outside 1 to 2"): (3, "'2.5' (3)", False, 7),
        ("sex", "not among its categories"): (3, "'x' (3)", False, 7),
        ("since", "missing"): (2, "'' (2)", True, 10),
        ("since", "no date"): (1, "'01.05.2021'", True, 12),
        ("since", "outside 2020-01-01 to 2025-01-01"): (3, "'2019-05-05' (3)", True, 7),
        ("grade", "missing"): (2, "'' (2)", True, 10),
        ("grade", "not among its categories"): (3, "'mid' (3)", True, 7),
        ("y", "label missing"): (2, "'' (2)", True, 10),
        ("y", "label of no class"): (3, "'maybe' (3)", True, 7),
    }


def test_what_is_refused_is_what_encoding_refuses() -> None:
    """Row by row: the check says of a record that it would be refused if and only if encoding refuses it."""
    header = "age,height,sex,since,grade,y,id,rest"
    schema = Schema(SCHEMA.columns[:-1])
    for row in sorted(set(ROWS)):
        Path("one.csv").write_text(f"{header}\n{row}\n")
        table = {name: [text] for name, text in zip(header.split(","), row.split(","), strict=True)}
        try:
            encode(table, schema)
            refused = False
        except OutsideSchema:
            refused = True
        assert checked(Path("one.csv"), schema, TableFileOptions()).refused == refused


def test_a_check_is_for_the_curator_and_answers_with_its_exit_code() -> None:
    run("schema", "draft", "people.csv", "--dictionary", "codebook.csv", "--out", "people.toml")
    fits = run("schema", "check", "people.csv", "--schema", "people.toml")
    assert fits.exit_code == 0
    assert "For the curator only." in fits.stdout
    assert "The file fits the schema." in fits.stdout
    Path("people.csv").write_text(PEOPLE.replace("low", "middle"))
    assert run("schema", "check", "people.csv", "--schema", "people.toml").exit_code == 1


# --- what is paid for -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-6])
def test_the_threshold_is_as_low_as_delta_allows_and_no_tenth_less_would_hold(epsilon: float, delta: float) -> None:
    """A category of one record is the worst case: without the record it is never seen, with it at just that chance."""
    threshold = threshold_for(AddRemoveOne(), Price(epsilon, delta))
    ratio = math.exp(-epsilon)
    chances = [ratio**limit / (1.0 + ratio) for limit in (threshold, threshold - 1)]  # of 1 + discrete Laplace > limit
    declared = text_counts(AddRemoveOne(), epsilon, threshold).map(1)[1]
    assert chances[0] == pytest.approx(declared, rel=1e-6)
    assert 0.9 * declared < chances[0] <= delta < chances[1]


def test_under_replace_one_a_record_leaves_one_category_and_enters_another() -> None:
    price = Price(1.0, 1e-6)
    threshold = threshold_for(ReplaceOne(), price)
    assert threshold >= threshold_for(AddRemoveOne(), Price(0.5, price.delta))
    epsilon, delta = text_counts(ReplaceOne(), 1.0, threshold).map(2)
    assert (epsilon <= 1.0 + 1e-9, delta <= 1e-6) == (True, True)


@pytest.mark.parametrize("adjacency", [AddRemoveOne(), ReplaceOne()], ids=["add-remove-one", "replace-one"])
@pytest.mark.parametrize("kind", EDGES)
def test_a_record_is_in_one_cell(adjacency: Neighbours, kind: str) -> None:
    mechanism = cell_counts(kind, adjacency, 0.5)
    size = len(EDGES[kind]) + 1
    one = np.array([0, 3, size - 1, -1])
    other = one[:-2] if adjacency == AddRemoveOne() else np.array([0, 3, 4, -1])
    moved = np.abs(mechanism.query.evaluate(one) - mechanism.query.evaluate(other)).sum()
    assert moved <= mechanism.query.sensitivity.value
    assert getattr(mechanism.cost, "epsilon", 1.0) <= 0.5


def test_cells_and_the_hull_of_those_that_are_large() -> None:
    column = ColumnFacts("c", "number")
    codes = cells(column, np.array(["0", "0.0005", "7", "x", "", "1e99", "inf"], dtype=object))
    edges = (-math.inf, *EDGES["number"], math.inf)
    assert codes.tolist()[3:] == [-1, -1, len(EDGES["number"]), -1]
    for code, value in zip(codes[:3].tolist(), (0.0, 0.0005, 7.0), strict=True):
        assert edges[code] <= value < edges[code + 1]
    counts = np.zeros(len(EDGES["number"]) + 1)
    assert bounds_of(counts, "number", 1.0) is None
    counts[codes[0]], counts[codes[2]] = 100.0, 100.0
    assert bounds_of(counts, "number", 1.0) == (0.0, 10.0)


def test_bounds_and_categories_are_released_for_what_the_ledger_is_charged() -> None:
    draw = np.random.default_rng(0)
    n = 4000
    table = {
        "age": np.array([f"{age}" for age in draw.integers(20, 80, n)], dtype=object),
        "day": np.array([f"20{year:02}-06-01" for year in draw.integers(10, 20, n)], dtype=object),
        "city": np.array([*draw.choice(["Rome", "Oslo", ""], n - 1), "Atlantis"], dtype=object),
    }
    facts = [ColumnFacts("age", "integer"), ColumnFacts("day", "date"), ColumnFacts("city", "text")]
    ledger = Ledger(ApproxDP(1.0, 1e-6), composition=BasicComposition(), adjacency=AddRemoveOne())
    age, day, city = paid_facts(ledger, table, facts, Price(1.0, 1e-6))
    assert (age.lower, age.upper) == (20, 100)
    assert (day.lower, day.upper) == ("2010-01-01", "2020-01-01")
    assert city.categories == ("Oslo", "Rome")
    spent = ledger.spent
    assert isinstance(spent, ApproxDP)
    assert 0.99 < spent.epsilon <= 1.0
    assert 0.0 < spent.delta <= 1e-6
    with pytest.raises(ValueError, match="lists of categories need one above 0"):
        paid_facts(ledger, table, facts, Price(1.0, 0.0))


def test_a_paid_draft_is_charged_to_the_ledger_that_is_named() -> None:
    assert run("ledger", "open", "study.db", "--epsilon", "1", "--delta", "1e-5").exit_code == 0
    paid = ("--label", "income", "--paid", "--epsilon", "0.6", "--ledger", "study.db")
    found = run("schema", "draft", "people.csv", *paid)
    assert found.exit_code == 0, found.output
    assert (
        "# PAID RELEASE from the data: bounds and categories of age, height, plan, since, notes, income" in found.stdout
    )
    again = run("schema", "draft", "people.csv", *paid)
    assert (again.exit_code, "nothing was charged" in again.stderr) == (2, True)


VALUES = st.sampled_from(
    ["a", " a ", "1", "1.0", "True", "nan", "", None, 1, 1.0, True, 2.5, math.nan, "x", b"a", 2.0**60]
)
NAMES = st.lists(st.sampled_from(["a", "1", "nan", "True", "x", ""]), min_size=2, max_size=4, unique=True)


@given(VALUES, NAMES)
def test_a_check_says_of_a_category_what_encoding_says(value: object, names: list[str]) -> None:
    """Listed is what needs no `missing` or `other`, and each of them takes what is called so."""
    values = np.array([value, None], dtype=object)[:1]
    found = column_findings(Categorical("c", names), values)

    def taken(column: Categorical) -> bool:
        try:
            column.codes(values)
        except OutsideSchema:
            return False
        return True

    assert taken(Categorical("c", names)) == (not found)
    if found and value != 2.0**60:  # which stands for no category, whatever the schema says
        roles = {"missing": "missing", "not among its categories": "other"}
        assert taken(attrs.evolve(Categorical("c", [*names, "rest"]), **{roles[found[0].what]: "rest"}))
