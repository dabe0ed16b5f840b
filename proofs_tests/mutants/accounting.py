"""Wrong sums of costs: composition, conversion, repetition and amplification, against exact laws."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.special import ndtr
from scipy.stats import binom

from accountant import (
    GDP,
    ZCDP,
    ApproxDP,
    BoundedRange,
    Cost,
    Plan,
    PureDP,
    ReplaceOne,
    parallel,
)
from accountant.arrays import FloatArray
from accountant.costs import gaussian
from accountant.costs.curves import bun_steinke_epsilon
from mechanisms import NegativeBinomialStopping, RadoColumnLaw, selection_cost
from mechanisms.randomness import choice_probabilities
from proofs_tests.harness import Pair, Report, ScriptedNoise, check_mechanism, composed_epsilon
from proofs_tests.harness import neighbours as all_neighbours
from proofs_tests.harness.divergence import LogProbabilities
from proofs_tests.mutants.mutant import (
    Mutant,
    Numbers,
    binned,
    both_ways,
    claim,
    enumerated,
    lawful,
    response,
)

BIT = both_ways([Pair((0.0,), (1.0,))])


def composed(subject: str, both: Pair[LogProbabilities], rounds: int, claimed: ApproxDP) -> Report:
    """A claim about `rounds` releases on the same pair, against their exact composition."""
    found = composed_epsilon(both, rounds, claimed.delta)
    return claim(subject, claimed, f"ε at δ = {claimed.delta:g}", claimed.epsilon, found)


def answers(epsilon: float) -> Pair[LogProbabilities]:
    return Pair((0.0,), (1.0,)).map(response(epsilon))


def together(*each: Callable[[Numbers], FloatArray]) -> Callable[[Numbers], FloatArray]:
    """The law of several independent releases."""

    def law(records: Numbers) -> FloatArray:
        total = np.zeros(1)
        for one in each:
            total = np.add.outer(total, one(records)).ravel()
        return total

    return law


# --- composition ----------------------------------------------------------------------------------------------------


def square_root_only(rounds: int, epsilon: float, delta: float) -> float:
    """001, Remark 16: k·ε² + ε·√(k ln(1/δ))."""
    return rounds * epsilon**2 + epsilon * math.sqrt(rounds * -math.log(delta))


def remark_16(as_printed: bool) -> Report:
    rounds, epsilon, delta = 100, 0.01, 1e-8
    right = Plan.of(PureDP(epsilon), rounds).price(delta, routes=("kov",)).best.epsilon
    claimed = square_root_only(rounds, epsilon, delta) if as_printed else right * (1.0 + 1e-4)
    return composed("100 randomized responses", answers(epsilon), rounds, ApproxDP(claimed, delta))


def gaussians_composed(mu: float) -> Report:
    """Four Gaussian releases of μ = 1/4 are one of μ = √4/4."""

    def law(records: Numbers) -> FloatArray:
        return binned(0.5 * records[0], ndtr, reach=20.0)

    return check_mechanism(lawful("four Gaussians", GDP(mu), law), BIT)


def response_as_gdp(limit: bool) -> Report:
    """Few randomized responses priced by their central limit, or exactly."""
    rounds, epsilon, delta = 3, 0.1, 0.01
    loss, chance = epsilon, 1.0 / (1.0 + math.exp(-epsilon))
    spread = 2.0 * loss * math.sqrt(rounds * chance * (1.0 - chance))
    right = Plan.of(PureDP(epsilon), rounds).price(delta).best.epsilon
    claimed = gaussian.epsilon(spread, delta) if limit else right
    return composed("3 randomized responses", answers(epsilon), rounds, ApproxDP(claimed * (1.0 + 1e-4), delta))


def leaky(records: Numbers) -> FloatArray:
    """Shows the record with probability 1e-3, nothing otherwise."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.array([0.999, 0.001 * (records[0] == 0.0), 0.001 * (records[0] == 1.0)])))


def deltas(add: bool) -> Report:
    both = Pair((0.0,), (1.0,)).map(leaky)
    return composed("10 leaky releases", both, 10, ApproxDP(0.1, 0.01 if add else 0.001))


def several(price: float, *epsilons: float) -> Report:
    law = together(*(response(epsilon) for epsilon in epsilons))
    return check_mechanism(lawful("randomized responses", PureDP(price), law), BIT)


