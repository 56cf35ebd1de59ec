"""scrapy rank as a user types it: what it prints, as text and as JSON, and its exit codes."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.models import Link
from archivebot.storage import open_store
from archivebot.topic.logistic import Logistic
from archivebot.topic.profile import TopicProfile, save
from tests.commands import run_scrapy
from tests.factories import START, html, make_page

Run = Callable[..., subprocess.CompletedProcess[str]]

PAGES = {
    "http://www.a.org/": [("http://www.a.org/b", "Staff"), ("http://c.org/", "Course list")],
    "http://www.a.org/b": [("http://www.a.org/", "home"), ("http://c.org/", "more courses")],
    "http://shop.a.org/": [("http://www.a.org/", "a"), ("http://d.org/", "news")],
    "http://c.org/": [("http://d.org/", "Courses of d"), ("http://www.a.org/", "click here")],
    "http://d.org/": [("http://c.org/", "Course list")],
}


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> str:
    uri = f"sqlite:///{tmp_path_factory.mktemp('rank')}/a.db"
    store = open_store(uri)
    for source, links in PAGES.items():
        store.links.add(source, [Link(url, anchor) for url, anchor in links], START)
    store.close()
    return uri


@pytest.fixture(scope="module")
def run(uri: str) -> Run:
    def run(*args: str, archive: str = uri) -> subprocess.CompletedProcess[str]:
        return run_scrapy(("rank", *args), environment={**os.environ, "ARCHIVE_URI": archive})

    return run


def lists(result: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert result.returncode == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def urls(records: list[dict[str, Any]]) -> list[str]:
    return [record["url"] for record in records]


def test_pages_are_ranked_by_pagerank_with_their_links_and_hosts(run: Run) -> None:
    found = lists(run("--json"))
    assert found["by"] == "pagerank"
    pages = found["pages"]
    assert [record["rank"] for record in pages] == [1, 2, 3, 4, 5]
    assert sum(record["score"] for record in pages) == pytest.approx(5, abs=1e-4)
    assert pages[0]["url"] == "http://c.org/"
    assert (pages[0]["in_links"], pages[0]["hosts"]) == (3, 2)
    assert pages[-1] == {
        "rank": 5, "url": "http://shop.a.org/", "score": 0.15, "in_links": 0, "hosts": 0,
    }  # fmt: skip


def test_the_table_shows_as_many_as_are_wanted(run: Run) -> None:
    result = run("--top", "2")
    both = run("--by", "hits").stdout
    assert both.index("authorities") < both.index("hubs\n")
    assert result.returncode == 0
    head, first, second = result.stdout.splitlines()
    assert head.split() == ["rank", "score", "in_links", "hosts", "pages"]
    assert first.split()[-1] == "http://c.org/"
    assert second.split()[0] == "2"


def test_links_inside_a_domain_can_be_left_out(run: Run) -> None:
    pages = lists(run("--external", "--json"))["pages"]
    counts = {record["url"]: record["in_links"] for record in pages}
    assert counts["http://www.a.org/"] == 1
    assert counts["http://www.a.org/b"] == 0


def test_ipagerank_follows_the_links_that_speak_of_the_topic(run: Run) -> None:
    plain = lists(run("--json"))["pages"]
    topical = lists(run("--by", "ipagerank", "--topic", "courses", "--json"))["pages"]
    scores = [{record["url"]: record["score"] for record in records} for records in (plain, topical)]
    assert scores[1]["http://d.org/"] > scores[0]["http://d.org/"]
    assert scores[1]["http://www.a.org/b"] < scores[0]["http://www.a.org/b"]


def test_pagerank_for_a_topic_sets_out_from_what_links_name_by_its_words(run: Run) -> None:
    plain = lists(run("--json"))["pages"]
    topical = lists(run("--topic", "courses", "--json"))["pages"]
    scores = [{record["url"]: record["score"] for record in records} for records in (plain, topical)]
    assert sum(scores[1].values()) == pytest.approx(5, abs=1e-4)
    assert urls(topical)[0] == "http://c.org/"
    assert scores[1]["http://d.org/"] > scores[0]["http://d.org/"]
    assert "http://shop.a.org/" not in scores[1]  # nobody links to it, and no surfer begins there


def test_hits_for_a_topic_looks_at_what_links_name_by_its_words_and_around_it(run: Run) -> None:
    found = lists(run("--by", "hits", "--topic", "news", "--json"))
    assert urls(found["authorities"])[0] == "http://d.org/"
    assert "http://www.a.org/b" not in urls(found["authorities"])


def test_a_near_word_counts_whole_from_the_threshold_on(run: Run, tmp_path: Path) -> None:
    profile = TopicProfile("teaching", {"cours": 4.0}, Logistic(0, {}), neighbours={"staff": 0.6})
    save(profile, tmp_path)
    options = ("--by", "ipagerank", "--topic", "teaching", "--json", "-s", f"ARCHIVE_TOPICS={tmp_path}")
    near, far = (
        {record["url"]: record["score"] for record in lists(run(*options, "--near", least))["pages"]}
        for least in ("0.5", "0.7")
    )
    assert near["http://www.a.org/b"] > far["http://www.a.org/b"]


def test_near_words_of_a_ring_count_by_their_similarity(run: Run) -> None:
    options = ("--by", "ipagerank", "--topic", "courses", "--json")
    plain, ringed, fully = (
        {page["url"]: page["score"] for page in lists(run(*options, *more))["pages"]}
        for more in ((), ("--rings", "courses=staff:0.4"), ("--rings", "courses=staff:0.4", "--near", "0.4"))
    )
    assert plain["http://www.a.org/b"] < ringed["http://www.a.org/b"] < fully["http://www.a.org/b"]


@pytest.mark.parametrize(
    ("more", "authority", "hub"),
    [
        (("hits",), "http://www.a.org/", "http://c.org/"),
        (("arc", "--topic", "course"), "http://c.org/", "http://www.a.org/"),
    ],
)
def test_hits_and_arc_give_authorities_and_hubs(
    run: Run, more: tuple[str, ...], authority: str, hub: str
) -> None:
    found = lists(run("--by", *more, "--json"))
    assert urls(found["authorities"])[0] == authority
    assert hub in urls(found["hubs"])[:2]
    assert all(record["score"] > 0 for name in ("authorities", "hubs") for record in found[name])


def test_a_generic_anchor_counts_nothing_for_arc(run: Run) -> None:
    found = lists(run("--by", "arc", "--topic", "course", "--json"))
    hits = lists(run("--by", "hits", "--json"))
    assert "http://c.org/" not in urls(found["hubs"])[:3]
    assert "http://c.org/" in urls(hits["hubs"])


@pytest.fixture
def texts(tmp_path: Path) -> str:
    """Two pages on topic, one of them with many links to it, and a page off topic that links to it."""
    uri = f"sqlite:///{tmp_path}/texts.db"
    archive = Archive.open(ArchiveConfig(uri=uri))
    on, off = "The tide carries the ferry over the bar.", "Shoes and boots for everybody."
    pages = {"http://a.org/1": on, "http://a.org/2": on, "http://b.org/": off, "http://a.org/alone": on}
    for url, text in pages.items():
        archive.add(archive.segment(make_page(html(text), url=url)))
    archive.close()
    store = open_store(uri)
    store.links.add("http://b.org/", [Link("http://a.org/2", "more"), Link("http://c.org/", "c")], START)
    store.links.add("http://a.org/1", [Link("http://a.org/2", "two")], START)
    store.close()
    return uri


def test_relevance_ranks_by_the_text_of_a_page_times_its_rank(run: Run, texts: str) -> None:
    ranked = lists(run("--by", "relevance", "--topic", "tide, ferry", "--json", archive=texts))["pages"]
    assert urls(ranked) == ["http://a.org/2", "http://a.org/1", "http://a.org/alone"]
    assert ranked[0]["in_links"] == 2
    linked = lists(run("--by", "relevance", "--topic", "tide", "--external", "--json", archive=texts))
    assert linked["pages"][0]["in_links"] == 1


def test_relevance_without_a_page_on_topic_is_not_found(run: Run, texts: str) -> None:
    result = run("--by", "relevance", "--topic", "volcanoes", archive=texts)
    assert (result.returncode, "no page in" in result.stderr) == (1, True)


def test_a_topic_is_a_profile_by_its_name(run: Run, tmp_path: Path) -> None:
    save(TopicProfile("teaching", {"cours": 4.0, "staff": 1.0}, Logistic(0, {})), tmp_path)
    folder = ("-s", f"ARCHIVE_TOPICS={tmp_path}")
    named = lists(run("--by", "arc", "--topic", "teaching", "--json", *folder))
    assert named == lists(run("--by", "arc", "--topic", "courses", "--json", *folder))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--top", "0"), "give a number from 1 on"),
        (("--by", "arc"), "--by arc needs a --topic"),
        (("--near", "0.5"), "--near is for links to a topic"),
        (("--by", "relevance", "--topic", "courses", "--near", "0.5"), "and not --by relevance"),
        (("--rings", "course=class"), "--rings belongs to"),
        (("--topic", "courses", "--rings", "course"), "needs words that mean the same"),
        (("--by", "arc", "--topic", "courses", "--near", "2"), "a number from 0 to 1"),
        (("--by", "arc", "--topic", "the"), "the words of a topic need"),
        (("--by", "arc", "--topic", "courses AND"), "needs a word at its end"),
        (("--by", "luck"), "invalid choice: 'luck'"),
        (("http://a.org/",), "write: scrapy rank"),
    ],
)
def test_a_wrong_use_ends_with_2(run: Run, arguments: tuple[str, ...], message: str) -> None:
    result = run(*arguments)
    assert result.returncode == 2
    assert message in result.stderr


def test_the_words_for_a_topic_in_a_query_rank_its_pages(run: Run) -> None:
    ranked = lists(run("--by", "arc", "--topic", "courses AND NOT news", "--json"))
    assert ranked == lists(run("--by", "arc", "--topic", "courses", "--json"))


@pytest.mark.parametrize("method", ["pagerank", "ipagerank", "hits", "arc"])
def test_a_topic_that_no_link_speaks_of_is_not_found(run: Run, method: str) -> None:
    result = run("--by", method, "--topic", "volcanoes")
    assert result.returncode == 1
    assert "try other words" in result.stderr


def test_an_archive_without_links_says_to_crawl_first(run: Run, tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path}/empty.db"
    archive = Archive.open(ArchiveConfig(uri=uri))
    archive.add(archive.segment(make_page(html("no links"))))
    archive.close()
    result = run(archive=uri)
    assert result.returncode == 1
    assert "has no links yet: crawl or ingest some pages first" in result.stderr
