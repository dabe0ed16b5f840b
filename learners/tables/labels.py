"""Labels as numbers, checked against public classes."""

import warnings
from collections.abc import Sequence

import attrs
import numpy as np
import numpy.typing as npt

from accountant.arrays import FloatArray, SignArray
from learners.kinds import OutsideSchema, RowOf, Values, as_numbers, category_name, distinct, elements, is_missing
from learners.tables.columns import boxed, column_values, is_list, library, refuse_masked
from learners.tables.dictionary_columns import DictionaryColumn, each_value
from learners.tables.other_libraries import native, refuse_query
from learners.tables.readers import refuse_blocks


def refuse_no_labels(y: object) -> None:
    """Raise ValueError, as scikit-learn words it, where there are none."""
    if y is None:
        raise ValueError("y: this estimator requires y to be passed, but the target y is None")


def signs(y: object, classes: Sequence[object]) -> SignArray:
    """−1 for the first of two classes, +1 for the second; shape (n,). What is raised: see `class_numbers`."""
    if len(classes) != 2:
        raise ValueError(f"expected two classes, got {classes!r}")
    return 2 * class_numbers(y, classes) - 1


def coded_labels(y: object, classes: Sequence[object]) -> SignArray:
    """What learners get: signs for two classes, class numbers for more. Raises ValueError, see `class_numbers`."""
    return signs(y, classes) if len(classes) == 2 else class_numbers(y, classes)


@attrs.frozen
class CodedLabels:
    """`coded_labels` with these classes."""

    classes: tuple[object, ...]

    def __call__(self, y: object) -> SignArray:
        """Shape (n,). Raises ValueError."""
        return coded_labels(y, self.classes)


def class_numbers(y: object, classes: Sequence[object]) -> SignArray:
    """The place of each label among the classes, shape (n,). [records-alone]

    All of them may be the same: whether a second class occurs may depend on one record, so it must not decide anything.
    Raises ValueError where y is not one-dimensional, holds NaN, or something outside the classes.
    """
    values = label_values(y)
    numbers = np.full(values.shape, -1, dtype=np.int8)
    for number, name in enumerate(classes):
        numbers[values == name] = number
    _refuse_others(values, numbers < 0, classes)
    return numbers


def bounded_labels(y: object, bounds: tuple[float, float]) -> FloatArray:
    """Numbers, moved into their public bounds where they are outside, as −1 … 1; shape (n,).

    Raises ValueError where y is not one-dimensional, not of numbers, or holds NaN or an infinity.
    """
    try:
        numbers = as_numbers(label_values(y), "y")
    except OutsideSchema as error:
        raise ValueError(f"{error}; Unknown label type for a regression") from None
    if not np.all(np.isfinite(numbers)):
        raise ValueError("y: Input y contains NaN or infinity. Leave such records out before the fit")
    lower, upper = bounds
    return np.clip((np.clip(numbers, lower, upper) - lower) / (upper - lower) * 2.0 - 1.0, -1.0, 1.0)


def observed_classes(y: object) -> tuple[object, ...]:
    """The distinct labels in rising order. They are not private any more: only for a user who declared them public.

    Raises ValueError where the labels are measurements, or kinds that have no common order.
    """
    listed = label_values(y).tolist()
    if any(isinstance(value, float) and not value.is_integer() for value in listed):
        raise ValueError("Unknown label type: continuous. y holds fractions, and classes are names or whole numbers")
    try:
        return tuple(sorted(set(listed)))
    except TypeError as error:
        raise ValueError(f"Unknown label type: y mixes kinds of labels ({error})") from None


def label_values(y: object) -> Values:
    """Labels as an array, shape (n,), each as it came: a list of several types becomes an array of objects.

    Raises ValueError for another shape or where one is missing or not finite.
    A column, shape (n, 1), is taken with scikit-learn's DataConversionWarning.
    """
    values = label_array(y)
    _refuse_missing(values)
    return values


def label_texts(column: Values | DictionaryColumn) -> npt.NDArray[np.object_]:
    """Labels as the classes of a schema file are written, shape (n,): text, 1 for 1.0 and for True, "" for a missing
    one. Raises OutsideSchema for what has no such name. [records-alone]"""

    def named(values: Values, _: RowOf) -> npt.NDArray[np.object_]:
        found = distinct(values)  # each is named once
        names = (category_name(value) or "" for value in elements(found.values))
        listed = np.fromiter(names, dtype=object, count=found.values.size)
        return listed[found.spread(np.arange(listed.size))]

    return each_value(column, named)


def label_array(y: object) -> Values:
    """The same with whatever is missing, for whoever leaves some of the records out first."""
    refuse_blocks(y, "y")
    refuse_masked(y, "y")
    refuse_query(y)
    values = _label_array(native(y))
    if values.ndim == 2 and values.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning  # here at last, as scikit-learn takes a second

        said = "A column-vector y was passed when a 1d array was expected. Change the shape of y to (n_samples,)"
        warnings.warn(said, DataConversionWarning, stacklevel=3)
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"y: expected shape (n,), got {values.shape}; y should be a 1d array")
    if values.dtype.kind == "c":
        raise ValueError(f"y: Complex data not supported, got {values.dtype}")
    return values


def _label_array(y: object) -> Values:
    if is_list(y):
        return boxed(y, "y")
    if len(getattr(y, "shape", (0,))) != 1:
        return np.asarray(y)  # a table of one column, or nothing that could be labels
    values = column_values(y, "y") if library(y) != "numpy" else np.asarray(y)
    return values.boxed() if isinstance(values, DictionaryColumn) else values


def _refuse_missing(values: Values) -> None:
    if values.dtype.kind == "f":
        wrong = np.flatnonzero(~np.isfinite(values))
    elif values.dtype.kind in "OmM":
        listed = values.tolist()
        if values.dtype.kind == "O" and set(map(type, listed)) <= {str, int, bool}:
            return
        wrong = np.flatnonzero([is_missing(value) for value in listed])
    else:
        return
    if not wrong.size:
        return
    row = int(wrong[0])
    if values.dtype.kind == "f" and np.isinf(float(values[row])):
        raise ValueError(f"y: row {row} is infinite. Input y contains infinity or a value too large for dtype")
    raise ValueError(f"y: row {row} is NaN or missing. Input y contains NaN. Leave such records out before the fit")


def _refuse_others(values: Values, unknown: npt.NDArray[np.bool_], classes: Sequence[object]) -> None:
    if not np.any(unknown):
        return
    row = int(np.flatnonzero(unknown)[0])
    found = len({str(value) for value in values.tolist()})
    what = "y holds an undeclared class"
    if found > len(classes):
        what = f"y holds {found} classes; {len(classes)} are declared"
    raise ValueError(
        f"{what}: row {row} is {values[row : row + 1].tolist()[0]!r}, and the public classes are {tuple(classes)!r}; "
        "add it to the classes of the schema's label, or to classes= in Python, or leave such records out"
    )
