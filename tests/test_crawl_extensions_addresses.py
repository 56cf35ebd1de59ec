"""Private addresses: no link, redirect, name or robots.txt leads to one that the operator did not name."""

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
import twisted.internet
from scrapy.crawler import Crawler
from scrapy.resolver import CachingThreadedResolver
from twisted.internet.address import IPv4Address
from twisted.internet.defer import Deferred, succeed

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.crawl.extensions.addresses import PublicAddresses
from archivebot.urls import host_of, is_private
from archivebot.wire import Wire
from tests.conftest import Crawl
from tests.factories import make_page
from tests.mockserver import MockServer, html, redirect, robots


class Names(CachingThreadedResolver):
    """DNS of these tests: all names under .example are this machine."""

    def getHostByName(self, name: str, timeout: Any = ()) -> Deferred[str]:  # noqa: N802 (Twisted's)
        return succeed("127.0.0.1" if name.endswith(".example") else name)


NAMES = ("-s", "TWISTED_DNS_RESOLVER=tests.test_crawl_extensions_addresses.Names")


@pytest.fixture
def other() -> Iterator[MockServer]:
    with MockServer({"/": html(), "/robots.txt": robots("")}, host="127.0.0.2") as server:
        yield server


def test_links_and_redirects_to_private_addresses_are_refused(
    site: MockServer, other: MockServer, crawl: Crawl
) -> None:
    links = [
        other.url("/"),
        f"http://0x7f000002:{other.port}/hex",
        f"http://2130706434:{other.port}/number",
        f"http://0177.2:{other.port}/octal",
        f"http://[::ffff:7f00:2]:{other.port}/mapped",
        f"http://localhost:{site.port}/name",
        "http://169.254.169.254/latest/meta-data/",
        "http://10.0.0.1/",
        "http://[fd00::1]/",
    ]
    site.routes |= {"/": html("/away", *links), "/away": redirect(other.url("/redirected"))}
    crawled = crawl(seeds=site.url(), scope="web")
    assert (crawled.code, other.asked, site.paths()) == (0, [], ["/", "/away"])
    assert crawled.of(site.url("/away"))["location"] == other.url("/redirected")
    assert crawled.stat("guard/private_address") == len(links) + 1


@pytest.mark.long
def test_names_that_lead_to_private_addresses_are_refused_when_they_are_looked_up(
    site: MockServer, crawl: Crawl
) -> None:
    named, inner = (f"http://{name}.example:{site.port}" for name in ("seed", "inner"))
    site.routes |= {"/": html("/away", f"{inner}/x"), "/away": redirect(f"{inner}/redirected")}
    crawled = crawl(*NAMES, seeds=f"{named}/", scope="web")
    assert (crawled.code, site.paths()) == (0, ["/", "/away"])
    assert {record["url"] for record in crawled.records} == {f"{named}/", f"{named}/away"}
    assert (crawled.stat("guard/private_address"), len(site.times("/robots.txt"))) == (2, 1)
    told = crawl.ask("explain", f"{inner}/x")
    assert (told["state"], told["reason"]) == ("rejected", "private_address")


def test_names_are_looked_up_without_robots_txt_too(site: MockServer, crawl: Crawl) -> None:
    site.routes["/"] = html(f"http://inner.example:{site.port}/x")
    crawled = crawl(*NAMES, "-s", "ROBOTSTXT_OBEY=0", seeds=site.url(), scope="web")
    assert (len(crawled.records), site.paths()) == (1, ["/"])
    assert crawled.stat("guard/private_address") == 1


@pytest.mark.long
@pytest.mark.parametrize("name", ["127.0.0.2", "inner.example"])
def test_a_robots_txt_leads_to_no_private_address(
    site: MockServer, other: MockServer, crawl: Crawl, name: str
) -> None:
    port = other.port if name == other.host else site.port
    site.routes |= {"/": html(), "/robots.txt": redirect(f"http://{name}:{port}/rules")}
    crawled = crawl(*NAMES, seeds=site.url())
    record = crawled.of(site.url())
    assert (record["outcome"], record["reason"]) == (
        "robots_denied",
        "robots.txt unreachable: private_address",
    )
    assert (other.asked, {asked.path for asked in site.asked}) == ([], {"/robots.txt"})


def test_a_recrawl_visits_a_private_address_only_if_a_crawl_reached_it_before(
    site: MockServer, other: MockServer, crawl: Crawl
) -> None:
    own, foreign = (f"http://{name}.example:{site.port}/" for name in ("own", "foreign"))
    site.routes["/"] = html()
    assert crawl(*NAMES, seeds=own).code == 0
    with Archive.open(ArchiveConfig(uri=crawl.uri)) as archive:
        for url in (foreign, other.url("/")):
            page = make_page(b"<p>A page that came in with a file.", url=url)
            archive.add(archive.segment(replace(page, origin="a.warc", wire=Wire(ip="127.0.0.1"))))
    site.asked.clear()
    again = replace(crawl, spider="recrawl")(*NAMES, budget="100000/minute")
    assert ([record["url"] for record in again.records], site.paths(), other.asked) == ([own], ["/"], [])
    assert again.stat("guard/private_address") == 2


