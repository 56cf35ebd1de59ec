"""Between Scrapy and the frontier: leases, what waits to be written, patience, limits and ends."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from scrapy.http import Response
from twisted.python.failure import Failure

from archivebot.crawl.scheduling.outbox import STROKE
from archivebot.crawl.scheduling.pace import HostPace
from archivebot.exceptions import StorageError
from archivebot.frontier import Counts, State
from archivebot.models import Outcome, Page
from tests.driven import SITE, Driven, begun, until
from tests.factories import make_page

A, B, C, D = (f"{SITE}{name}" for name in "abcd")
OTHER = "http://b.example/"

Test = Callable[[Path], None]


def crawling(**settings: Any) -> Callable[[Callable[..., Coroutine[Any, Any, None]]], Test]:
    """Run a test on a crawl that was begun in a folder of its own."""

    def decorate(function: Callable[..., Coroutine[Any, Any, None]]) -> Test:
        def test(tmp_path: Path) -> None:
            async def run() -> None:
                async with begun(tmp_path, **settings) as crawl:
                    await function(crawl)

            asyncio.run(run())

        test.__doc__ = function.__doc__
        return test

    return decorate


def response(crawl: Driven, url: str) -> Response:
    return Response(url, request=crawl.request(url))


# Leases


@crawling(ARCHIVE_LOCAL_CONCURRENCY=8)
async def test_the_best_request_goes_out_first_and_its_page_ends_its_lease(crawl: Driven) -> None:
    crawl.queue(A, score=1.0)
    crawl.queue(OTHER, score=2.0)
    assert crawl.dispatcher.pending()
    assert await crawl.fetch() == OTHER
    assert crawl.next() == A
    assert crawl.next() is None
    assert crawl.dispatcher.pending(), "a page is under way"
    crawl.dispatcher.item_scraped(await crawl.store(A))
    assert not crawl.dispatcher.pending()
    assert crawl.frontier.counts() == Counts(done=2, answered=2)
    assert crawl.crawler.stats.get_value("scheduler/dequeued") == 2
    assert crawl.crawler.stats.get_value("scheduler/enqueued") == 2


@crawling()
async def test_a_request_comes_back_as_the_spider_made_it(crawl: Driven) -> None:
    made = crawl.request(A, 0.5, SITE, headers={"X": "y"})
    crawl.dispatcher.enqueue(made)
    crawl.dispatcher.publish()
    request = crawl.dispatcher.next()
    assert request is not None
    assert (request.url, request.headers["X"]) == (A, b"y")
    assert request.callback == crawl.crawler.spider.parse
    known = {name: request.meta[f"archive_{name}"] for name in ("score", "source", "order", "distance")}
    assert known == {"score": 0.5, "source": SITE, "order": 1, "distance": 0}


@crawling()
async def test_a_new_try_keeps_the_lease_of_its_url(crawl: Driven) -> None:
    crawl.queue(A, B)
    assert crawl.next() == A
    again = crawl.request(A, dont_filter=True, priority=-3)
    crawl.dispatcher.enqueue(again)
    assert crawl.dispatcher.pending()
    assert crawl.dispatcher.next() is again
    assert crawl.frontier.counts().leased == 1
    crawl.dispatcher.enqueue(crawl.request(D, dont_filter=True))
    assert crawl.dispatcher.flush()
    assert crawl.state(D) == ("queued", ""), "no lease of it is held"


@crawling(CONCURRENT_REQUESTS=1)
async def test_pages_that_wait_to_be_stored_bound_the_leases(crawl: Driven) -> None:
    urls = [f"http://{name}.example/" for name in "abc"]
    crawl.queue(*urls)
    assert [crawl.next() for _ in urls] == [*urls[:2], None]
    assert crawl.state(urls[2]) == ("queued", "")
    crawl.dispatcher.item_scraped(await crawl.store(urls[0]))
    assert crawl.next() == urls[2]


@crawling()
async def test_an_answer_that_came_makes_room_at_its_host_before_its_page_is_stored(crawl: Driven) -> None:
    crawl.queue(A, B)
    assert [crawl.next(), crawl.next()] == [A, None]
    crawl.dispatcher.response_downloaded(response(crawl, C), crawl.request(C))
    assert crawl.next() is None, "that URL has no lease"
    crawl.dispatcher.response_downloaded(response(crawl, A), crawl.request(A))
    assert crawl.next() == B
    assert crawl.frontier.counts().leased == 2


@crawling(ARCHIVE_LEASE_SECONDS=2)
async def test_leases_are_renewed_while_the_crawl_runs(crawl: Driven) -> None:
    crawl.queue(A)
    crawl.next()
    file = crawl.frontier._file
    first = file.one("SELECT beat FROM owner")
    await until(lambda: file.one("SELECT beat FROM owner") > first)
    crawl.close("shutdown")
    assert crawl.dispatcher._beat is not None
    assert not crawl.dispatcher._beat.running


@crawling()
async def test_a_host_is_asked_as_fast_as_its_rules_allow(crawl: Driven) -> None:
    pace = HostPace(delay=0.0, concurrency=2, local_concurrency=8, first=1.0, ceiling=60.0, longest=0)
    crawl.extend(pace)
    crawl.queue(A, B, C)
    assert [crawl.next() for _ in range(3)] == [A, B, None]
    crawl.dispatcher.item_scraped(await crawl.store(A))
    pace.crawl_delays["a.example"] = 60.0
    crawl.queue(D)
    assert crawl.next() is None
    due = crawl.frontier.due()
    assert due is not None
    assert 0 < due <= 60


# What a focused crawl adds: refusals after all, and waiting for the best


@crawling()
async def test_a_url_that_is_refused_after_all_is_passed_over_and_says_why(crawl: Driven) -> None:
    crawl.dispatcher.refusal = {A: "link_score"}.get
    crawl.queue(A, score=2.0)
    crawl.queue(B, score=1.0)
    assert crawl.next() == B
    assert crawl.dispatcher.flush()
    assert crawl.state(A) == ("rejected", "link_score")


@pytest.mark.parametrize(("slack", "taken"), [(None, OTHER), (0.3, None), (5.0, OTHER)])
def test_the_slack_says_for_how_much_better_a_url_is_waited(
    tmp_path: Path, slack: float | None, taken: str | None
) -> None:
    async def run() -> None:
        async with begun(tmp_path) as crawl:
            crawl.dispatcher.slack = slack
            now = time.time()
            crawl.frontier._clock = lambda: now
            crawl.queue(A, B, score=2.0)
            crawl.queue(OTHER, score=1.0)
            assert [crawl.next(), crawl.next()] == [A, taken]
            if taken is None:
                looks = crawl.engine.looks
                await until(lambda: crawl.engine.looks > looks)
                crawl.dispatcher.response_downloaded(response(crawl, A), crawl.request(A))
                assert crawl.next() == B

    asyncio.run(run())


@crawling()
async def test_new_scores_change_what_goes_out_next(crawl: Driven) -> None:
    crawl.queue(A, score=2.0)
    crawl.queue(B, score=1.0)
    crawl.dispatcher.reprioritise({B: 3.0})
    assert crawl.next() == B


@crawling()
async def test_a_refused_link_is_recorded_if_nothing_else_is_known_of_it(crawl: Driven) -> None:
    crawl.queue(A)
    for url in (A, B):
        crawl.dispatcher.refuse(crawl.request(url), "other_host")
    assert crawl.dispatcher.flush()
    assert crawl.state(B) == ("rejected", "other_host")
    # What is written at one stroke is written with the refusals first, and a rejected URL may come after all.
    assert crawl.state(A)[0] == "queued"


@crawling()
async def test_a_request_that_is_turned_down_ends_its_lease(crawl: Driven) -> None:
    crawl.queue(A)
    request = crawl.dispatcher.next()
    assert request is not None
    crawl.dispatcher.turn_down(request, "site_pages")
    crawl.dispatcher.turn_down(crawl.request(B), "site_pages")
    assert crawl.dispatcher.flush()
    assert crawl.state(A) == crawl.state(B) == ("rejected", "site_pages")
    assert crawl.frontier.counts() == Counts(rejected=2)


# Links and budgets


@crawling()
async def test_links_go_out_together_and_before_their_page_is_stored(crawl: Driven) -> None:
    crawl.queue(A)
    crawl.next()
    links = [f"{SITE}{number}" for number in range(STROKE + 2)]
    crawl.queue(*links, source=A)
    crawl.queue(D, score=9.0, source=A)
    assert crawl.dispatcher.flush()
    assert crawl.frontier.counts().queued == 0, "the page is not complete"
    await crawl.dispatcher.safe(A)
    assert crawl.frontier.counts().queued == STROKE + 3
    crawl.dispatcher.response_downloaded(response(crawl, A), crawl.request(A))
    assert crawl.next() == D


@crawling()
async def test_pages_read_at_the_same_time_share_a_transaction(crawl: Driven) -> None:
    for page in (A, B):
        crawl.queue(f"{page}/link", source=page)
    with patch.object(crawl.frontier, "together", wraps=crawl.frontier.together) as together:
        await asyncio.gather(crawl.dispatcher.safe(A), crawl.dispatcher.safe(B))
    assert together.call_count == 1
    assert crawl.frontier.counts().queued == 2


@crawling(ARCHIVE_BUDGET_QUERY=2)
async def test_a_pattern_has_room_for_so_many_urls(crawl: Driven) -> None:
    crawl.queue(*(f"{SITE}cal?d={day}" for day in range(3)), source=SITE)
    assert crawl.dispatcher.publish()
    assert [crawl.state(f"{SITE}cal?d={day}")[0] for day in range(3)] == ["queued", "queued", "rejected"]
    assert crawl.state(f"{SITE}cal?d=2")[1] == "budget_pattern"
    assert crawl.crawler.stats.get_value("guard/budget_pattern") == 1


@crawling(ARCHIVE_BUDGET_QUERY=8)
async def test_a_page_that_repeats_another_one_takes_room_of_its_pattern(crawl: Driven) -> None:
    crawl.queue(*(f"{SITE}cal?d={day}" for day in range(3)), source=SITE)
    assert crawl.dispatcher.publish()
    crawl.dispatcher.repeated(f"{SITE}cal?d=0")
    crawl.queue(A)
    assert crawl.dispatcher.publish()
    crawl.queue(*(f"{SITE}cal?d={day}" for day in range(3, 6)), source=SITE)
    assert crawl.dispatcher.publish()
    assert [crawl.state(f"{SITE}cal?d={day}")[0] for day in range(3, 6)] == ["queued", *2 * ["rejected"]]


def test_a_host_has_a_budget_in_the_scope_of_the_web_alone(tmp_path: Path) -> None:
    async def states(scope: str) -> list[tuple[str, str]]:
        async with begun(tmp_path, {"scope": scope}, ARCHIVE_BUDGET_HOST=1) as crawl:
            crawl.queue(SITE)
            crawl.queue(A, B, source=SITE)
            assert crawl.dispatcher.publish()
            return [crawl.state(url) for url in (SITE, A, B)]

    queued = ("queued", "")
    assert asyncio.run(states("host")) == [queued] * 3
    assert asyncio.run(states("web")) == [queued, queued, ("rejected", "budget_host")]


# What became of a page


@pytest.mark.parametrize(
    ("outcome", "state"),
    [
        (Outcome.FETCHED, State.DONE),
        (Outcome.ROBOTS_DENIED, State.DONE),
        (Outcome.TIMEOUT, State.FAILED),
        (Outcome.UNREACHABLE, State.FAILED),
        (Outcome.PROTOCOL_ERROR, State.FAILED),
        (Outcome.TOO_LARGE, State.FAILED),
    ],
)
def test_a_page_without_an_answer_has_failed(tmp_path: Path, outcome: Outcome, state: State) -> None:
    async def run() -> None:
        async with begun(tmp_path) as crawl:
            crawl.queue(A)
            crawl.next()
            crawl.dispatcher.item_scraped("no capture")
            crawl.dispatcher.item_scraped(await crawl.store(A, outcome))
            assert crawl.dispatcher.flush()
            assert crawl.state(A)[0] == state
            assert crawl.frontier.counts().answered == (outcome is Outcome.FETCHED)

    asyncio.run(run())


@crawling()
async def test_a_page_that_a_pipeline_dropped_is_done(crawl: Driven) -> None:
    crawl.queue(A)
    crawl.next()
    crawl.dispatcher.item_dropped("no page", ValueError())
    crawl.dispatcher.item_dropped(Page(A, datetime.now(UTC), Outcome.FETCHED), ValueError("too dull"))
    assert crawl.dispatcher.flush()
    assert crawl.state(A) == ("done", "too dull")


@crawling()
async def test_a_page_on_which_a_stage_fails_is_given_up_and_the_crawl_goes_on(crawl: Driven) -> None:
    crawl.queue(A, B)
    crawl.next()
    crawl.dispatcher.item_error(make_page(url=A), Failure(ValueError("no such block")))
    assert crawl.next() == B
    crawl.queue(C, source=B)
    crawl.dispatcher.spider_error(Failure(KeyError("title")), response(crawl, B))
    crawl.dispatcher.spider_error(Failure(KeyError("title")), None)
    assert crawl.next() == C, "what the spider found before stays"
    assert crawl.state(A) == ("failed", "no such block")
    assert crawl.state(B) == ("failed", "'title'")
    assert not crawl.engine.reasons


@crawling()
async def test_a_crawl_whose_archive_fails_ends_and_fetches_the_page_later(crawl: Driven) -> None:
    crawl.queue(A, B)
    crawl.next()
    for _ in range(2):
        crawl.dispatcher.item_error(make_page(url=A), Failure(StorageError("the disk is full")))
    await until(lambda: crawl.engine.reasons)
    assert crawl.engine.reasons == ["storage_error"]
    assert crawl.dispatcher.failed
    assert crawl.dispatcher.flush()
    assert crawl.state(A)[0] == "queued"
