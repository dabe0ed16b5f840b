"""The site is built without a warning, opens without a network, and can be read: on a phone, and by a screen reader."""

import itertools
import json
import re
import shutil
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from proofs_tests.site.building import build, captioned, cited
from proofs_tests.site.docstrings import as_markdown
from proofs_tests.site.pages import on_site
from proofs_tests.site.reference import faces, homes, public_names, said_below
from proofs_tests.support.programs.browser import Browser, browser

LOOKED_AT = (
    "index.html",
    "tutorials/a-private-model-from-a-csv.html",
    "how-to/halfspaces.html",
    "explanation/costs.html",
    "reference/python/accountant.costs.html",
    "results/peers.html",
    "project/limits.html",
)
"""A page of each kind."""

FETCHED = re.compile(
    r"""<(?:script|img|iframe|source)[^>]*\bsrc=["'](?:https?:)?//"""
    r"""|<link[^>]*rel=["']stylesheet["'][^>]*href=["'](?:https?:)?//|url\(["']?https?:"""
)

LOOK = """
<script>
"use strict";
const channels = text => text.match(/[\\d.]+/g).map(Number);
const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
  .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
  .reduce((sum, c, place) => sum + c * [0.2126, 0.7152, 0.0722][place], 0);
const behind = element => {
  for (; element; element = element.parentElement) {
    const colour = channels(getComputedStyle(element).backgroundColor);
    if (colour.length < 4 || colour[3] === 1) return colour;
  }
  return [255, 255, 255];
};
addEventListener("load", () => {
  const faint = [];
  for (const element of document.querySelectorAll("article *")) {
    const own = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
    const style = getComputedStyle(element);
    if (!own || style.visibility === "hidden" || !element.getClientRects().length) continue;
    const [a, b] = [light(channels(style.color)), light(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) faint.push([element.tagName, element.className, element.textContent.slice(0, 30), ratio]);
  }
  const headings = [...document.querySelectorAll("article :is(h1, h2, h3, h4, h5, h6)")].map(h => Number(h.tagName[1]));
  const found = {
    faint: faint.slice(0, 10), headings,
    unnamed: [...document.querySelectorAll("article img")].filter(image => !image.alt.trim()).length,
    broken: [...document.images].filter(image => !image.naturalWidth).map(image => image.src),
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    language: document.documentElement.lang, width: innerWidth, title: document.title,
  };
  const told = document.createElement("pre");
  told.id = "found";
  told.textContent = JSON.stringify(found);
  document.body.append(told);
  if (parent !== window) parent.postMessage(told.textContent, "*");
});
</script>
"""

FRAME = """<html><body><iframe src="{page}" width="{width}" height="800" style="border:0"></iframe><script>
addEventListener("message", event => {{
  const told = document.createElement("pre");
  told.id = "found";
  told.textContent = event.data;
  document.body.append(told);
}});
</script></body></html>"""


def test_links_between_files_are_links_between_pages() -> None:
    assert on_site("[a](../../LIMITS.md#trust)", "how-to/rados.md") == "[a](../project/limits.md#trust)"
    assert on_site("[a](../../benchmarks/RESULTS.md#peers)", "how-to/rados.md") == "[a](../results/peers.md)"
    assert on_site("[`f`](accountant/ledger/ledger.py)", "project/architecture.md") == "`f`"
    assert on_site("[a](https://mutmut.readthedocs.io)", "index.md") == "[a](https://mutmut.readthedocs.io)"
    assert on_site("[a](docs/how-to/rados.md)", "index.md") == "[a](how-to/rados.md)"
    shown = "![p](../../benchmarks/results/accuracy-on-adult.png)"
    assert on_site(shown, "reference/learners.md") == "![p](../results/pictures/accuracy-on-adult.png)"
    assert on_site("```\n[a](LIMITS.md)\n```\n", "index.md") == "```\n[a](LIMITS.md)\n```\n"


def test_docstrings_are_shown_with_their_parameters_as_a_list() -> None:
    """One item each, also of those that share a line; what follows the list is no part of its last item."""
    shown = as_markdown("""A cost.

    epsilon: in nats, 0 <= ε < ∞, of any
    kind: small ones too.  delta: in (0, 1).
    Raises ValueError otherwise.

    >>> f(a=1)  # x: is no parameter
    2
    """)
    assert shown == (
        "A cost.\n\n- **epsilon**: in nats, 0 <= ε < ∞, of any\nkind: small ones too.\n- **delta**: in (0, 1).\n\n"
        "**Raises** ValueError otherwise.\n\n\n~~~pycon\n>>> f(a=1)  # x: is no parameter\n2\n~~~"
    )


def test_constants_are_shown_with_what_stands_below_them() -> None:
    assert said_below("accountant.audit.outlook", "BEFORE") == ""
    assert said_below("boosting", "MAX_ROUNDS")
    assert "no histogram is asked for" in said_below("learners.additive", "GRID")


