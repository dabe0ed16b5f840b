"""A table's records as codes, in a temporary table that one statement makes: whoever writes meanwhile is not seen."""

import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final, TypeGuard

import attrs
import numpy as np

from accountant.explained import Explained
from learners.additive import BlockReader
from learners.databases.engines import DatabaseColumn, Engine, Kind, types_of
from learners.databases.public_tables import Numbers
from learners.encoding import CodeReader, Layout, Merged
from learners.exports import DIALECTS, DialectName, NotPortable, as_places
from learners.regression import NumberLabels, RegressionReader
from learners.tables import (
    Boolean,
    Categorical,
    CodedLabels,
    Column,
    Date,
    Integer,
    Numeric,
    Ordered,
    OutsideSchema,
    Schema,
    refuse_no_records,
)
from mechanisms.core import SealedRepr
from mechanisms.gradients import WEIGHT_ONE

FETCH: Final = "SqlTable(..., records='fetched') takes the records out of the database in blocks, and reads them all"

EXACT: Final = 2**53
"""Below it doubles tell whole numbers apart, so that no other one is taken for a class."""

_READ: Final[dict[type, tuple[Kind, ...]]] = {
    Numeric: ("number", "decimal", "whole", "any"),
    Integer: ("number", "decimal", "whole", "any"),
    Boolean: ("number", "whole", "truth", "any"),
    Categorical: ("text", "whole", "truth", "any"),
    Ordered: ("text", "whole", "truth", "any"),
    Date: ("moment", "zoned", "text", "whole", "any"),
}
"""Kinds of columns in a database whose values SQL reads as Python does."""


class NotInSql(Explained, ValueError):
    """What was asked for cannot be done inside the database. Says why, and what helps; nothing was charged."""


@attrs.frozen(slots=False, eq=False, repr=False)
class CodedTable(SealedRepr):
    """A temporary table: columns c0, c1, … of codes, y of labels, w of weights where there are some.

    name: of the table.  size: how many records it has.  schema: of the codes.  weighted: whether there is w.
    numbers: whether labels are numbers, doubles, and not classes.
    """

    engine: Engine
    name: str
    size: int
    schema: Schema
    weighted: bool
    numbers: bool = False

    @cached_property
    def layout(self) -> Layout:
        """Of the features of its records."""
        return Layout(self.schema)

    @property
    def columns(self) -> list[str]:
        """What its columns are called."""
        return [*(f"c{number}" for number in range(len(self.schema.columns))), "y", *(["w"] if self.weighted else [])]

    @property
    def types(self) -> list[str]:
        """Their types."""
        codes = [self.engine.code_type(column.cells) for column in self.schema.columns]
        label = "FLOAT8" if self.numbers else self.engine.label_type
        return [*codes, label, *(["INTEGER"] if self.weighted else [])]


def merged_table(table: CodedTable, merged: Merged) -> CodedTable:
    """Another temporary table, with the same records by coarser cuts; what they are cut at is public."""
    engine, tables = table.engine, table.engine.tables()
    found = attrs.evolve(table, name=engine.fresh_name(), schema=merged.layout.schema)
    said = []
    for number, column in enumerate(table.schema.columns):
        code = f"c{number}"
        if number in merged.chosen:
            codes = merged.merged(number, np.arange(column.cells)).astype(np.int32)
            code = tables.at(codes, f"CAST({code} AS INTEGER)")
        said.append(code)
    kinds = ", ".join(f"{name} {kind}" for name, kind in zip(found.columns, found.types, strict=True))
    engine.run(f"CREATE TEMPORARY TABLE {found.name} ({kinds})")
    kept = [*said, *found.columns[len(said) :]]
    engine.run(f"INSERT INTO {found.name} SELECT {', '.join(kept)} FROM {tables.beside(table.name)}", tables.values)
    return found


