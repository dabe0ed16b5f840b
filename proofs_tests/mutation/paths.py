"""Where modules and records are."""

from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parents[1]


def path_of(module: str) -> Path:
    """The file of a module by its dotted name."""
    return ROOT / (module.replace(".", "/") + ".py")
