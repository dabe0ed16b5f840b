"""Private bagging: teachers on shares of the records vote on public points, and a student learns their noisy verdicts.

After Jordon, Yoon and van der Schaar (NeurIPS 2019), who divide the records several times over, and PATE. Of the
records only the verdicts are released, a fixed number of them; the student sees nothing else.
"""

import bisect
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import ClassVar, Final, cast

import attrs
import numpy as np
import numpy.typing as npt
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from accountant import (
    ApproxDP,
    BasicComposition,
    BoundedRange,
    Ledger,
    Plan,
    Protected,
    PureDP,
    ReplaceOne,
)
from accountant.arrays import CodeArray, FloatArray, IntArray
from accountant.composition import QUICK
from accountant.costs import count, positive
from boosting import Spender
from learners.base import (
    Check,
    Domain,
    FitBudget,
    FitPlan,
    PrivateClassifier,
    Progress,
    RandomState,
    TablePlan,
    optional,
    public_seed,
    unweighted,
)
from learners.encoding import EncodedSample, Layout
from learners.tables import Classes, Schema, Table, encode
from learners.trees.complete_trees import tree_depth
from mechanisms import ExponentialChoice, PlainSelection, Query, RangeSensitivity
from mechanisms.randomness import NoiseSource

ACCOUNTING: Final = "worst-case"

RECORDS_PER_TEACHER: Final = 50
"""The default: fewer records make a teacher too weak, fewer teachers make noise too strong."""

MOST_QUERIES: Final = 1000
"""The default asks no more, whatever the budget."""


def literals(layout: Layout, codes: CodeArray) -> npt.NDArray[np.float32]:
    """Every Boolean feature of the schema as 0 or 1, shape (n, d). codes: shape (columns, n)."""
    table = np.empty((codes.shape[1], layout.d), dtype=np.float32)
    for feature in range(layout.d):
        column, members = layout.feature(feature)
        table[:, feature] = members[codes[column]]
    return table


@attrs.frozen(eq=False)
class TeachingPlan:
    """Who teaches whom and what they are asked; all of it public.

    points: codes of the queries, shape (columns, queries).  shares: for each partition of the records, the share of
    each by its place in the table, shape (partitions, n).  teachers: shares of a partition.
    depth, seed: of a teacher, which is a decision tree.
    """

    layout: Layout
    points: IntArray
    shares: IntArray
    teachers: int
    depth: int
    seed: int

    @property
    def partitions(self) -> int:
        """How many times the records are divided."""
        return int(self.shares.shape[0])

    @property
    def queries(self) -> int:
        """How many verdicts there will be."""
        return int(self.points.shape[1])

    def votes(self, sample: EncodedSample) -> "VoteCounts":
        """How many of all teachers say +1 at each point."""
        records, points = literals(self.layout, sample.codes), literals(self.layout, self.points)
        total = np.zeros(self.queries, dtype=np.intp)
        for shares in self.shares:
            for teacher in range(self.teachers):
                mine = np.flatnonzero(shares == teacher)
                tree = DecisionTreeClassifier(max_depth=self.depth, random_state=self.seed)
                total += tree.fit(records[mine], sample.labels[mine]).predict(points) > 0
        return VoteCounts(total, self.partitions * self.teachers, sample.n)

    def query(self, number: int) -> Query["VoteCounts", FloatArray, RangeSensitivity]:
        """Votes for either label at one point: range 2 for every partition. [bagging-votes]

        A replaced record stays in its share, so in every partition one teacher learns anew and may change its vote,
        which one label loses and the other gains. That holds for any teacher that sees nothing but its own share.
        """
        return Query(
            "teachers' votes",
            lambda ballot: np.array([float(ballot.voters - ballot.votes[number]), float(ballot.votes[number])]),
            RangeSensitivity(2.0 * self.partitions),
            ReplaceOne(),
            ("bagging-votes",),
            self.check,
        )

    def check(self, ballot: "VoteCounts") -> None:
        """Raise ValueError where the votes are of another school."""
        if (ballot.n, ballot.voters, ballot.votes.size) != (
            self.shares.shape[1],
            self.partitions * self.teachers,
            self.queries,
        ):
            raise ValueError(f"{ballot!r} is not of these teachers")

    def verdict(self, number: int, eta: float, noise: NoiseSource) -> PlainSelection["VoteCounts"]:
        """The label of one point: the second with odds exp(eta·(votes for − votes against)) : 1."""
        return PlainSelection(self.query(number), ExponentialChoice(eta), noise)


