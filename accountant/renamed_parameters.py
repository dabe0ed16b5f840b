"""Parameters that were renamed: code goes on with their old names for one version, with a warning.

To be removed with the version after 0.2.
"""

import inspect
import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Final, TypeVar

from accountant.callers import level_of_the_caller

T = TypeVar("T")

LAST: Final = "0.2"
"""The last version that knows the old names."""


class RenamedParameter(FutureWarning):
    """A parameter was given, or asked for, by a name that it no longer has."""


def current_names(owner: type, renamed: Mapping[str, str], given: Mapping[str, object]) -> dict[str, object]:
    """The same arguments by their names of now, with a warning for each old one.

    owner: whose parameters they are.  renamed: old names and new ones.
    Raises TypeError where one argument is given by both its names.
    """
    found = {}
    for name, value in given.items():
        new = renamed.get(name, name)
        if new != name:
            if new in given:
                raise TypeError(f"{new!r} and {name!r} are one parameter: give {new!r} alone, {name!r} is its old name")
            _warn(owner, name, new)
        found[new] = value
    return found


def _warn(owner: type, old: str, new: str) -> None:
    said = f"{owner.__name__}: the parameter {old!r} is called {new!r} now; {LAST} is the last version that takes both"
    warnings.warn(said, RenamedParameter, stacklevel=level_of_the_caller())


def renamed_parameters(**renamed: str) -> Callable[[type[T]], type[T]]:
    """Decorate a class: arguments and attributes go on under their old names. renamed: old names and new ones."""

    def decorated(kind: type[T]) -> type[T]:
        if "__init__" in vars(kind):
            _keep_old_names(kind, renamed)
        return kind

    return decorated


def _keep_old_names(kind: type, renamed: Mapping[str, str]) -> None:
    plain: Callable[..., None] = vars(kind)["__init__"]
    own = inspect.signature(plain).parameters  # a subclass of somebody else's may have an old name for its own
    old = {name: new for name, new in renamed.items() if name not in own}

    @wraps(plain)  # scikit-learn reads the signature, and finds the new names
    def init(self: object, *arguments: object, **given: object) -> None:
        plain(self, *arguments, **current_names(type(self), old, given))

    for name, new in renamed.items():
        setattr(kind, name, _old_attribute(name, new))
    type.__setattr__(kind, "__init__", init)


def _old_attribute(old: str, new: str) -> property:
    def read(self: object) -> Any:
        _warn(type(self), old, new)
        return getattr(self, new)

    def write(self: object, value: object) -> None:
        _warn(type(self), old, new)
        setattr(self, new, value)

    return property(read, write, doc=f"The old name of `{new}`.")
