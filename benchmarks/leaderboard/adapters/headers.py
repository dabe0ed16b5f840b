"""What an adapter says of itself, read without running it, and refused where it makes no sense."""

import ast
import platform
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import attrs
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from benchmarks.adapters.protocol import KINDS, NEIGHBOURS, Kind, Neighbours
from benchmarks.leaderboard.adapters.sources import Source, installed, source_of
from benchmarks.peers import environment, python_with
from benchmarks.runner import ROOT, Missing, slug

FOLDER: Final = ROOT / "benchmarks" / "adapters"

HEADER: Final = re.compile(r"(?m)^# /// script$\n((?:^#(?:| .*)$\n)+?)^# ///$")

OWN: Final = "exchequer"
"""The requirement of adapters that are run by the interpreter that runs this."""

KNOWN: Final = frozenset(
    (
        *("name", "tasks", "neighbours", "released", "reads", "private", "deterministic", "heavy", "ours"),
        *("counts", "variants", "refuted", "source"),
    )
)
NEEDED: Final = ("name", "tasks", "neighbours", "released", "reads")


class BadAdapter(ValueError):
    """A file is no adapter; the message names the file and what is wrong in it."""


@attrs.frozen(eq=False)
class Adapter:
    """A file that can fit, and what it says of itself.

    tasks: the kinds that it takes.  neighbours: those for which it keeps a promise itself.  released: whose code it
    is, in words.  reads: what it reads of the records uncharged, in words.  private: whether it heeds ε.
    deterministic: no seed changes its models.  heavy: measured only where it is named.
    counts: whether it takes the number of records as public, as everybody may under replace-one.
    ours: one of this project's learners.  refuted: why its promise is known not to hold, by the kinds of which that is
    known.  variants: name → options of `fit`; one variant named "" where the file names none.  source: of code that is
    in no package registry.  requires_python: what its environment must be made with.
    """

    path: Path
    name: str
    tasks: tuple[Kind, ...]
    neighbours: tuple[Neighbours, ...]
    released: str
    reads: str
    requirements: tuple[str, ...]
    private: bool = True
    deterministic: bool = False
    heavy: bool = False
    counts: bool = False
    ours: bool = False
    refuted: Mapping[Kind, str] = attrs.field(factory=dict)
    variants: Mapping[str, Mapping[str, Any]] = attrs.field(factory=lambda: {"": {}})
    source: Source | None = None
    requires_python: SpecifierSet = attrs.field(factory=SpecifierSet)

    def python(self, folder: Path) -> Path:
        """An interpreter that has what it requires. folder: of environments. Raises `benchmarks.runner.Missing`."""
        if not self.requires_python.contains(platform.python_version(), prereleases=True):
            raise Missing(
                f"{self.path}: requires-python = '{self.requires_python}', and this is Python "
                f"{platform.python_version()}. Run this again where the Python is one that it takes"
            )
        if OWN in self.requirements:
            return Path(sys.executable)
        if self.source is None:
            return python_with(self.requirements[0].partition("==")[0], self.requirements, folder)
        python = environment(self.path.stem, self.requirements, folder, attrs.astuple(self.source))
        installed(self.source, python)
        return python

    @property
    def systems(self) -> "tuple[System, ...]":
        """One for each variant."""
        return tuple(System(self, variant) for variant in self.variants)


@attrs.frozen(eq=False)
class System:
    """A variant of an adapter: a row of every table."""

    adapter: Adapter
    variant: str

    @property
    def name(self) -> str:
        """What tables call it; unique."""
        return f"{self.adapter.name}, {self.variant}" if self.variant else self.adapter.name

    @property
    def options(self) -> dict[str, Any]:
        """What `fit` is given besides the task and the promise."""
        return dict(self.adapter.variants[self.variant])


def read(path: Path) -> Adapter:
    """What an adapter says of itself. Raises BadAdapter with the remedy."""
    found = HEADER.search(path.read_text(encoding="utf-8"))
    if found is None:
        raise BadAdapter(
            f"{path}: expected a header from '# /// script' to '# ///', as benchmarks/adapters/ceilings/constant.py has"
        )
    text = "".join(line[2:] if line.startswith("# ") else line[1:] for line in found[1].splitlines(keepends=True))
    try:
        header = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadAdapter(f"{path}: its header is no TOML: {error}") from error
    said = header.get("tool", {}).get("leaderboard")
    if not isinstance(said, dict):
        raise BadAdapter(f"{path}: its header has no table [tool.leaderboard]")
    _check(path, header, said)
    source = _source(path, header, said)
    requires_python = _python_asked(path, header.get("requires-python", ""))
    _has_fit(path)
    fields = {
        **said,
        **{name: tuple(said[name]) for name in ("tasks", "neighbours")},
        "source": source,
        "requires_python": requires_python,
    }
    return Adapter(path.resolve(), requirements=tuple(header["dependencies"]), **fields)


