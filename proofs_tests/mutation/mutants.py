"""All mutants of a module: its source with one node changed, each with where it is and what it says there."""

import ast
import builtins
import difflib
from collections.abc import Iterator, Sequence

import attrs
import libcst as cst
import libcst.matchers as m

from proofs_tests.mutation.operators import changed


@attrs.frozen
class Mutant:
    """A module that differs from the one in the repository in one place.

    definition: the function, the class and its method, or "" for the module itself.
    before, after: the lines that differ, without indentation.
    """

    module: str
    definition: str
    before: str
    after: str
    source: str = attrs.field(repr=False)

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What it is called in the records: no line number, as those move."""
        return self.module, self.definition, self.before, self.after


UNTOUCHED = (
    cst.Annotation, cst.Decorator, cst.Import, cst.ImportFrom, cst.FormattedString, cst.SimpleString, cst.Parameters,
)  # fmt: skip
"""What a type checker reads, or a person; defaults of parameters are looked at on their own."""


class _Places(cst.CSTVisitor):
    """Every node that may be changed, with the definition that it is in."""

    def __init__(self, skipped: Sequence[str]) -> None:
        super().__init__()
        self.found: list[tuple[str, cst.CSTNode]] = []
        self._skipped = frozenset(skipped)
        self._inside: list[str] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.FunctionDef | cst.ClassDef):
            self._inside.append(node.name.value)
            if ".".join(self._inside) in self._skipped:
                return False
        if isinstance(node, cst.Parameters):
            for parameter in (*node.params, *node.kwonly_params):
                if parameter.default is not None:
                    parameter.default.visit(self)
        if isinstance(node, UNTOUCHED) or m.matches(node, _TYPES):
            return False
        self.found.append((".".join(self._inside), node))
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        if isinstance(original_node, cst.FunctionDef | cst.ClassDef):
            self._inside.pop()


_TYPES = (
    m.If(test=m.Name("TYPE_CHECKING"))
    | m.AnnAssign(annotation=m.Annotation(m.Name("TypeAlias")))
    | m.Assign(value=m.BinaryOperation(operator=m.BitOr()))
    | m.Assign(value=m.Call(func=m.Name("TypeVar")))
)
"""What only a type checker sees, and unions of types."""


def _difference(old: str, new: str) -> tuple[str, str]:
    before, after = [], []
    for line in difflib.ndiff(old.splitlines(), new.splitlines()):
        if line.startswith("- "):
            before.append(line[2:].strip())
        elif line.startswith("+ "):
            after.append(line[2:].strip())
    return " ".join(before), " ".join(after)


def _names(tree: ast.Module) -> frozenset[str]:
    return frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))


def _meaning(source: str, names: frozenset[str]) -> str | None:
    """What the source says but for its layout; None where it does not compile, or uses names that it does not know."""
    try:
        tree = ast.parse(source)
        compile(tree, "mutant", "exec")
    except (SyntaxError, ValueError):
        return None
    return ast.dump(tree) if all(hasattr(builtins, name) for name in _names(tree) - names) else None


def mutants_of(module: str, source: str, skipped: Sequence[str] = ()) -> Iterator[Mutant]:
    """All mutants of a source, each once. skipped: definitions that neither price nor bound anything."""
    tree = cst.parse_module(source)
    places = _Places(skipped)
    tree.visit(places)
    names = _names(ast.parse(source))
    seen: set[str | None] = {None, _meaning(source, names)}
    for definition, node in places.found:
        for new in changed(node):
            mutated = _with(tree, node, new)
            meaning = _meaning(mutated, names)
            if meaning not in seen:
                seen.add(meaning)
                yield Mutant(module, definition, *_difference(source, mutated), mutated)


def _with(tree: cst.Module, old: cst.CSTNode, new: cst.CSTNode) -> str:
    replaced = tree.deep_replace(old, new)
    assert isinstance(replaced, cst.Module)
    return replaced.code
