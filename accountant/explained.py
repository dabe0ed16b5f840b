"""Exceptions that say where they are explained."""

from typing import ClassVar, Self


class Explained(Exception):
    """An exception whose class has a section in docs/reference/errors.md, which a note below its traceback names.

    The message stays as it is.
    """

    _note: ClassVar[str]

    def __init_subclass__(cls) -> None:
        """A class without a section of its own would name one that is not there: a test looks for it."""
        super().__init_subclass__()
        spelt = "".join(f"-{each.lower()}" if each.isupper() else each for each in cls.__name__)
        cls._note = f"see: exchequer help {spelt.lstrip('-')}"

    def __new__(cls, *args: object, **named: object) -> Self:
        """With the note from the start, so that it is there again after the way back from a worker process."""
        made = super().__new__(cls, *args, **named)
        made.add_note(cls._note)
        return made
