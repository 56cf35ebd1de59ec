"""Which page a page repeats, asked of a store that holds what was captured before."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from archivebot.duplicates.marker import LOOK, mark
from archivebot.duplicates.rule import RULE, fingerprint
from archivebot.exceptions import CorruptObject
from archivebot.fingerprint.simhash import MIN_WORDS, distance
from archivebot.models import Duplicate
from archivebot.storage import open_store
from archivebot.storage.base import ArchiveStore
from tests.contracts.store import version_of, visit

WORDS = [f"{syllable}{number}" for syllable in ("ba", "de", "ki", "lo", "mu") for number in range(400)]


def story(seed: int, length: int = 300) -> str:
    """A text of words drawn at random."""
    return " ".join(random.Random(seed).choices(WORDS, k=length))


def edited(text: str, *places: int) -> str:
    """The text with other words in some places."""
    words = text.split()
    for place in places:
        words[place] = "another"
    return " ".join(words)


class Pages:
    """Pages in an archive, by the texts that they had."""

    def __init__(self, store: ArchiveStore) -> None:
        self.store = store
        self.texts: dict[tuple[str, int], str] = {}
        self.read: list[str] = []

    def put(self, url: str, text: str) -> None:
        head = self.store.head(url)
        new = replace(version_of(text.encode(), head, url=url), fingerprint=fingerprint(text))
        assert self.store.add(visit(len(self.texts), new.record, url=url), head, new)
        self.texts[url, head.versions + 1] = text

    def text_of(self, url: str, number: int) -> str:
        self.read.append(url)
        return self.texts[url, number]

    def mark(self, url: str, text: str) -> Duplicate | None:
        return mark(self.store.fingerprints.near, url, fingerprint(text), lambda: text, self.text_of)


@pytest.fixture
def pages(tmp_path: Path) -> Iterator[Pages]:
    store = open_store(f"sqlite:///{tmp_path}/archive.db")
    yield Pages(store)
    store.close()


def test_an_equal_text_is_told_without_reading_it(pages: Pages) -> None:
    pages.put("http://a.example/", story(1))
    assert pages.mark("http://b.example/", story(1)) == Duplicate("http://a.example/", 1, 0, 1.0, RULE)
    assert pages.read == []


def test_a_text_with_a_word_changed_is_told_with_how_near_it_is(pages: Pages) -> None:
    pages.put("http://a.example/", story(1))
    text = edited(story(1), 150)
    found = pages.mark("http://b.example/", text)
    assert found is not None
    one, other = fingerprint(text).simhash, fingerprint(story(1)).simhash
    assert one is not None
    assert other is not None
    assert found.distance == distance(one, other)
    assert found.jaccard == pytest.approx((298 - 3) / (298 + 3))


def test_other_texts_are_neither_marked_nor_read(pages: Pages) -> None:
    for number in range(50):
        pages.put(f"http://a.example/{number}", story(number))
    assert pages.mark("http://b.example/", story(99)) is None
    assert pages.read == []


def test_the_nearest_page_is_told(pages: Pages) -> None:
    for name, places in (("far", range(0, 300, 30)), ("near", [7]), ("middle", range(0, 300, 60))):
        pages.put(f"http://{name}.example/", edited(story(1), *places))
    found = pages.mark("http://b.example/", story(1))
    assert found is not None
    assert found.url == "http://near.example/"


def test_of_pages_equally_near_the_one_captured_first_is_told(pages: Pages) -> None:
    for name in ("z", "a", "m"):
        pages.put(f"http://{name}.example/", story(1))
    found = pages.mark("http://b.example/", story(1))
    assert found is not None
    assert found.url == "http://z.example/"


def test_a_page_is_no_duplicate_of_itself(pages: Pages) -> None:
    pages.put("http://a.example/", story(1))
    assert pages.mark("http://a.example/", edited(story(1), 5)) is None


def test_a_page_is_no_duplicate_of_its_later_mirror(pages: Pages) -> None:
    pages.put("http://a.example/", story(1))
    pages.put("http://mirror.example/", story(1))
    assert pages.mark("http://a.example/", edited(story(1), 5)) is None
    assert pages.mark("http://mirror.example/", edited(story(1), 5)) is not None


def test_a_page_that_took_over_the_text_of_another_is_its_duplicate(pages: Pages) -> None:
    pages.put("http://a.example/", story(2))
    pages.put("http://b.example/", story(1))
    found = pages.mark("http://a.example/", story(1))
    assert found is not None
    assert found.url == "http://b.example/"


def test_the_version_that_is_repeated_is_told(pages: Pages) -> None:
    pages.put("http://a.example/", story(1))
    pages.put("http://a.example/", story(2))
    assert pages.mark("http://b.example/", story(1)) is None
    assert pages.mark("http://b.example/", story(2)) == Duplicate("http://a.example/", 2, 0, 1.0, RULE)


@pytest.mark.parametrize(("words", "marked"), [(MIN_WORDS - 1, False), (MIN_WORDS, True)])
def test_a_text_of_too_few_words_is_no_duplicate(pages: Pages, words: int, marked: bool) -> None:
    pages.put("http://a.example/", story(1, words))
    assert (pages.mark("http://b.example/", story(1, words)) is not None) is marked


def test_a_version_that_cannot_be_read_is_passed_over(pages: Pages) -> None:
    pages.put("http://a.example/", edited(story(1), 7))
    pages.put("http://b.example/", edited(story(1), 7, 9))

    def text_of(url: str, number: int) -> str:
        if url == "http://a.example/":
            raise CorruptObject("broken")
        return pages.text_of(url, number)

    found = mark(
        pages.store.fingerprints.near, "http://c.example/", fingerprint(story(1)), lambda: story(1), text_of
    )
    assert found is not None
    assert found.url == "http://b.example/"


def test_few_texts_are_read_where_many_are_near(pages: Pages) -> None:
    for place in range(3 * LOOK):
        pages.put(f"http://a.example/{place}", edited(story(1), place))
    assert pages.mark("http://b.example/", story(1)) is not None
    assert 0 < len(pages.read) <= LOOK
