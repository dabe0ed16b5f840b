"""Fitted models for other engines: as SQL, as ONNX, and as Python without us; each gives what `predict` gives."""

from learners.exports.conversions import EXPORTABLE, portable
from learners.exports.onnx_graph import as_onnx
from learners.exports.portable_model import NotPortable, PortableModel
from learners.exports.python_code import as_python
from learners.exports.sql import as_sql
from learners.exports.sql_dialects import DIALECTS, Dialect, DialectName
from learners.exports.sql_places import PlaceQuery, as_places
from learners.exports.sql_predictions import PredictionQuery, Reads, as_predictions

__all__ = [
    "DIALECTS",
    "EXPORTABLE",
    "Dialect",
    "DialectName",
    "NotPortable",
    "PlaceQuery",
    "PortableModel",
    "PredictionQuery",
    "Reads",
    "as_onnx",
    "as_places",
    "as_predictions",
    "as_python",
    "as_sql",
    "portable",
]
