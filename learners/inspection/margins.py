"""How sure a model is of labelled records, and how much its rounds knew: the paper's Figure 1.

`margins` and `advantages` look at records that no ledger guards. On training records what they return is a release
that nobody paid for; give them records that were held out, or pay with `private_margin_histogram`.
"""

import math
from functools import singledispatch
from typing import Any, Final, cast

import attrs
import numpy as np
import numpy.typing as npt

from accountant import AddRemoveOne, ApproxDP, Ledger, Plan, PureDP, ReplaceOne
from accountant.arrays import CodeArray, FloatArray, IntArray
from accountant.costs import count, positive
from boosting import LazyBregman, replay
from learners.base import FitBudget, FitPlan, Model, PrivateClassifier, RandomState
from learners.blocks import AnyTable
from learners.encoding import EncodedSample, Layout
from learners.tables import Table, encode, label_values
from learners.trees import ForestModel
from learners.votes import VoteModel
from mechanisms import GaussianNoise, LaplaceNoise, NoiseSource, PlainMechanism, Query
from mechanisms.queries import (
    HistogramRows,
    Neighbours,
    check_histograms,
    counts_l1,
    histogram_query,
    histogram_rows_query,
    histograms,
    histograms_of_rows,
)
from mechanisms.randomness import noise_source

BINS: Final = 40

WIDEST: Final = 8.0
"""Margins of models that add up log-odds are shown up to this, in nats; those beyond count as this."""

Counter = PlainMechanism[Any, FloatArray, Any, FloatArray]


def _labelled(fitted: PrivateClassifier[Any], X: Table, y: npt.ArrayLike) -> tuple[IntArray, IntArray]:
    """Codes, shape (columns, n), and class numbers, shape (n,). Raises ValueError for an undeclared class."""
    codes, values = encode(X, fitted._fitted().schema, reader=type(fitted).__name__), label_values(y)
    if values.shape != (codes.shape[1],):
        raise ValueError(f"X has {codes.shape[1]} records, y has {values.size}")
    numbers = np.full(values.shape, -1, dtype=np.intp)
    for number, name in enumerate(fitted.classes_.tolist()):
        numbers[values == name] = number
    if np.any(numbers < 0):
        row = int(np.argmax(numbers < 0))
        raise ValueError(f"row {row}: {values[row].item()!r} is none of the classes {fitted.classes_.tolist()!r}")
    return codes, numbers


def _margins(model: Model, codes: CodeArray, numbers: IntArray) -> FloatArray:
    scores = model.scores(codes)
    if scores.ndim == 1:
        return np.asarray(np.where(numbers > 0, scores, -scores), dtype=np.float64)
    rows = np.arange(numbers.size)
    others = scores.copy()
    others[rows, numbers] = -np.inf
    return np.asarray(scores[rows, numbers] - others.max(axis=1), dtype=np.float64)


def margins(fitted: PrivateClassifier[Any], X: Table, y: npt.ArrayLike) -> FloatArray:
    """By how much each record is right, shape (n,): the score for its class, less the best other one's.

    Of a vote in [−1, 1], the share of right votes less that of wrong ones; of log-odds in nats.
    On the records given; these must not be the training records unless you pay for it. Not private.
    """
    return _margins(fitted._fitted(), *_labelled(fitted, X, y))


def reach(model: Model) -> float:
    """How far margins are told apart, by what the model is: public."""
    votes = isinstance(model, VoteModel) and model.calibration is None
    return 1.0 if votes or (isinstance(model, ForestModel) and not model.counted) else WIDEST


@attrs.frozen(eq=False)
class MarginHistogram:
    """Records by margin.

    edges: public, shape (bins + 1,); the first and the last bin hold what is beyond them too.
    counts: shape (bins,).  deviation: of the noise on each count, 0 where there is none.
    private: whether it was paid for, and the noise is not a simulation's.
    """

    edges: FloatArray
    counts: FloatArray
    deviation: float = 0.0
    private: bool = False


def _edges(model: Model, bins: int) -> FloatArray:
    widest = reach(model)
    return np.linspace(-widest, widest, count(bins) + 1)


def _bins(margins: FloatArray, edges: FloatArray) -> IntArray:
    """The bin of each margin; a margin of 0 is a wrong answer or a tie, hence below 0."""
    return np.clip(np.searchsorted(edges, margins, side="left") - 1, 0, edges.size - 2)


def margin_histogram(
    fitted: PrivateClassifier[Any], X: Table, y: npt.ArrayLike, *, bins: int = BINS
) -> MarginHistogram:
    """How many of the records given have which margin. Not private: for records that may be looked at.

    fitted: a classifier.  X, y: n records and their labels.  bins: of equal width.
    On training records this is a release that nobody paid for; `private_margin_histogram` pays. See `margins`.
    """
    edges = _edges(fitted._fitted(), bins)
    placed = _bins(margins(fitted, X, y), edges)
    return MarginHistogram(edges, np.bincount(placed, minlength=bins).astype(np.float64))


@attrs.frozen(eq=False)
class BinnedMargins:
    """What is counted: one partition of the records, see `mechanisms.gradients.gradient_sums.Histograms`.

    The bin of a record follows from the record and the released model.
    """

    partitions: list[IntArray]
    number: int

    @staticmethod
    def of(model: Model, codes: CodeArray, numbers: IntArray, edges: FloatArray) -> "BinnedMargins":
        """Of records with codes, shape (columns, n), and class numbers, shape (n,)."""
        return BinnedMargins([_bins(_margins(model, codes, numbers), edges)], edges.size - 1)


