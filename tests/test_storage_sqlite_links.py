"""The links of a page as one value: packed and unpacked, and merged with those of another visit."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from archivebot.storage.sqlite.links import Links, holding, merged, pack, unpack

NUMBERS = st.integers(1, 2**32 - 1)
TIMES = st.integers(-(2**40), 2**43)
LINKS = st.dictionaries(
    NUMBERS, st.tuples(NUMBERS, TIMES, TIMES).map(lambda link: (link[0], *sorted(link[1:]))), max_size=30
)
VISITS = st.lists(
    st.tuples(st.dictionaries(st.integers(1, 5), st.integers(1, 3)), st.integers(0, 20)),
    max_size=6,
    unique_by=lambda visit: visit[1],
)


def after(visits: list[tuple[dict[int, int], int]]) -> Links:
    links: Links = {}
    for seen, time in visits:
        links = merged(links, seen.items(), time)
    return links


@given(LINKS)
def test_links_read_back_as_they_were_packed(links: Links) -> None:
    assert unpack(pack(links)) == links


@given(LINKS)
def test_what_holds_a_target_has_its_bytes(links: Links) -> None:
    assert all(holding(target) in pack(links) for target in links)


@given(VISITS)
def test_the_order_of_visits_changes_nothing(visits: list[tuple[dict[int, int], int]]) -> None:
    assert after(visits) == after(sorted(visits, key=lambda visit: visit[1])) == after(visits[::-1])


@given(VISITS)
def test_a_visit_seen_again_changes_nothing(visits: list[tuple[dict[int, int], int]]) -> None:
    assert after([*visits, *visits]) == after(visits)


@given(VISITS)
def test_a_link_has_the_times_and_the_label_of_its_visits(visits: list[tuple[dict[int, int], int]]) -> None:
    for target, (label, first, last) in after(visits).items():
        times = {time: seen[target] for seen, time in visits if target in seen}
        assert (label, first, last) == (times[max(times)], min(times), max(times))


def test_links_of_one_visit_share_their_times() -> None:
    links = after([(dict.fromkeys(range(1, 31), 7), 1_800_000_000_000)])
    assert len(pack(links)) == 20 + 30 * 8
