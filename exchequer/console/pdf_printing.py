"""Reports as files: HTML as it is, and PDF printed by a browser that is installed, without network or profile."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from accountant.entries import visible_lines, whole_binary_file, whole_file

BROWSER: Final = "EXCHEQUER_BROWSER"
"""The environment variable that names the browser."""

NAMES: Final = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
    "microsoft-edge",
    "microsoft-edge-stable",
)
"""Programs that print PDF, in the order in which they are looked for."""

SECONDS: Final = 120.0
"""The longest that printing may take; a report takes some seconds."""

MOST: Final = 1 << 30
"""Bytes of a PDF that is taken."""

_QUIET: Final = (
    "--headless",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    "--no-default-browser-check",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--no-pdf-header-footer",
)
"""No window, no requests of its own, and no network: no name resolves, and the proxy is a port where nobody listens."""

_REMEDY: Final = (
    "install Chromium (Debian: apt-get install chromium), or name a Chromium, Chrome or Edge with --browser or "
    f"{BROWSER}, or give --out a name that ends in .html, and print that from any browser"
)


def report_writer(out: Path, browser: str | None) -> Callable[[str], None]:
    """What writes a report, given as HTML, to `out`; as PDF where its name ends in .pdf.

    browser: the program that prints, None to look for one. Raises ValueError, before there is any report, for another
    ending, and where there is no browser to print with.
    """
    ending = out.suffix.lower()
    if ending == ".pdf":
        program = find_browser(browser)
        return lambda html: print_pdf(program, html, out)
    if ending not in (".html", ".htm"):
        raise ValueError(f"--out: a report is written as .html or .pdf, got {out.name!r}")
    if browser is not None:
        raise ValueError("--browser prints PDF: give --out a name that ends in .pdf, or leave it out")
    return lambda html: _write_html(html, out)


def _write_html(html: str, out: Path) -> None:
    with whole_file(out) as file:
        file.write(html)


def find_browser(given: str | None = None) -> str:
    """The path of the browser: of the one that is given, or that the environment names, or of one that is installed.

    Raises ValueError naming the remedy.
    """
    named, wanted = ("--browser", given) if given else (BROWSER, os.environ.get(BROWSER, ""))
    if wanted:
        if (found := shutil.which(wanted)) is None:
            raise ValueError(f"{named}: there is no program {wanted!r}; {_REMEDY}")
        return found
    program = next((path for name in NAMES if (path := shutil.which(name))), None)
    if program is None:
        raise ValueError(f"--out: a PDF is printed by a browser, and none of {', '.join(NAMES)} is here; {_REMEDY}")
    return program


def print_pdf(program: str, html: str, out: Path, *, seconds: float = SECONDS) -> None:
    """Print a page to `out`, which is there whole or not at all. seconds: the longest that it may take.

    Raises ValueError where the browser fails, or takes longer.
    """
    with tempfile.TemporaryDirectory(prefix="exchequer-pdf-", ignore_cleanup_errors=True) as folder:
        page, paper = Path(folder) / "report.html", Path(folder) / "report.pdf"
        page.write_text(html, encoding="utf-8")
        said = _run(program, page, paper, Path(folder), seconds)
        if not _is_pdf(paper):
            raise ValueError(f"{program} printed no PDF: {_newest_line(said)}; {_REMEDY}")
        with paper.open("rb") as source, whole_binary_file(out) as target:
            shutil.copyfileobj(source, target)


def _run(program: str, page: Path, paper: Path, folder: Path, seconds: float) -> str:
    """What the browser said. Its home and its profile are in the folder, and go with it."""
    home = folder / "home"
    home.mkdir()
    root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []  # it refuses to start otherwise
    wishes = [f"--user-data-dir={folder / 'profile'}", f"--print-to-pdf={paper}", page.as_uri()]
    places = {name: str(home) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
    try:
        process = subprocess.Popen(
            [program, *_QUIET, *root, *wishes],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, **places},
            start_new_session=True,
        )
    except OSError as error:
        raise ValueError(f"{program} cannot be started: {error.strerror}; {_REMEDY}") from error
    try:
        _, said = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        raise ValueError(f"{program} did not finish printing within {seconds:g} seconds; {_REMEDY}") from None
    finally:
        _end(process)
    return said.decode("utf-8", "replace")


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End the browser, and what it started in the session that it was given."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    elif process.poll() is None:
        process.kill()
    process.wait()
    if process.stderr is not None:
        process.stderr.close()


def _is_pdf(paper: Path) -> bool:
    if not paper.is_file() or not 0 < paper.stat().st_size <= MOST:
        return False
    with paper.open("rb") as file:
        beginning = file.read(5)
        file.seek(max(0, paper.stat().st_size - 1024))
        return beginning == b"%PDF-" and b"%%EOF" in file.read()


def _newest_line(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return visible_lines(lines[-1])[:200] if lines else "it said nothing"
