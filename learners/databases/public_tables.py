"""Public tables of whole numbers and doubles, as a statement looks values up in them."""

from collections.abc import Callable
from typing import Final, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

Numbers: TypeAlias = npt.NDArray[np.generic]
"""Whole numbers within 32 bits, or doubles; shape (n,)."""

_TYPES: Final = {"i": "INTEGER", "u": "INTEGER", "f": "FLOAT8"}


@attrs.define(eq=False)
class PublicTables:
    """The tables of one SELECT.

    marker: what stands in a statement for the value of this number, from 1.  joined: whether an engine looks up fast in
    a relation of one row, which is joined, and not in the value itself.  name: of that relation.
    values: bound to the statement, those of other SELECTs in it among them.
    """

    marker: Callable[[int], str]
    joined: bool
    name: str = "public_tables"
    values: list[Numbers] = attrs.field(factory=list)
    _own: dict[int, str] = attrs.field(factory=dict)

    def further(self, name: str) -> "PublicTables":
        """Those of another SELECT in the same statement."""
        return PublicTables(self.marker, self.joined, name, self.values)

    def whole(self, table: Numbers) -> str:
        """The table as an array, which counts from 1."""
        self.values.append(table)
        number = len(self.values)
        self._own[number] = f"CAST({self.marker(number)} AS {_TYPES[table.dtype.kind]}[])"
        return f"{self.name}.t{number}" if self.joined else f"({self._own[number]})"

    def looked_up(self, table: Numbers) -> Callable[[str], str]:
        """What the table has at a place: a whole number from 0 that SQL computes."""
        whole = self.whole(table)
        return lambda place: f"{whole}[{place} + 1]"

    def at(self, table: Numbers, place: str) -> str:
        """The same at one place only."""
        return self.looked_up(table)(place)

    @property
    def relation(self) -> str:
        """The relation of one row that is joined; "" for none."""
        if not self.joined or not self._own:
            return ""
        columns = (f"{value} AS t{number}" for number, value in self._own.items())
        return f"(SELECT {', '.join(columns)}) AS {self.name}"

    def beside(self, source: str) -> str:
        """What stands after FROM."""
        relation = self.relation
        return f"{source} CROSS JOIN {relation}" if relation else source
