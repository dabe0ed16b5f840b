"""Which code a claim is behind, and whether it changed without its entry.

Every function, class or module whose docstring cites a claim's id is stamped with the syntax tree of its body, so that
comments, layout and prose do not matter. A test fails when that code changes and the entry does not: read the entry
again, then run `python -m proofs_tests.claims`, which refuses to go on until the entry has changed too, or is named as
still true. Syntax trees differ between versions of Python; the stamps say of which one they are.
"""

import ast
import hashlib
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import attrs

from proofs_tests.claims.claim import Claim

ROOT: Final = Path(__file__).parents[2]
STAMPS: Final = Path(__file__).with_name("stamps.txt")
FOLDERS: Final = ("accountant", "mechanisms", "boosting", "learners")
CITED: Final = re.compile(r"\[([A-Za-z0-9][\w-]*)\]")

Node = ast.FunctionDef | ast.ClassDef | ast.Module


@attrs.frozen
class Stamp:
    """What stood behind a claim when its entry was last read: digests of the code and of the entry."""

    code: str
    entry: str


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _without_docstrings(node: Node) -> str:
    """The syntax tree of a function, class or module, without any docstring in it."""
    tree = ast.parse(ast.unparse(node))
    for inner in ast.walk(tree):
        if isinstance(inner, Node) and ast.get_docstring(inner) is not None:
            inner.body = inner.body[1:] or [ast.Pass()]
    return ast.dump(tree)


def _citing(path: Path) -> Iterator[tuple[str, str]]:
    """(claim id, code) for every citation in a docstring of a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, Node):
            for name in set(CITED.findall(ast.get_docstring(node) or "")):
                called = "" if isinstance(node, ast.Module) else node.name
                yield name, f"{path.relative_to(ROOT)}:{called}:{_without_docstrings(node)}"


def current(claims: tuple[Claim, ...]) -> dict[str, Stamp]:
    """The stamps of all claims that code cites, by id."""
    behind: dict[str, list[str]] = {}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for name, code in _citing(path):
                behind.setdefault(name, []).append(code)
    entries = {claim.id: _digest(repr(claim)) for claim in claims}
    return {
        name: Stamp(_digest("\n".join(sorted(code))), entries[name]) for name, code in behind.items() if name in entries
    }


def _python() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def _lines() -> list[str]:
    return STAMPS.read_text(encoding="utf-8").split("\n") if STAMPS.is_file() else [f"Python {_python()}"]


def python_of_stamps() -> str:
    """The version of Python whose syntax trees were stamped."""
    return _lines()[0].removeprefix("Python ")


def comparable() -> bool:
    """Whether this Python makes the same syntax trees as the one that made the stamps."""
    return python_of_stamps() == _python()


def stored() -> dict[str, Stamp]:
    """The stamps as they were committed."""
    lines = _lines()[1:]
    return {name: Stamp(code, entry) for name, code, entry in (line.split() for line in lines if line)}


def unread(now: Mapping[str, Stamp], then: Mapping[str, Stamp]) -> list[str]:
    """Claims whose code changed while their entry did not."""
    return sorted(
        name
        for name, stamp in now.items()
        if name in then and stamp.code != then[name].code and stamp.entry == then[name].entry
    )


def write(stamps: Mapping[str, Stamp]) -> None:
    """Keep the stamps."""
    lines = [f"Python {_python()}"] + [f"{name} {stamp.code} {stamp.entry}" for name, stamp in sorted(stamps.items())]
    STAMPS.write_text("\n".join(lines) + "\n", encoding="utf-8")