@attrs.frozen(eq=False)
class Encoder:
    """How the records of a source become codes.

    source: what stands after FROM.  columns: its columns.  label: that of labels.  read: what blocks would be read by.
    named: whether labels are what their values are called, see `learners.tables.label_texts`.
    """

    engine: Engine
    source: str
    columns: Sequence[DatabaseColumn]
    label: str
    read: BlockReader | CodeReader | RegressionReader
    named: bool = False

    @property
    def schema(self) -> Schema:
        """Of the codes."""
        return self.read.layout.schema

    @property
    def _weight_name(self) -> str | None:
        return self.read.weight if isinstance(self.read, BlockReader) else None

    @property
    def _cap(self) -> float | None:
        return self.read.cap if isinstance(self.read, BlockReader) else None

    def coded(self) -> CodedTable:
        """The temporary table. Raises NotInSql, ChangedTable, OutsideSchema for values outside the schema or classes.

        In one transaction: until its end nobody changes the columns that were looked at.
        """
        table = CodedTable(self.engine, self.engine.fresh_name(), 0, self.schema, self._weight_name is not None)
        table = attrs.evolve(table, numbers=isinstance(self.read, RegressionReader))
        for column in self.schema.columns:
            self._refuse_other_kinds(column)
        statement, values = self._statement()
        types = dict(zip(table.columns, table.types, strict=True))
        source = self.source, self.columns
        return attrs.evolve(table, size=write_records(self.engine, table.name, types, source, statement, values))

    def _column(self, name: str) -> DatabaseColumn:
        found = next((column for column in self.columns if column.name == name), None)
        if found is None:
            raise ValueError(
                f"the data lacks the columns {[name]} of the schema; it has {[c.name for c in self.columns]}"
            )
        return found

    def _refuse_other_kinds(self, column: Column) -> None:
        found = self._column(column.name)
        kinds = _READ.get(type(column), ())
        if found.kind not in kinds:
            raise NotInSql(
                f"column {column.name!r} is {found.type} in the database, and {type(column).__name__} in the schema, "
                f"which is not read inside a database. {FETCH}. Nothing was charged"
            )

    def _statement(self) -> tuple[str, Sequence[Numbers]]:
        """The SELECT of the codes, in the order of `CodedTable.columns`, and of what is refused."""
        engine, weight = self.engine, self._weight_name
        try:
            kept = [self.label, *([weight] if weight else [])]
            types = {name: kind for name, kind in types_of(self.columns).items() if name not in self._zoned}
            source = in_utc(engine.dialect, self.source, [*self.schema.names, *kept], self._zoned)
            read = as_places(self.schema, engine.dialect, source, kept, types)
        except NotPortable as error:
            raise NotInSql(f"{error}. {FETCH}. Nothing was charged") from None
        cuts = {n: column.edges[1:-1] for n, column in enumerate(self.schema.columns) if _is_cut(column)}
        others = [place for number, place in enumerate(read.places) if number not in cuts]
        keys = [*read.kept, read.refused, *others]
        cells = engine.cells(f"({read.statement}) AS placed", keys, [read.places[n] for n in cuts], list(cuts.values()))
        codes = dict(zip(cuts, cells.cells, strict=True))
        said = [
            f"CASE WHEN {read.refused} IS NULL THEN {self._code(number, place, codes.get(number))} END"
            for number, place in enumerate(read.places)
        ]
        label, refusals = self._label(read.kept[0]), [f"WHEN {read.refused} IS NOT NULL THEN {read.refused}"]
        known = DIALECTS[engine.dialect].text(f"the label {self.label!r}")
        refusals.append(f"WHEN ({label}) IS NULL THEN {known}")
        columns = [*said, label]
        if weight is not None:
            whole, wrong = self._weight(read.kept[1])
            columns = [
                f"CASE WHEN {whole} = 0 THEN {first} ELSE {each} END"
                for each, first in zip(columns, [*(["0"] * len(said)), "1"], strict=True)
            ]
            columns.append(f"CASE WHEN NOT ({wrong}) THEN {whole} END")
            refusals = [f"WHEN {wrong} THEN 'sample_weight'", f"WHEN {whole} = 0 THEN NULL", *refusals]
        columns.append(f"CASE {' '.join(refusals)} END")
        return f"SELECT {', '.join(columns)} FROM ({cells.statement}) AS cells", cells.values

    @property
    def _zoned(self) -> list[str]:
        """Columns whose time stamps have a zone."""
        return [c.name for c in self.schema.columns if isinstance(c, Date) and self._column(c.name).kind == "zoned"]

    def _code(self, number: int, place: str, cell: str | None) -> str:
        column = self.schema.columns[number]
        if cell is None:
            return f"CAST({place} AS INTEGER)"
        if _is_cut(column) and column.own_cell:
            return f"CASE WHEN {place} IS NULL THEN {column.bin_number} ELSE {cell} END"
        return cell

    def _label(self, column: str) -> str:
        """−1 and 1, or the number of the class; NULL where it is none of the classes."""
        coded = self.read.coded
        if isinstance(coded, NumberLabels):
            return self._number_label(column, coded.bounds)
        assert isinstance(coded, CodedLabels)
        numbers = [-1, 1] if len(coded.classes) == 2 else list(range(len(coded.classes)))
        named = coded.classes, numbers
        return class_number(self.engine, self._column(self.label), column, *named, what="label", named=self.named)

    def _number_label(self, column: str, bounds: tuple[float, float]) -> str:
        """See `learners.tables.bounded_labels`: −1 … 1; NULL where it is no number, or infinite."""
        dialect, found = DIALECTS[self.engine.dialect], self._column(self.label)
        if found.kind not in ("number", "decimal", "whole", "any"):
            raise NotInSql(
                f"the label {self.label!r} is {found.type} in the database, and no number. {FETCH}. Nothing was charged"
            )
        number, (lower, upper), width = dialect.number, bounds, bounds[1] - bounds[0]
        value = dialect.as_number(column, False, dialect.type_known(column, found.type))
        nan = f" OR {dialect.nan(value)}" if dialect.nan else ""
        strange = f" OR {dialect.strange(value)}" if dialect.strange else ""
        wrong = f"{value} IS NULL{nan}{strange} OR abs({value}) > {number(sys.float_info.max)}"
        above = f"({dialect.smaller}({dialect.larger}({value}, {number(lower)}), {number(upper)}) - {number(lower)})"
        share = f"{above} / {number(width)} * {number(2.0)} - {number(1.0)}"
        share = f"{dialect.smaller}({dialect.larger}({share}, {number(-1.0)}), {number(1.0)})"
        least = number(max(width * 2.0**-60, 5e-324))  # less is -1 in memory, and PostgreSQL divides nothing so small
        return f"CASE WHEN {wrong} THEN NULL WHEN {above} < {least} THEN {number(-1.0)} ELSE {share} END"

    def _weight(self, column: str) -> tuple[str, str]:
        """In whole numbers, see `learners.additive.whole_weights`; and whether it is outside what is allowed."""
        dialect, found, cap = DIALECTS[self.engine.dialect], self._column(str(self._weight_name)), self._cap
        if found.kind not in ("number", "whole", "any"):
            raise NotInSql(
                f"sample_weight: {found.name!r} is {found.type} in the database. {FETCH}. Nothing was charged"
            )
        assert cap is not None
        value = dialect.as_number(column, False, dialect.type_known(column, found.type))
        share = f"{value} / {dialect.number(cap)}"  # which PostgreSQL refuses where it is too small for a double
        whole = f"CAST(floor({share} * {dialect.number(float(WEIGHT_ONE))}) AS INTEGER)"
        whole = f"CASE WHEN {value} < {dialect.number(cap / WEIGHT_ONE / 2.0)} THEN 0 ELSE {whole} END"
        nan = f" OR {dialect.nan(value)}" if dialect.nan else ""
        strange = f" OR {dialect.strange(value)}" if dialect.strange else ""
        wrong = f"({value} IS NULL{nan}{strange} OR {value} < {dialect.number(0.0)} OR {value} > {dialect.number(cap)})"
        return f"CASE WHEN {wrong} THEN NULL ELSE {whole} END", wrong


