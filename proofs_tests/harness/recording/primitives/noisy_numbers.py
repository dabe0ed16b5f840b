"""Numbers that remember that they are noise: the first sum with a plain value is seen, and so is the value.

A sampler that takes no value gives these while a recording runs. `value + noise` in any order, `value - noise`, and
a multiple of noise before that are understood, for numbers and arrays, by elements and in place. Anything else gives
plain numbers, and the draw stays one whose use was not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import SupportsIndex, cast

import attrs
import numpy as np

from accountant.arrays import FloatArray, IntArray
from proofs_tests.harness.recording.calls import Call, Law, Recorder, numbers_of


@attrs.frozen(eq=False)
class Drawn:
    """Where noise comes from: elements `spots` of the call `number`, times `factor`, plus `centre`."""

    recorder: Recorder
    number: int
    law: Law
    primitive: str
    scale: FloatArray
    spots: IntArray
    factor: FloatArray
    centre: FloatArray

    def at(self, index: object) -> Drawn:
        """Of the elements that an index picks."""
        picked = [_part(each, index) for each in (self.scale, self.spots, self.factor, self.centre)]
        return attrs.evolve(self, scale=picked[0], spots=picked[1], factor=picked[2], centre=picked[3])

    def times(self, factor: FloatArray) -> Drawn:
        """The noise multiplied."""
        wide = np.broadcast_shapes(self.spots.shape, factor.shape)
        spots, scale = np.broadcast_to(self.spots, wide), np.broadcast_to(self.scale, wide)
        return attrs.evolve(self, spots=spots, scale=scale, factor=self.factor * factor, centre=self.centre * factor)

    def is_still(self, numbers: FloatArray) -> bool:
        """Whether numbers are these elements: not where an array was sorted, shuffled or written to in its place."""
        draw = np.ravel(np.asarray(self.recorder.calls[self.number - 1].output, dtype=np.float64))
        return np.allclose(numbers, self.factor * draw[self.spots], rtol=1e-9, atol=0.0, equal_nan=True)

    def reshaped(self, change: Callable[[FloatArray], FloatArray]) -> Drawn:
        """The same elements in another shape."""
        spots = change(self.spots.astype(np.float64)).astype(np.intp)
        return attrs.evolve(
            self, scale=change(self.scale), spots=spots, factor=change(self.factor), centre=change(self.centre)
        )


def _part(array: np.ndarray, index: object) -> np.ndarray:
    picked: object = array.__getitem__(cast("int", index))  # any index that numpy takes
    return np.asarray(picked)


def tracked(number: object, drawn: Drawn) -> object:
    """Noise as a number or an array that remembers where it comes from."""
    if isinstance(number, np.ndarray) and number.shape:
        noise = number.view(NoiseArray)
        noise.drawn = drawn
        return noise
    return NoiseFloat.of(float(number), drawn)  # type: ignore[arg-type]  # a number by now


def plain(value: object) -> object:
    """The same numbers without memory."""
    if isinstance(value, NoiseArray | NoisedArray):
        return value.view(np.ndarray)
    return float(value) if isinstance(value, NoiseFloat) else value


def _summed(drawn: Drawn, value: object, sign: float, natural: Callable[[], object]) -> object:
    """value + sign·noise, recorded as a release; natural: how the sum is made of plain numbers."""
    known = numbers_of(value)
    if known is None or not drawn.recorder.listening:
        return natural()
    wide = np.broadcast_shapes(known.shape, drawn.spots.shape)
    multiple = np.broadcast_to(sign * drawn.factor * drawn.scale, wide)
    centre = sign * drawn.centre
    call = Call(
        0,
        f"{drawn.primitive} + value",
        "release",
        drawn.law,
        "",
        value=known if not np.any(centre) else known.astype(np.float64) + centre,
        scale=np.array(multiple),
        fixed=(wide,),
        source=drawn.number,
        spots=np.array(np.broadcast_to(drawn.spots, wide)),
    )
    output = drawn.recorder.take(call, natural)
    if isinstance(output, np.ndarray) and output.ndim == 1 and drawn.law != "gaussian":
        noised = output.view(NoisedArray)
        noised.made = Made(drawn.recorder, drawn.recorder.calls[-1])
        return noised
    return output


def combined(ufunc: np.ufunc, left: object, right: object, natural: Callable[[], object]) -> object:
    """What `ufunc` makes of two things, at least one of which is noise."""
    noise, noisy_left = (left, True) if isinstance(left, NoiseFloat | NoiseArray) else (right, False)
    other = right if noisy_left else left
    drawn = noise.drawn if isinstance(noise, NoiseFloat | NoiseArray) else None
    if drawn is None or isinstance(other, NoiseFloat | NoiseArray) or numbers_of(other) is None:
        return natural()
    if not drawn.is_still(np.asarray(plain(noise), dtype=np.float64)):
        return natural()
    if ufunc is np.add:
        return _summed(drawn, plain(other), 1.0, natural)
    if ufunc is np.subtract:
        return _summed(drawn, -np.asarray(plain(other)) if noisy_left else plain(other), 1.0 if noisy_left else -1.0,
                       natural)  # fmt: skip
    factor = np.asarray(plain(other), dtype=np.float64)
    if ufunc is np.multiply:
        return tracked(natural(), drawn.times(factor))
    if ufunc in (np.divide, np.true_divide) and noisy_left and np.all(factor != 0.0):
        return tracked(natural(), drawn.times(1.0 / factor))
    return natural()


class NoiseFloat(float):
    """One number of noise."""

    drawn: Drawn

    @staticmethod
    def of(number: float, drawn: Drawn) -> NoiseFloat:
        """A number with its source."""
        noise = NoiseFloat(number)
        noise.drawn = drawn
        return noise

    def __getattr__(self, name: str) -> object:
        """As numpy's own number: an element of an array is one where nothing is recorded."""
        if name.startswith("__") or name == "drawn":
            raise AttributeError(name)
        found: object = getattr(np.float64(float(self)), name)
        return found

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object, **more: object) -> object:
        return _ufunc(ufunc, method, inputs, more)

    def __add__(self, other: object) -> object:  # type: ignore[override]  # a sum is no noise any more
        return np_result(np.add, self, other, float.__add__)

    def __radd__(self, other: object) -> object:  # type: ignore[override]  # the same
        return np_result(np.add, other, self, float.__add__)

    def __sub__(self, other: object) -> object:  # type: ignore[override]  # the same
        return np_result(np.subtract, self, other, float.__sub__)

    def __rsub__(self, other: object) -> object:  # type: ignore[override]  # the same
        return np_result(np.subtract, other, self, float.__sub__)

    def __mul__(self, other: object) -> object:  # type: ignore[override]  # the same
        return np_result(np.multiply, self, other, float.__mul__)

    def __rmul__(self, other: object) -> object:  # type: ignore[override]  # the same
        return np_result(np.multiply, other, self, float.__mul__)

    def __truediv__(self, other: object) -> object:  # type: ignore[override]  # the same
        return np_result(np.divide, self, other, float.__truediv__)

    def __neg__(self) -> object:  # type: ignore[override]  # the same
        return tracked(-float(self), self.drawn.times(np.asarray(-1.0)))

    def __deepcopy__(self, memo: object) -> NoiseFloat:
        return self

    def __reduce__(self) -> tuple[type[float], tuple[float]]:
        return float, (float(self),)


