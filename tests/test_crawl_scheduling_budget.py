"""Budgets: a trap without end, or one host, does not eat a crawl."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from archivebot.crawl.scheduling.budget import REPEATED, UrlBudget
from archivebot.frontier import EXTRA, Charge, Entry, open_frontier
from archivebot.settings import EXTENSIONS
from tests.commands import run_scrapy
from tests.conftest import Crawl
from tests.mockserver import Asked, MockServer, Reply, html
from tests.servers import redis_server, redis_uri
from tests.test_crawl_frontier import wait_for

__all__ = ["redis_server", "redis_uri"]

BUDGET = UrlBudget(paths=100, queries=10, host=0)
SMALL = ("-s", "ARCHIVE_BUDGET_QUERY=20", "-s", "ARCHIVE_BUDGET_PATH=40")


def opened() -> threading.Event:
    gate = threading.Event()
    gate.set()
    return gate


@dataclass
class Endless(MockServer):
    """A site of four pages with a calendar that has a next page for ever."""

    page: Callable[[int], str] = "The events of day {}: a concert, a reading, and a walk to the mill.".format
    form: str = "/cal?d={}"
    gate: threading.Event = field(default_factory=opened)

    def reply(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        if asked.path == "/":
            self.gate.wait(timeout=30)
            return html("/a", "/b", "/c", self.form.format(1), text="The front page")
        number = "".join(filter(str.isdigit, asked.path))
        if not number:
            return html(text=f"Page {asked.path}") if asked.path in ("/a", "/b", "/c") else Reply(b"", 404)
        ahead = (self.form.format(int(number) + step) for step in (1, 2, 3))
        return html(*ahead, text=self.page(int(number)))

    def kinds(self) -> Counter[str]:
        return Counter("trap" if any(map(str.isdigit, path)) else "page" for path in self.paths())


@pytest.fixture
def endless() -> Iterator[Endless]:
    with Endless() as site:
        yield site


def entry(url: str, source: str = "http://a.example/") -> Entry:
    return Entry(url, "a.example", source=source)


@pytest.mark.parametrize(
    ("url", "charges"),
    [
        ("http://a.example/about", ()),
        ("http://a.example/page/7", (Charge("a.example/page/*", 100, "budget_pattern"),)),
        ("http://a.example/cal?d=7", (Charge("a.example/cal?d=*", 10, "budget_pattern"),)),
        ("http://a.example/7?d=7", (Charge("a.example/*?d=*", 10, "budget_pattern"),)),
    ],
)
def test_a_url_counts_in_the_budget_of_its_pattern(url: str, charges: tuple[Charge, ...]) -> None:
    assert BUDGET.charges(entry(url)) == charges
    host = Charge("a.example", 5, "budget_host")
    assert UrlBudget(100, 10, 5).charges(entry(url)) == (host, *charges)
    assert UrlBudget(0, 0, 0).charges(entry(url)) == ()
    assert UrlBudget(100, 10, 5).charges(entry(url, source="")) == (), "a seed"


def test_a_requisite_is_charged_to_its_page_and_to_the_requisites_of_the_crawl() -> None:
    needed = Entry("http://a.example/1/2.png", "a.example", EXTRA, source="http://b.example/")
    assert BUDGET.charges(needed) == ()
    assert UrlBudget(1, 1, 1, requisites=9, of_page=3).charges(needed) == (
        Charge("requisites of the crawl", 9, "budget_requisites"),
        Charge("requisites of http://b.example/", 3, "budget_page_requisites"),
    )


@pytest.mark.long
def test_a_calendar_without_end_comes_to_its_end(endless: Endless, crawl: Crawl) -> None:
    crawled = crawl(*SMALL, seeds=endless.url())
    assert crawled.code == 0
    assert endless.kinds() == {"page": 4, "trap": 20}
    assert crawled.stat("guard/budget_pattern") > 0
    state = crawl.ask("frontier")
    assert state["ended"] == "finished"
    assert state["reasons"].keys() == {"budget_pattern"}
    assert {each["url"] for each in state["rejected"]} <= {endless.url(f"/cal?d={n}") for n in range(21, 24)}


@pytest.mark.long
def test_paths_have_more_room_than_queries(endless: Endless, crawl: Crawl) -> None:
    endless.form = "/2026/07/{}"
    crawl(*SMALL, seeds=endless.url(), pages=100)
    assert endless.kinds()["trap"] == 40


def test_pages_that_say_the_same_count_more(endless: Endless, crawl: Crawl) -> None:
    said = " ".join(f"On the {n}th floor of the library a book of {n * n} pages is kept." for n in range(40))
    endless.page = lambda number: said
    crawl("-s", "ARCHIVE_BUDGET_QUERY=100", seeds=endless.url())
    assert 100 / REPEATED <= endless.kinds()["trap"] < 60


def test_the_defaults_end_a_calendar_and_leave_a_manual_whole(crawl: Crawl) -> None:
    settings = ("ARCHIVE_BUDGET_PATH", "ARCHIVE_BUDGET_QUERY", "ARCHIVE_BUDGET_HOST")
    path, query, host = (int(run_scrapy(("settings", "--get", name)).stdout) for name in settings)
    # The most that real sites have of one pattern: docs/crawling.md.
    assert path > 5 * 1000
    assert 190 < query < path
    assert host >= path


@pytest.mark.long
def test_a_restart_goes_on_with_what_is_left_of_a_budget(endless: Endless, crawl: Crawl) -> None:
    crawl(*SMALL, seeds=endless.url(), pages=10)
    crawl(*SMALL, seeds=endless.url())
    assert len(endless.paths()) == len(set(endless.paths()))
    assert endless.kinds() == {"page": 4, "trap": 20}


@pytest.mark.long
def test_what_a_budget_refused_can_be_queued_by_hand(endless: Endless, crawl: Crawl) -> None:
    crawl(*SMALL, seeds=endless.url())
    refused = len(crawl.ask("frontier")["rejected"])
    assert crawl.ask("frontier", "--retry", "rejected") == {"queued": refused}
    crawl(*SMALL, seeds=endless.url())
    assert endless.kinds()["trap"] == 20 + refused


def test_one_host_of_the_web_has_a_budget(endless: Endless, crawl: Crawl) -> None:
    crawled = crawl("-s", "ARCHIVE_BUDGET_HOST=10", seeds=endless.url(), scope="web")
    assert len(endless.paths()) == 1 + 10, "the seed counts in nothing"
    assert crawled.stat("guard/budget_host") > 0


@pytest.mark.long
def test_two_processes_on_redis_share_a_budget(endless: Endless, crawl: Crawl, redis_uri: str) -> None:
    options = ("-s", f"REDIS_URL={redis_uri}", *SMALL)
    endless.gate.clear()
    first = crawl.start(*options, seeds=endless.url())
    wait_for(lambda: bool(endless.paths()), first)
    second = crawl.start(*options, seeds=endless.url())
    assert second.stderr
    assert any("Goes on with an interrupted crawl" in line for line in second.stderr)
    endless.gate.set()
    for worker in (first, second):
        worker.communicate(timeout=60)  # both write the feed, which nobody reads
        assert worker.returncode == 0
    assert endless.kinds() == {"page": 4, "trap": 20}
    known = open_frontier(redis_uri, None)
    assert json.loads(known.crawls()[0].arguments)["seeds"] == [endless.url()]
    known.close()


@pytest.mark.parametrize(
    ("count", "taken"),
    [
        (2_000, 2_000),
        pytest.param(10_000, 10_000, marks=pytest.mark.long),
        # Of a page of 25 MB the links of its beginning are taken, as far as pages are read.
        pytest.param(500_000, 3_671, marks=pytest.mark.long),
    ],
)
def test_links_to_many_hosts_are_taken_in_without_a_stall(
    site: MockServer, crawl: Crawl, count: int, taken: int
) -> None:
    hosts = [f"http://host{number}.example/" for number in range(count)]
    site.routes["/"] = html(*hosts)
    extensions = json.dumps(EXTENSIONS | {"tests.probes.Stalls": 1})
    crawled = crawl("-s", f"EXTENSIONS={extensions}", seeds=site.url(), scope="web", pages=1)
    assert crawled.stat("scheduler/enqueued") == 1 + taken
    assert crawled.stat("probe/longest_stall") < 1.0
