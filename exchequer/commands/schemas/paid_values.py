"""Bounds and categories that are released privately, and paid for: what a schema may say without public knowledge.

Bounds are those of Wilson et al. 2020 (Differentially private SQL with bounded user contribution, 5.1.1): a noisy
histogram over public cells, and the hull of the cells that noise alone would hardly make so large. Lists of categories
are OpenDP's thresholded histogram: a category that a single record has is kept with a chance of delta at most.
"""

import datetime
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import attrs
import numpy as np

from accountant import AddRemoveOne, Ledger, Plan, ReplaceOne
from accountant.arrays import FloatArray, IntArray
from exchequer.commands.schemas.column_facts import ColumnFacts, Price
from exchequer.commands.schemas.seen_values import MISSING
from learners.kinds import Date, Numeric, seconds_of
from learners.tables import DictionaryColumn, Values, label_texts
from mechanisms import LaplaceNoise, PlainMechanism, SecureNoise
from mechanisms.core import Query
from mechanisms.foreign import from_opendp
from mechanisms.queries import counts_l1

if TYPE_CHECKING:
    from mechanisms.foreign import DeclaredMechanism

Neighbours: TypeAlias = AddRemoveOne | ReplaceOne

FAILURE: Final = 0.01
"""How likely it is that noise alone makes one of a column's empty cells part of its bounds."""

EDGES: Final[Mapping[str, tuple[float, ...]]] = {
    "number": (*(-m * 10.0**k for k in range(9, -4, -1) for m in (5, 2, 1)), 0.0,
               *(m * 10.0**k for k in range(-3, 10) for m in (1, 2, 5))),
    "integer": (*(-m * 10.0**k for k in range(9, -1, -1) for m in (5, 2, 1)), 0.0,
                *(m * 10.0**k for k in range(10) for m in (1, 2, 5))),
    "date": tuple(seconds_of(datetime.date(year, 1, 1)) for year in range(1900, 2101)),
}  # fmt: skip
"""By type, where public cells end; the first and the last cell go on from there."""

SLACK: Final = 1.0 - 2.0**-30
"""What noise on a grid and sums of decimals may add, taken off before."""


def wanted(columns: Sequence[ColumnFacts], label: str, numbers: bool) -> list[ColumnFacts]:
    """The columns whose domain nothing public says; of the label its classes, or its bounds."""
    lacking = [each for each in columns if not each.categories and each.lower is None]
    return [
        attrs.evolve(each, type="number" if numbers else "text") if each.name == label else each
        for each in lacking
        if each.name == label or each.type in ("number", "integer", "date", "text", "ordered")
    ]


def paid_facts(
    ledger: Ledger, table: "Mapping[str, Values | DictionaryColumn]", columns: Sequence[ColumnFacts], price: Price
) -> list[ColumnFacts]:
    """The columns with a domain, each released; without one where noise hides it. All is one charge.

    Raises ValueError, and what the ledger raises, before anything is charged.
    """
    adjacency = ledger.adjacency
    if not isinstance(adjacency, AddRemoveOne | ReplaceOne):
        raise ValueError(f"--ledger: expected add-remove-one or replace-one, it promises {adjacency.name}")
    n = max((len(table[column.name]) for column in columns), default=0)
    if n and not price.delta < 1.0 / n:  # as `train` has it; errors are for the curator
        said = f"{price.delta!r} is not below 1/n = {1.0 / n:.3g}"
        raise ValueError(f"--delta: {said}, so it promises nothing; use far less")
    each = Price(price.epsilon * SLACK / len(columns), price.delta * SLACK / max(1, sum(map(_listed, columns))))
    if any(map(_listed, columns)) and not price.delta > 0.0:
        raise ValueError("--delta: lists of categories need one above 0, far below 1/n")
    releases = [_Release.of(column, table[column.name], adjacency, each) for column in columns]
    plan = Plan.sequence([release.mechanism.cost for release in releases])
    with ledger.reserve(plan, adjacency=adjacency, account="schema draft") as charge:
        return [release.made(charge.release(release.mechanism, ledger.protect(release.data))) for release in releases]


def _listed(column: ColumnFacts) -> bool:
    return column.type in ("text", "ordered")


SOURCE: Final = "released from the data, and paid for"


