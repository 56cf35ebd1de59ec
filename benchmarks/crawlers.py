"""Crawlers that a benchmark runs on a web of its own: `scrapy crawl topic` and Crawl4AI."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from common import ROOT, need, run
from walks import Limits
from webserver import Web, serving

from archivebot.crawl.middlewares.order import SLACK
from archivebot.crawl.scheduling.held import FEWEST, SHARE

LIMITS = Limits(requests=32, per_host=8, slack=SLACK, fewest=FEWEST, share=SHARE)  # of our crawls
MOST_SECONDS = 3600  # of one crawl: with slow storing the longest takes ten minutes
MOST_CLOSING = 300  # seconds from the interrupt of a crawl to its end
MOMENT = 0.2  # seconds between two looks at a crawl

CRAWL4AI = """
import asyncio
import os
import sys

from crawl4ai import AsyncWebCrawler, CrawlerRunConfig, HTTPCrawlerConfig, KeywordRelevanceScorer
from crawl4ai import BestFirstCrawlingStrategy, ProxyConfig
from crawl4ai.async_crawler_strategy import AsyncHTTPCrawlerStrategy

proxy, seed, *words = sys.argv[1:]


async def main():
    strategy = BestFirstCrawlingStrategy(max_depth=100, url_scorer=KeywordRelevanceScorer(keywords=words))
    config = CrawlerRunConfig(
        deep_crawl_strategy=strategy, proxy_config=ProxyConfig(server=proxy), stream=True, verbose=False,
        mean_delay=0, max_range=0,
    )
    downloads = HTTPCrawlerConfig(downloads_path=os.environ["CRAWL4_AI_BASE_DIRECTORY"])
    client = AsyncHTTPCrawlerStrategy(browser_config=downloads)
    async with AsyncWebCrawler(crawler_strategy=client) as crawler:
        async for _ in await crawler.arun(seed, config=config):
            pass


asyncio.run(main())
"""


def make_topic(folder: Path, *words: str) -> None:
    command = [sys.executable, "-m", "scrapy", "topic", *words, "-s", f"ARCHIVE_TOPICS={folder}/topics"]
    need(run(command, cwd=ROOT), "scrapy topic")


def crawl(
    web: Web,
    folder: Path,
    wanted: Collection[str] = (),
    most: int = 0,
    settings: Mapping[str, object] = {},
    storing: float = 1.0,
    archive: Path | None = None,
    **arguments: object,
) -> list[str]:
    """Run `scrapy crawl topic` with the topics of a folder until it ends or all wanted pages are fetched, or
    as many pages of the web as ``most``.

    ``storing`` is the share of the time for which the process that stores may run; without ``archive`` what
    is stored is thrown away. Returns the URLs in the order of the requests.
    """
    with tempfile.TemporaryDirectory() as place, serving(web) as (server, proxy):
        told = {"ARCHIVE_TOPICS": folder / "topics", **settings}
        command = crawl_command("topic", archive or Path(place) / "archive.db", told, arguments)

        def enough() -> bool:
            asked = set(server.asked)
            return (bool(wanted) and set(wanted) <= asked) or 0 < most <= len(asked & web.pages.keys())

        watch(command, enough, storing, http_proxy=proxy)
        return server.asked


def checked(archive: Path, labels: Mapping[str, bool]) -> tuple[float, float, float]:
    """Return what `scrapy harvest --labels` prints of a crawl: the harvest rate of its labelled pages as it
    was judged and by the labels, and the Brier score of the relevance.
    """
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.writelines(
            json.dumps({"url": url, "relevant": relevant}) + "\n" for url, relevant in labels.items()
        )
        file.flush()
        told = ["-s", f"ARCHIVE_URI=sqlite:///{archive}", "-s", "REDIS_URL="]
        command = [sys.executable, "-m", "scrapy", "harvest", "--labels", file.name, "--json", *told]
        found = json.loads(need(run(command, cwd=ROOT), "scrapy harvest").stdout)["check"]
    return found["harvest"], found["labelled"], found["brier"]


def crawl_command(
    spider: str, archive: Path, settings: Mapping[str, object], arguments: Mapping[str, object]
) -> list[str]:
    """Return the command of a crawl that waits for nobody."""
    told = {
        "ARCHIVE_URI": f"sqlite:///{archive}",
        "REDIS_URL": "",
        "DOWNLOAD_DELAY": 0,
        "CONCURRENT_REQUESTS": LIMITS.requests,
        "CONCURRENT_REQUESTS_PER_DOMAIN": LIMITS.per_host,
        "LOG_LEVEL": "WARNING",
        **settings,
    }
    given = [f"-a{name}={value}" for name, value in arguments.items()]
    given += [f"-s{name}={value}" for name, value in told.items()]
    return [sys.executable, "-m", "scrapy", "crawl", spider, *given]


def watch(
    command: Sequence[str], enough: Callable[[], bool], storing: float = 1.0, **environment: str
) -> None:
    """Run a crawler to its end, or interrupt it as soon as it is enough.

    If ``storing`` is less than 1, the process that stores is stopped for the rest of each moment.
    """
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=os.environ | environment, stdout=log, stderr=log)
        late = time.monotonic() + MOST_SECONDS
        try:
            while process.poll() is None and not enough() and time.monotonic() < late:
                _wait(process.pid, storing)
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            process.wait(MOST_CLOSING)
        except subprocess.TimeoutExpired:
            raise SystemExit(f"{' '.join(command)} did not end within {MOST_CLOSING} s") from None
        finally:
            process.kill()  # or an interrupted benchmark would leave its crawl
        if not enough() and (process.returncode or time.monotonic() > late):
            log.seek(0)
            raise SystemExit(f"{command[0]} ended with {process.returncode}:\n{log.read()[-3000:]}")


def _wait(crawl: int, storing: float) -> None:
    """Wait for a moment, in which the storing process of a crawl runs for a share of the time only."""
    archivist = _archivist(crawl) if storing < 1.0 else None
    if archivist is None:
        time.sleep(MOMENT)
        return
    with suppress(ProcessLookupError):
        os.kill(archivist, signal.SIGSTOP)
        try:
            time.sleep(MOMENT * (1.0 - storing))
        finally:
            os.kill(archivist, signal.SIGCONT)
    time.sleep(MOMENT * storing)


def _archivist(crawl: int) -> int | None:
    """Return the process that stores: a crawl starts it before those that read. None before it started."""
    with suppress(FileNotFoundError, ProcessLookupError):
        for child in Path(f"/proc/{crawl}/task/{crawl}/children").read_text().split():
            if b"archivist" in Path(f"/proc/{child}/cmdline").read_bytes():
                return int(child)
    return None


def crawl4ai(web: Web, seed: str, words: Collection[str], python: str, fetches: int) -> list[str]:
    """Run Crawl4AI with some words until it made so many requests, and give their URLs in order."""
    with serving(web) as (server, proxy), tempfile.TemporaryDirectory() as folder:
        command = [python, "-c", CRAWL4AI, proxy, seed, *words]
        watch(command, lambda: len(server.asked) >= fetches, CRAWL4_AI_BASE_DIRECTORY=folder)
        return server.asked
