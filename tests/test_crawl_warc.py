"""ARCHIVE_WARC: the WARC files of a crawl hold what the server sent, and make the same archive."""

from __future__ import annotations

from pathlib import Path

from warcio.archiveiterator import ArchiveIterator

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.models import Capture
from tests.commands import run_scrapy
from tests.conftest import Crawl
from tests.test_crawl_wire import KINDS, RawServer

NAMES = "plain gzip br two-codings repeated case folded odd-bytes line-feeds redirect not-found".split()
CHUNKED = ["chunked", "chunked-gzip"]
SEEDS = [*NAMES, *CHUNKED, "cut"]


def records(folder: Path, kind: str) -> dict[str, bytes]:
    """Return the blocks of the records of a type by URL."""
    found = {}
    for path in sorted(folder.glob("*.warc.gz")):
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream, no_record_parse=True):
                if record.rec_type == kind:
                    url = record.rec_headers.get_header("WARC-Target-URI")
                    found[url] = record.content_stream().read()
    return found


def captures(uri: str, urls: list[str]) -> list[Capture]:
    with Archive.reader(ArchiveConfig(uri=uri)) as archive:
        return [archive.captures(url)[-1] for url in urls]


def test_answers_are_written_as_they_came(crawl: Crawl, tmp_path: Path) -> None:
    folder = tmp_path / "warc"
    with RawServer({name: KINDS[name] for name in SEEDS}).running() as server:
        seeds = ",".join(server.url(name) for name in SEEDS)
        done = crawl("-s", f"ARCHIVE_WARC={folder}", "-s", "RETRY_TIMES=0", seeds=seeds, depth=0)
    assert done.code == 0
    assert not list(folder.glob("*.open"))
    answers, requests = records(folder, "response"), records(folder, "request")
    for name in NAMES:
        kind, url = KINDS[name], server.url(name)
        assert answers[url] == kind.head + kind.body, name
        assert requests[url] == server.requests[name], name
    for name in CHUNKED:  # the transfer coding is undone, and no header says otherwise
        head, _, body = answers[server.url(name)].partition(b"\r\n\r\n")
        assert b"\r\nX-Archive-Orig-Transfer-Encoding: chunked\r\n" in head
        assert b"Content-Length: %d" % len(body) in head
        assert len(body) == KINDS[name].length
    cut = answers[server.url("cut")]  # its length does not fit
    assert b"\r\nX-Archive-Orig-Content-Length: 9999\r\n" in cut
    assert cut.endswith(KINDS["cut"].body)
    # The files make the same archive as the crawl.
    again = f"sqlite:///{tmp_path}/again.db"
    assert run_scrapy(("ingest", str(folder), "-s", f"ARCHIVE_URI={again}")).returncode == 0
    urls = [server.url(name) for name in SEEDS]
    for before, after in zip(captures(crawl.uri, urls), captures(again, urls), strict=True):
        assert (before.outcome, before.digest, before.status) == (after.outcome, after.digest, after.status)


def test_a_folder_that_cannot_be_written_ends_the_crawl(crawl: Crawl, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with RawServer({}).running() as server:
        done = crawl("-s", f"ARCHIVE_WARC={tmp_path}/file", seeds=server.url())
    assert done.code not in (0, None)
    assert f"{tmp_path}/file cannot be written" in done.log
