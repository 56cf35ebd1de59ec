"""The three stages to a query form: links that promise it, pages of the topic, forms kept with their page."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request
from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse

from archivebot.crawl.extensions.sitebudget import SiteBudget
from archivebot.crawl.middlewares.doors import EVERY, PROMISE, DoorMiddleware
from archivebot.crawl.middlewares.order import SLACK
from archivebot.crawl.scheduling.entries import ORDER, PARTS, SCORE
from archivebot.models import Page
from spiders.deepweb import DeepWebSpider
from tests.driven import SITE, Driven, collected, prepared

BOOKS = (
    "<form action=/find method=get><h2>Find a book</h2>Author <input name=author> Title <input name=title>"
    " Year <select name=year><option>1998<option>1999</select> <input type=submit value=Search></form>"
)
TYRES = "<form action=/find>Maker <input name=m> Width <input name=w> <input type=submit value=Search></form>"
TOPIC = {"topic": "books authors library"}
STRICT = {"links": "strict"}
ON = "<p>books, authors and the library</p>"
OFF = "<p>tyres, gears and engines for lorries</p>"


def links(*anchors: tuple[str, str], text: str = "") -> str:
    items = "".join(f"<li><a href=/{path}>{anchor}</a></li>" for path, anchor in anchors)
    return f"<title>t</title><h1>t</h1>{text}<ul>{items}</ul>"


class Doors:
    """The middleware of a search for forms, and what it makes of pages."""

    def __init__(self, folder: Path, **given: str) -> None:
        self.crawl: Driven = prepared(folder, given, DeepWebSpider, ARCHIVE_TOPICS=str(folder))
        self.spider: DeepWebSpider = self.crawl.crawler.spider
        self.crawl.frontier.begin("", None)
        self.crawl.extend(SiteBudget.from_crawler(self.crawl.crawler))
        self.middleware = DoorMiddleware.from_crawler(self.crawl.crawler)

    def read(
        self, body: str, path: str = "x", depth: int = 1, status: int = 200, order: int = 1
    ) -> tuple[dict[str, Request], Page]:
        """Return the links that are followed from a page, by path, and the page."""
        request = self.spider.request(SITE + path, depth=depth, **{SCORE: 1.5, ORDER: order})
        response = HtmlResponse(request.url, status, body=body.encode(), request=request)
        outputs: Any = collected(self.spider.parse(response))
        *requests, page = self.middleware.process_spider_output(response, outputs)
        return {made.url.removeprefix(SITE): made for made in requests}, page

    def scores(self, body: str) -> dict[str, float]:
        followed, _ = self.read(body)
        return {path: made.meta[SCORE] for path, made in followed.items()}

    def refused(self) -> dict[str, str]:
        """Return why links were not followed, by path."""
        assert self.crawl.dispatcher.flush()
        return {
            each.entry.url.removeprefix(SITE): each.entry.reason for each in self.crawl.frontier.records()
        }

    def stat(self, name: str) -> int:
        return int(self.crawl.crawler.stats.get_value(f"doors/dropped/{name}", 0))


def looped(test: Any) -> Any:
    """Run a test in an event loop, in which the frontier is asked."""

    def run(tmp_path: Path) -> None:
        async def within() -> None:
            test(tmp_path)

        asyncio.run(within())

    return run


def test_only_a_search_for_forms_has_doors(tmp_path: Path) -> None:
    with pytest.raises(NotConfigured):
        DoorMiddleware.from_crawler(prepared(tmp_path).crawler)


@looped
def test_a_link_that_promises_a_form_goes_first(tmp_path: Path) -> None:
    doors = Doors(tmp_path)
    assert doors.crawl.dispatcher.slack == SLACK
    scores = doors.scores(links(("a", "About us"), ("b", "Advanced search"), ("in", "Login")))
    assert sorted(scores, key=scores.__getitem__) == ["in", "a", "b"]
    assert scores["b"] > scores["a"] + PROMISE
    assert doors.middleware.promising == {f"{SITE}b"}


@looped
def test_the_parts_of_a_score_add_up_to_it_and_show_the_anchor(tmp_path: Path) -> None:
    followed, _ = Doors(tmp_path).read(links(("b", "Advanced search")))
    meta = followed["b"].meta
    parts = dict(meta[PARTS])
    assert (parts["promise"], parts.pop("text")) == (PROMISE, "Advanced search")
    assert sum(parts.values()) == pytest.approx(meta[SCORE], abs=0.001)


@looped
def test_strict_rules_follow_no_link_that_does_not_promise_a_form(tmp_path: Path) -> None:
    body = links(("a", "About us"), ("b", "Search"))
    assert Doors(tmp_path).read(body)[0].keys() == {"a", "b"}
    doors = Doors(tmp_path, **STRICT)
    assert doors.read(body)[0].keys() == {"b"}
    assert doors.refused() == {"a": "no_search_word"}
    assert doors.stat("no_search_word") == 1
    assert doors.read(links(("a", "Search")), path="y")[0].keys() == {"a"}, "a better link brings it again"


@looped
def test_strict_rules_follow_no_link_off_the_topic(tmp_path: Path) -> None:
    doors = Doors(tmp_path, **STRICT, **TOPIC)
    body = links(("a", "Search tyres and engines"), ("b", "Search books by authors"), text=ON)
    assert doors.read(body)[0].keys() == {"b"}
    assert doors.refused() == {"a": "link_off_topic"}
    assert Doors(tmp_path, **TOPIC).read(body)[0].keys() == {"a", "b"}


@looped
def test_a_page_off_the_topic_leads_nowhere_and_its_forms_are_left_out(tmp_path: Path) -> None:
    doors = Doors(tmp_path, **TOPIC)
    followed, page = doors.read(links(("a", "Search"), text=OFF + TYRES))
    assert not followed
    assert doors.refused() == {"a": "page_off_topic"}
    assert page.forms == ()
    assert page.focus is not None
    assert not page.focus.relevant
    assert "because the page is off topic (relevance 0." in page.reason
    assert page.reason.endswith(", not above 0.5)")
    assert doors.stat("page_off_topic") == 1
    assert doors.crawl.crawler.stats.get_value("doors/forms_left_out") == 1


@looped
def test_a_seed_leads_on_whatever_it_is_about(tmp_path: Path) -> None:
    followed, page = Doors(tmp_path, **TOPIC).read(links(("a", "Engines"), text=OFF), depth=0)
    assert followed.keys() == {"a"}
    assert page.focus is not None
    assert not page.focus.relevant


@looped
def test_a_page_on_the_topic_says_why_and_keeps_its_forms(tmp_path: Path) -> None:
    doors = Doors(tmp_path, **TOPIC)
    _, page = doors.read(links(text=ON + BOOKS), order=7)
    assert len(page.forms) == 1
    assert page.focus is not None
    assert (page.focus.relevant, page.focus.score, page.focus.order) == (True, 1.5, 7)
    assert "terms" in json.loads(page.focus.why)
    assert doors.crawl.crawler.stats.get_value("archive/query_forms") == 1


@looped
def test_what_a_form_asks_for_tells_what_its_page_is_about(tmp_path: Path) -> None:
    doors = Doors(tmp_path, topic="author title")
    assert [len(doors.read(links(text=form))[1].forms) for form in (BOOKS, TYRES)] == [1, 0]


@looped
def test_without_a_topic_every_page_keeps_its_forms_and_is_not_judged(tmp_path: Path) -> None:
    _, page = Doors(tmp_path).read(links(text=OFF + BOOKS))
    assert (len(page.forms), page.focus) == (1, None)


@looped
def test_what_is_no_page_passes(tmp_path: Path) -> None:
    doors = Doors(tmp_path, **STRICT, **TOPIC)
    assert doors.middleware.get_processed_item("item", None) == "item"
    seed = doors.spider.request(SITE, archive_seed=True)
    assert doors.middleware.get_processed_request(seed, None) is seed


@looped
def test_links_of_the_kind_that_led_to_forms_rise_while_they_wait(tmp_path: Path) -> None:
    doors = Doors(tmp_path)
    kinds = {"shelf": BOOKS, "staff": "<p>Nobody is in.</p>"}
    anchors = [(f"{kind}/{number}", f"Item {number}") for number in range(EVERY) for kind in kinds]
    followed, _ = doors.read(links(*anchors), path="", depth=0)
    for made in followed.values():
        made.meta["archive_source"] = SITE
        doors.crawl.dispatcher.enqueue(made)
    assert doors.crawl.dispatcher.publish()
    for order, (path, _) in enumerate(anchors[:EVERY], 1):
        doors.read(links(text=kinds[path[:5]]), path=path, order=order)
    assert doors.crawl.dispatcher.flush()

    def score(path: str) -> float:
        record = doors.crawl.frontier.get(SITE + path)
        assert record is not None
        return record.entry.score

    assert score(f"shelf/{EVERY - 1}") > score(f"staff/{EVERY - 1}") + 1.0


def test_a_page_that_its_server_does_not_have_says_little_about_links_of_its_kind(tmp_path: Path) -> None:
    def fall(status: int) -> float:
        """Return how many nats links of a kind lose by such an answer."""
        (tmp_path / str(status)).mkdir()
        doors = Doors(tmp_path / str(status))
        before = doors.scores(links(("k/0", "Item"), ("k/1", "Item")))["k/1"]
        doors.read("<p>Nothing", path="k/0", status=status)
        return before - doors.scores(links(("k/2", "Item")))["k/2"]

    async def run() -> None:
        falls = {status: fall(status) for status in (200, 403, 404, 410)}
        assert falls[200] == falls[403] > 5 * falls[404]
        assert falls[404] == falls[410] > 0

    asyncio.run(run())
