"""Fields as a user meets them: a crawl and an ingest with selectors, the feed, scrapy extract and delta."""

from __future__ import annotations

import csv
import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands import run_scrapy
from tests.conftest import Crawl
from tests.mockserver import MockServer, Reply
from tests.test_ingest_links import exchange, record

FIELDS = """
[[site]]
match = "*/tern*"
watch = "#stock"
[site.fields]
name = "h1"
price = { css = ".price", type = "number" }
tags = { css = "li", all = true }
"""
OTHER = '[[site]]\nmatch = "*"\nfields.stock = { css = "#stock", type = "number" }\n'


def tern(price: str = "12", stock: int = 5) -> Reply:
    body = f"<h1>The <b>tern</b></h1><p>{STORY * 8}</p><p class=price>{price} EUR</p><ul><li>bird<li>sea</ul>"
    return Reply(f"<html><title>Tern</title>{body}<footer id=stock>{stock} left</footer></html>".encode())


VALUES = {"name": "The tern", "price": 12, "tags": ["bird", "sea"]}
STORY = "A tern dives for fish in the sea, where the water is clear. "
SUMMARY = f"{STORY}{STORY}".strip()


@pytest.fixture
def fields(tmp_path: Path) -> Callable[..., str]:
    """Write a fields file and return its argument."""

    def write(text: str, name: str = "fields.toml") -> str:
        (tmp_path / name).write_text(text, "utf-8")
        return f"@{tmp_path}/{name}"

    return write


def ask(crawl: Crawl, *command: str) -> subprocess.CompletedProcess[str]:
    return run_scrapy((*command, "-s", f"ARCHIVE_URI={crawl.uri}"))


@pytest.mark.long
def test_a_crawl_reads_fields_into_its_feed_and_the_delta_names_their_edits(
    site: MockServer, crawl: Crawl, fields: Callable[..., str]
) -> None:
    site.routes = {"/": Reply(b"<a href=/tern>tern</a>"), "/tern": [tern(), tern("13.50"), tern("13.50", 4)]}
    found = []
    for _ in range(3):
        found.append(crawl(seeds=site.url(), fields=fields(FIELDS)))
        time.sleep(1)  # commands print and take times in seconds
    url = site.url("/tern")
    first, second, third = (each.of(url) for each in found)
    assert first["fields"] == {"description": None, "summary": SUMMARY, **VALUES}
    assert found[0].of(site.url())["fields"] == {"description": None, "summary": None}
    assert (second["kind"], second["fields"]["price"]) == ("changed", 13.5)
    assert (third["kind"], third["fields"]) == ("changed", second["fields"]), "the watched part changed"

    delta = crawl.ask("delta", url, "1", "2")
    assert delta["reason"] == "field price: [-12-]{+13.5+}"
    assert [change for change in delta["attributes"] if change["attribute"] == "field"] == [
        {"attribute": "field", "of": "price", "before": "12", "after": "13.5", "content": True}
    ]
    assert "field  price\n  - 12\n  + 13.5\n" in ask(crawl, "delta", url, "1", "2").stdout
    assert crawl.ask("delta", url, "2", "3")["reason"] == "watched: [-5-]{+4+} left"
    given = crawl.ask("delta", url, "2", "3", "--fields", fields(OTHER, "other.toml"))
    assert given["reason"] == "field stock: [-5-]{+4+}"

    extracted = crawl.ask("extract", url)
    assert extracted == {
        "url": url,
        "captured_at": third["captured_at"],
        "version": 3,
        "fields": third["fields"],
        "metadata": {},
    }
    every = crawl.ask("extract", url, "--all")
    assert [each["fields"]["price"] for each in every] == [12, 13.5, 13.5]
    assert crawl.ask("extract", url, "--version", "2")["fields"] == second["fields"]
    assert crawl.ask("extract", url, "--at", first["captured_at"])["version"] == 1
    anew = crawl.ask("extract", url, "--all", "--fields", fields(OTHER, "other.toml"))
    assert [each["fields"] for each in anew] == [{"stock": 5}, {"stock": 5}, {"stock": 4}]
    lines = ask(crawl, "extract", url).stdout.splitlines()
    assert lines[0].endswith("  version 3")
    assert lines[1:] == [
        "    description:",
        f"    summary: {SUMMARY}",
        "    name: The tern",
        "    price: 13.5",
        "    tags:",
        "        bird",
        "        sea",
    ]