def _source(path: Path, header: Mapping[str, Any], said: Mapping[str, Any]) -> Source | None:
    if "source" not in said:
        return None
    if not isinstance(said["source"], dict) or OWN in header["dependencies"]:
        raise BadAdapter(f"{path}: source: expected a table, and an environment without {OWN}")
    try:
        return source_of(said["source"])
    except ValueError as error:
        raise BadAdapter(f"{path}: source: {error}") from error


def _has_fit(path: Path) -> None:
    """Raises BadAdapter where the file is no Python, or defines no `fit`."""
    try:
        module = ast.parse(path.read_text(encoding="utf-8"))
    except SyntaxError as error:
        raise BadAdapter(f"{path}: line {error.lineno}: {error.msg}") from error
    named = {each.name for each in module.body if isinstance(each, ast.FunctionDef)}
    brought = {
        each.asname or each.name for line in module.body if isinstance(line, ast.ImportFrom) for each in line.names
    }
    if "fit" not in named | brought:
        raise BadAdapter(f"{path}: it has no function fit(task, promise)")


def _check(path: Path, header: Mapping[str, Any], said: Mapping[str, Any]) -> None:
    missing, unknown = [name for name in NEEDED if name not in said], sorted(set(said) - KNOWN)
    if missing or unknown:
        wrong = [f"it lacks {', '.join(missing)}"] * bool(missing) + [f"unknown: {', '.join(unknown)}"] * bool(unknown)
        raise BadAdapter(f"{path}: [tool.leaderboard]: {'; '.join(wrong)}")
    for name, allowed in (("tasks", KINDS), ("neighbours", NEIGHBOURS)):
        if not isinstance(said[name], list) or not said[name] or not set(said[name]) <= set(allowed):
            raise BadAdapter(f"{path}: {name} = {said[name]!r}: expected a list of some of {', '.join(allowed)}")
    variants = said.get("variants", {"": {}})
    if not isinstance(variants, dict) or not variants or not all(isinstance(each, dict) for each in variants.values()):
        raise BadAdapter(f"{path}: variants = {variants!r}: expected a table of tables of options")
    refuted = said.get("refuted", {})
    if not isinstance(refuted, dict) or not set(refuted) <= set(said["tasks"]):
        raise BadAdapter(f"{path}: refuted = {refuted!r}: expected a table of some of its tasks, each with a reason")
    requirements = header.get("dependencies")
    if (
        not isinstance(requirements, list)
        or not requirements
        or not all("==" in each or each == OWN for each in requirements)
    ):
        raise BadAdapter(f"{path}: dependencies = {requirements!r}: expected a list of pins such as 'numpy==2.4.6'")


def _python_asked(path: Path, required: object) -> SpecifierSet:
    """Which versions of Python its header asks for. Raises BadAdapter."""
    try:
        return SpecifierSet(required if isinstance(required, str) else repr(required))
    except InvalidSpecifier as error:
        raise BadAdapter(f"{path}: requires-python = {required!r}: expected such as '>=3.11'") from error


def every(folder: Path = FOLDER) -> list[Adapter]:
    """All adapters below a folder, in the order of their paths; a name that begins with "_" is no adapter's."""
    return [read(path) for path in sorted(folder.glob("*/*.py")) if not path.name.startswith("_")]


RECOMMENDED: Final = "PrivateBoost"
"""What users are told to take; it stands for us where "ours" is judged, not the best of ours by hindsight."""


def told_apart(adapters: Iterable[Adapter]) -> tuple[Adapter, ...]:
    """They, if their systems have names of their own, as files, too. Raises BadAdapter with the remedy."""
    found, seen = tuple(adapters), dict[str, System]()
    for system in (system for adapter in found for system in adapter.systems):
        name, path = slug(system.name), system.adapter.path
        if not name or name in seen:
            other = (
                f"is that of {seen[name].adapter.path}" if name in seen else "has no letter from a to z, and no digit"
            )
            raise BadAdapter(f"{path}: the name {system.name!r} {other}: give it another name in its header")
        if system.name == RECOMMENDED and not system.adapter.ours:
            raise BadAdapter(f"{path}: {RECOMMENDED!r} is this project's recommended learner: give it another name")
        seen[name] = system
    return found


def chosen(words: Iterable[str], adapters: Iterable[Adapter]) -> list[Adapter]:
    """Those whose file stem is named, and files of the user's own. words: stems, or paths that end in .py.

    Raises BadAdapter for a word that is neither.
    """
    known = {adapter.path.stem: adapter for adapter in adapters}  # whose stems differ, as a test sees
    found = []
    for word in words:
        if word in known:
            found.append(known[word])
        elif word.endswith(".py") and Path(word).is_file():
            found.append(read(Path(word)))
        else:
            raise BadAdapter(f"{word!r} is neither a file of an adapter nor one of {', '.join(known)}")
    return list({adapter.path: adapter for adapter in found}.values())
