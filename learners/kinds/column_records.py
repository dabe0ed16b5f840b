"""Columns as records, for schema files and saved models."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, Final, TypeAlias, cast

import attrs

from learners.kinds.boolean_column import Boolean
from learners.kinds.categorical_column import Categorical
from learners.kinds.column_checks import SchemaError
from learners.kinds.date_column import Date, date_text
from learners.kinds.integer_column import Integer
from learners.kinds.numeric_column import Numeric
from learners.kinds.ordered_column import Ordered

Column: TypeAlias = Categorical | Numeric | Boolean

KINDS: Final[Mapping[str, Callable[..., Column]]] = {
    "categorical": Categorical,
    "numeric": Numeric,
    "boolean": Boolean,
    "integer": Integer,
    "date": Date,
    "ordered": Ordered,
}
_NAMES: Final = {kind: name for name, kind in KINDS.items()}

_LATER: Final = ("missing", "other", "form")
"""What columns but categorical ones once did not have: it is written where it says something."""


def column_record(column: Column) -> dict[str, object]:
    """What `column_of` makes the column of again."""
    kind = type(column)
    fields = {field.name: getattr(column, field.name) for field in attrs.fields(kind) if field.init}
    if not isinstance(column, Categorical):
        fields = {name: value for name, value in fields.items() if name not in _LATER or value is not None}
    if isinstance(column, Date):
        dates = ("lower", "upper", *(["missing"] if column.missing not in (None, "own") else []))
        fields |= {name: _date(fields[name]) for name in dates}
    if isinstance(column, Ordered) and isinstance(column.missing, float):
        fields["missing"] = column.categories[int(column.missing)]
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}
    return {"kind": _NAMES[kind], **plain}


def _date(number: Any) -> object:
    """As text, where that says all of it."""
    return date_text(number) if float(number).is_integer() else number


def column_of(record: Mapping[str, object]) -> Column:
    """Raises SchemaError, which names the column."""
    if not isinstance(record, Mapping):
        raise SchemaError(f"columns: expected [[columns]] tables, got {record!r}")
    fields = dict(record)
    kind, name = str(fields.pop("kind", "")), fields.get("name")
    if not kind:
        near = get_close_matches("kind", list(map(str, fields)), 1)
        hint = f"unknown key {near[0]!r}; did you mean 'kind'?" if near else f"it needs a kind, one of {sorted(KINDS)}"
        raise SchemaError(f"column {name!r}: {hint}")
    if kind not in KINDS:
        raise SchemaError(f"column {name!r}: kind {kind!r} is not one of {sorted(KINDS)}")
    kept = [field for field in attrs.fields(cast("type[attrs.AttrsInstance]", KINDS[kind])) if field.init]
    known = [field.name for field in kept]
    if unknown := sorted(set(fields) - set(known)):
        near = get_close_matches(unknown[0], known, 1)
        meant = f" did you mean {near[0]!r}?" if near else ""
        raise SchemaError(
            f"column {name!r}: unknown key {unknown[0]!r};{meant} a {kind} column takes {', '.join(known)}"
        )
    needed = [field.name for field in kept if field.default is attrs.NOTHING and field.name not in fields]
    if needed:
        raise SchemaError(f"column {name!r}: a {kind} column needs {' and '.join(needed)}")
    try:
        return KINDS[kind](**(_with_own_categories(fields) if kind == "categorical" else fields))
    except SchemaError as error:
        raise SchemaError(str(error) if f"{name!r}" in str(error) else f"column {name!r}: {error}") from None
    except (TypeError, ValueError) as error:
        raise SchemaError(f"column {name!r}: {error}") from error


OWN_CATEGORIES: Final = {"missing": "(missing)", "other": "(other)"}
"""What a category is called that `missing = "own"` or `other = "own"` adds to those that are listed."""


def _with_own_categories(fields: Mapping[str, Any]) -> dict[str, Any]:
    """A category more for each role that is said to have its own."""
    found = dict(fields)
    for role, name in OWN_CATEGORIES.items():
        listed = found["categories"]
        if found.get(role) == "own" and isinstance(listed, list | tuple) and "own" not in listed:
            found |= {role: name, "categories": [*listed, *([] if name in listed else [name])]}
    return found
