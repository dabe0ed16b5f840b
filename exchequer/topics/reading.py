"""Topics from the documentation, and to and from the file of them that a wheel has.

Nothing but the standard library is imported: setup.py runs this module where nothing else is installed.
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

PACKED: Final = "topics.json"
"""The file's name, in the folder of this package."""

KINDS: Final = {"tutorials": "tutorial", "how-to": "how to", "explanation": "explanation", "reference": "reference"}
"""Folders of pages that are topics, and what one page of each is called."""

ERRORS: Final = "docs/reference/errors.md"
"""The page whose sections explain one exception each."""

_TERM: Final = re.compile(r"^- \*\*(?P<name>.+?)\*\* — (?P<text>.+) \((?P<place>[^()]*(?:\([^()]*\)[^()]*)*)\)$")
_SECTION: Final = re.compile(r"^## ", re.MULTILINE)


class Topic(NamedTuple):
    """key: what is asked for, in lower case with "-" between words.  title: as a heading has it.
    kind: "term", "error", or what KINDS calls a page.  text: Markdown; of a page, all below its title.
    place: the file, from the folder of the repository; of a term, where it comes from and its name in code.
    """

    key: str
    title: str
    kind: str
    text: str
    place: str

    @property
    def beginning(self) -> str:
        """The first paragraph."""
        return self.text.partition("\n\n")[0]

    @property
    def headings(self) -> list[str]:
        """Of the sections of a page."""
        return re.findall(r"^## (.+)$", self.text, re.MULTILINE)


def key_of(words: str) -> str:
    """How a term or a page is asked for: "Privacy Loss" is privacy-loss."""
    return re.sub(r"[\W_]+", "-", words.casefold()).strip("-")


def key_of_class(name: str) -> str:
    """How a class is: NotANumber is not-a-number. As in `accountant.explained`, which this may not import."""
    return key_of(re.sub(r"(?=[A-Z])", "-", name))


def read_topics(root: Path) -> list[Topic]:
    """All topics of a checkout: terms, errors, then pages. Raises FileNotFoundError where there is no documentation."""
    return [*_terms(root / "GLOSSARY.md"), *_errors(root), *_pages(root)]


def _terms(glossary: Path) -> Iterator[Topic]:
    for line in glossary.read_text(encoding="utf-8").splitlines():
        if found := _TERM.match(line):
            name = found["name"].partition(" (")[0]
            yield Topic(key_of(name), found["name"], "term", found["text"], found["place"])


def _errors(root: Path) -> Iterator[Topic]:
    for section in _SECTION.split((root / ERRORS).read_text(encoding="utf-8"))[1:]:
        name, _, text = section.partition("\n")
        yield Topic(key_of_class(name), name.strip(), "error", text.strip(), ERRORS)


def _pages(root: Path) -> Iterator[Topic]:
    for folder, kind in KINDS.items():
        for path in sorted((root / "docs" / folder).glob("*.md")):
            if path.stem != "index":
                title, _, text = path.read_text(encoding="utf-8").partition("\n")
                place = path.relative_to(root).as_posix()
                yield Topic(key_of(path.stem), title.removeprefix("# ").strip(), kind, text.strip(), place)


def packed(topics: Sequence[Topic]) -> str:
    """The file of them."""
    return json.dumps([list(each) for each in topics], ensure_ascii=False, indent=0)


def unpacked(text: str) -> list[Topic]:
    """The inverse of `packed`."""
    return [Topic(*fields) for fields in json.loads(text)]
