"""What the server answers, to whom, and that nothing anybody sends or writes gets further than a text on a page."""

import hashlib
import json
import re
import urllib.parse
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant.audit.breakdowns import BY
from exchequer.live import Access, new_token
from exchequer.live.queries import FILTERS, BadQuery, parsed
from proofs_tests.support.ledgers.hostile import EVIL, written
from proofs_tests.support.programs.served import Answer, Served, serving

PAGES = ("/", "/spent", "/entries", "/verify.json", "/healthz")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    path = tmp_path_factory.mktemp("served") / "study.db"
    written(f"sqlite:///{path}")
    with serving(str(path)) as found:
        yield found


def harmless(answer: Answer) -> None:
    """No element and no attribute that could run, and a policy under which none would."""
    tags = re.findall(r"<\s*([a-zA-Z]+)([^>]*)>", re.sub(r"<style>.*?</style>", "", answer.body, flags=re.DOTALL))
    assert not {name.lower() for name, _ in tags} & {"script", "img", "iframe", "object", "embed", "base", "link"}
    for _, attributes in tags:
        assert not re.search(r"\son\w+\s*=(?=\s*[^\"\s])", re.sub(r"\"[^\"]*\"", '""', attributes))
        assert not re.search(r"(?:href|src|action)=\"\s*(?:javascript|data|https?:|//)", attributes)
    assert "1337" not in answer.body  # which 7*191 is
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "frame-ancestors 'none'" in policy
    assert "script-src" not in policy
    assert "unsafe-inline" not in policy.replace("style-src-attr 'unsafe-inline'", "")


def test_every_answer_has_its_headers(served: Served) -> None:
    for target in (*PAGES, "/nothing", "/spent?by=weather"):
        answer = served.ask(target)
        for name, value in (
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "no-referrer"),
            ("cache-control", "no-store"),
        ):
            assert answer.headers[name] == value
        assert not answer.headers.keys() & {"server", "via", "set-cookie", "x-powered-by"}
        harmless(answer)


def test_the_policy_names_the_styles_of_its_page(served: Served) -> None:
    for target in ("/", "/spent", "/entries"):
        answer = served.ask(target)
        styles = re.findall(r"<style>(.*?)</style>", answer.body, re.DOTALL)
        assert styles
        for text in styles:
            assert (
                f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
                in (answer.headers["content-security-policy"])
            )


def test_what_charges_say_is_shown_and_does_nothing(served: Served) -> None:
    targets = ["/", "/entries", *(f"/spent?by={by}" for by in BY), "/entries?where.user=ada"]
    targets += [
        f"/{page}?{urllib.parse.urlencode({'where.user': evil})}" for page in ("spent", "entries") for evil in EVIL
    ]
    for target in targets:
        answer = served.ask(target)
        assert answer.code == 200
        harmless(answer)
    by_user = served.ask("/spent?by=user").body
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in by_user
    assert "ada" in by_user
    for link in re.findall(r'href="([^"]+)"', by_user):
        followed = served.ask(link.replace("&amp;", "&"))
        assert followed.code == 200
        harmless(followed)
    whole = served.ask(f"/spent?{urllib.parse.urlencode({'where.user': EVIL[-1]})}").body
    assert "1 of 8 charges" in whole


def test_filters_answer_who_which_data_and_when(served: Served) -> None:
    assert "1 of 8 charges" in served.ask("/spent?by=dataset&where.user=ada").body
    assert "8 of 8 charges" in served.ask("/spent?from=2020-01-01").body
    assert "0 of 8 charges" in served.ask("/spent?to=2020-01-01").body
    assert "0 of 8 charges" in served.ask("/spent?unsaid=user").body
    assert "team-a" in served.ask("/entries?where.dataset=hospital").body
    entries = served.follower.seen.read
    assert f"{entries} entries, the newest first; page 1 of 1" in served.ask("/entries").body
    assert f"{entries} entries" in served.ask("/entries?from=2020-01-01&to=2262-01-01").body
    assert "0 entries" in served.ask("/entries?from=2262-01-01").body
    assert "0 entries" in served.ask("/entries?to=2020-01-01").body
    assert '<meta http-equiv="refresh" content="60">' in served.ask("/?refresh=60").body
    assert 'http-equiv="refresh"' not in served.ask("/").body


