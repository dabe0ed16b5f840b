"""What a saved model is, apart from what it says about its cost; and the digest that binds receipts to it."""

import hashlib
import json
from collections.abc import Mapping
from typing import Final

from accountant.entries import canonical

CONTENT: Final = ("learner", "parameters", "classes", "tuned", "model")
"""The parts of a model's file that say which model it is. The others are its statement and its receipts."""


def content_digest(record: Mapping[str, object]) -> str:
    """SHA-256, in hexadecimal, of the canonical JSON of a model's content: the same before saving and in the file.

    Raises KeyError where a part is missing, and TypeError, ValueError or RecursionError where JSON has nothing for it.
    """
    written = json.loads(json.dumps({name: record[name] for name in CONTENT}))  # tuples become lists, as in a file
    return hashlib.sha256(canonical(written).encode("ascii")).hexdigest()
