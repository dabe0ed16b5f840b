"""A worker: a process of a peer's interpreter that is asked one thing at a time."""

import contextlib
import json
import os
import signal
import subprocess
import tempfile
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, Final, Self

from benchmarks.runner import ROOT

ONE_THREAD: Final = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "LOKY_MAX_CPU_COUNT"), "1"
)
"""Everybody gets one core."""

PATIENCE: Final = 30.0
"""Seconds that a worker gets to end."""


class Worker:
    """Started by the first question, or by `start`. A context manager, which ends it."""

    def __init__(self, module: ModuleType, python: Path, *arguments: str) -> None:
        """module: in `benchmarks.peer_workers`.  python: an interpreter that has what it imports.  arguments: its."""
        self._command = [str(python), "-m", module.__name__, *arguments]
        self._process: subprocess.Popen[str] | None = None
        self._said = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115  # closed at exit
        self._hello: dict[str, Any] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            try:
                self._process.wait(0.0 if kind else PATIENCE)
            except subprocess.TimeoutExpired:
                self.kill()
                self._process.wait()
            assert self._process.stdout is not None
            self._process.stdout.close()
        self._said.close()

    def start(self) -> None:
        """Let it begin to import; others may be started meanwhile."""
        if self._process is None:
            environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": str(ROOT)}
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self._said}
            self._process = subprocess.Popen(
                self._command, env=environment, cwd=ROOT, text=True, start_new_session=True, **pipes
            )  # type: ignore[call-overload]  # mypy does not match keywords from a dict

    def kill(self) -> None:
        """End it and what it started, at once; whoever waits for its answer gets a RuntimeError."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    @property
    def imports(self) -> float | None:
        """What its imports take in memory, in MiB; None where the system does not tell."""
        self._greeted()
        return self._hello["imports"]  # type: ignore[no-any-return]  # a number or null, as JSON has it

    def ask(self, **job: Any) -> dict[str, Any]:
        """Its answer. Raises RuntimeError with what it wrote where it fails."""
        self._greeted()
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(job) + "\n")
            self._process.stdin.flush()
        except OSError:
            raise RuntimeError(self._last_words()) from None
        answer = self._answer()
        if "error" in answer:
            raise RuntimeError(f"{self._command[-1]} failed at {job}:\n{answer['error']}")
        return answer

    def _greeted(self) -> None:
        self.start()
        if not self._hello:
            self._hello = self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(self._last_words())
        return dict(json.loads(line))

    def _last_words(self) -> str:
        self._said.seek(0)
        return f"{' '.join(self._command)} ended:\n{self._said.read()[-4000:]}"
