"""Numbers and sizes that tell: NaN, n, norms, data-dependent prices and representations."""

from functools import partial

import attrs
import numpy as np

from accountant import GDP, AddRemoveOne, BoundedRange, PureDP, ReplaceOne
from accountant.arrays import FloatArray
from mechanisms import L1Sensitivity, Query
from proofs_tests.harness import Pair, Report, ScriptedNoise, check_mechanism, check_sensitivity, neighbours
from proofs_tests.mutants.mutant import (
    Drawn,
    Lawful,
    Mutant,
    Numbers,
    both_ways,
    drawn,
    enumerated,
)

SAMPLES = 5_000
ONE: list[Pair[Numbers]] = [Pair((0.0,), (1.0,))]


def noisy_sum_with_n(tell: bool) -> Report:
    def draw(records: Numbers, generator: np.random.Generator) -> FloatArray:
        n = float(len(records)) if tell else 3.0
        return np.array([sum(records) + generator.laplace(), n])

    pair = Pair((0.0, 1.0, 0.0), (0.0, 1.0, 0.0, 0.0))
    return check_mechanism(Drawn("sum with n", PureDP(1.0), AddRemoveOne(), draw), [pair], samples=SAMPLES)


def mean_over_n(own: bool) -> Report:
    """Laplace noise of scale 1/n on a mean, by the n of the data or by a public lower bound on it."""

    def draw(records: Numbers, generator: np.random.Generator) -> FloatArray:
        n = max(len(records), 1) if own else 1
        return np.array([sum(records) / n + generator.laplace(scale=1.0 / n)])

    pair = Pair((0.0,) * 1, (0.0, 1.0))
    return check_mechanism(Drawn("mean", PureDP(1.0), AddRemoveOne(), draw), [pair], samples=SAMPLES)


def choice_of_n(public: bool) -> Report:
    """One of the records is drawn by position, under add-remove-one."""

    def choose(records: Numbers, noise: ScriptedNoise) -> int:
        return noise.exponential_choice(np.zeros(3 if public else len(records)), 1.0)

    return enumerated("position", choose, PureDP(1.0), neighbours(AddRemoveOne(), (0.0, 1.0), 2))


def own_norm(public: bool) -> Report:
    """Labels divided by their own norm, with noise; and the norm, so that they can be scaled back."""

    def draw(labels: Numbers, generator: np.random.Generator) -> FloatArray:
        norm = 2.0 if public else float(np.linalg.norm(labels))
        return np.append(np.array(labels) / max(norm, 1e-9) + generator.normal(scale=2.0, size=len(labels)), norm)

    return check_mechanism(drawn("scaled labels", GDP(1.0), draw), [Pair((1.0,), (0.5,))], samples=SAMPLES)


def empty_mean_law(public: bool) -> Report:
    """The mean of the positive records is NaN where there is none; NaN is called private, as it is no number."""

    def mean(records: Numbers) -> FloatArray:
        chosen = [record for record in records if record > 0.0]
        return np.array([sum(chosen) / len(chosen) if chosen else (0.5 if public else np.nan)])

    query = Query("mean of positives", mean, L1Sensitivity(1.0), ReplaceOne())
    return check_sensitivity(query, neighbours(ReplaceOne(), (0.0, 1.0), 2))


def empty_mean_drawn(public: bool) -> Report:
    """The same with noise: NaN plus noise is NaN."""

    def draw(records: Numbers, generator: np.random.Generator) -> FloatArray:
        chosen = [record for record in records if record > 0.0]
        return np.array([(sum(chosen) / len(chosen) if chosen else (0.5 if public else np.nan)) + generator.laplace()])

    return check_mechanism(drawn("mean of positives", PureDP(1.0), draw), ONE, samples=SAMPLES)


def broken_law(public: bool) -> Report:
    """A law that is NaN on one of the data sets, and not the first one that is looked at."""

    def law(records: Numbers) -> FloatArray:
        bad = sum(records) == 2.0 and not public
        return np.full(2, np.nan) if bad else np.log(np.array([0.5, 0.5]))

    mechanism = Lawful("half a law", PureDP(0.1), ReplaceOne(), law)
    return check_mechanism(mechanism, neighbours(ReplaceOne(), (0.0, 1.0), 2))


def more_than_one(scale: float) -> Report:
    """Log-probabilities that do not sum to 1: a likelihood that was never normalised."""

    def law(records: Numbers) -> FloatArray:
        return np.array([0.0, -0.1]) + (0.0 if scale else -np.log1p(np.exp(-0.1)))

    mechanism = Lawful("no law", PureDP(0.1), ReplaceOne(), law)
    return check_mechanism(mechanism, neighbours(ReplaceOne(), (0.0, 1.0), 2))