@pytest.mark.long
def test_an_operator_may_archive_an_intranet(site: MockServer, other: MockServer, crawl: Crawl) -> None:
    site.routes["/"] = html(other.url("/"), f"http://inner.example:{site.port}/x")
    site.routes["/x"] = html()
    crawled = crawl(*NAMES, "-s", "ARCHIVE_PRIVATE_ADDRESSES=1", seeds=site.url(), scope="web")
    assert {record["outcome"] for record in crawled.records} == {"fetched"}
    assert (len(crawled.records), other.paths()) == (3, ["/"])


@pytest.mark.long
def test_behind_a_proxy_names_are_its_own(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = {"http://a.example/": html("http://b.example/", "http://10.0.0.1/"), "http://b.example/": html()}
    with MockServer({**pages}) as proxy:
        monkeypatch.setenv("http_proxy", f"http://proxy.example:{proxy.port}")
        monkeypatch.setenv("no_proxy", "")
        crawled = crawl(*NAMES, seeds="http://a.example/", scope="web")
    assert {record["url"] for record in crawled.records} == set(pages)
    assert crawled.stat("guard/private_address") == 1


class Reactor:
    """What a crawl uses of a reactor: the place where a resolver is installed."""

    def __init__(self) -> None:
        self.nameResolver: Any = Everything()

    def installNameResolver(self, resolver: object) -> None:  # noqa: N802 (Twisted's)
        self.nameResolver = resolver


class Everything:
    """A resolver to which all names are this machine; also who asks one."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def resolveHostName(self, receiver: Any, name: str) -> None:  # noqa: N802 - Twisted's name
        receiver.addressResolved(IPv4Address("TCP", "127.0.0.1", 80))

    def resolutionBegan(self, resolution: object) -> None:  # noqa: N802 - Twisted's name
        pass

    def resolutionComplete(self) -> None:  # noqa: N802 - Twisted's name
        pass

    def addressResolved(self, address: IPv4Address) -> None:  # noqa: N802 - Twisted's name
        self.found.append(address.host)


@pytest.fixture
def reactor(monkeypatch: pytest.MonkeyPatch) -> Reactor:
    found = Reactor()
    monkeypatch.setattr(twisted.internet, "reactor", found, raising=False)
    return found


def addresses(*seeds: str) -> PublicAddresses:
    """Return the extension of a crawl with such seeds."""
    spider = SimpleNamespace(named=frozenset(map(host_of, seeds)))
    return PublicAddresses(cast(Crawler, SimpleNamespace(spider=spider)))


def is_found(reactor: Reactor, name: str) -> bool:
    asker = Everything()
    reactor.nameResolver.resolveHostName(asker, name)
    return asker.found == ["127.0.0.1"]


def test_what_is_asked_without_a_proxy_is_checked(reactor: Reactor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("no_proxy", "inner.example")
    addresses().spider_opened()
    assert [is_found(reactor, name) for name in ("proxy.example", "inner.example")] == [True, False]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_crawl_that_ends_leaves_the_others_of_its_process_checked(
    reactor: Reactor, order: tuple[int, int]
) -> None:
    crawls = [addresses("http://seed.example/"), addresses("http://seed.example/")]
    for crawl in crawls:
        crawl.spider_opened()
    first, last = (crawls[number] for number in order)
    first.spider_closed()
    assert [is_found(reactor, name) for name in ("seed.example", "inner.example")] == [True, False]
    assert (first.refused, last.refused) == (set(), {"inner.example"})
    last.spider_closed()
    assert is_found(reactor, "inner.example")


def test_a_crawl_that_did_not_begin_changes_no_resolver(reactor: Reactor) -> None:
    before = reactor.nameResolver
    addresses().spider_closed()
    assert reactor.nameResolver is before


@pytest.mark.parametrize(
    "host",
    """127.0.0.1 127.255.0.9 0.0.0.0 10.1.2.3 172.16.0.1 192.168.1.1 169.254.1.1 100.64.0.1 192.0.2.1
    198.18.0.1 224.0.0.1 240.0.0.1 255.255.255.255 :: ::1 fe80::1 fe80::1%eth0 fc00::1 fd12::1 fec0::1
    ff02::1 2001:db8::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::127.0.0.1 64:ff9b::7f00:1
    64:ff9b:1::7f00:1 64:ff9b:1:7f00:0:100:: 64:ff9b:1::101:101 2002:7f00:1::
    localhost a.localhost""".split(),
)
def test_addresses_that_are_not_on_the_public_internet(host: str) -> None:
    assert is_private(host)


@pytest.mark.parametrize(
    "host",
    """1.1.1.1 93.184.216.34 2606:4700::1 ::ffff:1.1.1.1 64:ff9b::101:101 localhost.example a.example
    10.example""".split(),
)
def test_all_others_are(host: str) -> None:
    assert not is_private(host)
