"""Public classes: declared by the user, or declared to be public as they occur."""

import itertools
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from learners.tables.labels import observed_classes

Classes: TypeAlias = tuple[object, ...] | Literal["observed"] | None
"""As a user gives them: in order, "observed" where those that occur are public, None for what is usual."""

MOST_CLASSES: Final = 127
"""Class numbers are kept in one byte."""


def public_classes(
    declared: Classes, default: tuple[object, ...], y: npt.ArrayLike | None, most: int, learner: str
) -> tuple[object, ...]:
    """The classes, checked. Raises ValueError.

    y: where they are taken from, if the user said so.  most: how many the learner can do.  learner: for messages.
    """
    classes = default
    if isinstance(declared, str) and declared == "observed":
        if y is None:
            raise ValueError("classes: 'observed' needs y, and codes do not tell; use fit, or name the classes")
        classes = observed_classes(y)
        if len(classes) < 2:
            raise ValueError(f"y holds one class only, {classes[0]!r}: there is nothing to learn")
    elif declared is not None:
        classes = distinct_classes(declared)
    if len(classes) > MOST_CLASSES:
        raise ValueError(f"classes: expected at most {MOST_CLASSES}, got {len(classes)}")
    if len(classes) > most:
        raise ValueError(
            f"Only binary classification is supported. There are {len(classes)} classes, {classes!r}, and "
            f"{learner} learns two distinct classes"
        )
    return classes


def distinct_classes(classes: Sequence[object]) -> tuple[object, ...]:
    """Declared classes, checked. Raises ValueError."""
    found = () if isinstance(classes, str) else tuple(classes)
    if len(found) > MOST_CLASSES:
        raise ValueError(f"classes: expected at most {MOST_CLASSES}, got {len(found)}")
    if len(found) < 2 or any(one == other for one, other in itertools.combinations(found, 2)):
        raise ValueError(f"classes: expected two distinct classes or more, got {classes!r}")
    return found


def class_array(classes: Sequence[object]) -> npt.NDArray[np.generic]:
    """Classes as an array, shape (classes,); of objects where numpy would make text of numbers."""
    plain = np.array(classes)
    if plain.shape == (len(classes),) and plain.tolist() == list(classes):
        return plain
    boxed = np.empty(len(classes), dtype=object)
    for number, name in enumerate(classes):
        boxed[number] = name
    return boxed
