"""A recording: noise primitives are put in place of the real ones for its time, and put back whatever happens."""

import ctypes
import gc
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final

import numpy as np

from proofs_tests.harness.recording.calls import Call, Recorder
from proofs_tests.harness.recording.primitives import hooks

_ALONE: Final = threading.Lock()

MISSING: Final = object()


@contextmanager
def recorded(
    script: Sequence[Call] | None = None,
    outputs: Mapping[int, object] | None = None,
    fresh: Collection[int] = (),
) -> Iterator[Recorder]:
    """While this runs, every known noise primitive that this thread calls is recorded, in `tape.calls`.

    numpy's generators, old and new, whenever they were made; Python's `random` and `secrets`; OpenDP's measurements,
    also as SmartNoise calls them; diffprivlib's mechanisms; interpret's generator; our own sources. Names that were
    imported from `numpy.random` or `random` one by one before, other libraries and other threads are not seen.
    script: calls of a first recording, to be given back: see `Recorder`, which also says what the others are.
    Raises RuntimeError where another recording runs: primitives are those of the whole process.
    """
    if not _ALONE.acquire(blocking=False):
        raise RuntimeError("recorded(): another recording is running in this process; wait until it has ended")
    recorder, undo = Recorder(script, outputs, fresh), list[Callable[[], None]]()

    def hearing() -> Recorder | None:
        return recorder if recorder.listening else None

    try:
        for owner, name, hook in hooks(hearing):
            write, old = _writer(owner, name)
            undo.append(partial(write, old))
            write(hook)
        yield recorder
    finally:
        recorder.close()
        try:
            _undone(undo)
        finally:  # where that was interrupted, once more from there
            _undone(undo)
            _ALONE.release()


def _undone(undo: list[Callable[[], None]]) -> None:
    while undo:
        undo[-1]()
        undo.pop()


def _writer(owner: object, name: str) -> tuple[Callable[[object], None], object]:
    """Puts something there, as often as it is called; and what is there now."""
    names = _namespace(owner)
    old = names.get(name, MISSING)

    def write(value: object) -> None:
        if isinstance(owner, type) and _is_closed(owner):
            names[name] = value
            ctypes.pythonapi.PyType_Modified(ctypes.py_object(owner))
        elif value is not MISSING:
            setattr(owner, name, value)
        elif name in vars(owner):
            delattr(owner, name)

    return write, old


def _is_closed(cls: type) -> bool:
    return cls in (np.random.Generator, np.random.RandomState)


def _namespace(owner: object) -> dict[str, object]:
    """Of a module or class. Of numpy's generators, which are compiled and refuse new attributes, the dictionary behind
    the view: generators that were made before, and kept anywhere, are then seen as well."""
    if isinstance(owner, type) and _is_closed(owner):
        (found,) = (each for each in gc.get_referents(vars(owner)) if isinstance(each, dict))
        return found
    return dict(vars(owner))
