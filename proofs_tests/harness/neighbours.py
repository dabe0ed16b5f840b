"""Neighbouring samples under replace-one adjacency, exhaustively."""

import itertools
from collections.abc import Iterator, Sequence
from typing import TypeVar

R = TypeVar("R")


def samples(records: Sequence[R], n: int) -> Iterator[tuple[R, ...]]:
    """Every multiset of n records from a finite domain, as a sorted tuple."""
    return itertools.combinations_with_replacement(records, n)


def replace_one_neighbours(sample: tuple[R, ...], records: Sequence[R]) -> Iterator[tuple[R, ...]]:
    """Every sample that differs in one record; records stay in place, so positions correspond."""
    for place, old in enumerate(sample):
        for new in records:
            if new != old:
                yield (*sample[:place], new, *sample[place + 1 :])
