"""A clock that stands still, an opening nonce that is known, and what else it takes to write the same bytes again."""

import functools
import gzip
import hashlib
import json
import lzma
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Final, cast

import attrs
import numpy as np
import pytest
from click.testing import CliRunner

from proofs_tests.old_files.doors import main

FILES: Final = Path(__file__).parent / "files"

BEGUN: Final = 1_767_225_600_000_000_000
"""The first second of 2026, in nanoseconds."""

TICK: Final = 61_000_000_007


class Clock:
    """Nanoseconds since 1970, as long as nobody turns it on: however often it is looked at, an entry has one time."""

    def __init__(self) -> None:
        self.now = BEGUN

    def tick(self) -> None:
        """A minute, and a little."""
        self.now += TICK


@contextmanager
def frozen(name: str) -> Iterator[Clock]:
    """A clock of our own for all entries that are written, and ids of ledgers that follow from this name."""
    clock = Clock()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "time_ns", lambda: clock.now)
        patch.setattr(os, "urandom", lambda size: hashlib.shake_256(name.encode()).digest(size))
        yield clock


# --- files -------------------------------------------------------------------------------------------------------


def put(path: Path, content: bytes) -> None:
    """Compressed, the same whenever it is written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(content, 9, mtime=0))


def put_json(path: Path, content: object) -> None:
    """As JSON, compressed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(content, indent=0, sort_keys=True, allow_nan=False) + "\n"
    path.with_name(f"{path.name}.xz").write_bytes(lzma.compress(text.encode("ascii"), preset=9 | lzma.PRESET_EXTREME))


def kept(name: str) -> bytes:
    """What a file holds that was kept."""
    return gzip.decompress((FILES / f"{name}.gz").read_bytes())


@cache
def kept_json(name: str) -> Any:
    """The same of one in JSON, read."""
    return json.loads(lzma.decompress((FILES / f"{name}.json.xz").read_bytes()))


LATER: Final = ("second", "third")
"""Folders, in their order, of what fits write that release otherwise since the first files were kept, or learn
otherwise from what they release since the second ones were."""


def newest(name: str) -> bytes:
    """What a fit of today writes into that file."""
    written = [f"{folder}/{name}" for folder in LATER if (FILES / folder / f"{name}.gz").exists()]
    return kept(written[-1] if written else name)


def newest_json(name: str) -> dict[str, Any]:
    """The same of what is said, by the names in a file."""
    found = dict(cast("dict[str, Any]", kept_json(name)))
    for folder in LATER:
        if (FILES / folder / f"{name}.json.xz").exists():
            found |= kept_json(f"{folder}/{name}")
    return found


def names_in(folder: str, ending: str) -> list[str]:
    """The files that were kept in a folder, without this ending."""
    return sorted(path.name.removesuffix(f"{ending}.gz") for path in (FILES / folder).glob(f"*{ending}.gz"))


# --- the command line --------------------------------------------------------------------------------------------


REFUSED: Final = 2
"""The exit code where nothing was done."""


def without_later(model: str) -> str:
    """The text of a model's file without what fits write since: the additive model's slope of its probabilities, and
    the deviations of its effects."""
    if '"deviations"' in model:
        record = json.loads(model)
        for term in record["model"]["terms"]:
            del term["deviations"]
        model = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    return re.sub(r',\n *"slope": 0\.7(?=\n)', "", model)


def said(*arguments: str) -> dict[str, object]:
    """What a command printed, and how it ended; of one that refused, no more than that it did."""
    result = CliRunner().invoke(main, arguments, env={"EXCHEQUER_LEDGER": None, "COLUMNS": "100"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    if result.exit_code == REFUSED:
        return {"code": REFUSED}
    # Which predict says since.
    errors = re.sub("^(?:AUC|no AUC|for comparison)[^\n]*\n", "", result.stderr, flags=re.MULTILINE)
    out = _FIELD.sub(_in_six_digits, result.stdout) if arguments[0] == "predict" else result.stdout
    return {"code": result.exit_code, "out": out, "err": errors}


_FIELD: Final = re.compile(r"(?<![^,\n])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![^,\n])")


def _in_six_digits(number: re.Match[str]) -> str:
    """As predict wrote numbers when the files were written; it has written all digits since."""
    return f"{float(number[0]):.6g}"


# --- values as JSON ----------------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """Any value as JSON: floats to the last bit, what has parts as the list of them, without their names."""
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, np.ndarray | np.generic):
        return [str(value.dtype), plain(value.tolist())]
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, complex):
        return [value.real.hex(), value.imag.hex()]
    if attrs.has(type(value)):
        return [plain(part) for part in attrs.astuple(value, recurse=False)]
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, Sequence):
        return [plain(part) for part in value]
    return repr(value)


# --- comparing ---------------------------------------------------------------------------------------------------


TOLERANCE: Final = 1e-12
"""Relative. On another machine exp, log and BLAS round otherwise, and prices get better since: their last bits moved on
the machine that wrote the files when zCDP was converted by Newton's steps. The library promises nothing else."""

AMOUNT: Final = re.compile(r"[0-9a-f]+p-?\d+")
"""As entries write them, exactly; what was priced has other last digits elsewhere."""

NUMBER: Final = re.compile(
    r"-?0x[01]\.[0-9a-f]+p[-+]\d+|(?<=\")[0-9a-f]+p-?\d+(?=\\*\")|-?\d+\.\d+(?:e[-+]?\d+)?|-?\d+e[-+]?\d+"
)
DIGEST: Final = re.compile(r"\b[0-9a-f]{64}\b")
SPACES: Final = re.compile(r"[\s─]+")


