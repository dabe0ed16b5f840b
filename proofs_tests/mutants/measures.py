"""Measure producers whose certificates are wrong, or that do not do what theirs is about."""

from collections.abc import Callable
from functools import partial
from typing import Final

import attrs
import numpy as np

from accountant import ReplaceOne
from accountant.arrays import FloatArray
from boosting import AdaBoost, ExponentialWeights, LazyBregman, Reweighted
from boosting.measures import WholeArray
from boosting.reweighted_sample import start, step
from mechanisms import Slickness
from proofs_tests.harness import Report, check_slickness
from proofs_tests.harness.slickness import LabelledPoints, Lookup
from proofs_tests.mutants.mutant import Mutant

LAZY: Final = LazyBregman(0.5, 1.0)
"""At three records 1/(κn) is 2/3, and no capping is needed for it before round 2."""

Weigh = Callable[[FloatArray, WholeArray], tuple[FloatArray, float]]
"""Margins and how many records have each, to weights and what they are normalised by: see `MarginWeighting`."""

Promise = Callable[[int, int], float]
"""The number of records and of the round, to ζ."""


@attrs.frozen
class Measure:
    """Weighs as it is told, under the certificate that it is told."""

    weigh: Weigh
    promise: Promise
    name: str = "mutant"

    def slickness(self, n: int, number: int) -> Slickness:
        return Slickness(min(1.0, self.promise(n, number)), n, ReplaceOne(), self.name, ())

    def weights(self, margins: FloatArray, counts: WholeArray) -> tuple[FloatArray, float]:
        return self.weigh(margins, counts)

    def start(self, sample: LabelledPoints) -> Reweighted[LabelledPoints]:
        return start(sample, self)

    def step(self, state: Reweighted[LabelledPoints], hypothesis: Lookup) -> Reweighted[LabelledPoints]:
        return step(state, hypothesis)


def lazy_zeta(n: int, number: int) -> float:
    return LAZY.slickness(n, number).zeta


def certified(promise: Promise) -> Report:
    """LazyBregman's weights under another certificate."""
    return check_slickness(Measure(LAZY.weights, promise))


def weighed(weigh: Weigh) -> Report:
    """Other weights under LazyBregman's certificate."""
    return check_slickness(Measure(weigh, lazy_zeta))


def halved(n: int, number: int) -> float:
    return 0.5 * lazy_zeta(n, number)


def without_density(n: int, number: int) -> float:
    """As if no record weighed more than 1/n."""
    return 1.0 / n


def late(n: int, number: int) -> float:
    return lazy_zeta(n, max(1, number - 1))


def by_index(n: int, number: int) -> float:
    """By how much the share of the record at *one place* of the list can change."""
    return max(1e-9, lazy_zeta(n, number) - 1.0 / n)


def light(margins: FloatArray) -> FloatArray:
    return np.asarray(LAZY.density * np.exp(-LAZY.learning_rate * margins))


def projected_where_sparse(margins: FloatArray, counts: WholeArray) -> tuple[FloatArray, float]:
    weights = light(margins)
    if float(counts @ weights) < LAZY.density * float(np.sum(counts)):
        return LAZY.weights(margins, counts)
    return weights, float(counts @ weights)


def uncapped(margins: FloatArray, counts: WholeArray) -> tuple[FloatArray, float]:
    return light(margins), float(counts @ light(margins))


def unscaled(own_mass: bool, margins: FloatArray, counts: WholeArray) -> tuple[FloatArray, float]:
    weights = np.minimum(1.0, light(margins))
    return weights, float(counts @ weights) if own_mass else LAZY.density * float(np.sum(counts))


def exponential(capped: bool) -> Report:
    """Exponential weights that are not capped under the certificate of capped ones, or these."""
    producer = ExponentialWeights(0.4, capped)
    half = ExponentialWeights(0.4, capped=True)
    return check_slickness(Measure(producer.weights, lambda n, number: half.slickness(n, number).zeta))


SOUND = partial(certified, lazy_zeta)

MUTANTS = (
    Mutant("half of LazyBregman's ζ", "an invented certificate", "issue 21", partial(certified, halved), SOUND,
           "slickness"),
    Mutant("ζ = 1/n at any density", "a record of a κ-dense weighting may hold 1/(κn)", "001 §3, density",
           partial(certified, without_density), SOUND, "slickness"),
    Mutant("the certificate of the round before", "weights are further apart by one hypothesis", "001-per-round-zeta",
           partial(certified, late), SOUND, "slickness"),
    Mutant("a certificate for distances by index", "the replaced record's old and new points count as one",
           "claims.md §1, 001 Obs. 8", partial(certified, by_index), SOUND, "slickness"),
    Mutant("no projection where the measure is dense already", "smoothness holds only at density exactly κ",
           "001-projection", partial(weighed, projected_where_sparse), partial(weighed, LAZY.weights), "slickness"),
    Mutant("no capping", "one record may hold almost all of the weight", "001-projection", partial(weighed, uncapped),
           partial(weighed, LAZY.weights), "slickness"),
    Mutant("no scaling", "capped weights that need not add up to κn", "001-projection",
           partial(weighed, partial(unscaled, True)), partial(weighed, LAZY.weights), "slickness"),
    Mutant("no scaling, normalised by κn", "what is handed to queries is no distribution", "001-projection",
           partial(weighed, partial(unscaled, False)), partial(weighed, LAZY.weights), "slickness", refused=True),
    Mutant("exponential weights as if capped", "margins are within 2(t − 1), and weights within its exponential",
           "001-per-round-zeta", partial(exponential, False), partial(exponential, True), "slickness"),
    Mutant("AdaBoost", "coefficients from the data; half of the weight on one record", "Schapire & Singer 1999",
           lambda: check_slickness(AdaBoost()), None, "slickness", refused=True),
)  # fmt: skip
