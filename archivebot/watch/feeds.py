"""Feeds of alerts as files: Atom (RFC 4287) and JSON Feed 1.1."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from tempfile import NamedTemporaryFile
from uuid import uuid4
from xml.etree import ElementTree

from archivebot.exceptions import Undelivered
from archivebot.terminal import harmless, json_text
from archivebot.timestamps import iso_time
from archivebot.watch.alert import Alert

ATOM = "http://www.w3.org/2005/Atom"
JSON_FEED = "https://jsonfeed.org/version/1.1"

MOST_ENTRIES = 100

# The characters that XML 1.0 does not allow even as references (https://www.w3.org/TR/xml/#charsets), beside
# those that are never harmless.
_NOT_XML = re.compile("[\ufffe\uffff]")


class FeedFormat(StrEnum):
    """The format of a feed."""

    ATOM = "atom"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class Feed:
    """A file with the last alerts; it is replaced as a whole, so a reader never sees half of it."""

    name: str
    path: Path
    format: FeedFormat
    patience: float = 10.0
    shown: int = MOST_ENTRIES

    def send(self, alerts: list[Alert]) -> None:
        """Write the file; raises Undelivered if it cannot be written."""
        temporary = None
        try:
            with NamedTemporaryFile("wb", dir=self.path.parent, delete=False) as file:
                temporary = file.name
                file.write(
                    atom(alerts, self._identity()) if self.format is FeedFormat.ATOM else json_feed(alerts)
                )
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).chmod(0o644)  # a temporary file is closed to a web server
            Path(temporary).replace(self.path)
        except OSError as error:
            if temporary:
                with suppress(OSError):
                    Path(temporary).unlink()
            raise Undelivered(f"{self.path} cannot be written: {error.strerror}") from error

    def _identity(self) -> str:
        """Return the id of the Atom feed that the file already holds, else a new one (RFC 4287, 4.2.6)."""
        # An encoding that Python does not know is a LookupError, one that its parser does not a ValueError.
        with suppress(OSError, ElementTree.ParseError, LookupError, ValueError):
            if found := ElementTree.parse(self.path).findtext(f"{{{ATOM}}}id"):
                return found
        return uuid4().urn


def atom(alerts: Sequence[Alert], identity: str) -> bytes:
    """Return alerts as an Atom feed, whose ``identity`` is a URI.

    >>> atom([], "urn:uuid:5f0f5a52-6f0f-5d0c-9e0f-1f6d3a0b7c11").decode().splitlines()[1]
    '<feed xmlns="http://www.w3.org/2005/Atom">'
    """
    feed = ElementTree.Element("feed", xmlns=ATOM)
    _add(feed, "id", identity)
    _add(feed, "title", "archivebot")
    _add(feed, "updated", iso_time(alerts[0].when if alerts else datetime.fromtimestamp(0, UTC)))
    _add(_add(feed, "author"), "name", "archivebot")
    for alert in alerts:
        entry = _add(feed, "entry")
        _add(entry, "id", f"urn:uuid:{alert.id}")
        _add(entry, "title", alert.title)
        _add(entry, "updated", iso_time(alert.when))
        _add(entry, "link").set("href", alert.pages[0].link)
        _add(entry, "category").set("term", alert.rule)
        _add(entry, "content", alert.text).set("type", "text")
    ElementTree.indent(feed)
    written: bytes = ElementTree.tostring(feed, "utf-8", xml_declaration=True)
    return written + b"\n"


def json_feed(alerts: Sequence[Alert]) -> bytes:
    """Return alerts as a JSON Feed.

    >>> json_feed([]).decode().splitlines()[1]
    ' "version": "https://jsonfeed.org/version/1.1",'
    """
    items = [
        {
            "id": f"urn:uuid:{alert.id}",
            "url": alert.pages[0].link,
            "title": alert.title,
            "content_text": alert.text,
            "date_published": iso_time(alert.when),
            "tags": [alert.rule],
        }
        for alert in alerts
    ]
    feed = {"version": JSON_FEED, "title": "archivebot", "items": items}
    return (json_text(feed, indent=1) + "\n").encode()


def _add(parent: ElementTree.Element, name: str, text: str | None = None) -> ElementTree.Element:
    element = ElementTree.SubElement(parent, name)
    element.text = _NOT_XML.sub("\ufffd", harmless(text)) if text else None
    return element
