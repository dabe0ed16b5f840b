"""What a cost promises, in sentences that a reader without the theory can check.

Every sentence follows from (ε, δ)-differential privacy alone, and every number in it is rounded towards more loss.
With p and q the probabilities of one event for two neighbours, the promise is p ≤ e^ε q + δ, both ways round.
"""

import math
from collections.abc import Iterator
from typing import Final

import attrs

from accountant.audit.displayed_numbers import rounded_up
from accountant.costs import (
    GDP,
    ZCDP,
    AddRemoveOne,
    Adjacency,
    ApproxDP,
    Budget,
    FeatureValue,
    FeatureValues,
    NoConversion,
    PureDP,
    ReplaceOne,
    Unbounded,
    exact,
    float_up,
    up,
)

READ_AT: Final = 1e-6
"""The δ at which this page reads a promise that has no δ of its own."""

ALARMS: Final = 0.05
"""The share of false alarms at which a test's power is read."""

SEVERAL: Final = (2, 5, 10)
"""How many records of one person the group reading is made for."""

_LARGEST: Final = 700.0
"""e^ε beyond this ε is hardly a float, and no promise."""


@attrs.frozen
class Reading:
    """One way to read a promise: a name, a sentence, and the claim it makes in symbols."""

    name: str
    text: str
    formula: str


def as_approx(cost: Budget, delta: float = READ_AT) -> ApproxDP:
    """The cost as (ε, δ): as it is where it has a δ or is pure, else at `delta`. Raises NoConversion for no bound."""
    match cost:
        case PureDP(epsilon=epsilon):
            return ApproxDP(epsilon, 0.0)
        case ZCDP() | GDP():
            return cost.to_approx(delta=delta)
        case Unbounded():
            raise NoConversion("an unbounded cost promises nothing: there is no (ε, δ) to read")
        case _:
            return cost


def factor(epsilon: float) -> float:
    """e^ε, rounded up; infinite where a float cannot hold it."""
    return up(math.exp(epsilon)) if 0.0 < epsilon <= _LARGEST else (math.inf if epsilon > 0.0 else 1.0)


def power(promise: ApproxDP, alarms: float = ALARMS) -> float:
    """The best share of true alarms of any test that tells two neighbours apart, rounded up.

    min(e^ε a + δ, 1 − e^{−ε}(1 − a − δ)) at a share `alarms` of false alarms, in (0, 1).
    """
    steep = factor(promise.epsilon) * alarms + promise.delta
    flat = 1.0 - math.exp(-promise.epsilon) * (1.0 - alarms - promise.delta)
    return min(1.0, up(steep), up(flat))


def best_guess(promise: ApproxDP) -> float:
    """The best chance to name the right one of two neighbours that were equally likely before, rounded up.

    (e^ε + δ)/(e^ε + 1), which is half of one plus the largest statistical distance.
    """
    less = math.exp(-promise.epsilon)
    return min(1.0, up((1.0 + promise.delta * less) / (1.0 + less)))


def for_group(promise: ApproxDP, records: int) -> ApproxDP | None:
    """What holds for that many records together: kε and δ(e^{kε} − 1)/(e^ε − 1); None where that is no promise."""
    if records == 1:
        return promise
    epsilon = float_up(exact(promise.epsilon) * records)
    if promise.delta == 0.0:
        return ApproxDP(epsilon, 0.0)
    if epsilon > _LARGEST:
        return None
    delta = up(promise.delta * up(sum(math.exp(step * promise.epsilon) for step in range(records))))
    return ApproxDP(epsilon, delta) if delta < 1.0 else None


def percent(share: float) -> str:
    """A share in per cent with two digits, rounded up; what stands for a round number up to 1e-11 reads as that."""
    return f"{math.ceil(share * 1e4 - 1e-7) / 100:.2f} %"


def times(epsilon: float, scale: float = 1.0) -> str:
    """`scale`·e^ε with four digits, rounded up."""
    value = factor(epsilon) * scale
    if not math.isfinite(value):
        return "more than 10^300"
    text = rounded_up(value, 4)
    return f"{float(text):,.0f}" if 1e3 <= value < 1e12 else text


