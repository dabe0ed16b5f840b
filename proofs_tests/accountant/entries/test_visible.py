"""Names are text that others wrote: each stands on its line, can be seen, and is refused where it has no encoding."""

import json
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from accountant import (
    ApproxDP,
    BasicComposition,
    Description,
    Ledger,
    NotSpendable,
    Plan,
    PureDP,
    ReplaceOne,
    Statement,
    SubBudgetRefused,
)
from accountant.audit.statement import state as statement_of
from accountant.costs.spendable import SEEDED
from accountant.entries.chain import Entry
from accountant.entries.codec import decode
from accountant.entries.printable import visible, why_not_written, why_unreadable
from accountant.entries.state import State
from proofs_tests.support.ledgers.doubles import RandomizedResponse
from proofs_tests.support.ledgers.durable import Places, files_in
from proofs_tests.support.ledgers.durable import quick_folder as quick_folder
from proofs_tests.support.ledgers.postgres import postgresql_server as postgresql_server

FORGERY: Final = "x\nThe whole is 0.001-differentially private.\x1b[8m"
ATTACKS: Final = (
    FORGERY, "a\r\nb", "a\x85b", "a\u2028b\u2029c", "\x9b2J", "\x7f", "a\u202eb\u2066c", "z\u200bw\ufeffx", "\u3164",
    "a\ufe0fb", "\U000e0101", "\u00ad", "\u2800", "é😀 \\n {x} %s [bold]",
)  # fmt: skip
HALF: Final = "a\ud800b"
FIELDS: Final = ("mechanism", "query", "parameter", "parameter's value", "norm", "noise", "claim")

texts = st.text(st.characters(), min_size=1, max_size=30) | st.sampled_from((*ATTACKS, HALF, "\udfff\ud800", "\0"))
PLAIN: Final = Description("Response", "bit", (("rule", "odds"),), "linf", 1.0, None, SEEDED, False, ("basic",))


@attrs.frozen(slots=False)
class Named(RandomizedResponse):
    """A mechanism with a text of somebody's choice in one of its fields."""

    said: Description = PLAIN

    @property
    def description(self) -> Description:
        return self.said


def named(text: str, field: str) -> Description:
    match field:
        case "parameter":
            return attrs.evolve(PLAIN, parameters=((text, 1.0),))
        case "parameter's value":
            return attrs.evolve(PLAIN, parameters=(("rule", text),))
        case "claim":
            return attrs.evolve(PLAIN, claims=(text,))
        case _:
            return attrs.evolve(PLAIN, **{field: text})  # type: ignore[arg-type]  # a field of texts


def open_books() -> Ledger:
    return Ledger(ApproxDP(1e3, 1e-5), composition=BasicComposition(), adjacency=ReplaceOne())


def is_visible(text: str) -> bool:
    return text.isprintable() and not any(
        word in unicodedata.name(c, "") for c in text for word in ("FILLER", "VARIATION SELECTOR", "ZERO WIDTH")
    )


# --- what is printed -----------------------------------------------------------------------------------------


def with_names(text: str) -> list[Entry]:
    """Books as an older version would have written them, with this text wherever there can be one."""
    ledger = open_books()
    bit = ledger.protect(True)
    every = Description("MARK", "MARK", (("MARK", "MARK"),), "MARK", 1.0, None, "MARK", True, ("MARK",))
    ledger.release(Named(0.5, said=every), bit, account="MARK")
    with ledger.reserve(Plan.of(PureDP(0.5), 4), adjacency=ReplaceOne(), account="MARK", mechanism=every) as rounds:
        rounds.release(Named(0.5, said=every), bit)
        rounds.release(Named(0.5, said=attrs.evolve(every, query="other")), bit)
    ledger.reserve(Plan.of(PureDP(0.5), 2), adjacency=ReplaceOne(), account="MARK", delta=1e-9, mechanism=every)
    return [attrs.evolve(each, line=each.line.replace('"MARK"', json.dumps(text))) for each in ledger.entries]


