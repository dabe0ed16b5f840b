"""The pages of one ledger, made from what its follower knows; each is kept until the ledger has grown."""

import datetime
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Final

import attrs

from accountant import Entry
from accountant.audit.breakdowns import BY
from accountant.audit.report import report_of
from exchequer.live import listings
from exchequer.live.follower import Follower, Seen
from exchequer.live.markup import Bar, Link, Page, around, page
from exchequer.live.queries import Query

MOST_LATE: Final = 60.0
"""Seconds after which what was seen is no longer said to be so."""

MOST_PAGES: Final = 64
MOST_CHARACTERS: Final = 8_000_000
"""Of pages that are kept, and of all of them together."""

SAID: Final = {
    "sound": "Sound",
    "with caveats": "Adds up, with caveats",
    "not sound": "NOT SOUND",
    "cannot be checked": "CANNOT BE CHECKED",
    "reading": "Reading",
}
TONES: Final = {"sound": "good", "with caveats": "warn", "reading": "warn"}

PATHS: Final = {"/": "Report", "/spent": "Spent", "/entries": "Entries"}


class Kept:
    """Pages of one state of the ledger, those that were asked for last."""

    def __init__(self) -> None:
        self._lock, self._version = threading.Lock(), ("", -1)
        self._pages: OrderedDict[str, Page] = OrderedDict()

    def find(self, version: tuple[str, int], key: str) -> Page | None:
        """The page, if it was made of this state."""
        with self._lock:
            if version != self._version or key not in self._pages:
                return None
            self._pages.move_to_end(key)
            return self._pages[key]

    def keep(self, version: tuple[str, int], key: str, made: Page) -> None:
        """One more; of a newer state, it is the first."""
        with self._lock:
            if version != self._version:
                self._pages.clear()
                self._version = version
            self._pages[key] = made
            while len(self._pages) > MOST_PAGES or sum(each.size for each in self._pages.values()) > MOST_CHARACTERS:
                self._pages.popitem(last=False)


