"""A PostgreSQL server of our own, for tests and measurements: real, as durable as a user's, and gone at the end."""

import contextlib
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import quote

import psycopg

PATIENCE: Final = 60.0
"""Seconds that a server may take to start or to stop."""

ROLE: Final = "exchequer"

OTHERS: Final = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
"""Ends every other connection to this database."""


class NoServer(RuntimeError):
    """This machine has no PostgreSQL server that could be started, or it did not start."""


def programs() -> Path:
    """The folder of initdb and postgres: on the PATH, else where Debian keeps its newest. Raises NoServer."""
    found = shutil.which("initdb")
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_version)
    for folder in [*([Path(found).parent] if found else []), *reversed(debian)]:
        if all(os.access(folder / name, os.X_OK) for name in ("initdb", "postgres")):
            return folder
    raise NoServer("there is no PostgreSQL server on this machine (on Debian: apt-get install postgresql)")


def _version(folder: Path) -> float:
    try:
        return float(folder.parent.name)
    except ValueError:
        return 0.0


class Server:
    """A cluster in a new temporary folder, reached by a socket in that folder and by nothing else.

    A context manager, whose server runs inside the block. fsync stays on, and every setting but the socket's is
    PostgreSQL's own. Raises NoServer where there is none to start.
    """

    def __init__(self) -> None:
        self._programs = programs()
        self._user = _unprivileged()
        # A socket's path may have 107 bytes; the usual temporary folder may be deeper than that, or not ours to share.
        self._folder = Path(tempfile.mkdtemp(prefix="xq", dir="/tmp" if os.path.isdir("/tmp") else None))
        self._numbers, self._free = itertools.count(), list[str]()
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def _start(self) -> None:
        if self._user is not None:
            shutil.chown(self._folder, self._user)
        data = str(self._folder / "data")
        cluster = ("-D", data, "-U", ROLE, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        made = subprocess.run(
            [str(self._programs / "initdb"), *cluster], capture_output=True, check=False, **self._as_its_user()
        )
        if made.returncode:
            raise NoServer(f"initdb failed: {made.stderr.decode(errors='replace').strip()}")
        self._run()

    def _run(self) -> None:
        folder = str(self._folder)
        server = (str(self._programs / "postgres"), "-D", f"{folder}/data", "-k", folder, "-c", "listen_addresses=")
        with (self._folder / "log").open("wb") as log:
            self._process = subprocess.Popen([*_dies_with_us(), *server], stdout=log, stderr=log, **self._as_its_user())
        self._wait(self._process)

    def _as_its_user(self) -> dict[str, Any]:  # keywords of subprocess, each of its own type
        user = {} if self._user is None else {"user": self._user, "group": pwd.getpwnam(self._user).pw_gid}
        return {**user, "cwd": self._folder, "stdin": subprocess.DEVNULL}

    def _wait(self, process: "subprocess.Popen[bytes]") -> None:
        until = time.monotonic() + PATIENCE
        while True:
            with contextlib.suppress(psycopg.OperationalError):
                self.connect().close()
                return
            if process.poll() is not None or time.monotonic() > until:
                log = (self._folder / "log").read_text(errors="replace")
                raise NoServer(f"PostgreSQL did not start: {log.strip()[-1000:]}")
            time.sleep(0.02)

    def connect(self, database: str = "postgres") -> "psycopg.Connection[tuple[object, ...]]":
        """A bare connection that commits every statement."""
        return psycopg.connect(host=str(self._folder), user=ROLE, dbname=database, autocommit=True)

    @contextlib.contextmanager
    def database(self) -> Iterator[str]:
        """The URL of an empty database; it is emptied at the end, whoever is still connected, and used again.

        Emptying takes milliseconds where dropping takes a checkpoint.
        """
        if not self._free:
            self._free.append(self._made())
        name = self._free.pop()
        try:
            yield f"postgresql+psycopg://{ROLE}@/{name}?host={quote(str(self._folder), safe='')}"
        finally:
            with self.connect(name) as connection:
                connection.execute(OTHERS)
                connection.execute("DROP SCHEMA public CASCADE")
                connection.execute("CREATE SCHEMA public")
            self._free.append(name)

    def _made(self) -> str:
        name = f"books{next(self._numbers)}"
        with self.connect() as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return name

    def restart(self) -> None:
        """Stop it at once, as a crash does, and start it again."""
        assert self._process is not None
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait(PATIENCE)
        self._run()

    def _stop(self) -> None:
        """Stop it and remove its folder."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)  # fast shutdown: it does not wait for clients
            try:
                self._process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.send_signal(signal.SIGQUIT)
                self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


def _unprivileged() -> str | None:
    """Whom the server runs as: PostgreSQL refuses to be run by root. None: as whoever we are."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name).pw_name
    raise NoServer("PostgreSQL refuses to be run by root, and there is no user to run it as")


def _dies_with_us() -> list[str]:
    """Where Linux can: should this process be killed, the server shuts down as well."""
    setpriv = shutil.which("setpriv")
    return [] if setpriv is None else [setpriv, "--pdeathsig", "INT"]
