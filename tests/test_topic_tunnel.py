"""Tunnels lengthen with each off-topic page, end with one of the topic, and cost what they are long."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from archivebot.topic.tunnel import beyond, decayed, distance

judgements = st.lists(st.sampled_from([True, False, None]))


@given(judgements)
def test_the_distance_is_the_number_of_off_topic_pages_since_the_last_of_the_topic(
    path: list[bool | None],
) -> None:
    reached = 0
    for relevant in path:
        reached = distance(reached, relevant)
    last = max((number for number, relevant in enumerate(path) if relevant), default=-1)
    assert reached == path[last + 1 :].count(False)


@given(st.integers(0, 50), st.floats(0.01, 1.0))
def test_a_longer_tunnel_never_makes_a_link_better(length: int, factor: float) -> None:
    assert decayed(length + 1, factor) <= decayed(length, factor) <= 0.0


def test_a_tunnel_of_depth_two_is_passed_and_the_third_off_topic_page_is_its_end() -> None:
    assert [beyond(length, 2) for length in range(5)] == [False, False, False, True, True]
    assert not beyond(10**6, None)
