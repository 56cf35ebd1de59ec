"""A realm, the pages of a site that need a log-in, and what opens it."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookiejar import Cookie

# Links that end a session; a crawl that follows one has to log in again.
_EXIT = re.compile(r"(?:log|sign)[-_ ]?(?:out|off)(?![a-z])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Login:
    """A form of log-in: the address of its page, and the values of its fields by name."""

    url: str
    fields: Mapping[str, str] = field(repr=False, hash=False)


@dataclass(frozen=True, slots=True)
class Realm:
    """What opens the pages whose URL matches one of the ``patterns``; no part is ever shown or stored.

    ``basic`` are a name and a password, ``cookies`` those of a jar. ``proxy`` is the URL of a proxy, which
    may hold a name and a password.
    """

    name: str
    patterns: tuple[re.Pattern[str], ...]
    basic: tuple[str, str] | None = field(default=None, repr=False)
    login: Login | None = None
    cookies: tuple[Cookie, ...] = field(default=(), repr=False)
    proxy: str = field(default="", repr=False)

    def opens(self, url: str) -> bool:
        """Return whether a page is in this realm."""
        return any(pattern.fullmatch(url) for pattern in self.patterns)

    @property
    def has_session(self) -> bool:
        """Whether its pages are asked for with cookies."""
        return bool(self.login or self.cookies)

    @property
    def authorization(self) -> bytes:
        """The value of the header Authorization (RFC 7617); empty for none.

        >>> Realm("a", (), ("Aladdin", "open sesame")).authorization
        b'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=='
        """
        return b"Basic " + b64encode(":".join(self.basic).encode()) if self.basic else b""

    def is_exit(self, url: str) -> bool:
        """Return whether a URL would end the session.

        >>> realm = Realm("a", (), login=Login("http://a.example/login", {}))
        >>> realm.is_exit("http://a.example/log-out?x=1"), realm.is_exit("http://a.example/logouts-explained")
        (True, False)
        """
        return self.has_session and _EXIT.search(url.partition("://")[2].partition("/")[2]) is not None
