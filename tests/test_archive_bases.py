"""A changed page is compressed against another page of its site if they changed together."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from archivebot.archive import Archive
from archivebot.archive.bases import LARGE
from archivebot.config import ArchiveConfig
from archivebot.models import Outcome, Page
from archivebot.versioning.keep import Keep

SITE = "http://paper.example"
BEGAN = datetime(2026, 11, 1, tzinfo=UTC)


def words(seed: str, count: int) -> str:
    chance = random.Random(seed)
    return " ".join(f"{chance.getrandbits(40):x}" for _ in range(count))


def page(name: str, day: int, news: str, site: str = SITE, size: int = 600) -> Page:
    """The front of a section: a text of its own, and the news of a day, which all sections have."""
    own = f"<title>{name}</title><p>{words(name, 60)}</p>"
    body = f"{own}<ul><li>{words(news, size)}</li></ul>".encode()
    when = BEGAN + timedelta(days=day, seconds=len(name))
    return Page(f"{site}/{name}", when, Outcome.FETCHED, 200, (("Content-Type", "text/html"),), body)


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    archive = opened(tmp_path)
    yield archive
    archive.close()


def opened(folder: Path) -> Archive:
    return Archive.open(ArchiveConfig(uri=f"sqlite:///{folder / 'a.db'}"))


def added(archive: Archive, *pages: Page) -> list[int]:
    """Store pages; return the bytes that each took."""
    return [archive.add(archive.segment(each)).stored_bytes for each in pages]


def is_whole(archive: Archive, *pages: Page) -> bool:
    return all(archive.body(archive.at(each.url, each.captured_at)) == each.body for each in pages)


def test_news_that_two_pages_have_is_stored_once(archive: Archive, tmp_path: Path) -> None:
    first = page("home", 0, "monday"), page("sport", 0, "monday")
    later = page("home", 1, "tuesday"), page("sport", 1, "tuesday")
    added(archive, *first)
    brought, repeated = added(archive, *later)
    assert brought > LARGE
    assert repeated < brought * 0.6
    archive.close()
    assert is_whole(opened(tmp_path), *first, *later)


def test_a_page_of_another_site_is_no_base(archive: Archive) -> None:
    there = "http://other.example"
    added(archive, page("home", 0, "monday"), page("sport", 0, "monday", there))
    brought, repeated = added(archive, page("home", 1, "tuesday"), page("sport", 1, "tuesday", there))
    assert repeated > brought * 0.9


def test_news_of_its_own_is_compressed_against_the_page_itself(archive: Archive) -> None:
    added(archive, page("home", 0, "monday"), page("sport", 0, "monday"))
    added(archive, page("home", 1, "tuesday"), page("sport", 1, "wednesday"))
    (version,) = archive.versions(f"{SITE}/sport")[1:]
    (before,) = archive.versions(f"{SITE}/sport")[:1]
    assert version.base == before.id


def test_a_base_of_another_page_can_be_pruned(archive: Archive, tmp_path: Path) -> None:
    days = [(page("home", day, f"{day}"), page("sport", day, f"{day}")) for day in range(4)]
    for both in days:
        added(archive, *both)
    needed = {version.id for version in archive.versions(f"{SITE}/home")}
    assert {version.base for version in archive.versions(f"{SITE}/sport")} <= needed
    keep = Keep.parse("ends")
    gone = archive.prune(f"{SITE}/home", keep, BEGAN + timedelta(days=9))
    assert len(gone.versions) == 2
    archive.close()
    with_sport = [both[1] for both in days]
    again = opened(tmp_path)
    assert is_whole(again, days[0][0], days[-1][0], *with_sport)
    assert again.verify()[1] == []


def test_a_growing_site_leaves_such_a_version_as_it_is(archive: Archive, tmp_path: Path) -> None:
    first = page("home", 0, "monday"), page("sport", 0, "monday")
    later = page("home", 1, "tuesday"), page("sport", 1, "tuesday")
    added(archive, *first, *later)
    (version,) = archive.versions(f"{SITE}/sport")[1:]
    others = [page(f"section {number}", 2, f"{number}", size=2000) for number in range(8)]
    added(archive, *others)  # more than the first dictionary needs
    before, after = archive.versions(f"{SITE}/sport")
    assert isinstance(before.base, int)
    assert before.base < 0  # a dictionary
    assert after == version
    assert after.base in {home.id for home in archive.versions(f"{SITE}/home")}
    archive.close()
    assert is_whole(opened(tmp_path), *first, *later, *others)
