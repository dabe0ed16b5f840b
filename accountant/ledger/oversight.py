"""Who looks on while a ledger is spent from: a policy that each charge is held against, and a registry of ledgers."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from accountant.composition import Composition
from accountant.costs import Adjacency
from accountant.entries import About
from accountant.ledger.writer import LedgerWriter

if TYPE_CHECKING:
    from accountant.policies import Policy
    from accountant.registry import Registry
    from accountant.storage import SqlStore

REGISTRY: Final = "EXCHEQUER_REGISTRY"
POLICY: Final = "EXCHEQUER_POLICY"


class Overseer:
    """A policy and a registry, either of which may be missing, for the ledger in one store.

    about: what the handle that is opened says.
    """

    def __init__(self, about: About, policy: "Policy | None", registry: "Registry | None") -> None:
        self._about, self._policy, self._registry = about, policy, registry

    def refuse_promise(self, rule: Composition, adjacency: Adjacency) -> None:
        """Raise PolicyRefused where a ledger of this promise may not be opened, or not by whoever does."""
        if self._policy is not None:
            from accountant.policies import refuse_opening

            refuse_opening(self._policy, rule, adjacency, self._about)

    def join(self, writer: LedgerWriter, store: "SqlStore") -> None:
        """Look on from now on. Raises as `Ledger.open`."""
        state = writer.state
        if self._registry is not None:
            from accountant.registry import Membership

            writer.membership = Membership(self._registry, store)
            enter(writer, self._about)
        if self._policy is not None:
            from accountant.policies import Guard

            writer.guard = Guard(self._policy, store, state.rule, state.adjacency, writer.membership)
            writer.guard.read_all()

    def let_go(self) -> None:
        """Close the registry."""
        if self._registry is not None:
            self._registry.close()


def overseen(about: About, registry: str | None, policy: Path | str | None) -> Overseer:
    """Who looks on; what is not given, the environment may. Raises PolicyMistakes, OSError, and as `Registry.open`."""
    registry = os.environ.get(REGISTRY, "") if registry is None else registry
    policy = os.environ.get(POLICY, "") if policy is None else policy
    rules = None
    if str(policy):
        from accountant.policies import read_policy

        rules = read_policy(policy)
    found = None
    if registry:
        from accountant.registry import Registry

        found = Registry.open(registry)
    return Overseer(about, rules, found)


def enter(writer: LedgerWriter, about: About) -> None:
    """Enter the ledger into its registry for this data set. Raises LedgerUnavailable, LedgerBroken."""
    if writer.membership is not None:
        writer.membership.enter(about.dataset, writer.replica.refresh())
