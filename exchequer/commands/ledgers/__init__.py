"""`exchequer ledger`, for those who spend: opening a ledger, sharing it out, importing spends; and reading its entries.

Each module is imported when it is needed.
"""
