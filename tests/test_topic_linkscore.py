"""The score of a link is the sum of its parts; it rises with topic, nearness and age, and learns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.models import Link
from archivebot.topic.linkmodel import LinkModel
from archivebot.topic.linkscore import Judged, LinkScore, LinkScorer
from archivebot.topic.training import from_words

REEF = Link("http://b.example/reef", "Coral reefs", heading="Diving")


def scorer() -> LinkScorer:
    return LinkScorer.of(from_words("diving", {"reef": 2.0, "diving": 1.0, "casino": -1.0}))


def score(source: Judged, link: Link = REEF) -> LinkScore:
    return scorer().page(source, [link])[link.url]


@given(
    st.text(max_size=30),
    st.one_of(st.none(), st.floats(0, 1)),
    st.integers(0, 20),
    st.integers(0, 5000),
)
def test_the_parts_add_up_to_the_rank(title: str, relevance: float | None, distance: int, order: int) -> None:
    found = score(Judged("http://a.example/", title, relevance, distance=distance, order=order))
    assert sum(found.parts.values()) == pytest.approx(found.rank, abs=1e-2)
    assert 0.0 <= found.value <= 1.0


def test_the_parts_add_up_where_several_pages_link_to_a_url() -> None:
    judge = scorer()
    judge.page(Judged("http://a.example/", order=1), [REEF])
    found = judge.page(Judged("http://c.example/", order=9), [Link(REEF.url, "Casino")])[REEF.url]
    assert found.parts["links"] > 0
    assert sum(found.parts.values()) == pytest.approx(found.rank, abs=1e-2)


def test_a_word_of_the_topic_raises_a_link_and_a_word_against_it_lowers_it() -> None:
    view = Judged("http://a.example/")
    plain = score(view, Link("http://b.example/x", "Staff")).rank
    assert score(view, Link("http://b.example/x", "Reefs")).rank > plain
    assert score(view, Link("http://b.example/x", "Casino")).rank < plain


def test_a_link_in_a_script_waits_behind_one_like_it() -> None:
    links = [Link("http://b.example/x", "Reefs"), Link("http://b.example/y", "Reefs", role="script")]
    plain, script = scorer().page(Judged("http://a.example/"), links).values()
    assert plain.rank > script.rank
    assert script.parts["role"] == -1


def test_a_generic_anchor_counts_nothing() -> None:
    view = Judged("http://a.example/")
    generic, empty = (score(view, Link("http://b.example/x", anchor)) for anchor in ("click here", "[1]"))
    assert generic.rank == empty.rank
    assert "anchor" not in generic.parts


def test_links_of_pages_of_the_topic_score_higher_and_those_in_a_tunnel_lower() -> None:
    on, off = (score(Judged("http://a.example/", relevance=relevance)) for relevance in (1.0, 0.0))
    deep = score(Judged("http://a.example/", relevance=0.0, distance=3))
    assert on.rank > off.rank > deep.rank
    assert on.value > off.value > deep.value


def test_no_link_waits_for_ever_behind_better_ones_of_one_host() -> None:
    judge = scorer()
    poor = Link("http://poor.example/", "Staff")
    waiting = judge.page(Judged("http://a.example/", order=1), [poor])[poor.url].rank
    best = [
        judge.page(Judged(f"http://rich.example/{n}", relevance=1.0, order=n), [link])[link.url].rank
        for n in (2, 10_000)
        for link in [Link(f"http://rich.example/reef/{n}", "Reefs")]
    ]
    assert best[0] > waiting > best[1]


def test_the_value_of_a_link_does_not_depend_on_when_it_was_found() -> None:
    early, late = (score(Judged("http://a.example/", order=order)) for order in (1, 1000))
    assert early.value == late.value
    assert early.rank > late.rank


def test_the_scorer_learns_from_the_page_that_its_link_led_to() -> None:
    judge = scorer()
    atlas, staff = Link("http://b.example/atlas", "Atlas"), Link("http://b.example/staff", "Staff")
    judge.page(Judged("http://a.example/", order=1), [atlas, staff])
    judge.page(Judged(atlas.url, relevance=1.0, order=2), [])
    judge.page(Judged(staff.url, relevance=0.0, order=3), [])
    later = judge.page(
        Judged("http://c.example/", order=4),
        [Link("http://d.example/1", "Atlas"), Link("http://d.example/2", "Staff")],
    )
    assert later["http://d.example/1"].rank > later["http://d.example/2"].rank


def test_a_topic_with_a_link_model_is_scored_by_it_and_goes_on_from_what_was_learnt() -> None:
    judge = LinkScorer(LinkModel(-1.0, {"anchor:atlas": 2.0}, links=100))
    again = LinkScorer(LinkModel.from_dict(judge.learner.model.as_dict()))
    link = Link("http://b.example/", "Atlas")
    view = Judged("http://a.example/")
    assert judge.page(view, [link])[link.url].parts["anchor"] == 2.0
    assert again.page(view, [link])[link.url].rank == pytest.approx(judge.page(view, [link])[link.url].rank)