def readings(cost: Budget) -> Iterator[Reading]:
    """What the promise means: for any event, for what is impossible, for odds, for a guess, for a test."""
    promise = as_approx(cost)
    yield _of_events(promise)
    yield _of_the_impossible(promise)
    yield _of_odds(promise)
    chance = percent(best_guess(promise))
    yield Reading(
        "A guess",
        "Somebody who knows everything but which of two neighbouring data sets was used, and who would give both the "
        f"same chance beforehand, is right with probability at most {chance} after having seen everything.",
        f"(e^ε + δ)/(e^ε + 1) ≤ {chance}",
    )
    share = percent(power(promise))
    yield Reading(
        "A test",
        "The best possible test of which of two neighbouring data sets was used, set so that it gives a false alarm in "
        f"{100 * ALARMS:g} % of the cases, detects the change in at most {share} of the cases. Blind guessing, set the "
        f"same way, detects it in {100 * ALARMS:g} %.",
        f"min(e^ε·{ALARMS:g} + δ, 1 − e^−ε·({1 - ALARMS:g} − δ)) ≤ {share}",
    )


def _of_events(promise: ApproxDP) -> Reading:
    much = times(promise.epsilon)
    more = f", and {rounded_up(promise.delta)} on top of that" if promise.delta else ""
    return Reading(
        "Any event",
        "Name any event about everything that was released. Between two neighbouring data sets its probability "
        f"changes by at most the factor {much}{more}. This holds in both directions, whatever else is known to whoever "
        "looks, and whatever is computed from the releases later on.",
        f"p ≤ {much}·q + {rounded_up(promise.delta)}" if promise.delta else f"p ≤ {much}·q",
    )


def _of_the_impossible(promise: ApproxDP) -> Reading:
    if not promise.delta:
        return Reading(
            "Proof",
            "Nothing that was released can prove what any one record is: whatever is possible for one data set is "
            "possible for its neighbours too.",
            "q = 0 ⇒ p = 0",
        )
    delta = rounded_up(promise.delta)
    return Reading(
        "Proof",
        "δ is the allowance for what ε does not cover. An outcome that a neighbouring data set could never give, and "
        f"which would thus prove something about a record, comes with probability at most {delta}: one in "
        f"{_one_in(promise.delta)}.",
        f"q = 0 ⇒ p ≤ {delta}",
    )


def _of_odds(promise: ApproxDP) -> Reading:
    if not promise.delta:
        much = times(promise.epsilon)
        return Reading(
            "Odds",
            "Whatever somebody believes beforehand, the odds of the true data set against any one of its neighbours "
            f"change by at most the factor {much}, up or down.",
            f"odds after ≤ {much}·odds before",
        )
    much, rare = times(promise.epsilon, 2.0), rounded_up(2.0 * promise.delta)
    return Reading(
        "Odds",
        "Whatever somebody believes beforehand, the odds of the true data set against any one of its neighbours rise "
        f"by at most the factor {much}, twice e^ε, except with probability at most {rare}, twice δ.",
        f"P[odds after > 2e^ε·odds before] ≤ {rare}",
    )


def _one_in(delta: float) -> str:
    return f"{math.floor(1.0 / delta * (1.0 + 1e-12)):,}"


@attrs.frozen
class ProtectedUnit:
    """Whom a promise is about: the relation in one sentence, what it hides, what it leaves open."""

    neighbours: str
    hides: str
    leaves: str


def unit(adjacency: Adjacency) -> ProtectedUnit:
    """The unit of privacy in plain words. A record is one row of what was handed to the ledger."""
    match adjacency:
        case ReplaceOne():
            return ProtectedUnit(
                "Two data sets are neighbours if one becomes the other by replacing a single record, one row of the "
                "table that was handed to the ledger, by any other record.",
                "The promise hides what any one record says.",
                "The number of records is taken to be public; it is not hidden.",
            )
        case AddRemoveOne():
            return ProtectedUnit(
                "Two data sets are neighbours if one becomes the other by adding or removing a single record, one row "
                "of the table that was handed to the ledger.",
                "The promise hides whether any one record is there at all, and so what it says.",
                "Replacing a record by another is two such steps: read it as two records below.",
            )
        case FeatureValues(columns=columns):
            return ProtectedUnit(
                "Two data sets are neighbours if they differ in the entries of a single record in the columns "
                f"{', '.join(map(str, columns))}, counted from 0.",
                "The promise hides these entries, all of them together.",
                "Everything else counts as known to whoever looks: all other columns, of this record too. It is not a "
                "promise about a whole record, nor about a person.",
            )
        case FeatureValue(column=column):
            return ProtectedUnit(
                "Two data sets are neighbours if they differ in one entry of one column, number "
                f"{column} counted from 0, of a single record.",
                "The promise hides that one entry.",
                "Everything else counts as known to whoever looks: all other columns, of this record too. It is not a "
                "promise about a whole record, nor about a person.",
            )
