"""The captures that the other records of a file belong to, found as the records are read."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator
from datetime import datetime

from archivebot.warc.dates import record_date
from archivebot.warc.draft import PageError
from archivebot.warc.records import Record
from archivebot.wire import Attachment, bare_uri

# Records whose ids are remembered. All known writers put metadata right after the records of their page; a
# conversion in a file of its own names the URI and the date of its page, too.
MOST = 4096

# The types of records that are kept with a capture if they are none themselves.
ATTACHED = frozenset(("metadata", "conversion", "resource"))

_NAMES = ("warc-refers-to", "warc-concurrent-to")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")

# The target of a record about a page, as Browsertrix writes it: urn:pageinfo:https://a.example/
_ABOUT = re.compile(r"urn:[a-z0-9-]+:(?=https?://)", re.IGNORECASE)


class Subjects:
    """The URL and the time of the captures of a file, by the ids of their records and of their requests."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[str, datetime]] = OrderedDict()

    def note(self, record: str, url: str, when: datetime) -> None:
        """Remember the capture of a record with an id."""
        if record:
            self._known[record] = url, when
            if len(self._known) > MOST:
                self._known.popitem(last=False)

    def request(self, record: Record) -> None:
        """Remember the capture of a request: the one that it names, else the one of its URI and date."""
        when = record_date(record.fields.get("warc-date", ""))
        found = self._named(record) or (_uri(record), when)
        if found[1] is not None:
            self.note(record.fields.get("warc-record-id", ""), found[0], found[1])

    def attachment(self, record: Record) -> Attachment:
        """Return a record with the URL and the time of its capture, which it names by id or by URI and date.

        A record about no page has its own URI, or its id if it has no URI. Raises PageError, with what is
        missing, if it has neither or no date.
        """
        if found := self._named(record):
            return Attachment(*found, record.head, record.block)
        date = record.fields.get("warc-date", "")
        url, when = _uri(record), record_date(date)
        if not url:
            raise PageError("record has neither WARC-Target-URI nor WARC-Record-ID")
        if when is None:
            raise PageError(f"WARC-Date {date!r} is missing or no date")
        return Attachment(url, when, record.head, record.block)

    def _named(self, record: Record) -> tuple[str, datetime] | None:
        return next(filter(None, map(self._known.get, _ids(record))), None)


def _ids(record: Record) -> Iterator[str]:
    """Yield the ids of the records that a record names."""
    for name in _NAMES:
        yield from record.fields.get(name, "").split()


def _uri(record: Record) -> str:
    """Return the URL of the page that a record is about, else its own URI."""
    own = bare_uri(record.fields.get("warc-target-uri", ""))
    about = _ABOUT.match(own)
    found = own[about.end() :] if about else own or bare_uri(record.fields.get("warc-record-id", ""))
    return _CONTROL.sub("", found)
