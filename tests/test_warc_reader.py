"""Pages read from whole and from broken WARC and ARC files."""

from __future__ import annotations

import gzip
import io
import random
import tempfile
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from archivebot.exceptions import WarcError
from archivebot.http.codings import zstd
from archivebot.models import Outcome
from archivebot.warc import Damage, WarcPage, read_pages
from archivebot.warc.payload import digest_of

Read = Callable[..., tuple[list[WarcPage], list[Damage]]]

HTTP = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
RANDOM = random.Random(7)
BODIES = [bytes(RANDOM.choices(range(32, 127), k=3000)) for _ in range(4)]


def record(block: bytes, kind: str = "response", **fields: str) -> bytes:
    """A WARC record written by hand; fields replace the defaults, an empty one leaves the field out."""
    named = {
        "WARC-Type": kind,
        "WARC-Record-ID": "<urn:uuid:00000000-0000-0000-0000-000000000000>",
        "WARC-Date": "2020-01-02T03:04:05Z",
        "WARC-Target-URI": "http://example.com/",
        "Content-Length": str(len(block)),
    } | {name.replace("_", "-"): value for name, value in fields.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in named.items() if value)
    return b"WARC/1.1\r\n" + head.encode() + b"\r\n" + block + b"\r\n\r\n"


def records() -> list[bytes]:
    return [
        record(HTTP + body, WARC_Target_URI=f"http://example.com/{number}")
        for number, body in enumerate(BODIES)
    ]


def members() -> list[bytes]:
    return [gzip.compress(data, mtime=0) for data in records()]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def run(data: bytes, name: str = "crawl.warc.gz", **options: int) -> tuple[list[WarcPage], list[Damage]]:
        path = tmp_path / name
        path.write_bytes(data)
        damages: list[Damage] = []
        return list(read_pages(path, damages.append, **options)), damages

    return run


def ignore(_: Damage) -> None:
    """Take a report and do nothing."""


def bodies(items: list[WarcPage]) -> list[bytes]:
    return [item.page.body for item in items]


def reasons(damages: list[Damage]) -> list[tuple[int, str]]:
    return [(damage.offset, damage.reason) for damage in damages]


# Whole files


