"""The verification kit (`harness`), the claims registry (`claims`), and every test.

Only the kit ships. Tests read a mechanism's *declared* cost; nobody retypes a claim.
"""
