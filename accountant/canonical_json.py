"""Canonical JSON, in which ledgers write: one recipe for everything that is hashed or signed.

Names sorted, no blanks, ASCII only, no NaN and no infinity: what `json.dumps(value, sort_keys=True,
separators=(",", ":"), allow_nan=False)` says.
"""

import json
from typing import Final

_ENCODER: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def canonical(value: object) -> str:
    """The canonical JSON of a value. Raises ValueError on NaN or infinity, TypeError for what JSON does not have."""
    return _ENCODER.encode(value)
