"""The columns of a public schema as SQL reads them: each value's place, or that the schema refuses it."""

from collections.abc import Mapping, Sequence

import attrs

from learners.exports.columns import inputs_of
from learners.exports.portable_model import Amount, PortableModel
from learners.exports.sql import _select, _Writer  # its stages up to the places
from learners.exports.sql_dialects import DIALECTS, DialectName
from learners.tables import Schema


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


def as_places(
    schema: Schema, dialect: DialectName, source: str, keep: Sequence[str] = (), types: Mapping[str, str] | None = None
) -> PlaceQuery:
    """source: what stands after FROM, a table's quoted name or a SELECT in brackets with a name.
    keep: further columns.  types: of columns, as the engine calls them, where these are known.

    Columns of numbers must have a type of numbers. Raises NotPortable for kinds of columns that are not exported.
    """
    inputs = inputs_of(schema)
    model = PortableModel((), inputs, (), (), Amount(0.0, 0.0))
    return _Places(model, DIALECTS[dialect], "", tuple(keep), types or {}).query(source)


@attrs.frozen(slots=False)
class _Places(_Writer):
    def query(self, source: str) -> PlaceQuery:
        self._refuse_equal_names()
        stages = list[str]()
        for number, columns in enumerate(self._read()):
            before = self._own(f"read_{number - 1}") if number else f"(SELECT * FROM {source}) AS t"
            body = _select(columns, before)
            stages.append(f"{self._own(f'read_{number}')} AS (\n  {body}{self.dialect.fence}\n)")
        placed = self._placed(self._own(f"read_{len(stages) - 1}"))
        statement = "WITH " + ",\n".join(stages) + f"\n{placed}"
        return PlaceQuery(statement, tuple(self._kept()), tuple(self._places()), self._own("refused"))
