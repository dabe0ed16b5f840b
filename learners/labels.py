"""Labels as signs, checked against two public classes."""

import numpy as np
import numpy.typing as npt

from boosting.schema import SignArray


def signs(y: npt.ArrayLike, classes: tuple[object, object]) -> SignArray:
    """−1 for the first class, +1 for the second; shape (n,).

    Raises ValueError where y is not one-dimensional, holds NaN, something outside the two classes, more
    than two classes, or only one.
    """
    values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"y: expected shape (n,), got {values.shape}")
    if np.issubdtype(values.dtype, np.floating) and np.any(np.isnan(values)):
        raise ValueError(f"y: row {int(np.flatnonzero(np.isnan(values))[0])} is NaN")
    positive, negative = values == classes[1], values == classes[0]
    _refuse_others(values, positive | negative, classes)
    if np.all(positive) or np.all(negative):
        raise ValueError(f"y holds one class only, {values[:1].tolist()[0]!r}: there is nothing to learn")
    return np.where(positive, 1, -1).astype(np.int8)


def _refuse_others(
    values: npt.NDArray[np.generic], known: npt.NDArray[np.bool_], classes: tuple[object, object]
) -> None:
    if np.all(known):
        return
    row = int(np.flatnonzero(~known)[0])
    found = len({str(value) for value in values.tolist()})
    what = f"y holds {found} classes; this learner is binary" if found > 2 else "y holds an undeclared class"
    raise ValueError(
        f"{what}: row {row} is {values[row : row + 1].tolist()[0]!r}, and the public classes are {classes!r}; "
        "declare them as the schema's label classes, or with classes=(negative, positive) in Python"
    )
