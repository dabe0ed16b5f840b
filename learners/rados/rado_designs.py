"""How rados are released: what is drawn, what it costs, under which relation, and what that covers.

`NoProtection` promises nothing, and charges nothing. `ExamplesDesign` protects whole records by Gaussian noise, on the
rados or, as published, on the edge vectors. Rados that protect some columns are in `learners.rados.protected_columns`.
"""

import math
from collections.abc import Callable
from typing import Protocol, TypeAlias

import attrs

from accountant import Plan, Protected, ReplaceOne
from accountant.arrays import FloatArray
from boosting import Spender
from learners.base import (
    MOMENTS_SHARE,
    FitBudget,
    FitPlan,
    GaussianQuery,
    Progress,
    affordable_mu,
    noisy_spread,
    part_at,
    plan_of,
)
from learners.encoding import Scaling
from learners.rados.public_sums import plain_rados, spread
from learners.rados.rado_records import RadoSample, RadoTable
from mechanisms import (
    EdgeVectors,
    NoiseSource,
    Vectors,
    column_moments,
    drawn_seed,
    edge_vectors,
    paired_rados,
    sample_fixed_support_rados,
    sample_rados,
)
from mechanisms.core import Rows
from mechanisms.queries import refuse_sizes

Released: TypeAlias = tuple[FloatArray, Scaling]
"""Rados, shape (n, d), and what their features were scaled by."""


class RadoDesign(Protocol):
    """A way to release rados."""

    @property
    def scope(self) -> str:
        """What the guarantee covers, in words."""

    def plan(self, table: RadoTable, budget: FitBudget, noise: NoiseSource) -> FitPlan[RadoTable, Released]:
        """How they are. Raises ValueError where the budget does not pay for them: nothing is charged then."""


def _summed(edges: EdgeVectors, number: int, support: int | None, noise: NoiseSource) -> FloatArray:
    """n random rados, of `support` records each if that is given. No privacy claim."""
    if support is None:
        return sample_rados(edges, number, noise)
    return sample_fixed_support_rados(edges, number, support, noise)


def in_one_place(table: RadoTable) -> RadoSample:
    """All its records. Raises ValueError where they are in blocks, which `RadoHolder` says before anything is drawn."""
    if (sample := table.sample()) is None:
        raise ValueError("these rados are of records in one place, and the table is in blocks")
    return sample


@attrs.frozen
class NoProtection:
    """Plain sums of records. number: n.  support: m*, or None for uniform supports.  standardise: by the data."""

    number: int
    support: int | None
    standardise: bool

    @property
    def scope(self) -> str:
        """What the rados protect, for statements."""
        return "nothing: plain sums of records, from which records can be read"

    def drawn(self, table: RadoTable, noise: NoiseSource) -> Released:
        """Rados that must stay with whoever may see the records. Raises ValueError with a support, over blocks."""
        width, columns = table.coding.features, table.coding.variable
        if self.support is None:
            return plain_rados(table, range(width), self.number, self.standardise, noise)
        sample, scaling = in_one_place(table), Scaling.none(width)
        if self.standardise:
            scaling = spread(table.points(columns)).within(width, columns)
        return _summed(sample.edges(scaling).all(), self.number, self.support, noise), scaling


@attrs.frozen
class ExamplesDesign:
    """Whole records: one of them replaced, its label included.

    number: n.  radius: R, to which records are shortened, after scaling.  on_edges: noise on the edge vectors and not
    on the rados.  support: m*, with on_edges only.  standardise: by noisy moments, paid for.
    """

    number: int
    radius: float
    on_edges: bool
    support: int | None
    standardise: bool

    @property
    def scope(self) -> str:
        """Everything about a record."""
        return "whole records: all columns and the label"

    def plan(self, table: RadoTable, budget: FitBudget, noise: NoiseSource) -> FitPlan[RadoTable, Released]:
        """See `RadoDesign`. With on_edges, raises ValueError for records in blocks."""
        n, width, columns = table.records, table.coding.features, table.coding.variable
        refuse_sizes(n, width)  # which mechanisms would do after the charge
        if self.on_edges:
            in_one_place(table)
        parts = self._parts(table, noise)
        moments, rados = parts(affordable_mu(budget, lambda mu: _plan(*parts(mu))))

        def run(charge: Spender, data: Protected[RadoTable], on_round: Progress) -> Released:
            scaling = Scaling.none(width)
            for part in moments:
                values = data.map(lambda each: each.rows.map(lambda some: some.columns(len(columns))))
                found = charge.release(part.mechanism, values)
                scaling = noisy_spread(found, n, part.sigma).within(width, columns)
            vectors = charge.release(rados.mechanism, data.map(lambda each: each.edges(scaling)))
            if self.on_edges:
                return _summed(EdgeVectors(vectors), self.number, self.support, noise), scaling
            return vectors, scaling

        return FitPlan(_plan(moments, rados), ReplaceOne(), rados.mechanism.description, run)

    def _parts(self, table: RadoTable, noise: NoiseSource) -> "Callable[[float], Parts]":
        """From μ to what is released, in order."""
        share, width = MOMENTS_SHARE if self.standardise else 0.0, table.coding.features
        moments = column_moments(len(table.coding.variable), table.records, table.coding.one_hot)
        seed = drawn_seed(noise)  # of supports, which are public
        rados = (
            edge_vectors(self.radius)
            if self.on_edges
            else paired_rados(self.number, self.radius, table.records, width, seed)
        )

        def parts(mu: float) -> Parts:
            before = [part_at(moments, mu * math.sqrt(share), noise)] if share else []
            return before, part_at(rados, mu * math.sqrt(1.0 - share), noise)

        return parts


Parts: TypeAlias = tuple[list[GaussianQuery[Rows[EdgeVectors]]], GaussianQuery[Rows[Vectors]]]
"""Moments, where they are released, and rados or edges."""


def _plan(moments: list[GaussianQuery[Rows[EdgeVectors]]], rados: GaussianQuery[Rows[Vectors]]) -> Plan:
    before = plan_of(moments).steps if moments else ()
    return Plan((*before, *plan_of([rados]).steps))
