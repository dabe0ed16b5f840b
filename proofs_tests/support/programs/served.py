"""A ledger served on the loopback by the real server, and a client that sends whatever a test wants."""

import http.client
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Final

import attrs

from accountant import Entry
from exchequer.live import Access, Desk, Follower, Listening, Source, application

PATIENCE: Final = 60.0
"""Seconds to wait for what must come."""


@attrs.frozen
class Answer:
    """What came back. headers: names in small letters."""

    code: int
    headers: Mapping[str, str]
    body: str


@attrs.frozen
class Served:
    """A server that runs. said: what it told whoever started it."""

    port: int
    follower: Follower
    said: list[str]

    def ask(self, target: str, method: str = "GET", body: str | None = None, **headers: str | None) -> Answer:
        """One request; headers by name, "_" for "-", None to send none of that name."""
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        with closing(connection):
            connection.putrequest(method, target, skip_host="Host" in named, skip_accept_encoding=True)
            for name, text in named.items():
                if text is not None:
                    connection.putheader(name, text)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(None if body is None else body.encode())
            found = connection.getresponse()
            text = found.read().decode()
            return Answer(found.status, {name.lower(): value for name, value in found.getheaders()}, text)

    def wait(self, condition: Callable[[], bool]) -> None:
        """Until it holds."""
        wait(condition)

    def ready(self) -> None:
        """Until all entries were read once."""
        wait(lambda: self.follower.seen.verification is not None)


def wait(condition: Callable[[], bool]) -> None:
    """Until it holds; fails the test where it does not for long."""
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until, "it never happened"
        time.sleep(0.01)


@contextmanager
def serving(
    location: str,
    access: Access | None = None,
    *,
    every: float = 0.05,
    begin: bool = True,
    read: Callable[[int], Iterator[Entry]] | None = None,
) -> Iterator[Served]:
    """The ledger at this place, served while the block lasts.

    begin: whether it is read already.  read: gives the entries of its pages, if that is not to be the ledger.
    """
    said: list[str] = []
    with closing(Source(location)) as source:
        follower = Follower(source, None, every=every, say=lambda text: said.append(str(text)))
        desk = Desk(follower, read or source.read, f"Privacy report on {source.name}")
        server = Listening(
            application(desk, access or Access(), say=lambda text: said.append(str(text))), "127.0.0.1", 0
        )
        thread = threading.Thread(target=server.run, name="server")
        thread.start()
        try:
            served = Served(int(server.url.rstrip("/").rpartition(":")[2]), follower, said)
            if begin:
                follower.start()
                served.ready()
            yield served
        finally:
            server.close()
            thread.join(PATIENCE)
            follower.stop()
