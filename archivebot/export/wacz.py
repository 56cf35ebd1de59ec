"""WACZ packages: WARC files with their index and a list of pages in one ZIP file.

Version 1.1.1, https://specs.webrecorder.net/wacz/1.1.1/: the validator of py-wacz refuses packages of 1.2.0.
"""

from __future__ import annotations

import gzip
import json
import struct
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from hashlib import sha256
from itertools import islice
from typing import Any, BinaryIO, cast

from archivebot.proof.signing import Signer
from archivebot.timestamps import iso_time

VERSION = "1.1.1"

# Lines of an index that are compressed together, as in the ZipNum files of other tools.
BLOCK_LINES = 3000

# An extra field of ZIP: the time of the last change in seconds since 1970, as Info-ZIP writes it.
_TIMESTAMP = 0x5455

_PAGES = {"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}


class Package:
    """A WACZ package in the making; it takes WARC files as a sink, then the index and the pages."""

    def __init__(self, stream: BinaryIO, began: datetime, software: str) -> None:
        self._zip = zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED, allowZip64=True)
        self._began, self._software = began, software
        self._resources: list[dict[str, Any]] = []
        self._entry: _Entry | None = None

    def begin(self, name: str) -> BinaryIO:
        """Return the stream of a WARC file of the package."""
        self._entry = self._begin(f"archive/{name}")
        return cast(BinaryIO, self._entry)

    def end(self) -> None:
        """Finish the WARC file that was begun last."""
        if self._entry is not None:
            self._resources.append(self._entry.finished())
            self._entry = None

    def abandon(self) -> None:
        """Close the WARC file that was begun last; a package with an unfinished file is of no use."""
        if self._entry is not None:
            self._entry.finished()
            self._entry = None

    def has(self, name: str) -> bool:
        """Return whether the package has a WARC file of that name already."""
        return f"archive/{name}" in self._zip.namelist()

    def add_index(self, lines: Iterable[str]) -> None:
        """Write the sorted lines of an index as compressed blocks, and the index of the blocks."""
        name = "index.cdx.gz"
        ends = [f'!meta 0 {{"format": "cdxj-gzip-1.0", "filename": "{name}"}}']
        offset, lines = 0, iter(lines)
        with self._file(f"indexes/{name}") as entry:
            while block := list(islice(lines, BLOCK_LINES)):
                data = gzip.compress("".join(f"{line}\n" for line in block).encode(), mtime=0)
                entry.write(data)
                digest = f"sha256:{sha256(data).hexdigest()}"
                place = {"offset": offset, "length": len(data), "digest": digest, "filename": name}
                ends.append(f"{' '.join(block[0].split(' ', 2)[:2])} {json.dumps(place)}")
                offset += len(data)
        with self._file("indexes/index.idx") as entry:
            entry.write("".join(f"{line}\n" for line in ends).encode())

    def add_pages(self, pages: Iterable[dict[str, Any]]) -> None:
        """Write the list of pages, each with its ``url`` and ``ts``."""
        with self._file("pages/pages.jsonl") as entry:
            entry.write(_line(_PAGES))
            for page in pages:
                entry.write(_line(page))

    def describe(self, title: str, home: dict[str, str] | None, signer: Signer | None) -> None:
        """Write the description of the package with its digest, signed if there is a ``signer``."""
        about = {
            "profile": "data-package",
            "wacz_version": VERSION,
            "title": title,
            "created": iso_time(self._began),
            "software": self._software,
            # The names of version 1.1.1, and that of 1.2.0.
            **({"mainPageUrl": home["url"], "mainPageDate": home["ts"], "home": home} if home else {}),
            "resources": self._resources,
        }
        data = json.dumps(about, indent=2, ensure_ascii=False).encode()
        digest: dict[str, Any] = {"path": "datapackage.json", "hash": f"sha256:{sha256(data).hexdigest()}"}
        if signer is not None:
            digest["signedData"] = signer.signed(digest["hash"], iso_time(self._began), self._software)
        self._zip.writestr("datapackage.json", data)
        self._zip.writestr("datapackage-digest.json", json.dumps(digest, indent=2))

    def close(self) -> None:
        """Write the directory of the package."""
        try:
            self.abandon()
        finally:
            self._zip.close()

    def _begin(self, path: str) -> _Entry:
        info = zipfile.ZipInfo(path, self._began.timetuple()[:6])
        # The size is not known yet, so its local header has an extra field, for a size beyond 4 GB. wabac.js,
        # the library of ReplayWeb.page, expects none there if the central directory has none.
        info.extra = struct.pack("<HHBI", _TIMESTAMP, 5, 1, int(self._began.timestamp()))
        return _Entry(path, self._zip.open(info, "w", force_zip64=True))

    @contextmanager
    def _file(self, path: str) -> Iterator[_Entry]:
        """Write a file of the package; it is closed even if it cannot be finished, lest close() fail."""
        entry = self._begin(path)
        try:
            yield entry
        finally:
            self._resources.append(entry.finished())


class _Entry:
    """A file of a package in the making, with its digest."""

    def __init__(self, path: str, stream: Any) -> None:
        self._path, self._stream = path, stream
        self._digest, self._size = sha256(), 0

    def write(self, data: bytes) -> int:
        self._digest.update(data)
        self._size += len(data)
        return int(self._stream.write(data))

    def finished(self) -> dict[str, Any]:
        """Close the file, and return its description."""
        self._stream.close()
        return {
            "name": self._path.rpartition("/")[2].lower(),
            "path": self._path,
            "hash": f"sha256:{self._digest.hexdigest()}",
            "bytes": self._size,
        }


def pages_of(lines: Iterable[tuple[str, datetime, str]]) -> Iterator[dict[str, Any]]:
    """Yield the entries of a list of pages from URL, time and title.

    The URL stands for a missing title: py-wacz takes an entry without a title for an empty row.

    >>> list(pages_of([("http://a.example/", datetime.fromisoformat("2026-01-02T00:00Z"), "A")]))
    [{'url': 'http://a.example/', 'ts': '2026-01-02T00:00:00Z', 'title': 'A'}]
    """
    for url, when, title in lines:
        yield {"url": url, "ts": iso_time(when), "title": title or url}


def home_of(url: str, when: datetime) -> dict[str, str]:
    """Return the page that a package opens with."""
    return {"url": url, "ts": iso_time(when)}


def _line(document: dict[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode() + b"\n"
