"""The pace per host."""

from itertools import pairwise

import pytest

from archivebot.crawl.scheduling.pace import HostPace
from archivebot.urls import is_loopback
from tests.conftest import Crawl
from tests.mockserver import MockServer, Reply, html, robots


def pace() -> HostPace:
    return HostPace(delay=0.5, concurrency=2, local_concurrency=8, first=1.0, ceiling=5.0, longest=9.0)


@pytest.mark.parametrize("host", ["localhost", "x.localhost", "127.0.0.1", "127.9.9.9", "::1"])
def test_this_machine_gets_no_delay(host: str) -> None:
    assert is_loopback(host)
    assert pace().delay_of(host) == 0


@pytest.mark.parametrize("host", ["example.org", "localhost.example.org", "10.0.0.1", "128.0.0.1", "::2", ""])
def test_other_hosts_get_the_delay(host: str) -> None:
    assert not is_loopback(host)
    assert pace().delay_of(host) == 0.5


def test_a_crawl_delay_holds_for_every_host_and_only_raises() -> None:
    paced = pace()
    paced.crawl_delays = {"a.example": 3.0, "b.example": 0.1, "127.0.0.1": 2.0}
    assert [paced.delay_of(host) for host in ("a.example", "b.example", "127.0.0.1")] == [3.0, 0.5, 2.0]


def test_a_host_that_asks_for_rest_is_slowed_down_and_recovers() -> None:
    paced = pace()
    delays = []
    for status in (503, 429, 503, 503, 200, 404, 200, 200, 200, 200, 200, 200, 200):
        paced.judge("a.example", status)
        delays.append(paced.delay_of("a.example"))
    assert delays[:6] == [1.0, 2.0, 4.0, 5.0, 2.5, 1.25]
    assert delays[-1] == 0.5
    assert paced.penalties == {}


def test_a_slot_of_the_settings_has_its_own_delay_and_concurrency() -> None:
    paced = HostPace(0.5, 2, 8, 1.0, 5.0, 9.0, {"a.example": {"delay": 0.1}, "127.0.0.1": {"concurrency": 1}})
    assert (paced.delay_of("a.example"), paced.concurrency_of("a.example")) == (0.1, 2)
    assert (paced.delay_of("127.0.0.1"), paced.concurrency_of("127.0.0.1")) == (0.0, 1)
    paced.crawl_delays["a.example"] = 3.0
    assert paced.delay_of("a.example") == 3.0


def gaps(times: list[float]) -> list[float]:
    return [later - earlier for earlier, later in pairwise(times)]


@pytest.mark.long
def test_a_crawl_delay_is_observed_and_recorded(site: MockServer, crawl: Crawl) -> None:
    site.routes |= {"/": html("/a", "/b"), "/robots.txt": robots("User-agent: *\nCrawl-delay: 0.5")}
    crawled = crawl(seeds=site.url())
    assert len(crawled.records) == 3
    assert min(gaps([asked.time for asked in site.asked])) > 0.45
    assert crawled.stat("robots/crawl_delay/127.0.0.1") == 0.5


def test_a_long_crawl_delay_is_bounded(site: MockServer, crawl: Crawl) -> None:
    site.routes |= {"/": html("/a"), "/robots.txt": robots("User-agent: *\nCrawl-delay: 86400")}
    crawled = crawl("-s", "ARCHIVE_CRAWL_DELAY_MAX=0.2", seeds=site.url())
    assert len(crawled.records) == 2


def test_connections_are_kept_for_as_many_requests_as_this_machine_gets_at_once(
    site: MockServer, crawl: Crawl
) -> None:
    pages = [f"/{number}" for number in range(60)]
    site.routes |= {"/": html(*pages), **dict.fromkeys(pages, html())}
    crawled = crawl("-s", "ARCHIVE_LOCAL_CONCURRENCY=8", seeds=site.url())
    assert len(crawled.records) == 61
    assert site.connections <= 9


