"""What a drafted schema still asks its reader: values that begin with "TODO:", which only a person can fill in."""

import re
from pathlib import Path
from typing import Final

import attrs

from learners.kinds import SchemaError

TODO: Final = "TODO"
"""How the text of a value begins that is not known yet, before a colon. Names are known: they may begin with it."""

_VALUE: Final = re.compile(r"""^(?P<key>[^#"']*?)=?\s*\[?\s*(["'])TODO:\s*(?P<asked>.*?)\2""")
_IGNORED: Final = re.compile(r"""^\s*kind\s*=\s*(["'])ignored\1""")
_NAME: Final = re.compile(r"""^\s*name\s*=\s*(["'])(?P<name>.*?)\1""")


@attrs.frozen
class OpenQuestion:
    """line: its number in the file.  column: whose, "" where none is named.  key, asked: what is asked for, and how."""

    line: int
    column: str
    key: str
    asked: str

    def __str__(self) -> str:
        whose = f"{self.column}, " if self.column else ""
        return f"line {self.line}: {whose}{self.key}: {self.asked}"


class OpenQuestions(SchemaError):
    """A draft that was not filled in. questions: all of them."""

    in_lines = True
    """For the command line: its message has a line for each."""

    def __init__(self, path: str, questions: tuple[OpenQuestion, ...]) -> None:
        said = "one TODO is" if len(questions) == 1 else f"{len(questions)} TODOs are"
        lines = [f"{path}: {said} open; answer from public knowledge, never from the data:", *map(str, questions)]
        super().__init__("\n  ".join(lines))
        self.path, self.questions = path, questions

    def __reduce__(self) -> "tuple[type[OpenQuestions], tuple[str, tuple[OpenQuestion, ...]]]":
        """As it was made, so that it survives the way back from a worker process."""
        return type(self), (self.path, self.questions)


def open_questions(text: str) -> tuple[OpenQuestion, ...]:
    """Those of a schema file's text, in order; of columns that are ignored nothing is asked."""
    found, column, part, ignored = list[tuple[int, OpenQuestion]](), "", 0, set[int]()
    for number, line in enumerate(text.split("\n"), 1):  # other ends of lines may stand in a value
        if line.strip().startswith("["):
            column, part = "", part + 1
        if _IGNORED.match(line):
            ignored.add(part)
        if name := _NAME.match(line):
            column = name["name"]
        elif value := _VALUE.match(line):
            found.append((part, OpenQuestion(number, column, value["key"].strip() or "value", value["asked"])))
    return tuple(question for place, question in found if place not in ignored)


def refuse_open_questions(path: Path) -> None:
    """Raise OpenQuestions where there are any; a file that is no text is for others to refuse."""
    found = open_questions(path.read_text(encoding="utf-8", errors="replace"))
    if found:
        raise OpenQuestions(str(path), found)
