"""What a ledger is among others: it exists once, as a copy would spend its budget again, and may be in a registry."""

from types import TracebackType
from typing import TYPE_CHECKING, Never, Self

from accountant.entries import About
from accountant.exceptions import LedgerCopyRefused
from accountant.ledger.writer import LedgerWriter

if TYPE_CHECKING:
    from accountant.registry import Together


class ExistsOnce:
    """A ledger of this writer, which is neither copied nor pickled."""

    _writer: LedgerWriter

    def __sklearn_clone__(self) -> Self:
        """`sklearn.clone` keeps the same ledger, so that every fit of a cross-validation pays."""
        return self

    def _refuse(self, what: str) -> Never:
        remedy = "; open it there by its URL" if self._writer.store.shared else ""
        raise LedgerCopyRefused(f"a ledger cannot be {what}: its budget would be spent twice{remedy}")

    def __copy__(self) -> Never:
        self._refuse("copied")

    def __deepcopy__(self, memo: dict[int, object]) -> Never:
        self._refuse("deep-copied")

    def __reduce_ex__(self, protocol: object) -> Never:
        self._refuse("pickled, nor sent to another process")


class AmongOthers(ExistsOnce):
    """A ledger that may be in a registry. Use it as a context manager, or close it."""

    _about: About

    def others(self) -> "Together | None":
        """This ledger and the others over its handle's data set, each as it is now, and what they come to together.

        This one is first. Sub-budgets count with the whole ledger. None without a registry or a data set.
        Raises LedgerUnavailable and LedgerBroken where the registry cannot be read.
        """
        membership, dataset = self._writer.membership, self._about.dataset
        if membership is None or not dataset:
            return None
        return membership.together(dataset, self._writer.replica.refresh())

    def close(self) -> None:
        """Sign what is not signed yet, if there is a key, and let go of the database. Raises KeyRefused.

        A registry is told what the ledger came to, so that a copy of an earlier day is noticed when it is opened.
        """
        try:
            if self._writer.membership is not None:
                self._writer.membership.leave(self._writer.replica.refresh)
            self._writer.close()
        finally:
            if self._writer.membership is not None:
                self._writer.membership.registry.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