@pytest.mark.long
def test_extract_explains_what_it_lacks(site: MockServer, crawl: Crawl, fields: Callable[..., str]) -> None:
    site.routes = {"/tern": tern(), "/a.csv": Reply(b"a,1", type="text/csv")}
    url, other = site.url("/tern"), site.url("/a.csv")
    assert crawl(seeds=f"{url},{other}").of(other)["fields"] == {}
    done = ask(crawl, "extract", other)
    assert (done.returncode, "has no fields: it is no page" in done.stderr) == (1, True)
    assert "has no version 7" in ask(crawl, "extract", url, "--version", "7").stderr
    for name, why in (
        ("@", "@ names no fields file"),
        ("@none.toml", "'none.toml' cannot be read: No such file"),
    ):
        done = ask(crawl, "extract", url, "--fields", name)
        assert (done.returncode, why in done.stderr) == (2, True)
    done = ask(crawl, "extract", url, "--fields", fields('[[site]]\nmatch="a.example"\nfields.a="p"'))
    assert (done.returncode, "has no site that matches" in done.stderr) == (2, True)
    done = ask(crawl, "extract", url, "--fields", fields('[[site]]\nmatch="*"\nfields.a="p["'))
    assert (done.returncode, "site 1, fields.a: 'p[' is no CSS selector" in done.stderr) == (2, True)
    late = crawl.ask("extract", url, "-s", f"ARCHIVE_FIELDS={fields(FIELDS)[1:]}")
    assert late["fields"]["price"] == 12, "read from the archived bytes"


def test_an_error_in_the_file_ends_a_crawl_before_it_fetches(
    site: MockServer, crawl: Crawl, fields: Callable[..., str]
) -> None:
    site.routes = {"/": tern()}
    for file in (fields('[[site]]\nmatch="*"\nfields.a="p["'), "@none.toml", "fields.toml"):
        crawled = crawl(seeds=site.url(), fields=file)
        assert (crawled.code, crawled.records, site.asked) == (2, [], []), file
        assert "archivebot: " in crawled.log


def test_the_setting_names_the_file_as_well_and_a_csv_has_one_column(
    site: MockServer, crawl: Crawl, fields: Callable[..., str]
) -> None:
    site.routes = {"/tern": tern()}
    setting = f"ARCHIVE_FIELDS={fields(FIELDS)[1:]}"
    crawl("-s", setting, "-O", f"{crawl.folder}/out.csv", seeds=site.url("/tern"))
    with (crawl.folder / "out.csv").open(newline="", encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert json.loads(row["fields"]).items() >= VALUES.items()


def test_an_ingest_keeps_fields_like_a_crawl(
    site: MockServer, crawl: Crawl, fields: Callable[..., str]
) -> None:
    site.routes = {"/tern": tern()}
    url = site.url("/tern")
    path = crawl.folder / "a.warc.gz"
    path.write_bytes(
        record(exchange(url)[1], "response", url, "<urn:uuid:1>", Content_Type="application/http")
    )
    assert crawl.ask("ingest", str(path), "--fields", fields(FIELDS))["files"][0]["captures"] == 1
    assert crawl.ask("extract", url)["fields"]["price"] == 12


def test_a_crawl_names_the_field_whose_selector_fails_on_a_page(
    site: MockServer, crawl: Crawl, fields: Callable[..., str]
) -> None:
    site.routes = {"/tern": tern()}
    failing = """[[site]]
match = "127.0.0.1"
[site.fields]
name = "h1"
broken = { xpath = "//h1[re:test(., concat('(', string(.)))]" }
"""
    done = crawl(seeds=site.url("/tern"), fields=fields(failing))
    found = done.of(site.url("/tern"))["fields"]
    assert (found["name"], found["broken"]) == ("The tern", None)
    assert "[archivebot.fields.sites] WARNING: the field broken of" in done.log
