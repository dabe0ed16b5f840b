"""Tumult Core: noise on single numbers and a quantile."""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, Final

from benchmarks.hall_programs.program import CONCENTRATED, PURE, REMOVE, Data, Pair, Program

LIBRARY: Final = "tmlt.core"
PINS: Final = ("tmlt.core==0.20.0", "numpy==1.26.4")

SOURCE: Final = "its privacy_function, at distance 1"
APART: Final = "numbers 1 apart"
PAIRS: Final[tuple[Pair, ...]] = (((0.0,), (1.0,)), ((7.0,), (6.0,)))
QUANTILES: Final[tuple[Pair, ...]] = (((0.0, 1.0, 2.0), (0.0, 1.0)), ((2.0, 2.0), (2.0,)))


def _module(name: str) -> Any:
    return import_module(f"tmlt.core.{name}")


@cache
def _additive(name: str, noise: float, real: bool) -> Callable[..., Any]:
    domains = (_module("domains.numpy_domains").NumpyFloatDomain(),) if real else ()
    return getattr(_module("measurements.noise_mechanisms"), name)(*domains, noise)  # type: ignore[no-any-return]  # untyped


def _real(name: str, noise: float) -> Callable[[Data], object]:
    return lambda data: float(_additive(name, noise, True)(_numpy(data[0], "float64")))


def _whole(name: str, noise: float) -> Callable[[Data], object]:
    return lambda data: int(_additive(name, noise, False)(_numpy(data[0], "int64")))


def _numpy(value: float, kind: str) -> Any:
    return import_module("numpy").dtype(kind).type(value)


@cache
def _median() -> Callable[..., Any]:
    series = _module("measurements.pandas_measurements.series")
    domain = _module("domains.pandas_domains").PandasSeriesDomain(_module("domains.numpy_domains").NumpyFloatDomain())
    pure = _module("measures").PureDP()
    return series.NoisyQuantile(domain, pure, 0.5, 0.0, 2.0, 1)  # type: ignore[no-any-return]  # untyped


def _quantile(data: Data) -> object:
    return float(_median()(import_module("pandas").Series(list(data), dtype="float64")))


PROGRAMS: Final = (
    Program("AddLaplaceNoise, scale 1", _real("AddLaplaceNoise", 1), PAIRS, PURE, (1.0,), SOURCE, APART, True),
    Program("AddGeometricNoise, α = 1", _whole("AddGeometricNoise", 1), PAIRS, PURE, (1.0,), SOURCE, APART),
    Program(
        "AddDiscreteGaussianNoise, σ² = 2",
        _whole("AddDiscreteGaussianNoise", 2),
        PAIRS,
        CONCENTRATED,
        (0.25,),
        SOURCE,
        APART,
    ),
    Program(
        "AddGaussianNoise, σ² = 2", _real("AddGaussianNoise", 2), PAIRS, CONCENTRATED, (0.25,), SOURCE, APART, True
    ),
    Program("NoisyQuantile, median in [0, 2]", _quantile, QUANTILES, PURE, (1.0,), SOURCE, REMOVE),
)
