"""What exists once, and is never copied: a second ledger of the same budget would spend it again."""

from typing import Never, Self

from accountant.exceptions import LedgerCopyRefused
from accountant.ledger.writer import LedgerWriter


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
