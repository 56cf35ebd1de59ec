"""The budget of a site in a search for forms, and the requests that are not made when it is spent."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request
from scrapy.exceptions import NotConfigured

from archivebot.crawl.extensions.sitebudget import REFRESH, SiteBudget
from archivebot.crawl.middlewares.sitebudget import SiteBudgetMiddleware
from archivebot.crawl.process.calls import keep_forms
from archivebot.crawl.refusals import Refused
from archivebot.forms.classifier import Decision
from archivebot.forms.form import Control, Form
from archivebot.forms.record import FormRecord
from archivebot.frontier import State
from archivebot.models import FoundForm
from spiders.deepweb import DeepWebSpider
from tests.driven import SITE, Driven, begun, other_worker, prepared
from tests.factories import make_page

HOST, OTHER = "a.example", "b.example"
SMALL = {"ARCHIVE_SITE_FORMS": 2, "ARCHIVE_SITE_PAGES": 3}


def form(number: int, fields: bool = True) -> FoundForm:
    """Make a query form; without ``fields`` it is a search box."""
    found = Form("f", f"/find{number}", "get", (), (Control("text", "q"),))
    return FormRecord.of(found, Decision(True, 0.9, fields, "searches"), SITE).found()


@asynccontextmanager
async def searching(folder: Path, **settings: Any) -> AsyncIterator[tuple[Driven, SiteBudget]]:
    """Search for forms on sites with room for two forms and three pages."""
    async with begun(folder, None, DeepWebSpider, **SMALL, **settings) as crawl:
        budget = SiteBudget.from_crawler(crawl.crawler)
        crawl.extend(budget)
        yield crawl, budget


def test_only_a_search_for_forms_has_a_budget_of_sites(tmp_path: Path) -> None:
    crawler = prepared(tmp_path).crawler
    for part in (SiteBudget, SiteBudgetMiddleware):
        with pytest.raises(NotConfigured):
            part.from_crawler(crawler)


def test_a_site_is_left_after_the_form_that_is_too_many(tmp_path: Path) -> None:
    async def run() -> None:
        async with searching(tmp_path) as (crawl, budget):
            budget.saw(HOST, [form(1), form(1), form(2), form(3, fields=False), form(4, fields=False)])
            assert await budget.spent(HOST) is None, "boxes do not count, and no form counts twice"
            budget.saw(OTHER, [form(3)])
            budget.saw(HOST, [form(3)])
            assert [await budget.spent(HOST), await budget.spent(OTHER)] == ["site_forms", None]
            assert crawl.crawler.stats.get_value("archive/query_forms") == 4

    asyncio.run(run())


def test_a_site_is_left_after_the_page_that_is_too_many(tmp_path: Path) -> None:
    async def run() -> None:
        async with searching(tmp_path) as (_, budget):
            said = []
            for _ in range(5):
                said.append(await budget.spent(HOST))
                budget.fetch(HOST)
            assert said == [None] * 4 + ["site_pages"]
            assert await budget.spent(OTHER) is None

    asyncio.run(run())


def test_forms_that_another_worker_stored_count(tmp_path: Path) -> None:
    async def run() -> None:
        async with searching(tmp_path) as (_, budget):
            budget.saw(HOST, [form(1)])
            budget.stored(HOST, 2)
            assert await budget.spent(HOST) is None, "its own form may be among them"
            budget.stored(HOST, 3)
            assert await budget.spent(HOST) == "site_forms"

    asyncio.run(run())


def test_pages_that_another_worker_fetched_count_after_a_while(tmp_path: Path) -> None:
    async def run() -> None:
        async with searching(tmp_path) as (crawl, budget):
            assert await budget.spent(HOST) is None
            other = other_worker(crawl, tmp_path)
            other.add([crawl.entry(f"{SITE}{number}") for number in range(4)])
            for number, state in enumerate((State.DONE, State.FAILED, State.DONE, State.DONE)):
                assert other.lease() is not None
                other.settle(f"{SITE}{number}", state)
            other.close()
            budget._asked = time.monotonic()
            assert await budget.spent(HOST) is None, "it was asked a moment ago"
            budget._asked -= REFRESH
            assert await budget.spent(HOST) == "site_pages"

    asyncio.run(run())


def test_a_frontier_that_cannot_be_read_leaves_its_own_counts(tmp_path: Path) -> None:
    async def run() -> None:
        async with searching(tmp_path) as (crawl, budget):
            for _ in range(4):
                budget.fetch(HOST)
            crawl.frontier.close()
            crawl.is_closed = True
            assert await budget.spent(HOST) == "site_pages"

    asyncio.run(run())


def test_what_an_interrupted_crawl_found_and_fetched_counts(tmp_path: Path) -> None:
    async def run() -> None:
        async with searching(tmp_path) as (crawl, budget):
            crawl.queue(*(f"http://{OTHER}/{number}" for number in range(4)))
            while await crawl.fetch():
                pass
            page = make_page(url=SITE, day=400)
            forms = tuple(form(number) for number in range(3))
            assert await crawl.session.run(keep_forms, replace(page, forms=forms), budget.since) == 3
        async with searching(tmp_path) as (crawl, budget):
            assert crawl.dispatcher.resumed
            assert [await budget.spent(HOST), await budget.spent(OTHER)] == ["site_forms", "site_pages"]
            crawl.close("finished")
        async with searching(tmp_path) as (crawl, budget):
            assert not crawl.dispatcher.resumed
            assert [await budget.spent(HOST), await budget.spent(OTHER)] == [None, None]

    asyncio.run(run())


def test_a_request_to_a_site_that_is_done_with_is_not_made(tmp_path: Path) -> None:
    async def run() -> None:
        async with searching(tmp_path) as (crawl, _):
            middleware = SiteBudgetMiddleware.from_crawler(crawl.crawler)
            crawl.queue(SITE)
            for _ in range(4):
                await middleware.process_request(Request(SITE))
            request = crawl.dispatcher.next()
            assert request is not None
            with pytest.raises(Refused, match="site_pages"):
                await middleware.process_request(request)
            assert crawl.dispatcher.flush()
            assert crawl.state(SITE) == ("rejected", "site_pages")
            assert crawl.crawler.stats.get_value("guard/site_pages") == 1
            await middleware.process_request(Request(f"http://{OTHER}/"))

    asyncio.run(run())


def test_robots_txt_is_asked_for_whatever_is_spent(tmp_path: Path) -> None:
    async def run() -> None:
        async with searching(tmp_path) as (crawl, budget):
            middleware = SiteBudgetMiddleware.from_crawler(crawl.crawler)
            budget.saw(HOST, map(form, range(3)))
            await middleware.process_request(Request(f"{SITE}robots.txt", meta={"archive_robots": True}))

    asyncio.run(run())
