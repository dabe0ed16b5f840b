"""The claims registry: one entry per theorem that a cost or a certificate in the code rests on.

`python -m proofs_tests.claims` writes CLAIMS.md; a test fails when that page is stale, when code cites an
unknown id, or when an entry names a test that does not exist.
"""
