"""Sealed data: it can be transformed into other sealed data, and never read.

Only `accountant.ledger.ledger` may call `unseal`; a test greps the whole tree for anyone else who does. This
guards against honest mistakes (a print, a pickle, a cached copy), not against hostile code in the
curator's own process: see LIMITS.md.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, Never, TypeVar

from accountant.explained import Explained

T = TypeVar("T")
U = TypeVar("U")


class Sealed(Explained, TypeError):
    """Something tried to read, compare, copy or pickle protected data."""


class Protected(Generic[T]):
    """A value that leaves only through `Ledger.release`.

    Made by `Ledger.protect`; bound to that ledger, so that another ledger's budget cannot pay for it.
    """

    __slots__ = ("__content", "__owner")

    def __init__(self, content: T, owner: object) -> None:
        self.__content = content
        self.__owner = owner

    def map(self, transform: Callable[[T], U]) -> "Protected[U]":
        """The same data seen through `transform`, sealed as well.

        transform: a pure function; what it prints, stores or raises is not protected. Where it mixes or repeats
          records, the mechanism that is released from its result must have a sensitivity that covers it.
        """
        return Protected(transform(self.__content), self.__owner)

    def __repr__(self) -> str:
        return "<Protected: sealed>"

    def _refuse(self, what: str) -> Never:
        raise Sealed(f"protected data cannot be {what}; release a mechanism's output with ledger.release(...)")

    if not TYPE_CHECKING:  # mypy must refuse these, so it must not see that they exist

        def __iter__(self) -> Never:
            self._refuse("iterated")

        def __len__(self) -> Never:
            self._refuse("measured")

        def __getitem__(self, key: object) -> Never:
            self._refuse("indexed")

        def __contains__(self, item: object) -> Never:
            self._refuse("searched")

    def __bool__(self) -> Never:
        self._refuse("tested for truth")

    def __eq__(self, other: object) -> Never:
        self._refuse("compared")

    __hash__ = object.__hash__

    def __copy__(self) -> Never:
        self._refuse("copied")

    def __deepcopy__(self, memo: dict[int, object]) -> Never:
        self._refuse("copied")

    def __reduce_ex__(self, protocol: object) -> Never:
        self._refuse("pickled")

    def __array__(self, *args: object, **kwargs: object) -> Never:
        self._refuse("turned into an array")


def unseal(data: Protected[T], owner: object) -> T:
    """The content, for the ledger that sealed it and for nobody else."""
    if not isinstance(data, Protected):
        raise TypeError(f"expected data from ledger.protect(...), got {type(data).__name__}")
    if data._Protected__owner is not owner:  # type: ignore[attr-defined]  # the mangled name is the seal
        raise Sealed("this data was protected by another ledger; protect it with the ledger that pays")
    content: T = data._Protected__content  # type: ignore[attr-defined]  # as above
    return content