@singledispatch
def binned_margins(
    table: Any, fitted: PrivateClassifier[Any], y: object, edges: FloatArray
) -> BinnedMargins | HistogramRows:
    """What `private_margin_histogram` counts, by the type of the table; that of a table in memory here."""
    return BinnedMargins.of(fitted._fitted(), *_labelled(fitted, table, cast("npt.ArrayLike", y)), edges)


def counters(adjacency: Neighbours, eta: float, noise: NoiseSource, *, stored: bool = False) -> list[Counter]:
    """Ways to release the counts at noise 1/eta: Laplace for ℓ1, Gaussian for ℓ2. [histograms], [laplace], [gdp]

    A record that comes or goes changes one count by 1; one that is replaced, two.  stored: of `HistogramRows`.
    """
    if stored:
        rows = Query("margin-histogram", histograms_of_rows, counts_l1(adjacency), adjacency, ("histograms",))
        return [
            PlainMechanism(rows, LaplaceNoise(1.0 / eta), noise),
            PlainMechanism(histogram_rows_query(adjacency, 1), GaussianNoise(1.0 / eta), noise),
        ]
    counted = Query("margin-histogram", histograms, counts_l1(adjacency), adjacency, ("histograms",), check_histograms)
    return [
        PlainMechanism(counted, LaplaceNoise(1.0 / eta), noise),
        PlainMechanism(histogram_query(adjacency, 1), GaussianNoise(1.0 / eta), noise),
    ]


def private_margin_histogram(
    ledger: Ledger,
    fitted: PrivateClassifier[Any],
    X: AnyTable,
    y: npt.ArrayLike | None = None,
    *,
    epsilon: float,
    delta: float = 0.0,
    bins: int = BINS,
    account: str = "margin histogram",
    random_state: RandomState = None,
) -> MarginHistogram:
    """The margins of the training records, paid for: at most (epsilon, delta) from the ledger, under its adjacency.

    fitted: what it was trained on must have been paid for; it counts as public here.  X, y: the training records; or an
    `SqlTable`, in whose database margins are then counted, and the name of its column of labels, None where it knows.
    bins: of equal width.  account: what the charge is called.  random_state: as for learners.
    Noise is Laplace, or Gaussian where delta > 0 makes that the smaller one; counts may come out negative.
    Raises BudgetExceeded where the ledger cannot pay, ValueError for records that are not as the schema says, and
    TypeError for a ledger of another adjacency than replace-one and add-remove-one; all before anything is charged.
    """
    model, adjacency = fitted._fitted(), ledger.adjacency
    if not isinstance(adjacency, AddRemoveOne | ReplaceOne):
        raise TypeError(f"ledger: expected add-remove-one or replace-one, it promises {adjacency.name}")
    edges = _edges(model, bins)
    binned = binned_margins(X, fitted, y, edges)
    target = ApproxDP(positive(epsilon), delta) if delta else PureDP(positive(epsilon))
    budget = FitBudget(target, ledger.composition, account)
    stored = isinstance(binned, HistogramRows)
    mechanism, deviation = _least_noise(budget, adjacency, noise_source(random_state, ledger), stored=stored)
    counts = FitPlan.released(mechanism).carried_out(ledger, budget, binned)
    return MarginHistogram(edges, counts[0], deviation, mechanism.description.private)


def _least_noise(
    budget: FitBudget, adjacency: Neighbours, noise: NoiseSource, *, stored: bool
) -> tuple[Counter, float]:
    """The counter with the smallest standard deviation that the budget pays for, and that deviation."""
    found = []
    for kind, unit in enumerate((math.sqrt(2.0), 1.0)[: 1 + (budget.delta > 0.0)]):

        def plan(eta: float, kind: int = kind) -> Plan:
            return Plan.of(counters(adjacency, eta, noise)[kind].cost)

        eta = budget.largest_eta(plan)
        found.append((counters(adjacency, eta, noise, stored=stored)[kind], unit / eta))
    return min(found, key=lambda each: each[1])


def advantages(
    fitted: PrivateClassifier[Any], X: Table, y: npt.ArrayLike, booster: LazyBregman | None = None
) -> FloatArray:
    """½ less each round's weighted error, shape (rounds,), under the weights that the rounds before put on the records.

    fitted: a `LazyBoostClassifier`, say.  X, y: n records and their labels.
    booster: how records were weighted; None takes the fit's own settings.
    On the records given; these must not be the training records unless you pay for it. Not private.
    Raises TypeError for a model that is no vote of two classes, ValueError where the settings are not known.
    """
    model = fitted._fitted()
    if not isinstance(model, VoteModel):
        raise TypeError(f"advantages are those of the rounds of a vote, not of a {type(model).__name__}")
    codes, numbers = _labelled(fitted, X, y)
    sample = EncodedSample(Layout(model.schema), codes, (2 * numbers - 1).astype(np.int8))
    return replay(sample, model.rules, _booster(fitted) if booster is None else booster).advantages


def _booster(fitted: PrivateClassifier[Any]) -> LazyBregman:
    settings = getattr(fitted, "settings_", None)
    density, rate = (getattr(settings, name, fitted.parameters_.get(name)) for name in ("density", "learning_rate"))
    if not (isinstance(density, float | int) and isinstance(rate, float | int)):
        raise ValueError("booster: the model does not say its density and learning rate; give LazyBregman(...)")
    return LazyBregman(density, rate)
