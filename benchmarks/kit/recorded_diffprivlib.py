"""diffprivlib's tools and models at ε = 1, as it documents them; it names no neighbours, so both kinds are tried."""

from collections.abc import Callable
from functools import partial
from typing import Final

import numpy as np

from accountant import PureDP
from benchmarks.kit.recorded_cases import TABLES, Case, Records, cases, fitted
from proofs_tests.harness import Pair

ONE = PureDP(1.0)
SAME: Final = {"public_draws": True, "secret_seeds": True}
"""Of models with a seed, so that each run of this grows the same trees: which are public, and the seed is secret."""

BOUNDS = ([0.0, 0.0], [1.0, 1.0])


def _column(data: Records) -> np.ndarray:
    return np.asarray(data[0][:, 0])


def _tools() -> list[Case]:
    from diffprivlib import tools

    columns = {name: pair.map(_column) for name, pair in TABLES.items()}
    ends = {
        "0 becomes 1": Pair(np.zeros(6), np.append(np.zeros(5), 1.0)),
        "1 removed": Pair(np.append(np.zeros(5), 1.0), np.zeros(5)),
    }
    found = []
    for name in ("mean", "sum", "var", "std", "median"):
        function: Callable[[np.ndarray], object] = partial(getattr(tools, name), epsilon=1.0, bounds=(0.0, 1.0))
        found += cases(f"tools.{name}", function, ONE, {**columns, **ends})

    def bins(data: np.ndarray) -> object:
        return tools.histogram(data, epsilon=1.0, bins=3, range=(0.0, 1.0))[0]

    def large(data: np.ndarray) -> object:
        return tools.count_nonzero(np.round(data), epsilon=1.0)

    return found + cases("tools.histogram", bins, ONE, columns) + cases("tools.count_nonzero", large, ONE, columns)


def _models() -> list[Case]:
    from diffprivlib import models

    def bayes(data: Records) -> object:
        return fitted(models.GaussianNB(epsilon=1.0, bounds=BOUNDS).fit(*data))

    def logistic(data: Records) -> object:
        return fitted(models.LogisticRegression(epsilon=1.0, data_norm=1.5).fit(*data), ("coef_", "intercept_"))

    def linear(intercept: bool, data: Records) -> object:
        model = models.LinearRegression(epsilon=1.0, bounds_X=BOUNDS, bounds_y=(0.0, 1.0), fit_intercept=intercept)
        return fitted(model.fit(*data), ("coef_", "intercept_"))

    def scaler(data: Records) -> object:
        return fitted(models.StandardScaler(epsilon=1.0, bounds=BOUNDS).fit(data[0]))

    def means(data: Records) -> object:
        return fitted(models.KMeans(2, epsilon=1.0, bounds=BOUNDS).fit(data[0]))

    def centres(data: Records) -> object:
        return fitted(models.KMeans(2, epsilon=1.0, bounds=BOUNDS, random_state=1).fit(data[0]), ("cluster_centers_",))

    def components(data: Records) -> object:
        return fitted(models.PCA(1, epsilon=1.0, bounds=BOUNDS, data_norm=1.5).fit(data[0]), ("components_", "mean_"))

    def forest(trees: int, depth: int, data: Records) -> object:
        model = models.RandomForestClassifier(
            trees, epsilon=1.0, max_depth=depth, classes=[0, 1], bounds=BOUNDS, random_state=4
        )
        found = [tree.tree_ for tree in model.fit(*data).estimators_]
        return [(tree.feature, tree.threshold, tree.value) for tree in found]

    return [
        *cases("LogisticRegression", logistic, ONE, TABLES),
        *cases("RandomForestClassifier, a split", partial(forest, 1, 1), ONE, TABLES, **SAME),
        *cases("RandomForestClassifier, three trees", partial(forest, 3, 2), ONE, TABLES, **SAME),
        *cases("GaussianNB", bayes, ONE, TABLES),
        *cases("LinearRegression", partial(linear, True), ONE, TABLES),
        *cases("LinearRegression, no intercept", partial(linear, False), ONE, TABLES),
        *cases("StandardScaler", scaler, ONE, TABLES),
        *cases("KMeans, all attributes", means, ONE, TABLES, public_draws=True),
        *cases("KMeans, centres", centres, ONE, TABLES, **SAME),
        *cases("PCA", components, ONE, TABLES),
    ]


def found() -> list[Case]:
    """All of them. Raises ImportError where diffprivlib is not installed."""
    return _models() + _tools()
