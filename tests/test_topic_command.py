"""scrapy topic as a user types it: make, show, evaluate, score."""

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
from tests.commands import run_scrapy
from tests.conftest import ROOT
from tests.factories import URL, html, make_page
from tests.mockserver import MockServer, Reply, redirect, robots
from tests.mockserver import html as answer
from tests.test_pipelines import stages
from tests.test_topic_training import DIVING, SHOPS

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run a command in a folder with a page of the topic, another page, and labelled examples."""
    records = []
    for number, page in enumerate(DIVING + SHOPS):
        name = f"{'diving' if page.relevant else 'shop'}{number}.html"
        (tmp_path / name).write_text(f"<title>{page.title}</title><p>{page.text}")
        records.append({"url": page.source, "file": name, "relevant": page.relevant})
    (tmp_path / "examples.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))

    def run(*args: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"PYTHONPATH": str(ROOT), "SCRAPY_SETTINGS_MODULE": "archivebot.settings"}
        environment["ARCHIVE_URI"] = f"sqlite:///{tmp_path}/a.db"
        return run_scrapy(("topic", *args), folder=tmp_path, environment=environment)

    return run


def document(result: subprocess.CompletedProcess[str]) -> Any:
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_words_make_a_topic_without_any_archive(run: Run, tmp_path: Path) -> None:
    profile = document(run("diving", "--words", "coral reef, dive:2, -casino", "--json"))
    assert profile["terms"] == {"dive": 2.0, "coral": 1.0, "reef": 1.0}
    assert profile["negative"] == {"casino": 1.0}
    assert json.loads((tmp_path / "topics" / "diving.json").read_text("utf-8")) == profile
    assert not (tmp_path / "a.db").exists()


def test_a_query_is_part_of_a_topic_of_words_or_of_pages(run: Run) -> None:
    query = "(coral OR reef) AND NOT bali"
    assert document(run("sea", "--words", query, "--json"))["query"] == query
    assert query in run("sea").stdout
    made = document(run("dives", "--words", query, "--from", "diving0.html", "diving1.html", "--json"))
    assert (made["query"], made["examples"]["relevant"]) == (query, 2)
    for topic in ("sea", "dives"):
        found = document(run(topic, "--score", "diving0.html", "diving1.html", "--json"))
        assert [page["relevant"] for page in found] == [False, True]


def test_the_folder_of_the_topics_is_the_one_that_a_crawl_reads(run: Run, tmp_path: Path) -> None:
    assert run("diving", "--words", "reef", "-s", "ARCHIVE_TOPICS=").returncode == 0
    assert (tmp_path / "diving.json").exists()


def test_scores_are_those_of_the_contract(run: Run) -> None:
    run("diving", "--from", "diving0.html,diving1.html", "diving2.html")
    found = document(run("diving", "--score", "diving3.html", "shop8.html", "--json"))
    assert [record["source"] for record in found] == ["diving3.html", "shop8.html"]
    assert [record["relevant"] for record in found] == [True, False]
    assert all(set(record) == {"source", "relevance", "relevant", "terms"} for record in found)
    assert found[0]["relevance"] > 0.5 > found[1]["relevance"]
    assert all(isinstance(term, str) and isinstance(weight, float) for term, weight in found[0]["terms"])
    assert "diving3.html" in run("diving", "--score", "diving3.html").stdout


def test_labelled_examples_train_a_model_and_are_cross_validated(run: Run, tmp_path: Path) -> None:
    made = run("diving", "--examples", "examples.jsonl")
    assert "8 pages of the topic, 8 others" in made.stdout
    assert document(run("diving", "--show", "--json"))["page_model"]["classes"].keys() == {
        "relevant",
        "other",
    }
    found = document(run("x", "--examples", "examples.jsonl", "--cross-validate", "--json"))
    assert found["auc"] == 1.0
    assert {"precision", "recall", "f1", "auc", "brier"} <= set(found)
    assert not (tmp_path / "topics" / "x.json").exists()
    assert "precision" in run("x", "--examples", "examples.jsonl", "--cross-validate").stdout


@pytest.mark.long
def test_the_words_of_a_model_are_selected_by_another_score(run: Run) -> None:
    def vocabulary(name: str, *more: str) -> list[str]:
        run(name, "--examples", "examples.jsonl", *more)
        words: list[str] = document(run(name, "--show", "--json"))["page_model"]["vocabulary"]
        return words

    assert vocabulary("plain") == vocabulary(
        "gain", "--select", "information-gain"
    )  # there are less than 2,000
    found = document(
        run("x", "--examples", "examples.jsonl", "--cross-validate", "--select", "right-half", "--json")
    )
    assert found["auc"] == 1.0
    assert "invalid choice: 'luck'" in run("x", "--examples", "examples.jsonl", "--select", "luck").stderr


@pytest.mark.long
def test_evaluate_judges_the_topic_that_is_named(run: Run) -> None:
    run("diving", "--words", "reef, coral")
    run("shops", "--words", "shop")
    assert document(run("diving", "--evaluate", "examples.jsonl", "--json"))["auc"] == 1.0
    assert document(run("shops", "--evaluate", "examples.jsonl", "--json"))["auc"] == 0.0
    assert "there is no topic 'unknown'" in run("unknown", "--evaluate", "examples.jsonl").stderr


@pytest.mark.long
def test_a_topic_that_exists_is_overwritten_only_when_told_so(run: Run) -> None:
    run("diving", "--words", "reef")
    refused = run("diving", "--words", "shop")
    assert refused.returncode == 2
    assert "give --replace to write over it" in refused.stderr
    assert "reef" in run("diving").stdout
    run("diving", "--words", "shop", "--replace")
    assert "reef" not in run("diving").stdout


def test_a_topic_is_shown_as_a_table(run: Run) -> None:
    run("diving", "--words", "reef, -casino")
    shown = run("diving").stdout
    assert "reef" in shown
    assert "casino" in shown
    assert shown == run("diving", "--show").stdout


def test_a_new_topic_is_shown_with_its_best_terms_first(run: Run) -> None:
    made = run("sea", "--words", "algae:0.5, wreck:2, reef:2", "--show").stdout
    assert made.splitlines()[1:] == run("sea").stdout.splitlines()


def test_pages_of_the_archive_are_read(run: Run, tmp_path: Path) -> None:
    archive = Archive.open(ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db"))
    archive.add(archive.segment(make_page(html("Dive the coral reef."))))
    archive.close()
    assert run("diving", "--from", URL).returncode == 0
    assert document(run("all", "--archive", "--json"))["examples"] == {"relevant": 1, "other": 0}
    assert document(run("diving", "--score", URL, "--json"))[0]["relevant"]


def test_pages_that_the_archive_does_not_have_are_crawled_once(run: Run, site: MockServer) -> None:
    reply = answer("/deeper", text="Dive the coral reef of Malta.")
    site.routes |= {
        "/": reply,
        "/bali": answer(text="Dive the coral reef of Bali."),
        "/shop": answer(text="Shoes"),
    }
    urls = [site.url(), site.url("/bali")]
    made = document(run("diving", "--from", *urls, "--negative", site.url("/shop"), "--json"))
    assert made["examples"] == {"relevant": 2, "other": 1}
    assert {"reef", "coral"} <= made["terms"].keys()
    assert sorted(site.paths()) == ["/", "/bali", "/shop"]
    assert site.asked[0].path == "/robots.txt"
    found = document(run("diving", "--score", *urls, "--json"))
    assert [record["source"] for record in found] == urls
    assert len(site.paths()) == 3


@pytest.mark.parametrize(
    ("path", "reason"),
    [("/none", "not_found"), ("/secret", "robots_denied"), ("/old", "it leads to http://127.0.0.1")],
)
def test_a_page_that_cannot_be_had_is_named_with_the_reason(
    run: Run, site: MockServer, path: str, reason: str
) -> None:
    site.routes |= {"/robots.txt": robots("User-agent: *\nDisallow: /secret"), "/old": redirect("/new")}
    for _ in range(2):
        result = run("diving", "--from", site.url(path))
        assert result.returncode == 1
        assert f"{site.url(path)} cannot be read: {reason}" in result.stderr
    assert "/secret" not in site.paths()


def test_a_crawl_that_cannot_begin_is_told_in_one_line(run: Run, site: MockServer) -> None:
    result = run("diving", "--from", site.url(), "-s", "ARCHIVE_FRONTIER=nowhere:")
    assert result.returncode == 2
    assert "scrapy topic: 'nowhere:' names no frontier" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "args",
    [
        ("a/b",),
        ("diving", "--words", "reef:inf"),
        ("diving", "--words=-casino"),
        ("diving", "--examples", "none.jsonl"),
        ("diving", "--synonyms", "boat"),
    ],
)
def test_wrong_arguments_are_told_before_anything_is_fetched(
    run: Run, site: MockServer, args: tuple[str, ...]
) -> None:
    assert run(*args, "--from", site.url()).returncode == 2
    assert not site.asked


def test_lists_are_split_before_urls_and_between_files_and_urls_keep_their_commas(
    run: Run, site: MockServer, tmp_path: Path
) -> None:
    site.routes |= {path: answer(text=f"Dive the reef {path}") for path in ("/a,b", "/c?d,e")}
    (tmp_path / "e,f.txt").write_text("Dive the wreck.")
    urls = f"{site.url('/a,b')},{site.url('/c?d,e')}"
    made = document(run("diving", "--from", f"diving0.html,diving1.html,{urls}", "e,f.txt", "--json"))
    assert made["examples"]["relevant"] == 5
    assert sorted(site.paths()) == ["/a,b", "/c?d,e"]
    found = document(run("diving", "--score", urls, "--json"))
    assert [record["source"] for record in found] == [site.url("/a,b"), site.url("/c?d,e")]


def test_a_list_and_a_url_may_be_longer_than_a_name_of_a_file(run: Run, site: MockServer) -> None:
    path = f"/{'reef' * 100}"
    site.routes[path] = answer(text="Dive the coral reef.")
    assert run("diving", "--from", site.url(path)).returncode == 0
    assert len(document(run("diving", "--score", ",".join(["diving0.html"] * 30), "--json"))) == 30


def test_a_broken_archive_ends_the_command_with_exit_code_3(run: Run, site: MockServer) -> None:
    paths = ("/", "/a", "/b", "/c")
    site.routes |= {path: answer(text="Dive the reef.") for path in paths}
    broken = ("-s", stages(**{"tests.probes.BrokenArchive": 100}))
    result = run("diving", "--from", *(site.url(path) for path in paths), *broken)
    assert result.returncode == 3
    assert "scrapy topic: the archive or its frontier failed" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_crawl_that_could_not_begin_is_not_a_page_that_is_missing(run: Run, site: MockServer) -> None:
    twisted = ("-s", "FORCE_CRAWLER_PROCESS=True", "-s", "ARCHIVE_FRONTIER=nowhere:")
    result = run("diving", "--from", site.url(), *twisted)
    assert result.returncode == 3
    assert "scrapy topic: the crawl could not begin" in result.stderr


@pytest.mark.long
def test_only_html_and_plain_text_of_the_archive_are_judged(run: Run, site: MockServer) -> None:
    site.routes |= {
        "/": answer(text="Dive the coral reef."),
        "/notes": Reply(b"Dive the wreck.", type="text/plain"),
        "/map": Reply(b"\x89PNG reef", type="image/png"),
    }
    reason = f"{site.url('/map')} cannot be read: it is a PNG picture, neither HTML nor plain text"
    result = run("diving", "--from", *map(site.url, ("/", "/notes", "/map")))
    assert result.returncode == 1
    assert reason in result.stderr
    assert document(run("diving", "--archive", "--json"))["examples"]["relevant"] == 2
    assert reason in run("diving", "--score", site.url("/map")).stderr


def test_a_ring_without_a_word_of_the_topic_is_told_and_kept(run: Run) -> None:
    result = run("ferries", "--words", "ferry", "--synonyms", "ferries=boat, line=route, boat=ship", "--json")
    assert document(result)["synonyms"] == [["ferries", "boat"], ["line", "route"], ["boat", "ship"]]
    assert result.stderr == "scrapy topic: line=route has no word of the topic yet\n"


def test_synonyms_are_kept_shown_and_count_as_their_words(run: Run) -> None:
    made = document(run("ferries", "--words", "ferry", "--synonyms", "ferry=boat=ship, line=route", "--json"))
    assert made["synonyms"] == [["ferry", "boat", "ship"], ["line", "route"]]
    shown = run("ferries", "--show").stdout
    assert "= ferry = boat = ship" in " ".join(shown.split())


def test_synonyms_are_added_to_a_topic_that_is_saved(run: Run, tmp_path: Path) -> None:
    run("ferries", "--words", "ferry")
    assert ": 1 term, " in run("ferries", "--synonyms", "ferry=boat").stdout
    run("ferries", "--synonyms", "boat=ship")
    (tmp_path / "boats.txt").write_text("A boat and a ship.")
    (judged,) = document(run("ferries", "--score", "boats.txt", "--json"))
    assert judged["relevant"]
    assert judged["terms"] == [["ferri", 2.0]]


def test_words_in_the_company_of_the_topic_are_learnt_from_its_texts(run: Run, tmp_path: Path) -> None:
    for name, boat in {"a.txt": "ferry", "b.txt": "ferry", "c.txt": "hydrofoil"}.items():
        lines = [f"The {boat} sails to {place} at noon." for place in ("Malta", "Bali", "Cuba")]
        (tmp_path / name).write_text("\n".join(lines))
    profile = document(run("boats", "--from", "a.txt,b.txt,c.txt", "--json"))
    assert profile["terms"].keys().isdisjoint(profile["neighbours"])
    assert "hydrofoil" in profile["neighbours"]
    assert "hydrofoil" in run("boats").stdout


@pytest.fixture
def sites(tmp_path: Path) -> None:
    """An archive of two sites about the sea, one about shoes, and one without words."""
    archive = Archive.open(ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db"))
    sea = "The tide carries the ferry over the reef, past the lighthouse and into the harbour."
    shoes = "Shoes, boots and laces for everybody, with heels and soles of leather."
    texts = {"sea.org": sea, "reef.org": sea, "shoes.org": shoes, "none.org": ""}
    for host, text in texts.items():
        for path in ("", "b"):
            archive.add(archive.segment(make_page(f"<p>{text}</p>".encode(), url=f"http://{host}/{path}")))
    archive.close()


@pytest.mark.long
@pytest.mark.usefixtures("sites")
def test_sites_are_clustered_by_topic_with_their_terms(run: Run) -> None:
    found = document(run("--sites", "--json"))
    assert [each["sites"] for each in found] == [["reef.org", "sea.org"], ["shoes.org"]]
    assert {"ferri", "lighthous"} <= {*found[0]["terms"]}
    assert "reef.org sea.org" in run("--sites").stdout
    apart = document(run("--sites", "--alike", "1", "--json"))
    together = document(run("--sites", "--alike", "0", "--json"))
    assert (len(apart), len(together)) == (2, 1)


def test_an_archive_without_words_has_no_clusters(run: Run, tmp_path: Path) -> None:
    Archive.open(ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db")).close()
    assert run("--sites").returncode == 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--sites", "diving"), "leave out 'diving'"),
        (("--sites", "--alike", "2"), "a number from 0 to 1"),
        (("--sites", "--words", "reef"), "--words is about one topic"),
        (("--sites", "--from", "shop8.html"), "--from is about one topic"),
        (("--sites", "--cross-validate"), "--cross-validate is about one topic"),
        (("--sites", "--select", "chi-square"), "--select is about one topic"),
        (("diving", "--alike", "0.3"), "give --sites as well"),
        (("divin",), "is it diving?"),
        (("cooking", "--from", "none.html"), "words go to --words"),
        (("cooking", "--negative", "shop8.html"), "give --from"),
        (("cooking", "--words", "pot", "--negative", "shop8.html"), "give --from"),
        (("cooking", "--words", "reef:much"), "not a number"),
        (("cooking", "--words", "(pot OR pan AND NOT lid"), "has a '(' without a ')'"),
        (("diving", "--synonyms", ","), "words that mean the same"),
        (("diving", "--synonyms", "reef=reefs"), "'reef=reefs' needs words that mean the same"),
        (("diving", "--synonyms", "reef=the"), "'reef=the' needs words that mean the same"),
        (("diving", "--synonyms", "reef=atoll, boat"), "'boat' needs words that mean the same"),
        (("cooking", "--synonyms", "pot=pan"), "there is no topic 'cooking'"),
        (("diving", "--evaluat"), ""),
        (("diving", "--cross-validate", "--examples", "examples.jsonl", "--words", "reef"), "--words has no"),
        (("diving", "--evaluate", "examples.jsonl", "--score", "shop8.html"), "--score has no effect"),
        (("diving", "--evaluate", os.devnull), "has no examples to judge"),
        ((), "write: scrapy topic"),
        (("a/b", "--words", "reef"), "cannot name a topic"),
    ],
)
def test_wrong_use_exits_with_2_and_advice(run: Run, args: tuple[str, ...], message: str) -> None:
    run("diving", "--words", "reef")
    result = run(*args)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
