"""Rings of words: what is read, what is refused, and what they do to the similarity to a topic."""

from __future__ import annotations

import pytest

from archivebot.exceptions import UsageError
from archivebot.topic.rings import Ring, read_rings
from archivebot.topic.training import from_words, with_synonyms


def test_words_of_a_ring_are_the_same_or_nearly_the_same() -> None:
    assert read_rings("ferry=boat=raft:0.5, line=route") == [
        Ring(("ferry", "boat"), {"raft": 0.5}),
        Ring(("line", "route")),
    ]
    assert read_rings("motor car=lorry:0.7") == [Ring(("motor car",), {"lorry": 0.7})]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "needs words that mean the same"),
        ("ferry", "'ferry' needs words"),
        ("ferry:0.5=boat:0.5", "needs words"),
        ("ferry=the", "needs words"),
        ("ferry=raft:2", "the similarity of 'raft' is 2"),
        ("ferry=raft:0", "the similarity of 'raft' is 0"),
        ("ferry=raft:much", "the weight of 'raft'"),
    ],
)
def test_a_wrong_ring_is_refused(text: str, fault: str) -> None:
    with pytest.raises(UsageError, match=fault):
        read_rings(text)


def test_a_near_word_has_its_share_of_the_similarity_of_its_ring() -> None:
    words = from_words("sea", {"ferry": 2.0, "tide": 1.0})
    known = with_synonyms(words, read_rings("ferry=boat=raft:0.6,tide=flood:0.5,car=truck:0.9"))
    similarity = known.similarity()
    assert [similarity.of(stem) for stem in ("ferri", "boat", "raft", "flood", "truck")] == [
        1,
        1,
        0.6,
        0.25,
        0,
    ]
    assert known.vector.keys() == {"ferri", "tide", "boat"}


def test_the_constant_decides_which_near_words_count_fully() -> None:
    known = with_synonyms(from_words("sea", {"ferry": 1.0}), read_rings("ferry=raft:0.6"))
    assert [known.similarity().weight(["raft"], near) for near in (0.5, 0.7)] == [1.0, 0.6]