class Desk:
    """Makes pages. title: of the report.  read: gives the entries from a number on."""

    def __init__(self, follower: Follower, read: Callable[[int], Iterator[Entry]], title: str) -> None:
        self.follower, self.title = follower, title
        self._read, self._kept = read, Kept()

    @property
    def seen(self) -> Seen:
        """What is known now; with a word on it where nobody has looked for long, as behind somebody's lock."""
        seen = self.follower.seen
        if seen.looked is None or seen.lost or seen.trouble:
            return seen
        late = (datetime.datetime.now(datetime.UTC) - seen.looked).total_seconds() > MOST_LATE
        return attrs.evolve(seen, trouble="Nobody could look at the ledger for some time.") if late else seen

    def sent(self, path: str, query: Query) -> tuple[str, str]:
        """HTML and its Content-Security-Policy. path: of `PATHS`."""
        seen = self.seen
        if seen.lost:
            made = self._lost(seen)
        else:
            made, seen = self._page(path, query, f"{path}?{query.key}")
        return made.html(query.refresh, self._bar(path, query, seen)), made.policy

    def reading(self) -> tuple[str, str]:
        """The page for as long as not all entries were read once."""
        seen = self.seen
        done = page(
            "reading.html",
            title=self.title,
            seen=seen,
            percent=100 * seen.read // max(seen.of, 1),
            read=f"{seen.read:,}",
            of=f"{seen.of:,}",
        )
        return done.html(2), done.policy

    def _page(self, path: str, query: Query, key: str) -> tuple[Page, Seen]:
        seen = self.seen
        if (found := self._kept.find((seen.head, seen.read), key)) is not None:
            return found, seen
        with self.follower.lock:  # whoever asks for the same meanwhile finds it made
            seen = self.seen
            version = (seen.head, seen.read)
            if seen.lost:
                return self._lost(seen), seen
            if (found := self._kept.find(version, key)) is None:
                found = {"/": self._report, "/spent": self._spent, "/entries": self._entries}[path](query, seen)
                self._kept.keep(version, key, found)
        return found, seen

    # --- the pages ----------------------------------------------------------------------------------------

    def _lost(self, seen: Seen) -> Page:
        looked = "" if seen.looked is None else _clock(seen.looked)
        return page("lost.html", title=self.title, seen=seen, looked=looked, entries=f"{seen.read:,} entries")

    def _report(self, query: Query, seen: Seen) -> Page:
        assert seen.verification is not None
        if seen.verification.unchecked and not seen.verification.errors:
            return page("unchecked.html", title=self.title, why=seen.verification.unchecked)
        return around(
            report_of(
                self.follower.evidence,
                verification=seen.verification,
                claims=self.follower.claims,
                second_opinion=None,
                title=self.title,
                made=datetime.datetime.now(datetime.UTC),
            )
        )

    def _spent(self, query: Query, seen: Seen) -> Page:
        table = self.follower.charges
        if table.opened is None:
            return self._nothing()
        found = table.breakdown(query.question)
        rows, more = listings.group_rows(found, table.opened.budget, query)
        return page(
            "spent.html",
            title=self.title,
            query=query,
            path="/spent",
            groups=BY,
            fields=listings.fields(table, query),
            others=listings.others(query),
            columns=listings.group_columns(found),
            rows=rows,
            more=more,
            caption=f"{found.together.charges:,} of {len(table):,} charges",
        )

    def _entries(self, query: Query, seen: Seen) -> Page:
        table, opened = self.follower.charges, self.follower.charges.opened
        rule = None if opened is None else opened.composition
        columns: tuple[str, ...]
        if query.filtered and rule is not None:
            count = table.count(query.question)
            rows, columns = listings.charge_rows(table, query, rule), listings.CHARGE_COLUMNS
            heading, caption = "Charges", f"{count:,} charges, the newest first"
        else:
            question, end = query.question, seen.last + 1
            start = listings.place_in_time(self._read, question.since, end, 0)
            stop = listings.place_in_time(self._read, question.until, end, end)
            rows, columns = listings.entry_rows(self._read, start, stop, query, rule), listings.ENTRY_COLUMNS
            count = max(stop - start, 0)
            heading, caption = "Entries", f"{count:,} entries, the newest first"
        pages = max(-(-count // listings.PER_PAGE), 1)
        return page(
            "entries.html",
            title=self.title,
            query=query,
            path="/entries",
            groups=(),
            fields=listings.fields(table, query),
            others=listings.others(query),
            heading=heading,
            columns=columns,
            rows=rows,
            caption=f"{caption}; page {query.page:,} of {pages:,}",
            newer=query.link("/entries", page=str(query.page - 1)) if query.page > 1 else "",
            older=query.link("/entries", page=str(query.page + 1)) if query.page < pages else "",
        )

    def _nothing(self) -> Page:
        return page("unchecked.html", title=self.title, why="It holds no readable first entry.")

    # --- the bar ------------------------------------------------------------------------------------------

    def _bar(self, path: str, query: Query, seen: Seen) -> Bar:
        unreadable = self.follower.charges.unreadable
        tone = TONES.get(seen.verdict, "bad")
        short = f"{unreadable:,} entries could not be taken in: sums are short of them." if unreadable else ""
        everywhere = {"/": query.link("/", **_only_refresh(query))}
        return Bar(
            links=tuple(
                Link(name, everywhere.get(each) or query.link(each), each == path) for each, name in PATHS.items()
            ),
            here=query.again(path, None),
            again=query.again(path, 60),
            refresh=query.refresh,
            verdict=SAID[seen.verdict],
            tone="bad" if short else "warn" if seen.trouble and tone == "good" else tone,
            entries=f"{seen.read:,} {'entry' if seen.read == 1 else 'entries'}",
            head=seen.head,
            looked="" if seen.looked is None else _clock(seen.looked),
            trouble=seen.trouble,
            short=short,
        )


def _only_refresh(query: Query) -> dict[str, str | None]:
    return {name.replace(".", "__"): None for name in query.given if name != "refresh"}


def _clock(time: datetime.datetime) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S UTC")
