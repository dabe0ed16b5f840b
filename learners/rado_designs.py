"""How rados are released: what is drawn, what it costs, under which relation, and what that covers.

`NoProtection` promises nothing, and charges nothing. `ExamplesDesign` protects whole records by Gaussian noise, on the
rados or, as published, on the edge vectors. Rados that protect some columns are in `learners.rado_features`.
"""

import math
from collections.abc import Callable
from typing import Protocol, TypeAlias

import attrs
import numpy as np

from accountant import Adjacency, ReplaceOne
from boosting.measures import FloatArray
from learners.allowance import Allowance
from learners.coding import Scaling
from learners.gaussian_parts import LEAST_VARIANCE, MOMENTS_SHARE, Part, bought, noisy_spread, part_at, plan_of
from learners.rado_coding import RadoSample
from mechanisms import (
    EdgeVectors,
    NoiseSource,
    column_moments,
    edge_vectors,
    paired_rados,
    sample_fixed_support_rados,
    sample_rados,
)
from mechanisms.queries import refuse_sizes

Released: TypeAlias = tuple[FloatArray, Scaling]
"""Rados, shape (n, d), and what their features were scaled by."""


class Design(Protocol):
    """A way to release rados."""

    @property
    def adjacency(self) -> Adjacency:
        """The relation of its guarantee."""

    @property
    def scope(self) -> str:
        """What the guarantee covers, in words."""

    def released(self, sample: RadoSample, allowance: Allowance, noise: NoiseSource) -> Released:
        """Charge, then release. Raises ValueError where the allowance does not buy it, before anything is charged."""


def _summed(edges: EdgeVectors, number: int, support: int | None, noise: NoiseSource) -> FloatArray:
    """n random rados, of `support` records each if that is given. No privacy claim."""
    if support is None:
        return sample_rados(edges, number, noise)
    return sample_fixed_support_rados(edges, number, support, noise)


def spread(values: FloatArray) -> Scaling:
    """By the means and deviations that these values have; constant columns keep their scale. values: shape (m, d)."""
    deviations = np.std(values, axis=0)
    return Scaling(np.mean(values, axis=0), np.where(deviations**2 > LEAST_VARIANCE, deviations, 1.0))


@attrs.frozen
class NoProtection:
    """Plain sums of records. number: n.  support: m*, or None for uniform supports.  standardise: by the data."""

    number: int
    support: int | None
    standardise: bool

    @property
    def scope(self) -> str:
        """Nothing."""
        return "nothing: plain sums of records, from which records can be read"

    def drawn(self, sample: RadoSample, noise: NoiseSource) -> Released:
        """Rados that must stay with whoever may see the records."""
        scaling, columns = Scaling.none(sample.coding.features), sample.coding.variable
        if self.standardise:
            scaling = spread(sample.features[:, columns]).within(sample.coding.features, columns)
        return _summed(sample.edges(scaling), self.number, self.support, noise), scaling


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
    def adjacency(self) -> ReplaceOne:
        """One record is replaced."""
        return ReplaceOne()

    @property
    def scope(self) -> str:
        """Everything about a record."""
        return "whole records: all columns and the label"

    def released(self, sample: RadoSample, allowance: Allowance, noise: NoiseSource) -> Released:
        """See `Design`."""
        refuse_sizes(sample.records, sample.coding.features)  # which mechanisms would do after the charge
        columns, scaling = sample.coding.variable, Scaling.none(sample.coding.features)
        parts, data = self._parts(sample, noise), allowance.ledger.protect(sample)
        *moments, rados = parts(bought(allowance, lambda mu: plan_of(parts(mu))))
        with allowance.reserve(plan_of([*moments, rados]), self.adjacency, rados.mechanism.description) as charge:
            for part in moments:
                values = data.map(lambda each: each.columns(columns))
                found = charge.release(part.mechanism, values)
                scaling = noisy_spread(found, sample.records, part.sigma).within(sample.coding.features, columns)
            vectors = charge.release(rados.mechanism, data.map(lambda each: each.edges(scaling)))
        return (_summed(EdgeVectors(vectors), self.number, self.support, noise) if self.on_edges else vectors), scaling

    def _parts(self, sample: RadoSample, noise: NoiseSource) -> Callable[[float], "list[Part[EdgeVectors]]"]:
        """From μ to what is released, in order."""
        share = MOMENTS_SHARE if self.standardise else 0.0
        moments = column_moments(len(sample.coding.variable), sample.records)
        seed = int.from_bytes(np.packbits(noise.bits(32)).tobytes(), "big")  # of supports, which are public
        rados = (
            edge_vectors(self.radius) if self.on_edges else paired_rados(self.number, self.radius, sample.records, seed)
        )

        def parts(mu: float) -> list[Part[EdgeVectors]]:
            each = [(moments, mu * math.sqrt(share)), (rados, mu * math.sqrt(1.0 - share))]
            return [part_at(query, part, noise) for query, part in each if part]

        return parts
