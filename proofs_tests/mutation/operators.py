"""What is done to a node of the source: mutmut's mutators, and some of our own for formulas.

Of mutmut's, those stay out that make no bound wrong: on texts, and those that put None where a number is needed.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import libcst as cst
import libcst.matchers as m
from mutmut.mutation import mutators

Mutator = Callable[[cst.CSTNode], Iterator[cst.CSTNode]]

THEIRS: Final = frozenset(
    [
        "operator_number",
        "operator_name",
        "operator_augmented_assignment",
        "operator_remove_unary_ops",
        "operator_arg_removal",
        "operator_keywords",
        "operator_swap_op",
        "operator_match",
        "operator_if_exp",
    ]
)

UNWRAPPED: Final = frozenset(
    [
        "up",
        "finite_up",
        "down",
        "float_up",
        "float_down",
        "exact",
        "abs",
        "log",
        "log1p",
        "log2",
        "exp",
        "expm1",
        "sqrt",
        "tanh",
        "ceil",
        "floor",
        "square",
        "erfcx",
        "ndtr",
        "log_ndtr",
        "gammaln",
        "non_negative",
        "positive",
        "open_probability",
        "probability_below_one",
        "fraction",
        "count",
        "scale",
        "loss",
    ]
)
"""Functions of one number, or of an array, that a formula could have been written without."""

SWAPPED: Final = {
    "min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "floor": "ceil", "ceil": "floor",
    "log": "log1p", "log1p": "log", "exp": "expm1", "expm1": "exp", "any": "all", "all": "any", "argmax": "argmin",
    "argmin": "argmax", "sum": "max", "up": "down", "down": "up", "finite_up": "down", "float_up": "float_down",
    "float_down": "float_up",
}  # fmt: skip

EXTREMES: Final = frozenset(("min", "max", "minimum", "maximum"))

TRUE, FALSE, PASS = cst.Name("True"), cst.Name("False"), cst.Pass()


def _theirs(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    for kind, mutator in mutators.mutation_operators:
        if mutator.__name__ in THEIRS and isinstance(node, kind):
            yield from (new for new in mutator(node) if not _puts_none(node, new))


def _puts_none(old: cst.CSTNode, new: cst.CSTNode) -> bool:
    return (
        isinstance(old, cst.Call)
        and isinstance(new, cst.Call)
        and len(old.args) == len(new.args)
        and any(m.matches(arg.value, m.Name("None")) for arg in new.args)
    )


def _function(node: cst.Call) -> tuple[cst.BaseExpression, str]:
    """The function's node, and its own name, without what it is an attribute of."""
    match node.func:
        case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)):
            return node.func, name
    return node.func, ""


def _renamed(function: cst.BaseExpression, name: str) -> cst.BaseExpression:
    return function.with_changes(
        **({"attr": cst.Name(name)} if isinstance(function, cst.Attribute) else {"value": name})
    )


def _in_parentheses(node: cst.BaseExpression) -> cst.BaseExpression:
    return node.with_changes(lpar=[cst.LeftParen(), *node.lpar], rpar=[*node.rpar, cst.RightParen()])


def less_by_one(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """mutmut adds one to a number; this takes one off."""
    if isinstance(node, cst.Integer | cst.Float):
        yield cst.parse_expression(f"({node.evaluated_value - 1!r})")


def doubled(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A number that is not whole, doubled and halved: one off is far for a small one."""
    if isinstance(node, cst.Float) and node.evaluated_value not in (0.0, 1.0, 2.0):
        yield from (cst.parse_expression(repr(node.evaluated_value * factor)) for factor in (2.0, 0.5))


def unwrap(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """f(x) as x."""
    if isinstance(node, cst.Call) and len(node.args) == 1 and _function(node)[1] in UNWRAPPED:
        yield _in_parentheses(node.args[0].value)


def swap_function(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A function as its usual neighbour."""
    if isinstance(node, cst.Call) and _function(node)[1] in SWAPPED:
        function, name = _function(node)
        if name in ("any", "all", "sum") and isinstance(function, cst.Attribute):
            return
        yield node.with_changes(func=_renamed(function, SWAPPED[name]))


def drop_argument(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The larger of a and b as a, and as b."""
    if not isinstance(node, cst.Call) or _function(node)[1] not in EXTREMES or any(arg.star for arg in node.args):
        return
    arguments = [arg for arg in node.args if arg.keyword is None]
    if len(arguments) == 2:
        yield from (_in_parentheses(arg.value) for arg in arguments)
    elif len(arguments) > 2:
        yield from (node.with_changes(args=[each for each in arguments if each is not arg]) for arg in arguments)


def drop_operand(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """a + b as a, and as b; a power as its base."""
    if not isinstance(node, cst.BinaryOperation | cst.BooleanOperation) or isinstance(node.operator, cst.BitOr):
        return
    yield _in_parentheses(node.left)
    if isinstance(node.operator, cst.Add | cst.Multiply | cst.And | cst.Or):
        yield _in_parentheses(node.right)
    if isinstance(node.operator, cst.Subtract):
        yield _in_parentheses(cst.UnaryOperation(cst.Minus(), _in_parentheses(node.right)))


def drop_sign(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """−x as x."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        yield node.expression


def force_condition(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The condition of a branch as True and as False, of a loop as False."""
    match node:
        case cst.If() | cst.CompIf():
            yield from (
                node.with_changes(test=value, whitespace_before_test=cst.SimpleWhitespace(" "))
                for value in (TRUE, FALSE)
            )
        case cst.While():
            yield node.with_changes(test=FALSE, whitespace_after_while=cst.SimpleWhitespace(" "))
        case cst.MatchCase(guard=cst.BaseExpression()):
            yield from (node.with_changes(guard=value) for value in (TRUE, FALSE))


def skip_loop(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A loop over nothing."""
    if isinstance(node, cst.For):
        yield node.with_changes(iter=cst.Tuple([]))


def skip_statement(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A statement that does something but give a name, as one that does nothing."""
    if isinstance(node, cst.AugAssign | cst.Raise) or m.matches(node, m.Expr(m.Call())):
        yield PASS


def handle_nothing(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A handler of exceptions that handles nothing."""
    if isinstance(node, cst.ExceptHandler) and node.type is not None:
        yield node.with_changes(type=cst.Tuple([]), whitespace_after_except=cst.SimpleWhitespace(" "))


OURS: Final[Sequence[Mutator]] = (
    less_by_one, doubled, unwrap, swap_function, drop_argument, drop_operand, drop_sign, force_condition, skip_loop,
    skip_statement, handle_nothing,
)  # fmt: skip


def changed(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Everything that is put in the place of a node, one at a time."""
    for mutator in (_theirs, *OURS):
        yield from mutator(node)