def cells_in_parallel(replace_one: bool) -> Report:
    """A noisy count of zeros and one of ones, each ε-DP when a record is added or removed."""

    def count(value: float, records: Numbers) -> FloatArray:
        return choice_probabilities.exponential(-np.abs(np.arange(4.0) - records.count(value)), 0.5)

    law = together(partial(count, 0.0), partial(count, 1.0))
    cost = parallel([1.0, 1.0], replace_one=replace_one)
    return check_mechanism(lawful("counts in parallel", cost, law), all_neighbours(ReplaceOne(), (0.0, 1.0), 3))


# --- conversions ----------------------------------------------------------------------------------------------------


def one_response(price: Cost) -> Report:
    return check_mechanism(lawful("randomized response", price, response(1.0)), BIT)


def read_out(with_rho: bool) -> Report:
    """A Gaussian of ρ = 8 as (ε, δ): 2√(ρ ln(1/δ)), or with the ρ in front."""
    rho, delta = 8.0, 1e-5
    epsilon = bun_steinke_epsilon(rho, delta) - (0.0 if with_rho else rho)

    def law(records: Numbers) -> FloatArray:
        return binned(4.0 * records[0] - 2.0, ndtr, reach=10.0)

    return check_mechanism(lawful("Gaussian", ApproxDP(epsilon, delta), law), BIT)


# --- repetition and choice ------------------------------------------------------------------------------------------


def _best_of(generating: Callable[[FloatArray], FloatArray]) -> Callable[[Numbers], FloatArray]:
    """The best of K runs of an exponential mechanism over three scores: P(best <= i) = E[F_i^K]; none is lowest."""

    def law(records: Numbers) -> FloatArray:
        below = np.cumsum(
            np.exp(choice_probabilities.exponential(np.array([0.0, 2.0, 0.0]) * (1.0 - 2.0 * records[0]), 0.25))
        )
        return np.asarray(np.log(np.diff(generating(np.concatenate([[0.0], np.minimum(below, 1.0)])))))

    return law


def best_of_geometric(price: float) -> Report:
    """K >= 1 geometric with mean 20."""
    law = _best_of(lambda f: 0.05 * f / (1.0 - 0.95 * f))
    return check_mechanism(lawful("best of a random number", PureDP(price), law), BIT)


def best_of_five(price: float) -> Report:
    return check_mechanism(lawful("best of five", PureDP(price), _best_of(lambda f: f**5)), BIT)


def half_of_the_records(secret: bool) -> Report:
    """One of two records is asked; which one is secret, or always the first. Priced as amplified by sampling."""

    def law(records: Numbers) -> FloatArray:
        first, second = response(1.0)(records[:1]), response(1.0)(records[1:])
        return np.logaddexp(first, second) - math.log(2.0) if secret else first

    price = math.log1p(0.5 * math.expm1(1.0))
    return check_mechanism(lawful("subsampled", PureDP(price), law), all_neighbours(ReplaceOne(), (0.0, 1.0), 2))


# --- rados ----------------------------------------------------------------------------------------------------------

OTHERS = (1.0, 2.0, 4.0, 8.0)


def rado_vector(whole: bool) -> Report:
    """One rado of four records: a public column in general position, and the protected one."""

    def choose(bits: Numbers, noise: ScriptedNoise) -> Numbers:
        support = noise.bits(len(bits))
        column = float(np.dot(support, bits))
        return (column, float(np.dot(support, OTHERS))) if whole else (column,)

    pairs = all_neighbours(ReplaceOne(), (-1.0, 1.0), 4)
    price = ApproxDP(5.0, 0.1) if whole else ApproxDP(RadoColumnLaw(4).epsilon(0.1), 0.1)
    return enumerated("rados", choose, price, pairs)


def column(records: int) -> Pair[LogProbabilities]:
    """One rado column and its neighbour's: a binomial law and the same shifted by one."""
    law = binom.logpmf(np.arange(-1, records + 2), records, 0.5)
    return Pair(law[:-1], law[1:])


def rado_column(rounds: int, epsilon: float, delta: float) -> Report:
    return composed("rado column", column(100), rounds, ApproxDP(epsilon, delta))


