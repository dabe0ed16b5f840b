"""HTML as a test reads it: the text that a reader sees, tables by their captions, and what a browser would obey."""

from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Final

import attrs

VOID: Final = {"meta", "br", "line", "path", "img", "link", "input", "hr"}
"""Elements without an end; in SVG they end themselves."""

UNSEEN: Final = {"style", "script", "title", "desc", "head"}


@attrs.define
class Element:
    """An element. text: all that is seen of it and below it."""

    name: str
    attributes: dict[str, str]
    parent: "Element | None"
    children: list["Element | str"] = attrs.field(factory=list)

    def below(self) -> Iterator["Element"]:
        """It and every element in it, in order."""
        yield self
        for child in self.children:
            if isinstance(child, Element):
                yield from child.below()

    def find(self, name: str) -> list["Element"]:
        """Every element of this name in it."""
        return [each for each in self.below() if each.name == name]

    @property
    def text(self) -> str:
        """What a reader sees, with single spaces."""
        return " ".join("".join(self._texts()).split())

    def _texts(self) -> Iterator[str]:
        for child in self.children:
            if isinstance(child, str):
                yield child
            elif child.name == "br":
                yield " "
            elif child.name not in UNSEEN:
                yield from child._texts()
                if child.name in {"p", "li", "td", "th", "tr", "dt", "dd", "caption", "h1", "h2", "h3", "small"}:
                    yield " "


class _Reader(HTMLParser):
    """Builds the tree, and fails where elements are not closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Element("", {}, None)
        self.here = self.root

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> says something twice: {names}"
        made = Element(tag, {name: value or "" for name, value in attrs}, self.here)
        self.here.children.append(made)
        if tag not in VOID:
            self.here = made

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        assert self.here.name == tag, f"</{tag}> closes <{self.here.name}>"
        assert self.here.parent is not None
        self.here = self.here.parent

    def handle_data(self, data: str) -> None:
        self.here.children.append(data)


def parsed(page: str) -> Element:
    """The page as a tree. Fails where an element is not closed, or an id is used twice."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert reader.here is reader.root, f"<{reader.here.name}> is never closed"
    ids = [each.attributes["id"] for each in reader.root.below() if "id" in each.attributes]
    assert len(ids) == len(set(ids)), "an id is used twice"
    return reader.root


def table(page: Element, caption: str) -> list[list[str]]:
    """The rows of the table whose caption begins so, headings of groups left out; the first row is its head."""
    found = [each for each in page.find("table") if each.find("caption")[0].text.startswith(caption)]
    assert len(found) == 1, f"{len(found)} tables are called {caption!r}"
    rows = [[cell.text for cell in row.below() if cell.name in {"th", "td"}] for row in found[0].find("tr")]
    return [row for row in rows if len(row) == len(rows[0])]


def section(page: Element, name: str) -> Element:
    """The section whose heading begins so."""
    found = [each for each in page.find("section") if each.find("h2")[0].text.startswith(name)]
    assert len(found) == 1, f"{len(found)} sections are called {name!r}"
    return found[0]
