"""Documents, docstrings, messages and help texts keep to plain words; and what looks for others finds them."""

import pytest

from proofs_tests.site.pages import ROOT
from proofs_tests.site.readability import defined, read
from proofs_tests.site.words import WORDS, empty_docstrings, everywhere, found, strings


def test_words_that_we_do_not_use_are_nowhere() -> None:
    assert [str(each) for each in everywhere()] == []


def test_no_docstring_says_nothing() -> None:
    assert empty_docstrings() == []


def test_each_word_has_a_reason_and_another_to_say() -> None:
    assert all(word.why and word.instead for word in WORDS)
    assert len({word.pattern for word in WORDS}) == len(WORDS)


def test_they_are_found_over_line_ends_and_of_any_case() -> None:
    """So that the tests above can fail."""
    (wrapped,) = found("a.md", 10, "one\ntwo\nwhat it Rests\non is")
    assert (wrapped.line, wrapped.text) == (12, "Rests on")
    assert not list(found("a.md", 1, "the rest of online forests only"))
    source = 'def f(x):\n    """Dear reader."""\n    raise ValueError(f"{x} rests on {x}")\n'
    texts = [text for _, text in strings(source)]
    assert [each.text for text in texts for each in found("f.py", 1, text)] == ["Dear", "rests on"]


def test_a_word_is_allowed_where_it_is_explained() -> None:
    assert not list(found("GLOSSARY.md", 1, "the books"))
    assert list(found("README.md", 1, "the books"))


def test_the_front_page_and_tutorials_are_easy_to_read() -> None:
    """Words per sentence; an earlier front page had 23, and a term without an explanation in every fifth."""
    for path in (ROOT / "README.md", *(ROOT / "docs/tutorials").glob("*.md")):
        reading = read(text := path.read_text(encoding="utf-8"), defined(text))
        assert reading.words <= 16.0, path
        assert reading.long <= 0.05, path


def test_readings_are_those_of_running_text() -> None:
    found = read("# A title\n\nOne two three four. Five six ζ!\n\n```python\nx = 1\n```\n\n| a | b |\n", frozenset())
    assert found.sentences == 2
    assert found.words == pytest.approx(3.5)
    assert found.unexplained == 0.5
    assert read(
        "The **slickness** is small. Slickness is ζ (zeta) here.", defined("**slickness** ζ (zeta)")
    ).unexplained
