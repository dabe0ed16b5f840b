"""The blocks of a page, and how they run: in order, in an empty folder, as a reader would run them.

python   runs, in one namespace for the page; with a title it is written to a file of that name instead
sh       each line runs; what it must end with, other than 0, is said behind it as `# exit code 1`. Two kinds of lines
         take what follows up to END: `cat > FILE <<'END'` and `python - <<'END'`. $(cat FILE) is what is in the file
toml, yaml, json, text with a title  are written to files; what a pyproject.toml registers is as if it were installed
toml answers="FILE"  what stands for the TODOs of a drafted schema, by column; every other character of FILE stays
text after sh  is what the commands printed, with … for what differs from run to run or was left out; with varies="0.2"
         a decimal fraction in it stands for one that is no further off than that share
console  is shown only: installing, make, and what needs a server or an hour. Its commands are looked up, see the tests
"""

import importlib
import itertools
import json
import math
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import attrs
from click.testing import CliRunner

from learners.tables import open_questions
from proofs_tests.site.pages import ROOT

_FENCE: Final = re.compile(r'^```(\w+)(?: (title|answers|varies)="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_FRACTION: Final = re.compile(r"\d+\.\d+")
_ESCAPED: Final = re.compile(r"\d+\\\.\d+")
"""One in a pattern."""

_EXPECTED: Final = re.compile(r"#.*\bexit code (\d+)")
_FILE: Final = re.compile(r"cat > (\S+) <<'END'")
_CONTENT: Final = re.compile(r"\$\(cat (\S+)\)")
_PROGRAM: Final = "python - <<'END'"
KINDS: Final = ("python", "sh", "toml", "yaml", "json", "text", "console", "mermaid", "csv")


@attrs.frozen
class Block:
    """line: of the page, where its text begins. title: the file that it is written to, if any.

    answers: the draft that it fills in, if any.  varies: by which share decimal fractions may differ.
    """

    kind: str
    title: str | None
    text: str
    line: int
    answers: str | None = None
    varies: float = 0.0


class DiffersFromPage(AssertionError):
    """A command of a page ended otherwise, or printed something else, than the page says."""


def blocks(markdown: str) -> list[Block]:
    """All blocks that name their language. Raises ValueError for a language that nobody says what to do with."""
    found = []
    for match in _FENCE.finditer(markdown):
        if match[1] not in KINDS:
            raise ValueError(f"a block of {match[1]!r}; known: {', '.join(KINDS)}")
        names = {match[2]: match[3]}
        line = markdown.count("\n", 0, match.start()) + 2
        varies = float(names.get("varies", 0.0))
        found.append(Block(match[1], names.get("title"), match[4], line, names.get("answers"), varies))
    return found


@attrs.define
class Reader:
    """Somebody who runs the blocks of a page, in the folder where this process is."""

    page: str
    namespace: dict[str, object] = attrs.field(factory=lambda: {"__name__": "page"})
    printed: str = ""

    def run(self, block: Block) -> None:
        """Do what a block asks for."""
        if block.kind in ("console", "mermaid"):
            return
        if block.answers is not None:
            self._answer(block, Path(block.answers))
        elif block.title is not None:
            path = Path(block.title)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
            if path.name == "pyproject.toml":
                _register(path)
        elif block.kind == "python":
            # Empty lines in front, so that a traceback has the line of the page.
            exec(compile("\n" * (block.line - 1) + block.text, self.page, "exec"), self.namespace)
        elif block.kind == "sh":
            self.printed = "".join(map(self._command, _commands(block.text)))
        elif block.kind == "text":
            self._compare(block)

    def _answer(self, block: Block, draft: Path) -> None:
        """As a reader would who edits nothing but the TODOs, and all of them."""
        text, answers = draft.read_text(encoding="utf-8"), tomllib.loads(block.text)
        lines = text.split("\n")
        for question in open_questions(text):
            key = lines[question.line - 1].partition("=")[0]
            try:
                answer = answers[question.column].pop(question.key)
            except KeyError:
                raise DiffersFromPage(f"{self.page}, line {block.line}: no answer to {question}") from None
            lines[question.line - 1] = f"{key}= {json.dumps(answer, ensure_ascii=False)}"
        if left := {name: keys for name, keys in answers.items() if keys}:
            raise DiffersFromPage(f"{self.page}, line {block.line}: {draft} asks nothing that {left} answers")
        draft.write_text("\n".join(lines), encoding="utf-8")

    def _command(self, line: str) -> str:
        head, _, below = line.partition("\n")
        if found := _FILE.fullmatch(head):
            Path(found[1]).write_text(below, encoding="utf-8")
            return ""
        if head == _PROGRAM:
            exec(compile(below, self.page, "exec"), {"__name__": "__main__"})
            return ""
        expected = int(found[1]) if (found := _EXPECTED.search(line)) else 0
        filled = _CONTENT.sub(lambda found: Path(found[1]).read_text(encoding="utf-8").rstrip("\n"), line)
        program, *words = shlex.split(filled, comments=True)
        status, printed = _exchequer(words) if program == "exchequer" else _started(program, words)
        if status != expected:
            raise DiffersFromPage(f"{self.page}: {line!r} ended with {status}, not {expected}:\n{printed}")
        return printed

    def _compare(self, block: Block) -> None:
        said = " ".join(block.text.split())
        pattern = re.escape(said).replace(r"\ …\ ", r"\ (?:.*?\ )?").replace("…", ".*?")
        numbers = [] if not block.varies else list(map(float, _FRACTION.findall(said)))
        if numbers:
            pattern = _ESCAPED.sub(lambda match: f"({_FRACTION.pattern})", pattern)
        found = re.search(pattern, " ".join(self.printed.split()))
        if not found:
            raise DiffersFromPage(f"{self.page}, line {block.line}: the commands printed\n{self.printed}")
        for shown, printed in zip(numbers, map(float, found.groups()), strict=True):
            if not math.isclose(shown, printed, rel_tol=block.varies):
                raise DiffersFromPage(f"{self.page}, line {block.line}: {printed} was printed, not about {shown}")


def _commands(text: str) -> Iterator[str]:
    """Lines that are not empty and not a comment alone, each with what it takes up to END."""
    lines = iter(text.replace("\\\n", " ").splitlines())
    for line in lines:
        if line.endswith("<<'END'"):
            yield "\n".join([line, *itertools.takewhile(lambda below: below != "END", lines), ""])
        elif line.strip() and not line.lstrip().startswith("#"):
            yield line


def _exchequer(words: list[str]) -> tuple[int, str]:
    """In this process, which has everything imported."""
    from exchequer.cli import main

    done = CliRunner().invoke(main, words, terminal_width=100)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.output


def _started(program: str, words: list[str]) -> tuple[int, str]:
    """A program of this environment, in a process of its own."""
    if program not in ("python", "pytest"):
        raise DiffersFromPage(f"{program}: pages may run exchequer, python and pytest; all else is `console`")
    module = ["-m", "pytest", "-p", "no:cacheprovider"] if program == "pytest" else []
    if module and not _plugin_installed():
        module += ["-p", "exchequer.pytest_plugin"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(Path.cwd())])}
    done = subprocess.run(
        [sys.executable, *module, *words], capture_output=True, text=True, env=environment, timeout=300, check=False
    )
    return done.returncode, done.stdout + done.stderr


def _register(project: Path) -> None:
    """The entry points of a package, as pip leaves them where it installs it: beside the modules, which are here."""
    about = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    folder = project.parent / f"{about['name'].replace('-', '_')}-{about['version']}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: {about['version']}\n")
    lines = [
        line
        for group, points in about.get("entry-points", {}).items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in points.items()))
    ]
    (folder / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    importlib.invalidate_caches()


def _plugin_installed() -> bool:
    from importlib import metadata

    return any(point.value == "exchequer.pytest_plugin" for point in metadata.entry_points(group="pytest11"))


def run_page(markdown: str, page: str) -> None:
    """Run all blocks of a page, in order."""
    reader = Reader(page)
    for block in blocks(markdown):
        reader.run(block)
