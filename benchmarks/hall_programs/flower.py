"""Flower: noise on a client's model update, as `LocalDpMod` adds it."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

import numpy as np

from benchmarks.hall_programs.program import APPROX, LOCAL, Data, Program

LIBRARY: Final = "flwr"
PINS: Final = ("flwr==1.41.0", "numpy==2.4.6")

SOURCE: Final = 'docstring of LocalDpMod: "epsilon: The privacy budget. delta: The failure probability"'
UPDATES: Final = f"{LOCAL}: updates clipped to norm 1/2, so at most the sensitivity of 1 apart"
OPPOSITE: Final = (((3.0, 0.0), (-3.0, 0.0)), ((0.5, 0.0), (-0.5, 0.0)))


def _noised(epsilon: float, delta: float, *, dtype: str = "float64") -> Callable[[Data], object]:
    """Clipping and noise in the two calls of `LocalDpMod.__call__`, on a model of one array."""

    def drawn(data: Data) -> object:
        private: Any = import_module("flwr.supercore.differential_privacy")
        parameters: Any = import_module("flwr.compat.common.parameter")
        before = [np.zeros(len(data), dtype=dtype)]
        after = [np.array(data, dtype=dtype)]
        private.compute_clip_model_update(after, before, 0.5)
        noisy = private.add_localdp_gaussian_noise_to_params(
            parameters.ndarrays_to_parameters(after), 1.0, epsilon, delta
        )
        return [each.astype(np.float64) for each in parameters.parameters_to_ndarrays(noisy)]

    return drawn


NOT_A_NUMBER: Final = (((100.0, float("nan")), (-100.0, float("nan"))),)

PROGRAMS: Final = (
    Program("LocalDpMod, ε = 1, δ = 0.01", _noised(1.0, 0.01), OPPOSITE, APPROX, (1.0, 0.01), SOURCE, UPDATES),
    Program(
        "LocalDpMod, ε = 1, δ = 0.01, last bits",
        _noised(1.0, 0.01),
        OPPOSITE[1:],
        APPROX,
        (1.0, 0.01),
        SOURCE,
        UPDATES,
        True,
    ),
    Program(
        "LocalDpMod, ε = 10, δ = 0.01",
        _noised(10.0, 0.01),
        OPPOSITE[1:],
        APPROX,
        (10.0, 0.01),
        SOURCE,
        UPDATES,
    ),
    Program(
        "LocalDpMod, updates with a NaN",
        _noised(1.0, 0.01),
        NOT_A_NUMBER,
        APPROX,
        (1.0, 0.01),
        SOURCE,
        f"{LOCAL}, one coordinate NaN",
    ),
)
