"""Fairness of a released model on the records it was trained on, paid for, with intervals that say what noise may do.

What is examined must be a function of a record and of what is public or released: predictions of a model whose
training was charged are, those of a model that was not are not. Each function makes one release of Gaussian noise.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Final, TypeVar, cast

import attrs
import numpy as np
import numpy.typing as npt
from scipy.special import ndtri
from sklearn.isotonic import isotonic_regression

from accountant import AddRemoveOne, ApproxDP, Ledger, Plan, ReplaceOne
from accountant._numbers import count, open_probability, positive
from boosting.measures import FloatArray
from learners.allowance import Allowance
from learners.fairness import PAPER_GRID, Error, group_values, numbers, same_length
from learners.paying import RandomState
from learners.schema import IntArray
from mechanisms import GaussianKernel, PlainMechanism, Query
from mechanisms.group_queries import (
    MOST_CELLS,
    SHARE_ONE,
    GroupedCells,
    GroupedShares,
    prefix_counts,
    prefix_decoder,
    prefixes_query,
    shares_query,
)
from mechanisms.histograms import Neighbours
from mechanisms.noise import noise_source
from mechanisms.sensitivity import L2Sensitivity

D = TypeVar("D")
N = TypeVar("N", int, float)

CONFIDENCE: Final = 0.95
"""With which all intervals of one release hold together, over its noise; by the union bound, so in truth with more."""

ACCOUNT: Final = "fairness"

FARTHEST: Final = 1e150
"""Errors beyond are squared as this, so that losses and their differences are finite."""


@attrs.frozen(eq=False)
class PrivateParity:
    """Statistical parity of clipped predictions, as far as the noise lets it be known.

    estimate: on the grid, and just below its last point; the maximum of noisy differences, so too large on average,
      most where parity is perfect. Read low and high before it.
    low, high: hold the exact distance Δ_SP of these records (not of a population) with `confidence` over the noise,
      whatever lies between grid points. (0, 1) says nothing.
    groups: their names.  counts: noisy numbers of records, shape (groups,).
    points: public, shape (grid,).  shares: noisy P(prediction <= point | group), for the last point P(prediction <
      point | group) and then 1; shape (groups, grid + 1).
    deviation: σ of the noise that was released.  private: whether the noise is not a simulation's.
    """

    estimate: float
    low: float
    high: float
    groups: tuple[object, ...]
    counts: FloatArray
    points: FloatArray
    shares: FloatArray
    deviation: float
    confidence: float
    private: bool


@attrs.frozen
class PrivateGroupRisk:
    """One group's mean clipped loss, and its distance from everybody's; each with an interval.

    group: its name.  n: noisy number of records.  risk, low, high: in the unit of the bound.
    gap: |risk − everybody's|, too large on average where there is none.  gap_low, gap_high: its interval.
    """

    group: object
    n: float
    risk: float
    low: float
    high: float
    gap: float
    gap_low: float
    gap_high: float


@attrs.frozen
class PrivateRisks:
    """Mean clipped losses by group.

    rows: one for each public group.  risk, low, high: of all records together.
    deviation: σ of the noise on each sum, losses in units of the width of their range.
    confidence: with which all intervals hold together, over the noise; for these records, not for a population.
    private: whether the noise is not a simulation's.
    """

    rows: tuple[PrivateGroupRisk, ...]
    risk: float
    low: float
    high: float
    deviation: float
    confidence: float
    private: bool


# --- reading and paying ----------------------------------------------------------------------------------------


def _named(what: str, check: Callable[[N], N], value: N) -> N:
    try:
        return check(value)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{what}: {error}") from None


def _bounds(bounds: tuple[float, float]) -> tuple[float, float]:
    # Without types somebody may leave them out.
    given = cast("object", bounds)
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise ValueError(f"bounds: expected public (lower, upper) of the predictions, got {given!r}")
    low, high = float(given[0]), float(given[1])
    if not (low < high and high - low < math.inf):
        raise ValueError(f"bounds: expected finite lower < upper, and a finite width, got {given!r}")
    return low, high


def _codes(groups: npt.ArrayLike, n: int, public_groups: Sequence[object]) -> IntArray:
    """The place of each record's group among the public ones, shape (n,). Raises ValueError."""
    given = cast("object", public_groups)
    if given is None or isinstance(given, str) or not 2 <= len(set(public_groups)) == len(public_groups):
        raise ValueError(f"public_groups: expected the names of at least two different public groups, got {given!r}")
    place: dict[object, int] = {name: number for number, name in enumerate(public_groups)}
    values = group_values(groups, n).tolist()
    for row, value in enumerate(values):
        if value not in place:
            raise ValueError(f"groups: row {row} is {value!r}, none of the public groups {tuple(public_groups)!r}")
    return np.array([place[value] for value in values], dtype=np.intp)


