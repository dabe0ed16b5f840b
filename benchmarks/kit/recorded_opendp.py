"""OpenDP's pipelines at what their own privacy maps say of one record, made while they are recorded, and before."""

from collections.abc import Callable
from typing import Any

import opendp.prelude as dp

from accountant import GDP, ZCDP, ApproxDP, Cost, PureDP
from benchmarks.kit.recorded_cases import Case, cases
from proofs_tests.harness import Pair

Values = tuple[float, ...]

COMES = {"one added": Pair[Values]((0.2, 0.9, 0.4), (0.2, 0.9, 0.4, 1.0))}
CHANGES = {"one replaced": Pair[Values]((0.2, 0.9, 0.4, 0.0), (0.2, 0.9, 0.4, 1.0))}
WORDS = {"one added": Pair[tuple[str, ...]](("a", "b", "a"), ("a", "b", "a", "b"))}


def _sum() -> Any:
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    clamped = space >> dp.t.then_clamp((0.0, 1.0))
    return clamped >> dp.t.then_sum()  # type: ignore[no-untyped-call]  # OpenDP leaves it open


def _count() -> Any:
    return (dp.vector_domain(dp.atom_domain(T=float)), dp.symmetric_distance()) >> dp.t.then_count()


def _groups() -> Any:
    space = dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()
    return space >> dp.t.then_count_by_categories(["a", "b"], null_category=False)


def _made(query: Callable[[], Any], noise: Any) -> Callable[[tuple[object, ...]], object]:
    def program(data: tuple[object, ...]) -> object:
        return (query() >> noise)(list(data))

    return program


def found() -> list[Case]:
    """All of them."""
    dp.enable_features("contrib")
    before = _sum() >> dp.m.then_laplace(1.0)
    laplace, gaussian = dp.m.then_laplace(1.0), dp.m.then_gaussian(2.0)
    exact: list[tuple[str, Callable[[], Any], Any, Cost]] = [
        ("bounded sum, Laplace", _sum, laplace, PureDP(1.0)),
        ("count, Laplace", _count, laplace, PureDP(1.0)),
        ("bounded sum, Gaussian", _sum, gaussian, ZCDP(0.125)),
        ("bounded sum, Gaussian, as GDP", _sum, gaussian, GDP(0.5)),
        ("bounded sum, Gaussian, as approximate", _sum, gaussian, ApproxDP(2.1, 1e-5)),
    ]
    made = [
        case
        for name, query, noise, claimed in exact
        for pairs in (COMES, CHANGES)
        for case in cases(name, _made(query, noise), claimed, pairs)
    ]
    return [
        *made,
        *cases("counts by category, Laplace", _made(_groups, laplace), PureDP(1.0), WORDS),
        *cases("bounded sum, made before", lambda data: before(list(data)), PureDP(1.0), COMES),
    ]
