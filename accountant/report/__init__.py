"""The report on a ledger: one HTML file that answers an auditor's questions. `report` makes it."""

from accountant.report.chapters import ClaimText
from accountant.report.document import report

__all__ = ["ClaimText", "report"]
