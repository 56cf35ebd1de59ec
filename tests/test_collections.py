"""Collections and rules: arguments of crawls, and the metadata of pages and blocks."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from archivebot.archive import Archive
from archivebot.collection.collection import ARGUMENTS
from archivebot.collection.file import TERMS, read_collections
from archivebot.config import ArchiveConfig, UserFile
from archivebot.crawl.arguments import Arguments, TopicArguments
from archivebot.exceptions import UsageError
from archivebot.jobs.schedule import next_round, schedule
from archivebot.models import Label, Outcome, Page
from archivebot.schedule.policy import Policy
from tests.commands import run_scrapy
from tests.conftest import Crawl
from tests.contracts.store import at
from tests.mockserver import MockServer, Reply
from tests.servers import mongo_server, mongo_uri

__all__ = ["mongo_server", "mongo_uri"]

BODY = b"""<!DOCTYPE html><html lang="en"><title>Tides</title><body>
<nav><a href="/">Home</a> <a href="/news/">News</a> <a href="/about">About us</a></nav>
<main><h1>Tide tables</h1><p>The tables of the harbour are printed every spring, and sold at the quay.
They name the hours of high water for every day of the year.</p></main>
<footer><p>Printed by the harbour office. Telephone 555 0199.</p></footer></body></html>"""

RULES = """
[collection.harbour]
title = "The harbour"
seeds = ["http://harbour.example/", "http://quay.example/a,b"]
interval = "12h"
keep = "changes"
rights = "Harbour office"
subject = ["harbours", "tides"]

[collection.town]
seeds = "http://town.example/"
language = "en"

[[rule]]
match = "*.example/news/*"
subject = "news"

[[rule]]
match = "harbour.example/news/old*"
rights = "nobody"

[[rule]]
labels = ["footer"]
rights = "Printers"

