"""`exchequer ledger`, for several ledgers at once: registries of them, and an overview of what they come to together.

Each module is imported when it is needed.
"""
