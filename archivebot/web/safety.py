"""The headers that keep archived pages and the pages of the interface apart, and both harmless."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from starlette.requests import Request

from archivebot.models import Headers
from archivebot.replay.address import ROOT

# An archived page has an origin of its own, which nothing else has, and runs no script.
SANDBOX = "sandbox allow-forms allow-popups allow-top-navigation-by-user-activation allow-downloads"

NO_SNIFFING = ("X-Content-Type-Options", "nosniff")
NO_REFERRER = ("Referrer-Policy", "no-referrer")

# The headers of each answer of the interface.
INTERFACE = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; frame-src 'self';"
        " base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    **dict((NO_SNIFFING, NO_REFERRER)),
}

LOOPBACK = ("localhost", "127.0.0.1", "::1")

_HOST = re.compile(r"[A-Za-z0-9._-]+(?::\d+)?|\[[0-9A-Fa-f:.]+\](?::\d+)?")
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]+")


def is_known(host: str, bound: str, address: str = "") -> bool:
    """Return whether a Host header names this server, which is bound to the address ``bound``.

    Any other name that leads here is that of a page of another site, which wants to read the archive (DNS
    rebinding). The exception is the host of ``address``, the URL of a web server in front of this one. A
    server on all addresses, or on a name of its own, cannot tell such names.

    >>> is_known("127.0.0.1:8000", "127.0.0.1"), is_known("[::1]:8000", "::1"), is_known("localhost", "::1")
    (True, True, True)
    >>> is_known("evil.example:8000", "127.0.0.1"), is_known("archive.example", "0.0.0.0")
    (False, True)
    >>> is_known("archive.example", "127.0.0.1", "https://archive.example")
    True
    >>> is_known("archive.example; script-src *", "0.0.0.0")
    False
    """
    if not _HOST.fullmatch(host):  # it becomes part of a policy
        return False
    if bound not in LOOPBACK:
        return True
    try:
        return urlsplit(f"//{host}").hostname in (*LOOPBACK, urlsplit(address).hostname)
    except ValueError:
        return False


def server_address(request: Request) -> str:
    """Return scheme, host and port under which this server was asked."""
    host, port = request.scope["server"] or ("localhost", None)
    named = request.headers.get("host") or (f"{host}:{port}" if port else host)
    return f"{request.scope['scheme']}://{named}"


def replayed(request: Request) -> Headers:
    """Return the headers of everything that was archived.

    Only the archived part of this server may be loaded. Fonts and masks are used by a page of another origin,
    such as the sandbox, only if the server allows that. It allows fonts, because scripts cannot ask for a
    font's bytes, and not masks: a script of another site could draw any archived picture and read it.
    """
    here = server_address(request) + ROOT
    policy = (
        f"default-src 'none'; img-src {here} data: blob:; style-src {here} data: 'unsafe-inline';"
        f" font-src {here} data:; media-src {here} data: blob:; frame-src {here}; object-src {here};"
        f" form-action {here}; base-uri {here}; {SANDBOX}"
    )
    headers = [
        ("Content-Security-Policy", policy),
        NO_SNIFFING,
        NO_REFERRER,
        ("X-DNS-Prefetch-Control", "off"),
    ]
    if request.headers.get("sec-fetch-dest") == "font":
        headers.append(("Access-Control-Allow-Origin", "null"))
    return tuple(headers)


def clean(value: str) -> str:
    """Return the value of an archived header without controls, with which it cannot be sent."""
    return _CONTROLS.sub(" ", value).strip()


def original(headers: Headers) -> Headers:
    """Return the headers of an archived answer under names that differ from those of the server.

    >>> original((("Set-Cookie", "a=b\\r\\nX: y"), ("no name", "")))
    (('X-Archive-Orig-Set-Cookie', 'a=b X: y'),)
    """
    return tuple((f"X-Archive-Orig-{name}", clean(value)) for name, value in headers if _NAME.fullmatch(name))
