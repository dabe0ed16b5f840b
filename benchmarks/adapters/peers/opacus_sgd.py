# /// script
# requires-python = ">=3.11"
# dependencies = ["opacus==1.6.0", "torch==2.13.0", "numpy==2.4.6", "scipy==1.17.1"]
#
# [tool.leaderboard]
# name = "Opacus DP-SGD"
# tasks = ["binary", "multi-class", "regression"]
# heavy = true
# neighbours = ["add-remove-one"]
# counts = true
# released = "its own package"
# reads = "the number of records, in the sampling rate, the number of steps and the divisor of each step"
#
# [tool.leaderboard.variants]
# "linear" = { hidden = 0 }
# "network of 64" = { hidden = 64 }
# ///
"""DP-SGD by Opacus: logistic (or least-squares) regression, or a network with one hidden layer.

Settings are public and untuned: 20 epochs, an expected batch of 4 sqrt(n) by Poisson sampling, gradients clipped to
norm 1, plain SGD. Opacus finds the noise for (epsilon, delta) by its accountant, for tables that differ by a record
added or removed. Sampling and noise come from torch's generators, which are not cryptographic; their seeds are given
here, from the system's randomness where the promise names none.
"""

import math
import secrets
import warnings
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from benchmarks.adapters.protocol import Columns, Floats, Predict, Promise, Task, unit_features

EPOCHS: Final = 20
CLIP: Final = 1.0
RATES: Final = {False: 1.0, True: 0.5}
"""Learning rates: without a hidden layer, and with one."""


def _targets(task: Task) -> npt.NDArray[Any]:
    if task.kind != "regression":
        return np.asarray(task.labels, dtype=np.int64)
    lower, upper = task.label_bounds
    labels = np.clip(np.asarray(task.labels, dtype=np.float64), lower, upper)
    return np.asarray(2.0 * (labels - lower) / (upper - lower) - 1.0, dtype=np.float32)[:, None]


def _network(inputs: int, outputs: int, hidden: int) -> Any:
    from torch import nn  # type: ignore[import-not-found]  # it is in this adapter's environment

    if not hidden:
        return nn.Linear(inputs, outputs)
    return nn.Sequential(nn.Linear(inputs, hidden), nn.Tanh(), nn.Linear(hidden, outputs))


def _generator(seed: int) -> Any:
    import torch

    return torch.Generator().manual_seed(seed)


def _seeds(seed: int | None) -> list[int]:
    """Three: of the first weights, of the sampling and of the noise."""
    if seed is None:
        return [secrets.randbits(63) for _ in range(3)]
    return [int(word) for word in np.random.SeedSequence(seed).generate_state(3, np.uint64) >> np.uint64(1)]


def _private(task: Task, promise: Promise, hidden: int, accountant: str) -> tuple[Any, Any, Any]:
    """Model, optimiser and loader of Opacus."""
    import torch
    from opacus import PrivacyEngine
    from torch.utils.data import DataLoader, TensorDataset  # type: ignore[import-not-found]  # it is in this adapter's environment

    weights, sampling, noise = _seeds(promise.seed)
    torch.manual_seed(weights)
    X = torch.from_numpy(unit_features(task.columns, task.train).astype(np.float32))
    data = TensorDataset(X, torch.from_numpy(_targets(task)))
    batch = min(task.records, max(1, round(4.0 * math.sqrt(task.records))))
    model = _network(X.shape[1], task.classes or 1, hidden)
    return tuple(
        PrivacyEngine(accountant=accountant).make_private_with_epsilon(
            module=model,
            optimizer=torch.optim.SGD(model.parameters(), lr=RATES[hidden > 0]),
            data_loader=DataLoader(data, batch_size=batch, generator=_generator(sampling)),
            target_epsilon=promise.epsilon,
            target_delta=promise.delta,
            epochs=EPOCHS,
            max_grad_norm=CLIP,
            poisson_sampling=True,
            noise_generator=_generator(noise),
        )
    )


def fit(task: Task, promise: Promise, hidden: int = 0, accountant: str = "prv") -> Predict:
    """hidden: how many units between, 0 for none.  accountant: of Opacus, "prv" or "rdp"."""
    import torch

    torch.set_num_threads(1)
    with warnings.catch_warnings():
        # Of hooks that this use does not need, and that its generator of random numbers is not a cryptographic one.
        warnings.simplefilter("ignore")
        model, optimiser, loader = _private(task, promise, hidden, accountant)
        loss = torch.nn.MSELoss() if task.kind == "regression" else torch.nn.CrossEntropyLoss()
        for _ in range(EPOCHS):
            for X, y in loader:
                optimiser.zero_grad()
                loss(model(X), y).backward()
                optimiser.step()
    return _predictor(task, model.eval())


def _predictor(task: Task, model: Any) -> Predict:
    import torch

    def scores(records: Columns) -> Floats:
        X = torch.from_numpy(unit_features(task.columns, records).astype(np.float32))
        with torch.no_grad():
            out = model(X).double()
            return np.asarray(out if task.kind == "regression" else torch.softmax(out, dim=1))

    def predict(records: Columns) -> npt.NDArray[Any]:
        found = scores(records)
        if task.kind != "regression":
            return found
        lower, upper = task.label_bounds
        return np.asarray(lower + (upper - lower) * np.clip(0.5 * (1.0 + found[:, 0]), 0.0, 1.0))

    return predict
