"""OpenDP's measurements: the argument is visible, and the privacy map says what a distance between two costs."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import numpy as np
from opendp.mod import Measurement

from accountant import ZCDP, ApproxDP, Cost, PureDP
from proofs_tests.harness.recording.calls import Call
from proofs_tests.harness.recording.numpy_draws import Hearing, Method
from proofs_tests.harness.recording.outputs import copied, same


class NotPriced(ValueError):
    """Nothing known says what a change of this argument costs."""


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


def _invoked(original: Method, hearing: Hearing) -> Method:
    def drawn(self: Measurement, arg: object) -> object:
        recorder = hearing()
        if recorder is None:
            return original(self, arg)
        title = f"opendp measurement of {str(self.input_metric)}"  # noqa: RUF010  # OpenDP formats itself by str
        call = Call(0, title, "mapped", "", "", value=copied(arg), price=partial(priced, self))
        return recorder.take(call, lambda: original(self, arg))

    return drawn


def hooks(hearing: Hearing) -> list[tuple[object, str, Callable[..., object]]]:
    """Where, under which name, and what to put there."""
    return [(Measurement, name, _invoked(getattr(Measurement, name), hearing)) for name in ("__call__", "invoke")]
