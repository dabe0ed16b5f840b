"""The checks that a test calls: they read what is declared, measure what is true, and raise where that is more.

A third party's test is three lines:

    def test_my_mechanism():
        mechanism = MyMechanism(...)
        check_mechanism(mechanism, neighbours(mechanism.adjacency, records=range(3), n=4))
"""

import time
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TypeVar

import numpy as np

from accountant import Cost, ReplaceOne
from accountant.arrays import FloatArray
from mechanisms import (
    FiniteRandomizer,
    NoiseSource,
    PlainMechanism,
    PlainSelection,
    Query,
    Randomizer,
    SecureNoise,
)
from mechanisms.core.mechanism import FiniteMechanism, Mechanism
from mechanisms.core.randomizers import S
from mechanisms.core.robust import RobustQuery, W
from mechanisms.core.sensitivity import L1Sensitivity, L2Sensitivity, LInfSensitivity, RangeSensitivity, Sensitivity
from proofs_tests.harness.divergence import aligned, measured
from proofs_tests.harness.draws import Draws, many_of
from proofs_tests.harness.enumeration import ScriptedNoise, output_distribution
from proofs_tests.harness.exact import distributions
from proofs_tests.harness.neighbours import Pair
from proofs_tests.harness.power import (
    ALTERNATIVES,
    DRAW_ALTERNATIVES,
    POWER,
    smallest_detectable,
    smallest_detectable_draw,
)
from proofs_tests.harness.report import Method, Report, judged
from proofs_tests.harness.statistical import clopper_pearson, statistical_bound

D = TypeVar("D")
R = TypeVar("R")
H = TypeVar("H", bound=Hashable)

SAMPLES = 20_000
CONFIDENCE = 1.0 - 1e-6


def check_mechanism(
    mechanism: Mechanism[D, R],
    pairs: Iterable[Pair[D]],
    *,
    samples: int = SAMPLES,
    confidence: float = CONFIDENCE,
    failure: float | None = None,
) -> Report:
    """Compare a mechanism's declared cost with what it really loses on neighbouring data sets.

    A `FiniteMechanism` is checked exactly on every pair, by what it states (`check_draws` compares that
    with its draws), and "exact" is about these pairs; any other one is sampled: `samples` draws on each side of
    every pair, and a lower bound that is right with `confidence` over all pairs together. What that would have found is
    in the report, for the alternatives of `proofs_tests.harness.power`.
    failure: the chance of error in place of 1 − confidence, where that is too small for a float beside 1.
    pairs: at least one; `neighbours(mechanism.adjacency, records, n)` gives all of a small domain.
    Raises ClaimViolated with the witness where more is lost than declared.
    """
    given = list(pairs)
    if not given:
        raise ValueError("pairs: expected at least one pair of neighbouring data sets")
    started = time.perf_counter()
    if isinstance(mechanism, FiniteMechanism):
        return judged(_exactly(mechanism, given, started))
    return judged(_by_samples(mechanism, given, samples, failure or 1.0 - confidence, started))


def _no_number_is_worst(found: float) -> float:
    """What is no number on one side tells it from the other."""
    return np.inf if np.isnan(found) else found


def _subject(mechanism: Mechanism[D, R]) -> str:
    described = mechanism.description
    return f"{described.mechanism}({described.query})"


def _exactly(mechanism: FiniteMechanism[D], pairs: list[Pair[D]], started: float) -> Report:
    found = [(*measured(distributions(mechanism, pair), mechanism.cost), pair) for pair in pairs]
    quantity, bound, worst, pair = max(found, key=lambda each: _no_number_is_worst(each[2]))
    seconds = time.perf_counter() - started
    return Report(
        _subject(mechanism), repr(mechanism.cost), quantity, bound, worst, "exact", pair_text(pair), len(pairs), seconds
    )


def _by_samples(
    mechanism: Mechanism[D, R], pairs: list[Pair[D]], samples: int, failure: float, started: float
) -> Report:
    each = failure / len(pairs)
    cost, draws = mechanism.cost, Draws(many_of(mechanism))
    found = [(statistical_bound(draws, pair, cost, samples, each), pair) for pair in pairs]
    worst, pair = max(found, key=lambda looked: looked[0].bound)
    quantity, bound = declared_number(cost)
    factor = smallest_detectable(cost, samples, events=max(looked.events for looked, _ in found), failure=each)
    return Report(
        _subject(mechanism),
        repr(cost),
        quantity,
        bound,
        worst.bound,
        "statistical",
        f"{pair_text(pair)}, {worst.event}",
        len(pairs),
        time.perf_counter() - started,
        factor,
        None if factor is None else POWER,
        1.0 - failure,
        ALTERNATIVES,
    )


