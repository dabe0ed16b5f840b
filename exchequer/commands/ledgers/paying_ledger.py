"""The durable ledger that pays for what `exchequer train` learns."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs

from accountant import Ledger, SubBudgetRefused
from accountant.entries import SigningKey
from exchequer.commands.ledgers.change_writers import private_key
from exchequer.commands.ledgers.open_ledger import about_of, url_of, without_password, without_passwords
from exchequer.commands.ledgers.registry_listing import sums
from exchequer.console import output
from learners.base import PrivateEstimator


@contextmanager
def paying(payer: "PayingLedger | None") -> Iterator[Ledger | None]:
    """Its ledger, open for as long as the block lasts; None for nobody, and then a fit opens one of its own."""
    if payer is None:
        yield None
        return
    with payer.ledger() as ledger:
        yield ledger


@attrs.frozen
class PayingLedger:
    """Which ledger, which account of it, and with which key its receipts are signed.

    location: a URL or the path of a SQLite file.
    about: what its charges are about, as NAME=TEXT.  writer_key: what they are signed with.
    account: the path of a sub-budget, if there is one of that name, else a label; "" gives none.
    """

    location: str
    account: str = ""
    signing_key: Path | None = None
    about: tuple[str, ...] = ()
    writer_key: Path | None = None

    def __attrs_post_init__(self) -> None:
        if self.account and not all(part and part == part.strip() for part in self.account.split("/")):
            raise ValueError(f"--account: {self.account!r} is no path; try team-a, or team-a/first-model")

    @contextmanager
    def ledger(self) -> Iterator[Ledger]:
        """The ledger, open for as long as the block lasts. Raises as `Ledger.open` does, and UnknownLabel."""
        about = about_of(self.about)
        with (
            without_passwords(self.location),
            Ledger.open(
                url_of(self.location), signing_key=self._key(), about=about, writer_key=self._writer()
            ) as ledger,
        ):
            if (others := ledger.others()) is not None and len(others.parts) > 1:
                output.note(f"data set {others.dataset}: {len(others.parts)} ledgers; together {sums(others)}")
            yield self._account_of(ledger) if self.account else ledger

    def _account_of(self, ledger: Ledger) -> Ledger:
        try:
            return ledger.sub_budget(self.account)
        except SubBudgetRefused:
            return ledger.labelled(self.account)

    def _key(self) -> SigningKey | None:
        return None if self.signing_key is None else private_key("--signing-key", self.signing_key)

    def _writer(self) -> SigningKey | None:
        return None if self.writer_key is None else private_key("--writer-key", self.writer_key)

    def receipted(self, model: PrivateEstimator[Any, Any]) -> None:
        """Say where the model was charged."""
        output.heading(f"Charged to {without_password(self.location)}")
        output.facts([("receipt", str(each)) for each in model.receipts_])
