"""What an entry of the registry says."""

from typing import Literal

import attrs

Verdict = Literal["holds", "tightened", "false as printed", "narrowed"]


@attrs.frozen
class Claim:
    """One claim: where it stands, what it says, what became of it, what the code uses, and what shows it."""

    id: str
    source: str
    statement: str
    verdict: Verdict
    constant: str
    proof: str
    test: str
