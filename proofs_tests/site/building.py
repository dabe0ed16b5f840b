"""How the site is built: all pages are put together in a folder, and Sphinx makes HTML of them."""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from proofs_tests.claims.registry import CLAIMS
from proofs_tests.site import guarantees, measured, pictures, reference
from proofs_tests.site.notebooks import notebook
from proofs_tests.site.pages import PICTURES, ROOT, documents, on_site

CITED: Final = re.compile(r"\[(" + "|".join(re.escape(claim.id) for claim in CLAIMS) + r")\](?![(\[])")
"""A claim as docstrings and pages cite it."""

_CODE: Final = re.compile(r"(^`{3,}(?!\{py:|`*\{note).*?^`{3,}$|^~~~.*?^~~~$|`[^`\n]+`)", re.MULTILINE | re.DOTALL)

_TITLED: Final = re.compile(r'^```(\w+) title="([^"\n]+)"\n', re.MULTILINE)

_ANCHORS: Final = {
    claim.id: re.sub(r"[^\w-]", "", f"{claim.id}-{claim.verdict}".lower().replace(" ", "-")) for claim in CLAIMS
}


CONTENTS: Final = """
```{toctree}
:hidden:
tutorials/index
how-to/index
explanation/index
reference/index
results/index
project/index
```
"""
"""Of the whole site, at the end of its front page."""


def assemble(folder: Path) -> None:
    """Put every page, picture and setting of the site into a folder, as Sphinx takes them."""
    shutil.copytree(ROOT / "docs", folder, dirs_exist_ok=True)
    made: dict[str, str] = {}
    for path in folder.rglob("*.md"):
        made[path.relative_to(folder).as_posix()] = path.read_text(encoding="utf-8")
    for source, page in documents().items():
        made[page] = (ROOT / source).read_text(encoding="utf-8")
    results = measured.pages()
    made["results/index.md"] = measured.overview(made["results/index.md"], results)
    made["index.md"] += CONTENTS
    made["project/guarantees.md"] = guarantees.page((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    made = {place: on_site(text, place) for place, text in made.items()} | results.texts
    made |= reference.pages() | {"reference/command-line.md": reference.command_line()}
    for place in [place for place in made if place.startswith("tutorials/") and place != "tutorials/index.md"]:
        name = place.removesuffix(".md").removeprefix("tutorials/")
        (folder / f"tutorials/{name}.ipynb").write_text(notebook(made[place]), encoding="utf-8")
        made[place] += f"\n[This tutorial as a notebook]({name}.ipynb)\n"
    made = {place: captioned(text) for place, text in made.items()}
    for place, text in made.items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if place == "project/claims.md" else cited(text, place), encoding="utf-8")
    pictured = results.pictures | pictures.drawn()
    pictured |= {f"{measured.PICTURES}/{each.name}": each.read_bytes() for each in (ROOT / PICTURES).glob("*.png")}
    for place, content in pictured.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_bytes(content)


def captioned(markdown: str) -> str:
    """The text of a page, where a block that is a file has the file's name above it: Sphinx would not show a title."""
    return _TITLED.sub(r"```{code-block} \1\n:caption: \2\n\n", markdown)


def cited(markdown: str, page: str) -> str:
    """The text of a page, where each id of a claim in brackets leads to the claim. Code is left as it is."""
    up = "../" * page.count("/")
    parts = _CODE.split(markdown)
    for place in range(0, len(parts), 2):
        parts[place] = CITED.sub(
            lambda found: f"[[{found[1]}]]({up}project/claims.md#{_ANCHORS[found[1]]})", parts[place]
        )
    return "".join(parts)


def build(out: Path, *, jobs: int = 1) -> int:
    """Build the site into `out`. The status is 0 where there was no warning, and Sphinx's own else."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        assemble(source)
        command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q", "-j", str(jobs)]
        done = subprocess.run([*command, "-d", f"{folder}/trees", str(source), str(out)], check=False)
    return done.returncode
