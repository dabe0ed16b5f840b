"""`exchequer ledger report --out r.pdf`: printed by a real browser; and what is said where there is none."""

import os
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from exchequer.console.csv_cells import cell
from exchequer.console.pdf_printing import print_pdf
from proofs_tests.support.ledgers.ledger_runs import CAVEATS, refused, said
from proofs_tests.support.ledgers.ledger_runs import folder as folder
from proofs_tests.support.ledgers.ledger_runs import study as study
from proofs_tests.support.programs.browser import browser, pages


def program(place: Path, text: str) -> str:
    """A program of a shell script."""
    place.write_text(f"#!/bin/sh\n{text}\n")
    place.chmod(place.stat().st_mode | stat.S_IXUSR)
    return str(place)


@pytest.mark.browser
def test_a_report_is_printed_as_pdf(study: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXCHEQUER_BROWSER", browser(folder).program)
    before = set(folder.iterdir())
    assert "The report is in r.pdf" in said("report", "study.db", "--out", "r.pdf", code=CAVEATS)
    assert (folder / "r.pdf").read_bytes().startswith(b"%PDF-")
    assert pages(folder / "r.pdf") > 0
    assert set(folder.iterdir()) - before == {folder / "r.pdf"}
    if (reader := shutil.which("pdftotext")) is not None:
        printed = subprocess.run([reader, "r.pdf", "-"], capture_output=True, text=True, check=True).stdout
        assert study[:16] in "".join(printed.split())
        assert "Privacy report on" in " ".join(printed.split())
    assert "exists already" in refused("report", "study.db", "--out", "r.pdf")
    said("report", "study.db", "--out", "r.pdf", "--force", code=CAVEATS)


@pytest.mark.browser
def test_a_page_that_is_printed_reaches_no_network(folder: Path) -> None:
    """A server that listens on this machine is not asked for the picture that a page wants."""
    asked = subprocess.Popen(
        [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert asked.stdout is not None
        port = asked.stdout.readline().split(" port ")[1].split()[0]
        page = f'<p>words<img src="http://127.0.0.1:{port}/x.png"><script src="http://localhost:{port}/y.js"></script>'
        print_pdf(browser(folder).program, page, folder / "r.pdf")
    finally:
        asked.terminate()
        rest, _ = asked.communicate()
    assert "GET" not in rest
    assert pages(folder / "r.pdf") == 1


def test_html_is_written_by_its_ending_and_others_are_refused(study: str, folder: Path) -> None:
    for name in ("r.html", "r.HTM"):
        said("report", "study.db", "--out", name, code=CAVEATS)
        assert (folder / name).read_text(encoding="utf-8").lower().startswith("<!doctype html")
    for name in ("r.txt", "report", "r.pdf.gz"):
        assert "a report is written as .html or .pdf" in refused("report", "study.db", "--out", name)
        assert not (folder / name).exists()
    assert "--browser prints PDF" in refused("report", "study.db", "--out", "q.html", "--browser", "sh")


def test_without_a_browser_the_remedy_is_named_before_the_ledger_is_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EXCHEQUER_BROWSER", raising=False)
    monkeypatch.setenv("PATH", str(folder))
    message = refused("report", "no-such.db", "--out", "r.pdf")
    assert "none of chromium" in message
    assert "apt-get install chromium" in message
    assert "no-such.db" not in message
    assert "there is no program 'nobody'" in refused("report", "no.db", "--out", "r.pdf", "--browser", "nobody")
    monkeypatch.setenv("EXCHEQUER_BROWSER", "nowhere")
    assert "EXCHEQUER_BROWSER: there is no program 'nowhere'" in refused("report", "no.db", "--out", "r.pdf")


@pytest.mark.skipif(os.name != "posix", reason="the programs are shell scripts")
def test_a_browser_that_fails_or_hangs_leaves_nothing(folder: Path) -> None:
    failing = program(folder / "failing", "echo no display >&2; exit 1")
    with pytest.raises(ValueError, match="printed no PDF: no display; install Chromium"):
        print_pdf(failing, "<p>", folder / "r.pdf")
    broken = program(
        folder / "broken", 'for each in "$@"; do case $each in --print-to-pdf=*) echo half > "${each#*=}";; esac; done'
    )
    with pytest.raises(ValueError, match="printed no PDF"):
        print_pdf(broken, "<p>", folder / "r.pdf")
    hanging = program(folder / "hanging", "sleep 60 & sleep 60")
    begun = time.monotonic()
    with pytest.raises(ValueError, match=r"within 0\.3 seconds"):
        print_pdf(hanging, "<p>", folder / "r.pdf", seconds=0.3)
    assert time.monotonic() - begun < 50
    assert not (folder / "r.pdf").exists()


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("=1+1", "'=1+1"),
        ("  @x", "  '@x"),
        ("a;=1", "a;'=1"),
        ("＝1", "'＝1"),
        ("\t=1", "\\t=1"),
        ("a=1, b-2", "a=1, b-2"),
    ],
)
def test_no_cell_is_a_formula(text: str, safe: str) -> None:
    assert cell(text) == safe