@attrs.frozen(eq=False, repr=False)
class VoteCounts:
    """Votes for +1 at every point, shape (queries,), of so many voters. As private as the records."""

    votes: IntArray
    voters: int
    n: int

    def __repr__(self) -> str:
        return f"a ballot of {self.voters} voters on {self.votes.size} points by {self.n} records"


@attrs.frozen(slots=False)
class StudentModel:
    """A logistic regression on Boolean features, fitted to verdicts, and the verdicts.

    weights: of the d features, then the constant; shape (d + 1,).  verdicts: labels −1 and +1 of the public points.
    """

    schema: Schema
    weights: tuple[float, ...] = attrs.field(converter=tuple[float, ...])
    verdicts: tuple[int, ...] = attrs.field(converter=tuple[int, ...])

    def __attrs_post_init__(self) -> None:
        if len(self.weights) != self._layout.d + 1 or not np.all(np.isfinite(self.weights)):
            raise ValueError(f"{len(self.weights)} weights do not fit a schema of {self._layout.d} features")
        if not set(self.verdicts) <= {-1, 1}:
            raise ValueError("verdicts: expected labels −1 and 1")

    @cached_property
    def _layout(self) -> Layout:
        return Layout(self.schema)

    @cached_property
    def tables(self) -> list[FloatArray]:
        """What each code of each column adds to the score."""
        tables = [np.zeros(column.cells) for column in self.schema.columns]
        for feature, weight in enumerate(self.weights[:-1]):
            column, members = self._layout.feature(feature)
            tables[column] += weight * members
        return tables

    def scores(self, codes: CodeArray) -> FloatArray:
        """The student's log-odds of the second class, shape (n,). codes: shape (columns, n)."""
        total = np.full(codes.shape[1], self.weights[-1])
        for table, column in zip(self.tables, codes, strict=True):
            total += table[column]
        return total

    def as_record(self) -> dict[str, object]:
        """For JSON."""
        return {"schema": self.schema.as_dict(), "weights": list(self.weights), "verdicts": list(self.verdicts)}

    @staticmethod
    def from_record(record: Mapping[str, object]) -> "StudentModel":
        """The inverse of `as_record`. Raises ValueError for weights that the schema has no features for."""
        schema = Schema.from_dict(cast("Mapping[str, object]", record["schema"]))
        weights, verdicts = cast("Sequence[float]", record["weights"]), cast("Sequence[int]", record["verdicts"])
        return StudentModel(schema, tuple(map(float, weights)), tuple(map(int, verdicts)))


def student(layout: Layout, points: IntArray, verdicts: Sequence[int], penalty: float) -> StudentModel:
    """What a student learns from verdicts on public points, which costs nothing.

    penalty: of the squared weights, > 0. One label alone teaches a constant: the log-odds of one more point against it.
    """
    labels = np.array(verdicts)
    weights = np.zeros(layout.d + 1)
    if labels.min() == labels.max():
        weights[-1] = labels[0] * np.log1p(labels.size)
    else:
        # In double precision: for five float32 columns OpenBLAS 0.3.31 (AVX-512) raises "invalid" at random, from lanes
        # that it never set; where warnings are errors, a model that is paid for would be lost.
        features = literals(layout, points).astype(np.float64)
        fitted = LogisticRegression(C=1.0 / penalty, max_iter=1000).fit(features, labels)
        weights[:-1], weights[-1] = fitted.coef_[0], fitted.intercept_[0]
    return StudentModel(layout.schema, tuple(weights.tolist()), tuple(labels.tolist()))


def decided(budget: FitBudget, teachers: int) -> int:
    """How many queries the budget decides with odds of e : 1 where a quarter more vote for than against. Public.

    One costs BoundedRange(2kη), and kη·teachers/4 = 1. By formulas that take no time; calibration is exact later.
    """
    width, target, rule = BoundedRange(8.0 / teachers), budget.target, budget.composition

    def fits(queries: int) -> bool:
        plan = Plan.of(width, queries)
        match target:
            case PureDP(epsilon=epsilon):
                return plan.price(0.0).best.epsilon <= epsilon
            case ApproxDP(epsilon=epsilon, delta=delta) if isinstance(rule, BasicComposition):
                return plan.price(delta, routes=QUICK).best.epsilon <= epsilon
            case _:
                return plan.amount(rule).within(rule.ceiling(target))

    return max(10, bisect.bisect_left(range(1, MOST_QUERIES + 1), True, key=lambda queries: not fits(queries)))


def _accounting(value: str) -> str:
    if value == "data-dependent":
        raise ValueError(
            "the personalised moments accountant computes ε from the votes, so telling anybody what was spent would "
            "be one more release of private data, which nobody pays for; use accounting='worst-case'"
        )
    if value != ACCOUNTING:
        raise ValueError(f"expected 'worst-case', got {value!r}")
    return value


