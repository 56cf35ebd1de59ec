"""Models as JSON, in one format for feeds and ``--json``; scripts rely on the field names."""

from archivebot.records.attachment import attachment_record
from archivebot.records.block import described_record
from archivebot.records.capture import (
    capture_record,
    extract_record,
    history_record,
    life_record,
    page_record,
    replay_record,
    version_record,
)
from archivebot.records.delta import delta_record
from archivebot.records.duplicates import cluster_record, match_record
from archivebot.records.forms import judged_form_record, kept_form_record
from archivebot.records.frontier import crawl_record, url_record
from archivebot.records.link import link_record
from archivebot.records.metadata import block_metadata_record, metadata_record
from archivebot.records.template import template_record
from archivebot.records.text import file_record, text_record
from archivebot.records.topic import evaluation_record, relevance_record, sites_record
from archivebot.records.totals import archive_record, ratio, rows_bytes
from archivebot.records.verification import checkpoint_record, proof_record, verification_record

__all__ = [
    "archive_record",
    "attachment_record",
    "block_metadata_record",
    "capture_record",
    "checkpoint_record",
    "cluster_record",
    "crawl_record",
    "delta_record",
    "described_record",
    "evaluation_record",
    "extract_record",
    "file_record",
    "history_record",
    "judged_form_record",
    "kept_form_record",
    "life_record",
    "link_record",
    "match_record",
    "metadata_record",
    "page_record",
    "proof_record",
    "ratio",
    "relevance_record",
    "replay_record",
    "rows_bytes",
    "sites_record",
    "template_record",
    "text_record",
    "url_record",
    "verification_record",
    "version_record",
]
