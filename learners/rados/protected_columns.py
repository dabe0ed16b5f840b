"""Rados that protect some columns and nothing else: all else in the table, labels included, is public to the adversary.

As published, rados are drawn over common supports, and show which records they sum; then no ε hides a value of any
column. [000-DP-FEAT] Here sensitive columns are drawn apart from the others, and from each other. What that loses: over
all supports of their own, the exponential loss is a product, so what is learnt for such a column is logistic regression
on this column alone, beside what is learnt for the others together. [000-decoupled]
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import SimpleNamespace
from typing import ClassVar, Final, Protocol, cast

import attrs
import numpy as np

from accountant import (
    Adjacency,
    ApproxDP,
    Description,
    FeatureValue,
    FeatureValues,
    Ledger,
    Plan,
    Protected,
    PureDP,
)
from accountant.arrays import FloatArray
from accountant.costs import feature_adjacency
from boosting import Spender
from learners.base import FitBudget, FitPlan, GaussianQuery, Progress, affordable_mu, noisy_spread, part_at, plan_of
from learners.encoding import Coding, Scaling
from learners.rados.public_sums import plain_rados
from learners.rados.rado_designs import Released, in_one_place
from learners.rados.rado_records import RadoSample, RadoTable
from learners.tables import Numeric
from mechanisms import (
    EdgeVectors,
    EmptyWindow,
    L2Sensitivity,
    Mechanism,
    NoiseSource,
    Query,
    RadoTailTruncation,
    RandomRados,
    exact_moments,
    support_sizes,
)
from mechanisms.core import Block
from mechanisms.rados import STEP, moments_l2, one_hot_text

LEFT_OUT: Final = "left out"
"""The parameter of an entry that says which columns it does not publish."""


@attrs.frozen(eq=False)
class PublicPart:
    """What there is beside the sensitive columns.

    places: of these features.  rados: shape (n, places).  scaling: of them, in order.  labels: Σ yᵢ.
    """

    places: list[int]
    rados: FloatArray
    scaling: Scaling
    labels: float


@attrs.frozen(slots=False)
class PublicColumns(Mechanism[RadoTable, PublicPart]):
    """Rados of all features but those of the relation's columns, over supports of their own. [000-decoupled]

    relation: what it changes is not read, so this costs ε = 0, in pure differential privacy.
    names: of these columns, for the ledger: numbers alone would let the next table mean another one.
    """

    relation: FeatureValue | FeatureValues
    names: tuple[str, ...]
    number: int
    standardise: bool
    noise: NoiseSource
    cost: ClassVar[PureDP] = PureDP(0.0)

    @property
    def adjacency(self) -> Adjacency:
        """The relation, of which this is no part."""
        return self.relation

    @property
    def description(self) -> Description:
        """What the ledger's entry says about it."""
        return Description(
            mechanism=type(self).__name__,
            query="rados of the columns that are not protected, their scaling, and the sum of the labels",
            parameters=(("number", self.number), (LEFT_OUT, self._left_out)),
            norm="none",
            sensitivity=0.0,
            zeta=None,
            noise=self.noise.name,
            private=self.noise.private,
            claims=("000-decoupled",),
        )

    def refuse_other_columns(self, ledger: Ledger) -> None:
        """Raise ValueError where this ledger published all columns but others, of the same number.

        Both together would publish what either protects, and the relation says numbers only.
        """
        ours = self._left_out
        for entry in ledger.entries if ledger.adjacency == self.relation else ():
            for before in _left_out(entry.record):
                if before != ours:
                    raise ValueError(
                        f"sensitive: this ledger protects {before}, and publishes everything else, so it cannot "
                        f"protect {ours}; nothing was charged"
                    )

    @property
    def _left_out(self) -> str:
        return json.dumps(sorted(self.names), ensure_ascii=False)

    def sample(self, data: RadoTable) -> PublicPart:
        """See `PublicPart`. Supports are of a seed that anybody may know: all that they sum is public by the relation,
        and the sensitive columns are drawn apart, never from this seed.
        """
        sensitive = sensitive_features(data.coding, self.relation)
        places = [place for place in range(data.coding.features) if place not in sensitive]
        # The sensitive columns are not even multiplied: nothing of them can be in what is public.
        rados, scaling = np.empty((self.number, 0)), Scaling.none(0)
        if places:
            rados, scaling = plain_rados(data, places, self.number, self.standardise, self.noise)
        return PublicPart(places, rados, scaling, float(data.labels()))