def rados_exactly(rounds: int, delta: float) -> Report:
    return rado_column(rounds, RadoColumnLaw(100).epsilon(delta, rounds) * 1.01, delta)


RUN = PureDP(0.5)
TEN = RadoColumnLaw(100).epsilon(1e-6)

MUTANTS = (
    Mutant("√(k ln(1/δ)) for pure DP", "true for bounded range; for ε-DP δ is up to 42 times larger",
           "001 Remark 16; claims.md §1", partial(remark_16, True), partial(remark_16, False), "composition"),
    Mutant("GDP without the root", "Σμ² in place of √Σμ²", "issue 4: wrong GDP composition",
           partial(gaussians_composed, 0.25), partial(gaussians_composed, 0.5), "exact law"),
    Mutant("central limit as a bound", "GDP of the limit can understate", "peers.md §6 #15, opacus PR #400",
           partial(response_as_gdp, True), partial(response_as_gdp, False), "composition"),
    Mutant("δ charged once", "each of k releases fails with probability δ", "basic composition", partial(deltas, False),
           partial(deltas, True), "composition"),
    Mutant("budget counted once for two fits", "cross-validation charged as one fit", "peers.md §8",
           partial(several, 1.0, 1.0, 1.0), partial(several, 2.0, 1.0, 1.0), "exact law"),
    Mutant("half spent, then all", "ε/2 for the structure and ε for the values", "peers.md §6 #20, PrivBayes",
           partial(several, 1.0, 0.5, 1.0), partial(several, 1.0, 0.5, 0.5), "exact law"),
    Mutant("parallel composition under replace-one", "a replaced record leaves one cell and enters another: 2ε",
           "001 Thm 2; claims.md §1", partial(cells_in_parallel, False), partial(cells_in_parallel, True), "exact law"),
    Mutant("ρ = ε²/8 for any ε-DP", "the constant of bounded range; randomized response needs ε·tanh(ε/2)",
           "claims.md §0, L3", partial(one_response, ZCDP(0.125)), partial(one_response, PureDP(1.0).to_zcdp()),
           "exact law"),
    Mutant("ε-DP as μ = ε", "randomized response at ε needs μ = 2Φ⁻¹(e^ε/(1 + e^ε)) = 1.23ε at 1",
           "Dong, Roth & Su 2022", partial(one_response, GDP(1.0)), partial(one_response, GDP(1.233)), "exact law"),
    Mutant("ε-DP as bounded range ε", "a pure loss spans up to 2ε", "claims.md §0",
           partial(one_response, BoundedRange(1.0)), partial(one_response, BoundedRange(2.0)), "exact law"),
    Mutant("zCDP read out without ρ", "2√(ρ ln(1/δ)) alone", "003-Lem15", partial(read_out, False),
           partial(read_out, True), "exact law"),
    Mutant("random stopping charged as one run", "the best of a random number of runs costs two to three of them",
           "Liu & Talwar 2019; Papernot & Steinke 2022", partial(best_of_geometric, 0.5),
           partial(best_of_geometric, selection_cost([RUN], NegativeBinomialStopping(1.0, 0.05)).epsilon), "exact law"),
    Mutant("best of five charged as one", "grid search on the private data", "001 experiments; claims.md §1",
           partial(best_of_five, 0.5), partial(best_of_five, 2.5), "exact law"),
    Mutant("amplification by a sample that is known", "amplified as if the batch were secret",
           "peers.md §6 #18: wrong sampling declared", partial(half_of_the_records, False),
           partial(half_of_the_records, True), "exact law"),
    Mutant("DP-FEAT for whole rado vectors", "the other columns show which records were summed",
           "000 Thm 6; claims.md §3", partial(rado_vector, True), None, "enumeration"),
    Mutant("DP-FEAT with δ = 1/m²", "δ is not o(1/m) at ε = 1/√m", "000 Thm 6; claims.md §3",
           partial(rado_column, 1, 0.1, 1e-4), partial(rados_exactly, 1, 1e-4), "composition"),
    Mutant("ten rados charged as one", "each is drawn from the same records", "000-rado-column",
           partial(rado_column, 10, TEN, 1e-6), partial(rados_exactly, 10, 1e-6), "composition"),
)  # fmt: skip
