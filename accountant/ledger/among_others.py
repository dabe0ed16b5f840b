"""A ledger among others over the same data set; and how it is let go of, with the registry that knows of them."""

from types import TracebackType
from typing import TYPE_CHECKING, Self

from accountant.entries import About
from accountant.ledger.exists_once import ExistsOnce

if TYPE_CHECKING:
    from accountant.registry import Together


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
        """Let go of the database. A ledger in memory has nothing to let go of."""
        self._writer.store.close()
        if self._writer.membership is not None:
            self._writer.membership.registry.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
