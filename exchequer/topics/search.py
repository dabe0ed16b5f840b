"""Finding topics: by name, by a name in code, by what an exception is, and what was probably meant."""

import difflib
import functools
import re
from pathlib import Path

from exchequer.own_packages import PACKAGES
from exchequer.topics.reading import ERRORS, PACKED, Topic, key_of, key_of_class, read_topics, unpacked

_OWN = {*PACKAGES, "exchequer", "proofs_tests"}


class NoTopics(ValueError):
    """This installation has neither the file of topics nor the documentation beside it."""


@functools.cache
def known_topics() -> tuple[Topic, ...]:
    """All topics: of the wheel's file, or of the documentation of this checkout. Raises NoTopics without either."""
    file, checkout = Path(__file__).with_name(PACKED), Path(__file__).parents[2]
    try:
        return tuple(unpacked(file.read_text(encoding="utf-8")) if file.is_file() else read_topics(checkout))
    except FileNotFoundError as error:
        raise NoTopics(
            f"this installation has no topics: neither {file} nor {checkout / 'docs'} is there; install a wheel of "
            f"exchequer, or a checkout with its documentation"
        ) from error


def named(words: str) -> list[Topic]:
    """What is called so: topics of that key, else of that sign in a term's brackets, else of that name in code."""
    key, topics = key_of(words), known_topics()
    if found := [each for each in topics if each.key in (key, key_of_class(words))]:
        return found
    terms = [each for each in topics if each.kind == "term"]
    if found := [each for each in terms if key in {key_of(sign) for sign in re.findall(r"\((.+)\)", each.title)}]:
        return found
    return [each for each in terms if key == key_of(each.place.rpartition(".")[2].rstrip("`"))]


def like(words: str, most: int = 5) -> list[str]:
    """Keys that may be meant: those that have the words in them, then those that are spelt alike."""
    key = key_of(words)
    keys = sorted({each.key for each in known_topics()})
    within = [each for each in keys if key and key in each]
    near = difflib.get_close_matches(key, keys, n=most, cutoff=0.6)
    return list(dict.fromkeys([*near[:1], *within, *near]))[:most]


def pages_with(words: str, most: int = 3) -> list[Topic]:
    """Pages that have these words more than once: those in whose title they are, then by how often for their length."""
    pattern = re.compile(rf"(?<!\w){re.escape(words)}s?(?!\w)", re.IGNORECASE)
    found = []
    for page in known_topics():
        times = len(pattern.findall(page.text))
        if page.kind not in ("term", "error") and page.place != ERRORS and times > 1:
            found.append((not pattern.search(page.title), -times / len(page.text), page))
    best: dict[str, Topic] = {}
    for *_, page in sorted(found, key=lambda each: each[:2]):
        best.setdefault(page.key, page)  # of pages with one name `exchequer help` prints all
    return list(best.values())[:most]


def explained_by(error: BaseException | None) -> str | None:
    """The topic that explains an exception, or the one that caused it: that of its class, or of one above it."""
    while error is not None:
        own = [key_of_class(kind.__name__) for kind in type(error).__mro__ if kind.__module__.partition(".")[0] in _OWN]
        if own:
            keys = {each.key for each in known_topics() if each.kind == "error"}
            if key := next((each for each in own if each in keys), None):
                return key
        error = error.__cause__
    return None
