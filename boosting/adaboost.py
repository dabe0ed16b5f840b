"""AdaBoost's way of weighting records, which nothing certifies; so a private weak learner never sees it."""

import math
from typing import Generic, Never, TypeVar

import attrs
import numpy as np

from accountant.arrays import FloatArray
from accountant.explained import Explained
from boosting.booster import Hypothesis, Labelled
from boosting.reweighted_sample import in_range
from mechanisms import Slickness

S = TypeVar("S", bound=Labelled)


class NoCertificate(Explained, ValueError):
    """No useful distance can be promised between what neighbouring samples are weighted by."""


def _refuse() -> Never:
    raise NoCertificate(
        "AdaBoost: one record may hold half of all the weight after a single round, however many there are, and which "
        "coefficients it has depends on the data; use LazyBregman, or ExponentialWeights, which have certificates"
    )


@attrs.frozen(eq=False)
class AdaBoosted(Generic[S]):
    """A sample as AdaBoost weights it. distribution: μ̂, shape (n,).  coefficients: α of each hypothesis so far."""

    sample: S
    distribution: FloatArray
    coefficients: tuple[float, ...] = ()

    @property
    def slickness(self) -> Slickness:
        """Raises NoCertificate."""
        _refuse()


@attrs.frozen
class AdaBoost:
    """μ̂ ∝ μ̂·exp(−α·y·h(x)), α = ½·ln((1 + r)/(1 − r)), r = Σ μ̂·y·h(x). Source: Schapire & Singer (1999), section 3.

    It follows the schema, and may be run on unsealed data; `boost` refuses it before the first release. A hypothesis
    that is right, or wrong, on all the weight would have an infinite α and gets one for r = ±(1 − 2^-40).
    """

    def slickness(self, n: int, number: int) -> Slickness:
        """Raises NoCertificate, with what to use instead."""
        _refuse()

    def start(self, sample: S) -> AdaBoosted[S]:
        """The uniform distribution."""
        return AdaBoosted(sample, np.full(sample.n, 1.0 / sample.n))

    def step(self, state: AdaBoosted[S], hypothesis: Hypothesis[S]) -> AdaBoosted[S]:
        """The distribution after one more hypothesis; one of ±1 is then right on half of the weight."""
        agreement = state.sample.labels * in_range(hypothesis.predictions(state.sample))
        edge = min(max(float(state.distribution @ agreement), 2.0**-40 - 1.0), 1.0 - 2.0**-40)
        coefficient = math.atanh(edge)
        weights = state.distribution * np.exp(-coefficient * agreement)
        return AdaBoosted(state.sample, weights / np.sum(weights), (*state.coefficients, coefficient))
