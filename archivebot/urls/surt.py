"""The SURT urlkey: host labels reversed, case and scheme merged; for look-up, never for identity."""

from __future__ import annotations

import re
from functools import lru_cache

from archivebot.exceptions import UsageError
from archivebot.urls.canonical import SCHEME

MATCH_TYPES = ("exact", "prefix", "host", "domain")

_INSIDE = str.maketrans("", "", "\t\r\n")
_PARTS = re.compile(r"(?:([a-z][a-z0-9+.-]*):(?=//))?/*([^/?]*)([^?]*)\??(.*)", re.IGNORECASE | re.DOTALL)
_OPAQUE = re.compile(rf"{SCHEME.pattern}(?!//)", re.IGNORECASE)
_PORT = re.compile(r":0*+([0-9]*+)$")
_DOTS = re.compile(r"\.{2,}")
_WWW = re.compile(r"^www\d*\.")
_UNSAFE = re.compile(rb"[\x00-\x20\x7f-\xff#%]")
_DEFAULT_PORT = {"http": "80", "https": "443"}

# The session ids that web archives leave out of a key; only the last of each kind, as the tools do.
_QUERY_SESSIONS = tuple(
    re.compile(rf"(.*)(?:{pattern})(?:&(.*))?", re.IGNORECASE | re.DOTALL)
    for pattern in (
        "jsessionid=[0-9a-z]{32}",
        "phpsessid=[0-9a-z]{32}",
        "sid=[0-9a-z]{32}",
        "aspsessionid[a-z]{8}=[a-z]{24}",
        "cfid=(?:(?!cfid=[^&])[^&])+&cftoken=[^&]+",
    )
)
_ASP_NET_SESSION = re.compile(r"/\((?:[0-9a-z]{24}|(?:[a-z]\([0-9a-z]{24}\))+)\)(?=/.)")
_HEX = frozenset(b"0123456789abcdefABCDEF")
_PERCENT = ord("%")
_LONGEST_HOST = 253  # https://www.rfc-editor.org/rfc/rfc1035#section-2.3.4


@lru_cache(maxsize=64)  # storing a page needs its key several times
def urlkey(url: str) -> str:
    """Return the key under which captures of a URL are sorted and found, the same as in other archives.

    It agrees with the keys of pywb, cdxj-indexer and the Internet Archive. Any text has a key:
    without a scheme it is read as http; a text without host (``urn:``, ``dns:``) stays unchanged.

    >>> urlkey("https://www2.Example.com:443/Path/?b=2&a=1#top")
    'com,example)/path?a=1&b=2'
    >>> urlkey("example.com:8080/foo"), urlkey("http://[::1]/"), urlkey("dns:example.com")
    ('com,example:8080)/foo', '::1)/', 'dns:example.com')
    """
    text = _without_fragment(url)
    if _OPAQUE.match(text):
        return _escaped(_unescaped(text)).lower().removesuffix("/")
    scheme, authority, path, query = _split(text)
    key = f"{_host_key(authority, scheme)}){_path_key(path)}"
    query = _query_key(query)
    return f"{key}?{query}" if query else key


def host_of(url: str) -> str:
    """Return the host of a URL in lower case and IDNA, without user info and port; empty if it has none.

    >>> host_of("http://me@WWW.Example.com:8080/a"), host_of("example.com/a"), host_of("http://[::1]:80/")
    ('www.example.com', 'example.com', '::1')
    >>> host_of("mailto:a@b.example"), host_of("")
    ('', '')
    """
    text = _without_fragment(url)
    return "" if _OPAQUE.match(text) else _host_and_port(_split(text)[1])[0]


def site_of(url: str) -> str:
    """Return the site of a URL: its host, with the port unless that is the default; empty if it has none.

    >>> site_of("http://WWW.Example.com:8080/a"), site_of("https://example.com:443/"), site_of("a.example")
    ('www.example.com:8080', 'example.com', 'a.example')
    >>> site_of("http://[::1]:8080/"), site_of("mailto:a@b.example")
    ('[::1]:8080', '')
    """
    text = _without_fragment(url)
    if _OPAQUE.match(text):
        return ""
    scheme, authority, *_ = _split(text)
    host, port = _host_and_port(authority)
    if not port or port == _DEFAULT_PORT.get(scheme):
        return host
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def host_part(key: str) -> str:
    """Return the part of a urlkey that names the host, reversed and without the parenthesis.

    >>> host_part("com,example,sub:8080)/a")
    'com,example,sub:8080'
    """
    return key.partition(")")[0]


def host_of_key(key: str) -> str:
    """Return the host of a urlkey, with its port if it has one.

    >>> host_of_key("com,example,sub:8080)/a"), host_of_key("1,0,0,127)/")
    ('sub.example.com:8080', '127.0.0.1')
    """
    host, colon, port = host_part(key).partition(":")
    return ".".join(reversed(host.split(","))) + colon + port


