"""What all cards are made of: sections with text and a table, as plain text and as Markdown."""

import abc
import html

import attrs

from accountant.entries import visible


@attrs.frozen
class CardSection:
    """A part of a card: text, then a table where there is one.

    headers: of the table's columns.  numbers: those of them that hold numbers.
    """

    heading: str
    text: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    numbers: tuple[str, ...] = ()
    verbatim: bool = False
    """Whether line breaks in the text matter."""

    def __str__(self) -> str:
        lines = [self.heading, *self.text]
        widths = [max(map(len, cells)) for cells in zip(self.headers, *self.rows, strict=True)]
        for row in (self.headers, *self.rows) if self.rows else ():
            cells = [
                cell.rjust(width) if header in self.numbers else cell.ljust(width)
                for cell, width, header in zip(row, widths, self.headers, strict=True)
            ]
            lines.append("  " + "  ".join(cells).rstrip())
        return "\n".join(lines)

    def markdown(self) -> str:
        """A heading of the second level, paragraphs and a table."""
        text = [f"```text\n{part}\n```" if self.verbatim else escaped(part) for part in self.text]
        parts = [f"## {escaped(self.heading)}", *text]
        if self.rows:
            rules = ["---:" if header in self.numbers else "---" for header in self.headers]
            rows = [[escaped(cell) for cell in row] for row in (self.headers, *self.rows)]
            parts.append("\n".join(f"| {' | '.join(row)} |" for row in (rows[0], rules, *rows[1:])))
        return "\n\n".join(parts)

    def html(self) -> str:
        """A heading of the second level, paragraphs and a table."""
        text = [f"<pre>{_shown(part)}</pre>" if self.verbatim else f"<p>{_shown(part)}</p>" for part in self.text]
        parts = [f"<h2>{_shown(self.heading)}</h2>", *text]
        if self.rows:
            flush = [' style="text-align: right"' if header in self.numbers else "" for header in self.headers]
            head = "".join(f"<th{style}>{_shown(name)}</th>" for name, style in zip(self.headers, flush, strict=True))
            rows = [
                "".join(f"<td{style}>{_shown(cell)}</td>" for cell, style in zip(row, flush, strict=True))
                for row in self.rows
            ]
            body = "".join(f"<tr>{row}</tr>\n" for row in rows)
            parts.append(f"<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>")
        return "\n".join(parts)


def _shown(text: str) -> str:
    """HTML that shows the text as it is."""
    return html.escape("\n".join(map(visible, text.splitlines())))


def escaped(text: str) -> str:
    """Markdown that shows the text as it is."""
    text = visible(" ".join(text.split()))
    for mark in "\\`*_[]<>|#$":
        text = text.replace(mark, f"\\{mark}")
    return text


def signed(points: int) -> str:
    return f"{points:+d}" if points else "0"


class Scorecard(abc.ABC):
    """A model to read. `str` gives plain text."""

    @abc.abstractmethod
    def sections(self) -> list[CardSection]:
        """What is printed, in order."""

    @abc.abstractmethod
    def as_dict(self) -> dict[str, object]:
        """For programs; plain values only."""

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.sections()))

    def markdown(self) -> str:
        """The same for a report."""
        return "\n\n".join(section.markdown() for section in self.sections()) + "\n"

    def html(self) -> str:
        """The same for a page."""
        return "\n".join(section.html() for section in self.sections())

    def _repr_html_(self) -> str:
        """For notebooks."""
        return self.html()
