"""The judge of a crawl: what it has met says more of a page than the page alone."""

from __future__ import annotations

import pytest

from archivebot.topic.judge import CrawlJudge
from archivebot.topic.relevance import PageScorer
from archivebot.topic.training import from_examples, from_words
from tests.test_topic_training import DIVING, SHOPS

DIVES = from_words("diving", dict.fromkeys(("reef", "dive", "wreck", "lagoon", "snorkel"), 1.0))
STORY = " ".join(f"harbour{number}" for number in range(200))
RICH = f"Dive the reef, the wreck and the lagoon, snorkel at the reef, dive at the wreck. {STORY}"
POOR = f"A reef, once. {STORY}"
OTHER = f"The tax office of the county. {STORY}"


def test_the_first_page_is_judged_by_itself_and_its_own_site() -> None:
    found = CrawlJudge(DIVES).judge("http://a.example/", "", RICH)
    assert found.relevant
    assert sum(found.parts.values()) == pytest.approx(found.log_odds)
    assert found.parts["site"] < found.parts["match"]


def test_a_page_of_a_site_on_topic_is_worth_more() -> None:
    judge = CrawlJudge(DIVES)
    for number in range(20):
        judge.judge(f"http://on.example/{number}", "", RICH)
        judge.judge(f"http://off.example/{number}", "", OTHER)
    on, off = (judge.judge(f"http://{name}.example/poor", "", POOR) for name in ("on", "off"))
    assert on.log_odds > off.log_odds + 3.0
    assert on.parts["match"] == pytest.approx(off.parts["match"], rel=0.05)
    assert not judge.judge("http://on.example/tax", "", OTHER).value > on.value


def test_a_page_is_not_judged_by_another_port_of_its_host() -> None:
    judge = CrawlJudge(DIVES)
    for number in range(20):
        judge.judge(f"http://a.example:8080/{number}", "", RICH)
    alone = judge.judge("http://b.example/", "", POOR)
    assert judge.judge("http://a.example:9090/", "", POOR).parts["site"] == pytest.approx(
        alone.parts["site"], rel=0.05
    )


def test_what_is_on_topic_is_held_against_the_best_pages_of_the_crawl() -> None:
    judge = CrawlJudge(DIVES)
    before = judge.judge("http://a.example/", "", POOR)
    for number in range(50):
        judge.judge(f"http://b{number}.example/", "", RICH)
    after = judge.judge("http://c.example/", "", POOR)
    assert before.parts["crawl"] > after.parts["crawl"]
    assert not after.relevant
    assert judge.judge("http://d.example/", "", RICH).relevant


def test_a_term_that_all_pages_of_the_crawl_hold_tells_less() -> None:
    judge = CrawlJudge(DIVES)
    first = judge.judge("http://a.example/", "", POOR).parts["match"]
    for number in range(3000):
        judge.judge(f"http://b{number}.example/", "", "A reef and more")
    assert judge.judge("http://c.example/", "", POOR).parts["match"] < 0.9 * first


def test_labelled_topics_are_judged_by_what_the_examples_taught() -> None:
    profile = from_examples("diving", DIVING + SHOPS)
    judge, scorer = CrawlJudge(profile), PageScorer(profile)
    for page in (*DIVING, *SHOPS):
        assert judge.judge("http://a.example/", page.title, page.text) == scorer.score(page.title, page.text)
