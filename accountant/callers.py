"""Whose code called ours: warnings point there."""

import sys
from typing import Final

OURS: Final = frozenset({"accountant", "mechanisms", "boosting", "learners", "exchequer", "contextlib", "functools"})
"""Packages of this project, and those that only pass calls on."""


def level_of_the_caller() -> int:
    """`stacklevel` of a warning that whoever calls this raises: the first frame that is in none of our packages."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals["__name__"].partition(".")[0] in OURS:
        level, frame = level + 1, frame.f_back
    return level