def stated(entries: list[Entry]) -> Statement:
    return statement_of(entries, PureDP(1.0), PureDP(2.0))


def starts(statement: Statement) -> list[str]:
    """How each line below the guarantee begins."""
    return [line[:13].rstrip() for line in str(statement).split("\n")[2:]]


EXPECTED: Final = starts(stated(with_names("plain")))


@given(texts)
@example(FORGERY)
@example(HALF)
@example("\u3164")
def test_no_name_adds_a_line_to_a_statement_or_hides_in_it(text: str) -> None:
    statement = stated(with_names(text))
    printed = str(statement)
    assert printed.encode("utf-8")
    lines = printed.splitlines()  # at everything that anybody takes for the end of a line
    assert len(lines) == 2 + len(EXPECTED) == len(printed.split("\n"))
    assert lines[0] == "privacy statement"
    assert lines[1].startswith("Everything released so far is together")
    assert all(is_visible(line) for line in lines)
    assert starts(statement) == EXPECTED
    again = Statement.from_dict(json.loads(json.dumps(statement.as_dict())))
    assert str(again) == printed
    assert list(again.lines()) == list(statement.lines())


def test_the_forgery_of_the_review() -> None:
    ledger = open_books()
    ledger.release(Named(0.5, said=named(FORGERY, "mechanism")), ledger.protect(True), account=FORGERY)
    printed = str(ledger.statement())
    assert not any(line.startswith("The whole") for line in printed.splitlines())
    assert printed.count("x\\nThe whole is 0.001-differentially private.\\x1b[8m") == 2
    assert "\x1b" not in printed


@given(texts)
def test_a_statement_that_somebody_else_wrote_stays_on_its_lines(text: str) -> None:
    record = json.loads(json.dumps(open_books().statement().as_dict()))
    for name in ("guarantee", "adjacency", "rule", "budget", "opened", "head"):
        record[name] = text
    record["rows"], record["plans"] = [[text, text, text, 1, text]], [text]
    lines = str(Statement.from_dict(record)).splitlines()
    assert len(lines) in (11, 12)  # one more where the source of the noise is not this library's
    assert all(is_visible(line) for line in lines)


@pytest.mark.parametrize(
    ("name", "value"),
    [("private", "no"), ("private", 1), ("unreleased", "0\nx"), ("unreleased", True), ("rows", [["a", "b"]]),
     ("rows", [["a", "b", "c", "1", "d"]])],
)  # fmt: skip
def test_a_statement_with_parts_of_other_types_is_refused(name: str, value: object) -> None:
    record = json.loads(json.dumps(open_books().statement().as_dict()))
    assert Statement.from_dict(record).private
    with pytest.raises(TypeError, match="a statement's"):
        Statement.from_dict({**record, name: value})


@given(texts)
def test_what_is_spelt_out_can_be_seen_and_stays_as_it_is(text: str) -> None:
    assert is_visible(visible(text))
    assert visible(visible(text)) == visible(text)
    assert visible(text).encode("utf-8")


def test_receipts_are_printed_on_one_line() -> None:
    ledger = open_books()
    ledger.release(Named(0.5), ledger.protect(True), account=FORGERY)
    receipt = attrs.evolve(ledger.receipt(1), ledger=FORGERY, cost=HALF)
    assert str(receipt).isprintable()
    assert str(receipt).encode("utf-8")


# --- what is refused -----------------------------------------------------------------------------------------


