"""Documents, docstrings, messages and help texts keep to plain words; and what looks for others finds them."""

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
