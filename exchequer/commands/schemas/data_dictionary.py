"""Data dictionaries: what a CSV or JSON file says of the columns of another, from public knowledge."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, cast

from exchequer.commands.schemas.column_facts import ColumnFacts, Type
from exchequer.console.table_files import open_table

KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "name": ("name", "column", "variable", "field", "attribute"),
    "type": ("type", "kind", "dtype", "datatype", "data type"),
    "range": ("range", "bounds", "limits"),
    "lower": ("lower", "min", "minimum", "least", "from"),
    "upper": ("upper", "max", "maximum", "most", "to"),
    "categories": ("categories", "values", "levels", "enum", "codes", "allowed", "allowed values", "classes"),
    "unit": ("unit", "units"),
    "said": ("description", "meaning", "label text", "comment", "title"),
    "form": ("format", "form", "date format"),
    "role": ("role", "use"),
}
"""What dictionaries call it, in small letters."""

_TYPES: Final[Mapping[Type, tuple[str, ...]]] = {
    "number": ("number", "float", "double", "real", "numeric", "continuous", "decimal", "float64", "float32"),
    "integer": ("integer", "int", "count", "whole", "int64", "int32", "year", "bigint", "discrete"),
    "date": ("date", "datetime", "time", "timestamp"),
    "boolean": ("boolean", "bool", "binary", "flag"),
    "text": ("text", "categorical", "category", "nominal", "factor", "string", "str", "enum", "object", "char"),
    "ordered": ("ordered", "ordinal"),
    "ignored": ("ignored", "ignore", "id", "identifier", "free text", "key"),
}
TYPES: Final = {word: kind for kind, words in _TYPES.items() for word in words}

LABEL_ROLES: Final = ("label", "target", "outcome", "class", "response")

_NUMBER: Final = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_RANGE: Final = re.compile(rf"[\[(]?\s*(?P<low>{_NUMBER})\s*(?:\.\.+|to|–|,|;|-|\|)\s*(?P<high>{_NUMBER})\s*[\])]?")
_DATES: Final = re.compile(r"(?P<low>\d{4}-\d\d-\d\d.*?)\s*(?:\.\.+|to|–|,|;|/|\|)\s*(?P<high>\d{4}-\d\d-\d\d.*)")


def read_dictionary(path: Path) -> list[ColumnFacts]:
    """CSV with a line, or JSON with an object, for each column; JSON schemas and table schemas too. Raises ValueError.

    Understood are the names in KEYS; categories in one cell are separated by |, else by ; or by commas.
    """
    records = _of_json(json.loads(path.read_text(encoding="utf-8"))) if path.suffix == ".json" else _of_csv(path)
    found = [_facts(record, path.name) for record in records]
    if not found:
        raise ValueError(f"{path}: describes no column; it needs a column called name, and type, range, categories")
    return found


def _of_csv(path: Path) -> list[dict[str, object]]:
    table = {name.strip().lower(): list(values) for name, values in _texts(path).items()}
    rows = zip(*table.values(), strict=True)
    return [{name: text for name, text in zip(table, row, strict=True) if text} for row in rows]


def _texts(path: Path) -> "Mapping[str, Sequence[str]]":
    return cast("Mapping[str, Sequence[str]]", open_table(path))


def _of_json(content: object) -> list[dict[str, object]]:
    if isinstance(content, Mapping):
        for key in ("fields", "columns", "properties"):
            if isinstance(content.get(key), list | Mapping):
                return _of_json(content[key])
        content = [{"name": name, **each} for name, each in content.items() if isinstance(each, Mapping)]
    if not isinstance(content, Iterable) or isinstance(content, str):
        raise ValueError(f"expected a list of columns, got {content!r:.80}")
    return [_flat(each) for each in content if isinstance(each, Mapping)]


def _flat(record: Mapping[str, object]) -> dict[str, object]:
    """Table schemas have bounds among the constraints."""
    inner = record.get("constraints")
    whole = {**record, **(inner if isinstance(inner, Mapping) else {})}
    return {str(name).lower(): value for name, value in whole.items() if value is not None}


def _facts(record: Mapping[str, object], source: str) -> ColumnFacts:
    said = {key: next((record[name] for name in names if name in record), None) for key, names in KEYS.items()}
    if said["name"] is None:
        raise ValueError(
            f"{source}: a column without a name; the keys are {list(record)}, expected one of {KEYS['name']}"
        )
    name = str(said["name"]).strip()
    lower, upper = _bounds(name, said, source)
    categories = _categories(said["categories"])
    word = "" if said["type"] is None else str(said["type"]).strip().lower()
    if word and word not in TYPES:
        raise ValueError(f"{source}: column {name!r}: type {word!r} is not one of {sorted(TYPES)}")
    kind = TYPES.get(word)
    if categories and kind not in ("ordered", "ignored"):
        kind = "text"
    elif kind is None and lower is not None:
        kind = "date" if isinstance(lower, str) else "number"
    known = lower is not None or bool(categories)
    return ColumnFacts(
        name,
        kind,
        form=None if said["form"] is None or "%" not in str(said["form"]) else str(said["form"]),
        lower=lower,
        upper=upper,
        categories=categories,
        unit=str(said["unit"] or ""),
        said=str(said["said"] or ""),
        source=f"the data dictionary {source}" if known else "",
        typed=f"the data dictionary {source}" if kind else "",
        label=str(said["role"] or "").strip().lower() in LABEL_ROLES,
    )


def _bounds(name: str, said: Mapping[str, object], source: str) -> tuple[float | str | None, float | str | None]:
    if said["range"] is None:
        return _bound(said["lower"]), _bound(said["upper"])
    if isinstance(said["range"], list | tuple) and len(said["range"]) == 2:
        return _bound(said["range"][0]), _bound(said["range"][1])
    found = _DATES.fullmatch(str(said["range"]).strip()) or _RANGE.fullmatch(str(said["range"]).strip())
    if found is None:
        raise ValueError(f"{source}: column {name!r}: range {said['range']!r} is not like 0..100, or [0, 100]")
    return _bound(found["low"]), _bound(found["high"])


def _bound(value: object) -> float | str | None:
    """A number, or the text of a date."""
    if value is None or isinstance(value, int | float):
        return value
    text = str(value).strip()
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if number.is_integer() else number


def _categories(value: object) -> tuple[str, ...]:
    """Keys of a mapping, elements of a list, parts of a text."""
    if value is None:
        return ()
    if isinstance(value, Mapping | list | tuple):
        return tuple(str(each).strip() for each in value)
    text = str(value)
    mark = next((mark for mark in ("|", ";", ",") if mark in text), ",")
    return tuple(part.strip() for part in text.split(mark) if part.strip())
