"""Wrong additive noise: too little of it, on too few coordinates, or of a size that tells."""

import math
from functools import partial

import numpy as np
from scipy.special import expit, ndtr

from accountant import GDP, ApproxDP, BoundedRange, PureDP, ReplaceOne
from accountant.arrays import FloatArray
from mechanisms import (
    GammaNormNoise,
    GaussianNoise,
    L1Sensitivity,
    L2Sensitivity,
    LaplaceNoise,
    PlainMechanism,
    Query,
    Randomizer,
    SeededNoise,
)
from proofs_tests.harness import Pair, Report, check_mechanism
from proofs_tests.mutants.mutant import (
    Mutant,
    Numbers,
    binned,
    both_ways,
    cheaper,
    drawn,
    lawful,
)

ONE: list[Pair[Numbers]] = [Pair((0.0,), (1.0,))]
TWO: list[Pair[Numbers]] = [Pair((0.0, 0.0), (1.0, 0.0))]
SAMPLES = 24_000
"""For a factor of 1.25."""

FEWER_SAMPLES = 7_000


def laplace() -> PlainMechanism[Numbers, FloatArray, L1Sensitivity, FloatArray]:
    query = Query[Numbers, FloatArray, L1Sensitivity]("sum", np.array, L1Sensitivity(1.0), ReplaceOne())
    return PlainMechanism(query, LaplaceNoise(1.0 / 1.5), SeededNoise(0))


def l2_noise(
    randomizer: Randomizer[FloatArray, L2Sensitivity, FloatArray],
) -> PlainMechanism[Numbers, FloatArray, L2Sensitivity, FloatArray]:
    query = Query[Numbers, FloatArray, L2Sensitivity]("mean", np.array, L2Sensitivity(1.0), ReplaceOne())
    return PlainMechanism(query, randomizer, SeededNoise(0))


def laplace_at(factor: float, samples: int) -> Report:
    return check_mechanism(cheaper(laplace(), factor), ONE, samples=samples)


def gaussian_at(factor: float, samples: int) -> Report:
    return check_mechanism(cheaper(l2_noise(GaussianNoise(1.0)), factor), ONE, samples=samples)


def gamma_at(pairs: list[Pair[Numbers]], factor: float, samples: int) -> Report:
    return check_mechanism(cheaper(l2_noise(GammaNormNoise(1.0 / 1.5)), factor), pairs, samples=samples)


def laplace_cells(factor: float) -> Report:
    """The same without samples: the law of the noisy value put into cells, which only hides."""

    def law(records: Numbers) -> FloatArray:
        return binned(records[0], lambda x: np.where(x < 0.0, 0.5 * np.exp(-np.abs(x)), 1.0 - 0.5 * np.exp(-np.abs(x))))

    return check_mechanism(lawful("Laplace in cells", PureDP(1.0 / factor), law), both_ways(ONE))


def gaussian_cells(factor: float) -> Report:
    def law(records: Numbers) -> FloatArray:
        return binned(records[0], ndtr, reach=20.0)

    return check_mechanism(lawful("Gaussian in cells", GDP(1.0 / factor), law), both_ways(ONE))


def logistic_cells(price: float) -> Report:
    """Logistic noise of scale 1: the exponential mechanism between two labels, as it is thresholded."""

    def law(records: Numbers) -> FloatArray:
        return binned(records[0], expit)

    return check_mechanism(lawful("Logistic in cells", BoundedRange(price), law), both_ways(ONE))


def gaussian_at_ten(mu: float) -> Report:
    """Gaussian noise for ε = 10, δ = 1e-5 and sensitivity 1."""

    def law(records: Numbers) -> FloatArray:
        return binned(mu * records[0], ndtr, reach=8.0)

    return check_mechanism(lawful("Gaussian at ε = 10", ApproxDP(10.0, 1e-5), law), both_ways(ONE))


# --- noise in the wrong places --------------------------------------------------------------------------------------


