"""The shapes of records as JSON Schemas, by the names under which the description of the API has them."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from archivebot.models import (
    Attribute,
    Change,
    ChangeKind,
    Kind,
    Label,
    Outcome,
    QualityKind,
    SiteChange,
)

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
WHOLE: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
FLAG: Schema = {"type": "boolean"}
DIGITS: Schema = {"type": "string", "pattern": "^[0-9]{14}$", "description": "UTC"}

EVENT: Schema = {"type": "string", "enum": ["new", "changed", "removed", "islanded"]}


def ref(name: str) -> Schema:
    """Return the reference to a named shape."""
    return {"$ref": f"#/components/schemas/{name}"}


def list_of(shape: Schema) -> Schema:
    """Return the shape of a list."""
    return {"type": "array", "items": shape}


def maybe(shape: Schema) -> Schema:
    """Return a shape that may be null.

    >>> maybe({"type": "string"}), maybe({"$ref": "#/a"})
    ({'type': ['string', 'null']}, {'anyOf': [{'$ref': '#/a'}, {'type': 'null'}]})
    """
    if isinstance(shape.get("type"), str) and "enum" not in shape:
        return shape | {"type": [shape["type"], "null"]}
    return {"anyOf": [shape, {"type": "null"}]}


def one_of(values: type[StrEnum]) -> Schema:
    """Return the shape of a word out of a list."""
    return {"type": "string", "enum": [each.value for each in values]}


def named(shape: Schema) -> Schema:
    """Return the shape of values under any names."""
    return {"type": "object", "additionalProperties": shape}


def record(shapes: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    """Return the shape of a record with these fields and no others; only the ``optional`` may be missing."""
    return {
        "type": "object",
        "properties": shapes | (optional or {}),
        "required": list(shapes),
        "additionalProperties": False,
    }


_LABELLED = {
    "label": maybe(one_of(Label)),
    "role": maybe({"type": "string", "enum": ["furniture", "content"]}),
}
_BLOCK = {"lineage": TEXT, "topic": TEXT, "level": WHOLE, "start": WHOLE, "end": WHOLE, **_LABELLED}
_COUNTS = dict.fromkeys(("queued", "leased", "done", "failed", "rejected"), WHOLE)
_SIZES = (
    *("captures", "urls", "versions", "blocks", "bytes_fetched", "bytes_stored", "bytes_frames"),
    *("bytes_dictionaries", "bytes_rows"),
)
_TOTALS = dict.fromkeys(_SIZES, WHOLE) | {"ratio": maybe(NUMBER)}
_WIRE = {
    "status_line": TEXT,
    "address": maybe(TEXT),
    "protocols": list_of(TEXT),
    "content_encoding": maybe(TEXT),
    "transfer_encoding": maybe(TEXT),
    "length": maybe(WHOLE),
    "decoded": FLAG,
    "started": maybe(TEXT),
    "first_byte": maybe(WHOLE),
    "ended": maybe(WHOLE),
    "truncated": TEXT,
    "left_out": list_of(TEXT),
    "record": TEXT,
}
_FOCUS = {"relevance": NUMBER, "relevant": FLAG, "score": NUMBER, "distance": WHOLE, "order": WHOLE}
_MEMBER = record({"url": TEXT, "words": WHOLE}, {"block": TEXT, "topic": TEXT})
_RANKED = list_of(ref("RankedPage"))

_TEXTS = {"anyOf": [TEXT, list_of(TEXT)]}
_BOUNDS = record({}, {"above": NUMBER, "below": NUMBER, "share": {"type": "number", "minimum": 0}})

SHAPES: dict[str, Schema] = {
    "Alert": record(
        {
            **dict.fromkeys(("id", "rule"), TEXT),
            "kind": one_of(SiteChange),
            **dict.fromkeys(("reason", "title", "link"), TEXT),
            "captured_at": DIGITS,
            "pages": list_of(
                record(
                    {
                        "url": TEXT,
                        **dict.fromkeys(("from", "to"), maybe(WHOLE)),
                        "captured_at": DIGITS,
                        "link": TEXT,
                    }
                )
            ),
            "outputs": named(record({"sent": FLAG, "attempts": WHOLE})),
        }
    ),
    "WatchRule": record(
        {"name": {"type": "string", "pattern": r"^\w[\w -]*$"}},
        {
            **dict.fromkeys(("match", "added", "removed", "fields", "send"), _TEXTS),
            "changes": {"anyOf": [one_of(SiteChange), list_of(one_of(SiteChange))]},
            "labels": {"anyOf": [one_of(Label), list_of(one_of(Label))]},
            "numbers": named(_BOUNDS),
            "size": {"type": "integer", "minimum": 0},
            "persist": {"type": "integer", "minimum": 1},
        },
    ),
    "Archive": record({"archive": TEXT, **_TOTALS, "hosts": named(ref("Totals"))}),
    "Totals": record(_TOTALS),
    "Page": record(
        {
            "url": TEXT,
            "title": TEXT,
            "captured_at": DIGITS,
            "status": maybe(WHOLE),
            "kind": one_of(Kind),
            "versions": WHOLE,
        }
    ),
    "Capture": record(
        {
            "url": TEXT,
            "urlkey": TEXT,
            "captured_at": DIGITS,
            "time": TEXT | {"description": "captured_at as ISO 8601"},
            "status": maybe(WHOLE),
            "outcome": one_of(Outcome),
            "kind": one_of(Kind),
            "version": maybe(WHOLE),
            "digest": maybe(TEXT),
            "size": WHOLE,
            "stored_bytes": WHOLE,
            "level": maybe(WHOLE),
            "blocks": WHOLE,
            "links": WHOLE,
            "location": maybe(TEXT),
            "quality": maybe(one_of(QualityKind)),
            "reason": TEXT,
            "duplicate": maybe(ref("Duplicate")),
            "bytes": WHOLE,
            "block_count": WHOLE,
            "new_blocks": WHOLE,
            "origin": TEXT,
            "wire": maybe(ref("Wire")),
            "pruned": FLAG,
        },
        _FOCUS,
    ),
    "Duplicate": record(
        {"of": TEXT, "version": WHOLE, "distance": maybe(WHOLE), "jaccard": NUMBER, "rule": TEXT}
    ),
    "Wire": record(_WIRE),
    "Exchange": record(_WIRE | dict.fromkeys(("request", "received", "trailers"), TEXT)),
    "Version": record(
        {
            "url": TEXT,
            "captured_at": DIGITS,
            "status": maybe(WHOLE),
            "version": maybe(WHOLE),
            "versions": WHOLE,
            "digest": TEXT,
            "size": WHOLE,
            "media": TEXT,
            "title": TEXT,
            "text": TEXT,
            "fields": {"type": "object", "description": "by name; null if the page does not have the field"},
            "headers": list_of({"type": "array", "items": TEXT, "minItems": 2, "maxItems": 2}),
            "wire": maybe(ref("Exchange")),
            "blocks": list_of(ref("Block")),
        }
    ),
    "Block": record(_BLOCK | {"text": TEXT}),
    "Delta": record(
        {
            "url": TEXT,
            "from": WHOLE,
            "to": WHOLE,
            "gone_since": maybe(DIGITS),
            "media": maybe(TEXT),
            "layout_changed": FLAG,
            "kind": one_of(ChangeKind),
            "reason": TEXT,
            "attributes": list_of(
                record(
                    {
                        "attribute": one_of(Attribute),
                        "of": TEXT,
                        "before": TEXT,
                        "after": TEXT,
                        "content": FLAG,
                    }
                )
            ),
            "changes": list_of(
                record(
                    {
                        "change": one_of(Change),
                        "kind": maybe(one_of(ChangeKind)),
                        "lineage": TEXT,
                        "topic": TEXT,
                        "before": maybe(TEXT),
                        "after": maybe(TEXT),
                        "similarity": NUMBER,
                        **_LABELLED,
                    }
                )
            ),
        }
    ),
    "BlockHistory": record(
        {
            "url": TEXT,
            "lineage": TEXT,
            "states": list_of(
                record({"version": WHOLE, "captured_at": DIGITS, "topic": TEXT, "text": maybe(TEXT)})
            ),
        }
    ),
    "ChangedPage": record(
        {
            "url": TEXT,
            "kind": TEXT,
            "from": maybe(WHOLE),
            "to": maybe(WHOLE),
            "captured_at": DIGITS,
            "reason": TEXT,
            "group": maybe(TEXT),
        }
    ),
    "WordEvent": record(
        {
            "url": TEXT,
            "lineage": TEXT,
            "version": maybe(WHOLE) | {"description": "null if the page itself was gone"},
            "captured_at": DIGITS,
            "text": TEXT,
            "change": {"type": "string", "enum": ["added", "removed"]},
        }
    ),
    "Match": record(
        {"a": TEXT, "b": TEXT, "distance": maybe(WHOLE), "jaccard": NUMBER, "scope": TEXT, "words": WHOLE},
        {"block_a": TEXT, "block_b": TEXT, "topic": TEXT},
    ),
    "Cluster": record({"cluster": WHOLE, "scope": TEXT, "members": list_of(_MEMBER)}),
    "Form": record(
        {
            **dict.fromkeys(("id", "signature", "site"), TEXT),
            **dict.fromkeys(("version", "versions"), WHOLE),
            **dict.fromkeys(("method", "action"), TEXT),
            **dict.fromkeys(("search", "multi_field"), FLAG),
            "domain": maybe(TEXT),
            "score": NUMBER,
            "reason": TEXT,
            "fields": list_of(record({"label": TEXT, "controls": list_of(TEXT)})),
            **dict.fromkeys(("first", "last"), DIGITS),
            "page": TEXT,
            "page_count": WHOLE,
        }
    ),
    "Crawl": record(
        {
            "crawl": TEXT,
            "arguments": {"type": "object"},
            "began": DIGITS,
            "ended": TEXT,
            "states": record(_COUNTS | {"answered": WHOLE}),
            "hosts": list_of(record({"host": TEXT, **_COUNTS})),
            "next": list_of(ref("Entry")),
            "reasons": named(WHOLE),
            "rejected": list_of(ref("Entry")),
            "crawls": list_of(TEXT),
        }
    ),
    "Entry": record({"url": TEXT, "score": NUMBER, "distance": WHOLE, "source": TEXT, "reason": TEXT}),
    "Explanation": record(
        {
            "crawl": TEXT,
            "url": TEXT,
            "state": TEXT,
            "anchor": TEXT,
            "score": NUMBER,
            "parts": {"type": "object"},
            "reason": TEXT,
            "path": list_of(TEXT),
            "distance": WHOLE,
            "order": maybe(WHOLE),
            "relevance": maybe(NUMBER),
            "relevant": maybe(FLAG),
            "page": {"type": "object"},
        }
    ),
    "Harvest": record({"crawl": TEXT, "points": list_of(ref("Point"))}),
    "Point": record(
        dict.fromkeys(("pages", "relevant", "hosts"), WHOLE) | dict.fromkeys(("harvest", "recent"), NUMBER)
    ),
    "Ranking": record({"by": TEXT}, {"pages": _RANKED, "authorities": _RANKED, "hubs": _RANKED}),
    "RankedPage": record({"rank": WHOLE, "url": TEXT, "score": NUMBER, "in_links": WHOLE, "hosts": WHOLE}),
    "Period": record({"period": TEXT, **dict.fromkeys(("new", "changed", "removed", "islanded"), WHOLE)}),
    "Event": record({"what": EVENT, "url": TEXT, "captured_at": DIGITS}),
    "Job": record({"job": TEXT, "spider": TEXT, "project": TEXT}),
    "Problem": record({"type": TEXT, "title": TEXT, "status": WHOLE, "detail": TEXT}),
}
