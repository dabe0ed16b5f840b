"""What releases about public groups share: reading records, paying once, and intervals of shares of noisy sums."""

import math
from collections.abc import Callable, Sequence
from typing import Final, TypeVar, cast

import attrs
import numpy as np
from scipy.special import ndtri

from accountant import AddRemoveOne, ApproxDP, Ledger, Plan, ReplaceOne
from accountant.arrays import FloatArray, IntArray
from accountant.costs import open_probability, positive
from learners.base import FitBudget, FitPlan, RandomState
from learners.fairness.group_measures import group_values
from learners.fairness.stored_columns import ColumnLike, Score, StoredColumn, in_memory, stored
from mechanisms import GaussianNoise, PlainMechanism, Query
from mechanisms.core import L2Sensitivity
from mechanisms.queries import SHARE_ONE, Neighbours, shares_rows_query
from mechanisms.randomness import noise_source

D = TypeVar("D")
N = TypeVar("N")
C = TypeVar("C")

CONFIDENCE: Final = 0.95
"""With which all intervals of one release hold together, over its noise; by the union bound, so in truth with more."""

ACCOUNT: Final = "fairness"


# --- reading and paying ----------------------------------------------------------------------------------------


def checked(what: str, check: Callable[[N], C], value: N) -> C:
    """The checked value; what is raised names `what`."""
    try:
        return check(value)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{what}: {error}") from None


def public_names(public_groups: Sequence[object]) -> tuple[object, ...]:
    """The names of at least two groups. Raises ValueError."""
    given = cast("object", public_groups)
    if given is None or isinstance(given, str) or not 2 <= len(set(public_groups)) == len(public_groups):
        raise ValueError(f"public_groups: expected the names of at least two different public groups, got {given!r}")
    return tuple(public_groups)


def group_codes(groups: ColumnLike, n: int, public_groups: Sequence[object]) -> IntArray:
    """The place of each record's group among the public ones, shape (n,). Raises ValueError."""
    public_groups = public_names(public_groups)
    place: dict[object, int] = {name: number for number, name in enumerate(public_groups)}
    values = group_values(in_memory(groups, "groups"), n).tolist()
    for row, value in enumerate(values):
        if value not in place:
            raise ValueError(f"groups: row {row} is {value!r}, none of the public groups {tuple(public_groups)!r}")
    return np.array([place[value] for value in values], dtype=np.intp)


def whole_shares(values: FloatArray, low: float, high: float) -> IntArray:
    """Where values, clipped, lie between two bounds: to the nearest 1/SHARE_ONE, in that unit."""
    return np.rint((np.clip(values, low, high) - low) / (high - low) * SHARE_ONE).astype(np.intp)


@attrs.frozen(eq=False)
class NoisyValues:
    """Noisy values, the deviation of their noise, and whether it was no simulation's."""

    values: FloatArray
    deviation: float
    private: bool


@attrs.frozen
class ReleaseBudget:
    """What one release may cost, refused where its numbers are bad; nothing is charged before `release`."""

    ledger: Ledger
    budget: FitBudget
    adjacency: Neighbours

    @staticmethod
    def of(ledger: Ledger, epsilon: float, delta: float, account: str) -> "ReleaseBudget":
        """Raises TypeError for a ledger of another adjacency than replace-one and add-remove-one."""
        if not isinstance(ledger, Ledger):
            raise TypeError(f"ledger: expected the Ledger that pays, got {type(ledger).__name__}")
        adjacency = ledger.adjacency
        if not isinstance(adjacency, AddRemoveOne | ReplaceOne):
            raise TypeError(f"ledger: expected add-remove-one or replace-one, it promises {adjacency.name}")
        target = ApproxDP(checked("epsilon", positive, epsilon), checked("delta", open_probability, delta))
        return ReleaseBudget(ledger, FitBudget(target, ledger.composition, account), adjacency)

    def release(self, query: Query[D, FloatArray, L2Sensitivity], data: D, random_state: RandomState) -> NoisyValues:
        """The query with the least Gaussian noise that the budget pays for; all of it is charged at once."""

        def plan(eta: float) -> Plan:
            return Plan.of(GaussianNoise(1.0 / eta).cost(query.sensitivity))

        noise = noise_source(random_state, self.ledger)
        query.check(data)
        randomizer = GaussianNoise(1.0 / self.budget.largest_eta(plan))
        released = FitPlan.released(PlainMechanism(query, randomizer, noise))
        values = released.carried_out(self.ledger, self.budget, data)
        return NoisyValues(values, randomizer.sigma, noise.private)


def released_shares(
    payer: ReleaseBudget,
    predictions: StoredColumn,
    labels: ColumnLike,
    groups: ColumnLike,
    scores: Sequence[Score],
    public_groups: Sequence[object],
    random_state: RandomState,
) -> NoisyValues:
    """Noisy `share_sums` of records that stay where they are."""
    others = stored(labels, "labels"), stored(groups, "groups")
    rows = predictions.shares(*others, scores, public_names(public_groups))
    return payer.release(shares_rows_query(payer.adjacency, len(scores)), rows, random_state)


# --- from noisy sums to shares ---------------------------------------------------------------------------------


def quantile(confidence: float, events: int) -> float:
    """By how many deviations none of so many normal variables is off, with that confidence."""
    return float(-ndtri(0.5 * (1.0 - confidence) / events))


def _ratio(part: FloatArray, rest: FloatArray, empty: float) -> FloatArray:
    """part/(part + rest), `empty` where both are 0."""
    whole = part + rest
    shares = np.full(whole.shape, empty)
    np.divide(part, whole, out=shares, where=whole > 0.0)
    return shares


def share_interval(
    part: FloatArray, rest: FloatArray, part_slack: FloatArray | float, rest_slack: FloatArray | float
) -> tuple[FloatArray, FloatArray]:
    """Bounds of part/(part + rest), both off by at most their slack and in truth not negative."""
    parts = [np.maximum(part + sign * part_slack, 0.0) for sign in (-1.0, 1.0)]
    rests = [np.maximum(rest + sign * rest_slack, 0.0) for sign in (-1.0, 1.0)]
    return _ratio(parts[0], rests[1], 0.0), _ratio(parts[1], rests[0], 1.0)


def mean_shares(sums: FloatArray, slack: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Numbers of records, shape (rows,); mean shares, and lower and upper bounds, shape (rows, k).

    sums: noisy `share_sums`, shape (rows, k, 2).  slack: `quantile` times the deviation of one of them, shape (rows,).
    """
    wholes, scores = sums.sum(axis=2), sums.shape[1]
    counts = np.mean(wholes, axis=1)
    # Each pair tells the number of records; once they all tell the mean, the rest of their noise is gone.
    agreed = sums + 0.5 * (counts[:, np.newaxis] - wholes)[:, :, np.newaxis]
    left = slack[:, np.newaxis] * math.sqrt(0.5 * (1.0 + 1.0 / scores))
    low, high = share_interval(agreed[:, :, 0], agreed[:, :, 1], left, left)
    shares = agreed[:, :, 0] / np.maximum(counts, 1.0)[:, np.newaxis]
    return counts, np.clip(shares, low, high), low, high