def complex_noise(both: bool) -> Report:
    """One random feature of one point: its real and imaginary part. Sensitivity at most 2."""

    def draw(records: Numbers, generator: np.random.Generator) -> FloatArray:
        value = np.exp(1j * records[0])
        exact = np.array([value.real, value.imag])
        return np.asarray(exact + generator.normal(scale=2.0, size=2) * np.array([1.0, float(both)]))

    return check_mechanism(drawn("random features", GDP(1.0), draw), [Pair((1.0,), (-1.0,))], samples=FEWER_SAMPLES)


def one_coordinate_bare(scale: float, old: float) -> Report:
    """Counts of zeros and ones among records of 0, 1 or 2. Only the first has the noise."""

    def draw(records: Numbers, generator: np.random.Generator) -> FloatArray:
        counts = np.array([records.count(0.0), records.count(1.0)], dtype=np.float64)
        return np.asarray(counts + generator.laplace(scale=2.0, size=2) * np.array([1.0, scale]))

    return check_mechanism(
        drawn("two counts", PureDP(1.0), draw), [Pair((0.0, old), (0.0, 1.0))], samples=FEWER_SAMPLES
    )


def bare_and_faint(scale: float) -> Report:
    """The bare coordinate moves by a thousandth of the noise on the other one."""

    def draw(records: Numbers, generator: np.random.Generator) -> FloatArray:
        exact = np.array([records[0], 1e-3 * records[0]])
        return np.asarray(exact + generator.laplace(size=2) * np.array([2.0, scale]))

    return check_mechanism(drawn("two means", PureDP(1.0), draw), ONE, samples=FEWER_SAMPLES)


def same_noise_twice(own: bool, after: Numbers) -> Report:
    """Two counts from a generator that starts at the same seed for each: their difference is exact."""

    def draw(records: Numbers, generator: np.random.Generator) -> FloatArray:
        first, second = generator.laplace(scale=2.0, size=2)
        return np.array([records[0] + first, records[1] + (second if own else first)])

    return check_mechanism(drawn("two counts", PureDP(1.0), draw), [Pair((0.0, 0.0), after)], samples=FEWER_SAMPLES)


def local_scale(local: bool) -> Report:
    """The median of three records in [0, 1], with noise for how far it could move *here*."""

    def draw(records: Numbers, generator: np.random.Generator) -> FloatArray:
        low, middle, high = sorted(records)
        scale = max(middle - low, high - middle, 1e-9) if local else 1.0
        return np.array([middle + generator.laplace(scale=scale)])

    return check_mechanism(
        drawn("median", PureDP(1.0), draw), [Pair((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))], samples=FEWER_SAMPLES
    )


def less_noise_costs_less(upside_down: bool) -> Report:
    def draw(records: Numbers, generator: np.random.Generator) -> FloatArray:
        return np.array([records[0] + generator.laplace(scale=0.5)])

    return check_mechanism(drawn("sum", PureDP(0.5 if upside_down else 2.0), draw), ONE, samples=FEWER_SAMPLES)


def float_laplace() -> Report:
    """0 or 1 plus Lap(1) by the textbook's logarithm: not every float can be reached from both."""

    def draw(records: Numbers, generator: np.random.Generator) -> FloatArray:
        uniform = generator.random() - 0.5
        return np.array([records[0] - math.copysign(1.0, uniform) * math.log(1.0 - 2.0 * abs(uniform))])

    return check_mechanism(drawn("float Laplace", PureDP(1.0), draw), ONE, samples=FEWER_SAMPLES)


LATTICE = """The leak is in the last bits: which floats can come out differs between neighbours. The kit looks at
half-lines along one direction, whose probabilities are right. The library's own noise lives on a grid."""

CLASSICAL = math.sqrt(2.0 * math.log(1.25e5)) / 10.0
MISTAKE = "issue 4: wrong constant"