class DPBaggingClassifier(PrivateClassifier[StudentModel]):
    """Teachers on shares of the records, noisy majority verdicts on public points, a student. [bagging-votes]

    Guarantee: under replace-one adjacency (n public) everything that `fit` keeps costs at most (epsilon, delta),
    charged to the ledger in one entry before the first verdict. Predictions cost nothing.

    epsilon: what one fit may cost, in nats, > 0.  delta: in [0, 1); 0 asks for pure differential privacy.
    teachers: shares of a partition. None takes one for every 50 records.
    partitions: how many times the records are divided. A record has one teacher in each, and costs as many times more.
    queries: how many public points get a verdict. None takes as many as the budget gives odds of e : 1 where teachers
      are divided 5 : 3, at least 10 and at most 1,000.
    public: these points, a table without labels, of the same columns, of which the first `queries` are asked; nothing
      in it may come from the records. None draws them uniformly from the schema.
    teacher_depth: of their decision trees, at most 16.  penalty: of the student's squared weights, > 0.
    accounting: "worst-case". The paper's data-dependent one is refused, as its ε is private itself.
    seed: of the public draws: shares, points and ties among a teacher's splits. No privacy depends on it.
    schema, classes, ledger, random_state: see `PrivateClassifier`.

    >>> import numpy as np
    >>> from learners.trees.bagging import DPBaggingClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, size=(4000, 5))
    >>> model = DPBaggingClassifier(epsilon=4.0, queries=30, random_state=0).fit(X, X[:, 2])
    >>> float(np.mean(model.predict(X) == X[:, 2])) > 0.9
    True
    """

    _keeps = StudentModel
    _checks: ClassVar[Mapping[str, Check]] = {
        **PrivateClassifier._checks,
        "teachers": optional(count),
        "partitions": count,
        "queries": optional(count),
        "teacher_depth": tree_depth,
        "penalty": positive,
        "accounting": _accounting,
        "seed": public_seed,
    }

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 0.0,
        *,
        teachers: int | None = None,
        partitions: int = 1,
        queries: int | None = None,
        public: Table | None = None,
        teacher_depth: int = 5,
        penalty: float = 1.0,
        accounting: str = ACCOUNTING,
        seed: int = 0,
        schema: Domain = None,
        classes: Classes = None,
        ledger: Ledger | str | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.teachers = teachers
        self.partitions = partitions
        self.queries = queries
        self.public = public
        self.teacher_depth = teacher_depth
        self.penalty = penalty
        self.accounting = accounting
        self.seed = seed
        self.schema = schema
        self.classes = classes
        self.ledger = ledger
        self.random_state = random_state

    def _plan(self, records: EncodedSample, budget: FitBudget, noise: NoiseSource) -> TablePlan[StudentModel]:
        school, penalty = self._school(unweighted(records).layout, records.n, budget), self.penalty

        def plan(eta: float) -> Plan:
            return Plan.of(school.verdict(0, eta, noise).cost, school.queries)

        eta = budget.largest_eta(plan)

        def run(charge: Spender, ballot: Protected[VoteCounts], on_round: Progress) -> StudentModel:
            verdicts: list[int] = []
            for number in range(school.queries):
                verdicts.append(2 * charge.release(school.verdict(number, eta, noise), ballot) - 1)
                on_round(number + 1, verdicts[-1])
            return student(school.layout, school.points, verdicts, penalty)

        announced = school.verdict(0, eta, noise).description
        return FitPlan(plan(eta), ReplaceOne(), announced, run, shown={"eta_": eta}).of(school.votes)

    def _school(self, layout: Layout, n: int, budget: FitBudget) -> TeachingPlan:
        """The public part of a fit: shares by place in the table, points from the schema or the user."""
        teachers = max(1, n // RECORDS_PER_TEACHER) if self.teachers is None else self.teachers
        if teachers > n:
            raise ValueError(f"teachers: {teachers} of them cannot share {n} records")
        generator = np.random.default_rng(self.seed)
        shares = np.stack([generator.permutation(np.arange(n) % teachers) for _ in range(self.partitions)])
        queries = decided(budget, teachers) if self.queries is None else self.queries
        if self.public is None:
            cells = [column.cells for column in layout.schema.columns]
            points = np.stack([generator.integers(0, number, queries) for number in cells])
        else:
            points = encode(self.public, layout.schema)[:, :queries]
        return TeachingPlan(layout, points, shares, teachers, self.teacher_depth, self.seed)

    def predict_proba(self, X: Table) -> FloatArray:
        """The student's probabilities, shape (n, 2)."""
        share = expit(self.decision_function(X))
        return np.column_stack([1.0 - share, share])
