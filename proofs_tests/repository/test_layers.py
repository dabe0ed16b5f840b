"""The house keeps its order: rooms have no cycles, others come in by the face, and nothing grows too large."""

import ast
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

ROOT = Path(__file__).parents[2]

LAYERS = ("accountant", "mechanisms", "boosting", "learners", "exchequer", "proofs_tests", "benchmarks")

MOST_MODULES = 15
MOST_LINES = 400

PROGRAMS = ("exchequer.", "benchmarks.peer_workers.")
"""What is started and not imported from: its modules load when they are asked for."""


def product() -> Iterator[Path]:
    for layer in LAYERS:
        if layer != "proofs_tests":
            yield from sorted((ROOT / layer).rglob("*.py"))


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {name_of(path): path for path in product()}
ROOMS = {name for name, path in MODULES.items() if path.name == "__init__.py"}


def room_of(module: str) -> str:
    return module if module in ROOMS else module.rpartition(".")[0]


@attrs.frozen
class Import:
    """One name taken from a module; `late` inside a function or for types only."""

    by: str
    module: str
    late: bool


def _late(tree: ast.Module) -> set[int]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.If)
    late = (node for node in ast.walk(tree) if isinstance(node, kinds))
    return {id(inner) for node in late if not isinstance(node, ast.If) or "TYPE_CHECKING" in ast.dump(node.test)
            for inner in ast.walk(node)}  # fmt: skip


def _imports() -> Iterator[Import]:
    for module, path in MODULES.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        late = _late(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in LAYERS:
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    yield Import(module, inner if inner in MODULES else node.module, id(node) in late)


IMPORTS = tuple(_imports())


def _is_shared_ground(module: str) -> bool:
    """A module at the top of its package, such as `accountant.exceptions`: it is its own face."""
    return module.count(".") <= 1


def test_others_come_in_by_the_face() -> None:
    """From another room one imports the room, or a module that its face names."""
    strangers = []
    for each in IMPORTS:
        home, room = room_of(each.by), room_of(each.module)
        if home == room or room not in ROOMS or each.module in ROOMS or _is_shared_ground(each.module):
            continue
        if each.module.startswith(PROGRAMS) or each.by == room.rpartition(".")[0]:
            continue
        face = MODULES[room].read_text(encoding="utf-8")
        if f'"{each.module.rpartition(".")[2]}"' not in face.partition("__all__")[2]:
            strangers.append(f"{each.by} reaches into {each.module}")
    assert not strangers


def test_no_private_name_crosses_a_room() -> None:
    for module, path in MODULES.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in LAYERS:
                private = [alias.name for alias in node.names if alias.name.startswith("_")]
                parts = any(part.startswith("_") for part in node.module.split("."))
                assert not (private or parts) or room_of(node.module) == room_of(module), f"{module}: {private}"


def test_rooms_do_not_need_one_another_in_a_circle() -> None:
    """At the time of import; a package's own face, which gathers its rooms, stands above them."""
    needs: dict[str, set[str]] = {}
    for each in IMPORTS:
        home, room = room_of(each.by), room_of(each.module)
        if not each.late and home != room and each.by not in ROOMS:
            place = each.module if _is_shared_ground(each.module) and each.module not in ROOMS else room
            needs.setdefault(each.by if _is_shared_ground(each.by) else home, set()).add(place)
    done: set[str] = set()

    def visit(room: str, above: tuple[str, ...]) -> None:
        assert room not in above, f"a circle: {' -> '.join((*above, room))}"
        if room not in done:
            for below in sorted(needs.get(room, ())):
                visit(below, (*above, room))
            done.add(room)

    for room in sorted(needs):
        visit(room, ())


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_a_room_says_what_lives_there_and_what_it_shows(room: str) -> None:
    tree = ast.parse(MODULES[room].read_text(encoding="utf-8"))
    said = ast.get_docstring(tree)
    assert said
    assert said.split("\n")[0].endswith((".", "`")), said
    own = [name for name in MODULES if name != room and room_of(name) == room and name not in ROOMS]
    assert len(own) <= MOST_MODULES, f"{room} holds {len(own)} modules"


def test_no_module_is_long() -> None:
    long = {name: lines for name, path in MODULES.items()
            if (lines := len(path.read_text(encoding="utf-8").splitlines())) > MOST_LINES}  # fmt: skip
    assert not long
