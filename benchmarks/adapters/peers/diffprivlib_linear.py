# /// script
# requires-python = ">=3.11"
# dependencies = ["diffprivlib==0.6.6", "numpy==2.4.6", "scipy==1.17.1", "scikit-learn==1.7.2"]
#
# [tool.leaderboard]
# name = "linear regression (diffprivlib)"
# tasks = ["regression"]
# neighbours = ["add-remove-one", "replace-one"]
# released = "its own package"
# reads = "nothing"
# ///
"""diffprivlib's linear regression: Laplace noise on the coefficients of its objective; pure ε, split between them.

With an intercept it would spend more than ε (the means of columns and of labels are each charged the one share that is
set aside for both), and the noise of a column's sum of squares is scaled by the lower bound alone, twice over where the
upper one is meant. So it is fed columns, a constant among them, and labels within [-1, 1], whose bounds are as far from
0 on either side, and no intercept of its own. Its scales are then ranges of what a record adds, which hold for a record
replaced, and as they contain 0 for one more or less. Categories are numbers by their place in the public schema: with a
column for each of them, the squared number of columns would share ε.
"""

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.adapters.protocol import Columns, Floats, Predict, Promise, Task, codes, unit_features


def fit(task: Task, promise: Promise) -> Predict:
    """One core; δ is left over."""
    from diffprivlib import BudgetAccountant
    from diffprivlib.models import LinearRegression
    from diffprivlib.utils import PrivacyLeakWarning

    lower, upper = task.label_bounds
    middle, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
    model = LinearRegression(
        epsilon=promise.epsilon,
        bounds_X=(-1.0, 1.0),
        bounds_y=(-1.0, 1.0),
        fit_intercept=False,
        random_state=promise.seed,
        accountant=BudgetAccountant(),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyLeakWarning)
        warnings.simplefilter("ignore", RuntimeWarning)  # a noisy objective may have no minimum
        model.fit(_rows(task, task.train), np.clip((task.labels - middle) / half, -1.0, 1.0))

    def predict(records: Columns) -> npt.NDArray[Any]:
        with np.errstate(all="ignore"):
            found = np.nan_to_num(model.predict(_rows(task, records)), nan=0.0, posinf=1.0, neginf=-1.0)
        return np.asarray(middle + half * np.clip(found, -1.0, 1.0))

    return predict


def _rows(task: Task, records: Columns) -> Floats:
    """Columns within [-1, 1] and a constant 1: shape (n, columns + 1)."""
    places = codes(task.columns, records, 2)
    unit = [
        unit_features([column], records)[:, 0] if column.numeric else place / max(1, len(column.categories) - 1)
        for column, place in zip(task.columns, places, strict=True)
    ]
    return np.column_stack([*(2.0 * each - 1.0 for each in unit), np.ones(places.shape[1])])
