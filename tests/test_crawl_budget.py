"""The page budget."""

from scrapy import Request

from archivebot.crawl.budget import TOKEN, PageBudget
from tests.conftest import Crawl
from tests.mockserver import MockServer, Reply, html, redirect


def requests(count: int) -> list[Request]:
    return [Request(f"http://a.example/{number}") for number in range(count)]


def test_no_limit_lets_everything_pass() -> None:
    budget = PageBudget(None)
    assert all(budget.take(request) for request in requests(5))
    budget.spend()
    assert not budget.spent


def test_shares_are_taken_spent_and_given_back() -> None:
    budget = PageBudget(2)
    first, second, third = requests(3)
    assert [budget.take(request) for request in (first, second, third)] == [True, True, False]
    assert budget.take(first.copy()), "a retry keeps its share"
    budget.spend()
    instead = budget.give_back(second)
    assert instead is not None
    assert instead.url == third.url
    assert instead.dont_filter
    assert budget.take(instead)
    budget.spend()
    assert budget.spent


def test_a_request_without_a_share_gives_nothing_back() -> None:
    budget = PageBudget(1)
    (denied,) = requests(1)
    assert budget.give_back(denied) is None
    assert budget.left == 1
    assert TOKEN not in denied.meta


def test_a_crawl_stops_at_exactly_that_many_pages(site: MockServer, crawl: Crawl) -> None:
    links = [f"/{number}" for number in range(40)]
    site.routes |= {"/": html(*links), **{link: html(*links) for link in links}}
    crawled = crawl(seeds=site.url(), pages=11)
    assert len(site.paths()) == len(crawled.records) == 11
    assert "'finish_reason': 'pages'" in crawled.log


def test_failures_and_refusals_are_no_pages_but_redirects_are(site: MockServer, crawl: Crawl) -> None:
    links = ["/lost", "/moved", *[f"/{number}" for number in range(20)]]
    site.routes |= {"/": html(*links), **{link: html() for link in links}}
    site.routes |= {"/lost": Reply(raw=b""), "/moved": redirect("/19")}
    crawled = crawl(seeds=site.url(), pages=5)
    answered = [record for record in crawled.records if record["status"]]
    assert len(answered) == 5
    assert crawled.of(site.url("/moved"))["status"] == 302


def test_a_budget_larger_than_the_site_ends_with_the_site(site: MockServer, crawl: Crawl) -> None:
    site.routes |= {"/": html("/a"), "/a": html()}
    crawled = crawl(seeds=site.url(), pages=3)
    assert len(crawled.records) == 2
    assert crawled.code == 0
