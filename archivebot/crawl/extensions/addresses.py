"""Refuses private addresses behind host names: addresses are checked when a connection is made."""

from __future__ import annotations

from typing import Any
from urllib.request import getproxies

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from twisted.internet.interfaces import IHostnameResolver, IResolutionReceiver
from zope.interface import implementer

from archivebot.access.file import read_realms
from archivebot.config import CrawlConfig
from archivebot.urls import host_of, is_private


def named_hosts(crawler: Crawler) -> frozenset[str]:
    """Return the hosts of a crawl that may have private addresses, because the operator named them."""
    named: frozenset[str] = getattr(crawler.spider, "named", frozenset())
    return named


class PublicAddresses:
    """Prevents connections to private addresses through host names that the operator did not name.

    The addresses of a name are checked at every connection, so a changed DNS entry is checked again. The
    hosts of the operator's proxies are allowed; behind a proxy, the proxy looks the names up.
    """

    def __init__(self, crawler: Crawler, proxies: frozenset[str] = frozenset()) -> None:
        self.crawler, self.proxies = crawler, proxies
        self.refused: set[str] = set()  # names with a refused address
        self._resolver: PublicResolver | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> PublicAddresses:
        config = CrawlConfig.from_settings(crawler.settings)
        if config.private_addresses:
            raise NotConfigured("ARCHIVE_PRIVATE_ADDRESSES is on")
        realms = read_realms(config.secrets)
        extension = cls(crawler, frozenset(host_of(realm.proxy) for realm in realms if realm.proxy))
        crawler.signals.connect(extension.spider_opened, signals.spider_opened)
        crawler.signals.connect(extension.spider_closed, signals.spider_closed)
        return extension

    def spider_opened(self) -> None:
        from twisted.internet import reactor  # importing it earlier would choose it

        proxies = {host_of(proxy) for scheme, proxy in getproxies().items() if scheme != "no"}
        allowed = named_hosts(self.crawler) | proxies | self.proxies
        self._resolver = PublicResolver(reactor.nameResolver, allowed, self.refused)
        reactor.installNameResolver(self._resolver)

    def spider_closed(self) -> None:
        from twisted.internet import reactor

        if self._resolver is None:
            return
        self._resolver.is_open = False
        if reactor.nameResolver is self._resolver:  # else another crawl of this process still uses ours
            reactor.installNameResolver(self._resolver.resolver)


@implementer(IHostnameResolver)
class PublicResolver:
    """Wraps a resolver and removes the private addresses of hosts that are not allowed."""

    def __init__(self, resolver: Any, allowed: frozenset[str], refused: set[str]) -> None:
        self.resolver = resolver
        self.allowed = allowed
        self.refused = refused
        self.is_open = True  # whether its crawl is running; otherwise all addresses pass

    def resolveHostName(self, receiver: Any, name: str, *wanted: Any, **more: Any) -> Any:  # noqa: N802 (Twisted's)
        if self.is_open and name.lower() not in self.allowed:
            receiver = PublicReceiver(receiver, name.lower(), self.refused)
        return self.resolver.resolveHostName(receiver, name, *wanted, **more)


@implementer(IResolutionReceiver)
class PublicReceiver:
    """Passes on the addresses of a name, except the private ones."""

    def __init__(self, receiver: Any, name: str, refused: set[str]) -> None:
        self.receiver = receiver
        self.name = name
        self.refused = refused
        self.resolutionBegan = receiver.resolutionBegan
        self.resolutionComplete = receiver.resolutionComplete

    def addressResolved(self, address: Any) -> None:  # noqa: N802 (Twisted's)
        if is_private(address.host):
            self.refused.add(self.name)
        else:
            self.receiver.addressResolved(address)
