"""A portable model as a Python file that needs nothing but Python."""

import inspect
from typing import Final

import attrs

from learners.exports import python_runtime
from learners.exports.portable_model import (
    Amount,
    Branch,
    ClippedShare,
    Input,
    Leaf,
    Linear,
    LineShare,
    Link,
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

EMPTY: Final = "MODEL: dict[str, Any] = {}\n"
"""What the runtime has in the place of a model."""

USAGE: Final = """
predict(record) gives the class, or the number, of a record: a mapping of column names to values. scores(record) and
shares(record) give what `decision_function` and `predict_proba` do. A value that the model has no place for raises
Refused, which names the column. Python 3.11 or newer; nothing to install.
"""


def as_python(model: PortableModel) -> str:
    """The text of a module with `predict`, `scores` and `shares`. Raises NotPortable for classes that are objects."""
    body = inspect.getsource(python_runtime).partition('"""\n')[2]
    docstring = "\n".join([*model.about, USAGE]).replace("\\", "\\\\").replace('"""', "'''")
    return f'"""{docstring}"""\n{body.replace(EMPTY, _assignment(model))}'


def _assignment(model: PortableModel) -> str:
    columns = "".join(f"        {_input(each)!r},\n" for each in model.inputs)
    terms = "".join(f"        {_term(each)!r},\n" for each in model.terms)
    return (
        "MODEL: dict[str, Any] = {\n"
        f'    "inputs": [\n{columns}    ],\n'
        f'    "start": {list(model.start)!r},\n'
        f'    "terms": [\n{terms}    ],\n'
        f'    "divisor": {model.divisor!r},\n'
        f'    "link": {_link(model.link)!r},\n'
        "}\n"
    )


def _input(each: Input) -> dict[str, object]:
    reading = each.reading
    match reading:
        case Names():
            known = {"codes": dict(reading.codes), "missing": reading.missing, "other": reading.other}
            return {"name": each.name, "kind": "names", **known}
        case Numbers():
            return {"name": each.name, "kind": "numbers", **attrs.asdict(reading)}
        case Moments(seconds, form):
            return {"name": each.name, "kind": "moments", **attrs.asdict(seconds), "form": form}
        case Truths(missing):
            return {"name": each.name, "kind": "truths", "missing": missing}


def _steps(steps: Steps) -> dict[str, object]:
    return {"input": steps.input, "cuts": list(steps.cuts)}


def _term(term: Term) -> dict[str, object]:
    match term:
        case LookUp(steps, values):
            return {"kind": "look-up", "steps": [_steps(each) for each in steps], "values": values.tolist()}
        case Linear(weights):
            return {"kind": "linear", "weights": list(weights)}
        case Leaf(values):
            return {"kind": "leaf", "values": list(values)}
        case Branch(steps, members, no, yes):
            below = {"no": _term(no), "yes": _term(yes)}
            return {"kind": "branch", "steps": _steps(steps), "members": list(members), **below}


def _classes(classes: tuple[object, ...]) -> list[object]:
    for name in classes:
        if not isinstance(name, str | bool | int | float):
            raise NotPortable(f"the class {name!r} is a {type(name).__name__}, which has no literal; name it by text")
    return list(classes)


def _link(link: Link) -> dict[str, object]:
    match link:
        case TwoClasses(classes, share):
            return {"kind": "two", "classes": _classes(classes), "share": None if share is None else _share(share)}
        case ManyClasses(classes, softmax):
            return {"kind": "many", "classes": _classes(classes), "softmax": softmax}
        case Amount(lower, upper, log, most):
            return {"kind": "amount", "lower": lower, "upper": upper, "log": log, "most": most}


def _share(share: Share) -> dict[str, object]:
    match share:
        case ClippedShare(clip, slope):
            return {"kind": "clipped", "clip": clip, "slope": slope}
        case LineShare(at, shares, shift, least):
            return {"kind": "lines", "at": list(at), "shares": list(shares), "shift": shift, "least": least}
        case LogisticShare():
            return {"kind": "logistic"}
    return {"kind": "vote"}
