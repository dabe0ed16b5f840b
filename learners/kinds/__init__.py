"""Kinds of columns: what each takes, and the code or the number that each of its values becomes by itself."""

from learners.kinds.boolean_column import WORDS, Boolean, reads_as_truth
from learners.kinds.categorical_column import Categorical
from learners.kinds.category_names import MISSING_TEXTS, category_name, elements, other_names
from learners.kinds.column_checks import SchemaError, bins_of, finite, named
from learners.kinds.column_records import KINDS, Column, column_of, column_record
from learners.kinds.date_column import Date, seconds_of
from learners.kinds.distinct_values import distinct
from learners.kinds.integer_column import Integer
from learners.kinds.missing_numbers import gaps
from learners.kinds.numeric_column import MISSING_CELL, Numeric
from learners.kinds.ordered_column import Ordered
from learners.kinds.single_values import OutsideSchema, RowOf, Values, as_numbers, is_missing, same_row

__all__ = [
    "KINDS",
    "MISSING_CELL",
    "MISSING_TEXTS",
    "WORDS",
    "Boolean",
    "Categorical",
    "Column",
    "Date",
    "Integer",
    "Numeric",
    "Ordered",
    "OutsideSchema",
    "RowOf",
    "SchemaError",
    "Values",
    "as_numbers",
    "bins_of",
    "category_name",
    "column_of",
    "column_record",
    "distinct",
    "elements",
    "finite",
    "gaps",
    "is_missing",
    "named",
    "other_names",
    "reads_as_truth",
    "same_row",
    "seconds_of",
]
