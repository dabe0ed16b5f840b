"""Rados as a data holder releases them, to a file or to a learner that never sees a record."""

import abc
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import ClassVar, Final, Literal, Protocol, Self, TypeAlias, TypeVar, cast

import attrs
import numpy as np

from accountant import FeatureValue, Ledger, ReplaceOne
from accountant.arrays import FloatArray
from accountant.audit import unprotected
from accountant.costs import count, positive
from learners.base import (
    Check,
    Dataset,
    Domain,
    FitBudget,
    FitPlan,
    FitResult,
    NamedColumns,
    PrivateEstimator,
    Progress,
    RandomState,
    domain_schema,
    one_of,
    optional,
)
from learners.blocks import AnyTable, Source
from learners.encoding import Coding, Scaling
from learners.rados.protected_columns import FeatureDesign
from learners.rados.rado_designs import ExamplesDesign, NoProtection, RadoDesign
from learners.rados.rado_records import RadoTable, check_blocks, coded_rows
from learners.tables import Classes, refuse_no_records, table_names
from mechanisms import NoiseSource
from mechanisms.queries import public_radius, refuse_sizes
from mechanisms.rados import rados_count
from mechanisms.randomness import noise_source

Protection: TypeAlias = Literal["examples", "feature"] | None
Route: TypeAlias = Literal["rados", "edges", "sums", "own-supports"] | None
"""How, of each protection the first by default: noise on rados or on edge vectors; on the sums of sensitive columns, or
supports of their own and nothing else."""

ROUTES: Final[Mapping[str | None, tuple[str, ...]]] = {
    None: (),
    "examples": ("rados", "edges"),
    "feature": ("sums", "own-supports"),
}
MOST: Final = 1000
"""Rados that are released unless a number is asked for, and not more than half of the records. 000, section 4."""


@attrs.frozen(eq=False)
class Rados:
    """n rados of m records, with all that a learner needs to know. Everything in it is released or public.

    vectors: shape (n, d).  records: m.  coding: of tables.  scaling: of its features, before they were summed.
    protection, scope: what is protected, and what that covers, in words.
    """

    vectors: FloatArray = attrs.field(repr=False)
    records: int
    coding: Coding
    scaling: Scaling = attrs.field(repr=False)
    protection: Protection
    scope: str

    def __attrs_post_init__(self) -> None:
        width = self.coding.features
        if self.vectors.ndim != 2 or not len(self.vectors) or self.vectors.shape[1] != width:
            raise ValueError(f"expected rados of {width} features, got shape {self.vectors.shape}")
        if not np.all(np.isfinite(self.vectors)) or self.scaling.centre.size != width:
            raise ValueError("expected finite rados, and a centre and a scale for each feature")

    @property
    def schema(self) -> object:
        """The public domain, None where columns were taken as they are."""
        return self.coding.schema

    def as_record(self) -> dict[str, object]:
        """For JSON."""
        return {
            "vectors": self.vectors.tolist(),
            "records": self.records,
            "coding": self.coding.as_record(),
            "centre": self.scaling.centre.tolist(),
            "scale": self.scaling.scale.tolist(),
            "protection": self.protection,
            "scope": self.scope,
        }

    @staticmethod
    def from_record(record: Mapping[str, object]) -> "Rados":
        """The inverse. Raises ValueError, KeyError or TypeError for anything else."""
        centre, scale = cast("Sequence[float]", record["centre"]), cast("Sequence[float]", record["scale"])
        return Rados(
            np.array(record["vectors"], dtype=np.float64),
            count(cast("int", record["records"])),
            Coding.from_record(cast("Mapping[str, object]", record["coding"])),
            Scaling(centre, scale),
            protection_name(cast("Protection", record["protection"])),
            str(record["scope"]),
        )


def protection_name(value: Protection) -> Protection:
    """One of None, "examples" and "feature". Raises ValueError."""
    if value is not None and value not in ROUTES:
        raise ValueError(f"expected one of None, 'examples' and 'feature', got {value!r}")
    return value


