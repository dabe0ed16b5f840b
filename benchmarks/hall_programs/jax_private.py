"""JAX-Privacy: clipped sums and their Gaussian noise."""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, Final

import numpy as np

from benchmarks.hall_programs.program import GAUSSIAN, Data, Pair, Program

LIBRARY: Final = "jax-privacy"
PINS: Final = ("jax-privacy==2.0.0", "jax==0.10.2", "numpy==2.4.6")

SOURCE: Final = 'docstring of clipped_fun: "L2 sensitivity ... guaranteed", stddev = 2 sensitivities'
ZERO_OUT: Final = "zero out one record"
PAIRS: Final[tuple[Pair, ...]] = (((0.3, 1.0), (0.3, 0.0)), ((0.3, 9.0), (0.3, 0.0)), ((1.0, -9.0), (1.0, 0.0)))
NOT_FINITE: Final[tuple[Pair, ...]] = (((0.3, float("nan")), (0.3, 0.0)), ((0.3, float("inf")), (0.3, 0.0)))


@cache
def _sum(size: int, options: tuple[tuple[str, float], ...]) -> Callable[..., Any]:
    """Compiled once: a sum of clipped records, and noise of twice its sensitivity."""
    jax: Any = import_module("jax")
    clipping: Any = import_module("jax_privacy.clipping")
    noise: Any = import_module("jax_privacy.noise_addition")
    total = clipping.clipped_fun(lambda x: x, keep_batch_dim=False, **dict(options))

    def noisy(records: Any, key: Any) -> Any:
        privatizer = noise.gaussian_privatizer(stddev=2.0 * float(total.sensitivity()), prng_key=key)
        clean = total(records)
        return privatizer.update(clean, privatizer.init(clean))[0]

    return jax.jit(noisy)  # type: ignore[no-any-return]  # the library is untyped


def _noisy(**options: float) -> Callable[[Data], object]:
    def drawn(data: Data) -> object:
        jax: Any = import_module("jax")
        key = jax.random.key(np.random.randint(0, 2**31))  # noqa: NPY002  # the library's own default
        return float(_sum(len(data), tuple(options.items()))(np.array(data, dtype=np.float32), key))

    return drawn


PROGRAMS: Final = (
    Program("clipped sum", _noisy(l2_clip_norm=1.0), PAIRS, GAUSSIAN, (0.5,), SOURCE, ZERO_OUT),
    Program(
        "clipped sum, divided", _noisy(l2_clip_norm=1.0, normalize_by=4.0), PAIRS, GAUSSIAN, (0.5,), SOURCE, ZERO_OUT
    ),
    Program(
        "clipped sum, unit norm",
        _noisy(l2_clip_norm=2.0, rescale_to_unit_norm=True),
        PAIRS,
        GAUSSIAN,
        (0.5,),
        SOURCE,
        ZERO_OUT,
    ),
    Program(
        "clipped sum, NaN and ∞",
        _noisy(l2_clip_norm=1.0),
        NOT_FINITE,
        GAUSSIAN,
        (0.5,),
        'docstring: "nan_safe ... guarantees still hold"',
        ZERO_OUT,
    ),
    Program("clipped sum, last bits", _noisy(l2_clip_norm=1.0), PAIRS[:1], GAUSSIAN, (0.5,), SOURCE, ZERO_OUT, True),
)
