"""Text that others wrote, in ledgers and files: made fit to be printed, and refused where nobody could read it.

Imports nothing of ours, as everything that prints needs it.
"""

import json
import re
from collections.abc import Iterator
from typing import Final

_UNSEEN: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""What Unicode calls printable and nobody sees: fillers, variation selectors, the empty pattern of Braille."""

_HALVES: Final = re.compile("[\ud800-\udfff]")

_ESCAPES: Final = re.compile(r"\\(?:u(?:d[89ab]..\\ud[cdef]..|(0000|d[89abcdef]..))|.)")
"""The escapes of a JSON text in ASCII, one by one, so that halves find their pair; a bad one is a group of its own."""


def visible(text: object) -> str:
    """The text with whatever a terminal would obey, or a reader would not see, spelt out; line feeds too.

    So a name in the ledger can neither move the cursor, nor hide behind another, nor add a line to a table.
    """
    said = str(text)
    if said.isascii() and said.isprintable():
        return said
    return "".join(c if c.isprintable() and not _UNSEEN.match(c) else _spelt(c) for c in said)


def _spelt(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def visible_lines(text: str) -> str:
    """The same for text of several lines, whose line feeds stay."""
    return "\n".join(map(visible, text.split("\n")))


def is_visible(text: str) -> bool:
    """Whether `visible` leaves it as it is."""
    return visible(text) == text


def visible_part(text: str) -> str:
    """Without the characters that `visible` would spell out."""
    return "".join(filter(is_visible, text))


def why_unreadable(text: str) -> str | None:
    """Why a text may not go into the ledger; None if it may.

    Half of a surrogate pair has no encoding, so no file, terminal or program but Python could hold it. A null
    character ends the text for whatever is written in C, and PostgreSQL refuses it.
    """
    if "\0" in text:
        what = "a null character, at which other programs would end it"
    elif _HALVES.search(text):
        what = "half of a surrogate pair, which no encoding has"
    else:
        return None
    return f"the text {text[:60]!r} holds {what}"


def why_not_written(line: str) -> str | None:
    """The same for all texts in a line of JSON in ASCII: where the first bad one stands, and why it is."""
    if "\\u" not in line or not any(found[1] for found in _ESCAPES.finditer(line)):
        return None
    return next((f"{place}: {why}" for place, text in _texts("", json.loads(line)) if (why := why_unreadable(text))))


def _texts(place: str, value: object) -> Iterator[tuple[str, str]]:
    """Every text in a parsed value, names included, each with the names that lead to it."""
    match value:
        case str():
            yield place, value
        case dict():
            for name, part in value.items():
                inner = f"{place}.{visible(name)}" if place else visible(name)
                yield inner, name
                yield from _texts(inner, part)
        case list():
            for part in value:
                yield from _texts(place, part)
