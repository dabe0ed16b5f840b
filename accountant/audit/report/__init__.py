"""The report on a ledger: one HTML file that answers an auditor's questions."""

from accountant.audit.report.burn_down import moment
from accountant.audit.report.chapters import ClaimText
from accountant.audit.report.document import report, report_of
from accountant.audit.report.evidence import Evidence
from accountant.audit.report.page import shown

__all__ = ["ClaimText", "Evidence", "moment", "report", "report_of", "shown"]