@attrs.frozen
class _Release:
    """One column's. data: as the mechanism takes them."""

    column: ColumnFacts
    mechanism: Any  # of OpenDP's types, or of ours
    data: object
    epsilon: float

    @staticmethod
    def of(column: ColumnFacts, values: "Values | DictionaryColumn", adjacency: Neighbours, price: Price) -> "_Release":
        texts = label_texts(values)
        if _listed(column):
            kept = [text for text in texts.tolist() if text]
            return _Release(column, thresholded(adjacency, price), kept, price.epsilon)
        kind = str(column.type)
        return _Release(column, cell_counts(kind, adjacency, price.epsilon), cells(column, texts), price.epsilon)

    def made(self, found: object) -> ColumnFacts:
        """The column with what was released."""
        if _listed(self.column):
            names = tuple(
                sorted(name for name in cast("Mapping[str, int]", found) if name.lower() not in MISSING or name == "?")
            )
            return attrs.evolve(self.column, categories=names, source=SOURCE) if names else self.column
        hull = bounds_of(cast("FloatArray", found), str(self.column.type), self.mechanism.randomizer.scale)
        if hull is None:
            return self.column
        said: tuple[float | str, ...] = tuple(int(end) if end.is_integer() else end for end in hull)
        if self.column.type == "date":
            said = tuple(Date("date", *hull).said(end) for end in hull)
        return attrs.evolve(self.column, lower=said[0], upper=said[1], source=SOURCE)


def cells(column: ColumnFacts, texts: Values) -> IntArray:
    """The public cell of each record, −1 where there is no number, shape (n,)."""
    edges = EDGES[str(column.type)]
    reader = (
        Date(column.name, edges[0], edges[-1], missing="own", other="missing", form=column.form)
        if column.type == "date"
        else Numeric(column.name, edges[0], edges[-1], missing="own", other="missing")
    )
    numbers = reader.numbers(texts)
    return np.where(np.isfinite(numbers), np.searchsorted(edges, numbers, side="right"), -1)


def cell_counts(
    kind: str, adjacency: Neighbours, epsilon: float
) -> "PlainMechanism[IntArray, FloatArray, Any, FloatArray]":
    """How many records are in each public cell of a type, with Laplace noise. [histograms]"""
    size, sensitivity = len(EDGES[kind]) + 1, counts_l1(adjacency)

    def counted(codes: IntArray) -> FloatArray:
        return np.bincount(codes[codes >= 0], minlength=size).astype(np.float64)

    query = Query(f"cells of a {kind} ({size})", counted, sensitivity, adjacency, ("histograms",))
    return PlainMechanism(query, LaplaceNoise(sensitivity.value / epsilon / SLACK), SecureNoise())


def bounds_of(counts: FloatArray, kind: str, scale: float) -> tuple[float, float] | None:
    """The hull of the cells with more than noise makes of none, but with chance FAILURE; None where there is none."""
    edges = EDGES[kind]
    found = np.flatnonzero(counts > scale * math.log(counts.size / (2.0 * FAILURE)))
    if not found.size:
        return None
    ends = (10.0 * edges[0], *edges, 10.0 * edges[-1]) if kind != "date" else (edges[0], *edges, edges[-1])
    low, high = ends[int(found[0])], ends[int(found[-1]) + 1]
    return (low, high) if low < high else None


def thresholded(adjacency: Neighbours, price: Price) -> "DeclaredMechanism[Any, Any]":
    """OpenDP's histogram of the texts that occur, with noise, of those above a threshold; see `threshold_for`."""
    return from_opendp(text_counts(adjacency, price.epsilon, threshold_for(adjacency, price)), adjacency=adjacency)


def text_counts(adjacency: Neighbours, epsilon: float, threshold: int) -> Any:  # opendp.Measurement
    """Counts of each text with discrete Laplace noise, where they come out above the threshold."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()
    scale = (1.0 if isinstance(adjacency, AddRemoveOne) else 2.0) / epsilon
    return space >> dp.t.then_count_by() >> dp.m.then_laplace_threshold(scale=scale, threshold=threshold)


def threshold_for(adjacency: Neighbours, price: Price) -> int:
    """The lowest threshold at which OpenDP promises (epsilon, delta), in records."""
    distance = 1 if isinstance(adjacency, AddRemoveOne) else 2

    def serves(threshold: int) -> bool:
        found: float = text_counts(adjacency, price.epsilon, threshold).map(distance)[1]
        return found <= price.delta

    high = distance  # OpenDP refuses lower ones
    while not serves(high):
        high *= 2
    low = max(high // 2, distance - 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if serves(middle) else (middle, high)
    return high
