"""What changed between two readings of a ledger: what is new, and whether anything was cut off or rewritten."""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

import attrs

from accountant.entries import GENESIS, Entry, Opened, decode

Relation: TypeAlias = Literal["the same", "grown", "cut", "rewritten", "another ledger"]


@attrs.frozen
class Difference:
    """Two readings, entry by entry.

    relation: of the later to the earlier one. grown: the earlier one is its beginning. cut: it is the earlier one's
      beginning. rewritten: they differ from entry `shared` on. another ledger: their ids differ.
    shared: how many entries both begin with.  before, after: how many each has.  head: the digest of the last shared.
    kinds: how many entries of each kind the later one has that the earlier one has not.
    new: these entries, of a ledger that has grown.
    """

    relation: Relation
    shared: int
    before: int
    after: int
    head: str
    kinds: dict[str, int]
    new: tuple[Entry, ...]

    @property
    def continues(self) -> bool:
        """Whether nothing of the earlier reading was changed or lost."""
        return self.relation in ("the same", "grown")


def difference(earlier: Iterable[Entry], later: Iterable[Entry]) -> Difference:
    """Compare two readings. Digests are compared, not computed: `verify` tells whether they hold."""
    shared, before, after, head = 0, 0, 0, GENESIS
    same, new, kinds, ids = True, list[Entry](), Counter[str](), list[str]()
    for one, other in _pairs(earlier, later):
        ids += _ids(one, other) if not before and not after else []
        same = same and one is not None and other is not None and (one.line, one.digest) == (other.line, other.digest)
        if same and one is not None:
            shared, head = shared + 1, one.digest
        elif other is not None:
            kinds[other.kind] += 1
            new.append(other)
        before, after = before + (one is not None), after + (other is not None)
    relation = _relation(shared, before, after, ids)
    return Difference(relation, shared, before, after, head, dict(kinds), tuple(new) if relation == "grown" else ())


def _relation(shared: int, before: int, after: int, ids: list[str]) -> Relation:
    if shared < min(before, after):
        return "another ledger" if len(set(ids)) > 1 and not shared else "rewritten"
    return "the same" if before == after else "grown" if after > before else "cut"


def _pairs(earlier: Iterable[Entry], later: Iterable[Entry]) -> Iterator[tuple[Entry | None, Entry | None]]:
    return itertools.zip_longest(earlier, later)


def _ids(*entries: Entry | None) -> list[str]:
    """The ids of two ledgers, of their first entries; none of what cannot be read."""
    found = []
    for entry in entries:
        try:
            record = None if entry is None else decode(entry)
        except ValueError:
            continue
        if isinstance(record, Opened):
            found.append(record.id)
    return found
