"""OpenDP's measurements: the argument is visible, and the privacy map says what a distance between two costs at most.

Of Laplace, Gaussian and geometric noise that is made while a recording runs, what is noised and its scale are known
too, and so the loss itself; a measurement that was made before has its map alone.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from types import ModuleType
from typing import Final

import attrs
import numpy as np
from opendp import combinators, measurements
from opendp.mod import Measurement

from accountant import ZCDP, ApproxDP, Cost, PureDP
from proofs_tests.harness.recording.calls import Call, Law, NotPriced, numbers_of
from proofs_tests.harness.recording.outputs import copied, same
from proofs_tests.harness.recording.primitives.numpy_draws import Hearing, Method


def distance(metric: str, one: object, other: object) -> int | float:
    """Between two arguments of a measurement, in the metric that OpenDP names. Raises NotPriced."""
    name = metric.partition("(")[0]
    if name in ("SymmetricDistance", "InsertDeleteDistance"):
        first, second = (Counter(map(repr, _records(each))) for each in (one, other))
        return sum(((first - second) + (second - first)).values())
    if name in ("ChangeOneDistance", "HammingDistance"):
        first, second = (Counter(map(repr, _records(each))) for each in (one, other))
        if first.total() != second.total():
            raise NotPriced(f"{name} between {first.total()} and {second.total()} records")
        return (first - second).total()
    if name == "DiscreteDistance":
        return 0 if same(one, other) else 1
    moved = np.atleast_1d(_moved(one, other))
    sizes = {"AbsoluteDistance": abs, "L1Distance": sum, "L2Distance": np.linalg.norm, "LInfDistance": max}
    if name not in sizes:
        raise NotPriced(f"the metric {metric}")
    found = {
        "AbsoluteDistance": moved.sum(),
        "L1Distance": moved.sum(),
        "L2Distance": float(np.linalg.norm(moved.astype(np.float64))),
        "LInfDistance": moved.max(initial=0),
    }[name]
    return int(found) if "i" in metric.rpartition("(")[2][:1] or "u" in metric.rpartition("(")[2][:1] else float(found)


def _records(value: object) -> Sequence[object]:
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return list(value)
    raise NotPriced(f"a data set of type {type(value).__name__}")


def _moved(one: object, other: object) -> np.ndarray:
    first, second = (np.asarray(each, dtype=object) for each in (one, other))
    if first.shape != second.shape:
        raise NotPriced(f"vectors of shapes {first.shape} and {second.shape}")
    return np.asarray(abs(second - first))


def priced(measurement: Measurement, value: object, other: object) -> Cost:
    """What the measurement's own privacy map says of these two arguments. Raises NotPriced."""
    far = distance(str(measurement.input_metric), value, other)
    if far == 0:
        return PureDP(0.0)
    cost: object = measurement.map(far)  # type: ignore[no-untyped-call]  # OpenDP leaves it open
    measure = str(measurement.output_measure).partition("(")[0]
    match measure, cost:
        case "MaxDivergence", int() | float():
            return PureDP(float(cost))
        case "ZeroConcentratedDivergence", int() | float():
            return ZCDP(float(cost))
        case "Approximate", (int() | float() as epsilon, float() as delta) if "Zero" not in str(
            measurement.output_measure
        ):
            return ApproxDP(float(epsilon), delta)
        case _:
            raise NotPriced(f"the measure {measurement.output_measure}")


@attrs.frozen(eq=False)
class _Known:
    """How a measurement was made while a recording ran: what it noises, by which noise."""

    measurement: Measurement
    law: Law
    scale: float
    before: Callable[[object], object] | None = None


class _Made:
    """The measurements that were made by a constructor that says how they noise; by their addresses."""

    def __init__(self) -> None:
        self._known: dict[int, _Known] = {}

    def of(self, measurement: Measurement) -> _Known | None:
        """How it was made; None where that is not known."""
        return self._known.get(id(measurement))

    def keep(self, known: _Known) -> None:
        """Kept, with the measurement, for as long as this recording."""
        self._known[id(known.measurement)] = known


LAWS: Final[dict[str, tuple[Law, Law]]] = {
    "make_laplace": ("laplace", "discrete laplace"),
    "make_geometric": ("laplace", "discrete laplace"),
    "make_gaussian": ("gaussian", ""),
}
"""Constructors, with the law of their noise on floats, and on whole numbers. OpenDP draws floats on a grid of 2^-1074,
unless told otherwise, which is dense; discrete Gaussian noise is priced by its map alone."""


def _constructed(name: str, original: Method, hearing: Hearing, made: _Made) -> Method:
    def construct(input_domain: object, input_metric: object, scale: float, *inputs: object, **more: object) -> object:
        measurement = original(input_domain, input_metric, scale, *inputs, **more)
        told = str(input_domain)
        law = LAWS[name]["T=i" in told or "T=u" in told]
        plain = not inputs and all(value is None for key, value in more.items() if key in ("k", "bounds"))
        if hearing() is not None and law and plain and isinstance(measurement, Measurement):
            made.keep(_Known(measurement, law, float(scale)))
        return measurement

    return construct


def _chained(original: Method, hearing: Hearing, made: _Made) -> Method:
    def chain(measurement1: Measurement, transformation0: Callable[[object], object]) -> object:
        measurement = original(measurement1, transformation0)
        known = made.of(measurement1)
        if hearing() is not None and known is not None and isinstance(measurement, Measurement):
            made.keep(attrs.evolve(known, measurement=measurement, before=_after(transformation0, known.before)))
        return measurement

    return chain


def _after(first: Callable[[object], object], then: Callable[[object], object] | None) -> Callable[[object], object]:
    return first if then is None else lambda value: then(first(value))


def _invoked(original: Method, hearing: Hearing, made: _Made) -> Method:
    def drawn(self: Measurement, arg: object) -> object:
        recorder = hearing()
        if recorder is None:
            return original(self, arg)
        known = made.of(self)
        value = None if known is None else numbers_of(arg if known.before is None else known.before(arg))
        if known is None or value is None:
            title = f"opendp measurement of {str(self.input_metric)}"  # noqa: RUF010  # OpenDP formats itself by str
            call = Call(0, title, "mapped", "", "", value=copied(arg), price=partial(priced, self))
        else:
            title, scale = f"opendp {known.law}", np.asarray(known.scale)
            call = Call(0, title, "release", known.law, "", value=value, scale=scale, fixed=(value.shape,))
        return recorder.take(call, lambda: original(self, arg))

    return drawn


def hooks(hearing: Hearing) -> list[tuple[object, str, Callable[..., object]]]:
    """Where, under which name, and what to put there."""
    made = _Made()
    found: list[tuple[object, str, Callable[..., object]]] = [
        (Measurement, name, _invoked(getattr(Measurement, name), hearing, made)) for name in ("__call__", "invoke")
    ]
    for name in LAWS:
        hook = _constructed(name, getattr(measurements, name), hearing, made)
        owners = [module for module in list(sys.modules.values()) if _holds(module, name, getattr(measurements, name))]
        found += [(owner, name, hook) for owner in owners]
    return [*found, (combinators, "make_chain_mt", _chained(combinators.make_chain_mt, hearing, made))]


def _holds(module: object, name: str, value: object) -> bool:
    """Whether a program's module has imported a constructor by its name, as SmartNoise does."""
    return isinstance(module, ModuleType) and vars(module).get(name) is value
