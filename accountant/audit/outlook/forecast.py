"""How long what remains lasts at the recent pace, and how often recent charges still fit.

The pace is a straight line: what was charged in the last days, in the unit that the ledger's rule adds up (Σε, Σρ or
Σμ²), goes on at the same rate. That is an estimate of what people will do, and no promise. What is exact is the
arithmetic: what remains is rounded down, what was spent is not rounded at all, and spans are rounded down.

Every account is judged by what it pays for itself, against what it has left: what was set aside for a sub-budget,
nobody else can spend. The first of them to run out decides. Without a ledger that is as old as the pace is long, and
two charges within it, there is no pace, and no number is given.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import Final

import attrs

from accountant.audit.outlook.window import IN, Part, Window, WindowSpending
from accountant.composition import Amount, Composition
from accountant.entries import ROOT, Account, Allocated, Charged, Opened, Record, State

FEWEST_CHARGES: Final = 2
"""In the window; one charge is no pace."""

MOST_SORTS: Final = 100_000
"""Of charges in the window that are told apart, to say which is the most usual; beyond that nobody says."""


@attrs.frozen
class UsualCharge:
    """A charge that was made. name: of what was released.  times: how often, in the window.

    fits: how many more of it the account affords; None for no limit, as it costs nothing, or nothing is promised.
    """

    name: str
    amount: Amount
    times: int
    fits: int | None


@attrs.frozen
class Outlook:
    """Of one account that is open.

    left: what it may still pay.  spent: what it paid for in the window, itself, less what was given back, and what
      sub-budgets in it paid that are closed by now.
    lasts: how long what is left lasts, in nanoseconds, rounded down; None without a number, and `why` says why not.
    last, usual: the newest charge to it that was read, and the most usual one in the window, the most costly of
      several; None without any.
    """

    path: str
    left: Amount
    spent: Part
    lasts: int | None
    why: str
    last: UsualCharge | None
    usual: UsualCharge | None

    def lasts_after(self, amount: Amount, pace: int) -> int | None:
        """For how long a charge of this amount still fits at that pace, which is in nanoseconds; None without a number.

        0 where it does not fit now.
        """
        if self.lasts is None:
            return None
        return _lasts(self.left.minus(amount), self.spent.amount, pace) if amount.within(self.left) else 0


@attrs.frozen
class Forecast:
    """Of a ledger, or of a sub-budget and those below it.

    now: when it is made, in nanoseconds since 1970.  pace: how much of the past it depends on, in nanoseconds.
    accounts: those that are open, by their paths.
    """

    path: str
    rule: Composition
    now: int
    pace: int
    accounts: tuple[Outlook, ...]

    @property
    def first(self) -> Outlook | None:
        """The account that runs out first; None where no account has a pace."""
        known = [account for account in self.accounts if account.lasts is not None]
        return min(known, key=lambda account: (account.lasts or 0, account.path), default=None)

    def account(self, path: str) -> Outlook:
        """One of them. Raises ValueError where it is not open, or not in this forecast."""
        found = next((account for account in self.accounts if account.path == path), None)
        if found is None:
            raise ValueError(f"the sub-budget {path!r} is closed: nothing is left of it")
        return found


class PaceReader(WindowSpending):
    """An accumulator that gathers what a forecast depends on. now, pace: in nanoseconds, as `Forecast` has them."""

    def __init__(self, now: int, pace: int) -> None:
        super().__init__(Window(now - pace, None))
        self._now, self._pace = now, pace
        self._begun: dict[str, int] = {}
        self._sorts: dict[str, dict[tuple[str, Amount], int]] = {}
        self._latest: dict[str, tuple[int, str, Amount]] = {}

    def take(self, number: int, record: Record) -> None:
        """The next entry."""
        match record:
            case Opened(time=time):
                self._begun[ROOT] = time
            case Allocated(account=path, time=time):
                self._begun[path] = time
            case _:
                pass
        super().take(number, record)

    def resume(self, opened: Opened, sub_budgets: Iterable[str]) -> None:
        """Go on from a checkpoint, which has to be older than the window."""
        self._begun[ROOT] = opened.time
        super().resume(opened, sub_budgets)

    def _met(self, number: int, record: Charged, amount: Amount, payer: str) -> None:
        if number >= self._latest.get(payer, (0, "", amount))[0]:
            self._latest[payer] = number, _name(record), amount

    def _counted(self, record: Charged, amount: Amount, payer: str, place: int, times: int) -> None:
        sorts = self._sorts.setdefault(payer, {})
        if place == IN and len(sorts) <= MOST_SORTS:
            sort = _name(record), amount
            sorts[sort] = sorts.get(sort, 0) + times

    def forecast(self, state: State, path: str = "") -> Forecast:
        """The forecast of a sub-budget and those below it, "" for everything. state: after the same entries."""
        below = f"{path}/" if path else ""
        paths = sorted(each for each in state.accounts if each == path or each.startswith(below))
        accounts = [state.accounts[each] for each in paths if not state.accounts[each].closed]
        spent = self._spent(state)
        outlooks = tuple(self._outlook(account, spent.get(account.path, Part())) for account in accounts)
        return Forecast(path, state.rule, self._now, self._pace, outlooks)

    def _spent(self, state: State) -> dict[str, Part]:
        """What each open account paid for in the window. What closed sub-budgets paid counts for the account above: who
        drew on them may draw on that from now on."""
        found: dict[str, Part] = {}
        for account in state.accounts.values():
            payer = account
            while payer.closed and payer.parent is not None:
                payer = payer.parent
            found[payer.path] = found.get(payer.path, Part()).plus(self.direct(account.path)[IN])
        return found

    def _outlook(self, account: Account, spent: Part) -> Outlook:
        left = account.left
        why = self._why_not(account, spent)
        lasts = None if why else _lasts(left, spent.amount, self._pace)
        if lasts is None and not why:
            why = "what was charged in that time costs nothing here"
        return Outlook(account.path, left, spent, lasts, why, self._last(account), self._usual(account))

    def _why_not(self, account: Account, spent: Part) -> str:
        """Why there is no number; "" where there is one."""
        if account.ceiling.endless:
            return "it has no limit, and promises nothing"
        if self._begun.get(account.path, 0) > self._now - self._pace:
            return "it is younger than that"
        if spent.charges < FEWEST_CHARGES:
            return f"it has {spent.charges or 'no'} charge{'' if spent.charges == 1 else 's'} in that time"
        return ""

    def _last(self, account: Account) -> UsualCharge | None:
        if account.path not in self._latest:
            return None
        _, name, amount = self._latest[account.path]
        return UsualCharge(
            name, amount, self._sorts.get(account.path, {}).get((name, amount), 0), fits(account, amount)
        )

    def _usual(self, account: Account) -> UsualCharge | None:
        sorts = self._sorts.get(account.path)
        if not sorts or len(sorts) > MOST_SORTS:
            return None
        (name, amount), times = max(sorts.items(), key=lambda sort: (sort[1], sort[0][1], sort[0][0]))
        return UsualCharge(name, amount, times, fits(account, amount))


def fits(account: Account, amount: Amount) -> int | None:
    """How many more charges of this amount an account affords, exactly; None for no limit."""
    if account.closed:
        return 0
    if account.ceiling.endless:
        return None
    return min((left // each for left, each in zip(account.left, amount, strict=True) if each), default=None)


def _lasts(left: Amount, spent: Amount, pace: int) -> int | None:
    """How long what is left lasts, rounded down: the first part to run out decides. None where nothing is spent."""
    parts = zip(left, spent, strict=True)
    return min((int(Fraction(have * pace, each)) for have, each in parts if each), default=None)


def _name(record: Charged) -> str:
    """What was charged for, for people."""
    said = record.mechanism
    if said is not None:
        return f"{said.mechanism}({said.query})"
    return f"a plan of {record.plan.rounds} round{'' if record.plan.rounds == 1 else 's'}"
