"""The packages that come with this one, and whether others stand in their place.

Their names are plain words, and another distribution may install a package of the same name.
"""

import importlib.util
from pathlib import Path
from typing import Final

PACKAGES: Final = ("accountant", "mechanisms", "boosting", "learners")
"""From the bottom up."""


def refuse_strangers() -> None:
    """Raises ImportError where one of our packages is missing, or is another distribution's."""
    home = Path(__file__).resolve().parents[1]
    for name in PACKAGES:
        found = importlib.util.find_spec(name)
        place = Path(found.origin).resolve().parents[1] if found is not None and found.origin else None
        if place != home:
            what = "is missing" if place is None else f"was found in {place}, and is another distribution's"
            raise ImportError(
                f"exchequer in {home} needs its own package {name!r}, which {what}: install exchequer into an "
                f"environment without that distribution, or put {home} first on the path",
                name=name,
            )
