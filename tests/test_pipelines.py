"""The pipelines: Page to Snapshot to Capture, bounded memory, a clear end when the archive fails."""

import json

import pytest

from archivebot.warc.estimate import RECORD
from tests.conftest import Crawl
from tests.mockserver import MockServer, Reply, html, markup

STAGES = {
    "pipelines.frontier.FrontierPipeline": 100,
    "pipelines.segmentation.SegmentationPipeline": 300,
    "pipelines.nearduplicates.NearDuplicatePipeline": 400,
    "pipelines.storage.StoragePipeline": 500,
}


def stages(**more: int) -> str:
    return f"ITEM_PIPELINES={json.dumps(STAGES | more)}"


@pytest.mark.long
def test_every_capture_is_counted(site: MockServer, crawl: Crawl) -> None:
    site.routes |= {"/": html("/a", "/gone"), "/a": html(), "/gone": Reply(b"", 410)}
    crawled = crawl(seeds=site.url())
    names = ("captures", "new", "not_found", "outcome/fetched", "outcome/gone")
    assert [crawled.stat(f"archive/{name}") for name in names] == [3, 2, 1, 2, 1]
    fetched = sum(record["size"] for record in crawled.records)
    assert crawled.stat("archive/bytes_fetched") == fetched
    assert 0 < crawled.stat("archive/bytes_stored") < fetched
    least = 3 * RECORD
    assert least < crawled.stat("archive/bytes_warc_estimated") < least + fetched


@pytest.mark.long
def test_the_bytes_that_wait_for_the_archive_are_bounded(site: MockServer, crawl: Crawl) -> None:
    body, links = markup([], text="x" * 20_000), [f"/{page}" for page in range(60)]
    site.routes |= {"/": html(*links), **{link: Reply(body) for link in links}}
    bound, concurrency = 100_000, 8
    crawled = crawl(
        *("-s", stages(**{"tests.probes.SlowStage": 200}), "-s", "PROBE_PAUSE=0.05"),
        *("-s", f"SCRAPER_SLOT_MAX_ACTIVE_SIZE={bound}", "-s", f"CONCURRENT_REQUESTS={concurrency}"),
        seeds=site.url(),
    )
    assert len(crawled.records) == 61
    assert bound < crawled.stat("probe/bytes") <= bound + concurrency * len(body)


def test_a_crawl_ends_when_the_archive_cannot_be_written(site: MockServer, crawl: Crawl) -> None:
    links = [f"/{page}" for page in range(200)]
    site.routes |= {"/": html(*links), **{link: Reply(b"x", delay=0.01) for link in links}}
    crawled = crawl("-s", stages(**{"tests.probes.BrokenArchive": 100}), seeds=site.url())
    assert crawled.code == 3
    assert "'finish_reason': 'storage_error'" in crawled.log
    assert crawled.log.count(f"so the crawl ends: {crawl.uri}: disk full") == 1
    assert "Traceback" not in crawled.log
    assert len(site.paths()) < 200


def test_a_body_is_never_logged(site: MockServer, crawl: Crawl) -> None:
    site.routes["/"] = html(text="needle in the page")
    crawled = crawl("-L", "DEBUG", seeds=site.url())
    assert "Scraped from" in crawled.log
    assert "needle" not in crawled.log


STORY = (
    "The council met on Monday to hear why the ferry is late, and who will pay for the second boat. "
    "Nobody spoke against the harbour master, who asks for two more people and a roof over the pier. "
    "The vote is due before the winter, when the old boat has to go to the yard once more."
)
CUT, MARK = "pipelines.segmentation.SegmentationPipeline", "pipelines.nearduplicates.NearDuplicatePipeline"


@pytest.mark.long
@pytest.mark.parametrize("left_out", [(), (CUT,), (MARK,), (CUT, MARK)])
def test_a_stage_that_is_left_out_takes_its_work_along_and_no_other(
    site: MockServer, crawl: Crawl, left_out: tuple[str, ...]
) -> None:
    mirror = Reply(html(text=STORY).body.replace(b"<body>", b"<body><nav>Print</nav>"), delay=0.3)
    site.routes |= {"/": html("/story", "/print"), "/story": html(text=STORY), "/print": mirror}
    chosen = {stage: place for stage, place in STAGES.items() if stage not in left_out}
    one = ("-s", "CONCURRENT_REQUESTS=1", "-s", "ARCHIVE_LOCAL_CONCURRENCY=1")
    first = crawl("-s", f"ITEM_PIPELINES={json.dumps(chosen)}", *one, seeds=site.url())
    assert [record["kind"] for record in first.records] == ["new"] * 3
    counts = [record["blocks"]["count"] for record in first.records]
    assert all(counts) if CUT in chosen else not any(counts)
    assert bool(first.of(site.url("/print"))["duplicate"]) == (MARK in chosen)
    site.routes["/story"] = html(text=STORY.replace("Monday", "Tuesday"))
    site.routes["/print"] = Reply(mirror.body.replace(b"Print", b"Printed"))
    second = crawl("-s", f"ITEM_PIPELINES={json.dumps(chosen)}", *one, seeds=site.url())
    kinds = [second.of(site.url(path))["kind"] for path in ("/story", "/print")]
    assert kinds == ["changed", "touched"]


def test_without_storage_a_crawl_ends_and_stores_nothing(site: MockServer, crawl: Crawl) -> None:
    site.routes["/"] = html(text=STORY)
    chosen = {path: place for path, place in STAGES.items() if "storage" not in path}
    crawled = crawl("-s", f"ITEM_PIPELINES={json.dumps(chosen)}", seeds=site.url())
    assert (crawled.code, crawled.stat("archive/captures")) == (0, 0)
