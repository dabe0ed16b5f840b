"""The columns of a public schema as SQL reads them: each value's place, or that the schema refuses it."""

from collections.abc import Sequence

import attrs

from learners.exports.columns import inputs_of
from learners.exports.portable_model import Amount, PortableModel
from learners.exports.sql import _Writer  # its stages up to the places
from learners.exports.sql_dialects import DIALECTS, DialectName
from learners.tables import Integer, Schema


@attrs.frozen
class PlaceQuery:
    """A SELECT, and what its columns are called; one row for each record, in any order.

    kept: those that were asked for, as they are.  places: of each column of the schema: the number, NULL where it has
    a cell of its own; of categories and truth values the code.  refused: NULL, or which column of the schema has a
    value outside it; places then say nothing.
    """

    statement: str
    kept: tuple[str, ...]
    places: tuple[str, ...]
    refused: str


def as_places(schema: Schema, dialect: DialectName, source: str, keep: Sequence[str] = ()) -> PlaceQuery:
    """source: what stands after FROM, a table's quoted name or a SELECT in brackets.  keep: further columns.

    Columns of numbers must have a type of numbers. Raises NotPortable for kinds of columns that are not exported.
    """
    inputs = inputs_of(schema)
    model = PortableModel((), inputs, (), (), Amount(0.0, 0.0))
    return _Places(model, DIALECTS[dialect], "", tuple(keep), schema).query(source)


@attrs.frozen(slots=False)
class _Places(_Writer):
    schema: Schema

    def query(self, source: str) -> PlaceQuery:
        self._refuse_equal_names()
        read, placed = self._read(source), self._placed()
        statement = f"WITH {self._own('read')} AS (\n  {read}{self.dialect.fence}\n)\n{placed}"
        return PlaceQuery(statement, tuple(self._kept()), tuple(self._places()), self._own("refused"))

    def _place_of(self, reading: object, value: str) -> tuple[str, str]:
        place, refused = super()._place_of(reading, value)
        number = int(value.rpartition("_")[2])
        if type(self.schema.columns[number]) is Integer:  # of which `predict` refuses fractions
            refused = f"({refused} OR {value} <> floor({value}))"
        return place, refused
