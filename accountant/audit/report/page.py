"""What a report is made of: texts, lists, tables and drawings, and the template that sets them.

Whatever was read from the ledger is untrusted: `shown` makes it printable and short, the template escapes it, and
the page forbids scripts and any reference to elsewhere.
"""

import functools
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar, Final, Literal, TypeAlias

import attrs
from markupsafe import Markup, escape

from accountant.audit.report.burn_down import Panel
from accountant.entries import visible

if TYPE_CHECKING:
    import jinja2

    from accountant.audit.report.summary import Summary

MOST_ROWS: Final = 60
"""Rows of one table; the rest is counted, so that the page stays small however long the ledger is."""

MOST_CHARACTERS: Final = 160
"""Of one text from the ledger."""

MOST_OF_A_SENTENCE: Final = 600
"""Characters of one finding of `verify`."""

_UNBREAKABLE: Final = re.compile(r"(?:Σ?[εδρμ]²? = )\d[\d.]*(?:e[-+]\d+)?|\d[\d.]*e[-+]\d+|\d[\d.]* %")
_POWER: Final = re.compile(r"(?<![^\W\d])e\^(−?k?ε)")

Tone: TypeAlias = Literal["good", "warn", "bad"]


def shown(text: object, most: int = MOST_CHARACTERS) -> str:
    """A text from the ledger as it may be shown: at most that long, with invisible characters spelt out.

    A name cannot pretend to be another by turning the direction of writing, or by characters without width.
    """
    raw = str(text)
    return f"{visible(raw[:most])}… ({len(raw):,} characters)" if len(raw) > most else visible(raw)


@attrs.frozen
class Cell:
    """One entry of a table.

    under: a second line, smaller.  tag: sets the text as a coloured label.  code: sets it in a typewriter face.
    share: in [0, 1] draws a bar.  depth: levels of indentation.
    """

    text: str
    under: str = ""
    tag: Tone | None = None
    code: bool = False
    share: float | None = None
    depth: int = 0


@attrs.frozen
class TableRow:
    """One row. strong: it stands out.  group: a heading above it, for it and the rows that follow."""

    cells: tuple[Cell, ...]
    strong: bool = False
    group: str = ""


def row(*cells: Cell | str, strong: bool = False, group: str = "") -> TableRow:
    """A row of cells and plain texts."""
    return TableRow(tuple(Cell(cell) if isinstance(cell, str) else cell for cell in cells), strong, group)


@attrs.frozen
class Table:
    """note: below the caption.  more: below the table, what was left out.  long: on paper it may break anywhere."""

    kind: ClassVar[str] = "table"
    caption: str
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    note: str = ""
    more: str = ""
    long: bool = False


@attrs.frozen
class Listing:
    """A list of sentences. left_out: how many more there were."""

    kind: ClassVar[str] = "listing"
    shown: tuple[str, ...]
    left_out: int = 0


@attrs.frozen
class Text:
    """A paragraph. style: a class of the style sheet."""

    kind: ClassVar[str] = "text"
    text: str
    style: str = ""


@attrs.frozen
class Heading:
    """A heading within a section."""

    kind: ClassVar[str] = "heading"
    text: str


@attrs.frozen
class Figure:
    """A number that matters. note: a line below it."""

    name: str
    value: str
    note: str = ""


@attrs.frozen
class Figures:
    """Numbers side by side."""

    kind: ClassVar[str] = "figures"
    items: tuple[Figure, ...]


@attrs.frozen
class Panels:
    """Drawings side by side."""

    kind: ClassVar[str] = "panels"
    items: tuple[Panel, ...]


Part: TypeAlias = Table | Listing | Text | Heading | Figures | Panels


@attrs.frozen
class ReportSection:
    """A section of the report. id: the anchor that the table of contents points to."""

    id: str
    name: str
    parts: tuple[Part, ...]


@attrs.frozen
class Page:
    """The whole report.

    summary: its first page.  window: the time that it is about, "" for all of it.
    sound: whether it adds up.  verified: how it was checked.
    caveats: why a ledger that adds up gets no tick all the same.
    unbounded: why nothing is promised, "" if something is.
    simulated, unknown: what is wrong with the noise, "" if nothing is.  contradicted: by another accountant, if so.
    """

    summary: "Summary | None"
    window: str
    title: str
    made: str
    sound: bool
    verified: str
    errors: Listing
    caveats: Listing
    notes: Listing
    unbounded: str
    simulated: str
    unknown: str
    contradicted: str
    sections: tuple[ReportSection, ...]
    foot: str


def listing(sentences: Iterable[str], most: int = MOST_ROWS) -> Listing:
    """The first sentences as they may be shown, and how many more there are."""
    kept: list[str] = []
    rest = 0
    for sentence in sentences:
        if len(kept) < most:
            kept.append(shown(sentence, MOST_OF_A_SENTENCE))
        else:
            rest += 1
    return Listing(tuple(kept), rest)


def counted(number: int, one: str, more: str | None = None) -> str:
    """So many of them: "1 entry", "2 entries". more: their name where there are several, unless an s makes it."""
    return f"{number:,} {one if number == 1 else more or one + 's'}"


def columns(*names: str) -> tuple[str, ...]:
    """The head of a table."""
    return names


def formulas(text: str) -> Markup:
    """The text, escaped, with exponents of e set high and with equations and powers of ten kept on one line."""
    kept = _UNBREAKABLE.sub(r'<span class="one-line">\g<0></span>', str(escape(text)))
    return Markup(_POWER.sub(r"e<sup>\1</sup>", kept))  # escaped above; only these two tags are put in


@functools.cache
def _templates() -> "jinja2.Environment":
    import jinja2  # which readers of a ledger that make no report need not wait for

    made = jinja2.Environment(
        loader=jinja2.PackageLoader("accountant.audit.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["formulas"] = formulas
    return made


def render(page: Page) -> str:
    """The page as one HTML file."""
    return _templates().get_template("report.html").render(page=page)


def render_summary(summary: "Summary") -> str:
    """The first page alone, as a section."""
    return _templates().get_template("summary.html").render(summary=summary)


def style_sheet() -> str:
    """The style of reports, as one element for a head."""
    return _templates().get_template("style.html").render()