[[rule]]
collection = "town"
labels = ["footer"]
rights = "Town hall"
"""
HARBOUR = {"isPartOf": ("harbour",), "rights": ("Harbour office",), "subject": ("harbours", "tides")}
SEEDS = 'seeds = "http://a.example/"\n'


@pytest.fixture(params=["sqlite", pytest.param("mongodb", marks=pytest.mark.long)])
def uri(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/archive.db"
    return str(request.getfixturevalue("mongo_uri"))


def config(uri: str, rules: str = RULES, **others: str) -> ArchiveConfig:
    return ArchiveConfig(uri=uri, collections=UserFile("rules.toml", rules), **others)


def page(url: str, hours: float = 0, body: bytes = BODY) -> Page:
    return Page(
        url, at(0) + timedelta(hours=hours), Outcome.FETCHED, 200, (("Content-Type", "text/html"),), body
    )


@pytest.fixture
def archive(uri: str) -> Iterator[Archive]:
    with Archive.open(config(uri)) as archive:
        yield archive


def stored(archive: Archive, each: Page) -> dict[str, tuple[str, ...]]:
    """Store a page, and return the metadata of its capture."""
    return dict(archive.add(archive.segment(each)).metadata.terms)


def test_metadata_are_made_by_rules_that_the_administrator_sets(archive: Archive) -> None:
    assert stored(archive, page("http://harbour.example/tides")) == HARBOUR
    assert stored(archive, page("http://other.example/tides")) == {}
    assert stored(archive, page("http://other.example/news/1")) == {"subject": ("news",)}


def test_a_page_inherits_from_its_site_and_then_from_each_pattern_that_covers_it(archive: Archive) -> None:
    assert stored(archive, page("http://harbour.example/news/1")) == HARBOUR | {"subject": ("news",)}
    old = stored(archive, page("http://harbour.example/news/old/1"))
    assert old == HARBOUR | {"subject": ("news",), "rights": ("nobody",)}


def test_a_block_inherits_from_its_page_and_then_from_the_rules_for_its_label(archive: Archive) -> None:
    capture = archive.add(archive.segment(page("http://town.example/tides")))
    by_label = {block.label: dict(capture.metadata.of(block.label)) for block in capture.blocks}
    assert by_label[Label.MAIN] == {"isPartOf": ("town",), "language": ("en",)}
    assert by_label[Label.FOOTER] == by_label[Label.MAIN] | {"rights": ("Town hall",)}


def test_metadata_are_part_of_the_version_and_stay_when_the_rules_are_gone(uri: str) -> None:
    url = "http://harbour.example/tides"
    with Archive.open(config(uri)) as archive:
        made = archive.add(archive.segment(page(url))).metadata
    with Archive.reader(config(uri, "")) as reader:
        capture = reader.at(url, None)
        assert reader.metadata(url, reader.seen(capture)) == made
        assert reader.body(capture) == BODY
    with Archive.open(config(uri, "")) as archive:
        again = archive.add(archive.segment(page(url, 1)))
    assert again.metadata == made


def test_rules_of_today_hold_for_what_was_archived_before(uri: str) -> None:
    url = "http://cdn.example/tides"
    with Archive.open(config(uri, collection="harbour")) as archive:
        assert stored(archive, page(url)) == HARBOUR
    later = config(uri, RULES.replace("Harbour office", "Public domain"))
    with Archive.reader(later) as reader:
        version = reader.seen(reader.at(url, None))
        assert reader.metadata(url, version).terms["rights"] == ("Public domain",)


def test_equal_content_has_equal_metadata_and_takes_no_space_twice(uri: str) -> None:
    url = "http://harbour.example/tides"
    with Archive.open(config(uri)) as archive:
        first, second = (archive.add(archive.segment(page(url, hours))) for hours in (0, 1))
        edited = archive.add(archive.segment(page(url, 2, BODY.replace(b"0199", b"0100"))))
    assert first.metadata == second.metadata == edited.metadata
    assert second.stored_bytes == 0
    assert edited.stored_bytes < 100


def test_a_collection_may_have_every_argument_of_a_crawl() -> None:
    own = {"seeds", "collection"}
    assert set(ARGUMENTS) - {"topic", "focus", "seeds"} == Arguments.READERS.keys() - own
    assert {"topic", "focus"} <= TopicArguments.READERS.keys()
    assert not set(TERMS) & set(ARGUMENTS)


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("x = 1\ny = z\n", r"^rules\.toml is not TOML: .*line 2"),
        ("x = 1", r"^rules\.toml: there is no 'x' here"),
        ("collection = 3", r"write a table \[collection\.NAME\]"),
        ("\n[collection.a]\nseed = 'http://a.example/'", r"line 2, collection a: .*did you mean 'seeds'\?$"),
        ("[collection.a]\n", r"line 1, collection a, seeds: write where"),
        ("[collection.'a b']\n" + SEEDS, r"collection a b: 'a b' is no name"),
        ("[collection.a]\nseeds = 'mailto:a@b.example'", r"line 1, collection a: "),
        ("[collection.a]\nscope = 'planet'\n" + SEEDS, r"collection a: scope is 'planet'"),
        ("[collection.a]\ninterval = 'soon'\n" + SEEDS, r"collection a, interval is 'soon'"),
        ("[collection.a]\nrights = ''\n" + SEEDS, r"collection a, rights: write a text"),
        ("[collection.a]\ndepth = 1.5\n" + SEEDS, r"collection a, depth is 1\.5"),
        ("[collection.a]\ntitle = 5\n" + SEEDS, r"collection a, title is 5: write a text"),
        ("rule = 1", r"write a table \[\[rule\]\] for each rule"),
        ("[[rule]]\nrights='a'\n[[rule]]\nmatch='b'", r"line 3, rule 2 sets no term"),
        ("[[rule]]\nright = 'a'", r"line 1, rule 1: .*did you mean 'rights'\?$"),
        ("[[rule]]\nrights = 'a'\nlabels = 'foot'", r"labels: there is no 'foot'.*did you mean 'footer'\?$"),
        ("[[rule]]\nrights = 'a'\ncollection = 'b'", r"rule 1, collection: there is no 'b' here"),
        ("[[rule]]\nrights = 'a'\nmatch = ''", r"rule 1, match: write which pages"),
    ],
)
def test_an_error_names_its_line_and_its_table(rules: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_collections(UserFile("rules.toml", rules))


def test_all_errors_of_a_file_are_reported_at_once() -> None:
    errors: list[str] = []
    text = "x = 1\n[collection.a]\n[collection.b]\n" + SEEDS + "[[rule]]\n"
    found = read_collections(UserFile("rules.toml", text), lambda error: errors.append(str(error)))
    assert len(errors) == 3, errors
    assert list(found.collections) == ["b"]


def test_pages_of_a_collection_are_visited_at_its_interval(archive: Archive) -> None:
    for url in ("http://harbour.example/", "http://town.example/"):
        for hours in (0, 24, 48):
            archive.add(archive.segment(page(url, hours)))
    found = {each.url: each for each in schedule(archive)}
    steady = found["http://harbour.example/"]
    assert (steady.interval, steady.why) == (0.5, "every 12.0 h in collection harbour")
    assert (steady.estimate.visits, steady.estimate.changes) == (2, 0)
    assert "collection" not in found["http://town.example/"].why
    assert next_round(archive, collection="town").due == ["http://town.example/"]
    with pytest.raises(UsageError, match=r"there is no collection 'twn' in rules\.toml: did you mean 'town'"):
        next_round(archive, collection="twn")


@pytest.mark.parametrize("policy", Policy)
def test_other_pages_get_no_visits_if_the_collections_use_up_the_budget(
    archive: Archive, policy: Policy
) -> None:
    for url in ("http://harbour.example/", "http://town.example/"):
        for hours in (0, 24, 48):
            archive.add(archive.segment(page(url, hours)))
    for budget in (2.0, 1.5):
        found = {each.url: each for each in schedule(archive, budget, policy)}
        assert found["http://harbour.example/"].interval == 0.5
        left = found["http://town.example/"]
        if policy is not Policy.ADAPTIVE:
            assert (left.next, left.why) == (None, "the collections use up the budget")
        assert next_round(archive, budget, policy).due[0] == "http://harbour.example/"


@pytest.fixture
def rules(tmp_path: Path, site: MockServer) -> Path:
    path = tmp_path / "rules.toml"
    site.routes["/"] = Reply(BODY)
    site.routes["/news/"] = Reply(BODY.replace(b"Tide", b"News of tide"))
    path.write_text(
        f"""
