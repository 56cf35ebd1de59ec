"""What every reader of an archive promises; a back end's test module runs it on a URI of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from queue import SimpleQueue

import pytest

from archivebot.archive import Archive, ArchiveReader, readings
from archivebot.config import ArchiveConfig
from archivebot.exceptions import Closed, NotArchived, Outdated, StorageError
from archivebot.models import Change, FoundForm, Kind, Label, Link, Outcome
from archivebot.proof.merkle import root_by_path
from archivebot.storage.base import LearnedTemplate
from tests.contracts.store import at
from tests.factories import URL, html, make_page

SITE = [f"http://example.com/{number:02}" for number in range(7)]


NAVIGATION = "<nav><ul><li><a href=/a>Home</a></li><li><a href=/b>News</a></li></ul></nav>"
PROSE = "The ferry runs all year. " * 20
MENUS = [
    f"<html><body>{NAVIGATION}<p>{PROSE}</p><p>{last * 20}</p></body></html>".encode()
    for last in ("It leaves at noon. ", "It leaves at ten. ")
]


def keep(archive: Archive, day: float, *, url: str = URL, links: int = 0) -> None:
    """Archive a version of a page that says which day it is."""
    page = make_page(html(f"It is day {day} at {url}."), day, url=url)
    found = tuple(Link(f"http://example.org/{number}") for number in range(links))
    archive.add(archive.segment(replace(page, links=found)))


def miss(archive: Archive, day: float) -> None:
    """Archive that a page was not found."""
    archive.add(archive.segment(make_page(b"", day, outcome=Outcome.GONE, status=404)))


def parts(ask: Callable[[object], list[object]], key: Callable[[object], object]) -> Iterator[list[object]]:
    """Yield the parts of a long result up to the empty one."""
    after: object = None
    while part := ask(after):
        yield part
        after = key(part[-1])


class ReaderContract:
    """The behaviour of a reader; subclasses give the fixture ``uri`` of an empty archive."""

    @pytest.fixture
    def uri(self) -> str:
        raise NotImplementedError

    def pretend(self, uri: str, step: int) -> None:
        """Change the number of the schema of an archive by a step."""
        raise NotImplementedError

    @pytest.fixture
    def config(self, uri: str) -> ArchiveConfig:
        return ArchiveConfig(uri=uri)

    def test_the_labels_of_a_version_are_kept(
        self, config: ArchiveConfig, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with closing(Archive.open(config)) as archive:
            kept = [archive.add(archive.segment(make_page(body, day))) for day, body in enumerate(MENUS)]
        monkeypatch.setattr(readings, "label_page", None)  # nothing is labelled when it is read
        with Archive.reader(config) as reader:
            versions = [reader.version(URL, number) for number in (1, 2)]
            for capture, version in zip(kept, versions, strict=True):
                found = [block.label for block, _ in reader.blocks(version)]
                assert found == [block.label for block in capture.blocks]
                assert set(found) == {Label.NAVIGATION, Label.MAIN}
            changes = reader.delta(URL, *versions).changes
            assert [change.label for change in changes if change.change is Change.MODIFIED] == [Label.MAIN]

    def test_labels_that_were_not_recorded_are_computed(self, config: ArchiveConfig) -> None:
        with closing(Archive.open(config)) as archive:
            for day, body in enumerate(MENUS):
                snapshot = archive.segment(make_page(body, day))
                assert snapshot.partition is not None
                stored = archive.add(replace(snapshot, partition=replace(snapshot.partition, labels=())))
                assert {block.label for block in stored.blocks} == {None}
        with Archive.reader(config) as reader:
            versions = [reader.version(URL, number) for number in (1, 2)]
            found = [block.label for block, _ in reader.blocks(versions[0])]
            assert set(found) == {Label.NAVIGATION, Label.MAIN}
            assert [change.label for change in reader.delta(URL, *versions).changes] == found

    @pytest.fixture
    def archive(self, config: ArchiveConfig) -> Iterator[Archive]:
        with Archive.open(config) as archive:
            yield archive

    @pytest.fixture
    def reader(self, config: ArchiveConfig, archive: Archive) -> Iterator[ArchiveReader]:
        keep(archive, 0, links=1)
        with Archive.reader(config) as reader:
            yield reader

    # Opening and closing

    def test_it_reads_what_was_stored_and_what_is_stored_meanwhile(
        self, reader: ArchiveReader, archive: Archive
    ) -> None:
        assert reader.body(reader.at(URL, None)) == html(f"It is day 0 at {URL}.")
        keep(archive, 1)
        assert reader.body(reader.at(URL, None)) == html(f"It is day 1 at {URL}.")
        assert reader.delta(URL, reader.version(URL, 1), reader.version(URL, 2)).changes
        assert reader.totals()[""].captures == 2
        assert reader.verify() == (2, [])
        assert reader.position().archive == archive.position().archive

    def test_captures_are_in_the_log_also_if_they_are_judged_again(
        self, reader: ArchiveReader, archive: Archive
    ) -> None:
        for day in (4, 2, 3, 1):  # the page of day 4 is compared with another one each time
            keep(archive, day)
        assert reader.verify() == (5, [])
        sizes = set()
        for day in range(5):
            proof = reader.proofs.proof(reader.at(URL, at(day * 24 * 60)))
            size, root = proof.checkpoint.size, proof.checkpoint.root
            assert root_by_path(proof.leaf, proof.index, size, proof.path) == root
            sizes.add(size)
        assert sizes == {reader.proofs.checkpoint().size}

    def test_it_stores_nothing(self, reader: ArchiveReader) -> None:
        form, template = FoundForm("ab", "{}"), LearnedTemplate("example.com", at(0), 2, "{}")
        for store in (
            lambda: reader.links.add(URL, [Link("http://example.org/new")], at(0)),
            lambda: reader.forms.add("example.com", URL, [form], at(0)),
            lambda: reader.templates.add(template),
        ):
            with pytest.raises(StorageError, match=r"is open to be read only; Archive\.open opens it"):
                store()
        assert len(list(reader.links.all())) == 1
        assert list(reader.forms.all()) == []
        assert reader.templates.latest("example.com") is None

    def test_an_archive_that_is_not_there_is_not_made(self, config: ArchiveConfig) -> None:
        for _ in range(2):
            with pytest.raises(NotArchived, match=r"there is no archive at .* crawl or ingest first"):
                Archive.reader(config)

    def test_a_reader_that_was_closed_says_so(self, config: ArchiveConfig, archive: Archive) -> None:
        keep(archive, 0)
        reader = Archive.reader(config)
        reader.close()
        reader.close()
        for ask in (reader.totals, lambda: reader.captures(URL), lambda: list(reader.pages())):
            with pytest.raises(Closed, match="was closed: open it again"):
                ask()

    def test_an_archive_that_was_closed_says_so(self, config: ArchiveConfig) -> None:
        archive = Archive.open(config)
        archive.close()
        with pytest.raises(Closed, match="was closed: open it again"):
            archive.captures(URL)

    def test_an_older_archive_is_not_brought_up(
        self, uri: str, config: ArchiveConfig, archive: Archive
    ) -> None:
        keep(archive, 0)
        self.pretend(uri, -1)
        for _ in range(2):
            with pytest.raises(Outdated, match=r"older archivebot \(schema \d+\).* scrapy stats brings"):
                Archive.reader(config)

    def test_a_newer_archive_is_refused(self, uri: str, config: ArchiveConfig, archive: Archive) -> None:
        keep(archive, 0)
        self.pretend(uri, 1)
        with pytest.raises(StorageError, match=r"newer archivebot \(schema \d+\); upgrade archivebot"):
            Archive.reader(config)

    # Long results

    @pytest.mark.parametrize("limit", [1, 2, 3, 100])
    def test_the_captures_of_a_page_come_in_parts(
        self, reader: ArchiveReader, archive: Archive, limit: int
    ) -> None:
        miss(archive, -1)
        for day in range(1, 5):
            keep(archive, day)
        miss(archive, 5)
        miss(archive, 5)
        archive.add(archive.segment(make_page(b"", 5, outcome=Outcome.TIMEOUT, status=None)))
        found = list(
            parts(lambda after: reader.captures(URL, after, limit), lambda capture: capture.captured_at)
        )
        assert [capture for part in found for capture in part] == reader.captures(URL)
        assert [part for part in found if len(part) > limit] == (
            [found[-1]] if limit < len(found[-1]) else []
        )
        kinds = [capture.kind for capture in reader.captures(URL)]
        assert (kinds[0], kinds.count(Kind.GONE)) == (Kind.NOT_FOUND, 1)

    @pytest.mark.parametrize("limit", [1, 3, 100])
    def test_the_pages_of_a_site_come_in_parts(
        self, reader: ArchiveReader, archive: Archive, limit: int
    ) -> None:
        for url in (*SITE, "https://example.com/03", "http://example.net/", "http://example.org/"):
            keep(archive, 0, url=url)
        site = [*SITE[:4], "https://example.com/03", *SITE[4:], URL]
        found = parts(lambda after: reader.site(URL, after, limit), lambda url: url)
        assert [url for part in found for url in part] == site == reader.site(URL)
        assert reader.site("http://example.org/", URL, limit) == ["http://example.org/"]
        every = parts(lambda after: list(reader.pages(after, limit)), lambda page: page[1])
        assert [page for part in every for page in part] == list(reader.pages())
        assert len(list(reader.pages())) == len(site) + 2

    @pytest.mark.parametrize("limit", [1, 2, 100])
    def test_the_versions_of_a_page_come_in_parts(
        self, reader: ArchiveReader, archive: Archive, limit: int
    ) -> None:
        for day in range(1, 5):
            keep(archive, day)
        archive.add(archive.segment(make_page(b"lost", 5, outcome=Outcome.SERVER_ERROR, status=500)))
        found = parts(lambda after: reader.versions(URL, after, limit), lambda version: version.id)
        assert [version for part in found for version in part] == reader.versions(URL)
        assert [version.number for version in reader.versions(URL)] == [1, 2, 3, 4, 5]

    @pytest.mark.parametrize("limit", [1, 2, 100])
    def test_links_come_in_parts(self, reader: ArchiveReader, archive: Archive, limit: int) -> None:
        for url in SITE[:5]:
            keep(archive, 0, url=url, links=5)
        target = "http://example.org/0"
        away = parts(lambda after: list(reader.links_from(SITE[2], after or "", limit)), lambda e: e.target)
        here = parts(lambda after: list(reader.links_to(target, after or "", limit)), lambda e: e.source)
        targets, sources = ([edge for part in all_ for edge in part] for all_ in (away, here))
        assert len(targets) == 5
        assert len(sources) == 6
        assert set(targets) == set(reader.links_from(SITE[2]))
        assert set(sources) == set(reader.links_to(target))
        assert list(reader.links_to("http://unknown.example/", "", limit)) == []

    def test_what_is_stored_meanwhile_moves_nothing_to_another_part(
        self, reader: ArchiveReader, archive: Archive
    ) -> None:
        for url in SITE[1::2]:
            keep(archive, 0, url=url, links=3)
        first = reader.site(URL, None, 2)
        links = list(reader.links_to("http://example.org/0", "", 2))
        for url in SITE[::2]:
            keep(archive, 1, url=url, links=3)
        assert [*first, *reader.site(URL, first[-1])] == [SITE[1], *SITE[3:], URL]
        rest = list(reader.links_to("http://example.org/0", links[-1].source, 100))
        sources = [edge.source for edge in (*links, *rest)]
        assert len(sources) == len(set(sources))
        assert set(sources) >= {URL, *SITE[1::2]}

    # Threads and tasks

    def test_each_thread_has_its_own_while_another_stores(self, config: ArchiveConfig) -> None:
        with Archive.open(config) as archive:
            keep(archive, 0)
            stored, stop, errors = [1], threading.Event(), list[Exception]()

            def look() -> None:
                try:
                    with Archive.reader(config) as reader:
                        while not stop.is_set():
                            least = stored[0]
                            captures = reader.captures(URL)
                            assert len(captures) >= least
                            assert reader.body(captures[-1]).startswith(b"<html>")
                except Exception as error:
                    errors.append(error)

            threads = [threading.Thread(target=look) for _ in range(3)]
            for thread in threads:
                thread.start()
            for day in range(1, 12):
                keep(archive, day)
                stored[0] = day + 1
            stop.set()
            for thread in threads:
                thread.join()
        assert errors == []

    def test_tasks_share_a_pool_whatever_thread_they_run_on(
        self, config: ArchiveConfig, archive: Archive
    ) -> None:
        for url in SITE:
            keep(archive, 0, url=url)
        pool: SimpleQueue[ArchiveReader] = SimpleQueue()

        def body(url: str) -> bytes:
            reader = pool.get()
            try:
                return reader.body(reader.at(url, None))
            finally:
                pool.put(reader)

        async def serve() -> list[bytes]:
            loop = asyncio.get_running_loop()
            with ThreadPoolExecutor(4) as threads:
                return await asyncio.gather(*(loop.run_in_executor(threads, body, url) for url in SITE * 5))

        with ExitStack() as readers:
            for _ in range(2):
                pool.put(readers.enter_context(Archive.reader(config)))
            assert asyncio.run(serve()) == [html(f"It is day 0 at {url}.") for url in SITE * 5]
