"""What a mutant is, and the few small mechanisms that mutants are made of."""

import math
import time
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

import attrs
import numpy as np

from accountant import (
    GDP,
    ZCDP,
    Adjacency,
    ApproxDP,
    BoundedRange,
    Cost,
    Description,
    LaplaceDP,
    PureDP,
    ReplaceOne,
    SubsampledGaussian,
    Unbounded,
    UnsupportedCost,
)
from accountant.arrays import FloatArray
from mechanisms import FiniteMechanism, Mechanism, NoiseSource, SeededNoise
from proofs_tests.harness import ClaimViolated, Pair, Report, ScriptedNoise, check_learner
from proofs_tests.harness.report import judged

D = TypeVar("D")
R = TypeVar("R")
H = TypeVar("H", bound=Hashable)

Numbers = tuple[float, ...]
"""Records, answers or scores, one after another."""


@attrs.frozen
class Mutant:
    """Something wrong, and how the kit looks at it.

    name: unique.  reason: what is wrong.  source: where it was published, or what it is a mistake of.
    check: raises ClaimViolated where the kit refutes it.  sound: the same for the corrected twin; must not raise.
    method: how it is looked at.  survives: why the kit does not see it; empty where it does.
    refused: the kit raises ValueError in place of ClaimViolated: it will not look at such a thing at all.
    """

    name: str
    reason: str
    source: str
    check: Callable[[], object]
    sound: Callable[[], object] | None
    method: str
    survives: str = ""
    refused: bool = False


@attrs.frozen
class Verdict:
    """What became of a mutant: what was said against it, or nothing; and the kit's report, if any."""

    mutant: Mutant
    said: str
    report: Report | None
    seconds: float


def verdict(mutant: Mutant) -> Verdict:
    """Let the kit look at a mutant once."""
    started, said, report = time.perf_counter(), "", None
    try:
        found = mutant.check()
        report = found if isinstance(found, Report) else None
    except ClaimViolated as violated:
        report = violated.report
        said = f"{report.verdict}: {report.found:.4g} of {report.bound:.4g}"
    except ValueError as refused:
        if not mutant.refused:
            raise
        said = f"refused: {refused}"
    return Verdict(mutant, said, report, time.perf_counter() - started)


# --- mechanisms ---------------------------------------------------------------------------------------------------


@attrs.frozen(slots=False)
class _Stated(Mechanism[D, R]):
    """A mechanism that states a price of its own."""

    name: str
    price: Cost
    relation: Adjacency

    @property
    def cost(self) -> Cost:
        return self.price

    @property
    def adjacency(self) -> Adjacency:
        return self.relation

    @property
    def description(self) -> Description:
        return Description(self.name, "a mutant's query", (), "none", 0.0, None, "seeded (numpy)", False, ())

    def sample(self, data: D) -> R:
        raise NotImplementedError


@attrs.frozen(slots=False)
class Lawful(_Stated[D, int], FiniteMechanism[D]):
    """A mechanism that is its law: data to log-probabilities."""

    law: Callable[[D], FloatArray]
    noise: NoiseSource = attrs.field(factory=lambda: SeededNoise(0))

    def log_probabilities(self, data: D) -> FloatArray:
        return self.law(data)

    def sample(self, data: D) -> int:
        return self.noise.exponential_choice(self.law(data), 1.0)


@attrs.frozen(slots=False)
class Drawn(_Stated[D, FloatArray]):
    """A mechanism that is its sampler."""

    draw: Callable[[D, np.random.Generator], FloatArray]
    generator: np.random.Generator = attrs.field(factory=lambda: np.random.default_rng(0))

    def sample(self, data: D) -> FloatArray:
        return self.draw(data, self.generator)


@attrs.frozen(slots=False)
class Repriced(_Stated[D, R]):
    """Another mechanism under another price, to be sampled."""

    inner: Mechanism[D, R]

    def sample(self, data: D) -> R:
        return self.inner.sample(data)


