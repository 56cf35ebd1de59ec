"""Exports of captures as a WACZ package, as an index, as JSON lines, and as a page to read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO

from archivebot.archive import ArchiveReader
from archivebot.exceptions import ArchiveError, CorruptObject
from archivebot.export.cdxj import cdxj_line, in_order
from archivebot.export.files import written
from archivebot.export.history import history_page
from archivebot.export.record import has_answer
from archivebot.export.wacz import Package, home_of, pages_of
from archivebot.jobs.export import Choices, software, written_captures
from archivebot.jobs.exported import Exported, Progress, leave_out
from archivebot.jobs.selection import Selection
from archivebot.markup.contenttype import content_type, parse
from archivebot.markup.formats import MediaKind
from archivebot.markup.media import declared_kind, media_of
from archivebot.metadata import NONE
from archivebot.models import REQUISITE, Capture, Delta, Outcome
from archivebot.proof.signing import Signer
from archivebot.records import (
    block_metadata_record,
    delta_record,
    history_record,
    metadata_record,
)
from archivebot.records.block import stored_block_record
from archivebot.storage.base import Damaged, StoredVersion


def export_wacz(
    archive: ArchiveReader,
    path: Path,
    selection: Selection,
    began: datetime,
    choices: Choices | None = None,
    signer: Signer | None = None,
    progress: Progress | None = None,
) -> Exported:
    """Write captures as one WACZ package, signed if there is a ``signer``; return the counts.

    Nothing is written if there is neither a capture nor an attachment. Raises StorageError if the file cannot
    be written.
    """
    result, progress, nothing = Exported(), progress or Progress(), Exported()
    if not _has_any(archive, selection, partial(leave_out, nothing, Progress())):
        for message in nothing.damaged:
            progress.damaged(message)
        return nothing

    def write(out: BinaryIO) -> None:
        package = Package(out, began, software())
        with closing(package), TemporaryFile() as index, TemporaryFile() as pages:
            home: tuple[str, datetime, str] | None = None
            for each in written_captures(archive, package, selection, began, result, choices, None, progress):
                if not each.is_indexed:
                    continue
                _put(index, each.line)
                if (title := _title(archive, each.capture)) is not None:
                    entry = each.capture.url, each.capture.captured_at, title
                    home = min(home or entry, entry, key=lambda found: (len(found[0]), found[0]))
                    _put(pages, json.dumps((entry[0], entry[1].isoformat(), entry[2])))
            package.add_index(in_order(_lines(index)))
            found = (json.loads(line) for line in _lines(pages))
            package.add_pages(
                pages_of((url, datetime.fromisoformat(when), title) for url, when, title in found)
            )
            title = home[2] or home[0] if home else "Captures"
            package.describe(title, home_of(*home[:2]) if home else None, signer)
        result.bytes = out.tell()

    written(path, write)
    result.files = [path.name]
    return result


def _has_any(archive: ArchiveReader, selection: Selection, damaged: Damaged) -> bool:
    """Return whether a selection has a capture, or an attachment without one."""
    if next(selection.captures(archive, damaged), None):
        return True
    try:
        return any(selection.takes(*place) for place in archive.attachments.loose())
    except CorruptObject as error:
        damaged(error)
        return False


def export_cdxj(
    archive: ArchiveReader, selection: Selection, result: Exported, progress: Progress | None = None
) -> Iterator[str]:
    """Yield the lines of the index of captures whose answer is kept, sorted; count them in ``result``."""
    damaged = partial(leave_out, result, progress or Progress())
    found = selection.captures(archive, damaged)
    captures = (each for each in found if each.status is not None and has_answer(each))
    for line in in_order(
        cdxj_line(each, None, revisit=each.outcome is Outcome.NOT_MODIFIED) for each in captures
    ):
        result.records += 1
        yield line


def export_jsonl(
    archive: ArchiveReader, selection: Selection, result: Exported, progress: Progress
) -> Iterator[dict[str, Any]]:
    """Yield records of captures, each followed by the blocks and the changes of a version seen first.

    Each has its ``type``: ``capture``, ``block`` or ``change``.
    """
    url, seen = "", dict[str, StoredVersion]()
    last: StoredVersion | None = None
    damaged = partial(leave_out, result, progress)
    for capture in selection.captures(archive, damaged):
        if capture.url != url:
            url, seen, last = capture.url, {}, None
        result.records += 1
        version = seen.get(capture.digest or "")
        metadata = NONE
        try:
            if version is None and capture.number is not None and not capture.pruned:
                version = archive.seen(capture)
            metadata = archive.metadata(url, version)
        except ArchiveError as error:
            damaged(error)
            yield {"type": "capture", **history_record(capture), "metadata": {}}
            continue
        yield {"type": "capture", **history_record(capture), "metadata": metadata_record(metadata)}
        if capture.number is None or capture.digest is None or capture.pruned or capture.digest in seen:
            last = seen.get(capture.digest or "", last)
            continue
        try:
            version = seen[capture.digest] = archive.seen(capture)
            place = {"url": url, "version": capture.number}
            for block, text in archive.blocks(version):
                result.records += 1
                own = block_metadata_record(metadata, block.label)
                yield {"type": "block", **place, **stored_block_record(block), "metadata": own, "text": text}
            if last is not None:
                result.records += 1
                yield {"type": "change", **delta_record(archive.delta(url, last, version), None, None)}
            last = version
        except ArchiveError as error:
            damaged(error)


def export_html(archive: ArchiveReader, url: str, path: Path, progress: Progress) -> Exported:
    """Write the history of a page as one HTML file that needs no server; return the counts."""
    result = Exported(files=[path.name])
    captures = archive.captures(url)
    shown = [each for each in captures if each.number is not None and not each.pruned]
    metadata = archive.metadata(url, archive.seen(shown[-1]) if shown else None)
    text = history_page(url, captures, _deltas(archive, captures, result, progress), metadata)
    data = text.encode("utf-8", "replace")

    def write(out: BinaryIO) -> None:
        out.write(data)

    written(path, write)
    result.records, result.bytes = len(captures), len(data)
    return result


def _deltas(
    archive: ArchiveReader, captures: list[Capture], result: Exported, progress: Progress
) -> Iterator[tuple[Capture, Delta]]:
    """Yield the changes between the successive contents of a page, each with the capture that shows it."""
    last: Capture | None = None
    for capture in captures:
        if capture.number is None or capture.pruned:
            continue
        if last is not None and last.digest != capture.digest:
            try:
                yield capture, archive.delta(capture.url, archive.seen(last), archive.seen(capture))
            except CorruptObject as error:
                leave_out(result, progress, error)
        last = capture


def _title(archive: ArchiveReader, capture: Capture) -> str | None:
    """Return the title of a page; None if the capture is not a page: a requisite, an error or a picture.

    A page whose bytes are damaged has no title, because a revisit is written without them.
    """
    if capture.outcome is not Outcome.FETCHED or capture.origin == REQUISITE:
        return None
    declared = content_type(capture.headers)
    try:
        body = archive.body(capture)
    except CorruptObject:
        return "" if declared_kind(parse(declared).type) is MediaKind.PAGE else None
    return archive.readings.title(body, declared) if media_of(body, declared).is_page else None


def _put(spool: Any, line: str) -> None:
    spool.write(f"{line}\n".encode("utf-8", "replace"))


def _lines(spool: Any) -> Iterator[str]:
    """Yield the lines that were put into a temporary file."""
    spool.seek(0)
    return (line.decode().removesuffix("\n") for line in spool)
