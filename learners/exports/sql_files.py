"""CSV files as DuckDB's tables: every field as the text that it is, as the schema's [file] says they are written."""

import codecs
from typing import Final

from learners.exports.portable_model import NotPortable
from learners.exports.sql_dialects import Dialect
from learners.tables import FileFormat

ENCODINGS: Final = {"utf-8": "utf-8", "utf-8-sig": "utf-8", "utf-16": "utf-16", "iso8859-1": "latin-1"}
"""DuckDB's names of those that it reads without an extension, by Python's."""


def csv_table(dialect: Dialect, path: str, file: FileFormat | None) -> str:
    """What stands after FROM. A sniffed type of a column would make one record's text say what another's is.

    Raises NotPortable for an encoding that DuckDB does not read.
    """
    file, text = file or FileFormat(), dialect.text
    said = ["all_varchar = true", "comment = ''", f"header = {'false' if file.columns else 'true'}"]
    if file.columns:
        said.append(f"names = [{', '.join(map(text, file.columns))}]")
    said.append(f"delim = {text(file.separator or ',')}")
    said.append(f"quote = {text(file.quote)}")
    if file.encoding is not None:
        name = codecs.lookup(file.encoding).name
        if name not in ENCODINGS:
            raise NotPortable(
                f"{path}: DuckDB reads no CSV in {file.encoding}, as the model's schema has it; load the file into a "
                "table, and name that"
            )
        said.append(f"encoding = {text(ENCODINGS[name])}")
    read = f"read_csv({text(path)}, {', '.join(said)})"
    if file.decimal == ".":
        return read
    comma = "^([+-]?[0-9]*),([0-9]+([eE][+-]?[0-9]+)?)$"
    whole = "^([+-]?[0-9]+),$"
    pointed = f"regexp_replace(regexp_replace(trim(COLUMNS(*)), '{comma}', '\\1.\\2'), '{whole}', '\\1.')"
    return f"(SELECT {pointed} AS '\\0' FROM {read})"
