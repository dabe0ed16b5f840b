"""The report as a browser shows it: on a screen, on a phone, on paper."""

import json
import os
import re
from html import escape, unescape
from pathlib import Path
from typing import Final

import attrs
import numpy as np
import pytest

from accountant import ApproxDP, BasicComposition, Ledger, Plan, PureDP, ReplaceOne, ZCDPComposition
from accountant.audit.report import Evidence, Witness, report, report_of
from accountant.audit.verification import verify
from accountant.costs.spendable import SECURE
from accountant.entries import About
from exchequer.datasets import breast_cancer
from learners import LazyBoostClassifier, PrivateBoostClassifier
from proofs_tests.support.ledgers.reports import (
    KNOWN,
    MADE,
    Secure,
    html,
    notices,
    rewritten,
    sentence,
)
from proofs_tests.support.programs.browser import Browser, browser, colours, pages, pixels
from proofs_tests.support.programs.markup import parsed

pytestmark = pytest.mark.browser

SIZES: Final = [(1200, 1600), (400, 800)]

MEASURE: Final = """
<script>
"use strict";
const channels = text => text.match(/[\\d.]+/g).map(Number);
const linear = part => part <= 10 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4;
const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
function behind(element) {
  for (let each = element; each; each = each.parentElement) {
    const colour = channels(getComputedStyle(each).backgroundColor);
    if (colour.length < 4 || colour[3] === 1) return colour;
  }
  return [255, 255, 255];
}
const needed = document.documentElement.scrollWidth;
const found = {width: innerWidth, needed, outside: [], contrast: 21, faintest: "", texts: 0};
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const range = document.createRange();
while (walker.nextNode()) {
  const text = walker.currentNode, element = text.parentElement, style = getComputedStyle(element);
  range.selectNodeContents(text);
  const box = range.getBoundingClientRect();
  if (!text.data.trim() || !box.width || element.closest("script, svg title, desc")) continue;
  found.texts += 1;
  const drawn = element instanceof SVGElement ? style.fill : style.color;
  const [dim, bright] = [light(channels(drawn)), light(behind(element))].sort((one, other) => one - other);
  const contrast = (bright + 0.05) / (dim + 0.05);
  if (contrast < found.contrast) [found.contrast, found.faintest] = [contrast, text.data];
  const hidden = getComputedStyle(element.closest("thead") ?? element).position === "absolute";
  if (box.right > innerWidth + 0.5 && !hidden) found.outside.push(text.data);
}
const note = parent.document.createElement("pre");
note.textContent = JSON.stringify(found);
parent.document.body.append(note);
</script>
"""
"""Measures a page: whether anything is wider than its window, and the weakest contrast of any text, as WCAG has it."""


@attrs.frozen
class Measured:
    """What `MEASURE` found.

    width: of the window.  needed: of the page.  outside: texts that stick out.  contrast: of the `faintest` text.
    """

    width: int
    needed: int
    outside: list[str]
    contrast: float
    faintest: str
    texts: int


@attrs.frozen
class Shown:
    """A report in a file, and a browser to look at it."""

    file: Path
    made: str
    browser: Browser


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Browser:
    """The browser, with a profile of its own."""
    return browser(tmp_path_factory.mktemp("chromium"))


