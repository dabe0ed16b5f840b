"""Exceptions that say where they are explained."""

from typing import ClassVar, Final, Self

_OURS: Final = ("accountant", "mechanisms", "boosting", "learners", "exchequer", "proofs_tests", "benchmarks")


class Explained(Exception):
    """An exception whose class has a section in docs/reference/errors.md, which a note below its traceback names.

    The message stays as it is.
    """

    _note: ClassVar[str]

    def __init_subclass__(cls) -> None:
        """Classes of others inherit the section of ours. A class of ours without one would name what is not there: a
        test looks for it."""
        super().__init_subclass__()
        if cls.__module__.partition(".")[0] in _OURS:
            spelt = "".join(f"-{each.lower()}" if each.isupper() else each for each in cls.__name__)
            cls._note = f"see: exchequer help {spelt.lstrip('-')}"

    def __new__(cls, *args: object, **named: object) -> Self:
        """With the note from the start, so that it is there again after the way back from a worker process."""
        made = super().__new__(cls, *args, **named)
        made.__dict__["__notes__"] = [cls._note]  # what add_note does, which frozen classes of attrs forbid
        return made