MUTANTS = (
    Mutant("Laplace, cost/2", "half the noise", MISTAKE, partial(laplace_at, 2.0, FEWER_SAMPLES), None, "samples"),
    Mutant("Laplace, cost/1.25", "four fifths of the noise", MISTAKE, partial(laplace_at, 1.25, SAMPLES),
           partial(laplace_at, 1.0, SAMPLES), "samples"),
    Mutant("Laplace in cells, cost/1.25", "the same by its law", MISTAKE, partial(laplace_cells, 1.25),
           partial(laplace_cells, 1.0), "exact law"),
    Mutant("Gaussian, cost/2", "half the noise", MISTAKE, partial(gaussian_at, 2.0, FEWER_SAMPLES), None, "samples"),
    Mutant("Gaussian, cost/1.25", "four fifths of the noise", MISTAKE, partial(gaussian_at, 1.25, SAMPLES),
           partial(gaussian_at, 1.0, SAMPLES), "samples"),
    Mutant("Gaussian in cells, cost/1.25", "the same by its law", MISTAKE, partial(gaussian_cells, 1.25),
           partial(gaussian_cells, 1.0), "exact law"),
    Mutant("Gamma norm, cost/2", "half the noise, in two dimensions", MISTAKE,
           partial(gamma_at, TWO, 2.0, FEWER_SAMPLES), partial(gamma_at, TWO, 1.0, FEWER_SAMPLES), "samples"),
    Mutant("Gamma norm, cost/1.25", "four fifths of the noise", MISTAKE, partial(gamma_at, ONE, 1.25, SAMPLES),
           partial(gamma_at, ONE, 1.0, SAMPLES), "samples"),
    Mutant("logistic noise as bounded range at its ε", "the single noisy value is ε-DP, only its sign has width ε",
           "claims.md §1: a gap with noise is not bounded range", partial(logistic_cells, 1.0),
           partial(logistic_cells, 2.0), "exact law"),
    Mutant("classical Gaussian at ε = 10", "√(2 ln(1.25/δ))/ε is proved below ε = 1; the true δ is 2.27e-5",
           "004 Thm 7; Balle & Wang 2018; peers.md §6 #26", partial(gaussian_at_ten, 1.0 / CLASSICAL),
           partial(gaussian_at_ten, 1.9), "exact law"),
    Mutant("noise on the real part only", "the imaginary part is released as it is", "004 Alg. 1",
           partial(complex_noise, False), partial(complex_noise, True), "samples"),
    Mutant("one coordinate without noise", "some weights come back clipped but without noise",
           "peers.md §6 #12, NVFlare#343", partial(one_coordinate_bare, 0.0, 2.0),
           partial(one_coordinate_bare, 1.0, 2.0), "samples"),
    Mutant("one coordinate without noise, both move", "as above, and the noised one moves as far", "peers.md §6 #12",
           partial(one_coordinate_bare, 0.0, 0.0), partial(one_coordinate_bare, 1.0, 0.0), "samples"),
    Mutant("one faint coordinate without noise", "as above; the bare coordinate hardly moves", "peers.md §6 #12",
           partial(bare_and_faint, 0.0), partial(bare_and_faint, 0.002), "samples"),
    Mutant("seed used twice", "two answers with the same noise: their difference is exact", "issue 4",
           partial(same_noise_twice, False, (1.0, -1.0)), partial(same_noise_twice, True, (1.0, -1.0)), "samples"),
    Mutant("seed used twice, one answer moves", "as above; only one of the answers changes", "issue 4",
           partial(same_noise_twice, False, (1.0, 0.0)), partial(same_noise_twice, True, (1.0, 0.0)), "samples"),
    Mutant("noise for the local sensitivity", "the size of the noise tells", "Nissim, Raskhodnikova & Smith 2007",
           partial(local_scale, True), partial(local_scale, False), "samples"),
    Mutant("less noise costs less", "ε = scale in place of 1/scale", "peers.md §6 #21, PySyft#6914",
           partial(less_noise_costs_less, True), partial(less_noise_costs_less, False), "samples"),
    Mutant("textbook Laplace in floating point", "the set of reachable floats depends on the data",
           "Mironov 2012; peers.md §6 #8, #9", float_laplace, None, "samples", LATTICE),
)  # fmt: skip
