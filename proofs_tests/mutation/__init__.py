"""Mutation testing: every price and every bound is changed, one place at a time, and a test must notice.

`make mutants` runs it; `results.toml` holds what came of it and `survivors.toml` why those that live may live. The
mutants of mechanisms in `proofs_tests.mutants` are something else: written by hand, for the verification kit to find.
"""
