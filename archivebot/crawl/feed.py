"""Feed exporters that write captures as readable records, safe to show and to open in a spreadsheet."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exporters import BaseItemExporter, CsvItemExporter, JsonItemExporter, JsonLinesItemExporter
from scrapy.utils.serialize import ScrapyJSONEncoder

from archivebot.config import ArchiveConfig
from archivebot.fields.about import SUMMARY
from archivebot.fields.file import read_sites
from archivebot.models import Capture
from archivebot.records import capture_record
from archivebot.terminal import cell, escaped

# Maximum number of characters of a cell, of which Excel drops the rest without a word:
# https://support.microsoft.com/en-us/office/excel-specifications-and-limits-1672b34d-7043-467e-8e27-269d656771c3
LONGEST_CELL = 32_767

# Parts of a record that a row holds as JSON, exactly as the other feeds have them.
WHOLE = ("wire", "metadata", "fields")


class _Encoder(ScrapyJSONEncoder):
    """Write characters that could steer a terminal or have no encoding as escapes."""

    def encode(self, o: Any) -> str:
        return escaped(super().encode(o))


class _CaptureExporter(BaseItemExporter):
    """Exports a Capture as its record; other items pass unchanged."""

    encoder: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.encoder.__class__ = _Encoder  # it has the options of the exporter

    def export_item(self, item: Any) -> None:
        super().export_item(capture_record(item) if isinstance(item, Capture) else item)  # type: ignore[safe-super]  # it is abstract in the first class only


class CaptureJsonExporter(_CaptureExporter, JsonItemExporter):
    """One JSON array, for ``-O out.json``."""


class CaptureJsonLinesExporter(_CaptureExporter, JsonLinesItemExporter):
    """One JSON object per line, for ``-O out.jsonl``."""


class CaptureCsvExporter(CsvItemExporter):
    """One row per capture, for ``-O out.csv``: texts, numbers and times in the cells.

    ``rules`` are the names of the fields that selectors find; each has a column.
    """

    def __init__(self, *args: Any, rules: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._fields = ("description", SUMMARY, *rules)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Create the exporter with a column for each field that the fields file of the crawl names."""
        sites = read_sites(ArchiveConfig.from_settings(crawler.settings).fields).sites
        return cls(*args, rules=list(dict.fromkeys(name for site in sites for name in site.rules)), **kwargs)

    def export_item(self, item: Any) -> None:
        super().export_item(row(item, self._fields) if isinstance(item, Capture) else item)

    def serialize_field(self, field: Any, name: str, value: Any) -> Any:
        value = super().serialize_field(field, name, value)
        return cell(value) if isinstance(value, str) else value


def row(capture: Capture, fields: Iterable[str]) -> dict[str, Any]:
    """Return a capture as one row; what people read first comes first.

    ``before`` and ``after`` are the texts of the changed blocks, with an empty line between two blocks.
    """
    record = capture_record(capture)
    changes = record["changes"]
    values = record["fields"]
    first = {
        "url": record["url"],
        "time": record["time"],
        **{name: record[name] for name in ("title", "kind", "status", "reason")},
        "changes": len(changes),
        "labels": ", ".join(dict.fromkeys(change["label"] for change in changes if change["label"])),
        **{name: _joined(change[name] for change in changes) for name in ("before", "after")},
        **{f"fields.{name}": _flat(values.get(name)) for name in fields},
        "duplicate_of": capture.duplicate.url if capture.duplicate else "",
    }
    whole = {name: json.dumps(record[name], ensure_ascii=False) if record[name] else "" for name in WHOLE}
    rest = {name: value for name, value in (record | whole).items() if name not in first}
    return first | rest | {"blocks": record["blocks"]["count"]}


def _joined(texts: Iterable[str | None]) -> str:
    text = "\n\n".join(filter(None, texts))
    return text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 1]}\N{HORIZONTAL ELLIPSIS}"


def _flat(value: Any) -> Any:
    """Return the value of a field as a cell: a list of texts as lines, rows as JSON.

    >>> _flat(["a", "b"]), _flat(12.5), _flat(None), _flat([{"day": "Monday"}])
    ('a\\nb', 12.5, '', '[{"day": "Monday"}]')
    """
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return "\n".join(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value or ""
