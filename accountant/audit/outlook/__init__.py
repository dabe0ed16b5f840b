"""Spending in a window of time, how long what remains lasts, and what other rules would have charged."""

from accountant.audit.outlook.advice import READING, Advice, Releases, RuleTotal, advise
from accountant.audit.outlook.forecast import FEWEST_CHARGES, Forecast, Outlook, PaceReader, UsualCharge, fits
from accountant.audit.outlook.window import AFTER, BEFORE, IN, Part, Window, WindowSpending, read_window, time_of

__all__ = [
    "AFTER",
    "BEFORE",
    "FEWEST_CHARGES",
    "IN",
    "READING",
    "Advice",
    "Forecast",
    "Outlook",
    "PaceReader",
    "Part",
    "Releases",
    "RuleTotal",
    "UsualCharge",
    "Window",
    "WindowSpending",
    "advise",
    "fits",
    "read_window",
    "time_of",
]