def check_draws(
    mechanism: FiniteMechanism[D], data: D, *, samples: int = 5000, confidence: float = CONFIDENCE
) -> Report:
    """Whether a finite mechanism draws from the distribution that it states, on one data set.

    Every outcome's stated probability must lie in the exact interval of its count, all of them with `confidence`; an
    outcome that was given no probability must not come. Raises ClaimViolated naming the outcome.
    """
    started = time.perf_counter()
    stated = np.exp(mechanism.log_probabilities(data))
    counts = np.bincount([mechanism.sample(data) for _ in range(samples)], minlength=stated.size)
    failure = 0.5 * (1.0 - confidence) / counts.size
    bounds = np.array([clopper_pearson(int(count), samples, failure) for count in counts])
    known = np.append(stated, np.zeros(counts.size - stated.size))
    outside = np.maximum(bounds[:, 0] - known, known - bounds[:, 1])
    outside[(known <= 0.0) & (counts > 0)] = 1.0  # what cannot come has come
    worst = int(np.argmax(outside))
    factor = smallest_detectable_draw(stated, samples, failure)
    witness = f"outcome {worst} came {counts[worst]} times, its probability is stated as {known[worst]:.4g}; {data!r}"
    return judged(
        Report(
            _subject(mechanism),
            "draws follow log_probabilities",
            "distance from the interval",
            0.0,
            max(0.0, float(outside[worst])),
            "statistical",
            witness,
            1,
            time.perf_counter() - started,
            factor,
            None if factor is None else POWER,
            confidence,
            DRAW_ALTERNATIVES,
        )
    )


def randomizer_pairs(sensitivity: Sensitivity, size: int) -> Iterable[Pair[FloatArray]]:
    """Pairs of values, shape (size,), that differ by just the sensitivity: in one coordinate, and in all of them.

    For a range the first value also runs through gaps of 0, 1, 5 and 20 times it, one candidate ahead of the others.
    """
    bound = sensitivity.value
    one, every = np.zeros(size), np.ones(size)
    one[0] = bound
    match sensitivity:
        case RangeSensitivity():
            for gap in (0.0, 1.0, 5.0, 20.0):
                for ahead in (0, size - 1):
                    start = np.where(np.arange(size) == ahead, gap * bound, 0.0)
                    for change in (one, bound - one, one - one[::-1] * 0.5):
                        yield Pair(start, start + change / max(float(np.ptp(change)), 1e-300) * bound)
                        yield Pair(start + change / max(float(np.ptp(change)), 1e-300) * bound, start)
            return
        case LInfSensitivity():
            every *= bound
        case L2Sensitivity():
            every *= bound / np.sqrt(size)
        case L1Sensitivity():
            every *= bound / size
    yield Pair(np.zeros(size), one)
    yield Pair(np.zeros(size), every)


def check_randomizer(
    randomizer: Randomizer[FloatArray, S, R],
    sensitivity: S,
    *,
    size: int = 3,
    noise: NoiseSource | None = None,
    samples: int = SAMPLES,
    confidence: float = CONFIDENCE,
) -> Report:
    """Compare what a randomizer declares for a sensitivity with what it loses on values that differ by just that.

    sensitivity: choose it so that the declared cost is around 1, where sampling sees most.  size: of the values.
    noise: secure unless given. A `FiniteRandomizer` is checked exactly.
    samples: draws on each value.  confidence: that a correct claim is not refuted.
    Raises ClaimViolated.
    """
    source = SecureNoise() if noise is None else noise
    query: Query[FloatArray, FloatArray, S] = Query("value", lambda value: value, sensitivity, ReplaceOne())
    pairs = randomizer_pairs(sensitivity, size)
    if isinstance(randomizer, FiniteRandomizer):
        scores = Query("value", query.evaluate, RangeSensitivity(sensitivity.value), ReplaceOne())
        return check_mechanism(PlainSelection(scores, randomizer, source), pairs)
    return check_mechanism(PlainMechanism(query, randomizer, source), pairs, samples=samples, confidence=confidence)


def moved(change: FloatArray, sensitivity: Sensitivity) -> float:
    """How far a value moved, in the norm of a sensitivity."""
    flat = np.ravel(change)
    match sensitivity:
        case RangeSensitivity():
            return float(np.ptp(flat)) if flat.size else 0.0
        case LInfSensitivity():
            return float(np.max(np.abs(flat), initial=0.0))
        case L2Sensitivity():
            return float(np.linalg.norm(flat))
        case L1Sensitivity():
            return float(np.sum(np.abs(flat)))


def _change(before: FloatArray, after: FloatArray) -> FloatArray:
    """after − before, 0 where they are the same. Raises ValueError where their shapes differ."""
    first, second = (np.asarray(value, dtype=np.float64) for value in (before, after))
    if first.shape != second.shape:
        raise ValueError(f"the shape of the value depends on the data: {first.shape} and {second.shape}")
    with np.errstate(invalid="ignore"):
        return np.where(first == second, 0.0, second - first)