def lawful(name: str, price: Cost, law: Callable[[D], FloatArray]) -> Lawful[D]:
    """A finite mechanism under replace-one."""
    return Lawful(name, price, ReplaceOne(), law)


def drawn(name: str, price: Cost, draw: Callable[[D, np.random.Generator], FloatArray]) -> Drawn[D]:
    """A sampler under replace-one."""
    return Drawn(name, price, ReplaceOne(), draw)


def smaller(cost: Cost, factor: float) -> Cost:
    """A cost understated by a factor in its ε, ρ or μ."""
    match cost:
        case ApproxDP(epsilon=epsilon, delta=delta):
            return ApproxDP(epsilon / factor, delta)
        case PureDP() | LaplaceDP() | BoundedRange():
            return type(cost)(cost.epsilon / factor)
        case ZCDP(rho=rho):
            return ZCDP(rho / factor)
        case GDP(mu=mu):
            return GDP(mu / factor)
        case SubsampledGaussian(mu=mu, sampling_rate=rate):
            return SubsampledGaussian(mu / factor, rate)
        case Unbounded():
            raise UnsupportedCost("no factor makes Unbounded() smaller")


def cheaper(mechanism: Mechanism[D, R], factor: float) -> Mechanism[D, R]:
    """The same mechanism with its declared cost divided by a factor, to be sampled."""
    name = f"{mechanism.description.mechanism}/{factor:g}"
    return Repriced(name, smaller(mechanism.cost, factor), mechanism.adjacency, mechanism)


def priced(mechanism: FiniteMechanism[D], cost: Cost) -> Lawful[D]:
    """The same finite mechanism with another declared cost."""
    return Lawful(mechanism.description.mechanism, cost, mechanism.adjacency, mechanism.log_probabilities)


def cheaper_law(mechanism: FiniteMechanism[D], factor: float) -> Lawful[D]:
    """The same finite mechanism with its declared cost divided by a factor."""
    return priced(mechanism, smaller(mechanism.cost, factor))


# --- laws and claims ----------------------------------------------------------------------------------------------


def both_ways(pairs: Sequence[Pair[D]]) -> list[Pair[D]]:
    """Every pair, and the other way round."""
    return [*pairs, *(Pair(pair.after, pair.before) for pair in pairs)]


def response(epsilon: float) -> Callable[[Numbers], FloatArray]:
    """Randomized response to record 0, which is 0 or 1: the log-probabilities of answers 0 and 1."""

    def law(records: Numbers) -> FloatArray:
        row = np.array([0.0, -epsilon]) - math.log1p(math.exp(-epsilon))
        return row if records[0] == 0.0 else row[::-1]

    return law


def binned(centre: float, cdf: Callable[[FloatArray], FloatArray], reach: float = 20.0) -> FloatArray:
    """log P of 4,000 cells of centre + noise, the outermost ones open; binning only hides."""
    edges = np.linspace(-reach, reach, 3999)
    below = np.concatenate([[0.0], cdf(edges - centre), [1.0]])
    # Upper cells from the mirrored tail, so that they keep their digits.
    above = np.concatenate([[1.0], cdf(centre - edges), [0.0]])
    cells = np.where(below[1:] < 0.5, np.diff(below), -np.diff(above))
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.maximum(cells, 0.0)))


def claim(subject: str, claimed: Cost, quantity: str, bound: float, found: float) -> Report:
    """A claim about something composed, against what it was found to be. Raises ClaimViolated."""
    return judged(Report(subject, repr(claimed), quantity, bound, found, "exact", "the worst pair", 1, 0.0))


def enumerated(subject: str, run: Callable[[D, ScriptedNoise], H], price: Cost, pairs: Iterable[Pair[D]]) -> Report:
    """A program by its exact law, drawing from the given noise only, against one price. Raises ClaimViolated."""
    return check_learner(run, {subject: price}, pairs)[0]
