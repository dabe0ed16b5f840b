"""A fitted model as every back end takes it: how columns are read, a sum of look-ups, and what the sum says.

A back end renders the four kinds of `Reading`, the three kinds of `Term` and the three kinds of `Link`, and nothing
else. Sums are of doubles, in the order of `terms`, each addition rounded by itself: whoever adds in that order has the
bits of `predict`.
"""

from collections.abc import Mapping
from typing import TypeAlias

import attrs
import numpy as np

from accountant.arrays import FloatArray
from accountant.explained import Explained
from learners.tables import FileFormat


class NotPortable(Explained, ValueError):
    """This model, or this back end, has no such form. Says why, and what there is instead."""


# --- how a column is read ------------------------------------------------------------------------------------------


@attrs.frozen
class Numbers:
    """Place: the number itself, NULL where it is missing and has a cell of its own.

    lower, upper: bounds.  clip: whether values beyond count as the nearest; else they are refused. Infinities always
    are.  missing: the number that missing values count as.  own: whether these have a cell of their own; without
    either they are refused.  others: whether what is no number counts as missing.  whole: whether fractions are
    refused.
    """

    lower: float
    upper: float
    clip: bool = False
    missing: float | None = None
    own: bool = False
    others: bool = False
    whole: bool = False


@attrs.frozen
class Moments:
    """Place: seconds since 1970 in UTC, of a date, or of a date and time.

    seconds: how these are read.  form: of text, in the letters of `strptime`; None takes ISO 8601.
    """

    seconds: Numbers
    form: str | None


@attrs.frozen
class Truths:
    """Place: 0 or 1, or what a word says; everything else is refused. missing: what missing values count as."""

    missing: int | None = None


@attrs.frozen
class Names:
    """Place: the number of the category.

    codes: of every text, stripped, that stands for a category.  categories: how many there are.
    missing, other: of NULL, and of every other text; None where they are refused.
    """

    codes: Mapping[str, int]
    categories: int
    missing: int | None
    other: int | None


Reading: TypeAlias = Numbers | Moments | Truths | Names


@attrs.frozen
class Input:
    """A column of the table."""

    name: str
    reading: Reading


# --- what is added up ------------------------------------------------------------------------------------------------


@attrs.frozen
class Steps:
    """The cell of a place: how many of the cuts are at most it; the last of all where a missing number has its own.

    input: number of the column among the inputs.  cuts: rising.
    """

    input: int
    cuts: tuple[float, ...]
    own: bool = False

    @property
    def cells(self) -> int:
        """The number of cells."""
        return len(self.cuts) + 1 + self.own


@attrs.frozen(eq=False)
class LookUp:
    """What a record's cells of one column or several have. values: shape (*cells, outputs)."""

    steps: tuple[Steps, ...]
    values: FloatArray


@attrs.frozen
class Leaf:
    """values: one for each output."""

    values: tuple[float, ...]


@attrs.frozen
class Branch:
    """To `yes` where the cell is among those that `members` says, shape (cells,)."""

    steps: Steps
    members: tuple[bool, ...]
    no: "Leaf | Branch"
    yes: "Leaf | Branch"


@attrs.frozen
class Linear:
    """Σ weight·place over all inputs; one output. Products are added by halves: see `learners.encoding.folded`."""

    weights: tuple[float, ...]


Term: TypeAlias = LookUp | Leaf | Branch | Linear


# --- what the sum says --------------------------------------------------------------------------------------------


@attrs.frozen
class ClippedShare:
    """The share of the second class of a score in nats under the clipped loss, see `learners.additive.linked`.

    clip: in nats.  slope: log-odds per unit of score, at least.
    """

    clip: float
    slope: float


@attrs.frozen
class LineShare:
    """Straight lines between points of score + shift, on the side of ½ that the score says.

    at, shares: rising.  least: share that answers with the second class.
    """

    at: tuple[float, ...]
    shares: tuple[float, ...]
    shift: float
    least: float


@attrs.frozen
class LogisticShare:
    """The logistic function of the score."""


@attrs.frozen
class VoteShare:
    """(1 + score)/2, within [0, 1]."""


Share: TypeAlias = ClippedShare | LineShare | LogisticShare | VoteShare


@attrs.frozen
class TwoClasses:
    """One output; the second class where the score is above 0. share: None where none is estimated."""

    classes: tuple[object, object]
    share: Share | None


@attrs.frozen
class ManyClasses:
    """An output for each class; the first of the highest."""

    classes: tuple[object, ...]
    softmax: bool


@attrs.frozen
class Amount:
    """The score itself within bounds, or its exponential. log: of scores up to `most`."""

    lower: float
    upper: float
    log: bool = False
    most: float = 0.0


Link: TypeAlias = TwoClasses | ManyClasses | Amount


@attrs.frozen(eq=False)
class PortableModel:
    """Score = (start + Σ terms) / divisor, one for each output.

    about: lines for people: which learner, what it cost.  file: how CSV files with its columns are written.
    """

    about: tuple[str, ...]
    inputs: tuple[Input, ...]
    start: tuple[float, ...]
    terms: tuple[Term, ...]
    link: Link
    divisor: float = 1.0
    file: FileFormat | None = None

    @property
    def outputs(self) -> int:
        """The number of scores."""
        return len(self.start)

    @property
    def names(self) -> list[str]:
        """Of the columns that it reads."""
        return [each.name for each in self.inputs]


def of_outputs(values: FloatArray) -> FloatArray:
    """With a last axis for one output. values: shape (cells…,)."""
    return np.asarray(values[..., np.newaxis])
