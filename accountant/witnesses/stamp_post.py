"""Sending a request for a time stamp over HTTP, to the address that the user gave and to no other."""

import urllib.error
import urllib.parse
import urllib.request
from email.message import Message
from typing import IO


def post(url: str, content: bytes, kind: str, patience: float, longest: int) -> bytes:
    """The answer, up to so many bytes. kind: of the content.  patience: seconds.  Raises ValueError and OSError."""
    if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        raise ValueError(f"an authority is asked over http or https, not at {url!r:.200}")
    query = urllib.request.Request(url, content, {"Content-Type": kind}, method="POST")
    opener = urllib.request.build_opener(_NoRedirects)
    try:
        with opener.open(query, timeout=patience) as answer:
            return bytes(answer.read(longest))
    except urllib.error.HTTPError as error:
        error.close()
        raise OSError(f"{url} refused to stamp: {error.code} {error.reason}") from None
    except urllib.error.URLError as error:
        raise OSError(f"{url} does not answer: {error.reason}") from None


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Nothing is sent to anybody whom the user did not name."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> None:
        return None
