"""The canonical URL: the identity of a page in the crawl and in the archive."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from urllib.parse import quote

from ada_url import join_url
from w3lib.url import canonicalize_url

from archivebot.exceptions import UsageError

# Parameters for the origin of a visitor, which never affect the content of a page: click and campaign ids
# of one vendor each. fbclid, mc_eid, _hsenc, mkt_tok, vero_id and oly_* Firefox strips by default in
# its strict mode, https://firefox-source-docs.mozilla.org/toolkit/components/antitracking/ ; the
# others are common to lists of link cleaners. A missing name costs copies of a page, a wrong one
# merges two pages, so only unmistakable names belong here.
TRACKING = (
    r"utm_\w+",  # Google Analytics and everyone who followed
    "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "_gl",  # Google Ads, cross-domain linker
    "fbclid", "igshid",  # Facebook, Instagram
    "msclkid", "yclid", "twclid", "ttclid", "li_fat_id",  # Microsoft, Yandex, X, TikTok, LinkedIn
    "mc_cid", "mc_eid",  # Mailchimp
    "_hsenc", "_hsmi", "mkt_tok", "vero_id", "oly_anon_id", "oly_enc_id",  # HubSpot, Marketo, Vero, Omeda
)  # fmt: skip

# With session ids one page has unlimited addresses: Java, PHP, ASP. ``sid`` names other things as well,
# so it counts only with the 32 alphanumerics of a session, as in the keys of web archives.
SESSION = (
    "jsessionid=.*",
    "phpsessid=.*",
    "sid=[0-9a-z]{32}",
    "aspsessionid[a-z]{8}=[a-z]{24}",
)

_DROPPED = re.compile(rf"(?:{'|'.join(TRACKING)})=.*|{'|'.join(SESSION)}", re.IGNORECASE)
_COLDFUSION = re.compile(r"cf(?:id|token)=", re.IGNORECASE)  # one session, in two parameters
_PATH_SESSION = re.compile(r";jsessionid=[^/;]*", re.IGNORECASE)

_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_AROUND = "".join(map(chr, range(33))) + "\xa0"  # what a person may type or paste: blanks, controls
_NOWHERE = "about:blank"  # a base against which only an absolute address is valid
_QUERY_SAFE = "%!$&()*+,;:@/?[]|~"
_PATH_UNSAFE = str.maketrans({each: quote(each) for each in "[]|"})  # Scrapy requests them escaped

_DEFAULT_PORT = {"http": "80", "https": "443"}
_HOST = r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*"
_NAME = r"(?:[a-z0-9_-]{1,63}\.)*[a-z_][a-z0-9_-]{0,62}"  # never in the form of an IPv4 address
_HTTP = re.compile(
    rf"(https?)://(?:[^/?]*@)?({_HOST}|\[[0-9a-f:.]+\])\.?(?::(\d+))?(/[^?]*)(?:\?(.*))?",
)
# Most links of a site need no change: lower-case host, no port, plain path, no query.
_PLAIN = re.compile(rf"https?://{_NAME}(?:/(?!\.)[A-Za-z0-9_.~-]*+)++")

# Most references on a page, which no parser changes: an address as above with a plain query and fragment, a
# path that begins at the root, or one that begins in the folder of the page. The links of 2,000 pages are
# resolved in half the time.
_SEGMENTS = r"[A-Za-z0-9_.~-]*+(?:/(?!\.)[A-Za-z0-9_.~-]*+)*+"
_REST = r"(?:\?[A-Za-z0-9_.~!$&()*+,;=:@/?%-]*+)?+(?:#[A-Za-z0-9_.~!$&()*+,;=:@/?%-]*+)?+"
_PLAIN_REFERENCE = re.compile(
    rf"(?:(?P<root>/(?![./]){_SEGMENTS})|(?P<folder>[A-Za-z0-9_~-]{_SEGMENTS})"
    rf"|https?://(?!(?:[^/]*\.)?xn--){_NAME}/(?!\.){_SEGMENTS}){_REST}"
)

# A scheme, unless what follows the colon is a port: "example.com:8080/a" has none.
SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:(?!\d+(?:[/?#]|$))", re.IGNORECASE)


def canonical_url(url: str, base: str | None = None) -> str:
    """Return the one form of an http URL under which its page is fetched, compared and stored.

    A reference is resolved against ``base``, and any text is read, as a browser does it (WHATWG). Scheme and
    host become lower case and IDNA; default port, fragment, user info, session ids and tracking parameters
    go; dot segments are resolved and parameters sorted; a query without ``=`` is not form data and keeps its
    order. The case of the path stays. The result is its own canonical URL. Raises UsageError if the text is
    not an http URL.

    >>> canonical_url("HTTP://User@Example.COM:80/a/../B;jsessionid=1?z=1&utm_source=x&a=2#top")
    'http://example.com/B?a=2&z=1'
    >>> canonical_url("../c?wsdl", "https://example.com/a/b/")
    'https://example.com/a/c?wsdl'
    >>> canonical_url("http://bücher.example")
    'http://xn--bcher-kva.example/'
    >>> canonical_url("mailto:a@b.example")
    Traceback (most recent call last):
    archivebot.exceptions.UsageError: 'mailto:a@b.example' is no http URL: write it like http://example.com/page
    """
    if _PLAIN.fullmatch(url):
        return url
    address = joined(base or "", url)
    try:
        return _canonical(address or "")
    except ValueError as error:
        raise UsageError(f"{url!r} is no http URL: write it like http://example.com/page") from error


def target(reference: str, base: str) -> str | None:
    """Return the canonical URL that a reference on a page leads to, or None if that is no http URL.

    >>> target("/b#top", "http://a.example/x/"), target("mailto:a@b.example", "http://a.example/")
    ('http://a.example/b', None)
    """
    try:
        return canonical_url(reference, base)
    except UsageError:
        return None


def joined(base: str, reference: str) -> str | None:
    """Return the address of a reference on a page, as in a browser (WHATWG), or None if it is invalid.

    >>> joined("http://a.example//b/c", "d"), joined("https://a.example/b", "http:/c"), joined("", "c")
    ('http://a.example//b/d', 'http://c/', None)
    """
    plain = _PLAIN_REFERENCE.fullmatch(reference)
    if plain and not plain.lastgroup:
        return reference
    if plain and (places := _places(base)):
        return places[plain.lastgroup == "folder"] + reference
    for known in (base, _NOWHERE):  # an absolute address needs no base, so an invalid base does no harm
        try:
            return join_url(known, reference)
        except ValueError:
            continue
    return None


def encoded(reference: str, charset: str) -> str:
    """Return a reference on a page in a charset, with its query in the charset as in a browser (WHATWG).

    The path is always in UTF-8, and a character that the charset lacks is sent as in a form.

    >>> encoded("/é?q=é#é", "cp1252"), encoded("?q=Ω&p", "cp1252"), encoded("?é", "utf-8")
    ('/é?q=%E9#é', '?q=%26%23937%3B&p', '?é')
    """
    if reference.isascii() or charset.startswith("utf"):
        return reference
    rest, mark, fragment = reference.partition("#")
    path, question, query = rest.partition("?")
    query = _NOT_ASCII.sub(lambda run: quote(run[0].encode(charset, "xmlcharrefreplace"), safe=""), query)
    return path + question + query + mark + fragment


@lru_cache(maxsize=1 << 10)
def _places(base: str) -> tuple[str, str] | None:
    """Return the addresses of the root of a site, without its slash, and of the folder of a page."""
    try:
        return join_url(base, "/")[:-1], join_url(base, ".")
    except ValueError:
        return None


def parse_seed(text: str) -> str:
    """Return the canonical URL of a typed address; ``http://`` is the default scheme.

    Raises UsageError if it is not an http URL.

    >>> parse_seed(" example.com/Foo "), parse_seed("localhost:8000"), parse_seed("//example.com")
    ('http://example.com/Foo', 'http://localhost:8000/', 'http://example.com/')
    """
    text = text.strip(_AROUND)
    return canonical_url(text if SCHEME.match(text) else "http://" + text.removeprefix("//"))


def variants(text: str) -> Iterator[str]:
    """Yield the URLs that a typed address may mean, itself first: https or http, with or without www.

    Raises UsageError if it is not an http URL.

    >>> [*variants("example.com/a")][1:]
    ['http://example.com/a', 'https://example.com/a', 'https://www.example.com/a', 'http://www.example.com/a']
    """
    yield text
    url = parse_seed(text)
    rest = url.partition("://")[2].removeprefix("www.")
    others = (f"{scheme}://{www}{rest}" for scheme, www in product(("https", "http"), ("", "www.")))
    yield from dict.fromkeys((url, *others))


def _canonical(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    match = _HTTP.fullmatch(_normalised(text))
    if not match:
        raise ValueError("no scheme http or https, or no host")
    scheme, host, port, path, query = match.groups()
    if port and port != _DEFAULT_PORT[scheme]:
        host = f"{host}:{port}"
    path = path.translate(_PATH_UNSAFE)
    kept = _PATH_SESSION.sub("", path)
    query = _without_session(query) if query else ""
    url = f"{scheme}://{host}{kept}?{query}" if query else f"{scheme}://{host}{kept}"
    return url if kept == path else _canonical(url)  # a dot segment may have appeared


def _normalised(text: str) -> str:
    text = _STRAY_PERCENT.sub("%25", text)  # or decoding could create a new escape
    body, _, query = text.partition("#")[0].partition("?")
    if "=" in query:
        return canonicalize_url(f"{body}?{query}")
    query = quote(query.strip("&"), safe=_QUERY_SAFE)
    return f"{canonicalize_url(body)}?{query}" if query else canonicalize_url(body)


def _without_session(query: str) -> str:
    parameters = [each for each in query.split("&") if not _DROPPED.fullmatch(each)]
    coldfusion = [each for each in parameters if _COLDFUSION.match(each)]
    if len(coldfusion) == 2:
        parameters = [each for each in parameters if each not in coldfusion]
    return "&".join(parameters)
