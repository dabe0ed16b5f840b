"""What scikit-learn's searches and cross-validations do to a private fit, and what a user must hear of it.

A fit that the ledger refuses becomes a score of nan there, with a warning, and a search goes on to choose among the
settings that came first. And for classifiers a number of folds means stratified ones, which depend on all labels.
"""

import sys
import warnings
from collections.abc import Iterator
from types import FrameType
from typing import Final

from sklearn.exceptions import FitFailedWarning

DEEPEST: Final = 200
"""Callers that are looked at."""


class StratifiedSplitWarning(UserWarning):
    """Records were split by protected labels: where one record is depends on the labels of others."""


def raise_refused_fits() -> None:
    """Make errors of scikit-learn's warnings that a ledger refused some of the fits, from here on.

    For `cross_validate`, `cross_val_score`, `learning_curve` and searches; `warnings.filterwarnings("default",
    category=FitFailedWarning)` goes back to scores of nan.
    """
    warnings.filterwarnings("error", message=r"(?s).*\bBudgetExceeded\b", category=FitFailedWarning)


def warn_of_stratified_splits(estimator: object) -> None:
    """Warn where a caller of scikit-learn's splits by labels; said once for each place that calls.

    Regressions, which have no `classes`, are split without a look at labels.
    """
    named = next(_stratified(sys._getframe(1)), None) if hasattr(estimator, "classes") else None
    if named is not None:
        warnings.warn(
            f"{named} splits by the labels of all records, so that one record's label decides where others are, which "
            "no guarantee of a single fit covers (see LIMITS.md). Give cv=KFold(k, shuffle=True), which looks at no "
            "label; a number of folds means stratified ones for a classifier",
            StratifiedSplitWarning,
            stacklevel=4,
        )


def _stratified(frame: FrameType | None) -> Iterator[str]:
    """Names of the splitters by labels that scikit-learn's callers hold."""
    for _ in range(DEEPEST):
        if frame is None:
            return
        if str(frame.f_globals.get("__name__", "")).startswith("sklearn."):
            held = (frame.f_locals.get(name) for name in ("cv_orig", "cv"))
            yield from (type(each).__name__ for each in held if "Stratified" in type(each).__name__)
        frame = frame.f_back


raise_refused_fits()
