"""`verbose`: a line on standard error after every so many rounds of a fit."""

import sys
from numbers import Integral

import numpy as np

from learners.base.fit_plan import Progress, refuse_no_progress


def rounds_per_line(value: object) -> int:
    """0 for silence, else after how many rounds there is a line. Raises ValueError."""
    if not isinstance(value, Integral | np.bool_) or int(value) < 0:
        raise ValueError(f"verbose: expected 0, or after how many rounds there is a line, got {value!r}")
    return int(value)


def with_lines(estimator: object, on_round: Progress | None) -> Progress | None:
    """What is called after each round: the user's function, and before it the lines that `verbose` asks for.

    They say no more than the number of rounds, which is public where `on_round` is called at all. Raises TypeError for
    what cannot be called, ValueError for another `verbose`.
    """
    refuse_no_progress(on_round)
    every, name = rounds_per_line(getattr(estimator, "verbose", 0)), type(estimator).__name__
    if not every:
        return on_round

    def told(number: int, released: object) -> None:
        if number % every == 0:
            sys.stderr.write(f"{name}: {number} rounds\n")
            sys.stderr.flush()
        if on_round is not None:
            on_round(number, released)

    return told
