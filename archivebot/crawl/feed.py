"""Feed exporters that write captures as readable records, safe to show and to open in a spreadsheet."""

from __future__ import annotations

import json
import re
from typing import Any

from scrapy.exporters import BaseItemExporter, CsvItemExporter, JsonItemExporter, JsonLinesItemExporter
from scrapy.utils.serialize import ScrapyJSONEncoder

from archivebot.models import Capture
from archivebot.records import capture_record
from archivebot.terminal import escaped, harmless

# Texts that a spreadsheet takes for a formula: https://owasp.org/www-community/attacks/CSV_Injection
_FORMULA = re.compile(r"[\t\r\n]|\s*[=+@\-\uff1d\uff0b\uff20\uff0d]")


class _Encoder(ScrapyJSONEncoder):
    """Write characters that could steer a terminal or have no encoding as escapes."""

    def encode(self, o: Any) -> str:
        return escaped(super().encode(o))


class _CaptureExporter(BaseItemExporter):
    """Exports a Capture as its record; other items pass unchanged."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.encoder: Any = _Encoder(**self._kwargs)

    def export_item(self, item: Any) -> None:
        super().export_item(capture_record(item) if isinstance(item, Capture) else item)  # type: ignore[safe-super]


class CaptureJsonExporter(_CaptureExporter, JsonItemExporter):
    """One JSON array, for ``-O out.json``."""


class CaptureJsonLinesExporter(_CaptureExporter, JsonLinesItemExporter):
    """One JSON object per line, for ``-O out.jsonl``."""


class CaptureCsvExporter(CsvItemExporter):
    """One row per capture with the number of blocks, for ``-O out.csv``."""

    def export_item(self, item: Any) -> None:
        if isinstance(item, Capture):
            item = capture_record(item)
            item["blocks"] = item["blocks"]["count"]
            for name in ("wire", "fields", "metadata"):
                item[name] = json.dumps(item[name], ensure_ascii=False) if item[name] else ""
        super().export_item(item)

    def serialize_field(self, field: Any, name: str, value: Any) -> Any:
        value = super().serialize_field(field, name, value)
        return cell(value) if isinstance(value, str) else value


def cell(text: str) -> str:
    """Return a text as a cell that no spreadsheet takes for a formula; the apostrophe marks it as text.

    >>> cell("=1+1"), cell(" -2"), cell("@SUM(A1)"), cell("a=b")
    ("'=1+1", "' -2", "'@SUM(A1)", 'a=b')
    """
    return harmless(f"'{text}" if _FORMULA.match(text) else text)
