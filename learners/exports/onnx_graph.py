"""A portable model as an ONNX graph, in doubles, that adds in the order in which `predict` does.

Inputs are one tensor for each column, of shape (n, 1): text for categories, seconds since 1970 for dates, and doubles
for all others. Outputs: see `as_onnx`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import attrs
import numpy as np
import numpy.typing as npt

from learners.exports.portable_model import (
    Amount,
    Branch,
    ClippedShare,
    Leaf,
    Linear,
    LineShare,
    LogisticShare,
    LookUp,
    ManyClasses,
    Moments,
    Names,
    NotPortable,
    Numbers,
    PortableModel,
    Share,
    Steps,
    Term,
    Truths,
    TwoClasses,
)

if TYPE_CHECKING:
    from onnx import ModelProto

OPSET, ML_OPSET, IR_VERSION = 17, 3, 8
"""Of 2022: older runtimes need nothing newer."""

OUTPUTS: Final = ("prediction", "score", "share", "refused")
"""In this order, where there is a share."""

SECONDS: Final = "seconds since 1970-01-01 00:00 UTC; NaN where missing"
"""What a column of dates is given as: a graph reads no text of dates."""

NO_CLASS: Final = -(2**63)
"""Predicted for refused records where classes are whole numbers; "" where they are text."""

Array = npt.NDArray[Any]


def as_onnx(model: PortableModel) -> "ModelProto":
    """The model as an ONNX graph. Needs the package onnx; raises ImportError that says so.

    Outputs: `prediction` (n,); `score` (n, outputs); `share` (n, classes) where shares are estimated; `refused` (n,),
    whether `predict` would raise: score and share are then NaN. Text is looked up as it is, without stripping it; "" is
    missing. Raises NotPortable for classes that a tensor does not hold.
    """
    try:
        import onnx  # noqa: F401 -- to say early what is missing
    except ImportError:
        raise ImportError("ONNX needs the package onnx: pip install 'exchequer[onnx]'") from None
    return _Graph(model).proto()


@attrs.define(eq=False)
class _Graph:
    """The nodes so far. Names of values are theirs; a value is asked for by its name."""

    model: PortableModel
    nodes: list[Any] = attrs.field(factory=list)
    constants: dict[tuple[str, tuple[int, ...], bytes], tuple[str, Array]] = attrs.field(factory=dict)
    places: list[str] = attrs.field(factory=list)
    gaps: dict[int, str] = attrs.field(factory=dict)
    cells: dict[Steps, str] = attrs.field(factory=dict)
    wrong: list[str] = attrs.field(factory=list)

    def node(self, kind: str, *inputs: str, out: str = "", **attributes: Any) -> str:
        """Add one; the name of its value."""
        from onnx import helper

        name = out or f"value {len(self.nodes)}"
        domain = "ai.onnx.ml" if kind == "LabelEncoder" else ""
        self.nodes.append(helper.make_node(kind, list(inputs), [name], domain=domain, **attributes))
        return name

    def constant(self, values: npt.ArrayLike, kind: Any = np.float64) -> str:
        """The name of a constant tensor; equal ones are one."""
        array = np.array(values, dtype=kind)
        key = (str(array.dtype), array.shape, array.tobytes() if array.dtype != object else repr(array).encode())
        return self.constants.setdefault(key, (f"constant {len(self.constants)}", array))[0]

    def proto(self) -> "ModelProto":
        """The whole, checked."""
        import onnx
        from onnx import TensorProto, helper, numpy_helper

        given = []
        for each in self.model.inputs:
            kind = TensorProto.STRING if isinstance(each.reading, Names) else TensorProto.DOUBLE
            said = SECONDS if isinstance(each.reading, Moments) else ""
            given.append(helper.make_tensor_value_info(each.name, kind, ["n", 1], said))
        for number in range(len(self.model.inputs)):
            self._place(number)
        outputs = self._told(self._scores())
        # Where text classes are, the tensor is of objects, which `from_array` takes for strings.
        tensors = [numpy_helper.from_array(array, name) for name, array in self.constants.values()]
        graph = helper.make_graph(self.nodes, "exchequer", given, outputs, tensors)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        made = helper.make_model(graph, opset_imports=opsets, producer_name="exchequer", ir_version=IR_VERSION)
        made.doc_string = "\n".join(self.model.about)
        onnx.checker.check_model(made)
        return made

    # --- columns and their places ------------------------------------------------------------------------------

    def _place(self, number: int) -> None:
        each = self.model.inputs[number]
        value = self.node("Squeeze", each.name, self.constant([1], np.int64))
        match each.reading:
            case Names() as names:
                self._category(names, value)
            case Numbers() as numbers:
                self._number(number, numbers, value)
            case Moments(seconds):
                self._number(number, seconds, value)
            case Truths(missing):
                if missing is not None:
                    value = self.node("Where", self.node("IsNaN", value), self.constant(float(missing)), value)
                is_one, is_zero = (self.node("Equal", value, self.constant(each)) for each in (1.0, 0.0))
                self.wrong.append(self.node("Not", self.node("Or", is_one, is_zero)))
                self.places.append(value)

    def _category(self, names: Names, value: str) -> None:
        other = -1 if names.other is None else names.other
        texts, codes = list(names.codes), list(names.codes.values())
        code = self.node("LabelEncoder", value, default_int64=other, keys_strings=texts, values_int64s=codes)
        self.wrong.append(self.node("Less", code, self.constant(0, np.int64)))
        self.places.append(self.node("Max", self.node("Cast", code, to=_DOUBLE), self.constant(0.0)))

    def _number(self, number: int, numbers: Numbers, value: str) -> None:
        gap, fill = self.node("IsNaN", value), numbers.missing
        if numbers.clip:
            bad = self.node("IsInf", value)
        else:
            below = self.node("Less", value, self.constant(numbers.lower))
            bad = self.node("Or", below, self.node("Greater", value, self.constant(numbers.upper)))
        if numbers.whole:
            fraction = self.node("Not", self.node("Equal", self.node("Floor", value), value))
            bad = self.node("Or", bad, self.node("And", fraction, self.node("Not", gap)))
        if not numbers.own and fill is None:
            bad = self.node("Or", bad, gap)
        self.wrong.append(bad)
        if numbers.own:
            self.gaps[number] = gap
        self.places.append(self.node("Where", gap, self.constant(0.0 if fill is None else fill), value))

    # --- scores ------------------------------------------------------------------------------------------------

    def _cell(self, steps: Steps) -> str:
        """Cell numbers, shape (n,), made once."""
        if steps not in self.cells:
            column = self.node("Unsqueeze", self.places[steps.input], self.constant([1], np.int64))
            cuts = self.constant([steps.cuts or [np.inf]])
            reached = self.node("Cast", self.node("GreaterOrEqual", column, cuts), to=_INT64)
            cell = self.node("ReduceSum", reached, self.constant([1], np.int64), keepdims=0)
            if steps.own:
                cell = self.node("Where", self.gaps[steps.input], self.constant(len(steps.cuts) + 1, np.int64), cell)
            self.cells[steps] = cell
        return self.cells[steps]

    def _scores(self) -> str:
        """Shape (n, outputs)."""
        total = self.constant([self.model.start])
        for term in self.model.terms:
            total = self.node("Add", total, self._term(term))
        if self.model.divisor != 1.0:
            total = self.node("Div", total, self.constant(self.model.divisor))
        wrong = self.node("Unsqueeze", self._refused(), self.constant([1], np.int64))
        return self.node("Where", wrong, self.constant(np.nan), total, out="score")

    def _refused(self) -> str:
        refused = self.wrong[0]
        for each in self.wrong[1:]:
            refused = self.node("Or", refused, each)
        self.wrong = [refused]
        return refused

    def _term(self, term: Term) -> str:
        match term:
            case Leaf(values):
                return self.constant([values])
            case Branch():
                return self._branch(term)
            case Linear(weights):
                return self._linear(weights)
            case LookUp(steps, values):
                place = self.constant(0, np.int64)
                for each in steps:
                    wide = self.node("Mul", place, self.constant(each.cells, np.int64))
                    place = self.node("Add", wide, self._cell(each))
                return self.node("Gather", self.constant(values.reshape(-1, self.model.outputs)), place, axis=0)

    def _branch(self, branch: Branch) -> str:
        members = self.constant(np.array(branch.members)[:, None], np.bool_)
        among = self.node("Gather", members, self._cell(branch.steps), axis=0)
        return self.node("Where", among, self._term(branch.yes), self._term(branch.no))

    def _linear(self, weights: Sequence[float]) -> str:
        """By halves, as `learners.encoding.folded` adds."""
        pairs = zip(self.places, weights, strict=True)
        sums = [self.node("Mul", place, self.constant(weight)) for place, weight in pairs]
        while len(sums) > 1:
            half = len(sums) // 2
            sums[:half] = [self.node("Add", a, b) for a, b in zip(sums[:half], sums[-half:], strict=True)]
            del sums[-half:]
        return self.node("Unsqueeze", sums[0], self.constant([1], np.int64))

    # --- what scores say -----------------------------------------------------------------------------------------

    def _told(self, scores: str) -> list[Any]:
        from onnx import TensorProto, helper

        link = self.model.link
        kinds: dict[str, int] = {"score": TensorProto.DOUBLE, "refused": TensorProto.BOOL}
        self.node("Identity", self._refused(), out="refused")
        if isinstance(link, Amount):
            self._amount(link, scores)
            kinds["prediction"] = TensorProto.DOUBLE
        else:
            kinds["prediction"] = self._best(link, scores)
            if isinstance(link, ManyClasses) and link.softmax:
                self._softmax(scores)
                kinds["share"] = TensorProto.DOUBLE
            if isinstance(link, TwoClasses) and link.share is not None:
                share = self._share(link.share, scores)
                self.node("Concat", self.node("Sub", self.constant([[1.0]]), share), share, axis=1, out="share")
                kinds["share"] = TensorProto.DOUBLE
        wide: dict[str, list[str | int | None]] = {
            "score": ["n", self.model.outputs],
            "share": ["n", max(2, self.model.outputs)],
        }
        shapes = {name: wide.get(name) or ["n"] for name in OUTPUTS if name in kinds}
        return [helper.make_tensor_value_info(name, kinds[name], shape) for name, shape in shapes.items()]

    def _best(self, link: TwoClasses | ManyClasses, scores: str) -> int:
        if isinstance(link, TwoClasses):
            above = self.node("Greater", scores, self.constant(0.0))
            best = self.node("Squeeze", self.node("Cast", above, to=_INT64), self.constant([1], np.int64))
        else:
            best = self.node("ArgMax", scores, axis=1, keepdims=0)
        last = self.constant(len(link.classes), np.int64)
        kind, names = _class_tensor(link.classes)
        self.node(
            "Gather",
            self.constant(names, names.dtype),
            self.node("Where", self._refused(), last, best),
            axis=0,
            out="prediction",
        )
        return kind

    def _softmax(self, scores: str) -> None:
        top = self.node("ReduceMax", scores, axes=[1], keepdims=1)
        powers = self.node("Exp", self.node("Sub", scores, top))
        total = self.node("ReduceSum", powers, self.constant([1], np.int64), keepdims=1)
        self.node("Div", powers, total, out="share")

    def _amount(self, link: Amount, scores: str) -> None:
        value = self.node("Squeeze", scores, self.constant([1], np.int64))
        if link.log:
            value = self.node("Exp", self.node("Min", value, self.constant(link.most)))
        bounded = self.node("Max", self.node("Min", value, self.constant(link.upper)), self.constant(link.lower))
        self.node("Where", self._refused(), self.constant(np.nan), bounded, out="prediction")

    def _share(self, share: Share, score: str) -> str:
        one, positive = self.constant(1.0), self.node("Greater", score, self.constant(0.0))
        match share:
            case LogisticShare():
                return self._logistic(score)
            case ClippedShare(clip, slope):
                size, limit = self.node("Abs", score), self.constant(clip)
                told = self.node("Div", limit, self.node("Add", limit, self._logistic(self.node("Neg", size))))
                rate = self._logistic(self.node("Mul", self.constant(slope), size))
                rising = self.node("Mul", self.constant(2.0**-12), self.node("Min", size, one))
                likelier = self.node("Max", told, rate, self.node("Add", self.constant(0.5), rising))
                return self.node("Where", positive, likelier, self.node("Sub", one, likelier))
            case LineShare():
                line = self._lines(share, self.node("Add", score, self.constant(share.shift)))
                above = self.node("Max", line, self.constant(share.least))
                return self.node("Where", positive, above, self.node("Min", line, self.constant(0.5)))
        whole = self.node("Mul", self.constant(0.5), self.node("Add", one, score))
        return self.node("Max", self.node("Min", whole, one), self.constant(0.0))

    def _logistic(self, score: str) -> str:
        one = self.constant(1.0)
        return self.node("Div", one, self.node("Add", one, self.node("Exp", self.node("Neg", score))))

    def _lines(self, share: LineShare, at: str) -> str:
        """As numpy interpolates; beyond the ends it is level."""
        knots, values = np.array(share.at), np.array(share.shares)
        slopes = np.concatenate([[0.0], np.diff(values) / np.diff(knots), [0.0]])
        reached = self.node("Cast", self.node("GreaterOrEqual", at, self.constant([knots])), to=_INT64)
        cell = self.node("ReduceSum", reached, self.constant([1], np.int64), keepdims=1)
        starts, levels = (np.concatenate([each[:1], each]) for each in (knots, values))
        tables = (slopes, starts, levels)
        slope, start, level = (self.node("Gather", self.constant(each), cell, axis=0) for each in tables)
        return self.node("Add", self.node("Mul", slope, self.node("Sub", at, start)), level)


_DOUBLE, _INT64 = 11, 7  # onnx.TensorProto's numbers for them, which its format fixes


def _class_tensor(classes: Sequence[object]) -> tuple[int, Array]:
    """ONNX's number for their type, and the classes with one more for refused records. Raises NotPortable."""
    from onnx import TensorProto

    kinds = {type(name) for name in classes}
    if kinds == {str}:
        return TensorProto.STRING, np.array([*classes, ""], dtype=object)
    if kinds <= {int, bool}:
        return TensorProto.INT64, np.array([*classes, NO_CLASS], dtype=np.int64)
    if kinds == {float}:
        return TensorProto.DOUBLE, np.array([*classes, np.nan], dtype=np.float64)
    raise NotPortable(f"classes: a tensor holds text, or whole numbers, or floats, and not {classes!r}")