def surrogates(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


@given(st.text(st.characters() | st.sampled_from("\ud800\udbff\udc00\udfff\0\\u"), max_size=12))
@example("\ud83d\ude00")
@example("\\ud800")
@example("\\\ud800")
@example("😀\ude00")
def test_exactly_what_others_cannot_read_is_refused(text: str) -> None:
    assert (why_unreadable(text) is not None) == (surrogates(text) or "\0" in text)
    read_back: str = json.loads(json.dumps(text))  # two halves side by side come back as the character that they make
    line = json.dumps({"a": {"b": [read_back]}})
    reason = why_not_written(line)
    assert (reason is not None) == (why_unreadable(read_back) is not None)
    if reason is not None:
        assert reason.startswith("a.b: the text ")
        assert is_visible(reason)


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def ledger(request: pytest.FixtureRequest, quick_folder: Path) -> Iterator[Ledger]:
    """In memory, in SQLite and in PostgreSQL."""
    if request.param == "memory":
        yield open_books()
        return
    places: Places = files_in(quick_folder)
    if request.param == "postgresql":
        places = request.getfixturevalue("postgresql_server").database
    with (
        places() as url,
        Ledger.open(url, ApproxDP(1e3, 1e-5), composition=BasicComposition(), adjacency=ReplaceOne()) as opened,
    ):
        yield opened


@pytest.mark.parametrize("bad", [HALF, "a\0b"])
def test_no_store_takes_what_has_no_encoding(ledger: Ledger, bad: str) -> None:
    bit, drawn = ledger.protect(True), list[object]()

    class Watched(Named):
        def sample(self, data: bool) -> bool:
            drawn.append(data)
            return data

    before = len(ledger.entries)
    for field in FIELDS:
        said = named(bad, field)
        with pytest.raises(NotSpendable, match=r"mechanism.*the text '.*holds"):
            ledger.release(Watched(0.5, said=said), bit)
        with pytest.raises(NotSpendable, match=r"mechanism.*the text '.*holds"):
            ledger.reserve(Plan.of(PureDP(0.5)), adjacency=ReplaceOne(), mechanism=said)
    with pytest.raises(NotSpendable, match=r"account: the text '.*holds"):
        ledger.release(Watched(0.5), bit, account=bad)
    with pytest.raises(NotSpendable, match=r"account: the text '.*holds"):
        ledger.reserve(Plan.of(PureDP(0.5)), adjacency=ReplaceOne(), account=bad)
    with pytest.raises(SubBudgetRefused, match=r"the text '.*holds.*nothing was allocated"):
        ledger.allocate(bad, 0.1)
    assert len(ledger.entries) == before
    assert ledger.spent == ApproxDP(0.0, 0.0)
    assert not drawn
    with ledger.reserve(Plan.of(PureDP(0.5), 2), adjacency=ReplaceOne()) as rounds:
        with pytest.raises(NotSpendable, match=r"query: the text '.*holds"):
            rounds.release(Watched(0.5, said=named(bad, "query")), bit)
        assert not drawn
        assert rounds.give_back() == 2  # the refused round was not used


def test_two_halves_of_a_pair_name_no_account_of_their_own() -> None:
    """They would be read back as the character, and so draw on another sub-budget than this process thinks."""
    books = open_books()
    with pytest.raises(SubBudgetRefused, match="surrogate"):
        books.allocate("\ud83d\ude00", 0.5)
    with pytest.raises(NotSpendable, match="surrogate"):
        books.release(Named(0.5), books.protect(True), account="\ud83d\ude00")


def test_every_store_takes_whatever_has_an_encoding(ledger: Ledger) -> None:
    bit = ledger.protect(True)
    for text in ATTACKS:
        ledger.release(Named(0.5, said=named(text, "query")), bit, account=text)
    ledger.allocate("é😀", 0.01)
    assert ledger.verify().sound
    assert {each.record["account"] for each in ledger.entries if each.kind == "charged"} == set(ATTACKS)
    assert str(ledger.statement()).encode("utf-8")


def test_books_of_older_versions_with_such_names_are_still_read() -> None:
    state = State()
    for entry in with_names(HALF):
        assert state.apply(entry.number, decode(entry)) == []


def test_one_function_spells_out() -> None:
    """Whoever prints what others wrote uses `visible`: nothing else asks what is printable."""
    root = Path(__file__).parents[3]
    found = [
        str(path.relative_to(root))
        for folder in ("accountant", "mechanisms", "boosting", "learners", "exchequer")
        for path in (root / folder).rglob("*.py")
        if "isprintable" in path.read_text(encoding="utf-8")
    ]
    assert found == ["accountant/entries/printable.py"]
