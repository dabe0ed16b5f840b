"""Reading a ledger: verification, the odometer and the privacy statement.

The report and the second opinion are in sub-packages of their own, as they take more packages along.
"""

from typing import TYPE_CHECKING

from accountant.audit.displayed_numbers import as_property, in_symbols, left_text, rounded_down, rounded_up, spent_text
from accountant.audit.entry_checks import declared_elsewhere
from accountant.audit.fast_reader import Accumulator, Run
from accountant.audit.model_claims import ModelClaim, content_digest, read_model_claim
from accountant.audit.odometer import Odometer, ReadOut, Share, epsilon_at, from_spending, least_delta, odometer
from accountant.audit.plain_language import (
    READ_AT,
    SEVERAL,
    as_approx,
    best_guess,
    for_group,
    percent,
    power,
    readings,
    times,
    unit,
)
from accountant.audit.reading import Reading, broken
from accountant.audit.saved_models import ModelComparison, compare_model
from accountant.audit.separate_fits import SeparateFits, in_words
from accountant.audit.since import NewPart, verify_since
from accountant.audit.spending import Spending, gather, parted
from accountant.audit.statement import UNBOUNDED, Statement, state, stated, unprotected
from accountant.audit.statement_details import StatementDetails
from accountant.audit.verification import Verdict, Verification, Verifier, verify
from accountant.renamed import old_names

if not TYPE_CHECKING:
    __getattr__ = old_names(__name__)

__all__ = [
    "READ_AT",
    "SEVERAL",
    "UNBOUNDED",
    "Accumulator",
    "ModelClaim",
    "ModelComparison",
    "NewPart",
    "Odometer",
    "ReadOut",
    "Reading",
    "Run",
    "SeparateFits",
    "Share",
    "Spending",
    "Statement",
    "StatementDetails",
    "Verdict",
    "Verification",
    "Verifier",
    "as_approx",
    "as_property",
    "best_guess",
    "broken",
    "compare_model",
    "content_digest",
    "declared_elsewhere",
    "epsilon_at",
    "for_group",
    "from_spending",
    "gather",
    "in_symbols",
    "in_words",
    "least_delta",
    "left_text",
    "odometer",
    "parted",
    "percent",
    "power",
    "read_model_claim",
    "readings",
    "rounded_down",
    "rounded_up",
    "spent_text",
    "state",
    "stated",
    "times",
    "unit",
    "unprotected",
    "verify",
    "verify_since",
]
