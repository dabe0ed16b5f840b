"""What the verification kit detects, and how long that takes: mutants, exact checks, sampling, whole learners."""

import statistics
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from typing import Final, TypeAlias, TypeVar

import attrs
import numpy as np

from accountant import GDP, PureDP, ReplaceOne
from accountant.arrays import FloatArray
from accountant.costs import gaussian as gaussian_curve
from benchmarks.kit import verification_power
from benchmarks.runner import (
    Cell,
    Grid,
    Line,
    Measured,
    Part,
    Report,
    Setting,
    Table,
    at_most,
    seconds,
)
from learners import PrivateBoostClassifier, PrivateBoostRegressor, Schema
from mechanisms import (
    ExponentialChoice,
    FiniteMechanism,
    FiniteRandomizer,
    NoiseSource,
    PermuteAndFlip,
    PlainSelection,
    Query,
    RangeSensitivity,
    SeededNoise,
    WeightedExponential,
    WeightedNoisyMax,
)
from mechanisms.randomness import choice_probabilities
from proofs_tests.harness import (
    ClaimViolated,
    Pair,
    ScriptedNoise,
    TranscriptNoise,
    check_learner,
    check_mechanism,
    check_transcripts,
    neighbours,
)
from proofs_tests.harness import Report as Found
from proofs_tests.harness import Verdict as Word
from proofs_tests.harness.checks import randomizer_pairs
from proofs_tests.mutants import MUTANTS, Mutant, Verdict, queries, verdict
from proofs_tests.mutants.mutant import cheaper_law
from proofs_tests.support.learners.tiny_learners import (
    LEARNERS,
    RECORDS,
    Learner,
    Output,
    Record,
    charges,
    output,
)
from proofs_tests.support.learners.waves import BOX, DELTA, EPSILON, GAUSSIAN, Data, regressor, waves
from proofs_tests.support.mechanisms.weighted import Values, certificate, scores

H = TypeVar("H", bound=Hashable)
D = TypeVar("D")

Check: TypeAlias = Callable[[float], object]
"""Looks at a claim that is too small by a factor; raises ClaimViolated where it refutes that."""

UNREFUTED: Final = ("exact", "not refuted")
MOST_FACTOR: Final = 1.01
"""An exact check is to refute a claim that is too small by this factor."""

ZETA: Final = 0.1
ETA: Final = 5.0
CANDIDATES: Final = 6


# --- mutants ----------------------------------------------------------------------------------------------------------


def chosen(step: int) -> list[Mutant]:
    """Every so many of each method."""
    methods = sorted({mutant.method for mutant in MUTANTS})
    return [mutant for method in methods for mutant in [each for each in MUTANTS if each.method == method][::step]]


def said(check: Callable[[], object]) -> Word | None:
    """The kit's verdict on a claim; None where a check has none to give but did not refute it."""
    try:
        report = check()
    except ClaimViolated:
        return "refuted"
    return report.verdict if isinstance(report, Found) else None


def refuted(check: Callable[[], object]) -> bool:
    """Whether the kit refutes the claim."""
    return said(check) == "refuted"


def mutants(step: int) -> list[Table]:
    """What is killed, by method, and whether the corrected twins are let live."""
    verdicts = [verdict(mutant) for mutant in chosen(step)]
    methods = list(dict.fromkeys(each.mutant.method for each in verdicts))
    rows = [_by_method(method, [each for each in verdicts if each.mutant.method == method]) for method in methods]
    which = "all" if step == 1 else f"one in {step}"
    return [
        Grid(
            f"Mutants by the method that looks at them, {which} of {len(MUTANTS)}",
            ("method", "mutants", "killed", "seconds", "seconds of a mutant"),
            (*rows, _by_method("together", verdicts)),
        ),
        Report(f"Mutants that live and twins that are refuted, {which} of {len(MUTANTS)}", _mutant_lines(verdicts)),
    ]


def _by_method(method: str, verdicts: Sequence[Verdict]) -> tuple[Cell, ...]:
    times = [each.seconds for each in verdicts]
    return (
        method,
        Measured(len(verdicts), unit="mutants", form=".0f"),
        Measured(sum(bool(each.said) for each in verdicts), unit="mutants", form=".0f"),
        Measured(sum(times), unit="s", form=".2f"),
        Measured.median(times, unit="s a mutant", form=".3f"),
    )


