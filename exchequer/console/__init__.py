"""How the commands talk: tables, progress, and one line for bad input."""

from exchequer.console import output
from exchequer.console.input_errors import (
    Commands,
    about,
    checked,
    refuse_overwriting,
    refuse_replacing,
)

__all__ = [
    "Commands",
    "about",
    "checked",
    "output",
    "refuse_overwriting",
    "refuse_replacing",
]
