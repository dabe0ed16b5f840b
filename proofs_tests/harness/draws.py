"""Outputs of a program on data sets: drawn once for all the pairs that a data set is in, many at a time where possible.

That pairs share draws leaves every bound as right as it was: chances of error add up over pairs, dependent or not.
"""

import io
import pickle
from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, TypeAlias, TypeVar, cast

import attrs
import numpy as np

from accountant.arrays import FloatArray
from mechanisms import GaussianNoise, LaplaceNoise, NoiseSource, PlainMechanism, Randomizer, SecureNoise, SeededNoise
from mechanisms.core.mechanism import Mechanism
from mechanisms.core.robust import CertifiedMechanism
from mechanisms.randomness.sources import BitArray

D = TypeVar("D")
R = TypeVar("R")
V = TypeVar("V")

Many: TypeAlias = Callable[[D, int], Sequence[R]]
"""A data set and a number m to m independent outputs on it."""

GENERATORS: Final = ("numpy.random", "random")
"""Modules whose objects are generators of random numbers, and what they are made of."""


class _Looking(pickle.Unpickler):
    """Reads pickled data, but no generators."""

    def find_class(self, module: str, name: str) -> object:
        if module.startswith("numpy.random") or module in GENERATORS:
            raise ValueError("data sets: expected no generator of random numbers in them; make it in the function")
        return super().find_class(module, name)


@attrs.define(eq=False)
class Draws(Generic[D, R]):
    """What a program puts out on each data set, in the order in which it was drawn.

    many: how to draw.  Data sets that pickle to the same bytes share their draws; others are told apart.
    """

    many: Many[D, R]
    _kept: dict[object, Sequence[R]] = attrs.field(factory=dict, init=False)
    _alive: list[D] = attrs.field(factory=list, init=False)

    def of(self, data: D, number: int) -> Sequence[R]:
        """The first `number` outputs; those that are not there yet are drawn."""
        if self.missing(data, number):
            self._add(data, self.many(data, self.missing(data, number)))
        return self._kept.get(self._key(data), ())[:number]

    def lacking(self, sets: Sequence[D], number: int) -> list[D]:
        """What to draw so that there are `number` outputs on each of them, in an order that mixes the data sets.

        So what drifts from call to call, as clocks and counters in outputs do, tells no data set from another.
        """
        distinct = {self._key(data): data for data in sets}
        order = [data for data in distinct.values() for _ in range(self.missing(data, number))]
        return [order[place] for place in np.random.default_rng(number).permutation(len(order))]

    def add(self, order: Sequence[D], outputs: Sequence[R]) -> None:
        """Outputs that were drawn elsewhere, one on each of these data sets, each of which is the same object."""
        own: dict[int, tuple[D, list[R]]] = {}
        for data, output in zip(order, outputs, strict=True):
            own.setdefault(id(data), (data, []))[1].append(output)
        for data, drawn in own.values():
            self._add(data, drawn)

    def _add(self, data: D, outputs: Sequence[R]) -> None:
        key = self._key(data)
        known, more = self._kept.get(key, ()), _packed(outputs)
        self._kept[key] = more if not len(known) else _joined(known, more)

    def known(self, data: D) -> int:
        """How many are there."""
        return len(self._kept.get(self._key(data), ()))

    def missing(self, data: D, number: int) -> int:
        """How many of them would have to be drawn."""
        return max(0, number - self.known(data))

    def _key(self, data: D) -> object:
        key = told_apart(data)
        if isinstance(key, int) and not any(data is each for each in self._alive):
            self._alive.append(data)  # its id stays its own for as long as it lives
        return key


def told_apart(data: object) -> bytes | int:
    """The same for data sets that pickle to the same bytes; the id of one that does not pickle."""
    try:
        return pickle.dumps(data)
    except Exception:  # whatever somebody else's data raises
        return id(data)