@attrs.frozen(eq=False)
class _Released:
    """Noisy values, the deviation of their noise, and whether it was no simulation's."""

    values: FloatArray
    deviation: float
    private: bool


@attrs.frozen
class _Payer:
    """The allowance of one release, refused where its numbers are bad; nothing is charged before `release`."""

    allowance: Allowance
    adjacency: Neighbours

    @staticmethod
    def of(ledger: Ledger, epsilon: float, delta: float, account: str) -> "_Payer":
        """Raises TypeError for a ledger of another adjacency than replace-one and add-remove-one."""
        if not isinstance(ledger, Ledger):
            raise TypeError(f"ledger: expected the Ledger that pays, got {type(ledger).__name__}")
        adjacency = ledger.adjacency
        if not isinstance(adjacency, AddRemoveOne | ReplaceOne):
            raise TypeError(f"ledger: expected add-remove-one or replace-one, it promises {adjacency.name}")
        target = ApproxDP(_named("epsilon", positive, epsilon), _named("delta", open_probability, delta))
        return _Payer(Allowance(ledger, target, account), adjacency)

    def release(self, query: Query[D, FloatArray, L2Sensitivity], data: D, random_state: RandomState) -> _Released:
        """The query with the least Gaussian noise that the allowance pays for; all of it is charged at once."""

        def plan(eta: float) -> Plan:
            return Plan.of(GaussianKernel(1.0 / eta).cost(query.sensitivity))

        noise = noise_source(random_state)
        query.check(data)
        kernel = GaussianKernel(1.0 / self.allowance.largest_eta(plan))
        mechanism = PlainMechanism(query, kernel, noise)
        sealed = self.allowance.ledger.protect(data)
        with self.allowance.reserve(Plan.of(mechanism.cost), self.adjacency, mechanism.description) as charge:
            values = charge.release(mechanism, sealed)
        return _Released(values, kernel.sigma, noise.private)


# --- from noisy sums to shares ---------------------------------------------------------------------------------


def _quantile(confidence: float, events: int) -> float:
    """By how many deviations none of so many normal variables is off, with that confidence."""
    return float(-ndtri(0.5 * (1.0 - confidence) / events))


def _ratio(part: FloatArray, rest: FloatArray, empty: float) -> FloatArray:
    """part/(part + rest), `empty` where both are 0."""
    whole = part + rest
    shares = np.full(whole.shape, empty)
    np.divide(part, whole, out=shares, where=whole > 0.0)
    return shares


def _share_interval(
    part: FloatArray, rest: FloatArray, part_slack: FloatArray | float, rest_slack: FloatArray | float
) -> tuple[FloatArray, FloatArray]:
    """Bounds of part/(part + rest), both off by at most their slack and in truth not negative."""
    parts = [np.maximum(part + sign * part_slack, 0.0) for sign in (-1.0, 1.0)]
    rests = [np.maximum(rest + sign * rest_slack, 0.0) for sign in (-1.0, 1.0)]
    return _ratio(parts[0], rests[1], 0.0), _ratio(parts[1], rests[0], 1.0)


# --- statistical parity ----------------------------------------------------------------------------------------


def _deviations(cells: int) -> tuple[FloatArray, FloatArray]:
    """Of the noise on the numbers of records in cells 0 … t and beyond t, in units of σ; shapes (cells,). Public."""
    decoder = prefix_decoder(cells)
    squares = np.cumsum(decoder**2)
    common = np.array([decoder[: t + 1] @ decoder[cells - 1 - t :] for t in range(cells)])
    return np.sqrt(squares), np.sqrt(np.maximum(squares[-1] + squares - 2.0 * common, 0.0))


