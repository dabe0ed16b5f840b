"""One mutant after another against the tests of its module, each in a fork of a process that is warm already.

The mutant is never written to disk: the fork finds it where the module is asked for. It ends with the first test that
fails, and counts as killed, too, where it takes too much time or memory.
"""

import gc
import importlib
import io
import os
import resource
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from importlib.abc import MetaPathFinder, SourceLoader
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from types import ModuleType
from typing import Final, Literal

import pytest

from proofs_tests.mutation.paths import ROOT, path_of

Verdict = Literal["killed", "timeout", "survived"]

WARM: Final = (
    "attrs", "numpy", "scipy.fft", "scipy.linalg", "scipy.optimize", "scipy.signal", "scipy.special", "scipy.stats",
    "mpmath", "sqlalchemy", "opendp.prelude", "hypothesis", "rich.console", "click", "jinja2", "sklearn.base",
    "dp_accounting.pld.privacy_loss_distribution", "dp_accounting.rdp",
)  # fmt: skip
"""What tests import that is not ours, once for all mutants."""

MEMORY: Final = 6 * 2**30

PYTEST: Final = (
    "-x", "-q", "--no-header", f"--confcutdir={ROOT}/proofs_tests/prices", "-o", "addopts=", "--import-mode=importlib",
    "-W", "ignore::pytest.PytestAssertRewriteWarning", *(f"-pno:{name}" for name in (
        "cacheprovider", "unraisableexception", "threadexception", "faulthandler", "xdist", "xdist.looponfail",
        "doctest", "junitxml", "pastebin", "nose", "stepwise", "_hypothesis_pytestplugin", "hypothesispytest",
    )),
)  # fmt: skip


class _Loader(SourceLoader):
    def __init__(self, path: str, source: str) -> None:
        self._path, self._source = path, source

    def get_filename(self, fullname: str) -> str:
        return self._path

    def get_data(self, path: str | bytes) -> bytes:
        return self._source.encode()


class _Finder(MetaPathFinder):
    """Has the mutant where its module is looked for."""

    def __init__(self, module: str, source: str) -> None:
        self._module, self._source = module, source

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._module:
            return None
        file = str(path_of(fullname))
        return spec_from_file_location(fullname, file, loader=_Loader(file, self._source))


def warm_up() -> None:
    """Import what is not ours, so that forks have it; nothing of ours may be imported yet."""
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    for name in WARM:
        importlib.import_module(name)
    gc.disable()
    gc.freeze()  # no fork looks for garbage in what is there already


def trial(
    module: str, source: str, tests: Sequence[str], seconds: float, say: Callable[[str], object] | None = None
) -> Verdict:
    """What comes of the tests when the module's source is this one.

    seconds: of processor time; ten times as much may pass.  say: gets pytest's words where a test failed.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _run(module, source, tests, seconds, writing, words_wanted=say is not None)
    os.close(writing)
    with os.fdopen(reading, errors="replace") as output:
        words = output.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return "timeout" if os.WTERMSIG(status) in (signal.SIGPROF, signal.SIGALRM) else "killed"
    if say is not None and os.WEXITSTATUS(status):
        say(words)
    return "killed" if os.WEXITSTATUS(status) else "survived"


def _run(module: str, source: str, tests: Sequence[str], seconds: float, writing: int, *, words_wanted: bool) -> None:
    """In the fork: never returns."""
    code, words = 1, io.StringIO()
    try:
        for what in (signal.SIGPROF, signal.SIGALRM):
            signal.signal(what, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, 10.0 * seconds)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        gc.enable()
        sys.dont_write_bytecode = True
        sys.meta_path.insert(0, _Finder(module, source))
        with redirect_stdout(words), redirect_stderr(words):
            code = int(pytest.main([*PYTEST, f"--tb={'short' if words_wanted else 'no'}", f"--rootdir={ROOT}", *tests]))
    except BaseException as error:
        words.write(repr(error))
    finally:
        if code:
            os.write(writing, words.getvalue().encode()[-4000:])
        os._exit(code)
