"""A cluster of real processes for a few tests, and the death of its workers.

The scheduler is in this process, where it can be watched; workers are processes of their own, with a nanny that starts
a new worker where one died, or without. They talk over the loopback, at ports that are free; there is no dashboard.
"""

import contextlib
import faulthandler
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, Final, NoReturn

import attrs
from distributed import Client, LocalCluster
from distributed.diagnostics.plugin import SchedulerPlugin

PATIENCE: Final = 60.0
"""Seconds that a process may take to come or go, on a machine that is busy with other tests."""

ROOT: Final = Path(__file__).parents[3]


class Watch(SchedulerPlugin):
    """Notes what tasks leave in the memory of workers. made: of each task that ended, its kind and bytes."""

    name = "exchequer-watch"

    def __init__(self) -> None:
        self.made: list[tuple[str, int]] = []

    def transition(self, key: object, start: str, finish: str, *args: object, **kwargs: Any) -> None:
        """As the scheduler calls it."""
        if start == "processing" and finish == "memory":
            self.made.append((str(key).partition("-")[0], int(kwargs.get("nbytes") or 0)))


@attrs.frozen
class Cluster:
    """A scheduler, and a client of it that Dask computes with. folder: for the files of workers."""

    local: Any
    client: Any
    folder: Path

    @contextlib.contextmanager
    def worker(self, *, nanny: bool = False) -> Iterator[str]:
        """One more worker while the block lasts; its address, or its first one where a nanny starts others."""
        known = set(self.addresses())
        command = [sys.executable, "-m", "distributed.cli.dask_worker", self.local.scheduler_address]
        options = ["--nthreads", "1", "--host", "127.0.0.1", "--no-dashboard", "--death-timeout", str(PATIENCE)]
        where = ["--local-directory", str(self.folder), "--nanny" if nanny else "--no-nanny"]
        with open(self.folder / "workers.log", "ab") as log:
            process = subprocess.Popen(
                [*command, *options, *where], cwd=ROOT, stdout=log, stderr=log, start_new_session=True
            )
        try:
            wait_until(lambda: bool(set(self.addresses()) - known), "a worker")
            yield min(set(self.addresses()) - known)
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE / 4.0)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # what it started, too: a nanny may be about to start another
            process.wait(PATIENCE)

    def addresses(self) -> list[str]:
        """Of the workers that the scheduler knows."""
        return [str(address) for address in list(self.local.scheduler.workers)]

    def pid(self, address: str) -> int:
        """Of a worker's process."""
        return int(self.client.run(os.getpid, workers=[address])[address])

    @contextlib.contextmanager
    def watched(self) -> Iterator[Watch]:
        """What tasks leave behind while the block lasts."""
        watch = Watch()
        self.local.scheduler.add_plugin(watch)
        try:
            yield watch
        finally:
            self.local.scheduler.remove_plugin(watch.name)


@contextlib.contextmanager
def killed_when(marked: Path, pid: int) -> Iterator[None]:
    """A process is killed as soon as this file is there, and the block must end after that."""

    def kill() -> None:
        while not marked.exists():
            if over.wait(0.02):
                return
        os.kill(pid, signal.SIGKILL)
        done.set()

    done, over = threading.Event(), threading.Event()
    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    try:
        yield
        assert done.is_set(), "all was done before the worker was killed"
    finally:
        over.set()
        thread.join()


def wait_until(there: Callable[[], bool], what: str) -> None:
    """Raises AssertionError where it takes longer than PATIENCE."""
    end = time.monotonic() + PATIENCE
    while not there():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.02)


@contextlib.contextmanager
def started(folder: Path, workers: int) -> Iterator[Cluster]:
    """A cluster of so many workers without nannies. folder: for their files."""
    with contextlib.ExitStack() as stack:
        with ended_after(2.0 * PATIENCE):
            quiet = {"silence_logs": logging.CRITICAL, "dashboard_address": "127.0.0.1:0"}
            local = stack.enter_context(LocalCluster(n_workers=0, host="127.0.0.1", **quiet))  # type: ignore[no-untyped-call]  # Dask's
            client = stack.enter_context(Client(local, set_as_default=False))  # type: ignore[no-untyped-call]  # Dask's
            found = Cluster(local, client, folder)
            for _ in range(workers):
                stack.enter_context(found.worker())
        yield found
        with ended_after(2.0 * PATIENCE):
            stack.close()


class Hung(BaseException):
    """A cluster did not answer. No Exception: code that goes on after errors must not go on after this one."""


@contextlib.contextmanager
def ended_after(seconds: float) -> Iterator[None]:
    """Hung where the block takes longer, as whoever waits for a cluster waits for ever. Main thread only."""

    def end(number: int, frame: FrameType | None) -> NoReturn:
        faulthandler.dump_traceback()
        raise Hung(f"the cluster did not answer within {seconds} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds, 5.0)  # again, should it come where exceptions are ignored
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
