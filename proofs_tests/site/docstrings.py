"""Docstrings as Markdown, which is what they nearly are."""

import inspect
import re
from typing import Final

_PROMPT: Final = re.compile(r"^\s*>>> ")
_LISTED: Final = re.compile(r"^([a-z_][a-z0-9_]*(?:, [a-z_][a-z0-9_]*)*): (\S.*)$")


def as_markdown(document: str) -> str:
    """Examples after `>>>` become blocks of Python; lines that begin with a parameter become a list."""
    lines, found, inside = inspect.cleandoc(document).splitlines(), list[str](), False
    for line in lines:
        if _PROMPT.match(line) and not inside:
            found += ["", "~~~pycon"]
            inside = True
        elif inside and not line.strip():
            found += ["~~~", ""]
            inside = False
            continue
        listed = None if inside else _LISTED.match(line)
        found.append(f"- **{listed[1]}**: {listed[2]}" if listed else line)
    if inside:
        found.append("~~~")
    return "\n".join(found).strip()