def np_result(ufunc: np.ufunc, left: object, right: object, own: Callable[[float, float], object]) -> object:
    """Python's own arithmetic for Python's own numbers, and numpy's for arrays."""
    one, other = plain(left), plain(right)
    if isinstance(one, int | float) and isinstance(other, int | float):
        return combined(ufunc, left, right, lambda: own(float(one), float(other)))
    if isinstance(one, np.ndarray | np.generic) or isinstance(other, np.ndarray | np.generic):
        return combined(ufunc, left, right, lambda: ufunc(one, other))
    if isinstance(one, list | tuple | str) or isinstance(other, list | tuple | str):
        return NotImplemented
    return own(one, other) if isinstance(one, float) else NotImplemented  # type: ignore[arg-type]  # float decides


def _ufunc(ufunc: np.ufunc, method: str, inputs: tuple[object, ...], more: dict[str, object]) -> object:
    """One call of numpy's function on noise and others; `out=` is filled as numpy would."""
    out = more.pop("out", None)

    def natural() -> object:
        made: object = getattr(ufunc, method)(*map(plain, inputs), **more)
        return made

    if ufunc is np.negative and method == "__call__":
        return combined(np.multiply, inputs[0], -1.0, natural)
    result = combined(ufunc, *inputs, natural) if method == "__call__" and len(inputs) == 2 and not more else natural()
    if not isinstance(out, tuple) or isinstance(out[0], NoiseArray | NoiseFloat):
        return result  # `noise += value` gives the name `noise` to the sum
    np.copyto(out[0], plain(result), casting="same_kind")  # type: ignore[arg-type]  # an array by now
    return out[0]


