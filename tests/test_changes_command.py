"""scrapy changes and scrapy list as a user types them."""

from __future__ import annotations

import csv
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.exceptions import CorruptObject
from archivebot.frontier import Entry, open_frontier
from archivebot.jobs.changes import changed_pages
from archivebot.jobs.frontier import since_of
from archivebot.models import Link, Outcome
from tests.commands import run_scrapy
from tests.conftest import Crawl
from tests.factories import html, make_page
from tests.mockserver import MockServer, Reply

Run = Callable[..., subprocess.CompletedProcess[str]]

SITE = "http://example.com/"
MENU = "<nav><a href=/>Home</a> <a href=/%s>%s</a></nav>"
TERN = "A tern dives for fish where the tide turns at noon. " * 6
OLD, NEW = "The harbour opens at six on weekdays.", "The harbour opens at eight on weekdays."


def page(text: str, menu: str = "news") -> bytes:
    return html(TERN, text).replace(b"<body>", b"<body>" + (MENU % (menu, menu)).encode())


def visits(day: float) -> dict[str, dict[str, Any]]:
    """What the pages of the site are on two days."""
    later = bool(day)
    moved = {"outcome": Outcome.REDIRECT, "status": 301, "location": f"{SITE}new"}
    gone = {"outcome": Outcome.GONE, "status": 410}
    return {
        "": {"body": page("Home", "events" if later else "news")},
        "contact": {"body": page("Write to us", "events" if later else "news")},
        "hours": {"body": page(NEW if later else OLD)},
        "same": {"body": page("Nothing happens here.")},
        "old": moved if later else {"body": page("This page moves.")},
        "fete": gone if later else {"body": page("The fete is on Sunday.")},
        "back": {"body": page("Here it is again.")} if later else gone,
        "down": {"outcome": Outcome.TIMEOUT, "status": None} if later else {"body": page("Slow.")},
        **({"new": {"body": page("This page is new.")}} if later else {}),
    }


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An archive of a site on three days, and of another site."""
    uri = f"sqlite:///{tmp_path_factory.mktemp('changes')}/a.db"
    with Archive.open(ArchiveConfig(uri=uri)) as archive:
        archive.add(archive.segment(make_page(page("Here it is."), -10, url=f"{SITE}back")))
        archive.add(archive.segment(make_page(page("Far away."), 10, url="http://example.org/")))
        for day in (0, 10):
            for path, visit in visits(day).items():
                archive.add(archive.segment(make_page(day=day, url=SITE + path, **visit)))
    return uri


@pytest.fixture(scope="module")
def run(uri: str) -> Run:
    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return run_scrapy(command, environment={**os.environ, "ARCHIVE_URI": uri})

    return run


def records(result: subprocess.CompletedProcess[str], code: int = 0) -> dict[str, dict[str, Any]]:
    assert result.returncode == code, result.stderr
    return {record["url"].removeprefix(SITE): record for record in json.loads(result.stdout)}


def test_each_page_is_compared_with_its_state_at_the_time(run: Run) -> None:
    found = records(run("changes", "--since", "2026-01-05", "--json"))
    kinds = {url: (each["kind"], each["from"], each["to"]) for url, each in found.items()}
    assert kinds == {
        "": ("touched", 1, 2),
        "contact": ("touched", 1, 2),
        "hours": ("changed", 1, 2),
        "old": ("moved", 1, None),
        "fete": ("gone", 1, None),
        "back": ("back", 1, 2),
        "new": ("new", None, 1),
        "http://example.org/": ("new", None, 1),
    }
    assert found["hours"]["reason"] == "The harbour opens at [-six-]{+eight+} on weekdays."
    assert found["old"]["reason"] == f"{SITE}new"
    assert {each["captured_at"] for each in found.values()} == {"20260111000000"}


def test_pages_with_the_same_change_are_one_group(run: Run) -> None:
    found = records(run("changes", "--since", "2026-01-05", "--json"))
    assert found[""]["group"] == found["contact"]["group"]
    assert {url for url, each in found.items() if each["group"]} == {"", "contact"}
    shown = run("changes", "--since", "2026-01-05").stdout.splitlines()
    assert shown[0] == "example.com: 1 new, 1 changed, 2 touched, 1 gone, 1 moved, 1 back"
    assert sum("touched" in line for line in shown[1:]) == 1
    assert any(f"{SITE} and 1 more" in line for line in shown)


def test_only_some_changes_are_shown(run: Run) -> None:
    content = records(run("changes", "--since", "2026-01-05", "--content-only", "--json"))
    assert "touched" not in {each["kind"] for each in content.values()}
    other = records(run("changes", "--since", "2026-01-05", "--site", "example.org", "--json"))
    assert list(other) == ["http://example.org/"]
    all_time = records(run("changes", "--since", "2025", "--json"))
    assert {each["kind"] for each in all_time.values()} == {"new", "gone"}
    assert {url for url, each in all_time.items() if each["kind"] == "gone"} == {"fete"}


def test_a_site_that_is_not_in_the_archive_is_named(run: Run) -> None:
    done = run("changes", "--since", "2025", "--site", "nowhere.example")
    assert (done.returncode, "has no page of nowhere.example" in done.stderr) == (1, True)


def test_rows_for_a_spreadsheet(run: Run) -> None:
    rows = list(csv.DictReader(run("changes", "--since", "2026-01-05", "--csv").stdout.splitlines()))
    assert len(rows) == 8
    assert rows[0]["url"] == SITE
    assert rows[0]["time"].translate(dict.fromkeys(map(ord, "-:TZ"))) == rows[0]["captured_at"]
    assert {row["to"] for row in rows if row["kind"] in ("gone", "moved")} == {""}


def test_no_change_is_exit_code_1_and_wrong_use_2(run: Run) -> None:
    nothing = run("changes", "--since", "2026-02", "--json")
    assert (nothing.returncode, json.loads(nothing.stdout)) == (1, [])
    assert run("changes", "--since", "2026-02").stderr.endswith("changed since 2026-02-01 00:00:00\n")
    for options in (["--since", "soon"], ["--json", "--csv"], []):  # no crawl made this archive
        wrong = run("changes", *options)
        assert (wrong.returncode, wrong.stdout) == (2, ""), options
    assert "there was no crawl yet: give a time, such as --since 7d" in wrong.stderr


def test_a_round_without_a_page_is_no_last_crawl(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path}/frontier.db"
    began = []
    for name, entries in (("site-1", [Entry(SITE, "example.com", 1.0)]), ("recrawl-1", [])):
        with closing(open_frontier(uri, name)) as frontier:
            frontier.begin("{}", None)
            frontier.add(entries)
            began += [crawl.began for crawl in frontier.crawls() if crawl.name == name]
    assert began[0] < began[1]
    assert since_of("last", uri) == datetime.fromtimestamp(began[0], UTC)


@pytest.mark.long
def test_the_last_crawl_is_where_changes_begin(site: MockServer, crawl: Crawl) -> None:
    site.routes = {"/": [Reply(page(OLD)), Reply(page(NEW))]}
    assert crawl(seeds=site.url()).code == 0
    assert [each["kind"] for each in crawl.ask("changes")] == ["new"]
    crawled = crawl(seeds=site.url())
    assert "next:    scrapy changes" in crawled.log
    assert [each["kind"] for each in crawl.ask("changes")] == ["changed"]
    assert crawl(seeds=site.url()).code == 0
    none = run_scrapy(("changes", "-s", f"ARCHIVE_URI={crawl.uri}"))
    assert none.stderr.endswith("; --since 30d looks further back\n")


def test_pages_are_listed_with_their_last_capture(run: Run) -> None:
    found = records(run("list", "--json"))
    assert len(found) == 10
    assert found["fete"] == {
        "url": f"{SITE}fete",
        "title": "Page",
        "captured_at": "20260111000000",
        "status": 410,
        "kind": "gone",
        "versions": 1,
    }
    assert found["hours"]["versions"] == 2


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--kind", "gone"], {"fete"}),
        (["--status", "301"], {"old"}),
        (["--site", "http://example.org/x"], {"http://example.org/"}),
        (["--since", "2026-01-11T00:00", "--kind", "new"], {"new", "http://example.org/"}),
        (["--topic", "fete"], {"fete"}),
    ],
)
def test_some_pages_are_listed(run: Run, options: list[str], expected: set[str]) -> None:
    assert set(records(run("list", *options, "--json"))) == expected


def test_a_host_is_named_once_also_beside_its_pages_with_www(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path}/a.db"
    urls = [f"http://{host}/{name}" for name in "abc" for host in ("www.example.com", "example.com")]
    with Archive.open(ArchiveConfig(uri=uri)) as archive:
        for day, text in ((0, OLD), (10, NEW)):
            for url in urls:
                archive.add(archive.segment(make_page(page(text), day, url=url)))
    given = ("--since", "2026-01-02", "-s", f"ARCHIVE_URI={uri}")
    lines = run_scrapy(["changes", *given]).stdout.splitlines()
    hosts = [line for line in lines if line.startswith(("www.", "example."))]
    assert sorted(hosts) == ["example.com: 3 changed", "www.example.com: 3 changed"]
    assert sum("and 2 more" in line for line in lines) == 2


@pytest.mark.parametrize("option", [("--status", "0"), ("--site", ""), ("--since", "")])
def test_an_option_that_is_empty_does_not_list_the_spiders(run: Run, option: tuple[str, str]) -> None:
    refused = run("list", *option)
    assert (refused.returncode, refused.stdout) == (2, "")


def test_a_list_without_options_is_that_of_scrapy(run: Run) -> None:
    assert run("list").stdout.split() == ["deepweb", "query", "recrawl", "site", "topic"]
    own = run_scrapy(["list"], program="archivebot")
    assert own.stdout.split() == ["deepweb", "query", "recrawl", "site", "topic"]
    assert own.stderr == "these are the spiders; archivebot list --pages lists the pages of the archive\n"
    assert run("list", "--pages").stdout.startswith("captured ")
    assert run("list", "--csv").stdout.startswith("url,title,captured_at,status,kind,versions,time\n")


def test_a_list_of_nothing_is_exit_code_1(run: Run, tmp_path: Path) -> None:
    nothing = run("list", "--status", "500", "--json")
    assert (nothing.returncode, json.loads(nothing.stdout)) == (1, [])
    assert run("list", "--json", "--csv").returncode == 2
    assert run("list", "--pages", "-s", f"ARCHIVE_URI=sqlite:///{tmp_path}/none.db").returncode == 1


def test_a_page_that_cannot_be_read_is_named_and_the_others_are_shown(uri: str, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    copy.write_bytes(Path(uri.removeprefix("sqlite:///")).read_bytes())
    with closing(sqlite3.connect(copy, isolation_level=None)) as database:
        database.execute(
            "UPDATE frame SET data = zeroblob(9) WHERE version ="
            " (SELECT max(version.id) FROM version JOIN page ON page.id = page WHERE url = ?)",
            [f"{SITE}hours"],
        )
    settings = ("-s", f"ARCHIVE_URI=sqlite:///{copy}")
    found = run_scrapy(("changes", "--since", "2026-01-05", "--json", *settings))
    assert set(records(found, CorruptObject.exit_code)) == {
        "",
        "contact",
        "old",
        "fete",
        "back",
        "new",
        "http://example.org/",
    }
    assert f"{SITE}hours is left out: version 2 " in found.stderr
    with closing(sqlite3.connect(copy, isolation_level=None)) as database:
        page = "SELECT id FROM page WHERE url = ?"
        database.execute(f"UPDATE capture SET visits = zeroblob(9) WHERE page = ({page})", [f"{SITE}contact"])
    listed = run_scrapy(("list", "--json", *settings))
    assert f"{SITE}contact is left out: " in listed.stderr
    shown = records(listed, CorruptObject.exit_code)
    assert ("fete" in shown, "contact" in shown) == (True, False)
    unbuffered = (sys.executable, "-u", "-m", "scrapy", "list", "--csv", *settings)
    ran = subprocess.run(
        unbuffered, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False
    )
    both = ran.stdout.splitlines()
    told = [f"{SITE}contact is left out" in line for line in both].index(True)
    assert 1 < told < len(both) - 1  # between the rows before and those after, which come as they are read
    indexed = run_scrapy(("index", *settings))
    assert indexed.returncode == CorruptObject.exit_code
    assert "pages read" in indexed.stdout


def test_the_pages_with_links_to_new_pages_are_found_in_one_pass(tmp_path: Path) -> None:
    config = ArchiveConfig(uri=f"sqlite:///{tmp_path}/archive.db")
    with Archive.open(config) as archive:
        for number in range(6):
            links = (Link(f"{SITE}{number + 1}"), Link(f"{SITE}{number}"))
            new = replace(make_page(html(f"Page {number}."), 9, url=f"{SITE}{number}"), links=links)
            archive.add(archive.segment(new))
        database: sqlite3.Connection = archive._store.database  # type: ignore[attr-defined]
        asked: list[str] = []
        damaged: dict[str, CorruptObject] = {}

        def origins() -> dict[str, str]:
            found = changed_pages(archive, datetime(2026, 1, 2, tzinfo=UTC), damaged=damaged.__setitem__)
            return {page.url.removeprefix(SITE): page.reason for page in found}

        database.set_trace_callback(asked.append)
        expected = {str(number): f"linked from {SITE}{number - 1}" for number in range(1, 6)}
        assert origins() == {"0": "a seed, or found without a link"} | expected
        assert sum("FROM link" in sql for sql in asked) == 1
        fourth = "SELECT source FROM link ORDER BY source DESC LIMIT 1 OFFSET 1"
        database.execute(f"UPDATE link SET sum = 0 WHERE source = ({fourth})")
        found = origins()
        assert (found["4"], found.get("5")) == (expected["4"], None)
        assert {f"{SITE}4", f"{SITE}5"} & damaged.keys() == {f"{SITE}5"}


def test_the_same_letters_in_other_code_points_are_the_same_text(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path}/a.db"
    text, link = (
        "Die Bücherei öffnet um sechs, auch für Jörg.",
        '<a href="/x">Über uns</a><img src=a alt="Tür">',
    )
    new = "Heute ist die Bücherei zu."
    composed = page(f"{text} {link}").replace(b"<title>Page", "<title>Bücher".encode())
    decomposed = normalize("NFD", composed.decode()).encode()
    later = decomposed.replace(b"</body>", f"<p>{new}</p></body>".encode())
    with Archive.open(ArchiveConfig(uri=uri)) as archive:
        for name, bodies in (("same", (composed, decomposed)), ("new", (composed, later))):
            for day, body in enumerate(bodies):
                archive.add(archive.segment(make_page(body, day, url=f"{SITE}{name}")))
    (tmp_path / "rules.toml").write_text('[[rule]]\nname = "all"\nchanges = ["changed"]\n')

    def asked(*words: str) -> Any:
        done = run_scrapy((*words, "--json"), environment={**os.environ, "ARCHIVE_URI": uri})
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    delta = asked("delta", f"{SITE}same")
    assert {each["change"] for each in delta["changes"]} <= {"MARKUP", "UNCHANGED"}
    assert (delta["kind"], delta["attributes"]) == ("furniture", [])
    changed = {each["url"]: each for each in asked("changes", "--since", "2026-01-01T12:00:00")}
    assert changed[f"{SITE}same"]["kind"] == "touched"
    assert changed[f"{SITE}new"]["reason"] == f"+ {new}"
    (alert,) = asked("watch", "--test", str(tmp_path / "rules.toml"))["alerts"]
    assert [each["url"] for each in alert["pages"]] == [f"{SITE}new"]


@pytest.mark.parametrize(
    "words",
    [
        ("changes", "--since", "2020-01-01"),
        ("prune", "--keep", "ends"),
        ("prune", "--keep", "ends", "--dry-run"),
        ("list", "--kind", "changed"),
        ("list", "--json", "--kind", "changed"),
        ("schedule",),
        ("schedule", "--due"),
        ("watch", "--test", "--json", "rules.toml"),
        ("rank", "--by", "relevance", "--topic", "day"),
        ("duplicates",),
        ("duplicates", "--pages"),
        ("duplicates", "--jaccard", "0.5"),
        ("index",),
        ("export", "cdxj", "--output", "-"),
    ],
)
def test_damaged_pages_are_named_and_the_others_are_read(tmp_path: Path, words: tuple[str, ...]) -> None:
    uri = f"sqlite:///{tmp_path}/a.db"
    urls = [f"{SITE}{number}" for number in range(4)]
    with Archive.open(ArchiveConfig(uri=uri)) as archive:
        for day in range(3):
            for url in urls:
                archive.add(archive.segment(make_page(page(f"{url} of day {day}"), day, url=url)))
    (tmp_path / "rules.toml").write_text('[[rule]]\nname = "all"\n')
    with closing(sqlite3.connect(tmp_path / "a.db")) as database, database:
        assert database.execute("UPDATE page SET lineages = lineages + 1 WHERE id IN (1, 3)").rowcount == 2
    words = tuple(word.replace("rules.toml", f"{tmp_path}/rules.toml") for word in words)
    done = run_scrapy(words, environment={**os.environ, "ARCHIVE_URI": uri})
    assert done.returncode == 4, done.stderr
    named = [f"{url} does not have its checksum or its key" in done.stderr for url in urls]
    assert named == [True, False, True, False], done.stderr
    if words == ("index",):
        assert "2 pages read" in done.stdout
    else:
        assert [url in done.stdout for url in urls] == [False, True, False, True], done.stdout
