"""A benchmark's result: a Markdown table, what was asked, and whether it was met."""

import datetime
import platform
from importlib import metadata

import attrs


@attrs.frozen
class Line:
    """One measurement. `asked` is what the issue holds us to; `met` is None where nothing was asked."""

    what: str
    found: str
    asked: str = ""
    met: bool | None = None


@attrs.frozen
class Report:
    """Title, lines, and the machine they were measured on."""

    title: str
    lines: tuple[Line, ...] = attrs.field(converter=tuple[Line, ...])

    @property
    def met(self) -> bool:
        """Whether everything that was asked was reached."""
        return all(line.met is not False for line in self.lines)

    @property
    def table(self) -> str:
        """Title and table."""
        verdicts = {True: "met", False: "MISSED", None: ""}
        rows = [f"| {line.what} | {line.found} | {line.asked} | {verdicts[line.met]} |" for line in self.lines]
        return "\n".join([f"## {self.title}", "", "| what | found | asked | |", "| --- | --- | --- | --- |", *rows])

    def __str__(self) -> str:
        return f"{self.table}\n\n{where()}"


@attrs.frozen
class Grid:
    """A table of figures of which nothing was asked."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    met: bool = True

    @property
    def table(self) -> str:
        """Title and table."""
        rows = (self.head, tuple("---" for _ in self.head), *self.rows)
        return "\n".join([f"## {self.title}", "", *(f"| {' | '.join(row)} |" for row in rows)])


@attrs.frozen
class Reports:
    """Several tables that belong together."""

    title: str
    parts: tuple[Report | Grid, ...] = attrs.field(converter=tuple[Report | Grid, ...])

    @property
    def met(self) -> bool:
        """Whether everything that was asked was reached."""
        return all(part.met for part in self.parts)

    def __str__(self) -> str:
        return "\n\n".join([f"# {self.title}", *(part.table for part in self.parts), where()])


def where() -> str:
    """The day, the machine and the versions."""
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("numpy", "scipy", "opendp"))
    return f"{datetime.date.today()}, Python {platform.python_version()}, {platform.machine()}, {versions}"
