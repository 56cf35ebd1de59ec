"""A POST request to another server."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import SplitResult, quote, unquote, urlsplit

from archivebot.net.deadline import connected, tls_context

_ASCII = "!\"#$%&'()*+,/:;<=>?@[\\]^`{|}~"  # stays as it is in the path of a request


@dataclass(frozen=True, slots=True)
class Answer:
    """The status of an answer, where it redirects to, the beginning of its body, and its Retry-After."""

    status: int
    location: str | None
    body: bytes
    retry_after: str


def is_address(url: str, *schemes: str) -> bool:
    """Return whether a text is a URL that a connection can be made to, with one of ``schemes``.

    >>> [is_address(url, "http", "https") for url in ("https://example.org/a", "http://[", "http://a:99999/")]
    [True, False, False]
    >>> [is_address(url, "http", "https") for url in ("http:///a", "ftp://example.org/", "http://a/ b")]
    [False, False, False]
    """
    try:
        parts = urlsplit(url)
        known = parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return known and not re.search(r"[\s\x00-\x1f\x7f\ud800-\udfff]", url)


def post(url: str, data: bytes, headers: Mapping[str, str], seconds: float, most: int) -> Answer:
    """Return the answer to a request, of its body at most ``most`` bytes; redirects are not followed.

    ``url`` is an address by ``is_address``; its user name and password are sent (RFC 7617) unless ``headers``
    have an authorization. Raises OSError if no valid answer comes within ``seconds``.
    """
    parts = urlsplit(url)
    tls = parts.scheme == "https"
    host, port = parts.hostname or "", parts.port or (443 if tls else 80)
    path = quote(f"{parts.path or '/'}{f'?{parts.query}' * bool(parts.query)}", safe=_ASCII)
    try:
        with connected(host, port, seconds, tls) as line:
            # A class of its own for https, because it leaves the usual port out of the header Host.
            client = HTTPSConnection(host, port, context=tls_context()) if tls else HTTPConnection(host, port)
            client.sock = line
            client.request("POST", path, data, {**_authorization(parts, headers), **headers})
            answer = client.getresponse()
            location, wait = answer.getheader("Location"), answer.getheader("Retry-After", "")
            return Answer(answer.status, location, answer.read(most), wait)
    except HTTPException as error:
        raise ConnectionError(f"its answer is no HTTP: {str(error) or type(error).__name__}") from error


def _authorization(parts: SplitResult, headers: Mapping[str, str]) -> dict[str, str]:
    if parts.username is None or "authorization" in map(str.lower, headers):
        return {}
    both = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {"Authorization": f"Basic {b64encode(both.encode()).decode()}"}
