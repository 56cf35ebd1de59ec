"""Feed exporters that write captures as readable records."""

from __future__ import annotations

from typing import Any

from scrapy.exporters import BaseItemExporter, CsvItemExporter, JsonItemExporter, JsonLinesItemExporter

from archivebot.models import Capture
from archivebot.records import capture_record


class _CaptureExporter(BaseItemExporter):
    """Turn a Capture into its record on the way out; other items pass unchanged."""

    def export_item(self, item: Any) -> None:
        super().export_item(capture_record(item) if isinstance(item, Capture) else item)  # type: ignore[safe-super]


class CaptureJsonExporter(_CaptureExporter, JsonItemExporter):
    """One JSON array, for ``-O out.json``."""


class CaptureJsonLinesExporter(_CaptureExporter, JsonLinesItemExporter):
    """One JSON object per line, for ``-O out.jsonl``."""


class CaptureCsvExporter(_CaptureExporter, CsvItemExporter):
    """One row per capture with the number of blocks, for ``-O out.csv``."""

    def export_item(self, item: Any) -> None:
        if isinstance(item, Capture):
            item = capture_record(item)
            item["blocks"] = item["blocks"]["count"]
        super().export_item(item)