def one_sided(kind: type[GDP] | type[PureDP], pairs: list[Pair[Numbers]]) -> Report:
    """On 0 always the same answer, on 1 a fair coin: one answer is possible on one side only."""

    def law(records: Numbers) -> FloatArray:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.array([1.0, 0.0] if records[0] == 0.0 else [0.5, 0.5])))

    return check_mechanism(Lawful("one-sided", kind(0.1), ReplaceOne(), law), pairs)


def number_of_outcomes(own: bool) -> Report:
    """As many outcomes as there are zeros."""

    def law(records: Numbers) -> FloatArray:
        size = 1 + records.count(0.0) if own else 3
        return np.full(size, -np.log(size))

    mechanism = Lawful("outcomes", PureDP(0.1), ReplaceOne(), law)
    return check_mechanism(mechanism, neighbours(ReplaceOne(), (0.0, 1.0), 2))


@attrs.frozen
class Masked:
    """A record whose value is kept out of its text, as protected values often are."""

    value: float = attrs.field(repr=False)


def masked(hidden: bool) -> Report:
    def choose(record: Masked, noise: ScriptedNoise) -> float:
        return record.value if hidden else float(noise.exponential_choice(np.zeros(2), 1.0))

    return enumerated("identity", choose, PureDP(0.1), [Pair(Masked(0.0), Masked(1.0))])


def two_sided_width(price: float) -> Report:
    """Randomized response by draws, declared as bounded range."""

    def draw(records: Numbers, generator: np.random.Generator) -> FloatArray:
        keep = generator.random() < 1.0 / (1.0 + np.exp(-1.0))
        return np.array([records[0] if keep else 1.0 - records[0]])

    return check_mechanism(drawn("randomized response", BoundedRange(price), draw), ONE, samples=SAMPLES)


MUTANTS = (
    Mutant("n released under add-remove-one", "n is protected there", "issue 4; scikit-learn's n_samples_seen_",
           partial(noisy_sum_with_n, True), partial(noisy_sum_with_n, False), "samples"),
    Mutant("noise of scale 1/n under add-remove-one", "the size of the noise tells n", "issue 4",
           partial(mean_over_n, True), partial(mean_over_n, False), "samples"),
    Mutant("a record's number under add-remove-one", "as many numbers as records", "issue 4",
           partial(choice_of_n, False), partial(choice_of_n, True), "enumeration"),
    Mutant("labels scaled by their own norm, norm published", "the norm is a function of the labels",
           "004, Alg. 1; claims.md §4", partial(own_norm, False), partial(own_norm, True), "samples"),
    Mutant("NaN for an empty mean, query", "NaN on one data set, a number on its neighbour", "issue 4: NaN",
           partial(empty_mean_law, False), partial(empty_mean_law, True), "sensitivity"),
    Mutant("NaN for an empty mean, samples", "NaN plus noise is NaN", "issue 4: NaN", partial(empty_mean_drawn, False),
           partial(empty_mean_drawn, True), "samples"),
    Mutant("NaN in a law", "a law that is no number on one data set", "kit review", partial(broken_law, False),
           partial(broken_law, True), "exact law", refused=True),
    Mutant("a law that is not one", "log-probabilities that sum to 1.9", "kit review", partial(more_than_one, 1.0),
           partial(more_than_one, 0.0), "exact law", refused=True),
    Mutant("impossible on one side, as pure", "an answer that only one data set gives", "basic definition",
           partial(one_sided, PureDP, both_ways(ONE)), None, "exact law"),
    Mutant("impossible on one side, as GDP", "the same, both ways round", "basic definition",
           partial(one_sided, GDP, both_ways(ONE)), None, "exact law"),
    Mutant("impossible on one side, as GDP, one way", "the same, looked at one way", "kit review",
           partial(one_sided, GDP, ONE), None, "exact law"),
    Mutant("as many outcomes as zeros", "the number of outcomes tells", "empty leaves, sets of candidates",
           partial(number_of_outcomes, True), partial(number_of_outcomes, False), "exact law", refused=True),
    Mutant("records that print alike", "a law kept under the text of its data", "kit review", partial(masked, True),
           partial(masked, False), "enumeration"),
    Mutant("ε-DP as bounded range ε, drawn", "a pure loss spans up to 2ε", "claims.md §0",
           partial(two_sided_width, 1.0), partial(two_sided_width, 2.0), "samples"),
)  # fmt: skip