def test_a_file_of_warcio_gives_its_pages_with_everything_as_recorded(read: Read) -> None:
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=True, warc_version="1.1")
    writer.write_record(writer.create_warcinfo_record("crawl.warc.gz", {"software": "test"}))
    start = out.tell()
    headers = StatusAndHeaders("404 Not Found", [("X-A", "1"), ("x-a", "2")], protocol="HTTP/1.1")
    writer.write_record(
        writer.create_warc_record(
            "http://example.com/a b",
            "response",
            payload=io.BytesIO(b"gone"),
            length=4,
            http_headers=headers,
            warc_headers_dict={"WARC-Date": "2020-01-02T03:04:05.678901Z"},
        )
    )
    (item,), damages = read(out.getvalue())
    page = item.page
    assert not damages
    assert (page.url, page.status, page.outcome) == ("http://example.com/a b", 404, Outcome.NOT_FOUND)
    assert page.captured_at == datetime(2020, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
    assert page.headers == (("X-A", "1"), ("x-a", "2"))
    assert (page.body, page.origin, page.reason) == (b"gone", f"crawl.warc.gz:{start}", "")
    assert item.payload_digest == "sha1:U3P55KR2ISSMKLKEFBEEPVYWBCJLIAL6"


@pytest.mark.parametrize("packed", [b"".join, lambda parts: gzip.compress(b"".join(parts))])
def test_plain_and_wholly_gzipped_files_give_the_same_pages(
    read: Read, packed: Callable[[list[bytes]], bytes]
) -> None:
    parts = records()
    items, damages = read(packed(parts))
    assert bodies(items) == BODIES
    assert [item.page.origin for item in items][1] == f"crawl.warc.gz:{len(parts[0])}"
    assert not damages


def test_one_member_for_each_record_gives_the_offset_of_the_member(read: Read) -> None:
    parts = members()
    items, damages = read(b"".join(parts))
    assert bodies(items) == BODIES
    assert items[1].page.origin == f"crawl.warc.gz:{len(parts[0])}"
    assert not damages


@pytest.mark.parametrize("size", [7, 100, 1000, 3400])
def test_records_may_span_members_of_any_size(read: Read, size: int) -> None:
    data = b"".join(records())
    pieces = [gzip.compress(data[at : at + size]) for at in range(0, len(data), size)]
    items, damages = read(b"".join(pieces))
    assert bodies(items) == BODIES
    assert not damages


def test_zeros_and_empty_members_between_members_are_padding(read: Read) -> None:
    items, damages = read((b"\0" * 10000 + gzip.compress(b"")).join(members()) + b"\0" * 100)
    assert bodies(items) == BODIES
    assert not damages


def test_zeros_between_plain_records_are_padding(read: Read) -> None:
    items, damages = read((b"\0" * 10000).join(records()) + b"\0" * 100)
    assert bodies(items) == BODIES
    assert not damages


def test_zstandard_frames_are_read_with_and_without_a_dictionary(read: Read) -> None:
    frames = [zstd.compress(data) for data in records()]
    assert bodies(read(b"".join(frames), "crawl.warc.zst")[0]) == BODIES
    sample = [data[at : at + 300] for data in records() for at in range(0, 3000, 50)]
    dictionary = zstd.train_dict(sample, 4096)
    content = dictionary.dict_content
    head = b"\x5d\x2a\x4d\x18" + len(content).to_bytes(4, "little") + content
    frames = [zstd.compress(data, zstd_dict=dictionary) for data in records()]
    items, damages = read(head + b"".join(frames), "crawl.warc.zst")
    assert bodies(items) == BODIES
    assert not damages


def test_a_broken_zstandard_frame_is_reported_and_the_next_one_read(read: Read) -> None:
    frames = [zstd.compress(data) for data in records()]
    broken = frames[1][:500]
    items, damages = read(frames[0] + broken + frames[2], "crawl.warc.zst")
    assert bodies(items) == [BODIES[0], BODIES[2]]
    assert damages[0].offset == len(frames[0])
    items, damages = read(frames[0] + broken, "crawl.warc.zst")
    assert reasons(damages) == [(len(frames[0]), "Zstandard frame ends early")]


def test_an_empty_file_holds_no_page(read: Read) -> None:
    assert read(b"") == ([], [])


@pytest.mark.parametrize("version", [b"WARC/0.18", b"WARC/1.0", b"WARC/1.1"])
def test_every_version_is_read(read: Read, version: bytes) -> None:
    assert bodies(read(record(HTTP + b"x").replace(b"WARC/1.1", version))[0]) == [b"x"]


def test_angle_brackets_around_the_target_are_taken_off(read: Read) -> None:
    (item,), _ = read(record(HTTP + b"x", WARC_Target_URI="<http://example.com/a b>"))
    assert item.page.url == "http://example.com/a b"


def test_other_records_and_other_schemes_are_passed_over(read: Read) -> None:
    data = record(b"x: y\r\n", "warcinfo", WARC_Target_URI="") + record(b"GET / HTTP/1.1\r\n\r\n", "request")
    assert read(data + record(b"a", WARC_Target_URI="dns:example.com") + record(b"m", "metadata")) == ([], [])


def test_a_resource_is_a_page_with_its_content_type(read: Read) -> None:
    (item,), _ = read(record(b"<p>", "resource", Content_Type="text/html"))
    assert (item.page.status, item.page.outcome, item.page.body) == (200, Outcome.FETCHED, b"<p>")
    assert item.page.headers == (("Content-Type", "text/html"),)


def test_a_redirect_has_its_absolute_target(read: Read) -> None:
    block = b"HTTP/1.1 301\r\nLocation: ../c?d\r\n\r\n"
    (item,), _ = read(record(block, WARC_Target_URI="http://example.com/a/b"))
    assert (item.page.outcome, item.page.location) == (Outcome.REDIRECT, "http://example.com/c?d")


def test_a_redirect_leads_to_the_page_at_its_target(read: Read) -> None:
    (item,), _ = read(record(b"HTTP/1.1 301 Moved\r\nLocation: HTTP://Example.com/c#part\r\n\r\n"))
    assert item.page.location == "http://example.com/c"


@pytest.mark.parametrize("location", [b"", b"Location: http://[::1\r\n"])
def test_a_redirect_without_a_usable_target_has_none(read: Read, location: bytes) -> None:
    (item,), damages = read(record(b"HTTP/1.1 302 Found\r\n" + location + b"\r\n"))
    assert item.page.location is None
    assert not damages


def test_a_payload_that_its_writer_truncated_is_incomplete(read: Read) -> None:
    (item,), _ = read(record(HTTP + b"x", WARC_Truncated="length"))
    assert (item.page.outcome, item.page.body) == (Outcome.INCOMPLETE, b"x")
    assert item.page.reason == "truncated by the crawler: length"


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("2016", datetime(2016, 1, 1, tzinfo=UTC)),
        ("2016-11", datetime(2016, 11, 1, tzinfo=UTC)),
        ("2016-11-18", datetime(2016, 11, 18, tzinfo=UTC)),
        ("2016-11-18T17:02Z", datetime(2016, 11, 18, 17, 2, tzinfo=UTC)),
        ("2016-11-18T17:02:03.123456789Z", datetime(2016, 11, 18, 17, 2, 3, 123456, tzinfo=UTC)),
        ("2016-11-18T17:02:03+02:00", datetime(2016, 11, 18, 15, 2, 3, tzinfo=UTC)),
        ("2016-11-18T17:02:03", datetime(2016, 11, 18, 17, 2, 3, tzinfo=UTC)),
        ("20161118170203", datetime(2016, 11, 18, 17, 2, 3, tzinfo=UTC)),
    ],
)
def test_dates_of_any_precision_become_utc(read: Read, text: str, when: datetime) -> None:
    (item,), _ = read(record(HTTP + b"x", WARC_Date=text))
    assert item.page.captured_at == when