def _packed(outputs: Sequence[R]) -> Sequence[R]:
    """Numbers, and arrays of them in one shape, in one array, which takes a tenth of the room, and reads the same."""
    kinds = {
        (output.shape, output.dtype)
        for output in outputs
        if isinstance(output, np.ndarray) and type(output) is np.ndarray
    }
    plain = len(kinds) == 1 and all(shape and dtype.kind in "biuf" for shape, dtype in kinds)
    if plain and all(type(output) is np.ndarray for output in outputs):  # no subclass: it may hold more
        return np.array(outputs)  # type: ignore[return-value]  # a sequence of its rows
    if isinstance(outputs, np.ndarray):  # drawn at once
        return outputs
    if outputs and all(type(output) is float for output in outputs):
        return np.array(outputs)  # type: ignore[return-value]  # a sequence of its numbers
    return list(outputs)


def _joined(first: Sequence[R], second: Sequence[R]) -> Sequence[R]:
    if not isinstance(first, np.ndarray) or not isinstance(second, np.ndarray):
        return [*first, *second]
    alike = first.shape[1:] == second.shape[1:] and first.dtype == second.dtype
    return np.concatenate([first, second]) if alike else [*first, *second]


# --- how mechanisms of ours are drawn from ----------------------------------------------------------------------------


@attrs.frozen
class _Repeated:
    """A source that adds noise to a value `times` over: coordinates are independent, the grid is that of one value."""

    inner: NoiseSource
    times: int

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def private(self) -> bool:
        return self.inner.private

    def laplace(self, values: FloatArray, scale: float, grid: int) -> FloatArray:
        return self.inner.laplace(self._repeated(values), scale, grid)

    def gaussian(self, values: FloatArray, sigma: float, grid: int) -> FloatArray:
        return self.inner.gaussian(self._repeated(values), sigma, grid)

    def _repeated(self, values: FloatArray) -> FloatArray:
        return np.broadcast_to(values, (self.times, *values.shape)).copy()

    def exponential_choice(self, scores: FloatArray, eta: float) -> int:
        raise NotImplementedError

    def noisy_max_choice(self, scores: FloatArray, eta: float) -> int:
        raise NotImplementedError

    def permute_and_flip_choice(self, scores: FloatArray, eta: float) -> int:
        raise NotImplementedError

    def bits(self, number: int) -> BitArray:
        raise NotImplementedError


def many_of(mechanism: Mechanism[D, R]) -> Many[D, R]:
    """How to draw many outputs of a mechanism: at once for our own additive noise, one by one for anything else.

    At once means by the very code of its randomizer, on a source that repeats the value; nothing that overrides any of
    it is taken for it.
    """
    if type(mechanism) is PlainMechanism:
        return _many(mechanism.query.evaluate, mechanism.randomizer, mechanism.noise, mechanism.sample)
    if type(mechanism) is CertifiedMechanism:
        robust = mechanism.robust
        return _many(robust.query.evaluate, robust.randomizer, robust.noise, mechanism.sample)
    return one_by_one(mechanism.sample)


def _many(
    evaluate: Callable[[D], V], randomizer: Randomizer[V, Any, R], noise: NoiseSource, sample: Callable[[D], R]
) -> Many[D, R]:
    if type(randomizer) not in (LaplaceNoise, GaussianNoise) or type(noise) not in (SecureNoise, SeededNoise):
        return one_by_one(sample)

    def many(data: D, number: int) -> Sequence[R]:
        value = evaluate(data)
        if not np.array_equal(np.asarray(value), np.asarray(evaluate(data))):
            return one_by_one(sample)(data, number)  # no function of the data: it draws something itself
        return cast("Sequence[R]", randomizer.draw(value, _Repeated(noise, number)))

    return many


def copies(data: D) -> Callable[[], D]:
    """Gives equal data sets, each a new one, so that what a call changes in its own does not show in the next.

    What does not pickle is given as it is. Raises ValueError for data that hold a generator of random numbers: its
    copies would all draw the same.
    """
    try:
        kept = pickle.dumps(data)
    except Exception:  # whatever somebody else's data raises
        return lambda: data
    _Looking(io.BytesIO(kept)).load()
    return lambda: cast("D", pickle.loads(kept))  # noqa: S301  # of the bytes above


def one_by_one(sample: Callable[[D], R]) -> Many[D, R]:
    """What draws one output draws many."""
    return lambda data, number: [sample(data) for _ in range(number)]
