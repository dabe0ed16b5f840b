"""What our own learners are charged at their defaults, over what their releases can lose.

Fits are made, and their ledgers read. The releases of one kind of cost are held against its exact law, mixtures against
dp-accounting's distributions, rounded down.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

import numpy as np

from accountant import GDP, ApproxDP, Ledger, PureDP, SubsampledGaussian, Unbounded
from accountant import Cost as AnyCost
from accountant.audit.second_opinion import PeerMissing, least_rounds, peer_totals
from accountant.entries import Charged, decode
from benchmarks.prices.exact_prices import DELTA, best_of_gaussians, known
from benchmarks.prices.tightness import NOTICED, flag
from benchmarks.runner import Cell, Grid, Line, Measured, Missing, Report, Table
from learners import (
    Bounds,
    DPBaggingClassifier,
    DPGradientBoostingClassifier,
    DPLogisticRegression,
    DPRandomForestClassifier,
    HalfspaceBoostClassifier,
    LazyBoostClassifier,
    PrivateBoostClassifier,
    RadoBoostClassifier,
    RadoRelease,
)
from learners.base import RUNS_PER_SETTING, PrivateEstimator, affordable
from mechanisms import NegativeBinomialStopping

RECORDS, COLUMNS = 4_000, 8
EPSILON: Final = 1.0
Fitted: TypeAlias = PrivateEstimator[Any, Any]

AT_ITS_WORD: Final = "an (ε, δ) that the mechanism declares is taken at its word: its claim says how near it is"

LEARNERS: Final[dict[str, Callable[..., Fitted]]] = {
    "boosted 1-Rules": LazyBoostClassifier,
    "boosted TopDown trees": partial(LazyBoostClassifier, weak_learner="top-down"),
    "boosted 1-Rules, permute-and-flip": partial(LazyBoostClassifier, selection="permute-and-flip"),
    "PrivateBoost": PrivateBoostClassifier,
    "PrivateBoost, replace-one": partial(PrivateBoostClassifier, adjacency="replace-one"),
    "logistic regression": DPLogisticRegression,
    "random forest": DPRandomForestClassifier,
    "DPBoost": DPGradientBoostingClassifier,
    "bagging": DPBaggingClassifier,
    "halfspaces": partial(HalfspaceBoostClassifier, radius=COLUMNS**0.5, classes=(0, 1), count_outside=500.0),
    "rado boost": RadoBoostClassifier,
    "rado release": RadoRelease,
}
"""At their defaults, but for what has none."""

PURE: Final = ("boosted 1-Rules", "boosted TopDown trees", "random forest", "DPBoost", "logistic regression")
"""Those that are measured at δ = 0, too."""


def fitted(name: str, delta: float) -> Ledger:
    """The ledger of one fit, simulated, on records of random bits."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (RECORDS, COLUMNS))
    more = {} if name == "halfspaces" else {"schema": Bounds(0, 1, bins=2)}
    model = LEARNERS[name](epsilon=EPSILON, delta=delta, random_state=0, **more)
    return model.fit(X, X[:, 0]).ledger_


def releases(ledger: Ledger) -> Counter[AnyCost]:
    """The rounds of each cost that a ledger was charged for; of a program over lanes, those of one lane for each."""
    found: Counter[AnyCost] = Counter()
    for entry in ledger.entries:
        record = decode(entry)
        if isinstance(record, Charged):
            said = record.mechanism
            lanes = said is not None and "steps of a lane" in dict(said.parameters)
            steps = ((step.cost, step.rounds) for step in record.plan.steps)
            for cost, rounds in least_rounds(said) if said is not None and lanes else steps:
                found[cost] += rounds
    return found


def lost(rounds: Counter[AnyCost], delta: float) -> float:
    """What mechanisms of these costs do lose at δ: DELTA, or 0."""
    parts = peer_totals.Parts.of(rounds)
    if not delta:
        return parts.largest_loss
    reached = peer_totals.reached(parts, delta, peer_totals.renyi(parts, delta)[1])
    ((cost, number),) = rounds.items() if len(rounds) == 1 else [(Unbounded(), 1)]
    return reached if isinstance(cost, Unbounded | SubsampledGaussian) else max(reached, known(cost, number).epsilon)


def learner_line(name: str, delta: float) -> tuple[tuple[Cell, ...], Line]:
    """What a fit was charged over what its releases do lose; those of several costs by dp-accounting, rounded down."""
    ledger = fitted(name, delta)
    spent, rounds = ledger.spent, releases(ledger)
    assert isinstance(spent, PureDP | ApproxDP)
    counts = Counter[str]()
    for cost, number in rounds.items():
        counts[type(cost).__name__] += number
    what = ", ".join(f"{n} x {kind}" for kind, n in counts.items())
    why = AT_ITS_WORD if set(counts) == {"ApproxDP"} else ""
    return _shown(name, delta, what, spent.epsilon, lost(rounds, delta), why)


def _shown(
    name: str, delta: float, what: str, ours: float, reached: float, why: str = ""
) -> tuple[tuple[Cell, ...], Line]:
    ratio = Measured(ours / reached, form=".4f")
    numbers = (Measured(ours, form=".5g"), Measured(reached, form=".5g"), ratio)
    row = (name, what, f"{delta:g}", *numbers, flag(ratio.value), why)
    most = "" if why else f"≤ {NOTICED:g}"
    return row, Line(f"{name}, δ = {delta:g}", ratio, most, None if why else ratio.value <= NOTICED)


def tuned_line(settings: int) -> tuple[tuple[Cell, ...], Line]:
    """A choice among so many settings of PrivateBoost, over the exact law of one bad way to rank."""
    stopping = NegativeBinomialStopping.with_mean(0.0, RUNS_PER_SETTING * settings)
    each = affordable(ApproxDP(EPSILON, DELTA), settings, stopping, gaussian=True)
    assert isinstance(each, GDP)
    name = f"PrivateBoost, tuned over {settings} settings"
    what = f"the best of {stopping.mean:g} runs of GDP({each.mu:.4g}), expected"
    return _shown(name, DELTA, what, EPSILON, best_of_gaussians(each.mu, stopping.gamma))


def learners(names: Sequence[str] = tuple(LEARNERS), settings: Sequence[int] = (2, 5, 20)) -> list[Table]:
    """Our own learners at their defaults: charged over reached. Raises Missing without dp-accounting."""
    try:
        found = [learner_line(name, DELTA) for name in names]
        found += [learner_line(name, 0.0) for name in names if name in PURE]
    except PeerMissing as error:
        raise Missing(str(error)) from error
    found += [tuned_line(number) for number in settings]
    title = f"Our learners at their defaults, ε = {EPSILON:g}, {RECORDS:,} records: charged over reached"
    head = ("learner", "releases", "δ", "charged ε", "reached ε", "ratio", "flag", "why")
    return [
        Grid(title, head, tuple(row for row, _ in found)),
        Report(f"Our learners at their defaults: charged over reached, ε = {EPSILON:g}", [line for _, line in found]),
    ]
