"""The reference: a page for each face of a room, of the docstrings of its public names, and one of the commands."""

import ast
import functools
import importlib
import inspect
import itertools
import pkgutil
import typing
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, UnionType
from typing import Final

import click

from proofs_tests.site.docstrings import as_markdown
from proofs_tests.site.signatures import signature

LAYERS: Final = ("accountant", "mechanisms", "boosting", "learners")
KIT: Final = "proofs_tests.harness"


def faces() -> list[str]:
    """The packages whose public names the reference lists: the layers, the rooms inside them, and the kit."""
    found = []
    for layer in LAYERS:
        package = importlib.import_module(layer)
        found.append(layer)
        found += sorted(each.name for each in pkgutil.walk_packages(package.__path__, f"{layer}.") if each.ispkg)
    return [face for face in found if getattr(importlib.import_module(face), "__all__", ())] + [KIT]


def name_on_page(face: str) -> str:
    """The kit is imported as `exchequer.testing`."""
    return "exchequer.testing" if face == KIT else face


def place_of(face: str) -> str:
    """The page of a face on the site."""
    return f"reference/python/{name_on_page(face)}.md"


def public_names() -> dict[str, list[str]]:
    """What each face offers, in alphabetical order, without modules."""
    found = {}
    for face in faces():
        module = importlib.import_module(face)
        names = sorted(module.__all__, key=lambda name: (name.casefold(), name))
        found[face] = [name for name in names if not isinstance(getattr(module, name), ModuleType)]
    return found


def homes(names_of: dict[str, list[str]]) -> dict[tuple[str, str], str]:
    """Where each name of each face is described: in the innermost room that has the same object by the same name."""
    things = {
        (face, name): getattr(importlib.import_module(face), name) for face, names in names_of.items() for name in names
    }
    found = {}
    for (face, name), thing in things.items():
        rooms = [other for other in names_of if things.get((other, name), _NOT_THERE) is thing]
        found[face, name] = max(rooms, key=lambda room: (room.count("."), room.startswith(face)))
    return found


_NOT_THERE: Final = object()


def pages() -> dict[str, str]:
    """Every page of the reference of Python names, by its place, and the page that lists them."""
    names_of = public_names()
    home = homes(names_of)
    found = {place_of(face): _page(face, names, home) for face, names in names_of.items()}
    listed = "\n".join(name_on_page(face) for face in names_of)
    found["reference/python/index.md"] = (
        "# Python names\n\nEvery public name, by the package that defines it. All of them can be imported from "
        "`exchequer`, too, and those of the verification kit from `exchequer.testing`.\n\n"
        f"```{{toctree}}\n{listed}\n```\n"
    )
    return found


def _page(face: str, names: list[str], home: dict[tuple[str, str], str]) -> str:
    module = importlib.import_module(face)
    parts = [f"# {name_on_page(face)}", as_markdown(module.__doc__ or "")]
    if elsewhere := [name for name in names if home[face, name] != face]:
        parts.append("Also offered here, and described with the package that defines them:")
        lines = []
        for room in sorted({home[face, name] for name in elsewhere}):
            of_room = ", ".join(f"`{name}`" for name in elsewhere if home[face, name] == room)
            lines.append(f"- [`{room}`]({name_on_page(room)}.md): {of_room}")
        parts.append("\n".join(lines))
    parts += [_described(face, name, getattr(module, name)) for name in names if home[face, name] == face]
    return "\n\n".join(parts) + "\n"


def _described(face: str, name: str, thing: object) -> str:
    """One name: its heading, its signature, its docstring, and, of a class, its public methods and properties."""
    shown = name_on_page(face)
    if inspect.isclass(thing):
        kind = "exception" if issubclass(thing, BaseException) else "class"
        below = "\n\n".join(_members(thing))
        body = f"{as_markdown(_own_docstring(thing))}\n\n{below}".strip()
        return f"## {name}\n\n````{{py:{kind}}} {name}{signature(thing)}\n:module: {shown}\n\n{body}\n````"
    if callable(thing) and not _is_alias(thing):
        body = as_markdown(inspect.getdoc(thing) or "")
        return f"## {name}\n\n````{{py:function}} {name}{signature(thing)}\n:module: {shown}\n\n{body}\n````"
    body = "\n\n".join(filter(None, (as_markdown(said_below(face, name)), _value(thing))))
    return f"## {name}\n\n````{{py:data}} {name}\n:module: {shown}\n\n{body}\n````"


def said_below(face: str, name: str) -> str:
    """The docstring that stands below a constant in the module that defines it; "" without one."""
    found = (_below(path, name) for path in sorted(Path(importlib.import_module(face).__path__[0]).rglob("*.py")))
    return next((text for text in found if text), "")


def _below(path: Path, name: str) -> str:
    body = _parsed(path).body
    for statement, after in itertools.pairwise(body):
        match statement, after:
            case (
                ast.Assign(targets=[ast.Name(id=here)]) | ast.AnnAssign(target=ast.Name(id=here)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ) if here == name:
                return text
    return ""


@functools.cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _is_alias(thing: object) -> bool:
    """Whether it is a type of the typing module, which can be called and has a docstring of its own."""
    return type(thing).__module__ in {"typing", "types"} and not inspect.isroutine(thing)


def _own_docstring(thing: type) -> str:
    """A class's docstring, not that of a class that it is derived from."""
    return inspect.cleandoc(thing.__dict__.get("__doc__") or "")


MOST_VALUE: Final = 120
"""The longest value of a constant that is shown, in characters."""


def _value(thing: object) -> str:
    if isinstance(thing, UnionType):
        kinds = ", ".join(f"`{getattr(each, '__name__', each)}`" for each in thing.__args__)
        return f"One of: {kinds}."
    if typing.get_origin(thing) is typing.Literal:
        return f"One of: {', '.join(f'`{each!r}`' for each in typing.get_args(thing))}."
    if isinstance(thing, int | float | str | tuple | frozenset) and len(repr(thing)) <= MOST_VALUE:
        return f"Value: `{thing!r}`"
    return f"A {type(thing).__name__}."


def _members(thing: type) -> Iterator[str]:
    for name, member in vars(thing).items():
        inner = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        if name.startswith("_") or not (inspect.isfunction(inner) or isinstance(inner, property)):
            continue
        document = as_markdown(inspect.cleandoc(inner.__doc__ or ""))
        if not document:
            continue
        if isinstance(inner, property):
            yield f"```{{py:property}} {name}\n\n{document}\n```"
        else:
            option = ":classmethod:\n" if isinstance(member, classmethod) else ""
            option = ":staticmethod:\n" if isinstance(member, staticmethod) else option
            own = signature(inner, bound=not isinstance(member, staticmethod))
            yield f"```{{py:method}} {name}{own}\n{option}\n{document}\n```"


def command_line() -> str:
    """The page of the command line: the help of every command, as the program prints it."""
    from exchequer.cli import main

    said = (
        "The help of every command, as `exchequer COMMAND --help` prints it. `python -m exchequer` is the same program."
    )
    parts = ["# The command line", said]
    for path, command in _commands(main, ("exchequer",)):
        context = click.Context(command, info_name=" ".join(path), terminal_width=100, max_content_width=100)
        parts.append(f"## {' '.join(path)}\n\n```text\n{command.get_help(context)}\n```")
    return "\n\n".join(parts) + "\n"


def _commands(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=path[-1])
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None and not below.hidden:
                yield from _commands(below, (*path, name))
