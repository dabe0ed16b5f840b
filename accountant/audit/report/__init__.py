"""The report on a ledger: one HTML file that answers an auditor's questions."""

from accountant.audit.report.burn_down import moment
from accountant.audit.report.chapters import ClaimText
from accountant.audit.report.document import report, report_of, summary_html
from accountant.audit.report.evidence import Evidence
from accountant.audit.report.light_facts import Witness
from accountant.audit.report.lights import Headline, Light, LightFacts, Tone, headline, lights
from accountant.audit.report.page import ReportSection, shown, style_sheet
from accountant.audit.report.window_chapter import window_section, window_text

__all__ = [
    "ClaimText",
    "Evidence",
    "Headline",
    "Light",
    "LightFacts",
    "ReportSection",
    "Tone",
    "Witness",
    "headline",
    "lights",
    "moment",
    "report",
    "report_of",
    "shown",
    "style_sheet",
    "summary_html",
    "window_section",
    "window_text",
]
