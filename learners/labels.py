"""Labels as numbers, checked against public classes."""

import math
import warnings
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import DataConversionWarning

from boosting.measures import FloatArray, WholeArray
from boosting.schema import SignArray
from learners.schema import Values
from learners.tables import refuse_blocks, refuse_masked


def refuse_no_labels(y: npt.ArrayLike | None) -> None:
    """Raise ValueError, as scikit-learn words it, where there are none."""
    if y is None:
        raise ValueError("y: this estimator requires y to be passed, but the target y is None")


def signs(y: npt.ArrayLike, classes: Sequence[object], *, part: bool = False) -> SignArray:
    """−1 for the first of two classes, +1 for the second; shape (n,). part, and what is raised: see `class_numbers`."""
    if len(classes) != 2:
        raise ValueError(f"expected two classes, got {classes!r}")
    return 2 * class_numbers(y, classes, part=part) - 1


def coded_labels(y: npt.ArrayLike, classes: Sequence[object], *, part: bool = False) -> SignArray:
    """What learners get: signs for two classes, class numbers for more. Raises ValueError, see `class_numbers`."""
    return signs(y, classes, part=part) if len(classes) == 2 else class_numbers(y, classes, part=part)


def class_numbers(y: npt.ArrayLike, classes: Sequence[object], *, part: bool = False) -> SignArray:
    """The place of each label among the classes, shape (n,).

    part: whether there are labels elsewhere, so that here one class will do.
    Raises ValueError where y is not one-dimensional, holds NaN, something outside the classes, or one class only.
    """
    values = label_values(y)
    numbers = np.full(values.shape, -1, dtype=np.int8)
    for number, name in enumerate(classes):
        numbers[values == name] = number
    _refuse_others(values, numbers < 0, classes)
    if not part:
        refuse_one_class(np.bincount(numbers, minlength=len(classes)), classes)
    return numbers


def refuse_one_class(counts: WholeArray, classes: Sequence[object]) -> None:
    """Raise ValueError where all records are of one class. counts: of each class's records, shape (classes,)."""
    if np.count_nonzero(counts) == 1:
        only = classes[int(np.argmax(counts))]
        raise ValueError(f"y holds one class only, {only!r}: there is nothing to learn")


def bounded_labels(y: npt.ArrayLike, bounds: tuple[float, float]) -> FloatArray:
    """Numbers, moved into their public bounds where they are outside, as −1 … 1; shape (n,).

    Raises ValueError where y is not one-dimensional, not of numbers, or holds NaN or an infinity.
    """
    values = label_values(y)
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"y: expected numbers, got {values.dtype}; Unknown label type for a regression") from None
    if not np.all(np.isfinite(numbers)):
        raise ValueError("y: Input y contains NaN or infinity. Leave such records out before the fit")
    lower, upper = bounds
    return np.clip((np.clip(numbers, lower, upper) - lower) / (upper - lower) * 2.0 - 1.0, -1.0, 1.0)


def observed_classes(y: npt.ArrayLike) -> tuple[object, ...]:
    """The distinct labels in rising order. They are not private any more: only for a user who declared them public.

    Raises ValueError where the labels are measurements, or kinds that have no common order.
    """
    values = label_values(y)
    if values.dtype.kind == "f" and np.any(values != np.floor(values)):
        raise ValueError("Unknown label type: continuous. y holds fractions, and classes are names or whole numbers")
    try:
        return tuple(sorted(set(values.tolist())))
    except TypeError as error:
        raise ValueError(f"Unknown label type: y mixes kinds of labels ({error})") from None


def label_values(y: npt.ArrayLike) -> Values:
    """Labels as an array, shape (n,). Raises ValueError for another shape or where one is missing or not finite.

    A column, shape (n, 1), is taken with scikit-learn's DataConversionWarning.
    """
    refuse_blocks(y, "y")
    refuse_masked(y, "y")
    values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        said = "A column-vector y was passed when a 1d array was expected. Change the shape of y to (n_samples,)"
        warnings.warn(said, DataConversionWarning, stacklevel=2)
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"y: expected shape (n,), got {values.shape}; y should be a 1d array")
    if values.dtype.kind == "c":
        raise ValueError(f"y: Complex data not supported, got {values.dtype}")
    _refuse_missing(values)
    return values


def _refuse_missing(values: Values) -> None:
    if values.dtype.kind == "f":
        wrong = np.flatnonzero(~np.isfinite(values))
    elif values.dtype.kind in "OmM":
        wrong = np.flatnonzero([is_missing(value) for value in values.tolist()])
    else:
        return
    if not wrong.size:
        return
    row = int(wrong[0])
    if values.dtype.kind == "f" and np.isinf(float(values[row])):
        raise ValueError(f"y: row {row} is infinite. Input y contains infinity or a value too large for dtype")
    raise ValueError(f"y: row {row} is NaN or missing. Input y contains NaN. Leave such records out before the fit")


def is_missing(value: object) -> bool:
    """Whether the value is None, NaN, or what pandas says for them (pandas is not imported here)."""
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (type(value) is float and math.isnan(value))
    )


def _refuse_others(values: Values, unknown: npt.NDArray[np.bool_], classes: Sequence[object]) -> None:
    if not np.any(unknown):
        return
    row = int(np.flatnonzero(unknown)[0])
    found = len({str(value) for value in values.tolist()})
    what = "y holds an undeclared class"
    if found > len(classes):
        what = f"y holds {found} classes; " + ("this learner is binary" if len(classes) == 2 else "fewer are declared")
    raise ValueError(
        f"{what}: row {row} is {values[row : row + 1].tolist()[0]!r}, and the public classes are {tuple(classes)!r}; "
        "declare them as the schema's label classes, or with classes=(negative, positive) in Python"
    )
