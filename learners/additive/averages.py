"""Means of the tables that the last rounds scored records with, which a fit keeps, and of releases of the same sums."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

import attrs
import numpy as np
import numpy.typing as npt

from accountant import Protected, Spendable
from accountant.arrays import FloatArray
from boosting import Spender
from learners.base import Progress
from mechanisms.gradients import SCORE_UNIT

D = TypeVar("D")


class Tabled(Protocol):
    """What has a table in whole SCORE_UNITs that changes from round to round."""

    table: npt.NDArray[np.int32]


@attrs.frozen(eq=False)
class Averages:
    """Sums of tables over the last rounds, as many as there are tables, or as have been since `first`.

    sums: in SCORE_UNIT.  first: the first round that counts.  rounds: of the fit.
    """

    columns: Sequence[Tabled]
    sums: list[FloatArray]
    first: int
    rounds: int

    @staticmethod
    def of(rounds: int, columns: Sequence[Tabled], earliest: int = 0) -> "Averages":
        """Before any of them. earliest: the first round that may count."""
        first = max(earliest, rounds - len(columns))
        return Averages(columns, [np.zeros(column.table.shape) for column in columns], first, rounds)

    def add(self, number: int) -> None:
        """After round `number`, 0-based."""
        if number >= self.first:
            for total, column in zip(self.sums, self.columns, strict=True):
                total += column.table

    def means(self) -> list[FloatArray]:
        """In nats, after all rounds."""
        return [total * (SCORE_UNIT / (self.rounds - self.first)) for total in self.sums]


def mean_release(
    spender: Spender,
    mechanism: Spendable[D, FloatArray],
    records: Protected[D],
    often: int,
    told: int,
    on_round: Progress | None,
) -> FloatArray:
    """The mean of `often` releases of the same sums, which is one with √often times less noise. told: those before."""
    released = list[FloatArray]()
    for number in range(told + 1, told + often + 1):
        released.append(spender.release(mechanism, records))
        if on_round is not None:
            on_round(number, released[-1])
    return np.asarray(np.mean(released, axis=0))
