"""OpenDP: measurements as their privacy maps claim."""

from collections.abc import Callable
from functools import cache
from typing import Any, Final

from benchmarks.hall_programs.program import CONCENTRATED, PURE, REMOVE, Data, Pair, Program

LIBRARY: Final = "opendp"
PINS: Final = ("opendp==0.16.0", "numpy==2.4.6")

SOURCE: Final = "its privacy map, at distance 1"
PAIRS: Final[tuple[Pair, ...]] = (((0.0, 1.0), (0.0,)), ((0.0, 0.0), (0.0,)), ((1.0, 1.0, 0.0), (1.0, 1.0)))
SCORES: Final[tuple[Pair, ...]] = (((0.0, 0.0), (1.0, 0.0)), ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)))
APART: Final = "one score moves by 1"


@cache
def _prelude() -> Any:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    return dp


@cache
def _sum_of(noise: str, scale: float) -> Callable[[list[int]], object]:
    dp = _prelude()
    space = dp.vector_domain(dp.atom_domain(bounds=(0, 1))), dp.symmetric_distance()
    return space >> dp.t.then_sum() >> getattr(dp.m, f"then_{noise}")(scale)  # type: ignore[no-any-return]  # untyped


def _sum(noise: str, scale: float) -> Callable[[Data], object]:
    return lambda data: _sum_of(noise, scale)([int(each) for each in data])


@cache
def _count_of() -> Callable[[list[int]], object]:
    dp = _prelude()
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    return space >> dp.t.then_count() >> dp.m.then_laplace(1.0)  # type: ignore[no-any-return]  # untyped


def _count(data: Data) -> object:
    return _count_of()([int(each) for each in data])


@cache
def _real_of() -> Callable[[float], object]:
    dp = _prelude()
    domain = dp.atom_domain(T=float, nan=False)
    return dp.m.make_laplace(domain, dp.absolute_distance(T=float), 1.0)  # type: ignore[no-any-return]  # untyped


def _real(data: Data) -> object:
    return _real_of()(float(data[0]))


@cache
def _max_of(measure: str) -> Callable[[list[float]], object]:
    dp = _prelude()
    domain, metric = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    return dp.m.make_noisy_max(domain, metric, getattr(dp, measure)(), scale=1.0)  # type: ignore[no-any-return]  # untyped


def _noisy_max(measure: str) -> Callable[[Data], object]:
    """The place of the largest score, at scale 1."""
    return lambda data: _max_of(measure)([float(each) for each in data])


@cache
def _response_of() -> Callable[[bool], object]:
    return _prelude().m.make_randomized_response_bool(prob=0.75)  # type: ignore[no-any-return]  # untyped


def _response(data: Data) -> object:
    return _response_of()(bool(data[0]))


PROGRAMS: Final = (
    Program("bounded sum, Laplace", _sum("laplace", 1.0), PAIRS, PURE, (1.0,), SOURCE, REMOVE),
    Program("bounded sum, Gaussian", _sum("gaussian", 1.0), PAIRS, CONCENTRATED, (0.5,), SOURCE, REMOVE),
    Program("count, Laplace", _count, PAIRS, PURE, (1.0,), SOURCE, REMOVE),
    Program("Laplace on a float, last bits", _real, (((0.0,), (1.0,)),), PURE, (1.0,), SOURCE, "numbers 1 apart", True),
    Program("noisy max, pure", _noisy_max("max_divergence"), SCORES, PURE, (2.0,), SOURCE, APART),
    Program("noisy max, zCDP", _noisy_max("zero_concentrated_divergence"), SCORES, CONCENTRATED, (0.5,), SOURCE, APART),
    Program(
        "randomized response",
        _response,
        (((0.0,), (1.0,)),),
        PURE,
        (1.0986122886681098,),
        SOURCE,
        "any two inputs of a person",
    ),
)
