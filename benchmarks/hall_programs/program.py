"""What an audited program is, and how its outputs become JSON. Standard library and numpy only."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

Data: TypeAlias = tuple[float, ...]
"""A data set: its records, or a record's numbers one after the other."""

Pair: TypeAlias = tuple[Data, Data]

PURE: Final = "pure"
APPROX: Final = "approx"
GAUSSIAN: Final = "gdp"
CONCENTRATED: Final = "zcdp"

REPLACE: Final = "replace one record"
REMOVE: Final = "add or remove one record"
LOCAL: Final = "any two inputs of a person"


@dataclass(frozen=True)
class Program:
    """One call of a library, as its documentation shows it, with what that says of its privacy.

    function: from a data set to all that is released, drawing anew each time.  pairs: neighbours, within the declared
    bounds.  kind, numbers: the claim: ("pure", (ε,)), ("approx", (ε, δ)), ("gdp", (μ,)) or ("zcdp", (ρ,)).
    source: where the claim is documented.  neighbours: in words, "as we read it" where that is left open.
    last_bits: whether low-order bits of floats are looked at, too.  recorded: whether its noise is recorded and
    given back, in place of samples.  disclaimed: what the library itself says it does not promise.
    samples: on each data set, at most.  known: what was known of it before, with a source.
    """

    name: str
    function: Callable[[Data], object]
    pairs: Sequence[Pair]
    kind: str
    numbers: tuple[float, ...]
    source: str
    neighbours: str
    last_bits: bool = False
    recorded: bool = False
    disclaimed: str = ""
    samples: int = 20_000
    known: str = ""


def plain(value: object) -> object:
    """For JSON: arrays and tuples as lists, numbers of numpy as Python's."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(each) for each in (sorted(value) if isinstance(value, set | frozenset) else value)]
    return value


def singles(*values: float) -> tuple[Pair, ...]:
    """All ordered pairs of inputs of one number: neighbours of local differential privacy."""
    return tuple(((one,), (other,)) for one in values for other in values if one < other)
