"""`exchequer ledger serve`: what it refuses to start with, and a server that is started, asked and ended."""

import errno
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from contextlib import closing, suppress
from pathlib import Path

import pytest
from click.testing import CliRunner
from flask import Flask

from exchequer.cli import main
from exchequer.live import Access, Listening, new_token, read_token
from exchequer.live.access import ENVIRONMENT
from proofs_tests.support.ledgers.durable import opened, spend
from proofs_tests.support.programs.served import wait


@pytest.fixture
def study(tmp_path: Path) -> str:
    path = tmp_path / "study.db"
    with opened(f"sqlite:///{path}") as ledger:
        spend(ledger, 3)
    return str(path)


def refused(*arguments: str, **environment: str) -> str:
    """What the command says; it starts nothing."""
    result = CliRunner().invoke(main, ["ledger", "serve", *arguments], env=environment)
    assert result.exit_code == 2
    return result.output


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--host", "0.0.0.0"), "it needs a token"),
        (("--host", "::"), "it needs a token"),
        (("--host", "192.0.2.1"), "it needs a token"),
        (("--allow-host", "desk.example.org"), "it needs a token"),
        (("--host", "evil.example"), "--host: expected an IP address"),
        (("--allow-host", "http://desk"), "--allow-host: expected a name"),
        (("--allow-host", "desk:80"), "without a port"),
        (("--allow-host", "*"), "--allow-host: expected a name"),
        (("--port", "70000"), "--port"),
        (("--token", "abc"), "No such option"),
    ],
)
def test_an_unsafe_server_is_not_started(study: str, options: tuple[str, ...], reason: str) -> None:
    assert reason in refused(study, *options)


def test_what_is_no_ledger_is_not_served(study: str, tmp_path: Path) -> None:
    assert "does not exist" in refused(str(tmp_path / "none.db"))
    export = tmp_path / "study.jsonl"
    assert CliRunner().invoke(main, ["ledger", "export", study, "--out", str(export)]).exit_code == 0
    assert "an export never changes" in refused(str(export))
    hidden = refused("postgresql://ada:hunter2zzz@127.0.0.1:1/none")
    assert "hunter2zzz" not in hidden
    assert "could not open the ledger" in hidden


@pytest.mark.parametrize("package", ["flask", "waitress"])
def test_a_package_that_is_missing_is_said_with_its_remedy(study: str, package: str) -> None:
    program = f"import sys; sys.modules[{package!r}] = None; from exchequer.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", program, "ledger", "serve", study], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'exchequer[serve]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_that_is_taken_is_said(study: str) -> None:
    with closing(Listening(Flask("nothing"), "127.0.0.1", 0)) as other:
        port = other.url.rstrip("/").rpartition(":")[2]
        assert "Address already in use" in refused(study, "--port", port)


@pytest.mark.parametrize(
    "weak", ["", "short", "a" * 40, "with spaces in it and so on", "ünïcödé" * 6, "0123456789" * 60]
)
def test_a_weak_token_is_refused(tmp_path: Path, weak: str) -> None:
    path = tmp_path / "token"
    path.write_text(weak, encoding="utf-8")
    path.chmod(0o600)
    with pytest.raises(ValueError, match="--token-file: expected at least 128 random bits"):
        read_token(path)
    with pytest.raises(ValueError, match=f"{ENVIRONMENT}: expected at least 128 random bits"):
        read_token(None, {ENVIRONMENT: weak})


def test_a_token_comes_from_a_file_of_ones_own_or_the_environment(tmp_path: Path) -> None:
    path, token = tmp_path / "token", new_token()
    path.write_text(token + "\n", encoding="utf-8")
    path.chmod(0o644)
    with pytest.raises(ValueError, match="everybody on this machine may read"):
        read_token(path)
    path.chmod(0o600)
    assert read_token(path) == token == read_token(None, {ENVIRONMENT: f"{token}\n"})
    assert read_token(None, {}) is None
    access = Access((), token)
    assert token not in repr(access)
    assert access.knows(token)
    assert not access.knows(token[:-1])
    assert not Access().knows("")


def _answers(asked: urllib.request.Request, wanted: bytes) -> bool:
    try:
        with urllib.request.urlopen(asked) as answer:
            return wanted in answer.read()
    except urllib.error.HTTPError as error:  # it is reading
        error.close()
        return False


