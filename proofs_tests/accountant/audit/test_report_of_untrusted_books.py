"""A report is one file that refers to nothing, and whatever stands in the ledger is text in it, and not much of it."""

import re
from collections.abc import Iterator

import attrs

from accountant import (
    ApproxDP,
    BasicComposition,
    Entry,
    Ledger,
    Plan,
    PureDP,
    ReplaceOne,
)
from accountant.audit.report import report
from accountant.audit.report.page import MOST_ROWS
from accountant.audit.verification import verify
from accountant.costs.spendable import SECURE
from proofs_tests.support.ledgers.reports import (
    KNOWN,
    MADE,
    Secure,
    html,
    notices,
    open_ledger,
    page,
    rewritten,
    sentence,
    team_ledger,
    zcdp_ledger,
)
from proofs_tests.support.programs.markup import parsed, section, table

REFERENCES = re.compile(r"https?:|url\(|@import|<script|<link|<img|<iframe|<object|javascript:|data:|src=|\bon\w+=")


def test_the_file_refers_to_nothing_outside_of_it() -> None:
    made = html(team_ledger().entries)
    assert not REFERENCES.findall(made)
    assert "//" not in made
    tree = parsed(made)
    anchors = {each.attributes["id"] for each in tree.below() if "id" in each.attributes}
    links = [each.attributes["href"] for each in tree.find("a")]
    assert links
    assert all(link[0] == "#" and link[1:] in anchors for link in links)
    policy = next(each for each in tree.find("meta") if each.attributes.get("http-equiv") == "Content-Security-Policy")
    assert policy.attributes["content"] == "default-src 'none'; style-src 'unsafe-inline'"


def test_the_markup_is_made_for_everybody() -> None:
    tree = page(team_ledger().entries)
    assert tree.find("html")[0].attributes["lang"] == "en"
    assert len(tree.find("h1")) == 1
    assert all(each.find("caption")[0].text for each in tree.find("table"))
    assert all("scope" in each.attributes for each in tree.find("th"))
    assert all(each.attributes["aria-labelledby"] in str(html(team_ledger().entries)) for each in tree.find("section"))


HOSTILE = "\"><script>alert(1)</script><img src=x onerror=alert(2)>' {{ 7*7 }} &amp;"


def test_names_in_the_books_are_text_and_nothing_else() -> None:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    ledger.release(Secure(0.1, query=HOSTILE, claims=(HOSTILE,)), ledger.protect(True), account=HOSTILE)
    clean = page(open_ledger(BasicComposition(), PureDP(1.0), ReplaceOne(), 1).entries)
    made = html(rewritten(ledger.entries, {SECURE: HOSTILE, "linf": HOSTILE}), title=HOSTILE)
    tree = parsed(made)
    assert {each.name for each in tree.below()} <= {each.name for each in clean.below()} | {"svg"}
    known = {name for each in clean.below() for name in each.attributes}
    assert {name for each in tree.below() for name in each.attributes} <= known
    spaced = " ".join(HOSTILE.split())
    assert table(tree, "By account")[1][0] == spaced
    assert table(tree, "By mechanism, as it was charged")[1][0].startswith(f"Response({spaced})")
    assert table(tree, "Sources of noise")[1][0] == spaced
    assert tree.find("h1")[0].text == spaced


def test_names_cannot_hide_behind_invisible_characters() -> None:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    ledger.release(Secure(0.1), ledger.protect(True), account="a\u202eb\u200bc\n\u2028\x9b\u3164")
    for account in ("half", "null"):
        ledger.release(Secure(0.1), ledger.protect(True), account=account)
    made = html(rewritten(ledger.entries, {"half": "\ud800", "null": "\0"}))  # as older versions wrote it
    said = {row[0] for row in table(parsed(made), "By account")[1:]}
    assert said == {"a\\u202eb\\u200bc\\n\\u2028\\x9b\\u3164", "\\ud800", "\\x00"}
    assert made.encode("utf-8")


# --- size, and one pass ---------------------------------------------------------------------------------------


def many(releases: int) -> Iterator[Entry]:
    """Books in which every charge has a name, a query and an account of its own, and every third is never released."""
    ledger = Ledger(ApproxDP(1e6, 0.1), composition=BasicComposition(), adjacency=ReplaceOne())
    data = ledger.protect(True)
    for number in range(releases):
        ledger.release(
            Secure(0.1 + number * 1e-6, query="q" * 100 + str(number)), data, account="a" * 900 + str(number)
        )
        if number % 3 == 0:
            ledger.reserve(Plan.of(PureDP(0.1)), adjacency=ReplaceOne(), account=str(number), delta=1e-9 * (number % 2))
    yield from ledger.entries


def test_long_books_make_a_short_report() -> None:
    entries = tuple(many(600))
    made = html(entries)
    assert len(made.encode()) < 400_000
    accounts = table(parsed(made), "By account")
    assert len(accounts) == 1 + MOST_ROWS
    assert f"and {800 - MOST_ROWS} more accounts" in made
    assert len(table(parsed(made), "Charges without a release")) == 1 + MOST_ROWS
    assert f"and {200 - MOST_ROWS} more open charges" in made
    assert "… (903 characters)" in made


def test_entries_are_read_once() -> None:
    entries = zcdp_ledger().entries
    passing = iter(entries)
    made = report(passing, verification=verify(entries), claims=KNOWN, second_opinion=None, title="A study", made=MADE)
    assert next(passing, None) is None
    assert made == html(entries)


def test_books_that_cannot_be_read_get_a_report_all_the_same() -> None:
    entries = list(zcdp_ledger().entries)
    entries[2] = attrs.evolve(entries[2], line="not even JSON")
    entries[3] = attrs.evolve(entries[3], line=entries[3].line.replace('"steps":', '"stops":'))
    tree = page(entries)
    assert notices(tree)[0].startswith("✘ The ledger is NOT SOUND")
    assert dict(table(tree, "The ledger")[1:])["Entries that could not be read, and are left out"] == "2"
    headless = page(entries[1:])
    assert "promises nothing" in section(headless, "The guarantee").text
    assert "promises nothing" in section(page([]), "The guarantee").text


def test_books_without_a_charge_get_a_report() -> None:
    ledger = open_ledger(BasicComposition(), PureDP(1.0), ReplaceOne(), 0)
    tree = page(ledger.entries)
    assert "together 0-differentially private" in sentence(tree)
    assert "Nothing was charged yet" in section(tree, "Who spent it").text
