"""Boolean queries: what they mean, what is wrong with them, and what they do to a topic."""

from __future__ import annotations

from pathlib import Path

import pytest

from archivebot.exceptions import UsageError
from archivebot.topic.judge import CrawlJudge
from archivebot.topic.profile import load, save
from archivebot.topic.query import DEEPEST, is_query, read_query
from archivebot.topic.relevance import PageScorer
from archivebot.topic.rings import read_rings
from archivebot.topic.training import from_text, with_synonyms


def holds(query: str, *stems: str) -> bool:
    return read_query(query).holds(set(stems).__contains__)


@pytest.mark.parametrize(
    ("query", "with_c", "with_ab", "with_bc"),
    [
        ("a1 AND b1 OR c1", True, True, True),
        ("a1 AND (b1 OR c1)", False, True, False),
        ("NOT a1 AND c1", True, False, True),
        ("NOT (a1 AND b1)", True, False, True),
        ("c1 NOT b1", True, False, False),
        ("NOT NOT c1", True, False, True),
        ("(((a1)) AND ((b1)))", False, True, False),
    ],
)
def test_not_binds_before_and_and_and_before_or(
    query: str, with_c: bool, with_ab: bool, with_bc: bool
) -> None:
    found = [holds(query, *stems) for stems in (["c1"], ["a1", "b1"], ["b1", "c1"])]
    assert found == [with_c, with_ab, with_bc]


@pytest.mark.parametrize(
    ("query", "weights"),
    [
        ("old maps AND harbour:2", {"old maps": 1.0, "harbour": 2.0}),
        ('"old maps":3 OR “tide tables”', {"old maps": 3.0, "tide tables": 1.0}),
        ("harbour AND NOT (airport OR NOT port)", {"harbour": 1.0, "port": 1.0}),
        ('"profit AND loss" OR tax', {"profit AND loss": 1.0, "tax": 1.0}),
        ('"tides: a history":2 OR harbour', {"tides  a history": 2.0, "harbour": 1.0}),
        ("潜水 AND NOT 机场", {"潜水": 1.0}),
    ],
)
def test_words_in_a_row_are_a_phrase_and_only_words_for_the_topic_have_weights(
    query: str, weights: dict[str, float]
) -> None:
    assert read_query(query).weights == weights


@pytest.mark.parametrize("text", ["harbour and maps", "not maps, or", '"profit AND loss", tax', "ORCA", ""])
def test_only_operators_in_upper_case_make_a_query(text: str) -> None:
    assert not is_query(text)


@pytest.mark.parametrize(
    ("query", "fault"),
    [
        ("(port OR ferry AND tide", r"has a '\(' without a '\)'"),
        ("port OR ferry) AND tide", r"has a '\)' without a '\('"),
        ("port AND", "needs a word at its end"),
        ("AND port", "needs a word before 'AND'"),
        ("port AND () OR x1", r"needs a word before '\)'"),
        ("port AND OR ferry", "needs a word before 'OR'"),
        ('port AND "old maps', "has a quote that does not end"),
        ("port (ferry OR tide)", r"needs AND, OR or NOT before '\('"),
        ('(port "old maps") OR tide', "needs AND, OR or NOT before '\"old maps\"'"),
        ("port, ferry AND tide", "has a comma: write OR"),
        ("port AND the", "'the', which has no meaningful word"),
        ("port AND -airport", "write NOT before"),
        ("port AND ferry:much", "the weight of 'ferry' is"),
        ("NOT " * (DEEPEST + 1) + "port", "inside each other"),
        ("NOT airport", "at least one meaningful word"),
    ],
)
def test_a_wrong_query_is_refused_with_what_is_wrong(query: str, fault: str) -> None:
    with pytest.raises(UsageError, match=fault):
        from_text("x", query)


def test_a_page_needs_the_query_and_is_graded_by_the_words_for_the_topic() -> None:
    scorer = PageScorer(from_text("sea", '(harbour OR "old port") AND NOT airport'))
    much, little, other, apart, flights = (
        scorer.score("", text)
        for text in (
            "The harbour, a harbour and the old port",
            f"The harbour {'of a long story ' * 60}",
            "A shop",
            "The port is old",
            "The harbour and the airport",
        )
    )
    assert much.relevant
    assert much.log_odds > little.log_odds
    assert not any(page.relevant for page in (other, apart, flights))
    assert flights.parts["query"] < 0
    assert flights.value < 0.001
    assert "query" not in much.parts


def test_a_phrase_may_stand_in_title_or_body_but_not_across_them() -> None:
    scorer = PageScorer(from_text("maps", '"old maps" AND harbour'))
    assert scorer.score("Old maps", "The harbour").relevant
    assert not scorer.score("The harbour is old", "Maps").relevant


def test_synonyms_count_in_a_query_also_under_not() -> None:
    rings = read_rings("harbour=haven, airport=aerodrome")
    scorer = PageScorer(with_synonyms(from_text("sea", "harbour AND NOT airport"), rings))
    assert scorer.score("", "The haven").relevant
    assert not scorer.score("", "The haven and the aerodrome").relevant


def test_a_crawl_judges_by_the_query_too() -> None:
    judge = CrawlJudge(from_text("sea", "harbour AND NOT airport"))
    assert judge.judge("http://a.test/", "", "The harbour").relevant
    page = judge.judge("http://a.test/b", "", "The harbour and its airport")
    assert not page.relevant
    assert page.log_odds == pytest.approx(sum(page.parts.values()))


def test_a_saved_topic_keeps_its_query(tmp_path: Path) -> None:
    made = from_text("sea", "harbour AND NOT airport")
    path = save(made, tmp_path)
    assert load("sea", tmp_path) == made
    path.write_text(path.read_text("utf-8").replace("NOT airport", "NOT"), "utf-8")
    with pytest.raises(UsageError, match="needs a word at its end; make the topic again"):
        load("sea", tmp_path)
