"""How hard documents are to read: `python -m proofs_tests.site.readability [--at COMMIT] [FILES]`.

Figures for each: words per sentence, the share of sentences of more than thirty words, and the share of sentences with
a term of the project that the document itself does not introduce (in bold, italics, or parentheses behind a name).
Code, tables, links and headings are left out.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from proofs_tests.site.pages import ROOT

TERMS: Final = frozenset(
    [
        "rado",
        "rados",
        "zeta",
        "slickness",
        "density",
        "projection",
        "kappa",
        "rho",
        "mu",
        "renyi",
        "zcdp",
        "gdp",
        "pld",
        "kov",
        "adassp",
        "lazybb",
        "dp-feat",
        "topdown",
        "1-rule",
        "1-rules",
        "gini",
        "certificate",
        "mutant",
        "mutants",
        "canary",
        "canaries",
        "curator",
        "head",
        "checkpoint",
        "witness",
        "witnesses",
        "odometer",
        "filter",
        "sub-budget",
        "adjacency",
        "add-remove-one",
        "replace-one",
        "bregman",
        "composition",
        "plan",
        "receipt",
        "receipts",
        "pack",
        "packs",
        "policy",
        "sensitivity",
        "randomizer",
        "query",
        "range",
        "support",
        "supports",
        "edge",
        "edges",
        "accumulator",
        "layout",
        "spender",
        "robust",
        "certified",
        "ζ",
        "κ",
        "ρ",
        "μ",
        "λ",
        "η",
        "θ",
        "τ",
        "σ",
        "α",
        "γ",
    ]
)
"""Terms of the project, and symbols: each needs an explanation somewhere."""

KNOWN_SYMBOLS: Final = frozenset(["ε", "δ", "n", "k"])
"""Those that every reader of differential privacy knows."""

_CODE: Final = re.compile(r"^```.*?^```$|<!--.*?-->|^\|[^\n]*$|^#[^\n]*$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_END: Final = re.compile(r"(?<=[.!?:])\s+(?=[A-Z0-9*\"(–-])|\n\s*\n|\n\s*(?:[-*]|\d+\.)\s")
_WORD: Final = re.compile(r"[^\W\d_][\w’'-]*|[ζκρμλησθταγεδ]")


@attrs.frozen
class Reading:
    """words: per sentence, in the mean. long: the share of sentences of more than 30 words.

    unexplained: the share of sentences with a term that the document does not introduce.
    """

    sentences: int
    words: float
    long: float
    unexplained: float


def sentences(markdown: str) -> Iterator[str]:
    """The sentences of running text."""
    text = _LINK.sub(r"\1", _CODE.sub(" ", markdown))
    for part in _END.split(text):
        if part and len(_WORD.findall(part)) >= 3:
            yield " ".join(part.split())


def read(markdown: str, explained: frozenset[str]) -> Reading:
    """The figures of one document. explained: terms that it introduces, in lower case."""
    found = list(sentences(markdown))
    counts = [len(_WORD.findall(each)) for each in found]
    strange = sum(bool(_unexplained(each, explained)) for each in found)
    number = max(len(found), 1)
    return Reading(len(found), sum(counts) / number, sum(count > 30 for count in counts) / number, strange / number)


def _unexplained(sentence: str, explained: frozenset[str]) -> set[str]:
    words = {word.lower() for word in _WORD.findall(sentence)}
    known = explained | KNOWN_SYMBOLS
    return {word for word in words if word in TERMS and word not in known and word.removesuffix("s") not in known}


def defined(markdown: str) -> frozenset[str]:
    """Terms that a document introduces: in bold, in italics, or in parentheses behind a name."""
    marked = re.findall(r"\*\*?([^*\n]{1,40})\*\*?", markdown) + re.findall(r"\(([^()\n]{1,12})\)", markdown)
    return frozenset(word.lower() for each in marked for word in _WORD.findall(each))


def text_at(path: str, commit: str | None) -> str:
    """A file as it is, or as it was."""
    if commit is None:
        return (ROOT / path).read_text(encoding="utf-8")
    shown = subprocess.run(["git", "show", f"{commit}:{path}"], cwd=ROOT, capture_output=True, text=True, check=False)
    return shown.stdout


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each document."""
    parser = argparse.ArgumentParser(prog="python -m proofs_tests.site.readability", description=__doc__)
    parser.add_argument("--at", metavar="COMMIT", help="as they were then")
    parser.add_argument("files", nargs="*", default=None)
    options = parser.parse_args(arguments)
    everything = (path for pattern in ("*.md", "docs/**/*.md") for path in ROOT.glob(pattern))
    paths = options.files or sorted(path.relative_to(ROOT).as_posix() for path in everything)
    sys.stdout.write("sentences  words  long  unexplained\n")
    readings = []
    for path in paths:
        text = text_at(path, options.at)
        readings.append(read(text, defined(text)))
        sys.stdout.write(f"{_line(readings[-1])}  {path}\n")
    if len(paths) > 1:
        sys.stdout.write(f"{_line(together(readings))}  together\n")


def together(readings: Sequence[Reading]) -> Reading:
    """The figures of several documents, as of one."""
    number = sum(each.sentences for each in readings)

    def mean(shares: Iterator[float]) -> float:
        return sum(share * each.sentences for share, each in zip(shares, readings, strict=True)) / max(number, 1)

    words, long = (each.words for each in readings), (each.long for each in readings)
    return Reading(number, mean(words), mean(long), mean(each.unexplained for each in readings))


def _line(reading: Reading) -> str:
    return f"{reading.sentences:9}  {reading.words:5.1f}  {reading.long:4.0%}  {reading.unexplained:11.0%}"


if __name__ == "__main__":
    main()
