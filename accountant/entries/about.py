"""What a charge is about: which data, what for, by whom; said by whoever charges, and kept in the entry for auditors.

Nothing is said unless somebody says so: names of people and machines are personal data themselves.
"""

import getpass
import hashlib
import hmac
import os
import platform
import re
import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Final, Self

import attrs

from accountant.entries.printable import is_visible, visible_part, why_unreadable

LONGEST: Final = 200
"""Characters of each text."""

DATASET: Final = "EXCHEQUER_DATASET"
PURPOSE: Final = "EXCHEQUER_PURPOSE"
RECORD: Final = "EXCHEQUER_RECORD"
"""Environment variables: the data set, the purpose, and which of user, host and program to record, with commas."""

RECORDABLE: Final = ("user", "host", "program")

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_SHORTEST_KEY: Final = 16


def _said(instance: "About", attribute: "attrs.Attribute[str]", value: object) -> None:
    if not isinstance(value, str) or len(value) > LONGEST:
        raise ValueError(f"{attribute.name}: expected a text of at most {LONGEST} characters, got {value!r:.99}")
    if (reason := why_unreadable(value)) is not None:
        raise ValueError(f"{attribute.name}: {reason}")
    if value != value.strip() or not is_visible(value):
        raise ValueError(f"{attribute.name}: expected printable characters without spaces around them, got {value!r}")


@attrs.frozen
class About:
    """What a charge is about; "" where nothing is said.

    dataset: the name of the data set, as its curator calls it.  dataset_digest: of `keyed_digest`, if wanted.
    purpose: what the release is for.  user, host: who charged, and on which machine.  program: with its version.
    Texts of at most 200 printable characters. Raises ValueError for others.
    """

    dataset: str = attrs.field(default="", validator=_said)
    dataset_digest: str = attrs.field(default="")
    purpose: str = attrs.field(default="", validator=_said)
    user: str = attrs.field(default="", validator=_said)
    host: str = attrs.field(default="", validator=_said)
    program: str = attrs.field(default="", validator=_said)

    @dataset_digest.validator
    def _hexadecimal(self, attribute: "attrs.Attribute[str]", value: object) -> None:
        if value != "" and not (isinstance(value, str) and _DIGEST.fullmatch(value)):
            raise ValueError(f"dataset_digest: expected 64 digits of lower-case hexadecimal, got {value!r:.99}")

    def __bool__(self) -> bool:
        """Whether anything is said."""
        return self is not NOTHING_SAID and self != NOTHING_SAID

    def __str__(self) -> str:
        return ", ".join(f"{name.replace('_', ' ')} {text}" for name, text in self.as_dict().items())

    def over(self, other: Self) -> Self:
        """This, and what the other says where this says nothing."""
        said = {name: text or getattr(other, name) for name, text in attrs.asdict(self).items()}
        return type(self)(**said)

    def as_dict(self) -> dict[str, str]:
        """What is said, for JSON."""
        return {name: text for name, text in attrs.asdict(self).items() if text}

    @staticmethod
    def from_dict(record: Mapping[str, object]) -> "About":
        """The inverse of `as_dict`. Raises ValueError and TypeError for anything that it does not write."""
        if not all(record.values()):
            raise ValueError("what is not said is left out")
        return About(**record)  # type: ignore[arg-type]  # each is checked, and names are those of the class

    @staticmethod
    def from_environment(environment: Mapping[str, str] = os.environ) -> "About":
        """What EXCHEQUER_DATASET, EXCHEQUER_PURPOSE and EXCHEQUER_RECORD say. Raises ValueError, naming them."""
        wanted = [name.strip() for name in environment.get(RECORD, "").split(",") if name.strip()]
        if strange := [name for name in wanted if name not in RECORDABLE]:
            raise ValueError(f"{RECORD}: {strange[0]!r} is none of {', '.join(RECORDABLE)}")
        found = {"user": getpass.getuser, "host": platform.node, "program": program_name}
        try:
            return About(
                dataset=environment.get(DATASET, "").strip(),
                purpose=environment.get(PURPOSE, "").strip(),
                **{name: _fit(found[name]()) for name in wanted},
            )
        except (ValueError, LookupError, OSError, ImportError) as error:  # a user without a name, as in containers
            raise ValueError(f"environment ({DATASET}, {PURPOSE}, {RECORD}): {error}") from None


NOTHING_SAID: Final = About()
"""What a charge says of which nothing is said."""


def program_name() -> str:
    """The running program's file name and this library's version."""
    try:
        version = metadata.version("exchequer")
    except metadata.PackageNotFoundError:
        version = "(not installed)"
    return f"{Path(sys.argv[0] or 'python').name or 'python'}, exchequer {version}"


def _fit(text: str) -> str:
    """As much as an entry holds, of what the system says."""
    return visible_part(text)[:LONGEST].strip()


def keyed_digest(path: str | Path, key: bytes) -> str:
    """HMAC-SHA256 of a file, in hexadecimal, for `About(dataset_digest=...)`: proves later which file it was.

    key: at least 16 bytes that only the curator has: without one, whoever guesses a small table could confirm it.
    Raises ValueError for a shorter key, OSError.
    """
    if len(key) < _SHORTEST_KEY:
        raise ValueError(f"key: expected at least {_SHORTEST_KEY} secret bytes, got {len(key)}")
    with Path(path).open("rb") as file:
        return hmac.new(key, hashlib.file_digest(file, "sha256").digest(), "sha256").hexdigest()
