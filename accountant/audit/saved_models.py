"""Whether what a saved model says about its cost is what the ledger says.

A model's file names the entries that its fit was charged with (its receipts) and holds the statement of the ledger as
it was then. Both are compared with a ledger that somebody else kept. That those charges
were for this model, and not another one, is not in the ledger: a receipt names the digest of the model, by the word of
whoever signed it.
"""

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import attrs

from accountant.audit.model_claims import SHOWN, ModelClaim
from accountant.audit.statement import Statement
from accountant.audit.statement import state as statement_of
from accountant.audit.verification import Verification, verify
from accountant.composition import NOTHING, Amount, Composition, RuleNotInstalled, UnsupportedBudget, UnsupportedCost
from accountant.costs import ApproxDP, Budget, PureDP, Unbounded
from accountant.entries import (
    BadReceipt,
    Charged,
    Entry,
    Opened,
    PublicKey,
    Receipt,
    Record,
    Released,
    Returned,
    State,
    decode,
)

SIMULATED: Final = "some noise in this ledger was simulated, and the statement says so: it promises nothing"

NONSENSE: Final = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError, MemoryError)
"""What reading entries that do not hold together may raise."""


@attrs.frozen
class ModelComparison:
    """What came out.

    errors: where the file and the ledger disagree, or the ledger with itself.  notes: what to know all the same.
    compared: False for a model that names no entries.
    bound: whether the owner of the given key says, in every receipt, that it was for this very model.
    fit: what its own charges come to.  spent, budget: of this ledger in all, by now.  None where it cannot be said.
    entries, head: of the ledger.
    caveats: why a claim that is confirmed is worth less than it looks, by the statement or by the ledger today.
    """

    errors: tuple[str, ...]
    notes: tuple[str, ...]
    compared: bool
    bound: bool
    fit: Budget | None
    spent: Budget | None
    budget: Budget | None
    entries: int
    head: str
    caveats: tuple[str, ...] = ()

    @property
    def result(self) -> Verification:
        """The same as of a ledger, for its verdict and findings."""
        return Verification(self.errors, self.notes, self.entries, self.head, self.caveats)

    @property
    def sound(self) -> bool:
        """Whether the model's claim was compared, and is what the ledger says."""
        return not self.errors


def compare_model(
    claim: ModelClaim,
    entries: Iterable[Entry],
    *,
    public_key: PublicKey | None = None,
    progress: Callable[[int], object] | None = None,
) -> ModelComparison:
    """Compare a model's claim with the ledger, read once from the first entry to the last.

    public_key: every receipt must be signed with it. Without, unsigned receipts pass, and signatures are checked with
      the key that the receipt itself names.
    progress: called with the number of entries read so far, every thousand and at the end.
    Raises ImportError where there are signatures and no `cryptography` to check them, and RuleNotInstalled where nobody
    here can add up what the ledger charged.
    """
    notes, wrong = _signatures(claim.receipts, public_key)
    claimed = _ClaimedEntries(claim)
    verified = verify(claimed.seen(entries), progress=progress)
    if verified.verdict == "cannot be checked":
        raise RuleNotInstalled(verified.unchecked)
    simulated = claim.statement.get("private") is not True and claim.promises
    caveats = [SIMULATED] if simulated else []
    fits = Statement.from_dict(claim.statement).fits
    notes = [*caveats, *([] if fits is None else [f"its statement says: {fits}"]), *notes]
    notes += [f"the ledger: {each}" for each in verified.notes]
    errors = [] if claim.receipts else [claim.alone]
    errors += [*wrong, *(f"the ledger does not hold together: {each}" for each in verified.errors), *claimed.findings()]
    return ModelComparison(
        errors=tuple(errors),
        notes=tuple(notes),
        compared=bool(claim.receipts),
        bound=public_key is not None and bool(claim.receipts) and _all_for(claim),
        fit=claimed.fit() if claim.receipts else None,
        spent=claimed.spent,
        budget=None if claimed.opened is None else claimed.opened.budget,
        entries=verified.entries,
        head=verified.head,
        caveats=(*caveats, *(f"the ledger: {each}" for each in verified.caveats)),
    )