def test_the_verdict_is_for_programs_too(served: Served) -> None:
    found = json.loads(served.ask("/verify.json").body)
    assert (found["verdict"], found["reachable"], found["errors"]) == ("with caveats", True, [])
    assert found["head"] == served.follower.seen.head
    assert served.ask("/healthz").body == "ok\n"
    assert "Adds up, with caveats" in served.ask("/").body


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "X"])
def test_nothing_but_reading_is_answered(served: Served, method: str) -> None:
    for target in (*PAGES, "/login", "/nothing"):
        answer = served.ask(target, method, body="a=b" if method == "POST" else None)
        assert (answer.code, answer.headers["allow"]) == (405, "GET, HEAD")


def test_head_is_get_without_its_body(served: Served) -> None:
    for target in PAGES:
        full, head = served.ask(target), served.ask(target, "HEAD")
        assert (head.code, head.body) == (200, "")
        assert head.headers["content-length"] == full.headers["content-length"]


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "evil.example",
        "evil.example:8765",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "evil@localhost",
        "localhost:80:80",
        "localhost,evil.example",
        "127.0.0.2",
        "[::1",
        "LOCALHOST ",
        "localhost/../evil.example",
    ],
)
def test_no_other_name_leads_here(served: Served, host: str | None) -> None:
    for target in PAGES:
        answer = served.ask(target, Host=host)
        assert answer.code in (200, 400) if host == "LOCALHOST " else answer.code == 400
        assert answer.code == 200 or "evil" not in answer.body


def test_names_of_this_machine_do(served: Served) -> None:
    for host in ("localhost", "LocalHost:99", "127.0.0.1", "[::1]:8765"):
        assert served.ask("/healthz", Host=host).code == 200


def test_other_sites_may_link_here_and_nothing_else(served: Served) -> None:
    for site in ("cross-site", "same-site"):
        link = served.ask("/spent", Sec_Fetch_Site=site, Sec_Fetch_Mode="navigate")
        assert link.code == 200
        for mode in ("no-cors", "cors", "websocket", None):
            assert served.ask("/spent", Sec_Fetch_Site=site, Sec_Fetch_Mode=mode).code == 403
    for site in ("same-origin", "none"):
        assert served.ask("/spent", Sec_Fetch_Site=site, Sec_Fetch_Mode="navigate").code == 200


HOSTILE = (
    "by=weather", "by=", "x=1", "by=user&by=user", "where.weather=x", "page=0", "page=-1", "page=1e9", "page=99999999",
    "page=%D9%A1", "from=yesterday", "from=2026-13-01", "from=2026-02-30", "from=0000-01-01", "from=2026-03-01'",
    "from=2026-03-02&to=2026-03-01", "refresh=1", "refresh=0;url=//evil.example", "refresh=99999999", "where.user=%00",
    "where.user=%ff", "where.user=%C3", "where.user=%E2%80%AEada", "where.user=" + "a" * 1001, "a" * 5000, "unsaid=x",
    "unsaid=user&where.user=ada", "%", "=", "&&", "by", "where.user=%0d%0aSet-Cookie:a=b", "<script>",
    "by=user;by=user", "token=abc", "__class__=1", "where.=x", "from=2026-03-01T25:00",
    "from=٢٠٢٦-03-01", "%3Cscript%3E=1",
)  # fmt: skip


@pytest.mark.parametrize("query", HOSTILE)
def test_what_cannot_be_asked_is_refused_without_an_echo(served: Served, query: str) -> None:
    quoted = urllib.parse.quote(query, safe="%&=;:/'<>_.-")
    for page in ("/spent", "/entries", "/"):
        if query == "by=" and page == "/spent":
            continue  # an empty field of the form
        answer = served.ask(f"{page}?{quoted}")
        if page == "/entries" and query.startswith("page") and answer.code == 200:
            raise AssertionError(query)
        assert answer.code == 400
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
        for part in ("script", "evil", "yesterday", "weather", "Set-Cookie", "aaaa", "__class__"):
            assert part not in answer.body + "".join(answer.headers.values())


