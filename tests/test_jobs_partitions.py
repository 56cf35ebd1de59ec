"""Work over parts of an archive: the same in one process and in several."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from archivebot.archive import Archive, ArchiveReader
from archivebot.config import ArchiveConfig
from archivebot.exceptions import NotArchived, StorageError
from archivebot.jobs import partitions
from archivebot.jobs.duplicates import loose_survey_of, survey_of
from archivebot.jobs.partitions import over
from archivebot.jobs.rank import ranking
from archivebot.topic.training import from_text
from tests.factories import html, make_page

TEXT = " ".join(f"ferry {word} harbour" for word in ("boat", "tide", "rope", "sail", "pier", "quay") * 8)
PAGES = 7


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ArchiveConfig:
    """An archive of seven pages, which is three parts."""
    monkeypatch.setattr(partitions, "PART", 3)
    config = ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db")
    with closing(Archive.open(config)) as archive:
        for number in range(PAGES):
            body = html(f"{TEXT} {number}", *(f"Page {number} of its own." for _ in range(number)))
            archive.add(archive.segment(make_page(body, url=f"http://example.com/{number}")))
    return config


@pytest.fixture
def archive(config: ArchiveConfig) -> Iterator[ArchiveReader]:
    with Archive.reader(config) as archive:
        yield archive


def found_by(archive: ArchiveReader, urls: Sequence[str]) -> tuple[int, list[str]]:
    """Return the process that did a part, and the digests of its pages."""
    return os.getpid(), [str(archive.at(url, None).digest) for url in urls]


def urls_of(archive: ArchiveReader) -> list[str]:
    return [url for _, url in archive.pages()]


@pytest.mark.long
def test_parts_come_in_order_from_other_processes(archive: ArchiveReader, config: ArchiveConfig) -> None:
    here, there = (list(over(archive, found_by, urls_of(archive), given)) for given in (None, config))
    assert [part for _, part in here] == [part for _, part in there]
    assert [len(part) for _, part in there] == [3, 3, 1]
    assert {process for process, _ in here} == {os.getpid()}
    assert os.getpid() not in {process for process, _ in there}


@pytest.mark.long
def test_an_error_of_a_part_comes_back(archive: ArchiveReader, config: ArchiveConfig) -> None:
    with pytest.raises(NotArchived, match="never"):
        list(over(archive, found_by, [*urls_of(archive), "http://example.com/never"], config))


def killed(archive: ArchiveReader, urls: Sequence[str]) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.long
def test_a_killed_process_is_an_error_with_advice(archive: ArchiveReader, config: ArchiveConfig) -> None:
    with pytest.raises(StorageError, match=r"was killed, .* end other programs"):
        list(over(archive, killed, urls_of(archive), config))


def answers(archive: ArchiveReader, config: ArchiveConfig | None = None) -> list[object]:
    """Return the answers of all jobs that read an archive in parts."""
    near, _ = survey_of(archive, True, lambda number, pages: None, config)
    loose, _ = loose_survey_of(archive, 0.5, lambda number, pages: None, config)
    ranked = ranking(archive, "relevance", from_text("", "ferry, harbour"), 5, config=config)
    return [list(near.matches()), list(loose.matches()), ranked]


@pytest.mark.long
def test_the_jobs_answer_the_same(archive: ArchiveReader, config: ArchiveConfig) -> None:
    here = answers(archive)
    assert all(here)
    assert here == answers(archive, config)


def test_one_part_needs_no_other_process(archive: ArchiveReader, config: ArchiveConfig) -> None:
    ((process, digests),) = over(archive, found_by, urls_of(archive)[:3], config)
    assert (process, len(digests)) == (os.getpid(), 3)
