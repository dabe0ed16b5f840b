"""A task as our learners take it: a schema from its public columns."""

from benchmarks.adapters.protocol import Task
from learners import Categorical, Numeric, Schema


def schema(task: Task) -> Schema:
    """Its columns. Numbers are within their bounds already, up to the rounding of wide ones."""
    return Schema(
        tuple(
            Numeric(column.name, column.lower, column.upper, outside="clip")
            if column.numeric
            else Categorical(column.name, column.categories)
            for column in task.columns
        )
    )


def label_names(task: Task) -> tuple[int, ...]:
    """The classes, as labels have them."""
    return tuple(range(task.classes))
