"""Which learner a file is of: it is looked for among everything that is derived from a base class."""

import contextlib
from typing import TypeVar

T = TypeVar("T")


def learner_named(base: type[T], name: str) -> type[T]:
    """The learner of that name among `base` and what is derived from it. Raises ValueError where there is none."""
    if base.__name__ == name:
        return base
    from learners import load_rooms  # whose rooms import this one: only what is imported is derived from anything

    load_rooms()
    for kind in base.__subclasses__():
        with contextlib.suppress(ValueError):
            return learner_named(kind, name)
    raise ValueError(f"the model is of {name!r}, which is not {base.__name__} nor derived from it; try {name}.load")
