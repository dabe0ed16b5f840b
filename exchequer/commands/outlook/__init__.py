"""`exchequer ledger`, looking ahead: forecasts, and what other rules would have charged.

Each module is imported when it is needed.
"""
