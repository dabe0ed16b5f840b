"""Reading a ledger: verification, the odometer and the privacy statement.

The report and the second opinion are in sub-packages of their own, as they take more packages along.
"""

from accountant.audit.displayed_numbers import (
    as_property,
    in_symbols,
    left_text,
    rounded_down,
    rounded_up,
    spent_text,
)
from accountant.audit.odometer import (
    Odometer,
    ReadOut,
    Share,
    epsilon_at,
    from_spending,
    least_delta,
    odometer,
)
from accountant.audit.plain_language import (
    READ_AT,
    SEVERAL,
    as_approx,
    for_group,
    percent,
    readings,
    times,
    unit,
)
from accountant.audit.separate_fits import (
    SeparateFits,
    in_words,
)
from accountant.audit.spending import (
    Spending,
    gather,
    parted,
)
from accountant.audit.statement import (
    UNBOUNDED,
    Statement,
    state,
    unprotected,
)
from accountant.audit.verification import (
    Audit,
    Verdict,
    Verification,
    verify,
)

__all__ = [
    "READ_AT",
    "SEVERAL",
    "UNBOUNDED",
    "Audit",
    "Odometer",
    "ReadOut",
    "SeparateFits",
    "Share",
    "Spending",
    "Statement",
    "Verdict",
    "Verification",
    "as_approx",
    "as_property",
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
    "readings",
    "rounded_down",
    "rounded_up",
    "spent_text",
    "state",
    "times",
    "unit",
    "unprotected",
    "verify",
]