def check_sensitivity(
    query: Query[D, FloatArray, RangeSensitivity]
    | Query[D, FloatArray, LInfSensitivity]
    | Query[D, FloatArray, L2Sensitivity]
    | Query[D, FloatArray, L1Sensitivity],
    pairs: Iterable[Pair[D]],
    *,
    complete: bool = False,
) -> Report:
    """Compare a query's declared sensitivity with how far it really moves. Raises ClaimViolated.

    complete: whether these are all pairs of the finite domain that is meant, as `neighbours` gives them. Only then the
    verdict can be "exact"; some pairs of many are a search, of which no probability can be stated.
    """
    return judged(_sensitivity(query.name, query.evaluate, lambda pair: query.sensitivity, pairs, complete))


def check_robust_sensitivity(
    query: RobustQuery[W, FloatArray, RangeSensitivity]
    | RobustQuery[W, FloatArray, LInfSensitivity]
    | RobustQuery[W, FloatArray, L2Sensitivity]
    | RobustQuery[W, FloatArray, L1Sensitivity],
    pairs: Iterable[Pair[W]],
    *,
    complete: bool = False,
) -> Report:
    """The same for a robust query: its sensitivity at the ζ that the data's own certificate promises."""

    def declared(pair: Pair[W]) -> Sensitivity:
        return query.sensitivity(max(pair.before.slickness.zeta, pair.after.slickness.zeta))

    return judged(_sensitivity(query.name, query.evaluate, declared, pairs, complete))


def _sensitivity(
    name: str,
    evaluate: Callable[[D], FloatArray],
    declared: Callable[[Pair[D]], Sensitivity],
    pairs: Iterable[Pair[D]],
    complete: bool,
) -> Report:
    started, worst, number = time.perf_counter(), (-1.0, 0.0, "", ""), 0
    for pair in pairs:
        sensitivity = declared(pair)
        found, number = _no_number_is_worst(moved(_change(*map(evaluate, pair)), sensitivity)), number + 1
        share = found / sensitivity.value if sensitivity.value else (np.inf if found > 0.0 else 0.0)
        if (share, found) > worst[:2]:
            worst = (share, found, repr(sensitivity), pair_text(pair))
            bound = sensitivity.value
    if not number:
        raise ValueError("pairs: expected at least one pair of neighbouring data sets")
    spent, method = time.perf_counter() - started, _found_by(complete)
    return Report(name, worst[2], "change", bound, worst[1], method, worst[3], number, spent)


def _found_by(complete: bool) -> Method:
    return "exact" if complete else "search"


def check_learner(
    run: Callable[[D, ScriptedNoise], H], charged: Mapping[str, Cost], pairs: Iterable[Pair[D]]
) -> list[Report]:
    """Compare what ledgers charged for a whole learner with the learner's exact output distribution on tiny samples.

    run: fits on a sample, drawing from the given noise only, and returns its output, hashable. It runs once for every
    sequence of choices that it can make, on every sample of the pairs.
    charged: names for the reports, each with what a ledger says was spent on such a fit (`model.ledger_.spent`): one
    per rule of composition, say. A charge must not depend on the data.
    Raises ClaimViolated where a charge is below the exact cost.
    """
    started, known = time.perf_counter(), dict[object, dict[H, float]]()

    def distribution(data: D) -> dict[H, float]:
        # Equal data have equal distributions; what cannot be compared is enumerated each time.
        try:
            hash(data)
        except TypeError:
            return output_distribution(lambda noise: run(data, noise))
        if data not in known:
            known[data] = output_distribution(lambda noise: run(data, noise))
        return known[data]

    outputs = [(aligned(distribution(pair.before), distribution(pair.after)), pair) for pair in pairs]
    if not outputs:
        raise ValueError("pairs: expected at least one pair of neighbouring data sets")
    reports = []
    for subject, cost in charged.items():
        found = [(*measured(both, cost), pair) for both, pair in outputs]
        quantity, bound, worst, pair = max(found, key=lambda each: _no_number_is_worst(each[2]))
        seconds = time.perf_counter() - started
        reports.append(
            judged(Report(subject, repr(cost), quantity, bound, worst, "exact", pair_text(pair), len(found), seconds))
        )
    return reports


def declared_number(cost: Cost) -> tuple[str, float]:
    """What is compared for that kind of cost, and the declared number. Raises UnsupportedCost for `Unbounded`."""
    return measured(Pair(np.zeros(1), np.zeros(1)), cost)[:2]


def pair_text(pair: Pair[D]) -> str:
    """A pair for people, 400 characters of it."""
    text = f"{pair.before!r} against {pair.after!r}"
    return text if len(text) <= 400 else f"{text[:400]}…"