@settings(max_examples=300)
@given(st.text(max_size=60), st.sampled_from(sorted(FILTERS | {"page", "by", "refresh"})), st.text(max_size=40))
def test_any_query_is_answered_or_refused(raw: str, name: str, text: str) -> None:
    encoded = urllib.parse.urlencode({name: text}, errors="replace")
    for query in (raw, encoded, f"{encoded}&{raw}"):
        try:
            found = parsed(query, FILTERS | {"by", "page"})
        except BadQuery:
            continue
        again = parsed(found.link("/spent").partition("?")[2], FILTERS | {"by", "page"})
        assert again.question.where == found.question.where
        assert (again.question.since, again.question.until) == (found.question.since, found.question.until)


# --- tokens ----------------------------------------------------------------------------------------------------


def test_a_token_opens_every_page_and_stays_secret(tmp_path: Path) -> None:
    written(f"sqlite:///{tmp_path / 'study.db'}")
    token = new_token()
    with serving(str(tmp_path / "study.db"), Access(("desk.example.org",), token)) as served:
        for target in ("/", "/spent?by=user", "/entries", "/verify.json", "/nothing", f"/?token={token}"):
            refused = served.ask(target)
            assert (refused.code, refused.headers["www-authenticate"]) == (401, 'Bearer realm="exchequer"')
            assert "ada" not in refused.body
            assert "study" not in refused.body
            harmless(refused)
            for wrong in (token[:-1], token + "x", "", token.swapcase(), "é" * 30):
                sent = wrong.encode().decode("latin-1")
                assert served.ask(target, Authorization=f"Bearer {sent}").code == 401
            assert served.ask(target, Authorization=f"Basic {token}").code == 401
            assert served.ask(target, Cookie=f"exchequer={token}").code == 401
        for target in ("/", "/spent", "/entries", "/verify.json"):
            opened = served.ask(target, Authorization=f"Bearer {token}")
            assert opened.code == 200
            assert token not in opened.body + "".join(opened.headers.values())
        assert served.ask("/healthz").code == 200
        assert token not in "".join(served.said)


def test_the_form_gives_a_session_and_no_other_site_can_use_it(tmp_path: Path) -> None:
    written(f"sqlite:///{tmp_path / 'study.db'}")
    token = new_token()
    kind = {"Content_Type": "application/x-www-form-urlencoded"}
    with serving(str(tmp_path / "study.db"), Access(("desk.example.org",), token)) as served:
        own = f"http://127.0.0.1:{served.port}"
        assert served.ask("/login").code == 200
        assert served.ask("/login", "POST", "token=wrong", **kind).code == 401
        assert served.ask("/login", "POST", f"token={token}", Origin="https://evil.example", **kind).code == 403
        assert served.ask("/login", "POST", "token=" + "a" * 10_000, **kind).code in (401, 413)
        assert served.ask("/", "POST", f"token={token}", **kind).code == 405
        away = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}
        assert served.ask("/login", "POST", f"token={token}", Origin="null", **away, **kind).code == 403
        here = {"Sec_Fetch_Site": "same-origin", "Sec_Fetch_Mode": "navigate"}
        assert served.ask("/login", "POST", f"token={token}", Origin="null", **here, **kind).code == 303
        done = served.ask("/login", "POST", f"token={token}", Origin=own, **kind)
        assert (done.code, done.headers["location"]) == (303, "/")
        cookie, *rest = [part.strip() for part in done.headers["set-cookie"].split(";")]
        assert {"HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200"} <= set(rest)
        assert "Secure" not in rest
        assert token not in done.headers["set-cookie"]
        assert served.ask("/spent", Cookie=cookie).code == 200
        until = cookie.partition("=")[2].partition(".")[0]
        for forged in (cookie[:-1], cookie.replace(until, str(int(until) + 1)), f"exchequer={until}.", "exchequer=é.é"):
            assert served.ask("/", Cookie=forged).code == 401
        elsewhere = served.ask("/login", "POST", f"token={token}", Host="desk.example.org", **kind)
        assert "; Secure" in elsewhere.headers["set-cookie"]
    old = Access((), token)
    assert old.allows(None, old.session())
    assert not old.allows(None, old.session(now=0.0))
    assert not Access((), token).allows(None, old.session())
