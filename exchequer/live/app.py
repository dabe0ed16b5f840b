"""The pages over HTTP: GET and HEAD alone, nothing that writes, and no word of what went wrong but its number.

There is one form that posts: the token's, where there is one.
"""

import json
import secrets
import traceback
from collections.abc import Callable
from typing import Final

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

from accountant import LedgerUnavailable
from exchequer.live.access import COOKIE, LOOPBACK, SESSION, Access
from exchequer.live.markup import page
from exchequer.live.pages import PATHS, Desk
from exchequer.live.queries import FILTERS, BadQuery, parsed

PARAMETERS: Final = {"/": frozenset[str](), "/spent": FILTERS | {"by"}, "/entries": FILTERS | {"page"}}

LOGIN: Final = "/login"
READS: Final = ("GET", "HEAD")

PLAIN: Final = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}

SAID: Final = {
    400: "This request cannot be understood.",
    404: "There is no such page.",
    405: "This server answers GET and HEAD only: nothing can be changed here.",
    413: "This request is too long.",
}


def application(desk: Desk, access: Access, *, say: Callable[[str], object] = lambda text: None) -> Flask:
    """The WSGI application. say: is told of errors, with their numbers."""
    app = Flask("exchequer.live", static_folder=None, template_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = 4096
    app.url_map.strict_slashes = False

    @app.before_request
    def guard() -> Response | None:
        return _refused(access)

    @app.after_request
    def headers(response: Response) -> Response:
        for name, value in HEADERS.items():
            response.headers[name] = value
        response.headers.setdefault("Content-Security-Policy", PLAIN)
        return response

    @app.errorhandler(HTTPException)
    def known(error: HTTPException) -> Response:
        code = error.code or 500
        return plain(SAID.get(code, "Error."), code)

    @app.errorhandler(LedgerUnavailable)
    def unavailable(error: LedgerUnavailable) -> Response:
        say(f"the ledger cannot be read just now: {error}")
        return plain("The ledger cannot be read just now.", 503)

    @app.errorhandler(Exception)
    def unknown(error: Exception) -> Response:
        number = secrets.token_hex(6)
        say(f"error {number}\n{''.join(traceback.format_exception(error))}")
        return plain(f"Something went wrong here. The server's log has it as error {number}.", 500)

    _add_pages(app, desk)
    if access.token is not None:
        _add_login(app, access)
    return app


def _add_pages(app: Flask, desk: Desk) -> None:
    def show() -> Response:
        path = request.path
        if desk.seen.verification is None and not desk.seen.lost:
            return _html(*desk.reading(), 503)
        try:
            query = parsed(request.query_string.decode("ascii"), PARAMETERS[path])
        except (BadQuery, UnicodeDecodeError) as error:
            return plain(f"{error if isinstance(error, BadQuery) else SAID[400]}", 400)
        return _html(*desk.sent(path, query))

    for path, name in PATHS.items():
        app.add_url_rule(path, name, show, methods=["GET"], provide_automatic_options=False)

    def verdict() -> Response:
        seen = desk.seen
        return _json(_verdict(desk), 503 if seen.verdict == "reading" else 200)

    def health() -> Response:
        works = desk.follower.alive and not desk.seen.trouble
        return plain("ok" if works else "the ledger is not being read", 200 if works else 503)

    app.add_url_rule("/verify.json", "verify", verdict, methods=["GET"], provide_automatic_options=False)
    app.add_url_rule("/healthz", "health", health, methods=["GET"], provide_automatic_options=False)


def _verdict(desk: Desk) -> dict[str, object]:
    """For programs. reachable: whether the ledger could be read at the last look."""
    seen = desk.seen
    found = seen.verification
    errors = [*([seen.lost] if seen.lost else []), *(() if found is None else found.errors)]
    return {
        "verdict": seen.verdict,
        "entries": seen.read,
        "of": seen.of,
        "head": seen.head,
        "looked": None if seen.looked is None else seen.looked.isoformat(timespec="seconds"),
        "reachable": not seen.trouble,
        "errors": errors,
        **({"unchecked": found.unchecked} if found is not None and found.unchecked else {}),
        "caveats": [] if found is None else list(found.caveats),
        "notes": [] if found is None else list(found.notes),
    }


# --- who may ask -----------------------------------------------------------------------------------------------


def _refused(access: Access) -> Response | None:
    """What is wrong with a request before anybody looks at what it asks; None if it may be answered."""
    if access.serves(request.headers.get("Host")) is None:
        return plain("This server does not answer to that name. Whoever runs it can allow it: --allow-host.", 400)
    if _from_elsewhere():
        return plain("Other sites may link to this page, and nothing else.", 403)
    login = request.path == LOGIN and access.token is not None
    if request.method not in READS and not (login and request.method == "POST"):
        refusal = plain(SAID[405], 405)
        refusal.headers["Allow"] = ", ".join(READS)
        return refusal
    if (
        login
        or request.path == "/healthz"
        or access.allows(request.headers.get("Authorization"), request.cookies.get(COOKIE))
    ):
        return None
    refusal = _form(401)
    refusal.headers["WWW-Authenticate"] = 'Bearer realm="exchequer"'
    return refusal


def _from_elsewhere() -> bool:
    """Whether a browser says that another site asks, for anything but a page to go to: to measure how long it takes."""
    site, mode = request.headers.get("Sec-Fetch-Site"), request.headers.get("Sec-Fetch-Mode")
    return site not in (None, "same-origin", "none") and (mode != "navigate" or request.method not in READS)


def _sent_from(origin: str | None, host: str) -> bool:
    """Whether a form may have been sent from a page of this server: "null" is what a browser says for our pages."""
    return origin in (None, "null") or str(origin).partition("://")[2] == host


def _add_login(app: Flask, access: Access) -> None:
    def form() -> Response:
        return _form(200)

    def login() -> Response:
        host = request.headers.get("Host", "")
        if not _sent_from(request.headers.get("Origin"), host):
            return plain("This form was sent from another site.", 403)
        if not access.knows(request.form.get("token", "")):
            return _form(401, failed=True)
        done = Response(status=303)
        done.headers["Location"] = "/"
        done.set_cookie(
            COOKIE,
            access.session(),
            max_age=SESSION,
            path="/",
            secure=access.serves(host) not in LOOPBACK,  # elsewhere it must come through TLS, or it is not kept
            httponly=True,
            samesite="Strict",
        )
        return done

    app.add_url_rule(LOGIN, "form", form, methods=["GET"], provide_automatic_options=False)
    app.add_url_rule(LOGIN, "login", login, methods=["POST"], provide_automatic_options=False)


def _form(code: int, *, failed: bool = False) -> Response:
    made = page("login.html", failed=failed)
    return _html(made.html(), made.policy, code)


# --- answers ---------------------------------------------------------------------------------------------------


def _html(html: str, policy: str, code: int = 200) -> Response:
    response = Response(html, code, content_type="text/html; charset=utf-8")
    response.headers["Content-Security-Policy"] = policy
    if code == 503:
        response.headers["Retry-After"] = "2"
    return response


def _json(record: dict[str, object], code: int) -> Response:
    return Response(json.dumps(record, indent=1, allow_nan=False), code, content_type="application/json")


def plain(text: str, code: int) -> Response:
    """Text alone."""
    return Response(f"{text}\n", code, content_type="text/plain; charset=utf-8")