def test_it_serves_until_it_is_told_to_end(study: str, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(secret := new_token(), encoding="utf-8")
    token.chmod(0o600)
    command = [sys.executable, "-m", "exchequer", "ledger", "serve", study, "--port", "0", "--token-file", str(token)]
    server = subprocess.Popen(
        [*command, "--host", "0.0.0.0", "--allow-host", "desk.example.org"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        assert server.stdout is not None
        found = re.search(r":(\d+)/", server.stdout.readline())
        assert found is not None
        asked = urllib.request.Request(
            f"http://127.0.0.1:{found[1]}/spent",
            headers={"Authorization": f"Bearer {secret}", "Host": "desk.example.org"},
        )
        with pytest.raises(urllib.error.HTTPError, match="401") as unknown:
            urllib.request.urlopen(f"http://127.0.0.1:{found[1]}/")
        unknown.value.close()
        wait(lambda: _answers(asked, b"3 of 3 charges"))
        server.send_signal(signal.SIGTERM)
        server.wait(30)
        said = server.stdout.read()
    finally:
        server.kill()
        server.wait()
        if server.stdout is not None:
            server.stdout.close()
    assert server.returncode == 0, said
    assert "There is no TLS here" in said
    assert secret not in said
    assert "Traceback" not in said


class Started:
    """A server in a thread of its own, and what its run raised."""

    def __init__(self, app: Flask) -> None:
        self.server, self.raised = Listening(app, "127.0.0.1", 0), list[BaseException]()
        self.thread = threading.Thread(target=self._run)
        self.thread.start()
        wait(lambda: self.asked("none") == 404)

    def _run(self) -> None:
        try:
            self.server.run()
        except OSError as error:
            self.raised.append(error)

    def asked(self, path: str) -> int:
        try:
            with urllib.request.urlopen(self.server.url + path, timeout=30.0) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            error.close()
            return error.code

    def ended(self) -> bool:
        """Whether it does, and gives its port back."""
        self.server.close()
        self.thread.join(30.0)
        return not self.thread.is_alive() and free(self.server)


def free(server: Listening) -> bool:
    port = int(server.url.rstrip("/").rpartition(":")[2])
    with socket.socket() as other:
        return other.connect_ex(("127.0.0.1", port)) != 0


def test_a_server_goes_on_without_its_pipe_and_writes_to_no_file_that_has_its_number(tmp_path: Path) -> None:
    """Other code of the process closed the descriptor that wakes its loop."""
    found, wake = Started(Flask("nothing")), None
    wake = found.server._server.trigger.trigger
    os.close(wake)
    wait(lambda: found.server._server.trigger not in found.server._map.values())
    path, spare = tmp_path / "file", list[int]()
    while (file := os.open(path, os.O_RDWR | os.O_CREAT)) < wake:
        spare.append(file)
    assert [found.asked("none") for _ in range(5)] == [404] * 5
    assert found.ended()
    for each in (*spare, file):
        os.close(each)
    assert path.read_bytes() == b""
    assert not found.raised


def test_a_server_ends_though_somebody_closed_its_pipe_while_it_waits() -> None:
    """Its loop may see it first: then `run` says so, and all is closed."""
    for _ in range(5):
        found = Started(Flask("nothing"))
        found.server._server.trigger.close()
        assert found.ended()
        assert [error.errno for error in found.raised if isinstance(error, OSError)] in ([], [errno.EBADF])


def test_the_pipe_stays_open_while_somebody_is_answered() -> None:
    app, waiting, told = Flask("nothing"), threading.Event(), threading.Event()

    @app.get("/slow")
    def slow() -> str:
        waiting.set()
        told.wait(30.0)
        return "there"

    found = Started(app)

    def ask() -> None:
        with suppress(OSError):  # the connection is closed
            found.asked("slow")

    asking = threading.Thread(target=ask)
    asking.start()
    assert waiting.wait(30.0)
    found.server.close()
    wait(lambda: not found.server._map)
    assert os.fstat(found.server._server.trigger.trigger)
    found.server.close()
    told.set()
    assert found.ended()
    asking.join(30.0)
    assert not found.raised


def test_a_server_that_never_ran_gives_its_port_back_though_somebody_closed_its_pipe() -> None:
    server = Listening(Flask("nothing"), "127.0.0.1", 0)
    os.close(server._server.trigger.trigger)
    server.close()
    assert free(server)