def _listed(value: Sequence[int | str] | int | str) -> list[int | str]:
    given = [value] if isinstance(value, Integral | str) else list(cast("Sequence[int | str]", value))
    for each in given:
        if isinstance(each, bool) or not isinstance(each, Integral | str):
            raise TypeError(f"expected names or whole numbers of columns, got {each!r}")
    return [each if isinstance(each, str) else int(each) for each in given]  # numpy's numbers are none of Python's


class RadoCode(FitResult, Protocol):
    """What is kept of rados."""

    @property
    def coding(self) -> Coding:
        """Of tables."""

    @property
    def protection(self) -> Protection:
        """What they hide."""


K = TypeVar("K", bound=RadoCode)


class RadoHolder(NamedColumns, PrivateEstimator[RadoTable, K]):
    """What whoever holds the records decides: see `RadoRelease`, whose parameters these are."""

    takes_blocks = True
    _checks: ClassVar[Mapping[str, Check]] = {
        **PrivateEstimator._checks,
        "protection": protection_name,
        "number": optional(rados_count),
        "sensitive": _listed,
        "route": optional(one_of("rados", "edges", "sums", "own-supports")),
        "truncation": optional(positive),
        "support": optional(count),
        "radius": optional(public_radius),
        "standardise": bool,
        "fit_intercept": bool,
    }

    def __init__(
        self,
        protection: Protection = "examples",
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        number: int | None = None,
        sensitive: Sequence[int | str] | int | str = (),
        route: Route = None,
        truncation: float | None = None,
        support: int | None = None,
        radius: float | None = None,
        standardise: bool = True,
        fit_intercept: bool = True,
        schema: Domain = None,
        classes: Classes = None,
        ledger: Ledger | str | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.protection = protection
        self.epsilon = epsilon
        self.delta = delta
        self.number = number
        self.sensitive = sensitive
        self.route = route
        self.truncation = truncation
        self.support = support
        self.radius = radius
        self.standardise = standardise
        self.fit_intercept = fit_intercept
        self.schema = schema
        self.classes = classes
        self.ledger = ledger
        self.random_state = random_state

    def fit(self, X: AnyTable, y: object = None, *, on_round: Progress | None = None) -> Self:
        """Release rados at a cost of at most (epsilon, delta), charged before, and learn from them alone.

        X: m records, a DataFrame, a mapping of columns or an array; or a table in blocks, with the same rados, bit by
          bit, for the same seed. [exact-rows]  y: labels, shape (m,), or what the table in blocks takes for them.
        on_round: never called: all is released at once, and what is learnt from it is no release.
        Raises ValueError or TypeError for bad input and BudgetExceeded when the ledger cannot pay, all before
        anything is charged.
        """
        return self._fit(lambda: self._dataset(Source.of(X, y)), None)

    def encoded(self, X: AnyTable, y: object) -> RadoTable:
        """The records that `fit(X, y)` would build rados from, checked; as private as the table. Raises as `fit`."""
        self._parameters()
        return self._dataset(Source.of(X, y)).records

    def _dataset(self, source: Source) -> Dataset[RadoTable]:
        if source.labels is None and self.classes == "observed":
            raise ValueError("classes: 'observed' looks at all labels; of a table in blocks name the classes, in order")
        refuse_no_records(source.rows.n)
        if self.protection is not None:
            refuse_sizes(1, len(table_names(source.header)))  # before coding them, which takes long
        anything = self.protection is None and self.schema is None
        schema = None if anything else domain_schema(self.schema, source.header)
        coding = Coding.of(schema, source.header, bool(self.fit_intercept))
        classes = self._public_classes(schema, source.labels)
        table = coded_rows(source.rows, coding, classes, source.names, type(self).__name__)
        return Dataset(check_blocks(table), classes, table.names)

    @classmethod
    def _from_record(cls, record: Mapping[str, object]) -> Self:
        found = super()._from_record(record)
        relation = {"examples": ReplaceOne.name, "feature": FeatureValue.name, None: "none"}[found.protection]
        if found.protection != found.model_.protection or not found.statement_.adjacency.startswith(relation):
            raise ValueError("what the file says of its protection contradicts itself")
        return found

    def fit_encoded(self, table: RadoTable) -> Self:
        """`fit` on records that `encoded` gave, with the same parameters. Raises ValueError, see `check_blocks`."""
        return self._fit(lambda: Dataset(check_blocks(table), table.classes), None)

    def _fit(self, dataset: Callable[[], Dataset[RadoTable]], on_round: Progress | None) -> Self:
        if self.protection is not None:
            return super()._fit(dataset, on_round)
        parameters, data = self._parameters(), dataset()
        design = self._designed(data.records)
        assert isinstance(design, NoProtection)
        if self.ledger is not None:
            raise ValueError(
                "ledger: protection=None protects nothing, so there is nothing that a ledger could pay for"
            )
        table = data.records
        vectors, scaling = design.drawn(table, noise_source(self.random_state, None))
        rados = Rados(vectors, table.records, table.coding, scaling, self.protection, design.scope)
        self._remember(self._learnt(rados, table), data.classes, data.names)
        self.parameters_, self.receipts_ = parameters, ()
        self.statement_ = unprotected(design.scope)
        return self

    def _plan(self, records: RadoTable, budget: FitBudget, noise: NoiseSource) -> FitPlan[RadoTable, K]:
        design = self._designed(records)
        assert not isinstance(design, NoProtection)  # which needs no budget
        n, coding, scope = records.records, records.coding, design.scope
        plan = design.plan(records, budget, noise)
        return plan.then(lambda found: self._learnt(Rados(found[0], n, coding, found[1], self.protection, scope), None))

    @abc.abstractmethod
    def _learnt(self, rados: Rados, table: RadoTable | None) -> K:
        """What is kept of them. table: only where nothing is protected."""

    def _designed(self, table: RadoTable) -> NoProtection | RadoDesign:
        """Raises ValueError for parameters that do not go together, or not with records in blocks."""
        route = self._route()
        self._refuse_blocks(table, route)
        number, standardise = self._number(table.records, route), bool(self.standardise)
        columns = table.coding.columns(_listed(self.sensitive), table.named)
        if bool(columns) != (self.protection == "feature"):
            raise ValueError("sensitive: the columns that protection='feature' is for; give both, or neither")
        if self.truncation is not None and route != "own-supports":
            raise ValueError("truncation: only for route='own-supports', where it costs more than it gives")
        if self.support is not None:
            if not (self.protection is None or route == "edges"):
                raise ValueError("support: only where nothing is protected, or with route='edges'")
            if self.support > table.records:
                raise ValueError(f"support: {self.support} records are more than the {table.records} there are")
        if self.radius is not None and self.protection != "examples":
            raise ValueError("radius: only for protection='examples'")
        if self.protection is None:
            return NoProtection(number, self.support, standardise)
        if self.protection == "feature":
            names = tuple(table.coding.names[column] for column in columns)
            own = route == "own-supports"
            return FeatureDesign(number, columns, names, own, self.truncation, standardise, self.number is None)
        radius = table.coding.features**0.5 if self.radius is None else float(self.radius)
        return ExamplesDesign(number, radius, route == "edges", self.support, standardise)

    def _refuse_blocks(self, table: RadoTable, route: str | None) -> None:
        """Raise ValueError where all records must be in one place, and are not."""
        if table.sample() is not None:
            return
        where = "and these records are in blocks; nothing was charged"
        if route == "edges":
            raise ValueError(f"route: 'edges' draws noise for each record, {where}. Use route='rados'")
        if route == "own-supports":
            raise ValueError(
                f"route: 'own-supports' draws in secret which records are summed, {where}. Use route='sums'"
            )
        if self.support is not None:
            raise ValueError(f"support: of some size it is drawn for all records at once, {where}. Leave it out")

    def _route(self) -> str | None:
        routes = ROUTES[self.protection]
        if self.route is None:
            return routes[0] if routes else None
        if self.route not in routes:
            others = f"; try {' or '.join(map(repr, routes))}" if routes else ", which has none"
            raise ValueError(f"route: {self.route!r} does not go with protection={self.protection!r}{others}")
        return self.route

    def _number(self, records: int, route: str | None) -> int:
        if self.number is None:
            return max(2, 2 * (min(MOST, records // 2) // 2))
        if route == "rados" and self.number % 2:
            raise ValueError(f"number: with noise on rados they come in pairs, so an even number, not {self.number}")
        return int(self.number)

    @staticmethod
    def _inputs(model: K) -> int:
        return len(model.coding.names)


class RadoRelease(RadoHolder[Rados]):
    """Rados of a table, released once and paid for; whoever gets them learns from them without seeing a record.

    Guarantee: by `protection`, for what `rados_.scope` says, everything that `fit` keeps costs at most
    (epsilon, delta), charged to the ledger before it is released. `save` writes a file with the statement inside,
    which `RadoBoostClassifier.fit_rados` and `exchequer rados fit` learn from.

    protection: "examples" hides whole records (replace-one adjacency, n public). "feature" hides the `sensitive`
      columns of one record and nothing else; all other columns and the labels count as known (feature-value adjacency).
      None hides nothing: then epsilon and delta mean nothing, and no ledger is taken.
    epsilon: what one release may cost, in nats, > 0.  delta: in (0, 1), far below 1/m.
    number: n, of rados; even with noise on rados. None takes 1000, or half of the records where these are fewer; with
      "own-supports" as many of them as epsilon pays for.
    sensitive: names of the columns that protection="feature" is for; numbers, from 0, where the table has no names.
    route: with "examples", Gaussian noise on the "rados" (default; they come in complementary pairs) or, as published,
      on the "edges" that they are summed of, which takes minutes from a million numbers on, as secure noise is drawn
      for each. [000-noised-rados] [000-edges]  With "feature", sensitive columns from
      their noisy "sums" (default), or the one sensitive column of two values from "own-supports", as published but for
      these; then the number of rados, of all columns, decides what it costs. [000-decoupled] [000-rado-column]
      "edges" and "own-supports" take all records in one place, and refuse a table in blocks.
    truncation: the ε of DP-FEAT, 000, Algorithm 2, with "own-supports". It costs more, and gains nothing. [000-DP-FEAT]
    support: m*, records in each rado, where nothing is protected or noise is on the edges, of a table in one place.
      None takes any.
    radius: *public* R: with "examples" records longer than R are shortened to that, after scaling. None takes √d, about
      the root mean square of their length once they are standardised, and all of it where they are not.
    standardise: centre and scale columns by their means and deviations: of the data where these are not protected,
      of noisy moments that a tenth of the budget pays for with "examples". Else by the schema's bounds alone.
    fit_intercept: a further feature that is 1 for all records.
    schema: a `Schema`, or the path of a schema file; `Bounds(lower, upper)` takes columns of numbers within these
      public bounds; None takes columns of zeros and ones or, with protection None, of any numbers.
    classes, ledger, random_state: as for the other estimators.

    Fitted: `rados_`, a `Rados`; `statement_`; `receipts_`.
    """

    _keeps = Rados

    def __sklearn_tags__(self) -> object:
        """Of two classes, like the classifier that learns from them."""
        from sklearn.utils import ClassifierTags  # since 1.6, which is when tags are asked for

        tags = super().__sklearn_tags__()
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags

    def _learnt(self, rados: Rados, table: RadoTable | None) -> Rados:
        return rados

    @property
    def rados_(self) -> Rados:
        """What was released. Raises NotFittedError before a fit."""
        return self._fitted()
