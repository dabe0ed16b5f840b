"""Texts in CSV that no spreadsheet takes for a formula: what is in a ledger, others wrote."""

import re
from typing import Final

from accountant.entries import visible

_FORMULA: Final = re.compile(r"(^|;)(\s*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])")
"""Where a cell would begin as a formula does, full-width signs too; where ";" separates cells, after one as well."""


def cell(text: str) -> str:
    """The text with an apostrophe before whatever would be computed, and with what nobody would see spelt out."""
    return _FORMULA.sub(r"\1\2'", visible(text))
