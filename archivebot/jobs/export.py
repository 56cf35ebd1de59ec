"""Exports of captures as WARC records, into a folder or into any other place for files."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from archivebot.archive import ArchiveReader
from archivebot.exceptions import CorruptObject, NotArchived
from archivebot.export.cdxj import cdxj_line, in_order
from archivebot.export.files import LARGEST, Folder, Place, Sink, WarcFiles
from archivebot.export.record import (
    ANSWERS,
    CONFORMS,
    IDENTICAL,
    NOT_MODIFIED,
    OK,
    SHORT,
    NewRecord,
    Original,
    has_answer,
    metadata,
    record_id,
    request,
    response,
    revisit,
    terms,
    visit,
    was_resource,
)
from archivebot.jobs.attached import Attached
from archivebot.jobs.exported import Earlier, Exported, Progress, leave_out
from archivebot.jobs.selection import Selection
from archivebot.models import Capture, Outcome
from archivebot.records.block import label_record
from archivebot.records.metadata import block_metadata_record
from archivebot.timestamps import timestamp
from archivebot.warc.own import BLOCKS

# Bodies that a revisit may refer to. With 10 million bodies their list would take 3 GB; one that left it is
# written in full again.
MOST_ORIGINALS = 500_000


@dataclass(frozen=True, slots=True)
class Choices:
    """How captures are written: with their blocks, a 304 as the content it confirms, the size of files."""

    blocks: bool = True
    revalidated: bool = False
    limit: int = LARGEST


@dataclass(frozen=True, slots=True)
class Written:
    """A capture that was written: its records, with the place of its answer."""

    capture: Capture
    records: Sequence[NewRecord] = field(repr=False)
    place: Place

    @property
    def answer(self) -> NewRecord:
        return self.records[0]

    @property
    def is_indexed(self) -> bool:
        """Whether replay may show it: a bare 304 would be a blank page, and other protocols have no page."""
        if self.answer.kind == "metadata":  # no answer came, or it is not kept
            return False
        return bool(self.capture.status) and self.capture.outcome is not Outcome.NOT_MODIFIED

    @property
    def line(self) -> str:
        """Its line in a CDXJ index."""
        return cdxj_line(self.capture, self.place, revisit=self.answer.kind == "revisit")


def export_warc(
    archive: ArchiveReader,
    folder: Path,
    selection: Selection,
    began: datetime,
    choices: Choices | None = None,
    *,
    since_last: bool = False,
    progress: Progress | None = None,
) -> Exported:
    """Write captures as WARC files into a folder, with an index of each export; return the counts.

    With ``since_last`` captures are left out that earlier exports into the folder had. Each export can be
    read without the others. Raises StorageError if a file cannot be written; finished files stay.
    """
    index, sink, result = Folder(folder), Folder(folder), Exported()
    earlier = Earlier(folder, asked=since_last)
    found = written_captures(archive, sink, selection, began, result, choices, earlier, progress)
    name = f"archivebot-{timestamp(began)}"
    count = 0
    while index.has(f"{name}-{count:05d}.cdxj"):
        count += 1
    try:
        lines = index.begin(f"{name}-{count:05d}.cdxj")
        for line in in_order(each.line for each in found if each.is_indexed):
            lines.write(f"{line}\n".encode())
        if result.files:
            index.end()
            earlier.keep()
    finally:
        index.abandon()
    return result


def written_captures(
    archive: ArchiveReader,
    sink: Sink,
    selection: Selection,
    began: datetime,
    result: Exported,
    choices: Choices | None = None,
    earlier: Earlier | None = None,
    progress: Progress | None = None,
) -> Iterator[Written]:
    """Write captures as WARC files into a sink, count them in ``result``, and yield each of them."""
    choices, progress = choices or Choices(), progress or Progress()
    damaged = partial(leave_out, result, progress)
    files = WarcFiles(sink, began, _about(archive), choices.limit)
    maker, attached = _Maker(archive, choices), Attached(archive, earlier, result, progress)
    try:
        for capture in selection.captures(archive, damaged):
            if earlier and earlier.has(capture):
                if late := attached.of(capture, record_id("response", capture)):
                    files.write(late)
                continue
            try:
                shown = maker.shown(capture)
                records = maker.records(shown)
            except CorruptObject as error:
                damaged(error)
                if left := attached.of(capture):
                    files.write(left)
                continue
            records += attached.of(shown, records[0].fields[0][1])
            places = files.write(records)
            if earlier:
                earlier.add(capture)
            _count(result, records, files)
            result.pruned += capture.pruned
            progress.written(result)
            yield Written(shown, records, places[0])
        for record in attached.loose(selection):
            files.write([record])
        files.finish()
        _count(result, (), files)
    finally:
        files.abandon()


def _count(result: Exported, records: Sequence[NewRecord], files: WarcFiles) -> None:
    kind = records[0].kind if records else ""
    result.responses += kind in ANSWERS
    result.revisits += kind == "revisit"
    result.without += kind == "metadata"
    result.files, result.records, result.bytes = files.names, files.records, files.bytes


class _Maker:
    """Makes the records of captures, which come in the order of an index."""

    def __init__(self, archive: ArchiveReader, choices: Choices) -> None:
        self._archive, self._choices = archive, choices
        self._originals: OrderedDict[str, Original] = OrderedDict()  # by digest

    def shown(self, capture: Capture) -> Capture:
        """Return a capture as it is written: a 304 may become the content that it found unchanged."""
        if not self._choices.revalidated or capture.outcome is not Outcome.NOT_MODIFIED or not capture.digest:
            return capture
        brought = self._archive.brought(capture)
        return capture if brought is capture else _revalidated(capture, brought)

    def records(self, capture: Capture) -> list[NewRecord]:
        """Return the records of a capture, its answer first; raises CorruptObject."""
        answer = self._answer(capture)
        if answer is None:
            return [visit(capture)]
        name = answer.fields[0][1]
        asked = request(capture, name)
        return [answer, *([asked] if asked else []), *self._about(capture, answer, name)]

    def _answer(self, capture: Capture) -> NewRecord | None:
        """Return the answer of a capture; None if none came, or if the archive does not hold it."""
        if not has_answer(capture):
            return None
        if capture.outcome is Outcome.NOT_MODIFIED:
            return self._unchanged(capture)
        if capture.digest is None:
            return response(capture, b"") if capture.status is not None else None
        original = self._originals.get(capture.digest)
        if original and original.when <= capture.captured_at and _may_revisit(capture):
            self._originals.move_to_end(capture.digest)
            return revisit(capture, original, IDENTICAL)
        record = response(capture, self._archive.body(capture))
        if _is_whole(capture):
            self._remember(capture, record)
        return record

    def _remember(self, capture: Capture, record: NewRecord) -> None:
        """Note a response that revisits may refer to."""
        assert capture.digest is not None, "it has a body"
        name = dict(record.fields)["WARC-Record-ID"]
        self._originals[capture.digest] = Original(capture.url, capture.captured_at, name)
        if len(self._originals) > MOST_ORIGINALS:
            self._originals.popitem(last=False)

    def _unchanged(self, capture: Capture) -> NewRecord:
        """Return a 304 as a revisit of the response with the body, or as it is if there is none."""
        brought = self._archive.brought(capture)
        if capture.digest is None or brought is capture:
            return response(capture, b"")
        original = self._originals.get(capture.digest)
        if original is None or original.when > capture.captured_at:  # not in this export
            original = Original(brought.url, brought.captured_at, record_id("response", brought))
        return revisit(capture, original, NOT_MODIFIED)

    def _about(self, capture: Capture, answer: NewRecord, name: str) -> Iterator[NewRecord]:
        """Yield the metadata and the blocks of a version with the response that brings it."""
        if answer.kind not in ANSWERS or not capture.digest:
            return
        with suppress(NotArchived):
            version = self._archive.seen(capture)
            known = self._archive.metadata(capture.url, version)
            if known:
                yield terms(capture, name, known)
            if not self._choices.blocks:
                return
            cut = self._archive.visits.partition(version)
            if cut.blocks:
                labels = cut.labels or (None,) * len(cut.blocks)
                blocks = [
                    {
                        "start": block.start,
                        "end": block.end,
                        "level": block.level,
                        **label_record(label),
                        **({"metadata": own} if (own := block_metadata_record(known, label)) else {}),
                    }
                    for block, label in zip(cut.blocks, labels, strict=True)
                ]
                document = {
                    "url": capture.url,
                    "version": capture.number,
                    "digest": capture.digest,
                    "charset": cut.charset,
                    "level": cut.level,
                    "segmenter": cut.segmenter,
                    "blocks": blocks,
                }
                data = json.dumps(document, ensure_ascii=False).encode()
                yield metadata(capture, name, BLOCKS + capture.url, "application/json", data)


def _is_whole(capture: Capture) -> bool:
    """Return whether a capture is a complete answer; a revisit cannot say that its own answer was not."""
    return capture.status is not None and capture.outcome not in SHORT


def _may_revisit(capture: Capture) -> bool:
    """Return whether a capture may be a revisit record."""
    return _is_whole(capture) and capture.outcome is not Outcome.REDIRECT and not was_resource(capture)


def _revalidated(capture: Capture, brought: Capture) -> Capture:
    """Return a 304 as if the server had sent the content again: with status 200 and freshened headers."""
    fresh = {name.lower() for name, _ in capture.headers}
    kept = tuple(pair for pair in brought.headers if pair[0].lower() not in fresh)
    headers = (*kept, *capture.headers)
    wire = replace(capture.wire, received=b"", decoded=True) if capture.wire else None
    return replace(
        capture,
        outcome=brought.outcome,
        status=brought.status or OK,
        headers=headers,
        size=brought.size,
        wire=wire,
    )


def software() -> str:
    """Return the name and the version of this program, as files name their writer."""
    try:
        return f"archivebot {version('archivebot')}"
    except PackageNotFoundError:  # run from a folder without being installed
        return "archivebot"


def _about(archive: ArchiveReader) -> list[tuple[str, str]]:
    """Return the fields of the first record of each file."""
    return [
        ("software", software()),
        ("format", "WARC File Format 1.1"),
        ("conformsTo", CONFORMS),
        ("isPartOf", f"urn:uuid:{archive.position().archive}"),
        (
            "description",
            "bodies are without transfer and content codings; header fields that no longer hold are kept as"
            " X-Archive-Orig-*; blocks of pages are JSON in metadata records of urn:blocks:",
        ),
    ]
