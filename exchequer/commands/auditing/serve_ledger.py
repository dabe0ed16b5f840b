"""`exchequer ledger serve`: the report as a page that stays up to date."""

import contextlib
import ipaddress
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from exchequer.commands.auditing.installed_claims import known_claims
from exchequer.console import output

MISSING = "exchequer ledger serve needs Flask and waitress: pip install 'exchequer[serve]'"


def serve_ledger(
    location: str, host: str, port: int, token_file: Path | None, names: tuple[str, ...], title: str | None
) -> None:
    """Serve until Ctrl-C. Raises ValueError for what is wrong with the options, and as reading a ledger does."""
    try:
        import flask  # noqa: F401  # both of them, before anything is opened
        import waitress  # noqa: F401
    except ModuleNotFoundError as error:
        raise ValueError(MISSING) from error
    from exchequer.live import Access, Desk, Follower, Listening, Source, application, read_token

    _check_address(host)
    token = read_token(token_file)
    access = Access(names, token)
    if token is None and Access.needs_token(host, names):
        raise ValueError(
            "others could reach this page, so it needs a token, of 128 random bits or more: --token-file FILE, or "
            "EXCHEQUER_SERVE_TOKEN; there is no TLS here: put a reverse proxy that has it in front"
        )
    with contextlib.closing(Source(location)) as source:
        follower = Follower(source, known_claims(), say=output.note)
        desk = Desk(follower, source.read, title or f"Privacy report on {source.name}")
        server = Listening(application(desk, access, say=output.note), host, port)
        follower.start()
        try:
            _announce(server.url, names, token=token is not None, others=Access.needs_token(host, names))
            with _ended_by_signal():
                server.run()
        finally:
            server.close()
            follower.stop()


def _check_address(host: str) -> None:
    if host == "localhost":
        return
    try:
        ipaddress.ip_address(host)
    except ValueError:
        raise ValueError(f"--host: expected an IP address of this machine, or localhost, got {host!r:.60}") from None


def _announce(url: str, names: tuple[str, ...], *, token: bool, others: bool) -> None:
    output.title(f"Serving the report at {url}", "green")
    output.paragraph(
        "Read-only. It answers to localhost, 127.0.0.1, [::1]" + "".join(f", {name}" for name in names) + "."
    )
    if token:
        output.paragraph("Readers need the token, in the page's form or as Authorization: Bearer.")
    if others:
        output.paragraph("There is no TLS here: what is sent can be read on the way. A reverse proxy must add it.")
    output.paragraph("Ctrl-C ends it.")


@contextlib.contextmanager
def _ended_by_signal() -> Iterator[None]:
    """End in order where a supervisor asks for it, as with Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        raise SystemExit(0)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
