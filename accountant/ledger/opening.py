"""Opening a durable ledger: begun where there is none, else held against what it is expected to be.

And who looks on while it is spent from: a policy that each charge is held against, and a registry of ledgers.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final, get_args

from accountant.composition import Composition, TextbookComposition
from accountant.costs import Adjacency, Budget
from accountant.entries import About, SigningKey
from accountant.exceptions import LedgerMismatch
from accountant.ledger.writer import LedgerWriter
from accountant.witnesses import SIGN_EVERY

if TYPE_CHECKING:
    from accountant.policies import Policy
    from accountant.registry import Registry
    from accountant.storage import SqlStore

EARLIER: Final = ". What is TextbookComposition now was AdvancedComposition in earlier versions"


def refuse_other_types(budget: object, composition: object, adjacency: object) -> None:
    """Raise TypeError for what is no budget, no rule or no adjacency; None is none of them yet."""
    for what, given, kinds, example in (
        ("budget", budget, get_args(Budget), "ApproxDP(1.0, 1e-6)"),
        ("composition", composition, (Composition,), "ZCDPComposition()"),
        ("adjacency", adjacency, get_args(Adjacency), "ReplaceOne()"),
    ):
        if given is not None and not isinstance(given, kinds):
            raise TypeError(f"{what}: expected for example {example}, got {given!r:.99}")


def opened_writer(
    url: str,
    budget: Budget | None,
    composition: Composition | None,
    adjacency: Adjacency | None,
    expect_head: str | None,
    writer_key: SigningKey | None,
    overseer: "Overseer",
) -> LedgerWriter:
    """The writer of the ledger at this URL; all as `Ledger.open` takes it."""
    try:
        return _opened(url, budget, composition, adjacency, expect_head, writer_key, overseer)
    except BaseException:
        overseer.let_go()
        raise


def _opened(
    url: str,
    budget: Budget | None,
    composition: Composition | None,
    adjacency: Adjacency | None,
    expect_head: str | None,
    writer_key: SigningKey | None,
    overseer: "Overseer",
) -> LedgerWriter:
    refuse_other_types(budget, composition, adjacency)
    from accountant.storage import SqlStore  # takes SQLAlchemy along, which ledgers in memory need not wait for

    beginning = budget is not None and composition is not None and adjacency is not None
    if budget is not None and composition is not None:
        composition.ceiling(budget)  # refused before a file is made
    if composition is not None and adjacency is not None:
        overseer.refuse_promise(composition, adjacency)
    store = SqlStore(url, "create" if beginning else "write")
    try:
        writer = LedgerWriter(store)
        writer.resume(whole=expect_head is not None)
        if writer.state.opened is None:
            if budget is None or composition is None or adjacency is None:
                raise LedgerMismatch(f"there is no ledger at {store.name}: give budget, composition and adjacency")
            writer.open_new(budget, composition, adjacency)
        _refuse_other(writer, budget, composition, adjacency)
        overseer.refuse_promise(writer.state.rule, writer.state.adjacency)
        # Every digest was computed anew on the way here, so one that is found is the one that was kept.
        if expect_head is not None and all(entry.digest != expect_head for entry in store.read()):
            raise LedgerMismatch(f"{expect_head} is nowhere in this ledger: it was cut off, or rolled back")
        overseer.join(writer, store)
        if writer_key is not None:
            writer.sign_with(writer_key, SIGN_EVERY)
    except BaseException:
        store.close()
        raise
    return writer


def _refuse_other(
    writer: LedgerWriter, budget: Budget | None, composition: Composition | None, adjacency: Adjacency | None
) -> None:
    """Raise LedgerMismatch where the ledger promises something else than was asked for."""
    state = writer.state
    asked = (("budget", budget, state.budget), ("composition", composition, state.rule))
    for what, wanted, found in (*asked, ("adjacency", adjacency, state.adjacency)):
        if wanted is not None and wanted != found:
            raise LedgerMismatch(
                f"{what}: this ledger was opened with {found!r}, not with {wanted!r}; it never changes. Leave it out, "
                f"or open another ledger{EARLIER if isinstance(found, TextbookComposition) else ''}"
            )


# --- who looks on ------------------------------------------------------------------------------------------------

REGISTRY: Final = "EXCHEQUER_REGISTRY"
POLICY: Final = "EXCHEQUER_POLICY"
"""Environment variables that name a registry and a policy for every ledger that is opened."""


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
