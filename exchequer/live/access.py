"""Who may ask: by which name of the server, and with which token.

Other pages that a browser has open may send requests here too. What they ask under a name of their own that points
here (DNS rebinding) is refused by the Host header; a session's cookie is not sent with requests of other sites.
"""

import hashlib
import hmac
import ipaddress
import os
import re
import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import attrs

ENVIRONMENT: Final = "EXCHEQUER_SERVE_TOKEN"
"""The environment variable that may hold the token."""

COOKIE: Final = "exchequer"

SESSION: Final = 12 * 3600
"""Seconds that a session lasts."""

LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")
"""Names of this machine for itself."""

_TOKEN: Final = re.compile(r"[!-~]{22,512}")
_FEWEST: Final = 10
"""Different characters of a token; random ones of 22 have more."""

_HOST: Final = re.compile(r"([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?")

MAKE: Final = "python -c 'import secrets; print(secrets.token_urlsafe(32))' > token; chmod 600 token"


def new_token() -> str:
    """256 random bits."""
    return secrets.token_urlsafe(32)


def read_token(path: Path | None, environment: Mapping[str, str] = os.environ) -> str | None:
    """The token of a file, or else of the environment; None where neither has one.

    Raises ValueError for one that could be guessed, or that others on this machine can read; OSError.
    """
    if path is None:
        token = environment.get(ENVIRONMENT)
        return None if token is None else _strong(token.strip(), ENVIRONMENT)
    if os.name == "posix" and path.stat().st_mode & 0o007:
        raise ValueError(f"--token-file: everybody on this machine may read or change {path}: chmod 600 {path}")
    return _strong(path.read_text(encoding="utf-8", errors="replace").strip(), "--token-file")


def _strong(token: str, where: str) -> str:
    if not _TOKEN.fullmatch(token) or len(set(token)) < _FEWEST:
        raise ValueError(
            f"{where}: expected at least 128 random bits, as 22 characters or more, without spaces: {MAKE}"
        )
    return token


def is_loopback(host: str) -> bool:
    """Whether a server bound to this address is reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _name(instance: "Access", attribute: "attrs.Attribute[tuple[str, ...]]", names: tuple[str, ...]) -> None:
    for name in names:
        found = _HOST.fullmatch(name)
        if found is None or found[1] != name:
            raise ValueError(f"--allow-host: expected a name in small letters without a port, got {name!r:.80}")


@attrs.frozen
class Access:
    """The rules of one server.

    names: by which it is asked beside those of the loopback.  token: None where nobody needs one, which only a server
    that nobody else can reach may be.  Raises ValueError for a name that is none.
    """

    names: tuple[str, ...] = attrs.field(default=(), validator=_name)
    token: str | None = attrs.field(default=None, repr=False)
    _key: bytes = attrs.field(factory=lambda: secrets.token_bytes(32), repr=False, init=False)

    @staticmethod
    def needs_token(host: str, names: tuple[str, ...]) -> bool:
        """Whether others could reach it: by its address, or through a proxy that passes their requests on."""
        return not is_loopback(host) or bool(set(names) - set(LOOPBACK))

    def serves(self, host: str | None) -> str | None:
        """The name in a Host header, without its port, where the server answers to it; else None."""
        found = None if host is None else _HOST.fullmatch(host.lower())
        return found[1] if found is not None and found[1] in {*LOOPBACK, *self.names} else None

    def allows(self, authorization: str | None, cookie: str | None) -> bool:
        """Whether a request may be answered. authorization: its header.  cookie: of a session."""
        if self.token is None:
            return True
        kind, _, given = (authorization or "").partition(" ")
        if kind.lower() == "bearer":
            return self.knows(given.strip())
        return cookie is not None and self._is_session(cookie)

    def knows(self, token: str) -> bool:
        """Whether this is the token; in a time that tells nothing of it."""
        known = (self.token or "").encode()
        given = token.encode("utf-8", "replace")
        return self.token is not None and hmac.compare_digest(hashlib.sha256(given).digest(), _digest(known))

    def session(self, now: float | None = None) -> str:
        """The cookie of a new session: until when it lasts, sealed with a key of this run of the server."""
        return self._sealed(str(int((time.time() if now is None else now) + SESSION)))

    def _is_session(self, cookie: str) -> bool:
        until, _, _ = cookie.partition(".")
        if not (until.isascii() and until.isdigit() and len(until) < 16):
            return False
        return (
            hmac.compare_digest(cookie.encode("utf-8", "replace"), self._sealed(until).encode())
            and int(until) > time.time()
        )

    def _sealed(self, until: str) -> str:
        return f"{until}.{hmac.new(self._key, until.encode(), 'sha256').hexdigest()}"


def _digest(known: bytes) -> bytes:
    return hashlib.sha256(known).digest()