def differing(
    found: str, old: str, tolerance: float = TOLERANCE, *, digests: bool = True, least: float = 0.0
) -> str | None:
    """The first difference; None where there is none that counts.

    Numbers may differ a little, and spaces, which tables are drawn with; and, of what was computed anew
    (digests=False), so may digests.
    least: the size below which the tolerance of a number shrinks no further.
    """
    if found == old:
        return None
    renamed = _in_words_of_today(old)
    if renamed != old and SPACES.sub(" ", found) == renamed:
        return None
    one, other = _pieces(found, digests), _pieces(renamed, digests)
    if len(one) == len(other) and all(_close(a, b, tolerance, least) for a, b in zip(one, other, strict=True)):
        return None
    place = next((n for n, (a, b) in enumerate(zip(found, old, strict=False)) if a != b), min(len(found), len(old)))
    start = max(place - 200, 0)
    return f"at {place}: found {found[start : place + 200]!r}, kept {old[start : place + 200]!r}"


RENAMED: Final = (
    ("he books are sound", "he ledger is sound"),
    ("HE BOOKS ARE NOT SOUND", "HE LEDGER IS NOT SOUND"),
    ("he books are NOT SOUND", "he ledger is NOT SOUND"),
    ("he books are not sound, so they do not", "he ledger is not sound, so it does not"),
    ("he books are a chain", "he ledger is a chain"),
    ("he books add up", "he ledger adds up"),
    ("HE BOOKS CANNOT BE", "HE LEDGER CANNOT BE"),
    ("he books say", "he ledger says"),
    ("he books name", "he ledger names"),
    ("he books do not hold", "he ledger does not hold"),
    ("he books answer for", "he ledger answers for"),
    ("happened outside of them,", "happened outside of it,"),
    ("the books were opened", "the ledger was opened"),
    ("released from them,", "released from it,"),
    ("he books themselves", "he ledger itself"),
    ("he books' own", "he ledger's own"),
    ("he books", "he ledger"),
    ("its cost rests on:", "its cost depends on:"),
    ("it rests on", "it depends on"),
    ("composition rest on", "composition depend on"),
    ("costs rest on", "costs depend on"),
    ("rests on", "claims"),
    ("in these books was simulated", "in this ledger was simulated"),
    ("hese books promise nothing, as their budget", "his ledger promises nothing, as its budget"),
    ("hese books promise nothing. They list", "his ledger promises nothing. It lists"),
    ("hese books promise", "his ledger promises"),
    (
        "hese books are not sound, so no guarantee follows from them.",
        "his ledger is not sound, so no guarantee follows from it.",
    ),
    ("from it. Their entries add", "from it. Its entries add"),
    ("hese books hold no readable first entry", "his ledger has no readable first entry"),
    ("first entry, so they promise", "first entry, so it promises"),
    ("disagrees with these books", "disagrees with this ledger"),
    ("of these books", "of this ledger"),
    ("in these books", "in this ledger"),
    ("other books", "other ledgers"),
    ("did not go through these books", "was not charged to this ledger"),
    ("charge these books", "charge this ledger"),
    ("and these books?", "and this ledger?"),
    ("second set of books", "second ledger"),
    ("with these books.", "with this ledger."),
    ("whoever guesses may be right", "a guess may be right"),
)
"""What verdicts and statements said when the files were written, and what they say since: nothing else may differ."""


def _in_words_of_today(text: str) -> str:
    """With the words that verdicts have now; their length moves where lines end, so that all spaces are alike."""
    flat = SPACES.sub(" ", text)
    said = functools.reduce(lambda words, names: words.replace(*names), RENAMED, flat)
    return text if said == flat else said


def _pieces(text: str, digests: bool) -> list[str]:
    """Numbers, and what is between them."""
    text = SPACES.sub(" ", text if digests else DIGEST.sub("-", text))
    pieces, end = [], 0
    for match in NUMBER.finditer(text):
        pieces += [text[end : match.start()], match.group()]
        end = match.end()
    return [*pieces, text[end:]]


def _close(one: str, other: str, tolerance: float, least: float) -> bool:
    if one == other or not all(NUMBER.fullmatch(each) or AMOUNT.fullmatch(each) for each in (one, other)):
        return one == other
    (a, slack), (b, _) = _number(one), _number(other)
    return abs(a - b) <= max(tolerance * max(abs(a), abs(b), least), slack)


def _number(text: str) -> tuple[float, float]:
    """Its value, and what its last digit is worth where it was rounded for people."""
    if "0x" in text:
        return float.fromhex(text), 0.0
    if AMOUNT.fullmatch(text):
        whole, _, power = text.partition("p")
        return float(int(whole, 16) * Fraction(2) ** int(power)), 0.0
    digits, _, exponent = text.lower().partition("e")
    rounded = sum(map(str.isdigit, digits)) < 15
    return float(text), 1.01 * 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2])) if rounded else 0.0


def assert_same(
    found: object, old: object, tolerance: float = TOLERANCE, *, digests: bool = True, least: float = 0.0
) -> None:
    """That two values are the same, as `differing` has it, part by part so that what differs is named."""
    if isinstance(found, Mapping) and isinstance(old, Mapping):
        assert list(found) == list(old) or sorted(found) == sorted(old)
        for name, part in found.items():
            difference = differing(_text(part), _text(old[name]), tolerance, digests=digests, least=least)
            assert difference is None, f"{name}: {difference}"
        return
    difference = differing(_text(found), _text(old), tolerance, digests=digests, least=least)
    assert difference is None, difference


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, indent=0, sort_keys=True)