def _mutant_lines(verdicts: Sequence[Verdict]) -> list[Line]:
    live = [each.mutant for each in verdicts if not each.said]
    twins = [each.mutant.sound for each in verdicts if each.mutant.sound is not None]
    alarms = sum(refuted(twin) for twin in twins)
    return [
        at_most(
            "mutants that live and nobody has explained",
            Measured(sum(not mutant.survives for mutant in live), unit="mutants", form=".0f"),
            0.0,
        ),
        *(Line(f"lives: {mutant.name}", " ".join(mutant.survives.split())) for mutant in live),
        at_most("corrected twins that are refuted", Measured(alarms, unit=f"of {len(twins)} twins", form=".0f"), 0.0),
    ]


# --- exact checks -----------------------------------------------------------------------------------------------------


@attrs.frozen
class KaryResponse(FiniteRandomizer):
    """The best candidate with odds e^eta : 1 against any other."""

    name, claims = "KaryResponse", ()
    eta: float

    @property
    def parameters(self) -> tuple[tuple[str, float], ...]:
        return (("eta", self.eta),)

    def cost(self, sensitivity: RangeSensitivity) -> PureDP:
        return PureDP(self.eta)

    def log_probabilities(self, scores: FloatArray) -> FloatArray:
        return choice_probabilities.exponential(np.eye(scores.size)[np.argmax(scores)], self.eta)

    def draw(self, value: FloatArray, noise: NoiseSource) -> int:
        return noise.exponential_choice(np.eye(value.size)[np.argmax(value)], self.eta)


COUNTS: Final = Query[tuple[int, ...], FloatArray, RangeSensitivity](
    "counts",
    lambda column: np.bincount(column, minlength=3).astype(np.float64),
    RangeSensitivity(2.0),
    ReplaceOne(),
)


def understated(mechanism: FiniteMechanism[D], pairs: Iterable[Pair[D]]) -> Check:
    """A mechanism under smaller and smaller prices."""
    given = list(pairs)
    return lambda factor: check_mechanism(cheaper_law(mechanism, factor), given)


def exact_checks() -> dict[str, Check]:
    """Selections on weighted data whose scores move by just their range, and selections from counts of four records."""
    noise, slickness = SeededNoise(0), certificate(ZETA)
    values = randomizer_pairs(scores().sensitivity(ZETA), CANDIDATES)
    weighted = [pair.map(lambda value: Values(value, slickness)) for pair in values]
    counted = list(neighbours(ReplaceOne(), range(3), 4))
    return {
        "WEM": understated(WeightedExponential(scores(), ETA, ZETA, noise).under(slickness), weighted),
        "permute-and-flip": understated(PermuteAndFlip(scores(), ETA, ZETA, noise).under(slickness), weighted),
        "noisy max": understated(WeightedNoisyMax(scores(), ETA, ZETA, noise).under(slickness), weighted),
        "k-ary response": understated(PlainSelection(COUNTS, KaryResponse(1.0), noise), counted),
        "exponential of counts": understated(PlainSelection(COUNTS, ExponentialChoice(0.5), noise), counted),
    }


SENSITIVITIES: Final[dict[str, Check]] = {
    "1-Rule errors, range": queries.one_rule_at,
    "Gini improvements, range": queries.gini_at,
    "leaf gaps, ℓ1": queries.leaf_gaps_at,
    "leaf label weights, ℓ2": queries.leaf_weights_at,
    "centred mean, ℓ2": queries.centred_mean_at,
}


def least_refuted(check: Check, steps: int) -> float:
    """The smallest factor in (1, 2] that is refuted, to 2^(2^−steps) of itself; infinite where 2 is not."""
    if not refuted(partial(check, 2.0)):
        return float("inf")
    low, high = 0.0, 1.0  # logarithms to base 2
    for _ in range(steps):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if refuted(partial(check, 2.0**middle)) else (middle, high)
    return float(2.0**high)


def detection(title: str, checks: dict[str, Check], steps: int) -> list[Table]:
    """The verdict on the claim itself, from which factor on it is refuted, and how long a look takes."""
    lines = []
    for name, check in checks.items():
        word = said(partial(check, 1.0))
        least = Measured(least_refuted(check, steps), unit="×", form=".6f")
        times = [1e3 * seconds(partial(refuted, partial(check, 1.0))) for _ in range(5)]
        lines += [
            Line(f"{name}: the claim as it is", word or "no verdict", "exact or not refuted", word in UNREFUTED),
            at_most(f"{name}: smallest factor refuted", least, MOST_FACTOR),
            Line(f"{name}: one check", Measured.median(times, unit="ms", form=".1f")),
        ]
    return [Report(title, lines)]


# --- whole learners ---------------------------------------------------------------------------------------------------


