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

    def __str__(self) -> str:
        verdicts = {True: "met", False: "MISSED", None: ""}
        rows = [f"| {line.what} | {line.found} | {line.asked} | {verdicts[line.met]} |" for line in self.lines]
        versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("numpy", "scipy", "opendp"))
        where = f"{datetime.date.today()}, Python {platform.python_version()}, {platform.machine()}, {versions}"
        return "\n".join(
            [f"## {self.title}", "", "| what | found | asked | |", "| --- | --- | --- | --- |", *rows, "", where]
        )
