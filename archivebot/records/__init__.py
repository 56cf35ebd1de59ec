"""Models as JSON, in one format for feeds and ``--json``; scripts rely on the field names."""

from archivebot.records.block import block_record, described_record
from archivebot.records.capture import (
    capture_record,
    duplicate_record,
    extract_record,
    focus_record,
    history_record,
    replay_record,
)
from archivebot.records.delta import delta_record
from archivebot.records.duplicates import match_record, member_record
from archivebot.records.forms import judged_form_record, kept_form_record
from archivebot.records.frontier import entry_record, url_record
from archivebot.records.link import link_record
from archivebot.records.text import text_record
from archivebot.records.totals import ratio, totals_record

__all__ = [
    "block_record",
    "capture_record",
    "delta_record",
    "described_record",
    "duplicate_record",
    "entry_record",
    "extract_record",
    "focus_record",
    "history_record",
    "judged_form_record",
    "kept_form_record",
    "link_record",
    "match_record",
    "member_record",
    "ratio",
    "replay_record",
    "text_record",
    "totals_record",
    "url_record",
]
