"""The web server: waitress, with few threads and small limits, and nothing in its answers that names it."""

import logging
from typing import Final

import attrs
from flask import Flask
from waitress.server import MultiSocketServer, create_server

THREADS: Final = 8
"""Requests that are answered at once; more wait. They share one lock, so more threads would not be quicker."""

CONNECTIONS: Final = 200
LONGEST_HEADER: Final = 16_384
LONGEST_BODY: Final = 4096

IDLE: Final = 30
"""Seconds after which a connection that says nothing is closed."""


@attrs.frozen(eq=False)
class Listening:
    """A server that is bound to its address. url: where it answers on this machine."""

    url: str
    _server: object

    def run(self) -> None:
        """Answer until `close`, or Ctrl-C."""
        self._server.run()  # type: ignore[attr-defined]  # waitress's stubs know no common type of its servers

    def close(self) -> None:
        """Answer no more."""
        self._server.close()  # type: ignore[attr-defined]


def listening(app: Flask, host: str, port: int) -> Listening:
    """A server for the application. port: 0 for one that is free.  Raises OSError where the address is taken."""
    logging.getLogger("waitress").setLevel(logging.ERROR)  # it would name addresses and requests
    server = create_server(
        app,
        host=host,
        port=port,
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
    bound = server.effective_listen[0][1] if isinstance(server, MultiSocketServer) else server.effective_port
    shown = f"[{host}]" if ":" in host else host
    return Listening(f"http://{shown}:{bound}/", server)
