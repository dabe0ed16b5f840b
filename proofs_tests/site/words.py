"""Words that we do not use, why, and what to say instead; and where documents and code have them.

Looked at are the Markdown documents, and in the code everything that people read: docstrings, messages, help texts.
"""

import ast
import functools
import re
from collections.abc import Iterator
from typing import Final

import attrs

from proofs_tests.site.pages import ROOT


@attrs.frozen
class Word:
    """pattern: a regular expression, of any case. why: what a reader stumbles over. instead: what to say."""

    pattern: str
    why: str
    instead: str


WORDS: Final = (
    Word(r"(?:the|these|those|other) books", "a ledger has entries, and no books", "the ledger, or its entries"),
    Word(r"dear(?:er|est|ly)?", "means beloved to most readers", "costly, expensive, costs more"),
    Word(r"rest(?:s|ed|ing)? on", "says neither how nor why", "depends on, assumes, is proved by"),
    Word(r"h[ao]ngs? on|hung on", "the same", "depends on"),
    Word(r"how-manieth|so-many-th", "no word", "the position of, every k-th"),
    Word(r"by the way", "says that what follows does not matter", "leave it out, or say it in a sentence of its own"),
    Word(r"nobody is asked|is not asked", "records are not people who answer", "nothing is released"),
    Word(r"with one voice", "a metaphor", "in agreement, all alike"),
    Word(r"as ever", "out of use", "as always, as before"),
    Word(r"really buys", "a metaphor", "guarantees, is worth"),
    Word(r"read it (?:about )?one column to the left", "a riddle", "compare with the next smaller ε"),
    Word(r"passed? over", "may also mean handed on", "skipped, ignored"),
    Word(r"in clear", "half of a term", "unencrypted, in plain text"),
    Word(r"in company", "records do not keep company", "among others, together with other records"),
    Word(r"give(?:n|s)? away", "a metaphor", "reveals, or wasted where that is meant"),
    Word(r"at birth", "objects are not born", "when it is constructed"),
    Word(r"mend(?:s|ed|ing)?", "used of clothes", "fixed, repaired"),
    Word(r"errands?", "programs run none", "requests, tasks"),
    Word(r"makes? good", "a metaphor", "compensates, corrects"),
    Word(r"to come by", "a metaphor", "to get"),
    Word(r"of late", "out of use", "recent, recently"),
    Word(r"oftener", "out of use", "more often"),
    Word(r"le(?:ave|ft) (?:it |them )?away", "not English", "leave out"),
    Word(r"t(?:ook|aken?|akes) down", "may also mean removed", "record, write down"),
)
"""Of any case, at the ends of words."""

EMPTY: Final = ("These.", "Nothing.", "This.", "That.", "All of it.", "So.", "The same.", "Them.")
"""Docstrings that say nothing."""

PAGES: Final = ("*.md", "docs/**/*.md", "verifier/*.md")
CODE: Final = ("accountant", "mechanisms", "boosting", "learners", "exchequer", "proofs_tests/harness")

QUOTED: Final = {"benchmarks/RESULTS.md"}
"""Made of files of runs, which say what was said then."""

ALLOWED: Final = {
    ("GLOSSARY.md", "the books"),
    ("LEDGER.md", "the books"),
    ("accountant/storage/sql_schema.py", "the books"),
    ("accountant/audit/statement.py", "these books"),
}
"""Where a word is explained, stands in the triggers of databases that exist, or in statements that models hold."""

_ANY: Final = re.compile(
    "|".join(rf"(?P<w{place}>\b(?:{word.pattern})\b)" for place, word in enumerate(WORDS)), re.IGNORECASE
)


@attrs.frozen
class Found:
    """A word that we do not use. place: file and line."""

    file: str
    line: int
    text: str
    word: Word

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text!r}: {self.word.why}; say: {self.word.instead}"


@functools.cache
def texts() -> tuple[tuple[str, int, str], ...]:
    """All that people read: file, line, and a text that begins there."""
    return tuple(_texts())


def _texts() -> Iterator[tuple[str, int, str]]:
    for pattern in PAGES:
        for path in sorted(ROOT.glob(pattern)):
            yield path.relative_to(ROOT).as_posix(), 1, path.read_text(encoding="utf-8")
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for line, text in strings(path.read_text(encoding="utf-8")):
                yield path.relative_to(ROOT).as_posix(), line, text
        for path in sorted((ROOT / folder).rglob("*.html")):
            yield path.relative_to(ROOT).as_posix(), 1, path.read_text(encoding="utf-8")


def strings(source: str) -> Iterator[tuple[int, str]]:
    """Every string of a module with the line where it begins; of f-strings the parts between braces."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def found(file: str, line: int, text: str) -> Iterator[Found]:
    """Each such word in a text, wrapped lines included."""
    flat = re.sub(r"\s", " ", text)
    for match in _ANY.finditer(flat):
        word = WORDS[int(str(match.lastgroup)[1:])]
        if (file, match[0].lower()) not in ALLOWED:
            yield Found(file, line + text.count("\n", 0, match.start()), match[0], word)


def everywhere() -> list[Found]:
    """Each such word in all texts."""
    return [each for file, line, text in texts() if file not in QUOTED for each in found(file, line, text)]


def empty_docstrings() -> list[str]:
    """Docstrings that say nothing, by file and line."""
    return [f"{file}:{line}" for file, line, text in texts() if text.strip() in EMPTY]


def main() -> None:
    """Print all of them."""
    import sys

    for each in everywhere():
        sys.stdout.write(f"{each}\n")
    for place in empty_docstrings():
        sys.stdout.write(f"{place}: a docstring that says nothing\n")


if __name__ == "__main__":
    main()
