"""A ledger that is open, as a member of a registry: it enters itself, and knows of the others."""

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

import sqlalchemy as sa

from accountant.costs import Adjacency
from accountant.entries import State
from accountant.exceptions import LedgerBroken, LedgerCopyRefused, LedgerMismatch, LedgerUnavailable
from accountant.policies import OtherLedgers
from accountant.registry.ledger_registry import Registry
from accountant.registry.registration import Registration
from accountant.registry.together import LedgerOver, Together, as_approx, has, over, summed, together, under
from accountant.storage import SqlStore


def location_of(store: SqlStore) -> str:
    """The URL of a ledger as others find it: without a password, and a file by its whole path.

    Whoever reads it has a password of their own, as in ~/.pgpass, or counts the ledger with its whole budget.
    """
    if store.url.get_backend_name() == "sqlite":
        return store.url.set(database=str(Path(str(store.url.database)).resolve())).render_as_string()
    url = store.url
    query = {key: value for key, value in url.query.items() if "password" not in key}
    plain = sa.URL.create(url.drivername, url.username, None, url.host, url.port, url.database, query)
    return plain.render_as_string(hide_password=False)


class Membership:
    """One ledger's place in a registry. store: where its entries are."""

    def __init__(self, registry: Registry, store: SqlStore) -> None:
        self.registry, self._store = registry, store
        self._entered: set[str] = set()
        self._id = ""
        self._adjacency: Adjacency | None = None
        self._sums: dict[tuple[tuple[str, ...], str], OtherLedgers] = {}

    def enter(self, dataset: str, state: State) -> None:
        """Enter the ledger for a data set, once. Raises LedgerUnavailable, LedgerBroken; LedgerMismatch for a copy."""
        assert state.opened is not None  # a ledger is opened when it is made
        self._id, self._adjacency = state.opened.id, state.adjacency
        if dataset and dataset not in self._entered:
            self.registry.refresh()
            self._refuse_lost()
            self.registry.enter(self._registration(dataset, state))
            self._entered.add(dataset)

    def _refuse_lost(self) -> None:
        """Raise LedgerMismatch where the registry knows of entries that are not here: they would be spent again."""
        for each in self.registry.heads(self._id):
            if not has(self._store.read, each.entries, each.head):
                raise LedgerMismatch(
                    f"the registry {self.registry.name} knows of entries of this ledger that are not in it, at "
                    f"{each.location}: it was rolled back, or is a copy of one that goes on, and what they spent would "
                    "be spent again. Go on with the ledger that has them, or begin another one"
                )

    def leave(self, refresh: Callable[[], State]) -> None:
        """Enter what the ledger came to, before it is closed; what cannot be, the next opening enters.

        refresh: the state with what others wrote.
        """
        with contextlib.suppress(LedgerUnavailable, LedgerBroken, LedgerMismatch, LedgerCopyRefused, StopIteration):
            for dataset in self._entered:
                self.registry.enter(self._registration(dataset, refresh()))
        self._entered.clear()

    def _registration(self, dataset: str, state: State) -> Registration:
        assert state.opened is not None
        newest = next(iter(self._store.read(state.length - 1)))
        return Registration(
            ledger=state.opened.id,
            location=location_of(self._store),
            dataset=dataset,
            budget=state.budget,
            rule=state.rule.describe(),
            adjacency=state.adjacency,
            time=time.time_ns(),
            head=newest.digest,
            entries=state.length,
            drawn=state.total,
        )

    def together(self, dataset: str, state: State) -> Together:
        """This ledger and the others over a data set, each read now. Raises LedgerUnavailable, LedgerBroken."""
        self.registry.refresh()
        spent = state.rule.guarantee(state.total, state.budget)
        own = LedgerOver(self._registration(dataset, state), spent)
        return together(
            dataset, [own, *(over(each, self.registry.heads(each.ledger)) for each in self._others(dataset))]
        )

    def _others(self, dataset: str) -> list[Registration]:
        return [each for each in self.registry.ledgers(dataset) if each.ledger != self._id]

    def others_of(self, dataset: str) -> OtherLedgers:
        """What the others may still come to: their whole budgets, under this ledger's relation.

        Whole budgets, since others may charge them at any moment: what is read of them now may be more by then.
        """
        self.registry.refresh()
        others = self._others(dataset)
        key = tuple(each.ledger for each in others), dataset
        if key not in self._sums:
            self._sums = {key: self._added(others)}
        return self._sums[key]

    def _added(self, others: list[Registration]) -> OtherLedgers:
        if not others:
            return OtherLedgers()
        wanted = self._adjacency
        assert wanted is not None  # it was entered
        costs = []
        for each in others:
            plain = as_approx(each.budget)
            found = None if plain is None else under(plain, each.adjacency, wanted)
            if found is None:
                return OtherLedgers(
                    len(others),
                    why_not=f"the ledger at {each.location} concerns it as well and promises {each.budget!r} under "
                    f"{each.adjacency.name}, which bounds nothing under {wanted.name}",
                )
            costs.append(found)
        whole = summed(costs)
        if whole is None:
            return OtherLedgers(len(others), why_not="the δ of the other ledgers over it add up to 1 or more")
        return OtherLedgers(len(others), whole.epsilon, whole.delta)
