"""Reading tables of any library value by value: the public schema, columns, labels and classes."""

from typing import TYPE_CHECKING

from accountant.renamed import old_names
from learners.kinds import MISSING_CELL, Date, Integer, Ordered, OutsideSchema, RowOf, Values, as_numbers, is_missing
from learners.tables.arrow_columns import of_arrow
from learners.tables.columns import (
    boxed,
    column_values,
    refuse_masked,
)
from learners.tables.csv_files import CsvFile, Strings, read_csv
from learners.tables.dictionary_columns import (
    DictionaryColumn,
    each_value,
    joined,
)
from learners.tables.file_format import FileFormat
from learners.tables.labels import (
    CodedLabels,
    bounded_labels,
    coded_labels,
    label_array,
    label_texts,
    label_values,
    refuse_no_labels,
    signs,
)
from learners.tables.open_questions import TODO, OpenQuestions, open_questions
from learners.tables.public_classes import (
    MOST_CLASSES,
    Classes,
    class_array,
    distinct_classes,
    public_classes,
)
from learners.tables.readers import (
    BLOCK_READERS,
    Frame,
    Table,
    encode,
    input_names,
    narrow_codes,
    number_table,
    refuse_no_records,
    refuse_other_names,
    refuse_other_number,
    schema_columns,
    schema_from_dtypes,
    table_column,
    table_names,
    with_dask,
)
from learners.tables.schema import (
    Boolean,
    Bounds,
    Categorical,
    Column,
    Label,
    NumberLabel,
    Numeric,
    Schema,
    SchemaError,
)

if not TYPE_CHECKING:
    __getattr__ = old_names(__name__)

__all__ = [
    "BLOCK_READERS",
    "MISSING_CELL",
    "MOST_CLASSES",
    "TODO",
    "Boolean",
    "Bounds",
    "Categorical",
    "Classes",
    "CodedLabels",
    "Column",
    "CsvFile",
    "Date",
    "DictionaryColumn",
    "FileFormat",
    "Frame",
    "Integer",
    "Label",
    "NumberLabel",
    "Numeric",
    "OpenQuestions",
    "Ordered",
    "OutsideSchema",
    "RowOf",
    "Schema",
    "SchemaError",
    "Strings",
    "Table",
    "Values",
    "as_numbers",
    "bounded_labels",
    "boxed",
    "class_array",
    "coded_labels",
    "column_values",
    "distinct_classes",
    "each_value",
    "encode",
    "input_names",
    "is_missing",
    "joined",
    "label_array",
    "label_texts",
    "label_values",
    "narrow_codes",
    "number_table",
    "of_arrow",
    "open_questions",
    "public_classes",
    "read_csv",
    "refuse_masked",
    "refuse_no_labels",
    "refuse_no_records",
    "refuse_other_names",
    "refuse_other_number",
    "schema_columns",
    "schema_from_dtypes",
    "signs",
    "table_column",
    "table_names",
    "with_dask",
]
