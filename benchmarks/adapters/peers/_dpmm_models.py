"""Graphical models by dpmm of a table's columns and its label, as the adapters beside this file use them.

Numbers are cut into 16 equal bins of their public bounds, a regression's labels, too. dpmm's AIM and MST are called on
coded columns with their public sizes, in this process. AIM's noise is for the pace of `rounds`: each column, the label
included, is counted once, and what is left of the budget pays for pairs of columns, which it chooses.
"""

from collections.abc import Callable
from typing import Any, Final
from unittest import mock

import numpy as np

from benchmarks.adapters.protocol import Floats, Integers, Promise, Task, cells, codes

BINS: Final = 16
MOST_COLUMNS: Final = 30
"""The label not counted. AIM asks every pair of columns in every round: more columns take too long."""

MOST_CODES: Final = 625
"""Of a column. dpmm leaves out pairs of columns with more than MOST_CELLS cells, and drops a column without pairs."""

MOST_CELLS: Final = BINS * MOST_CODES

ROUNDS: Final = 2
"""How many rounds AIM plans for, per column. Fewer than 1 would overspend: its first counts take 0.9 / ROUNDS."""

MEGABYTES: Final = 1.0
"""The most that AIM's model may take."""

STEPS: Final = 100
"""Of mirror descent, for each model that is fitted; dpmm's MST would take 2,500 for its first, whatever it is told."""

LABEL: Final = "label"


def names(task: Task) -> list[str]:
    """What dpmm calls the columns, the label last."""
    return [*(f"column {number}" for number in range(len(task.columns))), LABEL]


def sizes(task: Task) -> list[int]:
    """How many codes each column has, the label last. Raises ValueError for a table that is too large."""
    found = [*cells(task.columns, BINS), BINS if task.kind == "regression" else task.classes]
    if len(task.columns) > MOST_COLUMNS:
        raise ValueError(f"{len(task.columns)} columns would take too long: it takes at most {MOST_COLUMNS}")
    if max(found) > MOST_CODES:
        raise ValueError(f"a column has {max(found)} categories: it takes at most {MOST_CODES}")
    return found


def label_codes(task: Task) -> Integers:
    """Labels as codes, shape (n,)."""
    if task.kind != "regression":
        return np.asarray(task.labels, dtype=np.int64)
    lower, upper = task.label_bounds
    unit = (np.clip(np.asarray(task.labels, dtype=np.float64), lower, upper) - lower) / (upper - lower)
    return np.minimum((unit * BINS).astype(np.int64), BINS - 1)


def middles() -> Floats:
    """Of the bins of numbers within [-1, 1], shape (BINS,)."""
    return (2.0 * np.arange(BINS) + 1.0) / BINS - 1.0


def fitted(task: Task, promise: Promise, kind: str, compress: bool) -> Any:
    """A model, "AIM" or "MST". compress: whether codes with few records become one. Raises ValueError as `sizes`."""
    import pandas as pd
    from dpmm.models.aim import AIMGM  # type: ignore[import-not-found]  # it is in those adapters' environment
    from dpmm.models.base.mbi import FactoredInference  # type: ignore[import-not-found]  # as above
    from dpmm.models.mst import MSTGM  # type: ignore[import-not-found]  # as above

    columns = names(task)
    common: dict[str, Any] = {
        "epsilon": promise.epsilon,
        "delta": promise.delta,
        "domain": dict(zip(columns, sizes(task), strict=True)),
        "compress": compress,
        "n_iters": STEPS,
        "random_state": np.random.RandomState(promise.seed),  # it takes no other
        "n_jobs": 1,
    }
    if kind == "AIM":
        model = AIMGM(**common, rounds=ROUNDS * len(columns), max_model_size=MEGABYTES, degree=2, max_cells=MOST_CELLS)
    else:
        model = MSTGM(**common)
    table = np.vstack([codes(task.columns, task.train, BINS), label_codes(task)])
    with mock.patch.object(FactoredInference, "mirror_descent", _quick(FactoredInference.mirror_descent)):
        model.fit(pd.DataFrame(table.T, columns=columns))
    return model


def _quick(descend: Callable[..., Any]) -> Callable[..., Any]:
    """dpmm's way to fit a model to noisy counts, in at most STEPS: it sees only them, so no privacy hangs on it.

    Only ratios of the counts' noises matter to what it finds. Its first step is 2 / total^2 and doubles at most, which
    is 20 to 30 doublings below the right size, about noise^2 / total. So the noises are brought to 1 / sqrt(total).
    """

    def descended(engine: Any, measured: list[Any], total: float | None = None, **options: Any) -> Any:
        engine.iters = min(engine.iters, STEPS)
        least = min(noise for _, _, noise, _ in measured)
        scale = 1.0 / (least * np.sqrt(max(1.0, abs(measured[0][1].sum()))))
        rescaled = [(queries, counts, scale * noise, columns) for queries, counts, noise, columns in measured]
        return descend(engine, rescaled, total, **options)

    return descended
