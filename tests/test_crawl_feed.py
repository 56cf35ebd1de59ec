"""Feeds: readable records, one per capture."""

import csv
import io
import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from jsonschema import Draft202012Validator

from archivebot.crawl.feed import (
    LONGEST_CELL,
    CaptureCsvExporter,
    CaptureJsonExporter,
    CaptureJsonLinesExporter,
)
from archivebot.models import Change, Kind, Label, Outcome, QualityKind
from archivebot.terminal import UNSAFE
from tests.commands import run_scrapy
from tests.conftest import ROOT, Crawl
from tests.mockserver import MockServer, Reply, html
from tests.test_records_capture import CAPTURE, RECORD


def exported(exporter: Any, *items: Any) -> str:
    file = io.BytesIO()
    writer = exporter(file, encoding="utf-8")
    writer.start_exporting()
    for item in items:
        writer.export_item(item)
    writer.finish_exporting()
    file.flush()
    return file.getvalue().decode("utf-8")


def test_json_and_json_lines_hold_the_record() -> None:
    assert json.loads(exported(CaptureJsonExporter, CAPTURE, CAPTURE)) == [RECORD, RECORD]
    assert json.loads(exported(CaptureJsonLinesExporter, CAPTURE)) == RECORD


def test_csv_counts_the_blocks() -> None:
    (row,) = csv.DictReader(io.StringIO(exported(CaptureCsvExporter, CAPTURE)))
    assert (row["url"], row["blocks"]) == (CAPTURE.url, "1")


def test_other_items_pass_unchanged() -> None:
    assert json.loads(exported(CaptureJsonLinesExporter, {"a": 1})) == {"a": 1}


def test_a_crawl_keeps_the_labels_and_names_the_topics_of_blocks(site: MockServer, crawl: Crawl) -> None:
    menu = "<nav><ul><li><a href='/'>Home</a></li><li><a href='/#b'>News</a></li></ul></nav>"
    prose = f"<p>{'The ferry runs all year. ' * 20}</p>"
    for page, last in (("/", prose), ("/form", "<form><input name=q> Search</form>")):
        site.routes[page] = Reply(f"<html><body>{menu}{prose}{last}</body></html>".encode())
    records = crawl(seeds=f"{site.url()},{site.url('/form')}", pages=2).records
    labels = {"/": ["navigation", "main", "main"], "/form": ["navigation", "main", "form"]}
    for record in records:
        items, expected = record["blocks"]["items"], labels[urlsplit(record["url"]).path]
        assert [item["label"] for item in items] == expected
        assert items[0]["topic"] == "Home News"
        assert items[1]["topic"] == "ferry runs year"
        assert [item["role"] for item in items] == [
            "content" if label == "main" else "furniture" for label in expected
        ]
    assert len(records) == 2


FIELDS = '[[site]]\nmatch = "*"\nfields = {leaves = ".t", lines = {css = "li", all = true}}\n'
MENU = "<!DOCTYPE html><title>Ferries | Port</title><ul><li>Home</li><li>News</li></ul>"
STORY = "<p>The ferry sails to the islands every day, also in winter, as long as there is no storm.</p>"


def test_a_feed_tells_people_what_changed(site: MockServer, crawl: Crawl) -> None:
    (crawl.folder / "fields.toml").write_text(FIELDS, "utf-8")
    visits = (
        Reply(f"{MENU}{STORY}<p class=t>Departure at 8</p>".encode()),
        Reply(f"{MENU}{STORY}<p class=t>=Departure at 9</p><p>A new boat comes</p>".encode()),
        Reply(status=304),
    )
    found, rows = [], []
    for site.routes["/"] in visits:
        feed = crawl.folder / "out.csv"
        crawled = crawl("-O", str(feed), seeds=site.url(), fields=f"@{crawl.folder}/fields.toml", pages=1)
        found.extend(crawled.records)
        rows.extend(csv.DictReader(io.StringIO(feed.read_text("utf-8"))))
    new, changed, same = found
    assert [record["kind"] for record in found] == ["new", "changed", "revisit"]
    assert [record["title"] for record in found] == ["Ferries | Port"] * 3
    for record in found:
        when = datetime.strptime(record["captured_at"], "%Y%m%d%H%M%S")
        assert record["time"] == f"{when.isoformat()}Z"
    assert (new["changes"], same["changes"], same["blocks"]["items"]) == ([], [], [])
    assert len(new["blocks"]["items"]) == 3
    assert "Departure" in changed["reason"]
    changes = {change["change"]: change for change in changed["changes"]}
    assert (changes["MODIFIED"]["before"], changes["MODIFIED"]["after"]) == (
        "Departure at 8",
        "=Departure at 9",
    )
    assert (changes["ADDED"]["before"], changes["ADDED"]["after"]) == (None, "A new boat comes")
    assert {item["change"] for item in changed["blocks"]["items"]} == changes.keys()
    assert [list(row)[:10] for row in rows] == [
        ["url", "time", "title", "kind", "status", "reason", "changes", "labels", "before", "after"]
    ] * 3
    row = rows[1]
    assert (row["changes"], row["labels"], row["before"]) == ("2", "main", "Departure at 8")
    assert row["after"] == "'=Departure at 9\n\nA new boat comes"
    assert (row["fields.leaves"], row["fields.lines"]) == ("'=Departure at 9", "Home\nNews")
    assert json.loads(row["fields"]) == changed["fields"]