def key_range(url: str, match: str) -> tuple[str, str]:
    """Return the half-open range [start, end) of sorted keys for one match type of the CDX server.

    It is valid for bare keys and for CDXJ lines, which continue with a space. A prefix that ends with a slash
    means the URLs below that folder. Raises UsageError for an unknown match type.

    >>> key_range("http://example.com/a/b.html", "exact")
    ('com,example)/a/b.html', 'com,example)/a/b.html!')
    >>> key_range("http://example.com/a/b.html", "prefix")
    ('com,example)/a/b.html', 'com,example)/a/b.htmm')
    >>> key_range("http://example.com/a/", "prefix")
    ('com,example)/a/', 'com,example)/a0')
    >>> key_range("http://www.example.com/a", "host")
    ('com,example)/', 'com,example*')
    >>> key_range("http://example.com/a", "domain")
    ('com,example)/', 'com,example-')
    >>> key_range("com", "domain")
    ('com)/', 'com-')
    >>> key_range("example.com", "all")
    Traceback (most recent call last):
    archivebot.exceptions.UsageError: matchType is 'all': give one of exact, prefix, host, domain
    """
    key = urlkey(url)
    host = key.partition(")/")[0]
    if match == "exact":
        return key, key + "!"  # the first character after the space that a key may hold
    if match == "prefix":
        start = key + "/" if url.rstrip().endswith("/") and not key.endswith("/") else key
        return start, start[:-1] + chr(ord(start[-1]) + 1)
    if match == "host":
        return f"{host})/", f"{host}*"  # "*" follows ")"
    if match == "domain":
        return f"{host})/", f"{host}-"  # "-" follows ",", which goes before each sub-domain
    raise UsageError(f"matchType is {match!r}: give one of {', '.join(MATCH_TYPES)}")


def _without_fragment(url: str) -> str:
    return url.strip().translate(_INSIDE).partition("#")[0]


def _split(text: str) -> tuple[str, str, str, str]:
    scheme, authority, path, query = _PARTS.findall(text)[0]  # the pattern matches any text
    return scheme.lower() or "http", authority, path, query


@lru_cache(maxsize=1024)  # a crawl reads the host of each URL several times
def _host_and_port(authority: str) -> tuple[str, str]:
    host = authority.rpartition("@")[2]
    port = _PORT.search(host)
    if port:
        host = host[: port.start()]
    host = _unescaped(host.strip("[]")).decode("utf-8", "replace").lower()
    return _idna(_DOTS.sub(".", host).strip(".")), port[1] if port else ""


def _idna(host: str) -> str:
    if host.isascii() or len(host) > _LONGEST_HOST:
        return host
    try:
        return host.encode("idna").decode()
    except UnicodeError:  # a label too long or not allowed: no such host, but still a key
        return host


def _host_key(authority: str, scheme: str) -> str:
    host, port = _host_and_port(authority)
    host = _escaped(_WWW.sub("", host, count=1).encode())
    key = host if ":" in host else ",".join(reversed(host.split(".")))
    return key if not port or port == _DEFAULT_PORT.get(scheme) else f"{key}:{port}"


def _path_key(path: str) -> str:
    kept: list[str] = []
    for segment in _unescaped(path).decode("latin-1").split("/")[1:]:
        if segment == ".." and kept:
            kept.pop()
        elif segment != ".":
            kept.append(segment)
    joined = "/" + "/".join(filter(None, kept))
    return _without_session(_escaped(joined.encode("latin-1")).lower())


def _without_session(path: str) -> str:
    """Return a path without the last session id of ASP.NET before a page."""
    end = path.rfind(".aspx")
    for found in reversed(list(_ASP_NET_SESSION.finditer(path))):
        if found.end() + 2 <= end:
            return path[: found.start()] + path[found.end() :]
    return path


def _query_key(query: str) -> str:
    query = _escaped(_unescaped(query)).lower()
    for session in _QUERY_SESSIONS:
        if match := session.fullmatch(query):
            query = "".join(match.groups(""))
    return "&".join(sorted(query.split("&"), key=lambda each: each.partition("=")))


def _unescaped(text: str) -> bytes:
    """Decode percent escapes until none is left, including nested escapes, in one pass."""
    plain, *pieces = text.encode("utf-8", "surrogatepass").split(b"%")
    done = bytearray(plain)
    for piece in pieces:
        done.append(_PERCENT)
        for at, byte in enumerate(piece):
            if _PERCENT not in done[-2:]:  # nothing that the rest of the piece could complete
                done += piece[at:]
                break
            done.append(byte)
            while len(done) > 2 and done[-3] == _PERCENT and _HEX.issuperset(done[-2:]):
                done[-3:] = bytes.fromhex(done[-2:].decode())
    return bytes(done)


def _escaped(raw: bytes) -> str:
    return _UNSAFE.sub(lambda byte: b"%%%02x" % byte[0][0], raw).decode("ascii")