def write_records(
    engine: Engine,
    name: str,
    types: Mapping[str, str],
    source: tuple[str, Sequence[DatabaseColumn]],
    statement: str,
    values: Sequence[Numbers],
) -> int:
    """Make a temporary table of what a SELECT says of records, and of what is refused; how many they are.

    types: of its columns.  source: what stands after FROM, and its columns.  statement: its last column is NULL, or
    what is refused.  Raises ChangedTable, OutsideSchema, DatabaseFailed, ValueError for no record.
    """
    engine.begin()
    engine.refuse_changed(*source)
    engine.refuse_shadowed()
    listed = ", ".join(f"{column} {kind}" for column, kind in types.items())
    said = f"Nothing was charged. Where an account may make no temporary table, {FETCH}"
    engine.run(f"CREATE TEMPORARY TABLE {name} ({listed}, refused TEXT)", said=said)
    engine.run(f"INSERT INTO {name} {statement}", values, said="Nothing was charged")
    engine.commit()
    _refuse_outside(engine, name)
    size = engine.count(name)
    refuse_no_records(size)
    return size


def _refuse_outside(engine: Engine, name: str) -> None:
    """All columns with values that are refused at once; the database's user may see the table.

    name: of a temporary table with a column `refused`. Raises OutsideSchema.
    """
    found = engine.run(
        f"SELECT refused, count(*) FROM {name} WHERE refused IS NOT NULL GROUP BY refused ORDER BY refused"
    )
    if found:
        said = "; ".join(f"{what}: {number} of the records" for what, number in found)
        raise OutsideSchema(
            f"outside the schema or the classes: {said}. If they belong to what is learnt from, the schema says how: "
            "missing=, outside='clip', other=, or wider bounds. SqlTable(query=...) leaves them out; `exchequer schema "
            "check` and records='fetched' name a row. Nothing was charged"
        )


