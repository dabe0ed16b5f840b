"""HTML as it is sent: escaped by the templates, with a policy under which nothing in it can run or call elsewhere."""

import base64
import functools
import hashlib
import re
import secrets
from typing import Final

import attrs
import jinja2
from markupsafe import Markup

_STYLE: Final = re.compile(r"<style[^>]*>(.*?)</style>", re.DOTALL)

_HEAD_END: Final = "</head>"
_BODY: Final = re.compile(r"<body[^>]*>")


@attrs.frozen
class Slots:
    """Places in a page that is kept, which are filled each time that it is sent. No text from a ledger holds them."""

    head: Markup = attrs.field(factory=lambda: Markup(f"<!--{secrets.token_hex(16)}-->"))
    bar: Markup = attrs.field(factory=lambda: Markup(f"<!--{secrets.token_hex(16)}-->"))


SLOTS: Final = Slots()


@attrs.frozen
class Link:
    """One page that the bar leads to."""

    name: str
    target: str
    here: bool


@attrs.frozen
class Bar:
    """What stands above every page. tone: "good", "warn" or "bad", never greener than the verdict.

    here, again: this page without and with loading again.  short: what the sums are short of.
    """

    links: tuple[Link, ...]
    here: str
    again: str
    refresh: int | None
    verdict: str
    tone: str
    entries: str
    head: str
    looked: str
    trouble: str = ""
    short: str = ""


@attrs.frozen
class Page:
    """A page that is kept. parts: around the two slots.  policy: its Content-Security-Policy."""

    parts: tuple[str, str, str]
    policy: str

    def html(self, refresh: int | None = None, bar: Bar | None = None) -> str:
        """The page as it is sent now. refresh: seconds after which the browser loads it again."""
        head = "" if refresh is None else f'<meta http-equiv="refresh" content="{refresh:d}">'
        above = "" if bar is None else rendered("bar.html", bar=bar)
        before, between, after = self.parts
        return f"{before}{head}{between}{above}{after}"

    @property
    def size(self) -> int:
        """Characters."""
        return sum(map(len, self.parts))


@functools.cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("exchequer.live"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def rendered(template: str, **values: object) -> str:
    """A template with these values, each of them escaped."""
    return _templates().get_template(template).render(slots=SLOTS, **values)


def page(template: str, **values: object) -> Page:
    """A page of ours."""
    return _kept(rendered(template, **values))


def around(document: str) -> Page:
    """A whole document, with room for the bar above what it says."""
    style = f"<style>{_templates().get_template('style.css').render()}</style>"
    with_head = document.replace(_HEAD_END, f"{style}{SLOTS.head}{_HEAD_END}", 1)
    body = _BODY.search(with_head)
    if body is None:
        raise ValueError("a document without a body")
    return _kept(f"{with_head[: body.end()]}\n{SLOTS.bar}{with_head[body.end() :]}")


def _kept(html: str) -> Page:
    before, _, rest = html.partition(str(SLOTS.head))
    between, _, after = rest.partition(str(SLOTS.bar))
    return Page((before, between, after), policy(html))


def policy(html: str) -> str:
    """No scripts, no pictures, no requests to anywhere; the styles of this very page, and forms that come back here."""
    styles = " ".join(f"'sha256-{_hash(text)}'" for text in dict.fromkeys(_STYLE.findall(html)))
    allowed = styles or "'none'"
    return (
        f"default-src 'none'; style-src-elem {allowed}; style-src-attr 'unsafe-inline'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    )


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
