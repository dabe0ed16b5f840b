"""What the entries so far add up to: the total, the sub-budgets, the charges that wait for their release.

The ledger decides by this state, and `verify` recomputes it. Amounts are exact, so both say the same.
"""

from collections.abc import Mapping
from typing import Final, cast

from accountant.canonical_json import canonical
from accountant.composition import Amount, Composition
from accountant.costs import Adjacency, Budget, Unbounded
from accountant.entries.accounts import LONGEST_LABEL, MAIN, ROOT, Account, OpenCharge
from accountant.entries.entry_kinds import (
    FORMAT,
    NEWEST_FORMAT,
    Allocated,
    Announced,
    Charged,
    Checkpoint,
    Closed,
    KeyChange,
    Opened,
    Produced,
    Record,
    Released,
    Returned,
    Signed,
    Upgraded,
    whole,
)
from accountant.entries.writer_keys import KeyRing

_TOO_EARLY: Final = f"it says what format {NEWEST_FORMAT} has, and no entry before it upgrades the ledger to that"
_NO_AMOUNT: Final = f"it does not say its amount, as charges do in format {NEWEST_FORMAT}"


class State:
    """The state of one ledger after `length` entries.

    labels: the paths that were announced, oldest first, as the keys of a dict.  writers: the keys of those who sign.
    """

    def __init__(self) -> None:
        self.length, self.time = 0, 0
        self.format = FORMAT
        self.opened: Opened | None = None
        self.accounts: dict[str, Account] = {}
        self.labels: dict[str, None] = {}
        self.open: dict[int, OpenCharge] = {}
        self.writers = KeyRing()

    @property
    def root(self) -> Account:
        """The account that everything draws on. Raises ValueError before the ledger is opened."""
        if self.opened is None:
            raise ValueError("the ledger was never opened")
        return self.accounts[ROOT]

    @property
    def total(self) -> Amount:
        """Everything that was charged, less what was given back."""
        return self.accounts[ROOT].drawn

    @property
    def rule(self) -> Composition:
        """The rule of composition."""
        return self._promise.composition

    @property
    def adjacency(self) -> Adjacency:
        """The relation that this ledger promises."""
        return self._promise.adjacency

    @property
    def budget(self) -> Budget:
        """The budget."""
        return self._promise.budget

    @property
    def _promise(self) -> Opened:
        if self.opened is None:
            raise ValueError("the ledger was never opened")
        return self.opened

    def payer(self, account: str) -> Account:
        """The sub-budget that a charge to this account draws on: the longest allocated beginning of its path."""
        payer, path = self.accounts[ROOT], ""
        if len(self.accounts) > 1:
            for part in account.split("/", len(self.accounts)):  # from the top: each lies in one that is allocated
                path = f"{path}/{part}" if path else part
                if not part or (below := self.accounts.get(path)) is None:
                    break
                payer = below
        return payer

    def lists(self, account: str, payer: Account) -> bool:
        """Whether a charge to `account` says that it draws on `payer`, its own `payer(account)`.

        Where nothing was ever set aside there is nothing to confuse it with. Else it must be the payer itself, its
        `main` or an announced label, or lie below one of these: any other may be a sub-budget's name, misspelt.
        """
        if not payer.parted or account == payer.path:
            return True
        start = len(payer.path) + 1 if payer.path else 0
        path = f"{account[: LONGEST_LABEL + 1]}/"  # no label is longer, though in ledgers of others an account may be
        ends = [place for place in range(start, len(path)) if path[place] == "/"]
        return any(path[start:end] == MAIN or path[:end] in self.labels for end in ends)

    # --- one entry of each kind ---------------------------------------------------------------------------

    def begin(self, opened: Opened) -> None:
        """The first entry."""
        self.accounts = {ROOT: Account(ROOT, None, opened.composition.ceiling(opened.budget))}
        self.opened, self.format = opened, opened.format

    def charge(self, number: int, account: str, payer: Account, amount: Amount, rounds: int) -> None:
        """Entry `number` charges this amount, whether it is affordable or not. payer: `payer(account)`."""
        payer.draw(amount)
        self.open[number] = OpenCharge(account, payer.path, rounds, amount)

    def give_back(self, number: int, rounds: int, amount: Amount) -> None:
        """Rounds of the open charge `number` were not used. With all of them given back, it is open no more."""
        charge = self.open[number]
        self.accounts[charge.payer].put_back(amount)
        if rounds == charge.rounds:
            del self.open[number]
        else:
            self.open[number] = charge._replace(rounds=charge.rounds - rounds, amount=charge.amount.minus(amount))

    def allocate(self, path: str, ceiling: Amount) -> None:
        """Set a part of the account above aside for this path."""
        parent = self.payer(path)
        parent.committed, parent.parted = parent.committed.plus(ceiling), True
        self.accounts[path] = Account(path, parent, ceiling)

    def unspent(self, path: str) -> Amount:
        """What a sub-budget whose own sub-budgets are closed did not spend."""
        account = self.accounts[path]
        return account.ceiling.minus(account.drawn)

    def close(self, path: str) -> None:
        """Close a sub-budget; what it did not spend, its parent has again."""
        account, unspent = self.accounts[path], self.unspent(path)
        assert account.parent is not None  # the whole budget is never closed
        account.parent.committed = account.parent.committed.minus(unspent)
        account.closed = True

    def why_not_allocate(self, path: str, ceiling: Amount) -> str | None:
        """What speaks against this sub-budget; None if nothing does."""
        if not _is_path(path):
            return f"{path!r} is no name for a sub-budget"
        if isinstance(self.budget, Unbounded):
            return "the whole has no limit, so no part of it can be set aside"
        if path in self.accounts:
            return f"there is, or was, a sub-budget {path!r}"
        if any(f"{label}/".startswith(f"{path}/") for label in self.labels):  # another would pay from then on
            return f"{path!r}, or something below it, was announced as a label of what is not set aside"
        parent = self.payer(path)
        if path.rpartition("/")[0] != parent.path:
            return f"there is no sub-budget {path.rpartition('/')[0]!r} for it to be in"
        if parent.closed:
            return f"the sub-budget {parent.path!r} is closed"
        if not parent.affords(ceiling):
            return f"it asks for more than {parent.path or 'the whole'!r} has left"
        return None

    def why_not_announce(self, path: str) -> str | None:
        """What speaks against announcing this label; None if nothing does."""
        if not _is_path(path) or len(path) > LONGEST_LABEL:
            return f"{path!r:.99} is no label"
        if path in self.accounts:
            return f"there is, or was, a sub-budget {path!r}"
        if path in self.labels:
            return f"the label {path!r} is announced already"
        payer = self.payer(path)
        return f"the sub-budget {payer.path!r} is closed" if payer.closed else None

    def why_not_close(self, path: str) -> str | None:
        """What speaks against closing this sub-budget; None if nothing does."""
        account = self.accounts.get(path)
        if account is None or account.parent is None:
            return f"there is no sub-budget {path!r}"
        if account.closed:
            return f"the sub-budget {path!r} is closed already"
        below = sorted(other.path for other in self.accounts.values() if other.parent is account and not other.closed)
        return f"the sub-budgets {below} in it are open: close them first" if below else None

    # --- entries that others wrote ------------------------------------------------------------------------

    def apply(self, number: int, record: Record) -> list[str]:
        """Take the next entry in; what is wrong with it, nothing if all is well.

        Wrong or not, what it charges counts from here on.
        """
        wrong = [] if record.time >= self.time else ["its time is before that of the entry before it"]
        self.time, self.length = max(self.time, record.time), number + 1
        if isinstance(record, Opened):
            if self.opened is not None:
                return [*wrong, "the ledger is opened a second time"]
            self.begin(record)
            return wrong
        if self.opened is None:
            return [*wrong, "it stands before the ledger was opened"]
        return wrong + self._take(number, record)

    def _take(self, number: int, record: Record) -> list[str]:
        match record:
            case Charged():
                return self._charged(number, record)
            case Released():
                return self._released(record)
            case Returned():
                return self._returned(record)
            case Allocated(account=path, ceiling=ceiling):
                reason = self.why_not_allocate(path, ceiling)
                if reason is None:
                    self.allocate(path, ceiling)
                return [] if reason is None else [f"it allocates a sub-budget, but {reason}"]
            case Announced(account=path):
                reason = self.why_not_announce(path)
                if reason is None:
                    self.labels[path] = None
                return [] if reason is None else [f"it announces a label, but {reason}"]
            case Closed(account=path, returned=returned):
                reason = self.why_not_close(path)
                if reason is not None:
                    return [f"it closes a sub-budget, but {reason}"]
                unspent = self.unspent(path)
                self.close(path)
                return [] if unspent == returned else ["it returns another amount than was left"]
            case Upgraded(format=newer):
                wrong = [] if newer > self.format else [f"it upgrades the ledger to format {newer}, which it has"]
                self.format = max(self.format, newer)
                return wrong
            case Produced(charges=charges):
                wrong = [] if self.format >= NEWEST_FORMAT else [_TOO_EARLY]
                return wrong if charges[-1] < number else [*wrong, "its model came of charges that come later"]
            case KeyChange():
                reason = self.writers.why_not_change(record)
                if reason is None:
                    self.writers.change(number, record)
                return self._of_format_2([] if reason is None else [f"it changes the keys of writers, but {reason}"])
            case Signed(key=key, charges=charges):
                reason = self.writers.why_not_sign(key)
                if reason is None and charges and charges[-1] >= number:
                    reason = "it says that charges are its own which come later"
                return self._of_format_2([] if reason is None else [f"it is signed, but {reason}"])
            case Checkpoint(state=state):
                return [] if self.says(state) else ["its state is not what the entries before it add up to"]
            case _:
                return []

    def _of_format_2(self, wrong: list[str]) -> list[str]:
        return wrong if self.format >= NEWEST_FORMAT else [*wrong, _TOO_EARLY]

    def _charged(self, number: int, record: Charged) -> list[str]:
        wrong: list[str] = []
        amount = record.amount(self.rule)
        payer = self.payer(record.account)
        if not payer.affords(amount):
            wrong.append(_overdrawn(payer))
        self.charge(number, record.account, payer, amount, record.plan.rounds)
        if record.after != self.total:
            wrong.append("its running total is not the sum of the costs so far")
        if record.adjacency != self.adjacency:
            wrong.append("its adjacency is not that of the ledger")
        if record.drawn is None:
            wrong += [_NO_AMOUNT] if self.format >= NEWEST_FORMAT else []
        elif self.format < NEWEST_FORMAT:
            wrong.append(_TOO_EARLY)
        elif record.drawn != amount:
            wrong.append("its amount is not what its costs come to")
        return wrong

    def _released(self, record: Released) -> list[str]:
        charge = self.open.pop(record.charge, None)
        if charge is None:
            return [f"it releases charge {record.charge}, which is not open"]
        rounds = sum(n for _, n in record.used)
        if rounds > charge.rounds:
            return [f"it releases {rounds} rounds of {charge.rounds} that were charged"]
        return []

    def _returned(self, record: Returned) -> list[str]:
        charge = self.open.get(record.charge)
        if charge is None:
            return [f"it gives back rounds of charge {record.charge}, which is not open"]
        if record.rounds > charge.rounds or not record.amount.within(charge.amount):
            return [
                f"it gives back {record.rounds} rounds of {charge.rounds} that were charged, or more than they cost"
            ]
        self.give_back(record.charge, record.rounds, record.amount)
        return [] if record.after == self.total else ["its running total is not the sum of the costs so far"]

    # --- checkpoints --------------------------------------------------------------------------------------

    def as_dict(self) -> dict[str, object]:
        """The sub-budgets, the open charges, the labels and the writers' keys, for JSON; the rest is the reader's.

        Without any labels and keys, and in the first format, it is what versions that had none wrote.
        """
        return {
            **({"labels": list(self.labels)} if self.labels else {}),
            **({"format": self.format} if self.format > FORMAT else {}),
            **({"writers": self.writers.as_list()} if self.writers else {}),
            "accounts": [account.as_dict() for account in self.accounts.values()],
            "open": [charge.as_dict(number) for number, charge in self.open.items()],
        }

    def says(self, state: Mapping[str, object]) -> bool:
        """Whether a checkpoint writes down this very state."""
        for name, kept in (("accounts", self.accounts), ("open", self.open)):
            written = state.get(name)
            if not isinstance(written, list) or len(written) != len(kept):
                return False  # at once, so that many short ones in large ledgers cost little
        return canonical(dict(state)) == canonical(self.as_dict())  # as text: Python holds 1 == 1.0 == True

    def resume(self, opened: Opened, number: int, checkpoint: Checkpoint) -> None:
        """Start from entry `number`, a checkpoint. Raises KeyError, TypeError or ValueError where it is none."""
        self.begin(opened)
        ceiling = self.root.ceiling
        self.length, self.time = number + 1, checkpoint.time
        self.accounts = {}
        for record in cast("list[Mapping[str, object]]", checkpoint.state["accounts"]):
            path = str(record["account"])
            parent = self.payer(path) if path else None
            self.accounts[path] = Account.from_dict(record, parent)
            if parent is not None:
                parent.parted = True
        self.labels = {str(label): None for label in cast("list[object]", checkpoint.state.get("labels", []))}
        self.format = whole(checkpoint.state.get("format", FORMAT))
        if self.format < opened.format:
            raise ValueError("the checkpoint's format is before that of the ledger")
        self.writers = KeyRing.from_list(checkpoint.state.get("writers", []))
        if self.root.ceiling != ceiling:
            raise ValueError("the checkpoint's budget is not that of the ledger")
        self.open = {
            whole(record["number"]): OpenCharge.from_dict(record, self.accounts)
            for record in cast("list[Mapping[str, object]]", checkpoint.state["open"])
        }


def _is_path(path: str) -> bool:
    return bool(path) and path != MAIN and all(part and part == part.strip() for part in path.split("/"))


def _overdrawn(payer: Account) -> str:
    if payer.closed:
        return f"it is charged to the sub-budget {payer.path!r}, which is closed"
    return (
        f"it takes the sub-budget {payer.path!r} above its ceiling"
        if payer.path
        else "it takes the total above the budget"
    )