def test_ids_of_claims_lead_to_the_claim() -> None:
    assert cited("so it holds [L3].", "how-to/rados.md") == "so it holds [[L3]](../project/claims.md#l3-tightened)."
    assert cited("`[L3]` and [L99]", "index.md") == "`[L3]` and [L99]"


def test_a_block_that_is_a_file_shows_its_name() -> None:
    shown = "```{code-block} toml\n:caption: a.toml\n\nx = 1\n```\n"
    assert captioned('```toml title="a.toml"\nx = 1\n```\n') == shown
    assert captioned("```toml\nx = 1\n```\n") == "```toml\nx = 1\n```\n"


def test_every_public_name_is_in_the_reference_once() -> None:
    names = public_names()
    assert set(faces()) == set(names)
    described = {(home, name) for (_, name), home in homes(names).items()}
    assert len(described) >= 600
    assert all(name in names[home] for home, name in described)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole site; a minute, as there are some hundred pages."""
    out = tmp_path_factory.mktemp("site") / "html"
    assert build(out) == 0, "Sphinx warned, see above: python -m proofs_tests.site"
    return out


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    pages = [*site.rglob("*.html"), *site.rglob("*.css")]
    assert len(pages) > 100
    assert [page.name for page in pages if FETCHED.search(page.read_text(encoding="utf-8"))] == []


@pytest.mark.browser
def test_search_works_without_a_server(site: Path, tmp_path: Path) -> None:
    look = browser(tmp_path).dom(f"{(site / 'search.html').as_uri()}?q=slickness", wait=8000)
    found = re.search(r"found (\d+) pages", look.dom)
    assert found, look.console
    assert int(found[1]) >= 5
    assert "explanation/robust-mechanisms.html" in look.dom


def looked_at(chromium: Browser, page: Path, width: int) -> dict[str, Any]:
    """What `LOOK` finds on a page, in a window so wide."""
    copy = page.with_name(f"looked-at-{page.name}")
    copy.write_text(page.read_text(encoding="utf-8").replace("</body>", f"{LOOK}</body>"), encoding="utf-8")
    frame = page.with_name(f"frame-of-{page.name}")  # as Chromium has no window of less than 500
    frame.write_text(FRAME.format(width=width, page=copy.name), encoding="utf-8")
    look = chromium.dom(frame, width=max(width, 600), wait=4000)
    found: dict[str, Any] = json.loads(unescape(re.findall(r'<pre id="found">(.*?)</pre>', look.dom, re.DOTALL)[0]))
    return found


@pytest.mark.browser
def test_what_is_unfit_is_seen(tmp_path: Path) -> None:
    """So that the test below can fail."""
    page = tmp_path / "page.html"
    body = '<article><h1>A</h1><h3>B</h3><p style="color:#aaa">faint</p><img src="gone.png">'
    page.write_text(f'<html><body>{body}<div style="width:3000px">wide</div></article></body></html>', encoding="utf-8")
    found = looked_at(browser(tmp_path), page, 390)
    assert [tag for tag, *_ in found["faint"]] == ["P"]
    assert found["headings"] == [1, 3]
    assert found["unnamed"] == 1
    assert len(found["broken"]) == 1
    assert found["wide"] > 2000
    assert not found["language"]


@pytest.mark.browser
@pytest.mark.parametrize("width", [1200, 390])
def test_pages_are_fit_for_people(site: Path, tmp_path: Path, width: int) -> None:
    """Contrast of 4.5 : 1, headings in order, pictures described, no page wider than a phone."""
    chromium = browser(tmp_path)
    for name in LOOKED_AT:
        found = looked_at(chromium, site / name, width)
        assert found["faint"] == [], name
        assert found["unnamed"] == 0, name
        assert found["broken"] == [], name
        assert found["wide"] <= 0, name
        assert found["language"] == "en", name
        assert found["width"] == width, name
        assert found["title"], name
        levels = found["headings"]
        assert levels[0] == 1, name
        assert levels.count(1) == 1, name
        assert all(below <= above + 1 for above, below in itertools.pairwise(levels)), name


def test_a_link_that_leads_nowhere_stops_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a site of one page, so that it is quick."""
    folder = tmp_path / "docs"
    folder.mkdir()
    shutil.copy(Path(__file__).parents[2] / "docs/conf.py", folder)
    (folder / "_static").mkdir()

    def one_page(source: Path) -> None:
        shutil.copytree(folder, source)

    monkeypatch.setattr("proofs_tests.site.building.assemble", one_page)
    (folder / "index.md").write_text("# A page\n\n[there](#a-page)\n", encoding="utf-8")
    (folder / "_static/site.css").write_text("", encoding="utf-8")
    assert build(tmp_path / "good") == 0
    (folder / "index.md").write_text("# A page\n\n[there](gone.md)\n", encoding="utf-8")
    assert build(tmp_path / "bad") != 0
