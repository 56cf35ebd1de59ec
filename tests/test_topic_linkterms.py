"""The terms of a link say where they stand; a generic anchor and the words of other links count nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.models import Link
from archivebot.topic.linkterms import link_terms, origin, shape

PAGE = "http://a.example/people/index.html"


def terms_of(link: Link, title: str = "", others: int = 0) -> set[str]:
    rest = [Link(f"http://b.example/{number}/x") for number in range(others)]
    return set(next(link_terms(PAGE, title, [link, *rest])))


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("http://a.example/people/kim.html", "same"),
        ("http://a.example/people/kim/", "below"),
        ("http://a.example/", "above"),
        ("http://a.example/courses/", "beside"),
        ("http://b.example/people/", "host"),
        ("http://a.example.org/people/", "host"),
    ],
)
def test_where_the_target_lies_to_the_page_is_a_term(url: str, place: str) -> None:
    assert f"place:{place}" in terms_of(Link(url))


@pytest.mark.parametrize("anchor", ["click here", "more", "[12]", "更多"])
def test_a_generic_anchor_counts_nothing(anchor: str) -> None:
    link = Link("http://a.example/x", anchor)
    assert not {"anchor", "shape"} & set(map(origin, terms_of(link)))


def test_what_stands_around_a_link_is_told_apart_from_its_anchor() -> None:
    link = Link("http://a.example/x", "Reefs", before="our reefs", after="reefs here", heading="Diving")
    assert {"anchor:reef", "before:reef", "after:reef", "heading:dive", "title:home"} <= terms_of(
        link, "Home page"
    )


def test_only_the_nearest_words_of_a_long_neighbourhood_count() -> None:
    link = Link("http://a.example/x", before="far " + "near " * 30, after="near " * 30 + "far")
    assert not {"before:far", "after:far"} & terms_of(link)


def test_a_folder_with_many_links_makes_a_list() -> None:
    people = [Link(f"http://a.example/people/{name}/") for name in ("kim", "lee", "wu", "xu")]
    alone = Link("http://a.example/courses/cs1.html")
    *members, course = link_terms(PAGE, "", [*people, alone])
    assert all("list:folder3" in terms for terms in members)
    assert "list:folder1" in course


def test_numbers_in_a_url_count_by_their_length_and_the_depth_does_not_count() -> None:
    shallow, deep = (terms_of(Link(f"http://a.example/{path}cs415")) for path in ("", "x/x/x/"))
    assert {"url:cs", "url:#3"} <= shallow
    assert deep - shallow == {"url:x", "place:beside"}


@given(st.text(max_size=200))
def test_the_shape_of_any_anchor_has_four_words_at_most(anchor: str) -> None:
    assert len(shape(anchor).split()) <= 4


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_any_text_gives_terms_each_once(anchor: str, before: str, title: str) -> None:
    (found,) = link_terms(PAGE, title, [Link("http://a.example/x?y", anchor, before)])
    assert len(set(found)) == len(found)
    assert all(":" in term for term in found)