def _share_bounds(below: FloatArray, deviation: float, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Of shares as in `PrivateParity`, all of them with `confidence`; shapes (groups, grid + 1)."""
    inside, beyond = _deviations(below.shape[1])
    slack = deviation * _quantile(confidence, 2 * below.size)
    low, high = _share_interval(below, below[:, -1:] - below, slack * inside, slack * beyond)
    low[:, -1] = high[:, -1] = 1.0  # clipped predictions are nowhere above the last point
    # Shares do not fall from one point to the next.
    return np.maximum.accumulate(low, axis=1), np.minimum.accumulate(high[:, ::-1], axis=1)[:, ::-1]


def _distance_bounds(low: FloatArray, high: FloatArray) -> tuple[float, float]:
    """Of Δ_SP, from bounds of all shares. [004-grid-parity]

    Between two points one share is at most that at the right one, and another at least that at the left one.
    """
    pairs = list(itertools.permutations(range(len(low)), 2))
    least = max(float(np.max(low[a] - high[b])) for a, b in pairs)
    # Nothing lies between the last two, which are just below the last point and at it.
    before = np.concatenate([low[:, :1], low[:, :-2]], axis=1)
    most = max(float(np.max(high[a, :-1] - before[b])) for a, b in pairs)
    least = max(least, 0.0)
    return least, min(max(most, least), 1.0)


def _monotone_shares(below: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    fitted = np.stack([isotonic_regression(row, y_min=0.0) for row in below])
    return np.asarray(np.clip(fitted / np.maximum(fitted[:, -1:], 1.0), low, high))


def private_statistical_parity(
    predictions: npt.ArrayLike,
    groups: npt.ArrayLike,
    *,
    public_groups: Sequence[object],
    bounds: tuple[float, float],
    epsilon: float,
    delta: float,
    ledger: Ledger,
    grid: int = PAPER_GRID,
    confidence: float = CONFIDENCE,
    account: str = ACCOUNT,
    random_state: RandomState = None,
) -> PrivateParity:
    """Δ_SP of Definition 5 on protected records, paid for: at most (epsilon, delta), under the ledger's relation.

    predictions, groups: shape (n,).  public_groups: all names that may occur, at least two.
    bounds: public (lower, upper); predictions beyond count as these.  grid: public, 2 … 4095 equally spaced points.
    delta: in (0, 1); noise is Gaussian, on sums of weighted prefixes of the counts. At 500 points a number of records
    below a point then has noise variance 18.5 (in units of the ledger's 1/μ²) where summing noisy counts, or noise on
    the sums themselves, has 1000, and the best reading of a binary tree 33.6. [group-prefixes]
    random_state: as for learners.
    Raises BudgetExceeded where the ledger cannot pay; ValueError for a group that is not public, bounds that are
    missing, NaN or unequal lengths; TypeError for a ledger of another adjacency. All before anything is charged.
    """
    payer, sure = _Payer.of(ledger, epsilon, delta, account), _named("confidence", open_probability, confidence)
    low, high = _bounds(bounds)
    if not 2 <= _named("grid", count, grid) < MOST_CELLS:
        raise ValueError(f"grid: expected 2 to {MOST_CELLS - 1} points, got {grid}")
    points = np.linspace(low, high, grid)
    outputs = np.clip(numbers(predictions, "predictions"), low, high)
    names = _codes(groups, outputs.size, public_groups)
    # Predictions at the last point, as of classes or where many were clipped, get a cell of their own.
    cells = np.searchsorted(points, outputs, side="left") + (outputs >= high)
    data = GroupedCells(names, cells, len(public_groups), grid + 1)
    found = payer.release(prefixes_query(payer.adjacency, grid + 1), data, random_state)
    below = prefix_counts(found.values)
    bounded = _share_bounds(below, found.deviation, sure)
    shares = _monotone_shares(below, *bounded)
    least, most = _distance_bounds(*bounded)
    apart = max(float(np.max(np.abs(a - b))) for a, b in itertools.combinations(shares, 2))
    estimate, named = min(max(apart, least), most), tuple(public_groups)
    return PrivateParity(
        estimate, least, most, named, below[:, -1], points, shares, found.deviation, sure, found.private
    )


# --- risks -----------------------------------------------------------------------------------------------------


def _losses(predictions: npt.ArrayLike, labels: FloatArray, loss: Error, what: str) -> FloatArray:
    outputs = numbers(predictions, what)
    same_length(labels.size, what, outputs)
    if loss == "classes":
        return np.asarray(outputs != labels, dtype=np.float64)
    with np.errstate(over="ignore"):  # an error that is too large to square is beyond every bound
        return np.asarray(np.minimum(np.abs(outputs - labels), FARTHEST) ** 2)


def _risks(released: _Released, names: Sequence[object], least: float, width: float, confidence: float) -> PrivateRisks:
    """Post-processing: risks are least + width·share."""
    deviation, groups = released.deviation, len(names)
    sums = np.concatenate([released.values, released.values.sum(axis=0, keepdims=True)])  # everybody last
    slack = deviation * _quantile(confidence, 2 * (groups + 1)) * np.sqrt([*[1.0] * groups, float(groups)])
    low, high = _share_interval(sums[:, 0], sums[:, 1], slack, slack)
    shares = np.clip(sums[:, 0] / np.maximum(sums.sum(axis=1), 1.0), low, high)
    risk, low, high = (least + width * part for part in (shares, low, high))
    gap_low = np.maximum(np.maximum(low[:-1] - high[-1], low[-1] - high[:-1]), 0.0)
    gap_high = np.maximum(high[:-1] - low[-1], high[-1] - low[:-1])
    columns = (sums.sum(axis=1)[:-1], risk[:-1], low[:-1], high[:-1], np.abs(risk[:-1] - risk[-1]), gap_low, gap_high)
    rows = tuple(
        PrivateGroupRisk(name, *map(float, row)) for name, row in zip(names, np.stack(columns, axis=1), strict=True)
    )
    return PrivateRisks(rows, float(risk[-1]), float(low[-1]), float(high[-1]), deviation, confidence, released.private)


def private_group_risks(
    predictions: npt.ArrayLike,
    labels: npt.ArrayLike,
    groups: npt.ArrayLike,
    *,
    public_groups: Sequence[object],
    bound: float,
    epsilon: float,
    delta: float,
    ledger: Ledger,
    loss: Error = "squared",
    reference: npt.ArrayLike | None = None,
    confidence: float = CONFIDENCE,
    account: str = ACCOUNT,
    random_state: RandomState = None,
) -> PrivateRisks:
    """Mean loss by group on protected records and the gaps of Definition 4, paid for: at most (epsilon, delta).

    predictions, labels, groups: shape (n,).  public_groups: all names that may occur, at least two.
    bound: public, > 0; losses beyond count as this, and with a reference those below −bound as that.
    loss: "squared", or "classes" for 1 where they differ.  reference: None for plain risks; for excess risks the
    predictions, shape (n,), of another model that is public or *released*. Those of the non-private optimum would not
    do: every one of them depends on every record, and nothing here would pay for that.
    Sums of losses and numbers of records are released together, at the noise of the sums alone. [group-risks]
    delta, random_state, and what is raised, all before anything is charged: as for `private_statistical_parity`.
    """
    payer, sure = _Payer.of(ledger, epsilon, delta, account), _named("confidence", open_probability, confidence)
    most, known = _named("bound", positive, bound), numbers(labels, "labels")
    if most >= FARTHEST:
        raise ValueError(f"bound: expected less than {FARTHEST}, got {bound!r}")
    if loss not in ("squared", "classes"):
        raise ValueError(f"loss: expected 'squared' or 'classes', got {loss!r}")
    losses, least = _losses(predictions, known, loss, "predictions"), 0.0
    if reference is not None:
        losses, least = losses - _losses(reference, known, loss, "reference"), -most
    names, width = _codes(groups, known.size, public_groups), most - least
    shares = np.rint((np.clip(losses, least, most) - least) / width * SHARE_ONE).astype(np.intp)
    data = GroupedShares(names, shares, len(public_groups))
    found = payer.release(shares_query(payer.adjacency), data, random_state)
    return _risks(found, public_groups, least, width, sure)
