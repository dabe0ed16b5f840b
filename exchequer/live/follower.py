"""A reader in the background: it verifies a ledger once, goes on as it grows, and notices when it is cut or rewritten.

Every second it looks for new entries after the newest one that it has read, which must still be there. Beside that it
goes through the whole chain again, some entries a second: so a change to an entry long ago is noticed within minutes.
What was found to be wrong stays wrong, whatever is put in its place.
"""

import datetime
import itertools
import threading
import traceback
from collections.abc import Callable, Mapping
from typing import Final

import attrs

from accountant import Entry, LedgerBroken, LedgerMismatch, LedgerUnavailable
from accountant.audit import Verification, Verifier
from accountant.audit.breakdowns import ChargeTable
from accountant.audit.report import ClaimText, Evidence
from accountant.entries import GENESIS, follows
from accountant.storage import SqlStore
from exchequer.live.source import Source

EVERY: Final = 1.0
"""Seconds from one look to the next."""

BATCH: Final = 1000
"""Entries that are taken in at once, for some hundredths of a second; meanwhile no page is made."""

AGAIN: Final = 2000
"""Entries that are read again at each look."""

NO_REGISTRY: Final = "claim ids were not checked: no registry of claims is installed"


@attrs.frozen
class Seen:
    """What is known at one moment.

    read: entries that were read.  of: how many there are at least.  head: the digest of the newest that was read.
    last: its number.  verification: None until all were read once.  looked: when somebody last looked.
    trouble: why the ledger cannot be read just now, "" if it can.  lost: why it is not the ledger any more that was
    read, "" if it is.
    """

    read: int = 0
    of: int = 0
    head: str = GENESIS
    last: int = -1
    verification: Verification | None = None
    looked: datetime.datetime | None = None
    trouble: str = ""
    lost: str = ""

    @property
    def verdict(self) -> str:
        """In a word; "reading" until all entries were read once."""
        if self.lost:
            return "not sound"
        return "reading" if self.verification is None else self.verification.verdict


class Follower:
    """Follows one ledger. seen: what is known; it is replaced as a whole, and may be read at any time.

    evidence, charges: what the entries said, to be read with `lock` held only.
    say: is told what pages do not show: why a ledger cannot be read, with its place.
    """

    def __init__(
        self,
        source: Source,
        claims: Mapping[str, ClaimText] | None,
        *,
        every: float = EVERY,
        say: Callable[[str], object] = lambda text: None,
    ) -> None:
        self.lock = threading.RLock()
        self.evidence, self.charges, self.claims = Evidence(), ChargeTable(), claims
        self.seen = Seen()
        self._source, self._every, self._say = source, every, say
        self._verifier = Verifier(self.evidence, self.charges, claims=claims)
        self._again, self._again_head = -1, GENESIS  # how far the second reading has come
        self._stop, self._failed = threading.Event(), ""
        self._thread = threading.Thread(target=self._run, name="ledger", daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def stop(self) -> None:
        """Read no more; returns when the last look is over."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()

    @property
    def alive(self) -> bool:
        """Whether somebody is reading."""
        return self._thread.is_alive()

    def _run(self) -> None:
        while not self._stop.is_set() and not self.seen.lost:
            self.look()
            self._stop.wait(self._every)
        while not self._stop.wait(3600.0):  # lost for good; the pages go on saying so
            pass

    # --- one look -----------------------------------------------------------------------------------------

    def look(self) -> None:
        """Read what is new, and some of the old entries again."""
        try:
            store = self._source.store()
            self._read_new(store)
            self._read_again(store)
        except LedgerBroken as error:
            self._lose("Its database is damaged, and cannot be read any more.", error)
        except LedgerMismatch as error:
            if self.seen.read:
                self._lose("There is another database in its place, which holds no ledger.", error)
            else:
                self._trouble(error)
        except (LedgerUnavailable, OSError) as error:
            self._source.open_again()  # its tables may be gone, which the next look then says
            self._trouble(error)
        except Exception as error:  # a reader that died would leave a page that looks alive
            self._say(traceback.format_exc())
            self._lose("Reading it failed, see the log of the server; nobody knows what it says now.", error)

    def _read_new(self, store: SqlStore) -> None:
        start, seen = max(self.seen.last, 0), self.seen
        there = len(store) if seen.verification is None else 0  # for the progress
        rest = iter(store.read(start))
        if seen.read:
            newest = next(rest, None)
            if newest is None:
                return self._lose(f"Entries were cut off: number {seen.last} is gone.")
            if (newest.number, newest.digest) != (seen.last, seen.head):
                return self._lose(f"It was rewritten: entry {seen.last} is not the one that was read.")
        while some := list(itertools.islice(rest, BATCH)):
            self._take(some, there)
            if self._stop.is_set():
                return None
        with self.lock:
            self.seen = attrs.evolve(
                self.seen,
                verification=self.seen.verification or self._verified(),
                looked=datetime.datetime.now(datetime.UTC),
                trouble="",
            )
        self._failed = ""
        return None

    def _take(self, some: list[Entry], there: int) -> None:
        with self.lock:
            self._verifier.take(some)
            read, newest, first = self._verifier.entries, some[-1], self.seen.verification is None
            self.seen = attrs.evolve(
                self.seen,
                read=read,
                of=max(read, there),
                head=newest.digest,
                last=newest.number,
                verification=None if first else self._verified(),
                looked=None if first else datetime.datetime.now(datetime.UTC),
            )

    def _verified(self) -> Verification:
        found = self._verifier.verification()
        return found if self.claims is not None else attrs.evolve(found, notes=(*found.notes, NO_REGISTRY))

    def _read_again(self, store: SqlStore) -> None:
        """Some entries more of the chain that was read. Where all digests fit up to a known one, no line has changed.

        In a ledger that is not sound some do not, and it stays as it is.
        """
        seen = self.seen
        if seen.lost or seen.verification is None or seen.verification.errors or seen.last < 0:
            return None
        for entry in itertools.islice(store.read(self._again + 1), AGAIN):
            fits = entry.number == self._again + 1 and follows(self._again_head, entry.line, entry.digest)
            if not fits or (entry.number == seen.last and entry.digest != seen.head):
                return self._lose(f"It was rewritten: entry {self._again + 1} is not the one that was read.")
            self._again, self._again_head = entry.number, entry.digest
            if entry.number == seen.last:
                self._again, self._again_head = -1, GENESIS
                return None
        return None

    # --- bad news -----------------------------------------------------------------------------------------

    def _lose(self, why: str, error: Exception | None = None) -> None:
        self._say(f"THE LEDGER IS NOT WHAT IT WAS: {why}" + (f" {error}" if error is not None else ""))
        with self.lock:
            self.seen = attrs.evolve(self.seen, lost=why, looked=datetime.datetime.now(datetime.UTC))

    def _trouble(self, error: Exception) -> None:
        said = str(error)
        if said != self._failed:  # once, not every second
            self._say(f"the ledger cannot be read just now: {said}")
        self._failed = said
        with self.lock:
            self.seen = attrs.evolve(
                self.seen, trouble="The ledger cannot be read just now; the server's log says why."
            )