def _left_out(record: Mapping[str, object]) -> Iterator[str]:
    """What an entry says that `PublicColumns` left out, announced or released."""
    used = record.get("used")
    each = [record, *used] if isinstance(used, list) else [record]
    for mechanism in (part.get("mechanism") for part in each if isinstance(part, dict)):
        if isinstance(mechanism, dict) and mechanism.get("mechanism") == PublicColumns.__name__:
            yield str(mechanism["parameters"].get(LEFT_OUT))


def sensitive_features(coding: Coding, relation: FeatureValue | FeatureValues) -> tuple[int, ...]:
    """The features that change where the relation's columns do. Raises ValueError for columns that are not there."""
    columns = (relation.column,) if isinstance(relation, FeatureValue) else relation.columns
    if columns[-1] >= len(coding.names):
        raise ValueError(f"the relation is about columns {columns}, the table has {len(coding.names)}")
    return tuple(feature for column in columns for feature in coding.groups[column])


class SensitiveColumns(Protocol):
    """Where the sensitive columns of rados come from."""

    @property
    def mechanism(self) -> RandomRados | RadoTailTruncation | Mechanism[RadoTable, FloatArray]:
        """What is paid for."""

    @property
    def number(self) -> int | None:
        """Of rados, where it decides that."""

    def release(self, charge: Spender, data: Protected[RadoTable]) -> FloatArray:
        """Take the one round of the charge."""

    def rados(self, found: FloatArray, public: PublicPart, number: int) -> tuple[FloatArray, Scaling]:
        """The columns, shape (number, sensitive features), and what they were scaled by."""


