# /// script
# requires-python = ">=3.11"
# dependencies = [
#     "numpy==2.2.6", "scipy==1.15.3", "scikit-learn==1.7.2", "pandas==2.3.3", "numba==0.61.2", "statsmodels==0.14.5",
#     "fast_histogram==0.14", "xxhash==3.6.0", "bitarray==3.8.0", "six==1.17.0", "autodp==0.2",
# ]
#
# [tool.leaderboard]
# name = "PrivateGBDT"
# tasks = ["binary", "multi-class"]
# neighbours = ["add-remove-one"]
# heavy = true
# released = "its authors' repository"
# reads = "nothing in its predictions, whose noise is in floating point; its trees hold exact counts, to be kept secret"
#
# [tool.leaderboard.source]
# repository = "https://github.com/Samuel-Maddock/federated-boosted-dp-trees"
# commit = "d3d9a5e076dce1174550b3504201ef0afe9a82e0"
# paths = ["federated_gbdt"]
# build = [
#     ["sed", "-i", "-e", "s/len(np.unique(train_y))/2/", "-e", "/= np.clip(node_total_/s/self.X.shape.0./1e9/g",
#      "federated_gbdt/models/gbdt/private_gbdt.py"],
# ]
#
# [tool.leaderboard.variants]
# "one column a tree" = { columns = 1 }
# "any columns, Hessian candidates" = { hessian_rounds = 5 }
# ///
"""PrivateGBDT (Maddock et al. 2022): boosting by trees that are drawn at random, with noisy Newton steps in leaves.

Splits are drawn without a look at the records, so a tree releases one sum of gradients and one of Hessians a leaf, and
a record is in one leaf: (gradient, Hessian) moves by at most (1, 1/4), to which it adds Gaussian noise as one vector.
Its accountant composes the trees, and each noisy histogram of Hessians by a column, at rate 1 by Rényi divergence.

Settings are those of the paper's comparisons, in `comparisons_experiment` of its code: 4 levels, 32 candidates, the
"vector mechanism", step 0.3; 100 trees, as in its example. "one column a tree" takes the columns in turn, "any columns,
Hessian candidates" takes any at each split and moves its candidates by noisy histograms of Hessians in 5 rounds: two of
the systems that are compared there. Categories are numbers by their place, as in its experiments.

Where it would look at the records, it gets what is public: bounds, from which candidates come, for the columns' least
and largest values, and the promise's delta instead of 1/n. `build` changes three lines: that there are two classes was
read from the labels, and a leaf's noisy sums were clipped to what n records can reach, which now is 1e9 records.

Several classes: one against the rest for each, at ε and δ divided by their number, as its examples/manual_multiclass.py
does for ε; log-odds become probabilities as in its `predict_prob`. What its `fit` does for several classes is not used:
that spends δ for each class, and starts each class from the scores of those before.
"""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from benchmarks.adapters.protocol import (
    Column,
    Columns,
    Floats,
    Predict,
    Promise,
    Task,
    codes,
    logistic,
    two_columns,
)

SETTINGS: Final = {
    "num_trees": 100,
    "max_depth": 4,
    "hist_bin": 32,
    "dp_method": "gaussian_cdp",
    "accounting_method": "rdp_scaled_improved",
    "split_method": "totally_random",
    "weight_update_method": "xgboost",
    "gradient_budgets": "vector_mechanism",
    "track_budget": False,
}


def fit(task: Task, promise: Promise, columns: int = 0, hessian_rounds: int = 0) -> Predict:
    """columns: how many a tree may use, 0 for any.  hessian_rounds: how often Hessians move the candidates."""
    settings: dict[str, Any] = dict(SETTINGS)
    if columns:
        settings |= {"feature_interaction_method": "cyclical", "feature_interaction_k": columns}
    if hessian_rounds:
        settings |= {"sketch_type": "adaptive_hessian", "sketch_rounds": hessian_rounds}
    # Its noise and its trees come from numpy's global generator.
    np.random.seed(None if promise.seed is None else promise.seed % 2**32)  # noqa: NPY002
    if task.kind == "binary":
        score = _scores(task, task.labels, promise.epsilon, promise.delta, settings)
        return lambda records: two_columns(logistic(score(records)))
    return _several(task, promise, settings)


def _several(task: Task, promise: Promise, settings: dict[str, Any]) -> Predict:
    from federated_gbdt.core.loss_functions import (  # type: ignore[import-not-found]  # it is in this adapter's environment
        SoftmaxCrossEntropyLoss,
    )

    k = task.classes
    each = [_scores(task, task.labels == label, promise.epsilon / k, promise.delta / k, settings) for label in range(k)]

    def predict(records: Columns) -> npt.NDArray[Any]:
        return np.asarray(SoftmaxCrossEntropyLoss.predict(np.column_stack([score(records) for score in each])))

    return predict


def _scores(task: Task, second: npt.NDArray[Any], epsilon: float, delta: float, settings: dict[str, Any]) -> Any:
    """A function from columns to log-odds, shape (n,). second: which records are of the class in question."""
    from federated_gbdt.models.gbdt.private_gbdt import (  # type: ignore[import-not-found]  # as above
        PrivateGBDT,
    )

    model = PrivateGBDT(epsilon=epsilon, **settings)
    _tell(model, np.array([_range(column) for column in task.columns]).T, delta)
    model.fit(_features(task.columns, task.train), np.asarray(second, dtype=np.int64))
    trees = model.multiclass_trees[0]
    return lambda records: np.asarray(model.predict_weight(_features(task.columns, records), trees), dtype=np.float64)


def _tell(model: Any, bounds: Floats, delta: float) -> None:
    """Have candidates come from two rows of bounds instead of the records, and the noise from delta instead of 1/n."""
    candidates, accountant = model.split_candidate_manager, model.privacy_accountant
    find, assign = candidates.find_split_candidates, accountant.assign_budget
    candidates.find_split_candidates = lambda _, *rest, **named: find(bounds, *rest, **named)
    accountant.assign_budget = lambda epsilon, _, **named: assign(epsilon, delta, **named)


def _range(column: Column) -> tuple[float, float]:
    return (column.lower, column.upper) if column.numeric else (0.0, max(1.0, len(column.categories) - 1.0))


def _features(columns: tuple[Column, ...], records: Columns) -> Floats:
    """Numbers as they are, categories by their place: shape (n, columns)."""
    return np.column_stack(
        [
            np.asarray(records[column.name] if column.numeric else codes([column], records, 1)[0], dtype=np.float64)
            for column in columns
        ]
    )