def _is_cut(column: Column) -> TypeGuard[Numeric]:
    """Whether its places are numbers, which edges cut into cells: those of categories in order are cells already."""
    return isinstance(column, Numeric) and not isinstance(column, Ordered)


def in_utc(dialect: DialectName, source: str, names: Sequence[str], zoned: Sequence[str]) -> str:
    """A source with these columns, of which the moments of some are in UTC, and without their zones."""
    if not zoned:
        return source
    quoted = {name: DIALECTS[dialect].identifier(name) for name in dict.fromkeys(names)}
    said = [f"{column} AT TIME ZONE 'UTC' AS {column}" if name in zoned else column for name, column in quoted.items()]
    return f"(SELECT {', '.join(said)} FROM {source}) AS in_utc"


def class_number(
    engine: Engine,
    found: DatabaseColumn,
    column: str,
    classes: Sequence[object],
    numbers: Sequence[int],
    *,
    what: str,
    named: bool = False,
) -> str:
    """SQL for the number of the class that a column holds; NULL where it is none of them.

    found: what the column is, of type "" where that is not known.  column: how the statement calls it.  named: see
    `Encoder`.
    Raises NotInSql for types that are not compared.
    """
    dialect = DIALECTS[engine.dialect]
    known = dialect.type_known(column, found.type or None)
    texts = found.kind in ("text", "any") and found.type != "character" and all(type(name) is str for name in classes)
    whole = found.kind in ("whole", "number", "any") and all(type(name) in (int, float, bool) for name in classes)
    truth = found.kind == "truth" and all(type(name) in (int, bool) and name in (0, 1) for name in classes)
    if named and found.kind in ("text", "whole", "truth", "any"):
        literals = [dialect.text(str(name)) for name in classes]
        value = engine.exact_text(dialect.as_name(column, ", ".join(literals), known))
    elif texts:
        value, literals = engine.exact_text(column), [dialect.text(str(name)) for name in classes]
    elif whole or truth:
        one, zero = dialect.number(1.0), dialect.number(0.0)
        of_truth = f"CASE WHEN {column} THEN {one} WHEN NOT {column} THEN {zero} END"
        value = of_truth if truth else dialect.as_number(column, False, known)
        literals = [dialect.number(_exact(name)) for name in classes]
    else:
        raise NotInSql(
            f"the {what} {found.name!r} is {found.type} in the database, and the classes are {tuple(classes)!r}, which "
            f"is not compared inside a database. {FETCH}. Nothing was charged"
        )
    cases = (f"WHEN {value} = {literal} THEN {number}" for literal, number in zip(literals, numbers, strict=True))
    return f"CASE {' '.join(cases)} END"


def _exact(name: object) -> float:
    """The class as a double, which whole numbers of the database are compared as. Raises NotInSql beyond 2^53."""
    assert isinstance(name, int | float)
    if abs(name) >= EXACT:
        raise NotInSql(
            f"the class {name!r} is beyond 2^53, which is not compared inside a database. {FETCH}. Nothing was charged"
        )
    return float(name)
