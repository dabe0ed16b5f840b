"""Neighbouring samples, exhaustively. As Hypothesis strategies: `proofs_tests.harness.strategies`."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

from accountant import AddRemoveOne, Adjacency, FeatureValue, FeatureValues, ReplaceOne

R = TypeVar("R")
D = TypeVar("D")
E = TypeVar("E")


class Pair(NamedTuple, Generic[D]):
    """Two neighbouring data sets.

    before, after: what the mechanism takes, each.
    """

    before: D
    after: D

    def map(self, build: Callable[[D], E]) -> "Pair[E]":
        """The same pair in another form."""
        return Pair(build(self.before), build(self.after))


def samples(records: Sequence[R], n: int) -> Iterator[tuple[R, ...]]:
    """Every multiset of n records from a finite domain, as a sorted tuple."""
    return itertools.combinations_with_replacement(records, n)


def replace_one_neighbours(sample: tuple[R, ...], records: Sequence[R]) -> Iterator[tuple[R, ...]]:
    """Every sample that differs in one record; records stay in place, so positions correspond."""
    for place, old in enumerate(sample):
        for new in records:
            if new != old:
                yield (*sample[:place], new, *sample[place + 1 :])


def _changed(record: R, other: R, columns: tuple[int, ...]) -> bool:
    """Whether two records, as sequences, differ in these columns and nowhere else."""
    assert isinstance(record, tuple)
    assert isinstance(other, tuple)
    found = {place for place, (a, b) in enumerate(zip(record, other, strict=True)) if a != b}
    return bool(found) and found <= set(columns)


def sensitive_columns(adjacency: FeatureValue | FeatureValues) -> tuple[int, ...]:
    """The columns that it lets change."""
    return (adjacency.column,) if isinstance(adjacency, FeatureValue) else adjacency.columns


def neighbours(adjacency: Adjacency, records: Sequence[R], n: int) -> Iterator[Pair[tuple[R, ...]]]:
    """All pairs of a sorted sample of n records and a neighbour of it; under add-remove-one both ways, n and n + 1.

    records: the finite domain; tuples of column values for `FeatureValue` and `FeatureValues`.
    Raises TypeError for what is no adjacency.
    """
    match adjacency:
        case ReplaceOne():
            for sample in samples(records, n):
                yield from (Pair(sample, other) for other in replace_one_neighbours(sample, records))
        case AddRemoveOne():
            for sample in samples(records, n):
                for record in records:
                    yield Pair(sample, (*sample, record))
                    yield Pair((*sample, record), sample)
        case FeatureValue() | FeatureValues():
            columns = sensitive_columns(adjacency)
            for sample in samples(records, n):
                for place, old in enumerate(sample):
                    for new in records:
                        if _changed(old, new, columns):
                            yield Pair(sample, (*sample[:place], new, *sample[place + 1 :]))
        case _:
            raise TypeError(f"adjacency: expected for example ReplaceOne(), got {adjacency!r:.99}")
