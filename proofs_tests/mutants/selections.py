"""Wrong choices of a candidate."""

from functools import partial

import numpy as np
from scipy.special import log_softmax

from accountant import BoundedRange, PureDP, ReplaceOne
from accountant.arrays import FloatArray
from mechanisms import (
    Candidates,
    ExponentialChoice,
    FiniteRandomizer,
    NoiseSource,
    NoisyMaxChoice,
    PermuteAndFlipChoice,
    PlainSelection,
    PrivateQuantile,
    Query,
    RangeSensitivity,
    SeededNoise,
)
from mechanisms.quantiles import Tally
from mechanisms.randomness import choice_probabilities
from proofs_tests.harness import Pair, Report, ScriptedNoise, check_draws, check_mechanism, neighbours
from proofs_tests.mutants.mutant import (
    Mutant,
    Numbers,
    both_ways,
    cheaper_law,
    drawn,
    enumerated,
    lawful,
    priced,
    smaller,
)

SCORES = Query[Numbers, FloatArray, RangeSensitivity]("scores", np.array, RangeSensitivity(2.0), ReplaceOne())
"""Scores that move by at most 1 each, so by a range of at most 2."""

PAIRS = both_ways(
    [
        Pair((0.0, 15.0), (1.0, 14.0)),
        Pair((0.0, 15.0, 15.0), (1.0, 14.0, 14.0)),
        Pair((0.0, 1.0, 1.0), (1.0, 0.0, 0.0)),
        Pair((0.0, 0.0, 0.0), (1.0, 1.0, 1.0)),
        Pair((0.0, 0.0), (1.0, -1.0)),
    ]
)


def selection(randomizer: FiniteRandomizer) -> PlainSelection[Numbers]:
    """The randomizer on given scores."""
    return PlainSelection(SCORES, randomizer, SeededNoise(0))


def sound(randomizer: FiniteRandomizer) -> Report:
    return check_mechanism(selection(randomizer), PAIRS)


def understated(randomizer: FiniteRandomizer, factor: float) -> Report:
    return check_mechanism(cheaper_law(selection(randomizer), factor), PAIRS)


def _constants() -> tuple[Mutant, ...]:
    said = {
        2.0: ("the score's own bound in place of its range", "001, notes after Thms 3 and 4: eta = 2ε/(2Δ)"),
        1.25: ("a constant of 1.6 where 2 is right", "issue 4"),
    }
    randomizers: list[FiniteRandomizer] = [ExponentialChoice(1.0), NoisyMaxChoice(1.0), PermuteAndFlipChoice(1.0)]
    return tuple(
        Mutant(
            f"{randomizer.name}, cost/{factor:g}", *said[factor], partial(understated, randomizer, factor),
            partial(sound, randomizer), "exact law",
        )
        for randomizer in randomizers
        for factor in said
    )  # fmt: skip


# --- claims of another rule -----------------------------------------------------------------------------------------


def flip_as_bounded_range() -> Report:
    return check_mechanism(priced(selection(PermuteAndFlipChoice(1.0)), BoundedRange(2.0)), PAIRS)


def flip_at_exponential_rho() -> Report:
    return check_mechanism(priced(selection(PermuteAndFlipChoice(0.5)), BoundedRange(1.0).to_zcdp()), PAIRS)


def flip_at_its_rho() -> Report:
    return check_mechanism(priced(selection(PermuteAndFlipChoice(0.5)), PureDP(1.0).to_zcdp()), PAIRS)


class Disguised(ExponentialChoice):
    """Says that it is the exponential mechanism, and draws by permute-and-flip."""

    def draw(self, value: FloatArray, noise: NoiseSource) -> int:
        return noise.permute_and_flip_choice(value, self.eta)


def drawn_as_stated(randomizer: FiniteRandomizer) -> Report:
    return check_draws(selection(randomizer), (0.0, 0.5, 2.0), samples=20_000)


def flip_under_another_law(factor: float) -> Report:
    """`check_mechanism` would believe the law that it is told; the draws themselves are enumerated here."""

    def choose(scores: Numbers, noise: ScriptedNoise) -> int:
        return noise.permute_and_flip_choice(np.array(scores), 0.5)

    price = smaller(BoundedRange(1.0).to_zcdp(), factor)
    return enumerated("selection as drawn", choose, price, PAIRS)


def max_as_bounded_range(candidates: int) -> Report:
    pairs = [pair for pair in PAIRS if len(pair.before) == candidates]
    return check_mechanism(priced(selection(NoisyMaxChoice(1.0)), BoundedRange(2.0 + 1e-9)), pairs)


def max_with_its_value(price: float) -> Report:
    def draw(scores: Numbers, generator: np.random.Generator) -> FloatArray:
        noisy = np.array(scores) + generator.laplace(size=len(scores))
        return np.array([np.argmax(noisy), np.max(noisy)])

    pairs = [Pair((0.0,) * 4, (1.0,) * 4)]
    return check_mechanism(drawn("NoisyMax with its value", PureDP(price), draw), pairs, samples=8_000)


# --- candidates that depend on the data -----------------------------------------------------------------------------


def absent_candidates(absent: float) -> Report:
    """Score of candidate j: how many records equal j; `absent` where there is none."""

    def law(records: Numbers) -> FloatArray:
        counts = np.array([float(records.count(candidate)) for candidate in (0.0, 1.0, 2.0)])
        return np.asarray(log_softmax(np.where(counts > 0.0, counts, absent)))

    pairs = neighbours(ReplaceOne(), (0.0, 1.0, 2.0), 2)
    return check_mechanism(lawful("Exponential", BoundedRange(2.0), law), pairs)


