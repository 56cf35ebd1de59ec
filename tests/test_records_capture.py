"""Captures as records."""

import json
from dataclasses import replace
from datetime import UTC, datetime

from archivebot.metadata import Metadata
from archivebot.models import BlockChange, Capture, Change, Field, Kind, Label, Outcome, PlacedBlock
from archivebot.records import capture_record, extract_record, history_record, replay_record
from archivebot.wire import Wire

CAPTURE = Capture(
    url="http://a.example/ü",
    urlkey="example,a)/ü",
    captured_at=datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC),
    outcome=Outcome.FETCHED,
    kind=Kind.CHANGED,
    status=200,
    number=2,
    digest="sha256:00",
    size=123,
    stored_bytes=45,
    level=3,
    block_count=1,
    new_blocks=1,
    links=7,
    headers=(("ETag", "x"),),
    blocks=(PlacedBlock("ab-1", 3, 10, 20, "topic", Change.MODIFIED, True, Label.FORM),),
    wire=Wire(
        received=b"HTTP/1.1 200 Fine\r\ncontent-encoding: gzip\r\nETag: x\r\n\r\n",
        request=b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n",
        left_out=("Cookie",),
        ip="192.0.2.1",
        port=80,
        protocols=("http/1.1",),
        started=datetime(2026, 1, 2, 3, 4, 5, 250_000, tzinfo=UTC),
        first_byte=20,
        ended=30,
        length=77,
        decoded=True,
    ),
    fields=(Field("price", "12.5"), Field("tags", '["a", "b"]'), Field("seen", "null")),
    metadata=Metadata({"rights": ("the town",)}, {"form": {"rights": ("the firm",)}}),
    title="Ferries",
    edits=(
        BlockChange(
            Change.MODIFIED, "ab-1", "topic", "Search", "=Search anew", similarity=0.5, label=Label.FORM
        ),
    ),
)
RECORD = {
    "url": "http://a.example/ü",
    "urlkey": "example,a)/ü",
    "captured_at": "20260102030405",
    "time": "2026-01-02T03:04:05Z",
    "status": 200,
    "outcome": "fetched",
    "kind": "changed",
    "version": 2,
    "digest": "sha256:00",
    "size": 123,
    "stored_bytes": 45,
    "level": 3,
    "blocks": {
        "count": 1,
        "new": 1,
        "items": [
            {
                "lineage": "ab-1",
                "topic": "topic",
                "change": "MODIFIED",
                "level": 3,
                "start": 10,
                "end": 20,
                "new": True,
                "label": "form",
                "role": "furniture",
                "metadata": {"rights": ["the firm"]},
            }
        ],
    },
    "links": 7,
    "location": None,
    "quality": None,
    "reason": "",
    "duplicate": None,
    "bytes": 123,
    "block_count": 1,
    "new_blocks": 1,
    "origin": "crawl",
    "wire": {
        "status_line": "HTTP/1.1 200 Fine",
        "address": "192.0.2.1:80",
        "protocols": ["http/1.1"],
        "content_encoding": "gzip",
        "transfer_encoding": None,
        "length": 77,
        "decoded": True,
        "started": "2026-01-02T03:04:05.250+00:00",
        "first_byte": 20,
        "ended": 30,
        "truncated": "",
        "left_out": ["Cookie"],
        "record": "",
    },
    "fields": {"price": 12.5, "tags": ["a", "b"], "seen": None},
    "title": "Ferries",
    "changes": [
        {
            "change": "MODIFIED",
            "lineage": "ab-1",
            "topic": "topic",
            "before": "Search",
            "after": "=Search anew",
            "similarity": 0.5,
            "label": "form",
            "role": "furniture",
        }
    ],
    "pruned": False,
    "metadata": {"rights": ["the town"]},
}


def test_a_record_holds_exactly_what_is_promised() -> None:
    assert capture_record(CAPTURE) == RECORD
    assert list(capture_record(CAPTURE)) == list(RECORD)


def test_unchanged_blocks_are_listed_for_the_first_version_only() -> None:
    same = PlacedBlock("ab-2", 3, 20, 30, "topic", Change.UNCHANGED)
    capture = replace(CAPTURE, blocks=(*CAPTURE.blocks, same))
    for kind, listed in ((Kind.NEW, 2), (Kind.CHANGED, 1), (Kind.REVISIT, 1)):
        assert len(capture_record(replace(capture, kind=kind))["blocks"]["items"]) == listed


def test_a_record_is_json_without_enumerations() -> None:
    assert json.loads(json.dumps(capture_record(CAPTURE))) == RECORD


def test_a_replay_shows_the_heads_byte_for_byte() -> None:
    record = replay_record(CAPTURE, CAPTURE, None, None)["wire"]
    assert record["received"].encode("latin-1") == CAPTURE.wire.received
    assert record["request"].encode("latin-1") == CAPTURE.wire.request
    assert record.items() >= RECORD["wire"].items()


def test_the_fields_of_a_version_are_a_record_of_their_own() -> None:
    assert extract_record(CAPTURE, CAPTURE.fields, CAPTURE.metadata) == {
        "url": CAPTURE.url,
        "captured_at": "20260102030405",
        "version": 2,
        "fields": RECORD["fields"],
        "metadata": RECORD["metadata"],
    }


def test_what_was_not_recorded_is_none() -> None:
    older = replace(CAPTURE, wire=None)
    assert capture_record(older)["wire"] is None
    assert replay_record(older, older, None, None)["wire"] is None


def test_a_visit_without_content_has_neither_version_nor_digest() -> None:
    visit = replace(CAPTURE, number=None, digest=None, status=None, level=None, blocks=())
    record = capture_record(visit)
    assert (record["version"], record["digest"], record["status"], record["level"]) == (None,) * 4
    assert record["blocks"]["items"] == []


# What scripts have read since the first release, with the meaning it has.
HISTORY = {
    "captured_at": "20260102030405",
    "status": 200,
    "outcome": "fetched",
    "kind": "changed",
    "version": 2,
    "digest": "sha256:00",
    "bytes": 123,
    "stored_bytes": 45,
    "level": 3,
    "blocks": 1,
    "new_blocks": 1,
    "location": None,
    "quality": None,
    "reason": "",
    "origin": "crawl",
}


def test_the_record_of_a_history_is_that_of_the_feed_but_for_blocks_and_fields() -> None:
    record = history_record(CAPTURE)
    others = ("fields", "metadata", "title", "changes")
    assert record == {name: value for name, value in RECORD.items() if name not in others} | {"blocks": 1}
    assert record.items() >= HISTORY.items()
