"""`exchequer ledger`, for auditors: showing, verifying, comparing and exporting a ledger; nothing here writes to one.

Each module is imported when it is needed.
"""
