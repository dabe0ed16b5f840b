"""numpy's generators, new and old: which of their methods are noise, which are choices, and which are other draws."""

import inspect
from collections.abc import Callable
from typing import Final

import numpy as np

from accountant.arrays import FloatArray
from proofs_tests.harness.recording.calls import Call, Law, Recorder
from proofs_tests.harness.recording.primitives.noisy_numbers import Drawn, tracked

Method = Callable[..., object]
Hearing = Callable[[], Recorder | None]
"""The recorder, if one listens now."""

NOISE: Final[dict[str, tuple[Law, tuple[str, ...]]]] = {
    "laplace": ("laplace", ("loc", "scale", "size")),
    "normal": ("gaussian", ("loc", "scale", "size")),
    "standard_normal": ("gaussian", ("size",)),
    "gumbel": ("gumbel", ("loc", "scale", "size")),
    "exponential": ("exponential", ("scale", "size")),
    "standard_exponential": ("exponential", ("size",)),
}
"""Methods of both generators that draw noise of a location and a scale, with their parameters in order."""

NOT_DRAWS: Final = frozenset({"bit_generator", "spawn", "seed", "get_state", "set_state", "permuted"})
"""Names that are left alone. `permuted` works in place and on parts of arrays; where it draws, a replay notices."""


def hooked(owner: str, name: str, original: Method, hearing: Hearing) -> Method:
    """The method that records. owner: for messages."""
    title = f"{owner}.{name}"
    if name in NOISE:
        return _noise(title, *NOISE[name], original, hearing)
    if name == "randn":
        return _randn(title, original, hearing)
    if name in ("choice", "permutation", "shuffle"):
        return {"choice": _choice, "permutation": _permutation, "shuffle": _shuffle}[name](title, original, hearing)
    return _other(title, original, hearing)


def _noise(title: str, law: Law, names: tuple[str, ...], original: Method, hearing: Hearing) -> Method:
    def drawn(self: object, *inputs: object, **more: object) -> object:
        recorder = hearing()
        if recorder is None or more.get("out") is not None or len(inputs) > len(names):
            return original(self, *inputs, **more)
        given = {**dict(zip(names, inputs, strict=False)), **more}
        loc = np.asarray(given.get("loc", 0.0), dtype=np.float64)
        scale = np.asarray(given.get("scale", 1.0), dtype=np.float64)
        size = given.get("size")
        shape = np.broadcast_shapes(loc.shape, scale.shape) if size is None else np.empty(size).shape  # type: ignore[call-overload]  # numpy judges it
        return noise(recorder, title, law, loc, scale, shape, lambda: original(self, *inputs, **more))

    return drawn


def noise(
    recorder: Recorder,
    title: str,
    law: Law,
    loc: FloatArray,
    scale: FloatArray,
    shape: tuple[int, ...],
    natural: Callable[[], object],
) -> object:
    """Noise of a location and a scale, recorded and tracked."""
    call = Call(0, title, "noise", law, "", value=np.array(loc), scale=np.array(scale), fixed=(shape,))
    number = recorder.take(call, natural)
    spots = np.arange(max(int(np.prod(shape)), 1), dtype=np.intp).reshape(shape)
    source = Drawn(
        recorder,
        len(recorder.calls),
        law,
        title,
        np.broadcast_to(scale, shape),
        spots,
        np.ones(shape),
        np.broadcast_to(loc, shape),
    )
    return tracked(number, source)


def _randn(title: str, original: Method, hearing: Hearing) -> Method:
    def drawn(self: object, *shape: int) -> object:
        recorder = hearing()
        if recorder is None:
            return original(self, *shape)
        return noise(recorder, title, "gaussian", np.zeros(()), np.ones(()), shape, lambda: original(self, *shape))

    return drawn


def _choice(title: str, original: Method, hearing: Hearing) -> Method:
    """One of many by its place, so that on a neighbour the same place is taken of the neighbour's."""

    def drawn(self: object, a: object, *inputs: object, **more: object) -> object:
        recorder = hearing()
        if recorder is None:
            return original(self, a, *inputs, **more)
        given = {**dict(zip(("size", "replace", "p", "axis", "shuffle"), inputs, strict=False)), **more}
        p, axis = given.pop("p", None), int(given.pop("axis", 0))  # type: ignore[call-overload]  # numpy judges it
        whole = isinstance(a, int | np.integer)
        number = int(a) if isinstance(a, int | np.integer) else np.asarray(a).shape[axis]
        one_at_a_time = given.get("size") is None or given.get("replace", True)
        if p is None or not one_at_a_time:
            call = Call(0, title, "other", "", "", fixed=(number, given, p))
        else:
            with np.errstate(divide="ignore"):
                chances = np.log(np.asarray(p, dtype=np.float64))
            call = Call(0, title, "choice", "probabilities", "", value=chances, fixed=(number, given))
        place = recorder.take(call, lambda: original(self, number, p=p, **given))
        return place if whole else np.take(np.asarray(a), np.asarray(place), axis)

    return drawn


def _permutation(title: str, original: Method, hearing: Hearing) -> Method:
    def drawn(self: object, x: object, *inputs: object, **more: object) -> object:
        recorder = hearing()
        if recorder is None or inputs or more:
            return original(self, x, *inputs, **more)
        number = x if isinstance(x, int | np.integer) else len(x)  # type: ignore[arg-type]  # as numpy asks
        call = Call(0, title, "other", "", "", fixed=(int(number),))
        order = recorder.take(call, lambda: original(self, int(number)))
        return order if isinstance(x, int | np.integer) else np.asarray(x)[np.asarray(order)]

    return drawn


def _shuffle(title: str, original: Method, hearing: Hearing) -> Method:
    def drawn(self: object, x: list[object], *inputs: object, **more: object) -> object:
        recorder = hearing()
        if recorder is None or inputs or more:
            return original(self, x, *inputs, **more)

        def ordered() -> object:
            order = np.arange(len(x))
            original(self, order)
            return order

        order = recorder.take(Call(0, title, "other", "", "", fixed=(len(x),)), ordered)
        x[:] = x[order] if isinstance(x, np.ndarray) else [x[place] for place in order]  # type: ignore[attr-defined]  # an array
        return None

    return drawn


def _other(title: str, original: Method, hearing: Hearing) -> Method:
    def drawn(self: object, *inputs: object, **more: object) -> object:
        recorder = hearing()
        if recorder is None:
            return original(self, *inputs, **more)
        call = Call(0, title, "other", "", "", fixed=(inputs, more))
        return recorder.take(call, lambda: original(self, *inputs, **more))

    return drawn


def methods(cls: type) -> list[str]:
    """The public methods of a generator that draw."""
    return [
        name
        for name, value in vars(cls).items()
        if not name.startswith("_") and name not in NOT_DRAWS and callable(value) and not inspect.isclass(value)
    ]
