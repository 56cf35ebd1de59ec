"""The scope of a crawl: which URLs belong to it, and the reason if one does not."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from archivebot.exceptions import UsageError
from archivebot.urls.canonical import canonical_url, parse_seed
from archivebot.urls.surt import host_of

if TYPE_CHECKING:
    from tldextract import TLDExtract

KINDS = ("host", "domain", "prefix", "page", "web")


@dataclass(frozen=True, slots=True)
class Scope:
    """The scope of a crawl: its ``kind``, and the hosts, domains, prefixes or pages of the seeds.

    ``pages`` are in order, and of prefixes none begins with another: so one look finds the only one that a
    URL may be or begin with.
    """

    kind: str
    sites: frozenset[str]
    pages: tuple[str, ...] = ()

    @classmethod
    def from_seeds(cls, seeds: Iterable[str], kind: str) -> Scope:
        """Return the scope of seeds: their ``host``, ``domain``, path ``prefix`` or ``page``, or the ``web``.

        The host counts with its port and without ``www.``, the domain is the registrable one; http and https
        are one. A prefix ends with the last slash of the seed's path. Raises UsageError for an unknown kind,
        or if a seed is not a URL.

        >>> scope = Scope.from_seeds(["http://example.com/docs/a.html"], "prefix")
        >>> scope.refusal("https://www.example.com/docs/b"), scope.refusal("http://example.com/blog")
        (None, 'outside_prefix')
        >>> Scope.from_seeds(["http://shop.example.co.uk/"], "domain").refusal("http://example.co.uk/a")
        """
        if kind not in KINDS:
            raise UsageError(f"scope is {kind!r}: give one of {', '.join(KINDS)}")
        urls = [parse_seed(seed) for seed in seeds]
        if kind == "web":
            return cls(kind, frozenset())
        if kind == "domain":
            return cls(kind, frozenset(_domain(host_of(url)) for url in urls))
        pages = [_address(url) for url in urls]
        sites = frozenset(page.partition("/")[0] for page in pages)
        if kind == "prefix":
            pages = [page.partition("?")[0].rpartition("/")[0] + "/" for page in pages]
            pages = _outermost(pages)
        return cls(kind, sites, () if kind == "host" else tuple(sorted(set(pages))))

    def refusal(self, url: str) -> str | None:
        """Return the name of the reason why a URL is out of scope, or None if it is in scope.

        Reasons are ``scheme`` (not http or https), ``malformed``, ``other_host``, ``other_domain``,
        ``outside_prefix`` and ``not_a_seed``.

        >>> scope = Scope.from_seeds(["http://example.com:8080/"], "host")
        >>> scope.refusal("http://example.com:8080/a"), scope.refusal("http://example.com/")
        (None, 'other_host')
        >>> scope.refusal("ftp://example.com:8080/"), scope.refusal("http://a..b/")
        ('scheme', 'malformed')
        """
        if not url[:8].lower().startswith(("http://", "https://")):
            return "scheme"
        try:
            url = canonical_url(url)
        except UsageError:
            return "malformed"
        if self.kind == "web":
            return None
        if self.kind == "domain":
            return None if _domain(host_of(url)) in self.sites else "other_domain"
        return self._refusal_of_page(_address(url))

    def _refusal_of_page(self, page: str) -> str | None:
        at = bisect_right(self.pages, page)
        nearest = self.pages[max(at - 1, 0) : at]
        if self.kind == "page":
            return None if page in nearest else "not_a_seed"
        if page.partition("/")[0] not in self.sites:
            return "other_host"
        return None if self.kind == "host" or page.startswith(nearest) else "outside_prefix"


def _outermost(prefixes: Iterable[str]) -> list[str]:
    """Return the prefixes that begin with no other one, in order.

    >>> _outermost(["a/b/", "c/", "a/", "a/b/c/"])
    ['a/', 'c/']
    """
    found: list[str] = []
    for prefix in sorted(prefixes):
        if not prefix.startswith(tuple(found[-1:])):
            found.append(prefix)
    return found


def _address(url: str) -> str:
    """Return a canonical URL without its scheme and ``www.``.

    >>> _address("https://www.example.com:8443/a?b=1")
    'example.com:8443/a?b=1'
    """
    return url.partition("://")[2].removeprefix("www.")


@lru_cache(maxsize=4096)
def _domain(host: str) -> str:
    """Return the registrable domain of a host, or the host itself if it has none (IPs, localhost)."""
    return _suffixes()(host).top_domain_under_public_suffix or host


def has_public_suffix(host: str) -> bool:
    """Return whether a name ends as the names of hosts do.

    >>> [has_public_suffix(name) for name in ("example.org", "user.github.io", "b.html", "localhost")]
    [True, True, False, False]
    """
    return "." in host and bool(_suffixes()(host).suffix)


@cache
def _suffixes() -> TLDExtract:
    # Imported here: most crawls do not need it, and it loads requests (about 80 ms).
    from tldextract import TLDExtract

    # The list that came with the package, read once: no network, no cache on disk. Private suffixes
    # count, so that a crawl of one user of github.io does not include all the others.
    return TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)
