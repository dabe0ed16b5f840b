"""What all workers share: questions and answers as lines of JSON, memory, and fits that are timed alike.

Standard library and numpy only, as it runs in every peer's environment.
"""

import contextlib
import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

Job: TypeAlias = Mapping[str, Any]
"""A question. The key "do" says which."""

Answer: TypeAlias = dict[str, Any]
Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]
"""A part of a data set, with the keys that `benchmarks.peers.peer_data` writes."""

Floats: TypeAlias = npt.NDArray[np.float64]
F = TypeVar("F")


def serve(handlers: Mapping[str, Callable[[Job], Answer]], imports: Callable[[], object]) -> None:
    """Say what memory the imports take, then answer until the questions end.

    handlers: by "do".  imports: loads the package. A handler that raises is answered with {"error": its traceback}.
    """
    # What a package prints must not come between the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    imports()
    _write(answers, {"imports": resident()})
    for line in sys.stdin:
        job = json.loads(line)
        try:
            answer = handlers[job["do"]](job)
        except Exception:
            answer = {"error": traceback.format_exc()}
        _write(answers, answer)


def _write(answers: Any, answer: Answer) -> None:
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


def serve_fits(
    load: Callable[[Arrays], F], fit: Callable[[F, Job], Callable[[F], Floats]], imports: Callable[[], object]
) -> None:
    """Answer {"do": "fit", "train": path, "test": path, "scores": path, "epsilon", "delta", "seed", …} by its times.

    load: from a part's file to what the system is fed; not timed, and done once a file.  fit: learns from it, with the
    settings of the job, and gives a function from a part to scores, shape (n,), above 0 where the second class is
    predicted. A seed of None asks for the noise that users get.
    The scores of the test part are saved. Seconds; memory in MiB: resident before the fit, and the most during it.
    """
    loaded: dict[str, F] = {}

    def part(path: str) -> F:
        if path not in loaded:
            with np.load(path) as arrays:
                loaded[path] = load(arrays)
        return loaded[path]

    def answer(job: Job) -> Answer:
        train = part(job["train"])
        before = forget_peak()
        start = time.perf_counter()
        score = fit(train, job)
        fitted = time.perf_counter() - start
        most = peak()
        test = part(job["test"])
        start = time.perf_counter()
        scores = score(test)
        predicted = time.perf_counter() - start
        np.save(job["scores"], np.asarray(scores, dtype=np.float64))
        return {"fit": fitted, "predict": predicted, "loaded": before, "peak": most}

    serve({"fit": answer}, imports)


# --- memory -------------------------------------------------------------------------------------------------------


def resident() -> float | None:
    """What this process has in memory now, in MiB; None where the system does not tell."""
    return _status("VmRSS")


def peak() -> float | None:
    """The most that it had since `forget_peak`, or since it began where that cannot be forgotten; in MiB."""
    return _status("VmHWM")


def forget_peak() -> float | None:
    """Let `peak` start again from what is in memory now, which is given back."""
    # Where that is not allowed imports may count as part of the peak: told too high, never too low.
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return resident()


def _status(name: str) -> float | None:
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) / 1024.0 for line in lines if line.startswith(f"{name}:")), None)


# --- calls ----------------------------------------------------------------------------------------------------------


def seconds_each(call: Callable[[], object], times: int) -> float:
    """Seconds per call, of so many one after the other."""
    start = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - start) / times


def timed(call: Callable[[], float]) -> Answer:
    """A price: the seconds that it takes, and the ε that it is."""
    start = time.perf_counter()
    epsilon = call()
    return {"seconds": time.perf_counter() - start, "epsilon": float(epsilon)}