# Revisits


def test_a_revisit_tells_what_it_refers_to(read: Read) -> None:
    fields = {
        "WARC_Profile": "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
        "WARC_Payload_Digest": "sha1:B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A",
        "WARC_Refers_To_Target_URI": "<http://example.com/first>",
        "WARC_Refers_To_Date": "2019-01-02T03:04:05Z",
    }
    (item,), damages = read(record(HTTP, "revisit", **fields))
    assert (item.page.outcome, item.page.status, item.page.body) == (Outcome.UNRESOLVED, 200, b"")
    assert item.page.reason == "revisit: identical-payload-digest"
    assert item.payload_digest == "sha1:B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A"
    assert item.refers_to_uri == "http://example.com/first"
    assert item.refers_to_date == datetime(2019, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert not damages


def test_a_revisit_without_http_headers_has_no_status(read: Read) -> None:
    (item,), damages = read(record(b"", "revisit"))
    assert (item.page.outcome, item.page.status, item.payload_digest) == (Outcome.UNRESOLVED, None, None)
    assert (item.refers_to_uri, item.refers_to_date, damages) == (None, None, [])
    assert item.page.reason == "revisit: unknown profile"


# ARC

ARC = (
    b"filedesc://x.arc 127.0.0.1 20140216050221 text/plain 75\n1 0 LiveWeb Capture\n"
    b"URL IP-address Archive-date Content-type Archive-length\n\n"
)


def arc_record(body: bytes, middle: bytes = b"text/html") -> bytes:
    line = b"http://example.com/a b 1.2.3.4 20140216050221 %s %d\n" % (middle, len(HTTP + body))
    return line + HTTP + body + b"\n"


@pytest.mark.parametrize("middle", [b"text/html", b"text/html 200 CHECKSUM - 1234 x.arc"])
@pytest.mark.parametrize("packed", [lambda data: data, gzip.compress])
def test_arc_versions_1_and_2_give_pages(read: Read, middle: bytes, packed: Callable[[bytes], bytes]) -> None:
    items, damages = read(packed(ARC + arc_record(b"one", middle) + arc_record(b"two", middle)), "x.arc.gz")
    assert bodies(items) == [b"one", b"two"]
    assert items[0].page.url == "http://example.com/a b"
    assert items[0].page.captured_at == datetime(2014, 2, 16, 5, 2, 21, tzinfo=UTC)
    assert items[0].page.origin == f"x.arc.gz:{len(ARC)}"
    assert not damages


def test_an_arc_record_with_a_bad_length_is_reported_and_the_next_one_read(read: Read) -> None:
    bad = b"http://example.com/ 1.2.3.4 20140216050221 text/html -1\n\n"
    items, damages = read(ARC + bad + arc_record(b"two"), "x.arc")
    assert bodies(items) == [b"", b"two"]
    assert items[0].page.outcome is Outcome.INCOMPLETE
    assert reasons(damages) == [(len(ARC), "Content-Length '-1' is not a number")]


def test_an_arc_line_with_stray_control_characters_is_reported(read: Read) -> None:
    bad = b"http://example.com/ 1.2\x0b3.4 20140216050221 text/html 1\nx\n"
    items, damages = read(ARC + bad + arc_record(b"two"), "x.arc")
    assert bodies(items) == [b"two"]
    assert reasons(damages) == [(len(ARC), "malformed ARC record line")]


# Broken files


@pytest.mark.parametrize(
    ("data", "looks"),
    [
        (b"PK\x03\x04 wacz", "a ZIP file"),
        (b"<!doctype html>\n<p>", "HTML or XML"),
        (gzip.compress(b'{"a": 1}', mtime=0), "compressed, and inside it is JSON"),
        (b"just text\nand more\n", "unknown data that begin with b'just text"),
        (b"\x1f\x8b\x08", "unknown data"),
        (b"\0" * 10000, "unknown data"),
    ],
)
def test_a_file_that_is_no_warc_is_refused_by_what_it_looks_like(read: Read, data: bytes, looks: str) -> None:
    with pytest.raises(WarcError, match="expected is a file whose records begin with WARC") as error:
        read(data, "other")
    assert looks in str(error.value)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.warc", tmp_path):
        with pytest.raises(WarcError, match="cannot be read"):
            list(read_pages(path, ignore))


def test_a_disk_that_fails_while_reading_is_a_warc_error(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("archivebot.warc.frames.io.FileIO", type("Failing", (io.FileIO,), {"read": fail}))
    with pytest.raises(WarcError, match="cannot be read: Input/output error"):
        read(b"WARC/1.0")


def test_a_gzip_member_that_ends_early_at_the_end_is_reported(read: Read) -> None:
    parts = members()
    items, damages = read(b"".join(parts[:3]) + parts[3][:900])
    assert bodies(items[:3]) == BODIES[:3]
    assert items[3].page.outcome is Outcome.INCOMPLETE
    assert BODIES[3].startswith(items[3].page.body)
    assert list(map(str, damages)) == [
        f"crawl.warc.gz, offset {sum(map(len, parts[:3]))}: gzip member ends early"
    ]


def test_a_gzip_member_cut_in_the_middle_of_the_file_cuts_only_its_record(read: Read) -> None:
    parts = members()
    items, damages = read(parts[0] + parts[1][:1200] + parts[2] + parts[3])
    assert bodies([items[0], *items[2:]]) == [BODIES[0], *BODIES[2:]]
    assert items[1].page.outcome is Outcome.INCOMPLETE
    assert items[1].page.body[:1000] == BODIES[1][:1000]
    assert [damage.offset for damage in damages] == [len(parts[0])]
    assert "gzip member is damaged" in damages[0].reason


def test_a_wrong_gzip_checksum_keeps_the_page_and_notes_it(read: Read) -> None:
    parts = members()
    parts[1] = parts[1][:-8] + b"\0\0\0\0" + parts[1][-4:]
    items, damages = read(b"".join(parts))
    assert bodies(items) == BODIES
    assert "incorrect data check" in items[1].page.reason
    assert [damage.offset for damage in damages] == [len(parts[0])]


def test_damage_in_a_wholly_gzipped_file_keeps_the_records_before_it(read: Read) -> None:
    data = bytearray(gzip.compress(b"".join(records())))
    data[-2500:-2400] = bytes(100)
    items, damages = read(bytes(data))
    assert bodies(items)[:2] == BODIES[:2]
    assert damages


def test_garbage_between_gzip_members_is_reported_and_skipped(read: Read) -> None:
    parts = members()
    items, damages = read(parts[0] + b"garbage \x1f\x8b\x08 more" + b"".join(parts[1:]))
    assert bodies(items) == BODIES
    assert reasons(damages) == [(len(parts[0]), "bytes that belong to no record")]


def test_garbage_between_plain_records_is_reported_and_skipped(read: Read) -> None:
    parts = records()
    items, damages = read(parts[0] + b"garbage\r\n\r\n" * 100 + b"".join(parts[1:]))
    assert bodies(items) == BODIES
    assert reasons(damages) == [(len(parts[0]), "bytes that belong to no record")]


@pytest.mark.parametrize("lost", [1, 500])
def test_a_compressed_file_whose_beginning_is_lost_is_read_from_its_next_record(
    read: Read, lost: int
) -> None:
    items, damages = read(b"".join(members())[lost:])
    assert bodies(items) == BODIES[1:]
    assert reasons(damages) == [(0, "bytes that belong to no record")]


def test_garbage_at_the_beginning_is_skipped_where_records_follow(read: Read) -> None:
    items, damages = read(b"noise\n" + b"".join(records()))
    assert bodies(items) == BODIES
    assert reasons(damages) == [(0, "bytes that belong to no record")]


@pytest.mark.parametrize("packed", [lambda data: data, gzip.compress])
def test_a_content_length_that_is_too_large_cuts_only_its_record(
    read: Read, packed: Callable[[bytes], bytes]
) -> None:
    parts = [packed(data) for data in records()]
    parts[1] = packed(record(HTTP + BODIES[1], Content_Length="5000"))
    items, damages = read(b"".join(parts))
    assert bodies([items[0], *items[2:]]) == [BODIES[0], *BODIES[2:]]
    assert items[1].page.outcome is Outcome.INCOMPLETE
    assert items[1].page.body.startswith(BODIES[1])
    assert [damage.offset for damage in damages] == [len(parts[0])]


@pytest.mark.parametrize("length", ["99999999999", "99999999999999999999", "-1", "12x", "²"])
def test_a_content_length_that_cannot_be_used_loses_only_its_record(read: Read, length: str) -> None:
    items, damages = read(record(HTTP + b"x", Content_Length=length) + record(HTTP + b"y"))
    assert bodies(items) == [b"y"]
    assert [damage.offset for damage in damages] == [0]


def test_a_content_length_that_is_too_small_is_noted_by_the_digest(read: Read) -> None:
    digest = "sha1:U3P55KR2ISSMKLKEFBEEPVYWBCJLIAL6"
    short = record(HTTP + b"gone", WARC_Payload_Digest=digest, Content_Length=str(len(HTTP) + 2))
    items, damages = read(short + record(HTTP + b"y"))
    assert bodies(items) == [b"go", b"y"]
    assert [damage.reason for damage in damages] == [
        f"bytes do not fit the payload digest {digest}",
        "bytes that belong to no record",
    ]


def test_a_plain_file_that_ends_early_is_reported(read: Read) -> None:
    parts = records()
    items, damages = read(parts[0] + parts[1][:2000])
    assert bodies(items[:1]) == BODIES[:1]
    assert (items[1].page.outcome, items[1].page.status) == (Outcome.INCOMPLETE, 200)
    assert BODIES[1].startswith(items[1].page.body)
    assert items[1].page.reason == damages[0].reason
    assert damages[0].offset == len(parts[0])
    assert "record ends after" in damages[0].reason


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"WARC_Type": ""}, "record has no WARC-Type"),
        ({"Content_Length": ""}, "record has no Content-Length"),
        ({"WARC_Target_URI": ""}, "record has no WARC-Target-URI"),
        ({"WARC_Date": ""}, "WARC-Date '' is missing or no date"),
        ({"WARC_Date": "2020-13-41T00:00:00Z"}, "WARC-Date '2020-13-41T00:00:00Z' is missing or no date"),
        (
            {"WARC_Date": "0001-01-01T00:00:00+23:00"},
            "WARC-Date '0001-01-01T00:00:00+23:00' is missing or no date",
        ),
    ],
)
def test_a_record_without_what_a_page_needs_is_reported(
    read: Read, fields: dict[str, str], reason: str
) -> None:
    items, damages = read(record(HTTP + b"x", **fields) + record(HTTP + b"y"))
    assert bodies(items) == [b"y"]
    assert reasons(damages) == [(0, reason)]


