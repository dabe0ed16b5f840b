"""A real browser for tests: headless Chromium, one page at a time, no network.

Debian's package `chromium` has it. Without it a test says why it skips, and fails where it is required.
"""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

import attrs
import numpy as np
import numpy.typing as npt
from matplotlib.image import imread

from proofs_tests.support.programs.needs import require_or_skip

NAMES: Final = ("chromium", "chromium-browser", "google-chrome")

QUIET: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--enable-logging=stderr",
)
"""No window, no sandbox (tests may run as root), no errands of its own, no name that resolves; and our own
servers at 127.0.0.1."""

SECONDS: Final = 60.0
"""The longest that one look may take: a machine under load needs some, a hanging browser fails the test."""

_CONSOLE: Final = re.compile(r"CONSOLE[:(]\d+[)\]]+ (.*)")


@attrs.frozen
class Look:
    """What one run of the browser said. dom: the document after scripts ran, if asked for.  console: its messages."""

    dom: str
    console: tuple[str, ...]


@attrs.frozen
class Browser:
    """Chromium, with a profile of its own in `folder`. A page is a file, or the address of one on 127.0.0.1."""

    program: str
    folder: Path

    def dom(self, page: Path | str, *, width: int = 1200, height: int = 900, wait: int = 0) -> Look:
        """The document as the browser understood it. wait: for scripts, in milliseconds of the page's own clock."""
        waiting = [f"--virtual-time-budget={wait}"] if wait else []
        return self._run(page, "--dump-dom", f"--window-size={width},{height}", *waiting)

    def screenshot(self, page: Path | str, picture: Path, *, width: int, height: int) -> Look:
        """A picture of the top of the page, as a PNG."""
        return self._run(page, f"--screenshot={picture}", f"--window-size={width},{height}")

    def print(self, page: Path | str, paper: Path) -> Look:
        """The page as a PDF, by its own print style."""
        return self._run(page, f"--print-to-pdf={paper}", "--no-pdf-header-footer")

    def _run(self, page: Path | str, *wishes: str) -> Look:
        profile = f"--user-data-dir={self.folder / 'profile'}"
        address = page if isinstance(page, str) else page.resolve().as_uri()
        command = [self.program, *QUIET, profile, *wishes, address]
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        assert done.returncode == 0, f"the browser failed with {done.returncode}: {done.stderr[-2000:]}"
        return Look(done.stdout, tuple(_CONSOLE.findall(done.stderr)))


def browser(folder: Path) -> Browser:
    """The browser of this machine; skips or fails the test where there is none."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        require_or_skip("chromium", f"no browser: none of {', '.join(NAMES)} is installed (Debian: chromium)")
    return Browser(found, folder)


def pixels(picture: Path) -> npt.NDArray[np.uint8]:
    """The colours of a PNG, red, green and blue; shape (height, width, 3)."""
    assert picture.read_bytes().startswith(b"\x89PNG\r\n\x1a\n"), "not a PNG"
    return np.asarray(255.0 * np.asarray(imread(picture))[..., :3] + 0.5, dtype=np.uint8)


def colours(picture: Path) -> int:
    """How many different colours a PNG has: one for a blank page."""
    packed = pixels(picture).astype(np.uint32) @ np.array([65536, 256, 1], dtype=np.uint32)
    return int(np.unique(packed).size)


def pages(paper: Path) -> int:
    """How many pages a PDF has."""
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", paper.read_bytes()))
