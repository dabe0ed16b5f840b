"""What a ledger's handle does with the keys of writers: signing its charges, and changing the keys."""

from typing import Self

from accountant.entries import SigningKey
from accountant.ledger.among_others import AmongOthers
from accountant.witnesses import SIGN_EVERY, KeyRequest


class SignsCharges(AmongOthers):
    """A ledger's handle, as far as it signs."""

    def sign_with(self, key: SigningKey, *, every: int = SIGN_EVERY) -> Self:
        """Sign charges from here on: after every so many, when `sign` is called, after a fit, and on closing.

        For all handles that share this one's connection. Raises KeyRefused unless the ledger has this key enrolled.
        """
        self._writer.sign_with(key, every)
        return self

    def sign(self) -> int | None:
        """Sign the charges that this handle made and did not sign; the number of that entry, None without any."""
        return self._writer.sign()

    def change_key(self, request: KeyRequest) -> int:
        """Enrol, rotate or revoke a writer's key, see `accountant.witnesses.key_change`; the entry's number.

        What this handle charged is signed first. Upgrades the ledger to format 2. Raises KeyRefused.
        """
        return self._writer.change_key(request)
