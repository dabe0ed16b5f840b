"""A peer's fit on records × 14 codes, as it ships, on one thread: `python fit_codes.py PEER RECORDS` prints seconds.

The codes are those of `benchmarks.speed.speed_many.made_up`; peers that know categories are told of them.
"""

import json
import sys
import time
import warnings
from typing import Any

import numpy as np

COLUMNS, CELLS = 14, 10


def made_up(records: int) -> tuple[Any, Any]:
    """Codes, shape (records, COLUMNS), and labels 0 or 1, by the same draws."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, CELLS, (COLUMNS, records), dtype=np.uint8)
    labels = (codes[0] > 4) | (codes[3] == 1)
    return np.ascontiguousarray(codes.T), (labels ^ (rng.random(records, dtype=np.float32) < 0.2)).astype(np.int8)


def model_of(peer: str) -> Any:
    """With its own defaults but for threads."""
    if peer == "lightgbm":
        from lightgbm import LGBMClassifier

        return LGBMClassifier(n_jobs=1, verbose=-1)
    if peer == "scikit-learn":
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(early_stopping=False)
    from interpret.privacy import DPExplainableBoostingClassifier

    bounds = {f"feature_{j:04}": (0.0, CELLS - 1.0) for j in range(COLUMNS)}
    kinds = ["continuous"] * COLUMNS
    return DPExplainableBoostingClassifier(
        epsilon=1.0, delta=1e-8, n_jobs=1, feature_types=kinds, privacy_bounds=bounds, random_state=0
    )


def seconds(peer: str, records: int) -> float:
    """Of one fit; data and imports not included."""
    (X, y), model = made_up(records), model_of(peer)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        model.fit(X, y)
    return time.process_time() - start


if __name__ == "__main__":
    print(json.dumps(seconds(sys.argv[1], int(sys.argv[2]))))
