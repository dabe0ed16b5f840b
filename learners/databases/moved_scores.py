"""Scores of records that stay in a database: what released tables add up to, in whole numbers.

Tables that were released of the same columns are added up before a statement sees them, so a round looks each record up
in a few tables and writes nothing. Once these are many, the scores so far are written beside the records' codes, in
their temporary table or a new one, where later rounds go on from.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Final, TypeAlias, TypeVar

import attrs

from learners.databases.public_tables import PublicTables
from learners.databases.sql_rows import Scores, SqlRows
from mechanisms.gradients import LookUp, Move

AT_ONCE: Final = 4
"""Tables that a round looks records up in before the scores are written."""

TOGETHER: Final = 64
"""Terms that one statement adds up: engines bound how deep an expression is, and how long a statement."""


M = TypeVar("M", bound=Hashable)


@attrs.frozen
class Signs:
    """`times` for each record where a condition on its codes holds, −`times` elsewhere; the same for all scores."""

    condition: str
    times: int

    @property
    def said(self) -> str:
        """As SQL."""
        return f"CASE WHEN {self.condition} THEN {self.times} ELSE {-self.times} END"


Change: TypeAlias = LookUp | Signs


def place_of(look_up: LookUp, tables: PublicTables) -> str:
    """The place of a record in a table by the codes of one column, or of two."""
    if not look_up.places:
        return f"CAST(c{look_up.columns[0]} AS INTEGER)"
    pairs = zip(look_up.places, look_up.columns, strict=True)
    return " + ".join(tables.at(table, f"CAST(c{column} AS INTEGER)") for table, column in pairs)


def brought_up(rows: SqlRows, moves: tuple[Move, ...], heads: int) -> tuple[str, PublicTables, list[str]]:
    """A table of the records with what their scores after the moves are. heads: scores of a record.

    What stands after FROM, beside the public tables, and each score.
    """
    return brought_up_by(rows, moves, lambda left: merged([move.change for move in left]), heads)


def brought_up_by(
    rows: SqlRows, moves: tuple[M, ...], changes: Callable[[tuple[M, ...]], Sequence[Change]], heads: int
) -> tuple[str, PublicTables, list[str]]:
    """The same of moves of any kind, told apart by ==. changes: what some of them add to scores."""
    known = rows.scores
    if moves[: len(known.moves)] != known.moves:
        _replace(rows, Scores())
    ahead = changes(moves[len(known.moves) :])
    if len(ahead) > AT_ONCE:
        for start in range(0, len(ahead), TOGETHER):
            _replace(rows, Scores(_written(rows, ahead[start : start + TOGETHER], heads), moves))
        ahead = []
    tables = rows.table.engine.tables()
    return known.name or rows.table.name, tables, _scores(rows, ahead, heads, tables)


def merged(changes: Sequence[LookUp]) -> list[LookUp]:
    """The same in as few tables as it takes."""
    found: dict[tuple[object, ...], LookUp] = {}
    for change in changes:
        key = (change.columns, change.table.shape, *(places.tobytes() for places in change.places))
        before = found.get(key)
        table = change.table if before is None else before.table + change.table
        found[key] = LookUp(change.columns, table, change.places)
    return list(found.values())


def _scores(rows: SqlRows, changes: Sequence[Change], heads: int, tables: PublicTables) -> list[str]:
    looked = [
        (tables.looked_up(change.table.reshape(-1)), place_of(change, tables))
        for change in changes
        if isinstance(change, LookUp)
    ]
    start = [f"s{head}" if rows.scores.name else "0" for head in range(heads)]
    signs = [change.said for change in changes if isinstance(change, Signs)]
    return [
        " + ".join([before, *(value_at(f"({place}) * {heads} + {head}") for value_at, place in looked), *signs])
        for head, before in enumerate(start)
    ]


def _written(rows: SqlRows, changes: Sequence[Change], heads: int) -> str:
    """A temporary table with the records and their scores; its name."""
    table, engine = rows.table, rows.table.engine
    tables, source = engine.tables(), rows.scores.name or rows.table.name
    scores = _scores(rows, changes, heads, tables)
    return engine.write_scores(source, dict(zip(table.columns, table.types, strict=True)), scores, tables)


def _replace(rows: SqlRows, scores: Scores) -> None:
    old = rows.scores.name
    rows.scores.name, rows.scores.moves = scores.name, scores.moves
    if old not in ("", scores.name, rows.table.name):
        rows.table.engine.run(f"DROP TABLE {old}")