@attrs.frozen
class FeatureDesign:
    """See the module. number: n.  columns, names: of the table, that are sensitive.

    own_supports: for one column of two values, whose rados over supports of its own are released as they are; else they
      are drawn from noisy sums.  truncation: with own supports, the ε at which DP-FEAT truncates. [000-DP-FEAT]
    standardise: the public columns, by their own moments. Those from noisy sums always are, by theirs.
    fewer: whether fewer rados will do, where over own supports n cost too much.
    """

    number: int
    columns: tuple[int, ...]
    names: tuple[str, ...]
    own_supports: bool
    truncation: float | None
    standardise: bool
    fewer: bool = False

    @property
    def adjacency(self) -> FeatureValue | FeatureValues:
        """The entries of one record in these columns."""
        return feature_adjacency(self.columns)

    @property
    def scope(self) -> str:
        """These columns."""
        listed = " and ".join(f"{name} (number {place})" for place, name in zip(self.columns, self.names, strict=True))
        return f"of a record its {listed} only; all other columns and the labels are not protected"

    def plan(self, table: RadoTable, budget: FitBudget, noise: NoiseSource) -> FitPlan[RadoTable, Released]:
        """See `learners.rados.rado_designs.RadoDesign`. Two entries: what is paid for, and what is not protected."""
        source = (self._own_supports if self.own_supports else self._noisy_sums)(table, budget, noise)
        number, coding = source.number or self.number, table.coding
        unprotected = PublicColumns(self.adjacency, self.names, number, self.standardise, noise)

        def run(charge: Spender, data: Protected[RadoTable], on_round: Progress) -> Released:
            found, public = source.release(charge, data), charge.release(unprotected, data)
            values, own = source.rados(found, public, number)
            places = [*public.places, *sensitive_features(coding, self.adjacency)]
            rados, scaling = np.empty((number, coding.features)), Scaling.none(coding.features)
            rados[:, places] = np.hstack([public.rados, values])
            scaling.centre[places] = np.append(public.scaling.centre, own.centre)
            scaling.scale[places] = np.append(public.scaling.scale, own.scale)
            return rados, scaling

        paid = source.mechanism
        plan = FitPlan(Plan.of(paid.cost), self.adjacency, paid.description, run)

        @contextmanager
        def both(ledger: Ledger, budget: FitBudget) -> Iterator[Spender]:
            unprotected.refuse_other_columns(ledger)
            nothing = attrs.evolve(budget, target=unprotected.cost)
            beside = FitPlan.released(unprotected)
            with plan.reserved(ledger, budget) as charge, beside.reserved(ledger, nothing) as free:
                try:
                    unprotected.refuse_other_columns(ledger)  # again: by now whoever came at the same time sees this
                except ValueError:
                    charge.give_back()
                    free.give_back()
                    raise

                def release(mechanism: Mechanism[RadoTable, object], data: Protected[RadoTable]) -> object:
                    return (free if mechanism is unprotected else charge).release(mechanism, data)

                yield cast("Spender", SimpleNamespace(release=release))

        return attrs.evolve(plan, charge=both)

    def _noisy_sums(self, table: RadoTable, budget: FitBudget, noise: NoiseSource) -> SensitiveColumns:
        query = class_moments(table.coding, table.records, self.adjacency)

        def at(mu: float) -> NoisySums:
            return NoisySums(part_at(query, mu, noise), table.records)

        return at(affordable_mu(budget, lambda mu: plan_of([at(mu).part])))

    def _own_supports(self, table: RadoTable, budget: FitBudget, noise: NoiseSource) -> SensitiveColumns:
        in_one_place(table)
        # By the schema: whether the values happen to be two says something about each of them.
        schema = table.coding.schema
        columns = [schema.columns[number] for number in self.columns] if schema is not None else []
        if len(columns) != 1 or isinstance(columns[0], Numeric) or columns[0].cells != 2:
            raise ValueError(
                "route: 'own-supports' is for one sensitive column that has two values by its schema, as published; "
                "over common supports several columns, or a real one, are private at no epsilon. Use route='sums'"
            )
        if not isinstance(target := budget.target, ApproxDP):
            raise ValueError("delta: rados need delta > 0; 1e-6 is usual")
        feature, records, delta = self.columns[0], table.records, target.delta

        def at(number: int) -> OwnSupports:
            if self.truncation is None:
                return OwnSupports(RandomRados(number, feature, records, delta, noise))
            made = RadoTailTruncation.at_epsilon(
                self.truncation, number=number, feature=feature, records=records, delta=delta, noise=noise
            )
            return OwnSupports(made)

        return self._affordable(at, target, records)

    def _affordable(self, at: "Callable[[int], OwnSupports]", target: ApproxDP, records: int) -> "OwnSupports":
        """Raises ValueError, which says how many are."""
        try:
            if (source := at(self.number)).mechanism.cost <= target:
                return source
            said = f"cost epsilon = {source.mechanism.cost.epsilon:.6g} at delta = {target.delta:g}"
        except EmptyWindow:
            raise
        except ValueError as error:
            said = f"cannot be had: {error}"
        fewer = most_rados(lambda number: at(number).mechanism.cost <= target, self.number)
        if self.fewer and fewer:
            return at(fewer)
        raise ValueError(
            f"number: {self.number} rados of {records} records {said}, more than {target.epsilon:g}; "
            + (f"at most {fewer} do not" if fewer else "even one does")
            + ". Or use route='sums', which has any number"
        )


