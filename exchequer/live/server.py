"""The web server: waitress, with few threads and small limits, and nothing in its answers that names it."""

import errno
import logging
import os
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from flask import Flask
from waitress import wasyncore
from waitress.server import create_server

THREADS: Final = 8
"""Requests that are answered at once; more wait. They share one lock, so more threads would not be quicker."""

CONNECTIONS: Final = 200
LONGEST_HEADER: Final = 16_384
LONGEST_BODY: Final = 4096

IDLE: Final = 30
"""Seconds after which a connection that says nothing is closed."""


class Listening:
    """A server that is bound to its address. url: where it answers on this machine.

    host: an IP address, or localhost for 127.0.0.1.  port: 0 for one that is free.  Raises OSError where the address
    is taken.
    """

    def __init__(self, app: Flask, host: str, port: int) -> None:
        logging.getLogger("waitress").setLevel(logging.ERROR)  # it would name addresses and requests
        self._map: dict[int, Any] = {}
        self._running, self._told, self._turn = False, False, threading.Lock()
        server: Any = create_server(  # its stubs know neither its port nor its pipe
            app,
            map=self._map,
            sockets=[_bound("127.0.0.1" if host == "localhost" else host, port)],
            threads=THREADS,
            ident=None,
            connection_limit=CONNECTIONS,
            channel_timeout=IDLE,
            cleanup_interval=5,
            max_request_header_size=LONGEST_HEADER,
            max_request_body_size=LONGEST_BODY,
            expose_tracebacks=False,
            clear_untrusted_proxy_headers=True,
        )
        server.pull_trigger = self._wake  # its own writes to the pipe's number whoever has that by now
        self._server = server
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{server.effective_port}/"

    def run(self) -> None:
        """Answer until `close`, or Ctrl-C.

        Raises OSError where other code of the process closed a descriptor that it was waiting on.
        """
        with self._turn:
            self._running = True
        try:
            self._server.run()
        except OSError as error:
            if not (self._told and error.errno == errno.EBADF):  # else `close` had to close them while it waited
                raise
        finally:
            self._server.task_dispatcher.shutdown()
            with self._turn:
                self._running = False
                self._end()

    def close(self) -> None:
        """Answer no more; `run` returns soon."""
        with self._turn:
            self._told = True
            if self._running:
                if not self._wake(self._close_connections):  # in the thread that runs, which looks each second anyhow
                    self._close_connections()
                return
        self._server.task_dispatcher.shutdown()
        self._end()

    def _wake(self, thunk: Callable[[], None] | None = None) -> bool:
        """Have the loop look at once, and do this; False where somebody closed the pipe to it."""
        trigger = self._server.trigger
        if all(each is not trigger for each in list(self._map.values())):  # its number may be another file's by now
            return False
        with suppress(OSError):
            trigger.pull_trigger(thunk)
            return True
        return False

    def _end(self) -> None:
        """Nothing runs any more, and nobody writes to the pipe."""
        trigger = self._server.trigger
        with suppress(OSError):  # somebody else closed an end of it
            trigger.close()
        if trigger.socket is not None:  # what a failing `close` leaves open
            trigger.socket.close()
        self._close_connections()

    def _close_connections(self) -> None:
        """All of them, and then the loop ends. The pipe stays open: threads that answer still write to it."""
        ours = (self._server, self._server.trigger)
        wasyncore.close_all({key: each for key, each in self._map.items() if each not in ours}, True)
        wasyncore.dispatcher.close(self._server)  # its own `close` closes the pipe, too
        self._map.clear()


def _bound(host: str, port: int) -> socket.socket:
    """A socket at this address. Raises OSError where it is taken, or none of this machine's."""
    found = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # elsewhere others could then take the port as well
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
    except BaseException as error:
        found.close()
        if isinstance(error, OSError):
            raise OSError(error.errno, f"cannot listen at {host}, port {port}: {error.strerror}") from error
        raise
    return found
