"""A portable model's predictions for what stands after FROM in a statement: a table, or a query in brackets."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import attrs

from learners.exports.portable_model import Moments, Names, Numbers, PortableModel, Reading
from learners.exports.sql import _Writer  # its statement, over another source
from learners.exports.sql_dialects import DIALECTS, DialectName

Reads: TypeAlias = Literal["numbers", "moments", "names", "truths"]
"""As what a column is read."""


@attrs.frozen
class PredictionQuery:
    """A SELECT, and what its columns are called: those kept, then the answers as `as_sql` has them, `refused` last.

    answers: what each answer is called, by its name in `as_sql`.  reads: the columns that the model reads, and as what.
    """

    statement: str
    columns: tuple[str, ...]
    answers: Mapping[str, str]
    reads: Mapping[str, Reads]


def as_predictions(
    model: PortableModel, dialect: DialectName, source: str, keep: Sequence[str], types: Mapping[str, str]
) -> PredictionQuery:
    """`as_sql` over a source that is SQL itself. source: a table's quoted name, or a SELECT in brackets with a name.

    keep: columns that come first; () for none.  types: of columns, as the engine calls them.  Raises NotPortable.
    """
    writer = _Predictions(model, DIALECTS[dialect], source, tuple(keep), types)
    reads = {each.name: _read_as(each.reading) for each in model.inputs}
    columns = writer.columns()
    answers = dict(zip(writer.answers(), columns[len(keep) :], strict=True))
    return PredictionQuery(writer.statement(), columns, answers, reads)


def _read_as(reading: Reading) -> Reads:
    match reading:
        case Numbers():
            return "numbers"
        case Moments():
            return "moments"
        case Names():
            return "names"
    return "truths"


@attrs.frozen(slots=False)
class _Predictions(_Writer):
    def columns(self) -> tuple[str, ...]:
        return tuple(self._called(self.answers()))

    def answers(self) -> list[str]:
        return list(self._answers())

    def _table(self) -> str:
        return f"(SELECT * FROM {self.table})"

    @property
    def _prefix(self) -> str:
        """Nothing in the source is called so, not even inside a query."""
        said, prefix = "\n".join((*self.model.names, *self.keep, self.table)).lower(), "exchequer_"
        while prefix in said:
            prefix += "_"
        return prefix