@pytest.mark.long
def test_a_throttling_host_is_asked_more_slowly(site: MockServer, crawl: Crawl) -> None:
    links = [f"/{number}" for number in range(4)]
    site.routes |= {
        "/": html(*links),
        "/0": [Reply(b"", 429), html()],
        **{link: html() for link in links[1:]},
    }
    crawl("-s", "ARCHIVE_RETRY_BASE=0.4", "-s", "CONCURRENT_REQUESTS=1", seeds=site.url())
    first = site.times("/0")[0]
    assert min(asked.time for asked in site.asked if asked.time > first) - first > 0.19


@pytest.mark.long
@pytest.mark.parametrize(
    "options",
    [
        ("DOWNLOAD_SLOTS={slots}",),
        ("AUTOTHROTTLE_ENABLED=1", "AUTOTHROTTLE_START_DELAY=1", "DOWNLOAD_DELAY=1"),
    ],
)
def test_a_delay_that_the_operator_sets_by_the_settings_of_scrapy_holds(
    site: MockServer, crawl: Crawl, options: tuple[str, ...]
) -> None:
    site.routes |= {"/": html("/a", "/b"), "/a": html(), "/b": html()}
    slots = '{"127.0.0.1": {"delay": 1}}'
    given = [word for option in options for word in ("-s", option.replace("{slots}", slots))]
    assert len(crawl(*given, seeds=site.url()).records) == 3
    assert min(gaps([asked.time for asked in site.asked])) > 0.25  # half of it is jitter


@pytest.mark.long
def test_autothrottle_does_not_shorten_a_crawl_delay_for_requests_that_wait_for_it(
    site: MockServer, crawl: Crawl
) -> None:
    pages = [f"/{number}" for number in range(4)]
    rules = robots("User-agent: *\nCrawl-delay: 1")
    site.routes |= {"/robots.txt": rules, **dict.fromkeys(pages, html())}
    throttled = "-s", "AUTOTHROTTLE_ENABLED=1", "-s", "AUTOTHROTTLE_START_DELAY=0.1"
    assert len(crawl(*throttled, seeds=",".join(map(site.url, pages))).records) == 4
    assert min(gaps([asked.time for asked in site.asked if asked.path != "/robots.txt"])) > 0.8


REST = Reply(b"", 429, (("Retry-After", "4"),))


@pytest.mark.long
def test_a_host_that_asks_for_rest_is_sent_nothing_until_then(site: MockServer, crawl: Crawl) -> None:
    pages = [f"/{number}" for number in range(9)]
    site.routes |= {"/": html(*pages), **dict.fromkeys(pages, html()), "/0": [REST, html()]}
    crawled = crawl("-s", "ARCHIVE_LOCAL_CONCURRENCY=1", seeds=site.url())
    assert len(crawled.records) == 10
    asked = [each.time for each in site.asked]
    at = asked.index(site.times("/0")[0])
    assert asked[at + 1] - asked[at] >= 4
    assert max(gaps(asked[at + 1 :])) < 3


@pytest.mark.long
def test_other_hosts_are_asked_while_one_rests(crawl: Crawl) -> None:
    pages = [f"/{number}" for number in range(30)]
    with MockServer(host="127.0.0.1") as busy, MockServer(host="127.0.0.2") as other:
        busy.routes |= {"/": html(*pages[:12]), **{page: [REST, html()] for page in pages[:12]}}
        other.routes |= {"/": html(*pages), **dict.fromkeys(pages, Reply(html().body, delay=0.05))}
        quick = "-s", "CONCURRENT_REQUESTS=8", "-s", "ARCHIVE_RETRY_CEILING=0.1"
        crawled = crawl(*quick, seeds=f"{busy.url()},{other.url()}")
        assert len(crawled.records) == 44
        first = min(busy.times(page)[0] for page in pages[:12])
        early = [page for page in pages[:12] if busy.times(page)[0] < first + 4]
        assert len(early) <= 8, "the requests that were under way"
        assert max(each.time for each in other.asked) < first + 4


@pytest.mark.long
def test_the_longest_rest_is_bounded(site: MockServer, crawl: Crawl) -> None:
    forever = Reply(b"", 429, (("Retry-After", "86400"),))
    site.routes |= {"/": html("/0", "/1"), "/0": [forever, html()], "/1": html()}
    crawled = crawl("-s", "ARCHIVE_RETRY_AFTER_MAX=0.3", seeds=site.url())
    assert {record["outcome"] for record in crawled.records} == {"fetched"}