def reports(check: Callable[[], list[Found]]) -> list[Found]:
    """What a check found, whether it raises or not."""
    try:
        return check()
    except ClaimViolated as violated:
        return [violated.report]


def within(found: Found) -> Line:
    """What a learner really costs, with its charge as the printed number."""
    return Line(
        found.subject,
        Measured(found.found, printed=found.bound, form=".4g"),
        "at most what was charged",
        not found.refuted,
    )


def enumerated(make: Callable[[NoiseSource], Learner], step: int) -> list[Table]:
    """Every run of a tiny learner on two records, on one in so many pairs of neighbours, under every rule."""
    pairs = [pair for pair in neighbours(ReplaceOne(), RECORDS, 2) if pair.before < pair.after][::step]

    def run(records: tuple[Record, ...], noise: ScriptedNoise) -> Output:
        return output(make(noise), records)

    found = reports(lambda: check_learner(run, charges(make), pairs))
    pace = Measured(found[0].seconds / len(pairs), unit="s a pair", form=".3f")
    title = f"The exact ε of two boosted rounds of {make.__name__} over its charge (printed), {len(pairs)} pairs"
    return [Report(title, [*map(within, found), Line("enumeration of both laws", pace)])]


BOOSTED: Final = "PrivateBoostClassifier"


def boosted(data: tuple[FloatArray, FloatArray], noise: TranscriptNoise) -> None:
    """A fit of the recommended learner."""
    schema = Schema.boolean(["a", "b"])
    PrivateBoostClassifier(EPSILON, DELTA, adjacency="replace-one", schema=schema, random_state=noise).fit(*data)


def regressed(data: Data, noise: TranscriptNoise) -> None:
    """A fit of the recommended regression."""
    settings = {"adjacency": "replace-one", "label_bounds": (-1.0, 1.0), "schema": BOX, "random_state": noise}
    PrivateBoostRegressor(EPSILON, DELTA, **settings).fit(*data)  # type: ignore[arg-type]  # a table of settings


def transcripts(number: int) -> list[Table]:
    """The μ of fits that draw Gaussian noise, along transcripts, on a pair whose last labels are opposite."""
    X, y = waves(12)
    rng = np.random.default_rng(0)
    bits, labels = rng.integers(0, 2, (12, 2)).astype(np.float64), rng.integers(0, 2, 12).astype(np.float64)
    last = np.arange(12) == 11
    claimed, found = GDP(gaussian_curve.mu(EPSILON, DELTA)), list[Found]()

    def look(name: str, learn: Callable[[Data, TranscriptNoise], object], pair: Pair[Data]) -> None:
        found.extend(reports(lambda: [check_transcripts(name, learn, [pair], claimed, number)]))

    look(BOOSTED, boosted, Pair((bits, np.where(last, 0.0, labels)), (bits, np.where(last, 1.0, labels))))
    opposite = Pair((X, np.where(last, 1.0, y)), (X, np.where(last, -1.0, y)))
    look("PrivateBoostRegressor", regressed, opposite)
    for solver in GAUSSIAN:
        look(
            f"RandomFeatureRegressor, {solver}",
            lambda data, noise, solver=solver: regressor(solver, random_state=noise).fit(*data),  # type: ignore[misc]  # mypy infers no default of a lambda
            opposite,
        )
    pace = statistics.median(each.seconds / each.pairs for each in found)
    lines = [*map(within, found), Line("a fit on both data sets", Measured(pace, unit="s", form=".3f"))]
    return [Report(f"The exact μ of a fit over its charge (printed), transcripts of each: {number}", lines)]


def parts(setting: Setting) -> list[Part]:
    """Mutants, exact checks, sampling, whole learners."""
    quick = setting.quick
    steps, step, pace = (10, 84, 1.0) if quick else (24, 6, 12.0)
    exact = "Exact checks: the smallest factor by which a claim is too small that is refuted"
    queries_ = "Sensitivity checks: the smallest factor by which a claim is too small that is refuted"
    return [
        Part("mutants", partial(mutants, 6 if quick else 1), 4.0 if quick else 20.0),
        Part("exact checks", lambda: detection(exact, exact_checks(), steps), 3.0 if quick else 8.0),
        Part("sensitivity checks", partial(detection, queries_, SENSITIVITIES, steps), 0.5),
        *verification_power.parts(setting),
        *(Part(f"enumeration of {make.__name__}", partial(enumerated, make, step), pace) for make in LEARNERS),
        Part("transcripts", partial(transcripts, 1 if quick else 5), 1.0 if quick else 5.0),
    ]
