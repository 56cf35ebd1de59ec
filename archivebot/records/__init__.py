"""Models as JSON: one shape of each, for feeds and ``--json``."""

from archivebot.records.capture import block_record, capture_record, duplicate_record, focus_record

__all__ = ["block_record", "capture_record", "duplicate_record", "focus_record"]
