"""interpret's DP-EBM at (1, 1e-5). Its generator is given a seed, which counts as secret in all rows but one."""

from functools import partial
from typing import Any

import numpy as np

from accountant import ApproxDP
from benchmarks.kit.recorded_cases import TABLES, WHOLE, Case, Records, cases, fitted
from proofs_tests.harness import Pair

CLAIM = ApproxDP(1.0, 1e-5)
SHOWN = ("intercept_", "term_scores_", "bins_", "bin_weights_")

EIGHT = np.linspace(0.01, 0.99, 8)[:, None], np.array([0.0] * 4 + [1.0] * 4)
FEWER = {"one of eight removed": Pair[Records](EIGHT, (EIGHT[0][1:], EIGHT[1][1:]))}
HIGH = {
    "one of a hundred removed": Pair[Records](
        (np.linspace(0.01, 0.99, 100)[:, None], np.repeat([99.0, 100.0], 50)),
        (np.linspace(0.01, 0.99, 100)[1:, None], np.repeat([99.0, 100.0], 50)[1:]),
    )
}
LABELS = {"one label changed": Pair[Records](WHOLE, (WHOLE[0], np.append(WHOLE[1][:-1], 1 - WHOLE[1][-1])))}


def _model(regression: bool, rate: float, rounds: int, columns: int) -> Any:
    """For regression most of ε goes to bins, so that few records weigh little against the noise of a round."""
    from interpret.privacy import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor

    options = {"privacy_target_min": 0.0, "privacy_target_max": 1.0, "bin_budget_frac": 0.9} if regression else {}
    return (DPExplainableBoostingRegressor if regression else DPExplainableBoostingClassifier)(
        epsilon=1.0,
        delta=1e-5,
        learning_rate=rate,
        max_rounds=rounds,
        max_bins=4,
        outer_bags=1,
        n_jobs=1,
        validation_size=0,
        privacy_bounds=[(0.0, 1.0)] * columns,
        random_state=1,
        **options,
    )


def _fit(regression: bool, rate: float, rounds: int, names: tuple[str, ...], data: Records) -> object:
    model = _model(regression, rate, rounds, data[0].shape[1])
    return fitted(model.fit(data[0], data[1].astype(np.float64 if regression else np.int64)), names)


def _total(data: Records) -> float:
    """Predictions times weights of bins, summed: a function of the model, near the targets' sum times the rate."""
    model = _model(True, 0.01, 1, 1)
    model.set_params(privacy_target_min=99.0, privacy_target_max=100.0, bin_budget_frac=0.1, random_state=None)
    model.fit(*data)
    return float(np.dot(model.term_scores_[0] + model.intercept_, model.bin_weights_[0]))


def found() -> list[Case]:
    """All of them. Raises ImportError where interpret is not installed."""
    _model(False, 0.01, 1, 1)
    pairs = {**TABLES, **LABELS}
    classify, regress = partial(_fit, False, 0.01), partial(_fit, True, 0.01)
    return [
        *cases("classifier, 2 rounds", partial(classify, 2, SHOWN), CLAIM, pairs, secret_seeds=True),
        *cases("classifier, 300 rounds", partial(classify, 300, SHOWN), CLAIM, pairs, secret_seeds=True),
        *cases("classifier, all attributes", partial(classify, 2, ()), CLAIM, pairs, secret_seeds=True),
        *cases("classifier, random_state=1 as it is", partial(classify, 2, SHOWN), CLAIM, LABELS),
        *cases("regressor, 2 rounds", partial(regress, 2, SHOWN), CLAIM, pairs, secret_seeds=True),
        *cases("regressor, targets in [99, 100], a round", _total, CLAIM, HIGH, public_draws=True),
        *cases(
            "regressor, rate 1, whose sums are said to move by 1 at most",
            partial(_fit, True, 1.0, 2, SHOWN),
            CLAIM,
            FEWER,
            sensitivities=1.0,
            secret_seeds=True,
        ),
    ]
