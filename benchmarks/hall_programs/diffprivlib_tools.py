"""diffprivlib: mechanisms by samples, tools and linear regression by their recorded noise."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

import numpy as np

from benchmarks.hall_programs.program import PURE, REMOVE, REPLACE, Data, Pair, Program

LIBRARY: Final = "diffprivlib"
PINS: Final = (
    "diffprivlib==0.6.6",
    "numpy==2.4.6",
    "scipy==1.17.1",
    "scikit-learn==1.7.2",
    "opendp==0.16.0",
    "attrs==26.1.0",
    "sqlalchemy==2.1.9",
    "jinja2==3.1.6",
    "rich==15.0.0",
    "click==8.5.1",
)
"""With what the kit needs, as noise is recorded in the process that draws it."""

SOURCE: Final = 'docstring: "epsilon: Privacy parameter"'
NUMBERS: Final[tuple[Pair, ...]] = (((0.0,), (1.0,)),)
REPLACED: Final = f"{REPLACE} (the documentation does not say)"
REMOVED: Final = f"{REMOVE} (the documentation does not say)"
BITS: Final[tuple[Pair, ...]] = (((0.0, 1.0, 1.0), (1.0, 1.0, 1.0)),)
FEWER: Final[tuple[Pair, ...]] = (((0.0, 1.0, 1.0), (1.0, 1.0)),)
POINTS: Final[tuple[Pair, ...]] = (((1.0, 1.0, 0.0, 0.0, 1.0, 1.0), (0.5, 0.0, 0.0, 0.0, 1.0, 1.0)),)
"""x, y of three records; the first is replaced."""


def _mechanism(name: str, **more: float) -> Callable[[Data], object]:
    def drawn(data: Data) -> object:
        whole = name == "Geometric"
        kind = getattr(import_module("diffprivlib.mechanisms"), name)
        mechanism = kind(epsilon=1.0, sensitivity=1 if whole else 1.0, **more)
        value = int(data[0]) if whole else data[0]
        return float(mechanism.randomise(value))

    return drawn


def _tool(name: str, **more: object) -> Callable[[Data], object]:
    def drawn(data: Data) -> object:
        tools: Any = import_module("diffprivlib.tools")
        return getattr(tools, name)(np.array(data), epsilon=1.0, **more)

    return drawn


def _histogram(data: Data) -> object:
    tools: Any = import_module("diffprivlib.tools")
    return tools.histogram(np.array(data), epsilon=1.0, bins=2, range=(0.0, 1.0))[0]


def _regression(intercept: bool) -> Callable[[Data], object]:
    def drawn(data: Data) -> object:
        models: Any = import_module("diffprivlib.models")
        points = np.array(data).reshape(-1, 2)
        model = models.LinearRegression(
            epsilon=1.0, bounds_X=(0.0, 1.0), bounds_y=(0.0, 1.0), fit_intercept=intercept
        ).fit(points[:, :1], points[:, 1])
        return [*model.coef_, model.intercept_]

    return drawn


RANGE: Final = {"bounds": (0.0, 1.0)}
SENSITIVITY: Final = "IBM/differential-privacy-library#105 (sensitivity of the diagonal), PR #110"

PROGRAMS: Final = (
    Program("mechanisms.Laplace, last bits", _mechanism("Laplace"), NUMBERS, PURE, (1.0,), SOURCE, "1 apart", True),
    Program("mechanisms.Geometric", _mechanism("Geometric"), NUMBERS, PURE, (1.0,), SOURCE, "1 apart"),
    Program(
        "mechanisms.LaplaceTruncated, last bits",
        _mechanism("LaplaceTruncated", lower=0.0, upper=1.0),
        NUMBERS,
        PURE,
        (1.0,),
        SOURCE,
        "1 apart",
        True,
    ),
    Program(
        "mechanisms.LaplaceBoundedDomain",
        _mechanism("LaplaceBoundedDomain", lower=0.0, upper=1.0),
        NUMBERS,
        PURE,
        (1.0,),
        SOURCE,
        "1 apart",
    ),
    Program(
        "mechanisms.LaplaceFolded",
        _mechanism("LaplaceFolded", lower=0.0, upper=1.0),
        NUMBERS,
        PURE,
        (1.0,),
        SOURCE,
        "1 apart",
    ),
    Program(
        "mechanisms.Snapping, last bits",
        _mechanism("Snapping", lower=0.0, upper=1.0),
        NUMBERS,
        PURE,
        (1.0,),
        SOURCE,
        "1 apart",
        True,
    ),
    Program("tools.mean", _tool("mean", **RANGE), BITS, PURE, (1.0,), SOURCE, REPLACED, recorded=True),
    Program(
        "tools.mean, a record less",
        _tool("mean", **RANGE),
        FEWER,
        PURE,
        (1.0,),
        SOURCE,
        REMOVED,
        recorded=True,
    ),
    Program("tools.sum", _tool("sum", **RANGE), BITS, PURE, (1.0,), SOURCE, REPLACED, recorded=True),
    Program(
        "tools.sum, a record less",
        _tool("sum", **RANGE),
        FEWER,
        PURE,
        (1.0,),
        SOURCE,
        REMOVED,
        recorded=True,
    ),
    Program("tools.count_nonzero", _tool("count_nonzero"), BITS, PURE, (1.0,), SOURCE, REPLACED, recorded=True),
    Program("tools.histogram", _histogram, BITS, PURE, (1.0,), SOURCE, REPLACED, recorded=True),
    Program("tools.histogram, a record less", _histogram, FEWER, PURE, (1.0,), SOURCE, REMOVED, recorded=True),
    Program(
        "models.LinearRegression",
        _regression(True),
        POINTS,
        PURE,
        (1.0,),
        SOURCE,
        REPLACED,
        recorded=True,
    ),
    Program(
        "models.LinearRegression, no intercept",
        _regression(False),
        POINTS,
        PURE,
        (1.0,),
        SOURCE,
        REPLACED,
        recorded=True,
        known=SENSITIVITY,
    ),
)
