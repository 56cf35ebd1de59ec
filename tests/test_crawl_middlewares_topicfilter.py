"""The topic filter: pages judged, links scored or dropped with a reason, tunnels passed, all explained."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request
from scrapy.extension import ExtensionManager
from scrapy.http import HtmlResponse
from scrapy.utils.test import get_crawler

from archivebot.crawl.arguments import ORDERS
from archivebot.crawl.middlewares.topicfilter import JUDGED, TopicFilterMiddleware
from archivebot.crawl.scheduling.dispatcher import Dispatcher
from archivebot.frontier import State, open_frontier
from archivebot.jobs.frontier import path
from archivebot.models import Outcome, Page
from archivebot.records import url_record
from spiders.topic import TopicSpider
from tests.conftest import Crawl
from tests.mockserver import MockServer, Reply, html

TIDES = "Tide tables and ferries: the tide carries the ferry over the bar, high tide at noon."
SHOES = "Shoes, boots and laces for everybody, cheaper than last year, delivered to your door."
TOPIC = "tide, ferry, bar"


def page(*links: str, on: bool) -> Reply:
    return html(*links, text=TIDES if on else SHOES)


@pytest.fixture
def focused(tmp_path: Path) -> Crawl:
    return Crawl(tmp_path, "topic")


@pytest.fixture
def tunnel(site: MockServer) -> MockServer:
    """On topic, then three pages off topic in a row, then on topic again."""
    site.routes |= {
        "/": page("/off1", on=True),
        "/off1": page("/off2", on=False),
        "/off2": page("/off3", on=False),
        "/off3": page("/on", on=False),
        "/on": page("/off4", on=True),
        "/off4": page(on=False),
    }
    return site


def test_each_record_says_how_the_page_was_judged(tunnel: MockServer, focused: Crawl) -> None:
    crawled = focused(seeds=tunnel.url(), topic=TOPIC)
    assert crawled.code == 0
    found = {record["url"].rpartition("/")[2]: record for record in crawled.records}
    assert {name for name, record in found.items() if record["relevant"]} == {"", "on"}
    assert all(0 <= record["relevance"] <= 1 for record in crawled.records)
    assert found["on"]["relevance"] > found["off1"]["relevance"]
    assert [found[name]["distance"] for name in ("off1", "off2", "off3", "on", "off4")] == [0, 1, 2, 3, 0]
    assert sorted(record["order"] for record in crawled.records) == [1, 2, 3, 4, 5, 6]
    assert crawled.stat("topic/relevant") == 2
    assert "harvest 2 of 6 on topic" in crawled.log


def test_weights_that_cannot_be_used_are_told_before_anything_is_fetched(
    tunnel: MockServer, focused: Crawl
) -> None:
    crawled = focused(
        "-s", "ARCHIVE_PRIORITY_WEIGHTS=depth:0", seeds=tunnel.url(), topic=TOPIC, order="linear"
    )
    assert (crawled.code, tunnel.asked) == (2, [])
    assert 'ARCHIVE_PRIORITY_WEIGHTS is read as {"depth": 0' in crawled.log.splitlines()[-1]


def test_a_query_excludes_pages_of_a_crawl(site: MockServer, focused: Crawl) -> None:
    site.routes |= {
        "/": html("/sea", "/air", text=TIDES),
        "/sea": html(text=f"{TIDES} The harbour."),
        "/air": html(text=f"{TIDES} The harbour and the airport."),
    }
    crawled = focused(seeds=site.url(), topic="tide AND (harbour OR port) AND NOT airport", focus="hard")
    assert {record["url"] for record in crawled.records if record["relevant"]} == {site.url("/sea")}
    assert focused.ask("explain", site.url("/air"))["page"]["query"] < 0


def test_a_wrong_query_is_told_before_anything_is_fetched(site: MockServer, focused: Crawl) -> None:
    crawled = focused(seeds=site.url(), topic="tide AND (harbour OR port")
    assert (crawled.code, site.asked) == (2, [])
    assert "has a '(' without a ')'" in crawled.log.splitlines()[-1]


def test_only_a_page_that_its_server_does_not_have_is_missing(tmp_path: Path) -> None:
    settings = {"ARCHIVE_URI": f"sqlite:///{tmp_path}/a.db", "ARCHIVE_TOPICS": str(tmp_path)}
    crawler: Any = get_crawler(TopicSpider, settings)
    crawler.spider = TopicSpider(seeds="http://a.example/", topic=TOPIC)
    crawler.extensions = ExtensionManager(Dispatcher.from_crawler(crawler), crawler=crawler)
    topics = TopicFilterMiddleware.from_crawler(crawler)

    def missing(status: int) -> bool:
        request = Request("http://a.example/x", meta={"depth": 1})
        response = HtmlResponse(request.url, status, request=request)
        topics.get_processed_item(Page(request.url, datetime.now(UTC), Outcome.FETCHED), response)
        return response.meta[JUDGED][0].missing

    assert [status for status in (200, 301, 403, 404, 410, 429, 503) if missing(status)] == [404, 410]


@pytest.mark.parametrize(
    ("given", "reached"),
    [
        pytest.param({"focus": "hard", "tunnel": 3}, 6, marks=pytest.mark.long),
        ({"focus": "hard", "tunnel": 2}, 4),
        pytest.param({"tunnel": 0}, 2, marks=pytest.mark.long),
        ({"focus": "soft"}, 6),
    ],
)
def test_a_tunnel_ends_after_so_many_pages_off_topic(
    tunnel: MockServer, focused: Crawl, given: dict[str, object], reached: int
) -> None:
    threshold = ("-s", "ARCHIVE_LINK_THRESHOLD=0")
    crawled = focused(*threshold, seeds=tunnel.url(), topic=TOPIC, **given)
    assert len(crawled.records) == reached
    dropped = focused.ask("frontier")["reasons"]
    assert dropped == ({} if reached == 6 else {"tunnel": 1})
    assert crawled.stat("topic/dropped/tunnel") == len(dropped)


@pytest.mark.long
def test_hard_focus_records_an_off_topic_page_without_its_body(tunnel: MockServer, focused: Crawl) -> None:
    options = {"seeds": tunnel.url(), "topic": TOPIC, "focus": "hard", "tunnel": 1}
    low = ("-s", "ARCHIVE_LINK_THRESHOLD=0")
    off = focused(*low, **options).of(tunnel.url("/off1"))
    assert (off["outcome"], off["digest"], off["relevant"]) == ("excluded", None, False)
    assert off["reason"].startswith("off topic")
    kept = focused(*low, "-s", "ARCHIVE_KEEP_OFF_TOPIC=True", **options).of(tunnel.url("/off1"))
    assert kept["outcome"] == "fetched"


@pytest.mark.long
def test_hard_focus_drops_links_that_promise_too_little_and_can_take_them_back(
    tunnel: MockServer, focused: Crawl
) -> None:
    options = {"seeds": tunnel.url(), "topic": TOPIC, "focus": "hard", "tunnel": 3}
    assert len(focused("-s", "ARCHIVE_LINK_THRESHOLD=99", **options).records) == 1
    explained = focused.ask("explain", tunnel.url("/off1"))
    assert (explained["state"], explained["reason"]) == ("rejected", "link_score")
    assert explained["parts"]
    assert focused.ask("frontier")["next"] == []
    focused.ask("frontier", "--retry", "rejected")
    again = focused("-s", "ARCHIVE_LINK_THRESHOLD=0", **options)
    chain = [tunnel.url(name) for name in ("/off1", "/off2", "/off3", "/off4", "/on")]
    found = [record["url"] for record in again.records]
    assert [*found[:3], *sorted(found[3:])] == chain  # the last two are fetched at once


@pytest.mark.parametrize(
    "order", ["best", "linear", *(pytest.param(name, marks=pytest.mark.long) for name in ORDERS[2:])]
)
def test_every_order_reaches_every_page(site: MockServer, focused: Crawl, order: str) -> None:
    names = [f"/{number}" for number in range(1, 40)]
    site.routes["/"] = page(*names[:3], on=True)
    for number, name in enumerate(names, 1):
        site.routes[name] = page(*names[3 * number : 3 * number + 3], "/", on=number % 3 == 0)
    crawled = focused("-s", "ARCHIVE_RANK_EVERY=5", seeds=site.url(), topic=TOPIC, order=order)
    assert len(crawled.records) == 40


def test_breadth_first_takes_the_pages_of_the_book_in_its_order(site: MockServer, focused: Crawl) -> None:
    graph = {"/": "BCDEF", "/E": "H", "/F": "G", "/H": "I", "/B": "", "/C": "", "/D": "", "/G": "", "/I": ""}
    site.routes |= {name: page(*(f"/{letter}" for letter in to), on=True) for name, to in graph.items()}
    one = ("-s", "ARCHIVE_LOCAL_CONCURRENCY=1", "-s", "ARCHIVE_READERS=1")
    focused(*one, seeds=site.url(), topic=TOPIC, order="bfs")
    assert site.paths() == ["/", "/B", "/C", "/D", "/E", "/F", "/H", "/G", "/I"]


def test_links_of_the_topic_go_first(site: MockServer, focused: Crawl) -> None:
    others = [f"/other/{number}" for number in range(20)]
    anchors = "".join(f'<li><a href="{url}">Shoe catalogue {url[-2:]}</a></li>' for url in others)
    body = f'<h1>Town</h1><ul>{anchors}<li><a href="/t">Tide and ferry times</a></li></ul>'
    site.routes |= {"/": Reply(body.encode()), "/t": page(on=True)}
    site.routes |= {url: page(on=False) for url in others}
    focused("-s", "ARCHIVE_LOCAL_CONCURRENCY=1", seeds=site.url(), topic=TOPIC)
    assert site.paths()[:2] == ["/", "/t"]


@pytest.mark.long
def test_every_score_and_every_drop_of_500_pages_can_be_explained(site: MockServer, focused: Crawl) -> None:
    names = [f"/{number}" for number in range(700)]
    for number, name in enumerate(names):
        children = [names[child] for child in range(2 * number + 1, 2 * number + 3) if child < 700]
        site.routes[name] = page(*children, f"http://away.example/{number}", on=number % 5 < 2)
    site.routes["/"] = site.routes["/0"]
    options = {"scope": "host", "focus": "hard", "tunnel": 3, "pages": 500}
    crawled = focused("-s", "ARCHIVE_LINK_THRESHOLD=0", seeds=site.url(), topic=TOPIC, **options)
    assert len(crawled.records) == 500
    uri = f"sqlite:///{focused.folder}/archive.frontier.db"
    frontier = open_frontier(uri, focused.ask("frontier")["crawl"])
    try:
        for record in frontier.records(*State):
            explained = url_record(record, path(frontier, record))
            assert explained["path"][0] == site.url()
            assert explained["path"][-1] == record.entry.url
            assert explained["reason"] or record.state is not State.REJECTED
            assert explained["parts"] or record.entry.source == "" or explained["reason"] == "other_host"
            assert record.state is not State.DONE or "terms" in explained["page"]
    finally:
        frontier.close()
    assert crawled.stat("guard/other_host") + crawled.stat("topic/dropped/tunnel") == rejected(focused)
    shown = focused.ask("explain", site.url("/1"))
    assert {"url", "state", "score", "parts", "reason", "path"} <= shown.keys()


def rejected(crawl: Crawl) -> int:
    return int(crawl.ask("frontier")["states"]["rejected"])


def test_the_judgements_are_in_the_harvest(tunnel: MockServer, focused: Crawl) -> None:
    focused(seeds=tunnel.url(), topic=TOPIC)
    points = focused.ask("harvest", "--step", "3")["points"]
    assert [(point["pages"], point["relevant"]) for point in points] == [(3, 1), (6, 2)]


def test_a_saved_topic_is_taken_by_its_name(tunnel: MockServer, focused: Crawl, tmp_path: Path) -> None:
    for name, text in {"on.txt": TIDES, "on2.txt": TIDES[::2] + TIDES}.items():
        (tmp_path / name).write_text(text)
    setting = ("-s", f"ARCHIVE_TOPICS={tmp_path}/topics")
    sources = (str(tmp_path / "on.txt"), str(tmp_path / "on2.txt"))
    focused.ask("topic", "tides", "--from", *sources, *setting)
    crawled = focused(*setting, seeds=tunnel.url(), topic="tides")
    assert {record["url"] for record in crawled.records if record["relevant"]} == {
        tunnel.url(),
        tunnel.url("/on"),
    }
    assert "its words are the topic" not in crawled.log
    assert json.loads((tmp_path / "topics" / "tides.json").read_text("utf-8"))["name"] == "tides"


def test_a_queued_link_is_dropped_in_hard_focus_when_the_crawl_has_learnt_that_it_leads_nowhere(
    site: MockServer, focused: Crawl
) -> None:
    site.routes["/"] = page(*(f"/shop/{number}" for number in range(40)), on=True)
    site.routes |= {f"/shop/{number}": page(on=False) for number in range(40)}
    crawled = focused(
        "-s", "CONCURRENT_REQUESTS=1", seeds=site.url(), topic=TOPIC, focus="hard", threshold="0.05"
    )
    dropped = int(crawled.stat("topic/dropped/link_score"))
    assert 20 < dropped < 40
    assert focused.ask("frontier")["reasons"] == {"link_score": dropped}
    assert f"links dropped: 0 behind tunnels, {dropped} by their scores" in crawled.log
    assert crawled.code == 0


def test_plain_text_is_judged_by_its_words(site: MockServer, focused: Crawl) -> None:
    site.routes |= {
        "/": page("/tides.txt", "/shoes.txt", "/style.css", on=True),
        "/tides.txt": Reply(TIDES.encode(), type="text/plain"),
        "/shoes.txt": Reply(SHOES.encode(), type="text/plain; charset=utf-8"),
        "/style.css": Reply(TIDES.encode(), type="text/css"),
    }
    crawled = focused(seeds=site.url(), topic=TOPIC)
    relevant = {record["url"].rpartition("/")[2] for record in crawled.records if record["relevant"]}
    assert relevant == {"", "tides.txt"}
    assert crawled.stat("topic/judged") == 3


@pytest.mark.parametrize("order", ["best", "ipagerank"])
def test_a_link_that_says_a_synonym_goes_first(
    site: MockServer, focused: Crawl, tmp_path: Path, order: str
) -> None:
    words = ("Shoes", "Boots", "Laces", "Ferries", "Hats")
    anchors = "".join(f"<li><a href=/{word.lower()}>{word}</a></li>" for word in words)
    site.routes["/"] = Reply(f"<ul>{anchors}</ul>".encode())
    setting = ("-s", f"ARCHIVE_TOPICS={tmp_path}/topics", "-s", "ARCHIVE_LOCAL_CONCURRENCY=1")
    focused.ask("topic", "boats", "--words", "boat", "--synonyms", "boat=ferry=ship", *setting)
    focused(*setting, seeds=site.url(), topic="boats", order=order)
    assert site.paths()[:2] == ["/", "/ferries"]


@pytest.mark.parametrize(("rings", "first"), [({"rings": "boat=raft:0.4"}, "/raft"), ({}, "/shoes")])
def test_the_near_words_of_a_ring_count_in_ipagerank(
    site: MockServer, focused: Crawl, rings: dict[str, str], first: str
) -> None:
    site.routes["/"] = Reply(b"<ul><li><a href=/shoes>Shoes</a></li><li><a href=/raft>Raft</a></li></ul>")
    slow = ("-s", "ARCHIVE_LOCAL_CONCURRENCY=1")
    focused(*slow, seeds=site.url(), topic="boat", order="ipagerank", **rings)
    assert site.paths()[:2] == ["/", first]


def test_hard_focus_prunes_by_the_relevance_of_anchors_if_asked(
    site: MockServer, focused: Crawl, tmp_path: Path
) -> None:
    site.routes |= {"/ferry": page(on=True), "/shoes": page(on=False)}
    anchors = '<a href="/ferry">Ferry times</a> <a href="/shoes">Shoes</a>'
    site.routes["/"] = Reply(f"<p>{TIDES} {anchors}</p>".encode())
    hard = {"seeds": site.url(), "topic": TOPIC, "focus": "hard", "order": "ipagerank"}
    every = focused(**hard)
    assert {record["url"] for record in every.records} == {site.url(), site.url("/ferry"), site.url("/shoes")}
    (tmp_path / "pruned").mkdir()
    pruned = replace(focused, folder=tmp_path / "pruned")(**hard, threshold="0.3")
    assert {record["url"] for record in pruned.records} == {site.url(), site.url("/ferry")}
    assert pruned.stat("topic/dropped/link_score") == 1