def test_a_removed_block_is_in_the_feed_of_a_page_that_turns_back(site: MockServer, crawl: Crawl) -> None:
    short, long = f"{MENU}{STORY}".encode(), f"{MENU}{STORY}<p>A new boat comes in May</p>".encode()
    changes = []
    for body in (short, long, short):
        site.routes["/"] = Reply(body)
        (record,) = crawl(seeds=site.url(), pages=1).records
        changes.append([(change["change"], change["before"]) for change in record["changes"]])
    assert record["version"] == 1
    assert changes == [[], [("ADDED", None)], [("REMOVED", "A new boat comes in May")]]


def test_every_record_of_a_feed_fits_the_schema_of_the_documents(site: MockServer, crawl: Crawl) -> None:
    schema = json.loads((ROOT / "docs/capture.schema.json").read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    check = Draft202012Validator(schema)
    check.validate(RECORD)
    site.routes |= {
        "/moved": Reply(status=301, headers=(("Location", "/"),)),
        "/gone": Reply(b"<p>gone", 410),
        "/bad": Reply(raw=b"no answer"),
    }
    kinds = set()
    for more in ("", "<p>A new boat comes in May</p>"):
        site.routes["/"] = html("/moved", "/gone", "/bad", text=STORY + more)
        for record in crawl(seeds=site.url()).records:
            check.validate(record)
            kinds.add(record["kind"])
    assert kinds >= {"new", "changed", "redirect"}
    stated = schema["properties"]
    for name, words in (("kind", Kind), ("outcome", Outcome)):
        assert stated[name]["enum"] == [word.value for word in words]
    assert schema["$defs"]["change"]["enum"] == [word.value for word in Change]
    assert schema["$defs"]["label"]["enum"] == [*(word.value for word in Label), None]
    assert stated["quality"]["enum"] == [*(word.value for word in QualityKind), None]
    assert all("description" in each or "$ref" in each for each in stated.values())


@pytest.mark.parametrize("wrong", [{"kind": "other"}, {"time": "yesterday"}, {"status": "200"}, {"more": 1}])
def test_the_schema_refuses_other_records(wrong: dict[str, Any]) -> None:
    schema = json.loads((ROOT / "docs/capture.schema.json").read_text("utf-8"))
    assert not Draft202012Validator(schema).is_valid(RECORD | wrong)


def test_a_long_text_is_cut_where_a_spreadsheet_would_drop_it() -> None:
    (edit,) = CAPTURE.edits
    long = replace(CAPTURE, edits=(replace(edit, after="a" * (LONGEST_CELL + 1)),))
    (row,) = csv.DictReader(io.StringIO(exported(CaptureCsvExporter, long)))
    assert row["after"] == "a" * (LONGEST_CELL - 1) + "…"
    assert (
        len(json.loads(exported(CaptureJsonLinesExporter, long))["changes"][0]["after"]) == LONGEST_CELL + 1
    )


def test_a_csv_with_the_mark_of_utf_8_is_one_that_excel_reads(site: MockServer, tmp_path: Path) -> None:
    site.routes["/"] = Reply("<title>日本 é</title><p>مرحبا".encode())
    words = ["crawl", "site", f"-aseeds={site.url()}", "-s", f"ARCHIVE_URI=sqlite:///{tmp_path}/a.db"]
    done = run_scrapy([*words, "-O", f"{tmp_path}/o.csv", "-s", "FEED_EXPORT_ENCODING=utf-8-sig"])
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "o.csv").read_bytes()
    assert text.startswith(b"\xef\xbb\xbfurl,time,title,")
    assert text.count(b"\xef\xbb\xbf") == 1
    assert "日本 é" in text.decode("utf-8-sig")


def test_a_crawl_writes_json_as_well(site: MockServer, crawl: Crawl) -> None:
    site.routes["/"] = html(text="wörter")
    crawled = crawl("-O", f"{crawl.folder}/out.json", seeds=site.url())
    text = (crawl.folder / "out.json").read_text("utf-8")
    assert json.loads(text) == crawled.records
    assert list(crawled.records[0]) == list(RECORD)


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", "\r=", "\n", " =", "＝"])
def test_no_cell_of_a_csv_is_a_formula(start: str) -> None:
    bad = f"{start}HYPERLINK(A1)"
    text = exported(CaptureCsvExporter, replace(CAPTURE, reason=bad, size=-5))
    (row,) = csv.DictReader(io.StringIO(text))
    assert row["reason"] == "'" + bad.replace("\r", "\ufffd")
    assert row["size"] == "-5", "numbers stay numbers"
    assert row["url"] == CAPTURE.url


def test_feeds_hold_nothing_that_steers_a_terminal_or_has_no_encoding() -> None:
    bad = replace(CAPTURE, reason="\x1b[2J\u202e\x9b\ud800")
    for exporter in (CaptureCsvExporter, CaptureJsonExporter, CaptureJsonLinesExporter):
        assert not UNSAFE.search(exported(exporter, bad).replace("\r\n", "\n"))
    assert json.loads(exported(CaptureJsonLinesExporter, bad))["reason"] == bad.reason