[collection.harbour]
seeds = ["{site.url()}"]
depth = 3
level = 2
requisites = false
contact = "https://harbour.example/contact"
rights = "Harbour office"
subject = ["harbours", "tides"]
keep = "ends"

[[rule]]
match = "127.0.0.1/news/*"
subject = "news"

[[rule]]
labels = "footer"
rights = "Printers"
""",
        "utf-8",
    )
    return path


def test_a_crawl_takes_the_arguments_of_its_collection_and_its_feed_has_the_metadata(
    crawl: Crawl, site: MockServer, rules: Path
) -> None:
    done = crawl("-s", f"ARCHIVE_COLLECTIONS={rules}", collection="harbour")
    assert done.code == 0, done.log
    front, news = done.of(site.url()), done.of(site.url("/news/"))
    assert front["level"] == 2
    assert front["metadata"] == {
        "isPartOf": ["harbour"],
        "rights": ["Harbour office"],
        "subject": ["harbours", "tides"],
    }
    assert news["metadata"] == front["metadata"] | {"subject": ["news"]}
    own = {block["label"]: block["metadata"] for block in front["blocks"]["items"]}
    assert own["footer"] == front["metadata"] | {"rights": ["Printers"]}
    assert own["navigation"] is None
    missing = done.of(site.url("/about"))
    assert (missing["status"], missing["metadata"]) == (404, front["metadata"])
    assert all("+https://harbour.example/contact" in each.headers["User-Agent"] for each in site.asked)


def test_arguments_of_the_command_line_win(crawl: Crawl, site: MockServer, rules: Path) -> None:
    chosen = ("-s", f"ARCHIVE_COLLECTIONS={rules}", "-s", "ARCHIVE_CONTACT=me@harbour.example")
    done = crawl(*chosen, collection="harbour", depth=0, level=1)
    assert [record["url"] for record in done.records] == [site.url()]
    assert done.records[0]["level"] == 1
    assert all("+me@harbour.example" in each.headers["User-Agent"] for each in site.asked)


@pytest.mark.parametrize(
    ("given", "text", "said"),
    [
        ("harbor", "", "there is no collection 'harbor' in {}: did you mean 'harbour'?"),
        ("harbour", "depth = -1", "collection harbour, depth: depth is '-1'"),
        ("harbour", "[", "is not TOML"),
    ],
)
def test_a_wrong_collection_ends_a_crawl_before_it_begins(
    crawl: Crawl, site: MockServer, rules: Path, given: str, text: str, said: str
) -> None:
    whole = rules.read_text("utf-8")
    rules.write_text(whole.replace("depth = 3", text) if text else whole, "utf-8")
    done = crawl("-s", f"ARCHIVE_COLLECTIONS={rules}", collection=given)
    assert done.code == 2, done.log
    assert said.format(rules) in done.log
    assert not site.asked


def scrapy(crawl: Crawl, *words: str) -> CompletedProcess[str]:
    return run_scrapy((*words, "-s", f"ARCHIVE_URI={crawl.uri}"), environment={**os.environ})


def test_exports_name_terms_of_dublin_core(crawl: Crawl, site: MockServer, rules: Path) -> None:
    assert crawl("-s", f"ARCHIVE_COLLECTIONS={rules}", collection="harbour").code == 0
    out = crawl.folder / "out"
    assert not scrapy(crawl, "export", "jsonl", "--output", f"{out}.jsonl").returncode
    lines = [json.loads(line) for line in Path(f"{out}.jsonl").read_text("utf-8").splitlines()]
    front = next(line for line in lines if line["type"] == "capture" and line["url"] == site.url())
    assert front["metadata"]["rights"] == ["Harbour office"]
    blocks = [line for line in lines if line["type"] == "block" and line["label"] == "footer"]
    assert {tuple(block["metadata"]["rights"]) for block in blocks} == {("Printers",)}
    assert not scrapy(crawl, "export", "html", site.url(), "--output", f"{out}.html").returncode
    assert '<meta name="DCTERMS.rights" content="Harbour office">' in Path(f"{out}.html").read_text("utf-8")
    assert not scrapy(crawl, "export", "warc", "--output", str(out)).returncode
    records = warc_records(out)
    terms = [
        block
        for kind, uri, block in records
        if kind == "metadata" and uri == f"urn:metadata:{site.url('/news/')}"
    ]
    assert terms == [b"isPartOf: harbour\r\nrights: Harbour office\r\nsubject: news\r\n"]
    found = next(block for _, uri, block in records if uri == f"urn:blocks:{site.url()}")
    assert [b["metadata"]["rights"] for b in json.loads(found)["blocks"] if b["label"] == "footer"] == [
        ["Printers"]
    ]
    shown = scrapy(crawl, "extract", site.url())
    assert "    dcterms:subject: harbours; tides\n" in shown.stdout


def warc_records(folder: Path) -> list[tuple[str, str, bytes]]:
    """Return the type, the target and the block of each record of exported files."""
    from warcio.archiveiterator import ArchiveIterator

    found = []
    for path in folder.glob("*.warc.gz"):
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream):
                uri = record.rec_headers.get_header("WARC-Target-URI") or ""
                found.append((record.rec_type, uri, record.raw_stream.read()))
    return found


def test_prune_takes_the_rule_of_a_collection(crawl: Crawl, site: MockServer, rules: Path) -> None:
    chosen = ("-s", f"ARCHIVE_COLLECTIONS={rules}")
    for number in range(3):
        site.routes["/"] = Reply(BODY.replace(b"spring", b"spring of %d" % number))
        assert crawl(*chosen, collection="harbour").code == 0
    done = scrapy(crawl, "prune", "--collection", "harbour", "--dry-run", *chosen)
    assert "1 version of 1 page would go" in done.stdout, done.stderr
    both = scrapy(crawl, "prune", site.url(), "--collection", "harbour", *chosen)
    assert both.returncode == 2


def test_check_rules_prints_every_error_or_what_the_file_says(rules: Path, site: MockServer) -> None:
    done = run_scrapy(("check-rules", str(rules), "--for", site.url("/news/1")))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[1:] == [
        "    dcterms:isPartOf: harbour",
        "    dcterms:rights: Harbour office",
        "    dcterms:subject: news",
        "    footer  dcterms:rights: Printers",
    ]
    text = rules.read_text("utf-8")
    rules.write_text(text.replace("depth = 3", 'depth = "far"\nfields = "no.toml"\nkeep = "x"', 1), "utf-8")
    rules.write_text(rules.read_text("utf-8").replace('keep = "ends"', "rigths = 'a'"), "utf-8")
    wrong = run_scrapy(("check-rules", str(rules)))
    assert wrong.returncode == 2
    assert "line 2, collection harbour: there is no 'rigths' here" in wrong.stderr
    rules.write_text(rules.read_text("utf-8").replace("rigths = 'a'", ""), "utf-8")
    wrong = run_scrapy(("check-rules", str(rules), "--json"))
    assert (wrong.returncode, len(json.loads(wrong.stdout)["errors"])) == (2, 2)
    assert "collection harbour, depth: depth is 'far'" in wrong.stderr
    assert "collection harbour: 'x' is no rule of retention" in wrong.stderr


def test_check_rules_needs_a_file(tmp_path: Path) -> None:
    done = run_scrapy(("check-rules", str(tmp_path / "none.toml")))
    assert (done.returncode, "cannot be read" in done.stderr) == (2, True)
    environment = {name: value for name, value in os.environ.items() if name != "ARCHIVE_COLLECTIONS"}
    done = run_scrapy(("check-rules",), environment=environment)
    assert (done.returncode, "which file?" in done.stderr) == (2, True)
