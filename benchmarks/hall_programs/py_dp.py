"""PyDP: Google's C++ building blocks behind Python."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

from benchmarks.hall_programs.program import APPROX, PURE, REMOVE, Data, Pair, Program

LIBRARY: Final = "python-dp"
PINS: Final = ("python-dp==1.1.5", "numpy==2.4.6")

SOURCE: Final = 'its class: "runs the algorithm using the epsilon parameter provided in the constructor"'
READ: Final = f"{REMOVE} (as we read it; Google's C++ says so)"
PAIRS: Final[tuple[Pair, ...]] = (((0.0, 1.0), (0.0,)), ((0.0, 0.0), (0.0,)), ((1.0, 1.0, 0.0), (1.0, 1.0)))


def _class(module: str, name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(import_module(f"pydp.algorithms.{module}"), name)
    return found


def _result(name: str, **more: object) -> Callable[[Data], object]:
    bounds = {} if name == "Count" else {"lower_bound": 0, "upper_bound": 1}

    def drawn(data: Data) -> object:
        kind = more.get("dtype", "int")
        records = list(data) if kind == "float" else [int(each) for each in data]
        return _class("laplacian", name)(epsilon=1.0, **bounds, **more).quick_result(records)

    return drawn


def _laplace(data: Data) -> object:
    return _class("numerical_mechanisms", "LaplaceMechanism")(epsilon=1.0, sensitivity=1.0).add_noise(float(sum(data)))


def _gaussian(data: Data) -> object:
    mechanism = _class("numerical_mechanisms", "GaussianMechanism")(epsilon=1.0, delta=0.05, sensitivity=1.0)
    return mechanism.add_noise(float(sum(data)))


def _kept(data: Data) -> object:
    strategy = _class("partition_selection", "create_laplace_partition_strategy")(1.0, 0.05, 1)
    return strategy.noised_value_if_should_keep(len(data)) is not None


FLOAT: Final = {"dtype": "float"}

PROGRAMS: Final = (
    Program("Count", _result("Count"), PAIRS, PURE, (1.0,), SOURCE, READ),
    Program("BoundedSum", _result("BoundedSum"), PAIRS, PURE, (1.0,), SOURCE, READ),
    Program("BoundedSum of floats, last bits", _result("BoundedSum", **FLOAT), PAIRS, PURE, (1.0,), SOURCE, READ, True),
    Program("BoundedMean", _result("BoundedMean", **FLOAT), PAIRS, PURE, (1.0,), SOURCE, READ),
    Program("BoundedVariance", _result("BoundedVariance", **FLOAT), PAIRS, PURE, (1.0,), SOURCE, READ),
    Program(
        "BoundedStandardDeviation", _result("BoundedStandardDeviation", **FLOAT), PAIRS, PURE, (1.0,), SOURCE, READ
    ),
    Program("Max", _result("Max", **FLOAT), PAIRS, PURE, (1.0,), SOURCE, READ),
    Program("Median", _result("Median", **FLOAT), PAIRS, PURE, (1.0,), SOURCE, READ),
    Program("LaplaceMechanism, last bits", _laplace, PAIRS[:1], PURE, (1.0,), SOURCE, "sums 1 apart", True),
    Program("GaussianMechanism", _gaussian, PAIRS[:1], APPROX, (1.0, 0.05), SOURCE, "sums 1 apart"),
    Program(
        "Laplace partition selection", _kept, (((0.0,), ()), ((0.0, 0.0), (0.0,))), APPROX, (1.0, 0.05), SOURCE, READ
    ),
)
