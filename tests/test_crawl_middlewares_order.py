"""The linear order: what is known of a URL adds up, and links of one host count once."""

from __future__ import annotations

import pytest

from archivebot.crawl.middlewares.order import Linear
from archivebot.models import Link
from archivebot.topic.linkscore import Judged
from archivebot.topic.priority import Weights

TARGET = Link("http://t.example/a/b", "Coral reefs")
OTHER = Link("http://t.example/a/c", "Prices")


def test_a_word_in_the_url_counts_as_one_in_the_anchor() -> None:
    order = Linear({"cours": 1.0}, Weights())
    links = [Link("http://t.example/courses", "Here"), Link("http://t.example/list", "Courses")]
    scores = order.page(Judged("http://a.example/"), links)
    assert [scores(link).parts["topic"] for link in links] == [0.5, 0.5]


@pytest.fixture
def order() -> Linear:
    return Linear({"coral": 1.0, "reef": 1.0}, Weights())


def test_the_words_of_the_topic_and_the_relevance_of_the_page_raise_a_link(order: Linear) -> None:
    scores = order.page(Judged("http://a.example/", relevance=0.5), [TARGET, OTHER])
    topical, other = scores(TARGET), scores(OTHER)
    assert topical.rank - other.rank == pytest.approx(2 / 3)  # two words: 2 / (2 + 1)
    assert other.parts["parent"] == 0.5
    assert sum(topical.parts.values()) == pytest.approx(topical.rank, abs=1e-3)


def test_a_link_from_another_host_is_news_and_one_from_the_same_host_is_none(order: Linear) -> None:
    first = order.page(Judged("http://a.example/"), [TARGET])(TARGET).rank
    assert order.news() == {}
    order.page(Judged("http://a.example/again"), [TARGET])
    assert order.news() == {}
    order.page(Judged("http://b.example/"), [TARGET])
    assert order.news() == {TARGET.url: pytest.approx(first + 2 / 3 - 1 / 2)}
    assert order.news() == {}


def test_a_word_that_speaks_against_the_topic_adds_nothing() -> None:
    scores = Linear({"price": -1.0}, Weights()).page(Judged("http://a.example/"), [OTHER])
    assert scores(OTHER).parts["topic"] == 0


def test_a_weight_of_0_leaves_a_part_out() -> None:
    scores = Linear({}, Weights(depth=0)).page(Judged("http://a.example/"), [TARGET])
    assert scores(TARGET).parts["depth"] == 0
