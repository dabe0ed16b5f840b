"""What a request may ask: each parameter by name, checked, or a refusal that repeats nothing of what was sent."""

import datetime
import re
import urllib.parse
from collections.abc import Collection, Mapping
from typing import Final

import attrs

from accountant.audit.breakdowns import BY, Question
from accountant.entries import visible

LONGEST: Final = 4000
"""Characters of a query."""

LONGEST_TEXT: Final = 1000
"""Characters of one text: more than any label may have."""

WHERE: Final = "where."

FILTERS: Final = frozenset({"from", "to", "unsaid", *(WHERE + name for name in BY)})
"""What tells charges apart."""

REFRESH: Final = range(5, 86_401)
"""Seconds after which a page may ask to be loaded again."""

MOST_PAGES: Final = 1_000_000

_TIME: Final = re.compile(r"\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?Z?)?")
_WHOLE: Final = re.compile(r"[1-9][0-9]{0,6}")


class BadQuery(ValueError):
    """A request that nobody can answer. Its text holds nothing of what was sent."""


@attrs.frozen
class Query:
    """What was asked for, as it was checked. given: the parameters that are not empty, by name."""

    given: Mapping[str, str]
    question: Question
    page: int = 1
    refresh: int | None = None

    @property
    def key(self) -> str:
        """The same for the same question."""
        return urllib.parse.urlencode(sorted((name, text) for name, text in self.given.items() if name != "refresh"))

    def again(self, path: str, refresh: int | None) -> str:
        """The same page, loaded again after so many seconds."""
        kept = {name: text for name, text in self.given.items() if name != "refresh"}
        asked = {**kept, **({} if refresh is None else {"refresh": str(refresh)})}
        return f"{path}?{urllib.parse.urlencode(sorted(asked.items()))}" if asked else path

    @property
    def filtered(self) -> bool:
        """Whether it asks for what charges say, and not for a time alone."""
        return bool(self.question.where)

    def link(self, path: str, **changes: str | None) -> str:
        """Another page with the same filters. changes: parameters by name, "_" for "."; None to leave one out."""
        named = {name.replace("__", "."): text for name, text in changes.items()}
        kept = {name: text for name, text in {**self.given, **named}.items() if text is not None}
        allowed = {name: text for name, text in kept.items() if name in FILTERS or name in named or name == "refresh"}
        return f"{path}?{urllib.parse.urlencode(sorted(allowed.items()))}" if allowed else path


def parsed(text: str, allowed: Collection[str]) -> Query:
    """The query of a request, as it was sent. allowed: names of parameters. Raises BadQuery."""
    given = _given(text, {*allowed, "refresh"})
    where = {name.removeprefix(WHERE): value for name, value in given.items() if name.startswith(WHERE)}
    for name in filter(None, given.get("unsaid", "").split(",")):
        if name not in BY or name in where:
            raise BadQuery("unsaid: names of what charges do not say, with commas, each once: " + ", ".join(BY))
        where[name] = ""
    try:
        question = Question(given.get("by", "account"), where, _time(given, "from"), _time(given, "to"))
    except ValueError as error:
        if "not before" in str(error):
            raise BadQuery("from must be before to") from None
        raise BadQuery("by: one of " + ", ".join(BY)) from None
    refresh = _whole(given, "refresh")
    if refresh is not None and refresh not in REFRESH:
        raise BadQuery(f"refresh: seconds, from {REFRESH[0]} to {REFRESH[-1]}")
    page = _whole(given, "page") or 1
    if page > MOST_PAGES:
        raise BadQuery(f"page: from 1 to {MOST_PAGES}")
    return Query(given, question, page, refresh)


def _given(text: str, allowed: Collection[str]) -> dict[str, str]:
    if len(text) > LONGEST:
        raise BadQuery(f"the query is longer than {LONGEST} characters")
    try:
        pairs = urllib.parse.parse_qsl(text, keep_blank_values=True, strict_parsing=bool(text), errors="strict")
    except ValueError:  # a bad encoding, too
        raise BadQuery("this is no query: expected name=text pairs in UTF-8") from None
    if len({name for name, _ in pairs}) < len(pairs):
        raise BadQuery("a parameter is given twice")
    if not all(name in allowed for name, _ in pairs):
        raise BadQuery("unknown parameter; this page takes " + (", ".join(sorted(allowed))))
    for _, value in pairs:
        if len(value) > LONGEST_TEXT or visible(value) != value:
            raise BadQuery(f"a text may have {LONGEST_TEXT} characters, all of them visible")
    return {name: value for name, value in pairs if value}  # an empty field of a form asks for nothing


def _time(given: Mapping[str, str], name: str) -> int | None:
    if (text := given.get(name)) is None:
        return None
    wrong = BadQuery(f"{name}: a time in UTC, as 2026-03-01 or 2026-03-01T09:30")
    if not text.isascii() or not _TIME.fullmatch(text):
        raise wrong
    try:
        when = datetime.datetime.fromisoformat(text.removesuffix("Z")).replace(tzinfo=datetime.UTC)
    except ValueError:
        raise wrong from None
    return int(when.timestamp()) * 1_000_000_000


def _whole(given: Mapping[str, str], name: str) -> int | None:
    if (text := given.get(name)) is None:
        return None
    if not text.isascii() or not _WHOLE.fullmatch(text):
        raise BadQuery(f"{name}: a whole number from 1")
    return int(text)