def pruned_candidates(prune: bool) -> Report:
    """A leaf is chosen by its number of records; empty leaves are left out of the list."""

    def choose(records: Numbers, noise: ScriptedNoise) -> float:
        leaves = sorted(set(records)) if prune else [0.0, 1.0, 2.0]
        return leaves[noise.exponential_choice(np.array([float(records.count(leaf)) for leaf in leaves]), 1.0)]

    pairs = neighbours(ReplaceOne(), (0.0, 1.0, 2.0), 2)
    return enumerated("choice of a leaf", choose, BoundedRange(2.0), pairs)


def quantile_between(own_bounds: bool) -> Report:
    """The median among five cut points between the data's own extremes, or between public ones."""

    def choose(records: Numbers, noise: ScriptedNoise) -> float:
        bounds = (min(records), max(records) + 1.0) if own_bounds else (0.0, 4.0)
        points = Candidates.between(*bounds, cells=5)
        utilities = points.tally(np.array(records)).utilities(0.5)
        return points.points[noise.exponential_choice(utilities, 1.0)]

    pairs = neighbours(ReplaceOne(), (0.0, 1.0, 3.0), 3)
    return enumerated("median", choose, BoundedRange(2.0), pairs)


def median_at(factor: float) -> Report:
    points = Candidates((0.0, 1.0, 2.0, 3.0))
    mechanism = PrivateQuantile(0.5, points, 31, 1.0, SeededNoise(0))
    before, after = np.array([1.0] * 15 + [0.0] + [2.0] * 15), np.array([1.0] * 15 + [3.0] + [2.0] * 15)
    spread = np.array([0.0] * 15 + [3.0] * 16), np.array([0.0] * 16 + [3.0] * 15)
    pairs: list[Pair[Tally]] = both_ways([Pair(before, after).map(points.tally), Pair(*spread).map(points.tally)])
    return check_mechanism(cheaper_law(mechanism, factor), pairs)


def tree_split_scale(kappa_n: float, calibrated: bool) -> Report:
    """8·eta·ζ was meant; `epsilon=eta, sensitivity=4ζ` gives exp(eta·u/(8ζ)), which costs eta."""
    zeta, eta = 1.0 / kappa_n, 0.05
    scale = eta if calibrated else eta / (8.0 * zeta)

    def law(scores: Numbers) -> FloatArray:
        return choice_probabilities.exponential(np.array(scores), scale)

    pairs = both_ways([Pair((0.5, 0.5), (0.5 + 4.0 * zeta, 0.5 - 4.0 * zeta))])
    return check_mechanism(lawful("DPTopDownTree split", BoundedRange(8.0 * eta * zeta), law), pairs)


MUTANTS = (
    *_constants(),
    Mutant("permute-and-flip as bounded range", "its width is up to twice its ε", "claims.md §1, 001 Thm 3, 4",
           flip_as_bounded_range, partial(sound, PermuteAndFlipChoice(1.0)), "exact law"),
    Mutant("permute-and-flip at ρ = ε²/8", "the exponential mechanism's constant; about 4 times too small",
           "opendp#2911 (0.15.1)", flip_at_exponential_rho, flip_at_its_rho, "exact law"),
    Mutant("permute-and-flip behind the exponential law", "log_probabilities are of another rule than the draws",
           "opendp#2911, as released", partial(flip_under_another_law, 1.0), partial(flip_under_another_law, 0.1),
           "enumeration"),
    Mutant("the same, by its draws", "log_probabilities are of another rule than the draws",
           "opendp#2911, as released", partial(drawn_as_stated, Disguised(1.0)),
           partial(drawn_as_stated, PermuteAndFlipChoice(1.0)), "samples"),
    Mutant("noisy max of three as bounded range", "only two candidates have it; 1.13 times the width at three",
           "claims.md §1, 001 Thm 4", partial(max_as_bounded_range, 3), partial(max_as_bounded_range, 2), "exact law"),
    Mutant("noisy max that also returns the value", "the maximum is free, its value is not", "Dwork & Roth 2014, §3.3",
           partial(max_with_its_value, 2.0), partial(max_with_its_value, 4.0), "samples"),
    Mutant("-inf for absent candidates", "a candidate that is never chosen tells that nobody has it",
           "laws.finite_scores", partial(absent_candidates, -np.inf), partial(absent_candidates, 0.0), "exact law"),
    Mutant("empty leaves pruned from the candidates", "the list itself depends on the data", "claims.md §1, 001 Thm 9",
           partial(pruned_candidates, True), partial(pruned_candidates, False), "enumeration"),
    Mutant("quantile between the data's own extremes", "the cut points give minimum and maximum away",
           "issue 4: data-dependent min and max", partial(quantile_between, True),
           partial(quantile_between, False), "enumeration"),
    Mutant("median with range 1", "a replaced record moves ranks on both sides of the target: 2",
           "add-remove-one taken for replace-one", partial(median_at, 2.0), partial(median_at, 1.0), "exact law"),
    Mutant("split scores scaled twice", "epsilon=eta over sensitivity=4ζ costs eta, not 8·eta·ζ",
           "peers.md §6 #5, LazyBB DPTopDownTree", partial(tree_split_scale, 100.0, False),
           partial(tree_split_scale, 100.0, True), "exact law"),
)  # fmt: skip