@pytest.mark.parametrize("date", ["2016-12-31T23:59:60Z", "2016-12-31T18:59:60-05:00", "2016-12-31T24:00Z"])
def test_a_leap_second_and_the_end_of_a_day_are_read_as_the_next_day(read: Read, date: str) -> None:
    items, damages = read(record(HTTP + b"x", WARC_Date=date))
    assert [item.page.captured_at for item in items] == [datetime(2017, 1, 1, tzinfo=UTC)]
    assert damages == []


def test_what_is_no_http_response_is_reported_and_kept_as_it_is(read: Read) -> None:
    items, damages = read(record(b"HTTPX/9 yes\r\n\r\nx") + record(HTTP + b"y"))
    assert bodies(items) == [b"HTTPX/9 yes\r\n\r\nx", b"y"]
    assert (items[0].page.outcome, items[0].page.status) == (Outcome.PROTOCOL_ERROR, None)
    assert reasons(damages) == [(0, "malformed HTTP status line [b'HTTPX/9 yes']")]


def test_bytes_that_do_not_fit_their_digest_are_kept_and_noted(read: Read) -> None:
    digest = "sha256:" + "0" * 64
    (item,), damages = read(record(HTTP + b"x", WARC_Payload_Digest=digest))
    assert item.page.body == b"x"
    assert item.page.reason == damages[0].reason == f"bytes do not fit the payload digest {digest}"
    assert item.payload_digest == digest_of(b"x")


