"""What a version takes over from the version before is what a reading of the whole page finds."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import pytest

from archivebot.archive import inheritance
from archivebot.archive.bodies import Content
from archivebot.archive.readings import PageReading, Readings
from archivebot.content.page import PageContent
from archivebot.models import Block, Label
from archivebot.segmentation.segmenter import SEGMENTER_VERSION, partition
from archivebot.storage.content import Slot, pack

PARTS = (
    b"<nav class=menu><ul><li><a href=/>Home</a><li><a href=/birds>Birds</a></ul></nav>",
    b"<h1>Terns of the coast</h1>",
    b"<p>A tern dives for fish in the shallow water of the bay, and it returns to its nest at noon.</p>",
    b"<div><p>The colony had 412 pairs in May. Volunteers count the nests every second week.</p></div>",
    b"<ul><li>Ferry at 9:30</li><li>Ferry at 12:15</li></ul>",
    b"<table><tr><td>Adult</td><td>12.50</td></tr><tr><td>Child</td><td>6.00</td></tr></table>",
    b"<script nonce=a1>var token = 'f00';</script>",
    b"<!-- served by 7 -->",
    b"<footer class=foot><p>Copyright 2026</p></footer>",
)


def edited(parts: list[bytes], chance: random.Random) -> list[bytes]:
    """Return the parts of a page after an edit: of a script, an attribute, a word, a number, or the order."""
    found, at = list(parts), chance.randrange(len(parts))
    match chance.randrange(6):
        case 0:
            found = [part.replace(b"f00", b"%x" % chance.getrandbits(32)) for part in found]
        case 1:
            found = [part.replace(b"a1", b"b%d" % chance.randrange(99)) for part in found]
        case 2:
            found[at] = found[at].replace(b"e", b"ee", 1)
        case 3:
            found[at] = found[at].replace(b"1", b"2")
        case 4:
            found.insert(at, chance.choice(PARTS))
        case _:
            found[at] = found[at].replace(b"<p>", b"<p data-seen=%d>" % chance.randrange(99))
    return found


def histories() -> Iterator[tuple[bytes, bytes]]:
    """Yield bodies, each with the body before it."""
    chance = random.Random(7)
    for _ in range(12):
        parts = chance.sample(PARTS, len(PARTS))
        before = b"".join(parts)
        for _ in range(8):
            parts = edited(parts, chance)
            yield before, (before := b"".join(parts))


def test_a_reading_that_follows_another_is_the_reading_of_the_whole_page() -> None:
    followed = 0
    for before, after in histories():
        then, now, whole = (PageReading(body, "text/html") for body in (before, after, after))
        assert then.fingerprint
        then.forget_tree()
        now.follow(then)
        assert now.content
        assert then.content
        followed += now.content.choice is then.content.choice
        assert now.main_text == whole.main_text
        assert now.fingerprint == whole.fingerprint
        assert list(now.worth) == list(whole.worth)
        assert now.lines == whole.lines
    assert 20 < followed < 90


@pytest.mark.parametrize(
    "other",
    [
        b"<title>Gulls</title><p>A tern dives.",
        b"<title>Terns</title><p class=menu>A tern dives.",
        b"<title>Terns</title><div><p>A tern dives.",
        b"<title>Terns</title><p><a href=/>A tern</a> dives.",
        b"<title>Terns</title><p>A tern dives.<p>It eats.",
    ],
)
def test_another_title_element_or_link_is_read_again(other: bytes) -> None:
    then = PageReading(b"<title>Terns</title><p>A tern dives.", "text/html")
    now = PageReading(other, "text/html")
    assert then.main_text
    now.follow(then)
    assert now.content
    assert "choice" not in vars(now.content)


def test_nothing_is_read_for_a_version_to_be_followed() -> None:
    then, now = Readings().of(b"<p>A tern", "text/html"), PageReading(b"<p> A tern", "text/html")
    now.follow(then)
    assert isinstance(then.content, PageContent)
    assert not {"walk", "choice"} & set(vars(then.content))
    assert now.main_text == "A tern"


def test_labels_of_a_page_that_is_cut_again_are_nearly_those_of_the_whole_page() -> None:
    article = b"<article>" + PARTS[2] * 9 + b"</article>"
    count = asked_for = others = 0
    for before, after in ((PARTS[0] + article + then, PARTS[0] + article + now) for then, now in histories()):
        whole = PageReading(after, "text/html")
        old, new = (partition(body, 4).blocks for body in (before, after))
        labelled = zip(old, PageReading(before, "text/html").labels(old), strict=True)
        slots = [Slot(block.start, block.end, block.level, 1, label) for block, label in labelled]
        asked: list[Block] = []

        def ask(
            blocks: Sequence[Block], asked: list[Block] = asked, whole: PageReading = whole
        ) -> tuple[Label, ...]:
            asked += blocks
            return whole.labels(blocks)

        known = Content(pack(slots, before), "utf-8", 4, SEGMENTER_VERSION)
        found = inheritance.labels(known, after, new, ask)
        others += sum(label is not alone for label, alone in zip(found, whole.labels(new), strict=True))
        count, asked_for = count + len(new), asked_for + len(asked)
    assert asked_for < count / 2
    assert others <= 0.01 * count  # an inserted part moves blocks across the edge of a page


def test_a_page_of_another_length_is_labelled_as_a_whole() -> None:
    before, after = b"<p>A tern dives.</p>", b"<p>A tern dives.</p><p>It eats fish from the sea.</p>"
    [slot] = (Slot(block.start, block.end, 1, 1, Label.ADVERT) for block in partition(before, 1).blocks)
    known = Content(pack([slot], before), "utf-8", 1, SEGMENTER_VERSION)
    blocks = partition(after, 1).blocks
    found = inheritance.labels(known, after, blocks, PageReading(after, "text/html").labels)
    assert Label.ADVERT not in found
