"""WARC files in the making: one gzip member for each record, a new file after so many bytes."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Protocol

from archivebot.exceptions import StorageError, UsageError
from archivebot.export.record import VERSION, NewRecord, warcinfo
from archivebot.timestamps import timestamp

# The bytes after which a new file begins: the usual size of WARC files.
LARGEST = 1_000_000_000

# The ending of a file that is being written.
UNFINISHED = ".open"

# zlib's own default. Level 9, which warcio uses, saves 1 % of pages for a third more time.
LEVEL = 6

_UNSAFE = dict.fromkeys((*range(32), 127), " ")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record is: the name of its file, and its position and length there, in compressed bytes."""

    file: str
    offset: int
    length: int


class Sink(Protocol):
    """Takes files one after another."""

    def begin(self, name: str) -> BinaryIO:
        """Return the stream to which the bytes of a file are written."""

    def end(self) -> None:
        """Finish the file that was begun last: from now on it can be read."""

    def abandon(self) -> None:
        """Remove the file that was begun last, if it is not finished."""

    def has(self, name: str) -> bool:
        """Return whether there is a file of that name already."""


class Folder:
    """Writes files into a folder, each under a temporary name until it is complete and durable."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open: tuple[Path, BinaryIO] | None = None
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _failed(path, error) from error

    def begin(self, name: str) -> BinaryIO:
        """Return a new file that is written under a temporary name; raises StorageError."""
        path = self._path / name
        try:
            stream = path.with_name(name + UNFINISHED).open("wb")
        except OSError as error:
            raise _failed(path, error) from error
        self._open = path, stream
        return stream

    def end(self) -> None:
        """Make the file durable and give it its name; raises StorageError."""
        assert self._open is not None, "no file was begun"
        path, stream = self._open
        try:
            with stream:
                stream.flush()
                os.fsync(stream.fileno())
            path.with_name(path.name + UNFINISHED).replace(path)
        except OSError as error:
            raise _failed(path, error) from error
        self._open = None

    def abandon(self) -> None:
        """Remove an unfinished file."""
        if self._open is not None:
            path, stream = self._open
            self._open = None
            with suppress(OSError):  # on a full disk it cannot even write what it still holds
                stream.close()
            with suppress(OSError):
                path.with_name(path.name + UNFINISHED).unlink()

    def has(self, name: str) -> bool:
        """Return whether the folder has a file of that name, finished or not."""
        return (self._path / name).exists() or (self._path / (name + UNFINISHED)).exists()


class WarcFiles:
    """Writes records into files of up to ``limit`` bytes; a capture with its records stays in one file.

    ``texts`` are the fields of the first record of each file, ``name`` is how the names of the files begin.
    Leaving it by an error removes the unfinished file; finished ones stay. Raises StorageError if a file
    cannot be written.
    """

    def __init__(
        self,
        sink: Sink,
        began: datetime,
        texts: Iterable[tuple[str, str]],
        limit: int = LARGEST,
        name: str = "archivebot",
    ) -> None:
        self._sink, self._began, self._limit, self._name = sink, began, limit, name
        self._texts = tuple(texts)
        self._stream: BinaryIO | None = None
        self._at = self._serial = 0
        self._info = ""
        self._error: StorageError | None = None
        self.names: list[str] = []
        self.records = self.bytes = 0

    def write(self, records: Iterable[NewRecord]) -> list[Place]:
        """Write the records of a capture and return their places; a full file is finished before.

        After an error the file that is open keeps its temporary name, because its last record may be cut.
        """
        if self._error:
            raise self._error
        try:
            if self._at >= self._limit:
                self.finish()
            if self._stream is None:
                self._begin()
            return [self._write(record) for record in records]
        except OSError as error:
            self._error = _failed(Path(self.names[-1] if self.names else "the WARC file"), error)
            raise self._error from error

    def finish(self) -> None:
        """Finish the file that is open, if any."""
        if self._error:
            raise self._error
        if self._stream is not None:
            self._sink.end()
            self._stream = None

    def abandon(self) -> None:
        """Remove the file that is open, if any."""
        self._sink.abandon()
        self._stream = None

    def _begin(self) -> None:
        stem = f"{self._name}-{timestamp(self._began)}"
        while self._sink.has(name := f"{stem}-{self._serial:05d}.warc.gz"):
            self._serial += 1
        self._serial += 1
        self._stream, self._at, self._info = self._sink.begin(name), 0, ""
        self.names.append(name)
        first = warcinfo(self._began, name, self._texts)
        self._write(first)
        self._info = first.fields[0][1]

    def _write(self, record: NewRecord) -> Place:
        data = member(record, self._info)
        assert self._stream is not None, "a file is open"
        self._stream.write(data)
        place = Place(self.names[-1], self._at, len(data))
        self._at += len(data)
        self.records += 1
        self.bytes += len(data)
        return place


def member(record: NewRecord, info: str = "") -> bytes:
    """Return a record as a gzip member; ``info`` is the id of the warcinfo record of its file.

    The HTTP head is written byte for byte: warcio would parse it and write it anew, and its block digest is
    SHA-1 whatever the payload digest is.
    """
    block = sha256()
    for piece in record.block:
        block.update(piece)
    fields = [
        ("WARC-Type", record.kind),
        *record.fields,
        *([("WARC-Warcinfo-ID", info)] if info else []),
        ("WARC-Block-Digest", f"sha256:{block.hexdigest()}"),
        ("Content-Length", str(sum(map(len, record.block)))),
    ]
    head = "".join(f"{name}: {value.translate(_UNSAFE)}\r\n" for name, value in fields)
    coder = zlib.compressobj(LEVEL, zlib.DEFLATED, 31)
    pieces = (f"WARC/{VERSION}\r\n{head}\r\n".encode("utf-8", "replace"), *record.block, b"\r\n\r\n")
    return b"".join([*map(coder.compress, pieces), coder.flush()])


def written(path: Path, write: Callable[[BinaryIO], None]) -> None:
    """Write one file under a temporary name, then rename it.

    Raises UsageError if the path is that of something else than a file, such as a folder or a device, and
    StorageError if the file cannot be written.
    """
    try:
        path = path.resolve()  # the file that a link names is replaced, not the link
        if path.exists() and not path.is_file():
            raise UsageError(f"{path} is no file: give --output the name of a file")
    except OSError as error:
        raise _failed(path, error) from error
    folder = Folder(path.parent)
    try:
        write(folder.begin(path.name))
        folder.end()
    except OSError as error:
        raise _failed(path, error) from error
    finally:
        folder.abandon()


def _failed(path: Path, error: OSError) -> StorageError:
    why = error.strerror or error
    return StorageError(f"{path} cannot be written: {why}; make room, or choose another --output")
