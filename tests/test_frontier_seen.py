"""The memory of seen URLs against a plain list, and what it may never do."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from archivebot.frontier import Entry, SeenCache, open_frontier

TRACES = st.lists(st.sampled_from("abcdefgh"), max_size=60)


def misses(trace: list[str], capacity: int) -> int:
    cache = SeenCache(capacity)
    return sum(cache.add(url) for url in trace)


@given(TRACES, st.integers(1, 6))
def test_it_holds_the_urls_seen_last(trace: list[str], capacity: int) -> None:
    cache, recent = SeenCache(capacity), list[str]()
    for url in trace:
        assert cache.add(url) == (url not in recent)
        recent = [*(one for one in recent if one != url), url][-capacity:]
        assert len(cache) == len(recent)


@given(TRACES, st.integers(1, 6))
def test_a_url_never_seen_is_always_asked_for(trace: list[str], capacity: int) -> None:
    cache = SeenCache(capacity)
    first = {url: index for index, url in reversed(list(enumerate(trace)))}
    asked = [cache.add(url) for url in trace]
    assert all(asked[index] for index in first.values())


@given(TRACES, st.integers(1, 6))
def test_a_larger_one_is_never_worse(trace: list[str], capacity: int) -> None:
    assert misses(trace, capacity + 1) <= misses(trace, capacity)
    assert misses(trace, 99) == len(set(trace))


def test_it_can_be_emptied() -> None:
    cache = SeenCache()
    cache.add("a")
    cache.clear()
    assert cache.add("a")


def test_a_frontier_holds_the_same_with_and_without_it(tmp_path: Path) -> None:
    trace = [f"http://example.com/{number * number % 37}" for number in range(200)]
    cache = SeenCache(5)
    asked = [url for url in trace if cache.add(url)]
    assert len(asked) < len(trace)
    queued = []
    for name, urls in (("with", asked), ("without", trace)):
        frontier = open_frontier(f"sqlite:///{tmp_path}/f.db", name)
        frontier.begin("", None)
        frontier.add([Entry(url, "example.com") for url in urls])
        queued.append([record.entry.url for record in frontier.records()])
        frontier.close()
    assert queued[0] == queued[1]


def test_asking_remembers_nothing() -> None:
    cache = SeenCache(1)
    assert "a" not in cache
    cache.add("a")
    assert "a" in cache
    assert len(cache) == 1


def test_a_url_seen_at_a_smaller_depth_is_asked_for_again() -> None:
    cache = SeenCache(2)
    assert [cache.add("a", depth) for depth in (3, 4, 3, 2, 3)] == [True, False, False, True, False]
    assert len(cache) == 1
