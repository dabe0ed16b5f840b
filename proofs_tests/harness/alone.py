"""Whether what becomes of a record depends on that record alone: not on its company, its place, or their number.

Sensitivities are proved for sums of one term per record. They say nothing where a neighbour changes another record's
term: by the type that numpy picks for a whole column, a list of categories fitted to it, a mean taken off it, or the
routine of a matrix product that its row happens to fall into. So encoding, sample weights, scores and predictions must
be maps of one record and of what is public or released, bit by bit. [records-alone]
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeVar

import attrs
import numpy as np

from proofs_tests.harness.report import ClaimViolated, Report

R = TypeVar("R")
D = TypeVar("D")

NUMBERS: Final = (2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 257)
"""How many records there are together: around the widths of vectors, and the rows that routines take at a time."""


@attrs.frozen
class Refused:
    """A record, or a data set, that is not taken."""


def check_records_alone(
    subject: str,
    become: Callable[[D], Iterable[object]],
    put: Callable[[Sequence[R]], D],
    records: Sequence[R],
    *,
    numbers: Sequence[int] = NUMBERS,
    seed: int = 0,
) -> Report:
    """Whether a record becomes the same in every company. Raises ClaimViolated with the record and its company.

    subject: what is checked, for the report.
    become: what becomes of each record of a data set, in order: numbers, text, bytes, or arrays and tuples of these,
      compared bit by bit, with their types. It may refuse a data set by any exception; it must then refuse it because
      of a record that it refuses alone.
    put: a data set of these records, at least one, in this order, as a learner would get it. It may refuse as well.
    records: at least two; the more unlike the better: missing, of another type, far out. One at least must be taken.
    numbers: of records that are put together, taken in turn from those that are not refused.
    The verdict is "not refuted": other companies, of which there is no end, are not looked at.
    """
    if len(records) < 2:
        raise ValueError(f"records: expected at least two, got {len(records)}")
    started, looked = time.perf_counter(), 0
    alone = [_outcomes(become, put, [record])[0] for record in records]
    taken = [number for number, outcome in enumerate(alone) if outcome != _REFUSED]
    for company in _companies(len(records), taken, numbers, np.random.default_rng(seed)):
        looked += 1
        found = _outcomes(become, put, [records[number] for number in company])
        expected = [alone[number] for number in company]
        if _REFUSED in expected:
            expected = [_REFUSED] * len(company)
        if found != expected:
            raise ClaimViolated(_report(subject, 1.0, _witness(company, expected, found), looked, started))
    if not taken:
        raise ValueError(f"records: {subject} refuses each of them, so there is nothing to look at")
    return _report(subject, 0.0, "none", looked, started)


_REFUSED: Final = Refused()


def _report(subject: str, found: float, witness: str, looked: int, started: float) -> Report:
    spent = time.perf_counter() - started
    return Report(subject, "maps of one record", "records changed", 0.0, found, "search", witness, looked, spent)


def _outcomes(
    become: Callable[[D], Iterable[object]], put: Callable[[Sequence[R]], D], records: Sequence[R]
) -> list[object]:
    """What became of each record, as something that can be compared. Raises TypeError for another number of them."""
    try:
        found = list(become(put(records)))
    except Exception:  # whatever it is, it must not be because of the company
        return [_REFUSED] * len(records)
    if len(found) != len(records):
        raise TypeError(f"become: expected one thing for each of {len(records)} records, got {len(found)}")
    return [_bits(each) for each in found]


def _bits(outcome: object) -> object:
    """Something that is equal exactly when the outcome is, to the last bit. Raises TypeError for other objects."""
    if isinstance(outcome, str | bytes | type(None)):
        return type(outcome).__name__, repr(outcome)
    if isinstance(outcome, list | tuple):
        return tuple(_bits(part) for part in outcome)
    array = np.asarray(outcome)
    if array.dtype.kind == "O":
        if array.ndim:
            return array.shape, tuple(_bits(part) for part in array.ravel().tolist())
        raise TypeError(f"become: expected numbers, text, or arrays of these, got a {type(outcome).__name__}")
    return array.dtype.str, array.shape, array.tobytes()


def _companies(
    records: int, taken: Sequence[int], numbers: Sequence[int], generator: np.random.Generator
) -> Iterator[list[int]]:
    """Pairs in both orders and with themselves, all but one, all forwards and backwards; samples of every size.

    taken: those that are not refused alone. With one that is, nothing but a refusal can be seen.
    """
    everybody = list(range(records))
    yield from ([one, other] for one in everybody for other in everybody)
    yield everybody
    if not taken:
        return
    yield from ([*taken[:place], *taken[place + 1 :]] for place in range(len(taken)) if len(taken) > 1)
    yield from (list(taken), list(taken)[::-1])
    for number in numbers:
        yield [taken[place % len(taken)] for place in range(number)]
        yield generator.choice(taken, size=number).tolist()


def _witness(company: Sequence[int], expected: Sequence[object], found: Sequence[object]) -> str:
    place = next(place for place, (one, other) in enumerate(zip(expected, found, strict=True)) if one != other)
    among = f"record {company[place]} at place {place} among {len(company)} records"
    others = f"{', '.join(map(str, company[:12]))}{', …' if len(company) > 12 else ''}"
    return f"{among} ({others}): {_said(expected[place])} expected, {_said(found[place])} found"


def _said(outcome: object) -> str:
    if isinstance(outcome, tuple) and len(outcome) == 3 and isinstance(outcome[2], bytes):
        kind, shape, raw = outcome
        return str(np.frombuffer(raw, dtype=kind).reshape(shape).tolist())[:80]
    return "a refusal" if isinstance(outcome, Refused) else str(outcome)[:80]
