"""The metadata records that an export of archivebot writes, read back into the metadata of their page."""

from __future__ import annotations

import json
from typing import Any

from archivebot.kinds import Label
from archivebot.metadata import Metadata, Terms
from archivebot.warc.records import Record
from archivebot.wire import header_fields

# What comes before the URL of a page in the target of its metadata and of its blocks: an index has the page
# itself only once.
TERMS, BLOCKS = "urn:metadata:", "urn:blocks:"

_KINDS = {TERMS: "application/warc-fields", BLOCKS: "application/json"}
_REASONS = {
    TERMS: "metadata: the terms of a page, read back with it",
    BLOCKS: "metadata: the blocks of a page, which are found anew",
}
_LABELS = {label.value: label for label in Label}


def reason_of(record: Record) -> str:
    """Return why a record is not kept as it is, if an export of archivebot wrote it; else ""."""
    prefix = _prefix(record)
    return _REASONS[prefix] if prefix else ""


def with_own(known: Metadata, record: Record) -> Metadata:
    """Return the metadata of a page with those in a record of its terms or of its blocks.

    What cannot be read changes nothing.
    """
    prefix = _prefix(record)
    if prefix == TERMS:
        return Metadata(_terms(record.block), known.labels)
    if prefix == BLOCKS:
        return Metadata(known.terms, {**known.labels, **_labels(record.block, known.terms)})
    return known


def _prefix(record: Record) -> str:
    """Return what the target of a record of an export begins with; "" for another record."""
    if record.kind != "metadata":
        return ""
    target, kind = (record.fields.get(name, "") for name in ("warc-target-uri", "content-type"))
    return next((each for each, own in _KINDS.items() if target.startswith(each) and kind == own), "")


def _terms(block: bytes) -> Terms:
    found: dict[str, tuple[str, ...]] = {}
    for name, value in header_fields(block):
        found[name] = (*found.get(name, ()), value)
    return found


def _labels(block: bytes, terms: Terms) -> dict[str, Terms]:
    """Return by label the terms that the blocks of a page have instead of those of the page."""
    try:
        blocks: Any = json.loads(block)["blocks"]
        own = {_LABELS[each["label"]]: each["metadata"] for each in blocks if each.get("metadata")}
        read = {
            label: {name: tuple(map(str, values)) for name, values in each.items()}
            for label, each in own.items()
        }
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return {}
    return {
        label: {name: values for name, values in each.items() if terms.get(name) != values}
        for label, each in read.items()
    }