class NoiseArray(np.ndarray):
    """An array of noise. Views that numpy makes by itself have no memory."""

    drawn: Drawn | None

    def __array_finalize__(self, made_of: object) -> None:
        self.drawn = None

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object, **more: object) -> object:
        return _ufunc(ufunc, method, inputs, more)

    def __getitem__(self, index: object) -> object:  # type: ignore[override]  # any index that numpy takes
        part: object = self.view(np.ndarray)[cast("int", index)]
        return part if self.drawn is None else tracked(part, self.drawn.at(index))

    def __iter__(self) -> Iterator[object]:  # type: ignore[override]  # of one's own numbers
        return (self[place] for place in range(len(self)))

    def reshape(self, *shape: object, order: str = "C") -> object:  # type: ignore[override]  # order C
        """The same noise in another shape."""
        wanted = cast("tuple[SupportsIndex, ...]", shape[0] if isinstance(shape[0], tuple) else shape)
        part = self.view(np.ndarray).reshape(wanted)
        if self.drawn is None or order != "C":
            return part
        return tracked(part, self.drawn.reshaped(lambda each: each.reshape(wanted)))

    def ravel(self, order: str = "C") -> object:  # type: ignore[override]  # the same
        """The same noise in one row."""
        return self.reshape(-1, order=order)

    def copy(self, order: str = "C") -> object:  # type: ignore[override]  # the same
        """The same noise."""
        part = self.view(np.ndarray).copy()
        return part if self.drawn is None else tracked(part, self.drawn)

    def tolist(self) -> list[object]:  # type: ignore[override]  # numpy's own has Any
        """As numbers that remember."""
        return [item.tolist() if isinstance(item, NoiseArray) else item for item in self]

    def __deepcopy__(self, memo: object) -> object:  # type: ignore[override]  # plain where it has no memory
        return self.copy()

    def __reduce__(self) -> str | tuple[object, ...]:
        return self.view(np.ndarray).__reduce__()


@attrs.frozen(eq=False)
class Made:
    """Which release an array of noisy scores is."""

    recorder: Recorder
    call: Call


CHOICES: dict[Law, Law] = {
    "gumbel": "exponential choice",
    "laplace": "noisy max",
    "exponential": "permute and flip",
}
"""The choice that the largest of scores with such noise is."""


class NoisedArray(np.ndarray):
    """Noisy scores: where nothing but the place of the largest is asked for, that is a choice."""

    made: Made | None

    def __array_finalize__(self, made_of: object) -> None:
        self.made = None

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object, **more: object) -> object:
        out = more.pop("out", None)
        if isinstance(out, tuple):
            more["out"] = tuple(map(plain, out))
        result: object = getattr(ufunc, method)(*map(plain, inputs), **more)
        return result

    def __array_function__(  # type: ignore[override]  # numpy's own has Any
        self, function: Callable[..., object], types: object, inputs: tuple[object, ...], more: dict[str, object]
    ) -> object:
        if function is np.argmax and len(inputs) == 1 and not more:
            return self.argmax()
        return super().__array_function__(function, types, inputs, more)  # type: ignore[arg-type]  # as it came

    def argmax(self, *inputs: object, **more: object) -> object:  # type: ignore[override]  # numpy's own has Any
        """The place of the largest, as a choice."""
        scores = self.view(np.ndarray)
        made = self.made
        if made is None or inputs or more or not _is_choice(made):
            found: object = scores.argmax(*inputs, **more)  # type: ignore[call-overload]  # as it came
            return found
        first = made.call
        call = Call(
            0,
            f"{first.primitive}, argmax",
            "choice",
            CHOICES[first.law],
            "",
            value=first.value,
            scale=np.asarray(first.scale.flat[0]),
            fixed=(scores.size,),
            source=first.number,
        )
        return made.recorder.take(call, scores.argmax)


def _is_choice(made: Made) -> bool:
    scale = made.call.scale
    spots = made.call.spots
    apart = spots is not None and np.unique(spots).size == spots.size
    return bool(made.recorder.listening and apart and np.all(scale == scale.flat[0]) and scale.flat[0] > 0.0)
