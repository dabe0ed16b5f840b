"""The claims registry: one entry per theorem that a cost or a certificate in the code depends on.

`python -m proofs_tests.claims` writes CLAIMS.md; a test fails when that page is stale, when code cites an
unknown id, or when an entry names a test that does not exist.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from proofs_tests.claims.claim import Claim


def known() -> "dict[str, Claim]":
    """All claims by their ids: the entry point `exchequer.claims`, by which `exchequer ledger verify` finds them."""
    from proofs_tests.claims.registry import CLAIMS  # only when somebody asks

    return {claim.id: claim for claim in CLAIMS}
