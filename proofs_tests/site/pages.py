"""Which files of the repository are pages of the site, and where their links lead there.

Pages under `docs` and the documents beside README.md link to one another as files, so that they can be read in a
checkout. On the site the same links lead to pages; a file that is no page, such as a module, is named without a link.
"""

import posixpath
import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]

DOCUMENTS: Final = {
    "README.md": "index.md",
    "LIMITS.md": "project/limits.md",
    "CLAIMS.md": "project/claims.md",
    "CHANGELOG.md": "project/changelog.md",
    "GLOSSARY.md": "project/glossary.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "SECURITY.md": "project/security.md",
    "CODE_OF_CONDUCT.md": "project/conduct.md",
    "LEDGER.md": "reference/ledger-format.md",
    "AUDITING.md": "reference/auditing.md",
    "SCALING.md": "reference/scaling.md",
    "verifier/README.md": "reference/verifier.md",
    "AUDITS.md": "results/other-libraries.md",
    "benchmarks/RESULTS.md": "results/index.md",
}
"""Documents that stay where they are in the repository, and the page that each becomes."""

PICTURES: Final = "benchmarks/results"
"""Where the pictures are that documents show."""

_LINK: Final = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s#]*)(#[^()\s]*)?\)")
_FENCE: Final = re.compile(r"(^```.*?^```$|^ *<!--.*?-->$)", re.MULTILINE | re.DOTALL)
_CODE: Final = re.compile(r"(`+[^`]*`+)")


def documents() -> dict[str, str]:
    """Those of them that are there."""
    return {source: page for source, page in DOCUMENTS.items() if (ROOT / source).is_file()}


def source_of(page: str) -> str:
    """The file that a page is made of, from the repository's folder."""
    return next((source for source, made in DOCUMENTS.items() if made == page), f"docs/{page}")


def page_of(source: str) -> str | None:
    """Where a file of the repository is on the site; None where it is not."""
    if source.startswith("docs/"):
        return source.removeprefix("docs/")
    if source.startswith(f"{PICTURES}/") and source.endswith(".png"):
        return f"results/pictures/{posixpath.basename(source)}"
    return documents().get(source)


def on_site(markdown: str, page: str) -> str:
    """The text of a page with the links that it has on the site. Code is left as it is."""
    source = source_of(page)

    def linked(found: re.Match[str]) -> str:
        mark, text, target, anchor = found[1], found[2], found[3], found[4] or ""
        if not target or ":" in target:
            return found[0]
        aimed = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        if aimed == "benchmarks/RESULTS.md" and anchor:
            there, anchor = f"results/{anchor[1:]}.md", ""
        else:
            there = page_of(aimed) or ""
        if there:
            return f"{mark}[{text}]({posixpath.relpath(there, posixpath.dirname(page) or '.')}{anchor})"
        if (ROOT / aimed).exists():
            return text
        made = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
        return found[0] if not source.startswith("docs/") or made else text

    parts = _FENCE.split(markdown)
    for place in range(0, len(parts), 2):
        words = _CODE.split(parts[place])
        # A link's text may hold code, so links are looked for in the whole; code that holds a link is left alone.
        parts[place] = _LINK.sub(linked, parts[place]) if len(words) else ""
    return "".join(parts)
