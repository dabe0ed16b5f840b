"""`exchequer ledger`, looking back and ahead: windows of time, forecasts, and what other rules would have charged.

Each module is imported when it is needed.
"""
