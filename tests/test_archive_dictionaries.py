"""Pages of a site are compressed against a dictionary of the site, which grows with it."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from archivebot.archive import Archive
from archivebot.archive.dictionaries import LARGEST, SIZES
from archivebot.config import ArchiveConfig
from archivebot.exceptions import StorageError
from archivebot.models import Outcome, Page
from archivebot.versioning.keep import Keep

WORDS = [
    f"{first}{last}" for first in ("ter", "gul", "sku", "har") for last in ("n", "l", "as", "our", "bour")
]
HOST = "http://birds.example"
ROOT = Path(__file__).parents[1]


def page(number: int, design: int = 0, size: int = 8_000, host: str = HOST) -> Page:
    """A page whose frame is the same on all pages of a design, and whose text is its own."""
    frame, text = random.Random(f"design {design}"), random.Random(f"text {number}")
    menu = "".join(f"<li><a href=/{frame.getrandbits(64):x}>{frame.choice(WORDS)}</a>" for _ in range(60))
    words = " ".join(text.choices(WORDS, k=size // 50))
    body = f"<title>{number}</title><nav><ul>{menu}</ul></nav><main><p>{words}</p></main>".encode()
    body += b"<!--" + b"%x" % frame.getrandbits(4 * (size - len(body))) + b"-->"
    when = datetime(2026, 11, 1, tzinfo=UTC) + timedelta(seconds=number)
    return Page(f"{host}/{number}", when, Outcome.FETCHED, 200, (("Content-Type", "text/html"),), body)


def file(number: int, size: int) -> Page:
    """A file of bytes that do not compress, as a PDF or an image has them."""
    body = b"%PDF-1.7 " + random.Random(f"file {number}").randbytes(size)
    when = datetime(2026, 11, 2, tzinfo=UTC) + timedelta(seconds=number)
    kind = (("Content-Type", "application/pdf"),)
    return Page(f"{HOST}/files/{number}.pdf", when, Outcome.FETCHED, 200, kind, body)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.db"


@pytest.fixture
def archive(path: Path) -> Iterator[Archive]:
    archive = opened(path)
    yield archive
    archive.close()


def opened(path: Path) -> Archive:
    return Archive.open(ArchiveConfig(uri=f"sqlite:///{path}"))


def add(archive: Archive, *pages: Page) -> list[Page]:
    for each in pages:
        archive.add(archive.segment(each))
    return list(pages)


def bases(path: Path) -> list[int | None]:
    """The base of each version, in the order they were stored; that of a dictionary is negative."""
    with closing(sqlite3.connect(path)) as database:
        return [base for (base,) in database.execute("SELECT base FROM version ORDER BY id")]


def dictionaries(path: Path) -> list[tuple[int, str, int]]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute("SELECT id, host, length FROM dictionary ORDER BY id DESC").fetchall()


def is_whole(archive: Archive, pages: list[Page]) -> bool:
    return all(archive.body(archive.at(each.url, each.captured_at)) == each.body for each in pages)


def test_a_small_site_has_no_dictionary(archive: Archive, path: Path) -> None:
    pages = add(archive, *map(page, range(10)))
    assert dictionaries(path) == []
    assert is_whole(archive, pages)


def test_a_site_gets_a_dictionary_and_its_pages_are_compressed_against_it(
    archive: Archive, path: Path
) -> None:
    count = SIZES[0] // 8_000 + 8
    pages = add(archive, *map(page, range(count)))
    ((name, host, length),) = dictionaries(path)
    assert host == "example,birds"
    assert SIZES[0] <= length < 2 * SIZES[0]
    assert set(bases(path)) == {name}
    assert is_whole(archive, pages)
    archive.close()
    assert is_whole(opened(path), pages)


@pytest.mark.long
def test_a_growing_site_gets_larger_dictionaries_each_in_place_of_the_one_before(
    archive: Archive, path: Path
) -> None:
    pages = add(archive, *(page(number, size=40_000) for number in range(SIZES[2] // 40_000 + 3)))
    ((name, _, length),) = dictionaries(path)
    assert name == -3
    assert length >= SIZES[2]
    assert set(bases(path)) == {name}
    assert is_whole(archive, pages)
    assert archive.verify() == (len(pages), [])


def test_a_dictionary_that_was_rolled_back_is_the_base_of_no_page(archive: Archive, path: Path) -> None:
    count = SIZES[0] // 8_000 + 8
    with suppress(ZeroDivisionError), archive._store.together():
        add(archive, *map(page, range(count)))
        raise ZeroDivisionError
    assert dictionaries(path) == []
    with closing(opened(path)) as other:
        pages = add(other, *(page(number, design=1) for number in range(count)))
    pages += add(archive, page(99, design=1))
    ((name, _, _),) = dictionaries(path)
    assert set(bases(path)) == {name}
    with closing(opened(path)) as other:
        assert is_whole(other, pages)


def test_later_versions_stay_compressed_against_the_one_before(archive: Archive, path: Path) -> None:
    first = add(archive, page(0))[0]
    changed = Page(
        first.url,
        first.captured_at + timedelta(days=1),
        Outcome.FETCHED,
        200,
        first.headers,
        first.body + b"<p>new",
    )
    pages = [first, *add(archive, changed), *add(archive, *map(page, range(1, 20)))]
    ((name, _, _),) = dictionaries(path)
    assert bases(path) == [name, 1, *[name] * 19]
    archive.close()
    assert is_whole(opened(path), pages)


def test_sites_have_dictionaries_of_their_own(archive: Archive, path: Path) -> None:
    hosts = "http://a.example", "http://b.example"
    pages = [
        each for n in range(20) for each in add(archive, *(page(n, i, host=h) for i, h in enumerate(hosts)))
    ]
    assert [host for _, host, _ in dictionaries(path)] == ["example,a", "example,b"]
    assert is_whole(archive, pages)


@pytest.mark.long
def test_a_redesigned_site_gets_a_new_dictionary_and_keeps_the_old_one(archive: Archive, path: Path) -> None:
    old = add(archive, *(page(number, size=100_000) for number in range(22)))
    new = add(archive, *(page(100 + number, 1, size=100_000) for number in range(25)))
    (first, *_), (second, *_) = dictionaries(path)
    assert set(bases(path)[: len(old)]) == {first}
    assert set(bases(path)[len(old) :]) == {second}
    assert is_whole(archive, [*old, *new])


def test_large_files_stay_as_they_are_if_they_need_no_dictionary(archive: Archive, path: Path) -> None:
    large = add(archive, *(file(number, LARGEST + 1) for number in range(3)))
    pages = add(archive, *map(page, range(20)))
    ((name, _, _),) = dictionaries(path)
    assert bases(path) == [*[None] * 3, *[name] * 20]
    assert is_whole(archive, [*large, *pages])


def test_a_large_page_is_compressed_against_a_later_dictionary_and_a_huge_one_stays(
    archive: Archive, path: Path
) -> None:
    kept = add(archive, page(0, size=SIZES[-1] + 1), page(1, size=LARGEST + 1))
    kept += add(archive, *map(page, range(2, 22)))
    ((name, _, _),) = dictionaries(path)
    assert [base == name for base in bases(path)] == [False, *[True] * 21]
    assert is_whole(archive, kept)


def test_large_files_are_written_again_if_their_dictionary_is_replaced(archive: Archive, path: Path) -> None:
    pages = add(archive, *map(page, range(20)))
    large = add(archive, *(file(number, LARGEST + 1) for number in range(3)))
    pages += add(archive, *map(page, range(20, 80)))
    assert [name for name, _, _ in dictionaries(path)] == [-2]
    assert set(bases(path)) == {-2}
    assert is_whole(archive, [*large, *pages])
    assert archive.verify()[1] == []


def test_error_pages_keep_no_dictionary_that_is_replaced(archive: Archive, path: Path) -> None:
    pages = add(archive, *map(page, range(20)))
    pages += add(archive, replace(page(99), outcome=Outcome.NOT_FOUND, status=404))
    assert bases(path)[-1] == -1
    pages += add(archive, *map(page, range(20, 80)))
    assert [name for name, _, _ in dictionaries(path)] == [-2]
    assert set(bases(path)) == {-2}
    assert is_whole(archive, pages)
    assert archive.verify()[1] == []


@pytest.mark.long
def test_memory_does_not_grow_with_the_files_whose_dictionary_is_replaced(
    archive: Archive, path: Path
) -> None:
    count, size = 50, 1_000_000
    add(archive, *map(page, range(20)))
    large = add(archive, *(file(number, size) for number in range(count)))
    add(archive, page(20, size=200_000))
    assert [name for name, _, _ in dictionaries(path)] == [-1]
    tracemalloc.start()
    try:
        add(archive, page(21, size=200_000))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert set(bases(path)) == {-2}
    assert peak < count * size / 2
    assert is_whole(archive, large)


@pytest.mark.long
def test_large_files_keep_their_dictionary_if_the_site_is_redesigned(archive: Archive, path: Path) -> None:
    pages = add(archive, *(page(number, size=100_000) for number in range(22)))
    large = add(archive, *(file(number, LARGEST + 1) for number in range(3)))
    pages += add(archive, *(page(100 + number, 1, size=100_000) for number in range(25)))
    (first, *_), (second, *_) = dictionaries(path)
    assert bases(path)[22:] == [*[first] * 3, *[second] * 25]
    assert is_whole(archive, [*large, *pages])


def test_files_that_hardly_compress_are_no_part_of_a_dictionary(archive: Archive, path: Path) -> None:
    files = add(archive, *(file(number, 20_000) for number in range(20)))
    assert dictionaries(path) == []
    pages = add(archive, *map(page, range(20)))
    ((name, _, length),) = dictionaries(path)
    assert length < SIZES[0] + 20_000
    assert bases(path) == [*[None] * 20, *[name] * 20]
    assert is_whole(archive, [*files, *pages])


def test_files_that_hardly_compress_follow_a_dictionary_that_is_replaced(
    archive: Archive, path: Path
) -> None:
    pages = add(archive, *map(page, range(20)))
    files = add(archive, *(file(number, 20_000) for number in range(30)))
    assert [name for name, _, _ in dictionaries(path)] == [-1]
    pages += add(archive, *map(page, range(20, 80)))
    assert [name for name, _, _ in dictionaries(path)] == [-2]
    assert set(bases(path)) == {-2}
    assert is_whole(archive, [*files, *pages])


@pytest.mark.long
def test_a_site_with_many_images_keeps_the_dictionary_of_its_pages(archive: Archive, path: Path) -> None:
    pages = add(archive, *(page(number, size=100_000) for number in range(22)))
    files = add(archive, *(file(number, 100_000) for number in range(25)))
    pages += add(archive, page(22))
    assert [name for name, _, _ in dictionaries(path)] == [-3]
    assert set(bases(path)) == {-3}
    assert is_whole(archive, [*files, *pages])


@pytest.mark.long
def test_an_archive_that_is_opened_again_and_again_gets_the_same_dictionaries(tmp_path: Path) -> None:
    kept, reopened = tmp_path / "kept.db", tmp_path / "reopened.db"
    archive = opened(kept)
    for number in range(60):
        added = page(number, number // 30, size=90_000), file(number, 20_000)
        large = [file(100 + number, LARGEST + 1)] if number % 6 == 0 else []
        add(archive, *added, *large)
        other = opened(reopened)
        add(other, *added, *large)
        other.close()
        assert dictionaries(reopened) == dictionaries(kept)
    archive.close()
    assert [name for name, _, _ in dictionaries(kept)] == [-3, -4]
    assert bases(reopened) == bases(kept)


def test_growth_goes_on_in_the_next_run(path: Path) -> None:
    pages = []
    for number in range(20):
        archive = opened(path)
        pages += add(archive, page(number))
        archive.close()
    assert len(dictionaries(path)) == 1
    assert is_whole(opened(path), pages)


@pytest.mark.long
def test_a_writer_uses_no_dictionary_that_another_one_replaced(archive: Archive, path: Path) -> None:
    other = opened(path)
    pages = add(archive, *map(page, range(20)))
    pages += add(other, *map(page, range(20, 22)))  # with the first dictionary
    pages += add(archive, *map(page, range(22, 80)))  # with the second
    pages += add(other, *map(page, range(80, 84)))
    assert [name for name, _, _ in dictionaries(path)] == [-2]
    assert set(bases(path)) == {-2}
    other.close()
    assert is_whole(archive, pages)
    assert archive.verify()[1] == []


def test_a_pruned_body_comes_back_without_a_dictionary_that_another_writer_replaced(
    archive: Archive, path: Path
) -> None:
    first, *later = map(partial(page, size=100_000), range(9))
    days = [
        replace(first, captured_at=first.captured_at + timedelta(days=day), body=first.body + b"<p>%d" % day)
        for day in range(3)
    ]
    with opened(path) as other:
        add(archive, later[0], *days)
        add(other, later[1])  # with the first dictionary
        assert len(archive.prune(first.url, Keep.parse("ends"), datetime.now(UTC)).versions) == 1
        add(archive, *later[2:])
        assert [name for name, _, _ in dictionaries(path)] == [-2]
        pages = add(other, replace(days[1], captured_at=days[1].captured_at + timedelta(days=9)))
    with opened(path) as again:
        assert is_whole(again, [*pages, *days, *later])
        assert again.verify()[1] == []


@pytest.mark.long
def test_an_archive_that_is_open_elsewhere_goes_on_reading(archive: Archive, path: Path) -> None:
    pages = add(archive, *map(page, range(5)))
    reader = Archive.reader(ArchiveConfig(uri=f"sqlite:///{path}"))
    captures = [reader.at(each.url, each.captured_at) for each in pages]
    assert [reader.body(capture) for capture in captures[:2]] == [each.body for each in pages[:2]]
    pages += add(archive, *map(page, range(5, 80)))
    assert [reader.body(capture) for capture in captures] == [each.body for each in pages[:5]]
    assert all(reader.body(reader.at(each.url, each.captured_at)) == each.body for each in pages)
    reader.close()


@pytest.mark.parametrize("share", [0, 0.0001, 0.001, 0.25, 0.5, 0.75, 0.999])
def test_verify_names_each_version_that_needs_a_damaged_dictionary(
    archive: Archive, path: Path, share: float
) -> None:
    pages = add(archive, *map(page, range(20)))
    others = add(archive, *(page(number, host="http://other.example") for number in range(3)))
    archive.close()
    with closing(sqlite3.connect(path)) as database, database:
        (frame,) = database.execute("SELECT data FROM frame WHERE version < 0").fetchone()
        place = int(share * len(frame))
        damaged = frame[:place] + bytes([frame[place] ^ 0x01]) + frame[place + 1 :]
        database.execute("UPDATE frame SET data = ? WHERE version < 0", (damaged,))
    archive = opened(path)
    count, damage = archive.verify()
    assert count == len(pages) + len(others)
    assert {found.url for found in damage if found.url} == {each.url for each in pages}
    assert any("the dictionary 1 of example,birds" in found.reason for found in damage)
    assert is_whole(archive, others)
    with pytest.raises(StorageError, match="is damaged"):
        archive.body(archive.at(pages[0].url, pages[0].captured_at))
    later = add(archive, page(99))  # it is stored without the dictionary
    assert is_whole(archive, later)
    archive.close()


def test_a_dictionary_that_is_lost_is_reported(archive: Archive, path: Path) -> None:
    add(archive, *map(page, range(20)))
    archive.close()
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM frame WHERE version < 0")
    archive = opened(path)
    _, damage = archive.verify()
    assert len([found for found in damage if found.url]) == 20
    assert any("the frame of the dictionary 1" in found.reason for found in damage)
    assert is_whole(archive, add(archive, page(99)))
    archive.close()


GROWING = """
import sys
from pathlib import Path
from archivebot.archive import dictionaries
from tests.test_archive_dictionaries import add, opened, page

dictionaries.SIZES = (32 * 1024, 64 * 1024, 128 * 1024)
dictionaries.POOR = 0
path, first = Path(sys.argv[1]), int(sys.argv[2])
archive = opened(path)
for number in range(first, first + 10_000):
    add(archive, page(number, number // 40))
    print(number, flush=True)
"""


@pytest.mark.long
def test_nothing_is_lost_if_a_writer_is_killed_while_it_makes_dictionaries(path: Path) -> None:
    chance, last = random.Random(5), -1
    for _ in range(20):
        command = [sys.executable, "-c", GROWING, str(path), str(last + 1)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as writer:
            assert writer.stdout is not None
            told = [int(writer.stdout.readline()) for _ in range(chance.randrange(1, 12))]
            time.sleep(chance.random() / 50)
            writer.kill()
            last = int([*told, *writer.stdout.read().split()][-1])
    archive = opened(path)
    stored = [page(number, number // 40) for number in range(last + 1)]
    assert is_whole(archive, stored)
    assert archive.verify()[1] == []
    archive.close()
    assert len(dictionaries(path)) > 2