@pytest.fixture(scope="module")
def shown(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Shown:
    """A real study: two teams with budgets of their own, learners with secure noise, over ten weeks."""
    data = breast_cancer()
    ledger = Ledger(ApproxDP(3.0, 1e-5), composition=ZCDPComposition(), adjacency=ReplaceOne())
    cardiology, oncology = ledger.allocate("cardiology", 0.5), ledger.allocate("oncology", 0.3)
    PrivateBoostClassifier(
        0.8, 1e-6, adjacency="replace-one", rounds_per_column=10, schema=data.schema, ledger=cardiology
    ).fit(data.train, data.y_train)
    registry = cardiology.allocate("registry", 0.3)
    for epsilon in (0.4, 0.3, 0.2):
        LazyBoostClassifier(epsilon, 1e-6, rounds=10, density=0.5, schema=data.schema, ledger=registry).fit(
            data.train, data.y_train
        )
    LazyBoostClassifier(0.7, 1e-6, rounds=10, density=0.5, schema=data.schema, ledger=oncology).fit(
        data.train, data.y_train
    )
    entries = rewritten(ledger.entries, {}, 5 * 86400 * 10**9)
    made = report(
        entries,
        verification=verify(entries, claims=KNOWN),
        claims=KNOWN,
        second_opinion=None,
        title="Breast cancer registry, models of 2026",
        made=MADE,
    )
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(made, encoding="utf-8")
    return Shown(file, made, chromium)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Where pictures go: EXCHEQUER_ARTIFACTS, which CI keeps, or a folder of this test."""
    folder = Path(os.environ.get("EXCHEQUER_ARTIFACTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def test_the_browser_reads_what_was_written(shown: Shown) -> None:
    look = shown.browser.dom(shown.file)
    assert look.console == ()
    there, here = parsed(look.dom), parsed(shown.made)
    assert sentence(there) == sentence(here)
    assert sentence(there).startswith("Everything released so far is together (")
    assert notices(there)[0].startswith("✔ The ledger is sound")
    assert [each.text for each in there.find("h2")] == [each.text for each in here.find("h2")]
    assert [each.text for each in there.find("td")] == [each.text for each in here.find("td")]


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_picture_is_that_of_a_report(shown: Shown, kept: Path, width: int, height: int) -> None:
    picture = kept / f"report-{width}.png"
    look = shown.browser.screenshot(shown.file, picture, width=width, height=height)
    assert look.console == ()
    seen = pixels(picture)
    assert seen.shape == (height, width, 3)
    assert colours(picture) > 100
    paper = np.all(seen == 255, axis=2).mean()
    assert 0.3 < paper < 0.95  # mostly white, and by no means blank
    green = (seen[..., 1].astype(int) - seen[..., 0] > 40) & (seen[..., 1] < 128)
    assert green[: height // 2].sum() > 200  # the mark of sound books, in the upper half


def measured(shown: Shown, made: str, folder: Path, width: int) -> Measured:
    """What `MEASURE` says of a page in a frame of this width, without the policy that would not let it run."""
    free = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", made)
    assert free != made
    inner = escape(free.replace("</body>", MEASURE + "</body>"))
    frame = f'<iframe style="width: {width}px; height: 900px; border: 0" srcdoc="{inner}"></iframe>'
    file = folder / "measured.html"
    file.write_text(f'<!DOCTYPE html><meta charset="utf-8"><title>frame</title>{frame}', encoding="utf-8")
    look = shown.browser.dom(file, width=1400)
    assert look.console == ()
    (said,) = re.findall("<pre>(.*?)</pre>", look.dom, re.DOTALL)
    return Measured(**json.loads(unescape(said)))


@pytest.mark.parametrize("width", [1200, 400, 375, 320])
def test_text_fits_the_window_and_stands_out(shown: Shown, tmp_path: Path, width: int) -> None:
    found = measured(shown, shown.made, tmp_path, width)
    assert found.width == found.needed == width
    assert found.outside == []
    assert found.texts > 300
    assert found.contrast >= 4.5, found.faintest


def test_bad_news_and_long_names_fit_a_phone_too(shown: Shown, tmp_path: Path) -> None:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    data = ledger.protect(True)
    ledger.release(Secure(0.1, query="q" * 150, claims=("c" * 150,)), data, account="a" * 150)
    entries = list(ledger.entries)
    entries[2] = attrs.evolve(entries[2], digest="0" * 64)
    made = html(rewritten(ledger.entries, {SECURE: "n" * 150}), verify(entries), "t" * 150)
    found = measured(shown, made, tmp_path, 320)
    assert found.outside == []
    assert found.needed == found.width == 320
    assert found.contrast >= 4.5, found.faintest


def test_it_prints_on_a_few_pages_of_a4(shown: Shown, kept: Path) -> None:
    paper = kept / "report.pdf"
    look = shown.browser.print(shown.file, paper)
    assert look.console == ()
    assert 5 <= pages(paper) <= 14
    boxes = set(re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", paper.read_bytes()))
    assert [[round(float(side)) for side in box] for box in boxes] == [[595, 842]]


def first_page(made: str) -> str:
    """The report without anything after its summary."""
    before, opening, rest = made.partition('<section class="summary"')
    inside, closing, _ = rest.partition("</section>")
    assert opening
    assert closing
    return f"{before}{opening}{inside}{closing}</main></body></html>"


def worst_ledger() -> str:
    """Long names, more sub-budgets than are shown, and something wrong or open of every sort."""
    ledger = Ledger(ApproxDP(1.0, 1e-5), composition=ZCDPComposition(), adjacency=ReplaceOne())
    for number in range(8):
        below = ledger.allocate(f"{number}" + "w" * 150, 0.1)
        below.concerning(About(dataset="W" * 190 + str(number))).release(Secure(0.01), below.protect(True))
        below.reserve(Plan.of(PureDP(0.01), 2), adjacency=ReplaceOne())
    entries = rewritten(ledger.entries, {SECURE: "n" * 150})
    witness = Witness(False, "A witness that was asked has seen another head of this ledger. " * 3)
    evidence = Evidence()
    checked = verify(entries, evidence)
    return report_of(
        evidence,
        verification=checked,
        claims=None,
        second_opinion=None,
        title="t" * 100,
        made=MADE,
        witness=witness,
        window="From 2026-01-01 to 2026-03-01",
    )


def test_the_first_page_holds_number_sentence_picture_and_lights(shown: Shown, kept: Path, tmp_path: Path) -> None:
    for name, made in (("usual", shown.made), ("worst", worst_ledger())):
        file, paper = tmp_path / f"{name}.html", kept / f"first-page-{name}.pdf"
        file.write_text(first_page(made), encoding="utf-8")
        for part in ('<p class="number', 'class="sentence"', '<figure class="budgets"', '<ul class="lights"'):
            assert part in first_page(made)
        shown.browser.print(file, paper)
        assert pages(paper) == 1, name


def test_the_details_begin_on_the_second_page(shown: Shown, tmp_path: Path) -> None:
    """A report with the summary and one line after it prints on two pages."""
    file, paper = tmp_path / "two.html", tmp_path / "two.pdf"
    file.write_text(first_page(shown.made).replace("</main>", "<p>The details</p></main>"), encoding="utf-8")
    shown.browser.print(file, paper)
    assert pages(paper) == 2


FOCUS: Final = """
<script>
"use strict";
const found = [...document.querySelectorAll("a, summary, button, input, [tabindex]")].map(each => {
  each.focus();
  const box = each.getBoundingClientRect(), style = getComputedStyle(each);
  return [document.activeElement === each, box.top >= 0 && box.height > 0, style.outlineStyle !== "none"];
});
const note = document.createElement("pre");
note.textContent = JSON.stringify([document.hasFocus(), found]);
document.body.append(note);
</script>
"""
"""Whether the window has the focus; of everything that the keyboard reaches, whether it takes it, is seen then, and
shows that it has it."""


def test_the_keyboard_reaches_every_link_and_the_focus_is_seen(shown: Shown, tmp_path: Path) -> None:
    free = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", shown.made)
    file = tmp_path / "focus.html"
    file.write_text(free.replace("</body>", FOCUS + "</body>"), encoding="utf-8")
    for _ in range(20):  # on a busy machine the window may get it after the page was read, and then nothing shows it
        (said,) = re.findall("<pre>(.*?)</pre>", shown.browser.dom(file).dom, re.DOTALL)
        active, found = json.loads(unescape(said))
        if active:
            break
    assert len(found) == len(parsed(shown.made).find("a")) > 9
    assert all(each == [True, True, True] for each in found), found


def test_nothing_in_the_books_runs_even_without_the_policy(shown: Shown, tmp_path: Path) -> None:
    attack = "\"><script>console.log('in')</script><img src=x onerror=\"console.log('in')\">"
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    ledger.release(Secure(0.1, query=attack, claims=(attack,)), ledger.protect(True), account=attack)
    measured(shown, html(rewritten(ledger.entries, {SECURE: attack}), title=attack), tmp_path, 1200)


def test_the_policy_stops_scripts_and_the_browser_says_so(shown: Shown, tmp_path: Path) -> None:
    """And so the tests above would have seen one."""
    file = tmp_path / "scripted.html"
    file.write_text(shown.made.replace("</body>", "<script>console.log('in')</script></body>"), encoding="utf-8")
    (said,) = shown.browser.dom(file).console
    assert "Content Security Policy" in said
    file.write_text("<!DOCTYPE html><title>x</title><script>console.log('in')</script>", encoding="utf-8")
    assert len(shown.browser.dom(file).console) == 1
