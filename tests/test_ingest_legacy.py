"""Old pages and old records through scrapy ingest: their charsets, dates, status lines and headers."""

from __future__ import annotations

import codecs
from datetime import UTC, datetime
from pathlib import Path

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.models import Outcome
from tests.factories import html
from tests.test_ingest import TEXTS, URL, Ingest, Warc, ingest, record, record_of, uri

__all__ = ["ingest", "uri"]

RUSSIAN = "Порт открыт для судов круглый год, и лоцманы встречают каждое судно у маяка на входе в гавань."
JAPANESE = "港は一年中開いています。水先案内人は入り口の灯台ですべての船を迎え、岸壁まで案内します。"
CHINESE = "港口全年开放，引航员在入口的灯塔迎接每一艘船，并把它们带到码头。天气不好的时候请提前打电话。"
FRENCH = (
    "Le port est ouvert toute l’année, et les pilotes accueillent chaque navire près du phare à l’entrée."
)
GREEK = "Το λιμάνι είναι ανοιχτό όλο το χρόνο και οι πλοηγοί περιμένουν κάθε πλοίο στον φάρο της εισόδου."


# The text of a page, its charset, its byte-order mark, and what its Content-Type adds.
PAGES = [
    (RUSSIAN, "cp1251", b"", ""),
    (RUSSIAN, "koi8-r", b"", ""),
    (JAPANESE, "shift_jis", b"", ""),
    (JAPANESE, "euc_jp", b"", ""),
    (JAPANESE, "iso2022_jp", b"", ""),
    (CHINESE, "gb18030", b"", ""),
    (FRENCH, "cp1252", b"", ""),
    (FRENCH, "utf-8", b"", ""),
    (FRENCH, "utf-16-le", codecs.BOM_UTF16_LE, ""),
    (FRENCH, "utf-32-le", codecs.BOM_UTF32_LE, ""),
    (RUSSIAN, "utf-32-be", codecs.BOM_UTF32_BE, ""),
    (GREEK, "utf-32-le", b"", "; charset=utf-32le"),
    (GREEK, "utf-32-be", b"", "; charset=UTF-32BE"),
    (GREEK, "cp1253", b"", "; charset=windows-1253"),
]


def test_old_pages_are_cut_and_read_in_their_charset(ingest: Ingest, uri: str, tmp_path: Path) -> None:
    bodies = {}
    with Warc(tmp_path / "x.warc.gz") as warc:
        for number, (text, charset, mark, named) in enumerate(PAGES):
            page = (
                f"<html><body><h1>{text[:20]}</h1><p>{text}</p><ul><li>{text[5:30]}</li></ul></body></html>"
            )
            bodies[number] = mark + page.encode(charset)
            kind = {"Content-Type": f"text/html{named}"}
            warc.response("1999-05-04T10:00:00Z", bodies[number], f"http://example.com/{number}", **kind)
    assert record(ingest(warc.path))["captures"] == len(PAGES)
    with Archive.reader(ArchiveConfig(uri=uri)) as archive:
        for number, (text, charset, _, named) in enumerate(PAGES):
            capture = archive.at(f"http://example.com/{number}", None)
            assert archive.body(capture) == bodies[number]
            texts = [shown for _, shown in archive.blocks(archive.seen(capture))]
            assert len(texts) > 1, f"the page in {charset}{named} was not cut"
            assert any(text in shown for shown in texts), (charset, named, texts)


OLD = """WARC/0.18\r
WARC-Type: response\r
WARC-Target-URI: http://example.com/page\r
WARC-Warcinfo-ID: 9a6bd8a4-36b6-4d54-a2a8-c11b5b5b4c21\r
WARC-Date: {date}\r
WARC-Record-ID: <urn:uuid:bc1b5a10-0c2a-4a2b-b1a3-0a3c1d2e3f40>\r
WARC-TREC-ID: clueweb09-en0000-00-00000\r
Content-Type: application/http;msgtype=response\r
WARC-Identified-Payload-Type: \r
Content-Length: {length}\r
\r
"""


def test_a_date_with_the_day_of_the_year_is_repaired_and_said_to_be(
    ingest: Ingest, uri: str, tmp_path: Path
) -> None:
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + html(*TEXTS)
    dates = ["2008-10-294T05:21:46-0700", "2009-01-13T18:05:10-0800", "2008-12-366T23:59:59-0700"]
    heads = (OLD.format(date=date, length=len(block)).encode() for date in dates)
    path = tmp_path / "00.warc"
    path.write_bytes(b"\r\n\r\n".join(head + block for head in heads))
    found = record(ingest(path))
    assert (found["damaged"], found["captures"]) == ([], 3)
    with Archive.reader(ArchiveConfig(uri=uri)) as archive:
        captures = archive.captures(URL)
    assert [(capture.captured_at, capture.reason) for capture in captures] == [
        (
            datetime(2008, 10, 20, 12, 21, 46, tzinfo=UTC),
            "WARC-Date 2008-10-294T05:21:46-0700 was read as 2008-10-20T12:21:46Z",
        ),
        (
            datetime(2009, 1, 1, 6, 59, 59, tzinfo=UTC),
            "WARC-Date 2008-12-366T23:59:59-0700 was read as 2009-01-01T06:59:59Z",
        ),
        (datetime(2009, 1, 14, 2, 5, 10, tzinfo=UTC), ""),
    ]


def test_a_day_that_no_year_has_is_no_date(ingest: Ingest, tmp_path: Path) -> None:
    block = b"HTTP/1.1 200 OK\r\n\r\n" + html(*TEXTS)
    path = tmp_path / "00.warc"
    path.write_bytes(OLD.format(date="2008-10-367T05:21:46-0700", length=len(block)).encode() + block)
    found = record(ingest(path))
    assert found["captures"] == 0
    assert "2008-10-367T05:21:46-0700" in found["damaged"][0]["reason"]


LINES = ("HTTP 200", "HTTP 200 OK", "HTTP/1.0 200", "HTTP/1.1 200 OK\r", "HTTP/2 200 ")


def test_status_lines_without_version_or_reason_and_folded_headers_are_read(
    ingest: Ingest, uri: str, tmp_path: Path
) -> None:
    body = f"<html><body><p>{RUSSIAN}</p><p>{RUSSIAN[::-1]}</p></body></html>".encode("cp1251")
    headers = "Content-Type:\r\n text/html;\r\n\tcharset=windows-1251\r\nX-Long: a\r\n  b\r\n\tc"
    blocks = [f"{line}\r\n{headers}\r\n\r\n".encode() + body for line in LINES]
    day = "1999-05-04T10:00:00Z"
    path = tmp_path / "x.warc"
    path.write_bytes(
        b"".join(record_of(block, "response", day, f"{URL}/{number}") for number, block in enumerate(blocks))
    )
    found = record(ingest(path))
    assert (found["damaged"], found["captures"]) == ([], len(LINES))
    with Archive.reader(ArchiveConfig(uri=uri)) as archive:
        for number in range(len(LINES)):
            capture = archive.at(f"{URL}/{number}", None)
            assert (capture.outcome, capture.status) == (Outcome.FETCHED, 200)
            assert capture.headers == (
                ("Content-Type", "text/html; charset=windows-1251"),
                ("X-Long", "a b c"),
            )
            assert archive.body(capture) == body
            assert any(RUSSIAN in text for _, text in archive.blocks(archive.seen(capture)))
