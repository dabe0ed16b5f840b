"""A quick model with a ledger of its own, and what its statement says of the other fits."""

from typing import Any, Final

import pytest

from accountant import Statement
from learners import LazyBoostClassifier

separate = pytest.mark.filterwarnings("ignore::learners.SeparateLedgersWarning")
"""Of tests that fit several times on purpose, and look at what the statements say of it."""

ALONE: Final = "Everything released so far is together 1-differentially private under replace-one."


def model(epsilon: float = 1.0, **given: Any) -> LazyBoostClassifier:
    """Pure, private, quick."""
    return LazyBoostClassifier(epsilon, rounds=2, **given)


def said(statement: Statement) -> tuple[int, int, bool, str]:
    """What it says of the other fits: number, known, elsewhere, together."""
    fits = statement.fits
    assert fits is not None
    assert statement.guarantee.endswith(str(fits))
    assert f"fit {fits.number} of {'at least ' if fits.elsewhere else ''}{fits.known} that" in statement.guarantee
    assert fits.together in statement.guarantee
    assert "so far" not in statement.guarantee
    return fits.number, fits.known, fits.elsewhere, fits.together