def test_a_body_that_decodes_to_more_than_the_limit_stays_coded(read: Read) -> None:
    bomb = gzip.compress(bytes(5_000_000))
    block = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + bomb
    (item,), damages = read(record(block), max_body=1_000_000)
    assert item.page.body == bomb
    assert item.page.outcome is Outcome.TOO_LARGE
    assert "gzip body decodes to more than the limit" in damages[0].reason == item.page.reason


def test_a_record_that_is_larger_than_the_limit_is_passed_over(read: Read) -> None:
    parts = [gzip.compress(record(HTTP + bytes(5_000_000))), gzip.compress(record(HTTP + b"y"))]
    items, damages = read(b"".join(parts), max_body=1_000_000)
    assert bodies(items) == [b"y"]
    assert "larger than the limit" in damages[0].reason


@pytest.mark.long
@settings(max_examples=400, deadline=None)
@given(data=st.data(), packing=st.sampled_from(["plain", "members", "whole"]))
def test_random_damage_raises_only_warc_errors_and_keeps_the_records_before_it(
    data: st.DataObject, packing: str
) -> None:
    parts = members() if packing == "members" else records()
    whole = b"".join(parts)
    file = zlib.compress(whole, wbits=31) if packing == "whole" else whole
    at = data.draw(st.integers(0, len(file) - 1))
    noise = data.draw(st.binary(max_size=20))
    cut = data.draw(st.integers(0, 50))
    broken = file[:at] + noise + file[at + cut :]
    before = 0 if packing == "whole" else sum(sum(map(len, parts[: n + 1])) <= at for n in range(len(parts)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.warc")
        path.write_bytes(broken)
        found: list[WarcPage] = []
        try:
            for item in read_pages(path, ignore):
                found.append(item)  # noqa: PERF402 (what came before an error counts)
        except WarcError:
            assert before == 0
    assert bodies(found)[:before] == BODIES[:before]