def _all_for(claim: ModelClaim) -> bool:
    return all(each.signed and each.bought == claim.content for each in claim.receipts)


def _signatures(receipts: tuple[Receipt, ...], public_key: PublicKey | None) -> tuple[list[str], list[str]]:
    """Notes on who signed, and what is wrong with it."""
    wrong: list[str] = []
    keys = sorted({each.public_key for each in receipts if each.public_key} if public_key is None else ())
    notes = [f"receipts are signed with the key {key}, and nobody said whose it is: give --public-key" for key in keys]
    if public_key is None and not all(each.signed for each in receipts):
        notes.append("there are unsigned receipts: whoever knows the ledger can forge one")
    for each in receipts:
        key_of = public_key if public_key is not None or each.public_key is None else PublicKey(each.public_key)
        try:
            if key_of is not None:
                each.verify(key_of)
        except BadReceipt as error:
            wrong.append(str(error))
    return notes, wrong


class _ClaimedEntries:
    """What is picked out of the entries while they pass by, and what is wrong with the claim."""

    def __init__(self, claim: ModelClaim) -> None:
        self._claim = claim
        self._wanted = {each.number for each in claim.receipts}
        self._found: dict[int, Entry] = {}
        self._waiting = set(self._wanted)  # for their release
        self._given_back: set[int] = set()
        self._until: list[Entry] = []  # the statement's head, included
        self._reached = False
        self._newest: Entry | None = None  # that says a total
        self.opened: Opened | None = None

    def seen(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """The same entries, each looked at on its way."""
        for entry in entries:
            self._take(entry)
            yield entry

    def _take(self, entry: Entry) -> None:
        if self.opened is None and isinstance(record := _read(entry), Opened):
            self.opened = record
        if not self._reached:
            self._until.append(entry)
            self._reached = entry.digest == self._claim.head
        if entry.number in self._wanted:
            self._found.setdefault(entry.number, entry)
        if self._waiting and entry.kind in ("released", "returned"):
            self._answered(_read(entry))
        if entry.kind in ("charged", "returned"):
            self._newest = entry

    def _answered(self, record: Record | None) -> None:
        if isinstance(record, Released):
            self._waiting.discard(record.charge)
        elif isinstance(record, Returned) and record.charge in self._waiting:
            self._given_back.add(record.charge)

    @property
    def spent(self) -> Budget | None:
        """What this ledger has spent in all; None where that cannot be said."""
        return self._read_out(_total(self._newest))

    def _read_out(self, amount: Amount | None) -> Budget | None:
        if self.opened is None or amount is None:
            return None
        try:
            return self.opened.composition.guarantee(amount, self.opened.budget)
        except NONSENSE:
            return None

    def fit(self) -> Budget | None:
        """What the charges that the receipts name come to, alone."""
        try:
            return self._read_out(_sum(self._charges(), self._rule))
        except NONSENSE:
            return None

    @property
    def _rule(self) -> Composition:
        if self.opened is None:
            raise ValueError("the ledger was never opened")
        return self.opened.composition

    def _charges(self) -> list[Charged]:
        return [record for entry in self._found.values() if isinstance(record := _read(entry), Charged)]

    # --- what is wrong ------------------------------------------------------------------------------------

    def findings(self) -> Iterator[str]:
        """A sentence for everything in the claim that is not as this ledger has it."""
        if len(self._wanted) != len(self._claim.receipts):
            yield "two of its receipts are for the same entry"
        for each in self._claim.receipts:
            yield from self._receipt(each)
        yield from self._statement()
        if self._claim.receipts and self.opened is not None:
            yield from self._target()

    def _receipt(self, receipt: Receipt) -> Iterator[str]:
        entry, where = self._found.get(receipt.number), f"the receipt for entry {receipt.number}"
        if entry is None:
            yield f"{where}: this ledger has no such entry"
            return
        try:
            differs = receipt.differs(entry, "" if self.opened is None else self.opened.id)
        except NONSENSE:
            yield f"{where}: that entry cannot be read"
            return
        if receipt.bought not in (None, self._claim.content):
            yield f"{where}: it was given for another model, or this one was changed since"
        if differs:
            yield f"{where}: its {' and '.join(differs)} {'differs' if len(differs) == 1 else 'differ'} from the entry"
        if receipt.kind != "charged":
            yield f"{where}: the entry is no charge"
        elif receipt.account != self._claim.account:
            yield f"{where}: it was charged to {receipt.account!r}, not to {self._claim.account!r}"[:SHOWN]
        if receipt.number in self._waiting:
            state = "given back" if receipt.number in self._given_back else "never released"
            yield f"{where}: the charge was {state}, so no model can depend on it"
        if self._reached and receipt.number > self._until[-1].number:
            yield f"{where}: it came after the statement, which does not count it"

    def _statement(self) -> Iterator[str]:
        if not self._reached:
            yield f"its statement was made at the head {_quoted(self._claim.head)}, which this ledger never had"
            return
        try:
            stated = self._restated()
        except NONSENSE as error:
            yield f"its statement cannot be made again from this ledger: {error}"[:SHOWN]
            return
        claimed = self._claim.statement
        for name in sorted(stated.keys() | claimed.keys()):
            if stated.get(name) != claimed.get(name):
                yield (
                    f"its statement: {name}: the file says {_quoted(claimed.get(name))}, the ledger at that time "
                    f"{_quoted(stated.get(name))}"
                )

    def _restated(self) -> dict[str, object]:
        """The statement of the entries up to its head, as a file has it."""
        state = State()
        for entry in self._until:
            state.apply(entry.number, decode(entry))
        about = str(self._claim.statement.get("account", ""))  # a label is no sub-budget: it is about the whole
        rule, account = state.rule, state.accounts[about]
        spent, ceiling = rule.guarantee(account.drawn, state.budget), rule.guarantee(account.ceiling, state.budget)
        budget = ceiling if about else state.budget
        statement = statement_of(self._until, spent, budget, about)
        written: dict[str, object] = json.loads(json.dumps(statement.as_dict()))
        return written

    def _target(self) -> Iterator[str]:
        """What the file says that the fit was to cost must be no less than what it was charged."""
        target, charges = self._claim.target, self._charges()
        if self.opened is not None and isinstance(self.opened.budget, Unbounded):
            yield f"it says that its fit costs at most {target}, but this ledger promises nothing, and confirms no cost"
        elif not _keeps(target, charges, self._rule):
            yield f"it says that its fit costs at most {target}, but was charged {self.fit()} for it"


def _read(entry: Entry) -> Record | None:
    try:
        return decode(entry)
    except NONSENSE:
        return None  # the audit says what is wrong with it


def _total(newest: Entry | None) -> Amount | None:
    """The total as it stands in that entry; the audit says whether it is right."""
    if newest is None:
        return NOTHING
    record = _read(newest)
    return record.after if isinstance(record, Charged | Returned) else None


def _sum(charges: Iterable[Charged], rule: Composition) -> Amount:
    total = NOTHING
    for charge in charges:
        total = total.plus(charge.amount(rule))
    return total


def _keeps(target: PureDP | ApproxDP, charges: Iterable[Charged], rule: Composition) -> bool:
    """Whether these charges are at most what the rule counts for one release of that cost, or what stays within it."""
    try:
        total = _sum(charges, rule)
        return any(total.within(most) for most in _counted(target, rule))
    except (UnsupportedCost, ArithmeticError):
        return False


def _counted(target: PureDP | ApproxDP, rule: Composition) -> Iterator[Amount]:
    with contextlib.suppress(UnsupportedBudget):
        yield rule.ceiling(target)
    with contextlib.suppress(UnsupportedCost):
        yield rule.amount(target)


def _quoted(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
