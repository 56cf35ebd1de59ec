"""Feeds: readable records, one per capture."""

import csv
import io
import json
from dataclasses import replace
from typing import Any

import pytest

from archivebot.crawl.feed import CaptureCsvExporter, CaptureJsonExporter, CaptureJsonLinesExporter
from archivebot.terminal import UNSAFE
from tests.conftest import Crawl
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
    labels = [["navigation", "main", "main"], ["navigation", "main", "form"]]
    for last, expected in zip((prose, "<form><input name=q> Search</form>"), labels, strict=True):
        site.routes["/"] = Reply(f"<html><body>{menu}{prose}{last}</body></html>".encode())
        (record,) = crawl(seeds=site.url()).records
        items = record["blocks"]["items"]
        assert [item["label"] for item in items] == expected
        assert items[0]["topic"] == "Home News"
        assert items[1]["topic"] == "ferry runs year"
        assert [item["role"] for item in items] == [
            "content" if label == "main" else "furniture" for label in expected
        ]


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
