"""The pages of a WARC or ARC file, in the order of their records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime

from archivebot.exceptions import WarcError
from archivebot.warc.damage import Damage
from archivebot.warc.dates import record_date
from archivebot.warc.draft import BUILDERS, Draft, PageError, WarcPage, draft_of
from archivebot.warc.frames import RawFile, head_of, is_compressed
from archivebot.warc.inputs import Input
from archivebot.warc.own import reason_of, with_own
from archivebot.warc.records import Record, RecordError, read_head, read_records
from archivebot.warc.requests import Requests, is_request
from archivebot.warc.source import HEAD, Source
from archivebot.warc.subjects import ATTACHED, Subjects
from archivebot.wire import Attachment

# Larger bodies stay coded, larger records are skipped; 512 MiB is above every page of a crawl with Scrapy's
# largest sensible DOWNLOAD_MAXSIZE, and fits in the memory of a small machine.
MAX_BODY = 512 << 20

# Bytes of a file in which its first date is looked for: a foreign file may have none anywhere.
BEGINNING = 4 << 20

_FOREIGN: dict[bytes, str] = {
    b"PK\x03\x04": "a ZIP file without WARC files",
    b"<": "HTML or XML",
    b"{": "JSON",
    b"%PDF": "a PDF document",
    b"\x89PNG": "a PNG image",
    b"SQLite format 3\0": "an SQLite database",
    b"BZh": "bzip2 data",
    b"\xfd7zXZ\0": "xz data",
    b"7z\xbc\xaf": "a 7-Zip file",
    b"\x7fELF": "a program",
}


def read_pages(
    path: Input,
    on_damage: Callable[[Damage], None],
    max_body: int = MAX_BODY,
    on_skip: Callable[[str], None] | None = None,
    on_attachment: Callable[[Attachment], None] | None = None,
    on_read: Callable[[], None] | None = None,
) -> Iterator[WarcPage]:
    """Stream the pages of a WARC (0.18, 1.0, 1.1) or ARC file, plain or compressed.

    Yields one item for each response, revisit and resource record of an http(s) URI and for each such ARC
    record, its body without transfer and content codings. The URL of an answer to another request than a
    plain GET holds the method and the body of the request. One record at a time is in memory. Damage is
    reported to ``on_damage``, and reading continues after it. A metadata, conversion or resource record
    that is not a page goes to ``on_attachment``; the reason why another record is not a page is reported to
    ``on_skip``. What an export of archivebot wrote about a page is read back into the metadata of the page. A
    body that ends early or that its writer truncated has the outcome INCOMPLETE, a body that decodes to more
    than ``max_body`` bytes TOO_LARGE; both keep their content codings. A body that does not fit its digest is
    kept; the page's reason says so. ``on_read`` is called before each read of the file, and may raise an
    error that ends the reading. Raises WarcError at the first item if the file cannot be read or holds no
    record at all.
    """

    def report(offset: int, reason: str) -> None:
        on_damage(Damage(path.name, offset, reason))

    with RawFile(path, on_read) as raw:
        _refuse_foreign(path, raw)
        walk = _Walk(path, raw, max_body, on_damage, on_skip, on_attachment)
        yield from walk.pages()
        if raw.size and not walk.found:
            raise _not_a_warc(path, raw)


class _Walk:
    """The walk over the records of one file, with what is known of them so far."""

    def __init__(
        self,
        path: Input,
        raw: RawFile,
        max_body: int,
        on_damage: Callable[[Damage], None],
        on_skip: Callable[[str], None] | None,
        on_attachment: Callable[[Attachment], None] | None,
    ) -> None:
        self._file, self._max_body, self._on_damage = path.name, max_body, on_damage
        self._on_skip, self._on_attachment = on_skip, on_attachment
        self._source = Source(raw, self._report)
        self._requests = Requests(raw, max_body + HEAD)
        self._subjects = Subjects()
        self._draft: Draft | None = None  # of the last page: its request and its metadata may come after it

    @property
    def found(self) -> bool:
        """Whether the file held a record."""
        return self._source.found

    def pages(self) -> Iterator[WarcPage]:
        for record in read_records(self._source, self._report, self._max_body + HEAD, _is_read):
            self._requests.add(record)
            if self._draft is not None and not self._is_about(record, self._draft):
                yield self._done(self._draft)
                self._draft = None
            try:
                self._take(record)
            except PageError as error:
                if not record.cut:  # that was reported already
                    self._report(record.offset, str(error))
            del record  # before the next one is read
        if self._draft is not None:
            yield self._done(self._draft)

    def _report(self, offset: int, reason: str) -> None:
        self._on_damage(Damage(self._file, offset, reason))

    def _is_about(self, record: Record, draft: Draft) -> bool:
        """Return whether a record after a page may still belong to it; what an export wrote is read back."""
        if record.kind == "request":
            return True
        if not reason_of(record) or draft.identity not in record.fields.get("warc-refers-to", "").split():
            return False
        draft.metadata = with_own(draft.metadata, record)
        return True

    def _done(self, draft: Draft) -> WarcPage:
        found = draft.done(self._requests.of(draft.record))
        self._subjects.note(draft.identity, found.page.url, found.page.captured_at)
        return found

    def _take(self, record: Record) -> None:
        """Begin a page, or pass on a record that is none; raises PageError."""
        if record.kind == "request":
            self._subjects.request(record)
        own = reason_of(record)
        draft = None if own else draft_of(record, self._file, self._max_body, self._report)
        if draft is not None:
            self._draft = draft
        elif record.kind in ATTACHED and not own:
            if self._on_attachment is not None and not record.cut:  # else it was reported
                self._on_attachment(self._subjects.attachment(record))
        elif self._on_skip is not None:
            self._on_skip(own or _why_skipped(record))


def first_date(path: Input) -> datetime | None:
    """Return the date of the first dated record at the beginning of a file; None if there is none."""
    with suppress(WarcError), RawFile(path) as raw:
        raw.size = min(raw.size, BEGINNING)
        source = Source(raw, lambda offset, reason: None)
        while source.next_record():
            with suppress(RecordError):
                if when := record_date(read_head(source)[1].get("warc-date", "")):
                    return when
            source.resync()
    return None


def _refuse_foreign(path: Input, raw: RawFile) -> None:
    """Refuse a file of another known format at once, before a search for records in all of it."""
    if head_of(raw, 0).startswith(tuple(_FOREIGN)):
        raise _not_a_warc(path, raw)


def _not_a_warc(path: Input, raw: RawFile) -> WarcError:
    head = head_of(raw, 0)
    known = (name for magic, name in _FOREIGN.items() if head.startswith(magic))
    looks = next(known, f"unknown data that begin with {head[:16]!r}")
    wrapped = "compressed, and inside it is " if is_compressed(raw, 0) else ""
    return WarcError(
        f"{path} is not a WARC or ARC file: it is {wrapped}{looks}; "
        "expected is a file whose records begin with WARC/1.0, WARC/1.1 or an ARC line"
    )


# Why the records of these types are no pages.
_SKIPPED = {
    "warcinfo": "warcinfo: describes the file",
    "request": "request: its head is kept with its answer, if the file has one",
    "continuation": "continuation: the rest of a record in another file",
}


def _why_skipped(record: Record) -> str:
    if record.fields.get("warc-target-uri", "").startswith("filedesc:"):  # the first record of an ARC file
        return _SKIPPED["warcinfo"]
    if record.kind in BUILDERS and record.kind != "metadata":
        return f"{record.kind}: its URI is not of the web"
    return _SKIPPED.get(record.kind, "of a type that is not known")


def _is_read(fields: dict[str, str]) -> bool:
    """Return whether the block of a record is needed."""
    kind = fields["warc-type"].lower()
    return kind in BUILDERS or kind in ATTACHED or is_request(fields)