def class_moments(
    coding: Coding, records: int, relation: FeatureValue | FeatureValues
) -> Query[RadoTable, FloatArray, L2Sensitivity]:
    """Of the k features of the relation's columns, within [−1, 1]: Σz of each label, −1 first, and Σz² of both.

    Evaluates to shape (3, k). Sensitivity: √(4·columns + 4·those of several categories) in ℓ2, where labels are public
    and all of one record's columns change: each moves the sum of one label, and the squares with it, as in
    `mechanisms.column_moments`; of a column's categories two do. [000-moments]
    """
    features = sensitive_features(coding, relation)
    groups = tuple(tuple(map(features.index, group)) for group in coding.one_hot if group[0] in features)

    def summed(block: Block[RadoSample]) -> FloatArray:
        total, sample = np.zeros((3, len(features))), block.data
        for start in range(0, sample.records, STEP):
            rows = slice(start, start + STEP)
            values, positive = sample.features[rows][:, features], sample.labels[rows] > 0
            first, second = (exact_moments(values[each], records, groups) for each in (~positive, positive))
            total += [first[0], second[0], first[1] + second[1]]
        return total

    def check(table: RadoTable) -> None:
        if (table.records, table.coding) != (records, coding):
            raise ValueError(f"this was built for {records} records of {coding.names}, and for no other table")

    names = [coding.feature_names[feature] for feature in features]
    return Query(
        f"sums by label, and sums of squares, of {', '.join(names)} within [-1, 1]{one_hot_text(groups)}",
        lambda table: table.rows.total(summed),
        L2Sensitivity(moments_l2(len(features), groups)),
        relation,
        ("000-moments", "000-decoupled"),
        check,
    )


@attrs.frozen
class NoisySums:
    """Sensitive columns drawn from noisy sums: ½·Σ yᵢzᵢ + Bin(m, 1/2) − m/2, z standardised. [000-decoupled]

    For a column of two values and no noise that is the distribution of a random rado; and any number of rados cost what
    the sums cost. n rados that are released as they are cost as much as sums with σ = √(m/n), and their mean errs as
    one with σ/√2 would: the other half pays for the mean of the column, by which it is standardised.
    """

    number: ClassVar[None] = None

    part: GaussianQuery[RadoTable]
    records: int

    @property
    def mechanism(self) -> Mechanism[RadoTable, FloatArray]:
        """See `SensitiveColumns`."""
        return self.part.mechanism

    def release(self, charge: Spender, data: Protected[RadoTable]) -> FloatArray:
        """See `SensitiveColumns`."""
        return charge.release(self.mechanism, data)

    def rados(self, found: FloatArray, public: PublicPart, number: int) -> tuple[FloatArray, Scaling]:
        """See `SensitiveColumns`."""
        negative, positive, squares = found
        # The noise of a sum of two is √2 times as large.
        own = noisy_spread(np.stack([negative + positive, squares]), self.records, math.sqrt(2.0) * self.part.sigma)
        means = 0.5 * (positive - negative - own.centre * public.labels) / own.scale
        sizes = support_sizes(number * means.size, self.records, self.part.noise).reshape(number, means.size)
        return means + sizes - 0.5 * self.records, own


@attrs.frozen
class OwnSupports:
    """One sensitive column of two values, released as n rados of it over supports of its own. [000-rado-column]"""

    mechanism: RandomRados | RadoTailTruncation

    @property
    def number(self) -> int:
        """See `SensitiveColumns`."""
        return self.mechanism.number

    def release(self, charge: Spender, data: Protected[RadoTable]) -> FloatArray:
        """See `SensitiveColumns`."""
        return charge.release(self.mechanism, data.map(_plain_edges))

    def rados(self, found: FloatArray, public: PublicPart, number: int) -> tuple[FloatArray, Scaling]:
        """See `SensitiveColumns`."""
        return found[:, None], Scaling.none(1)


def _plain_edges(table: RadoTable) -> EdgeVectors:
    return in_one_place(table).edges(Scaling.none(table.coding.features)).all()


def most_rados(fits: Callable[[int], bool], above: int) -> int:
    """The largest number below `above` that fits, 0 for none; what fits, fits with fewer."""
    below = 0
    while above - below > 1:
        middle = (below + above) // 2
        try:
            below, above = (middle, above) if fits(middle) else (below, middle)
        except ValueError:  # no ε at all
            above = middle
    return below
