"""Docstrings as Markdown, which is what they nearly are."""

import inspect
import re
from collections.abc import Iterator
from typing import Final

_PROMPT: Final = re.compile(r"^\s*>>> ")
_NAMES: Final = r"[a-z_][a-z0-9_]*(?:, [a-z_][a-z0-9_]*)*: (?=\S)"
_LISTED: Final = re.compile(rf"^({_NAMES})(.*)$")
_BESIDE: Final = re.compile(rf"(?<=\S)  (?={_NAMES})")
"""Between parameters that share a line: two spaces."""

_ENDED: Final = (".", ":", ";", ")", "]", "?")
"""What a line ends with after which another parameter may begin."""

_KEYWORD: Final = re.compile(r"^(Raises|Returns|Guarantee:|Costs?:|Proofs?:|Sources?:|Sensitivity:|Fitted:)(?= )")


def as_markdown(document: str) -> str:
    """Examples after `>>>` become blocks of Python, parameters a list; what follows them is a paragraph of its own.

    Parameters are lines as `epsilon: in nats, > 0.  delta: in (0, 1).`, each with its continuation, indented or not.
    """
    found, inside, listing, before = list[str](), False, False, ""
    for line in _lines(inspect.cleandoc(document)):
        if _PROMPT.match(line) and not inside:
            found += ["", "~~~pycon"]
            inside = True
        elif inside and not line.strip():
            found += ["~~~", ""]
            inside, listing, before = False, False, ""
            continue
        if inside:
            found.append(line)
            continue
        ended = not before or before.endswith(_ENDED)
        if (listed := _LISTED.match(line)) and ended:
            found.append(f"- **{listed[1].removesuffix(': ')}**: {listed[2]}")
            listing = True
        else:
            keyword = _KEYWORD.match(line) if ended else None
            if before and (keyword or (listing and ended and line[:1].isupper())):
                found.append("")
                listing = False
            found.append(_KEYWORD.sub(r"**\1**", line) if keyword else line)
            listing = listing and bool(line.strip())
        before = line.strip()
    if inside:
        found.append("~~~")
    return "\n".join(found).strip()


def _lines(document: str) -> Iterator[str]:
    """The lines of a docstring, each parameter on one of its own; examples as they are."""
    inside = False
    for line in document.splitlines():
        inside = bool(_PROMPT.match(line)) or (inside and bool(line.strip()))
        if inside:
            yield line
        else:
            yield from _BESIDE.split(line)
