"""Signatures as the reference shows them: with types, without what no reader can use."""

import inspect
import re
from collections.abc import Callable
from typing import Any, Final

ADDRESS: Final = re.compile(r"<[^<>]*>")
"""How Python shows a default that it cannot spell."""

PREFIX: Final = re.compile(r"\b(?:[a-z_]\w*\.)+(?=[A-Za-z_])")
"""The packages before a name."""


ARRAY: Final = re.compile(r"ndarray\[tuple\[Any, \.\.\.\], dtype\[(\w+)(?:\[Any\])?\]\]")
"""Of any shape: docstrings say which."""


def signature(thing: Callable[..., Any], *, bound: bool = False) -> str:
    """As text, "(a: int, *, b: float = 1.0) -> str"; empty where Python knows of none. bound: without the first."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    parameters = list(found.parameters.values())[1 if bound else 0 :]
    shown = [each.replace(annotation=_type(each.annotation), default=_default(each.default)) for each in parameters]
    returned = inspect.Signature.empty if inspect.isclass(thing) else _type(found.return_annotation)
    return str(found.replace(parameters=shown, return_annotation=returned))


class _Shown:
    """Text that stands for itself in a signature."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _default(value: object) -> object:
    if value is inspect.Parameter.empty:
        return value
    text = repr(value)
    return _Shown("..." if ADDRESS.search(text) or len(text) > 60 else text)


def _type(annotation: object) -> object:
    if annotation is inspect.Parameter.empty:
        return annotation
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    text = ARRAY.sub(r"ndarray[\1]", PREFIX.sub("", text.replace("NoneType", "None")))
    return _Shown("..." if ADDRESS.search(text) or "~" in text or "'" in text else text)
