"""`exchequer ledger`, across ledgers: the overview of many, the registry of ledgers, and policies in TOML.

Each module is imported when it is needed.
"""
