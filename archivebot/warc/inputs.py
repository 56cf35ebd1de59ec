"""From the names on a command line to the WARC and ARC files that they stand for."""

from __future__ import annotations

import glob
import json
import shutil
import sys
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from archivebot.exceptions import WarcError

# The endings of the files that are read from a folder.
ENDINGS = (".warc", ".warc.gz", ".warc.zst", ".arc", ".arc.gz", ".wacz")
INDEXES = (".cdxj", ".cdx")

STDIN = "-"

_ZIP = (b"PK\x03\x04", b"PK\x05\x06")  # the first bytes of a ZIP file, and of an empty one
_STORED = 30  # bytes of a local header of a ZIP file without its name and its extra field
_LENGTHS = slice(26, 30)  # where the lengths of these two are


@dataclass(frozen=True, slots=True)
class Part:
    """A WARC file inside a package, where it is stored as it is: ``size`` bytes from ``start`` on."""

    path: Path
    name: str
    start: int
    size: int

    def __str__(self) -> str:
        return f"{self.path}/{self.name}"


Input = Path | Part


def inputs(names: Sequence[str], folder: Path) -> list[Input]:
    """Return the files that names stand for, in order and each of them once.

    A name is a file, a folder, a pattern such as ``data/*.warc.gz``, a WACZ package, an index (CDXJ) of files
    beside it, or ``-`` for standard input. What cannot be read in place is copied into a temporary
    ``folder``. Raises WarcError if a package or an index cannot be read.
    """
    found: dict[Input, None] = {}
    for name in names:
        for path in _paths(name, folder):
            found.update(dict.fromkeys(_files(path, folder)))
    return list(found)


def _paths(name: str, folder: Path) -> Iterator[Path]:
    path = Path(name)
    if name == STDIN:
        copy = folder / "stdin"
        with copy.open("wb") as out:
            shutil.copyfileobj(sys.stdin.buffer, out)
        yield copy
    elif path.is_dir():
        yield from (each for each in sorted(path.rglob("*")) if each.name.lower().endswith(ENDINGS))
    elif not path.exists() and glob.has_magic(name):
        yield from map(Path, sorted(glob.glob(name, recursive=True)) or [name])
    else:
        yield path


def _files(path: Path, folder: Path) -> Iterator[Input]:
    try:
        if path.name.lower().endswith(INDEXES) and path.is_file():
            yield from _indexed(path)
        elif path.is_file() and _is_package(path):
            yield from _packed(path, folder)
        else:
            yield path
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise WarcError(f"{path} cannot be read: {error}") from error


def _is_package(path: Path) -> bool:
    """Return whether a file is a ZIP file from its first byte on: a WARC file may end with one."""
    with path.open("rb") as file:
        return file.read(4) in _ZIP and zipfile.is_zipfile(file)


def _indexed(path: Path) -> Iterator[Path]:
    """Yield the files that an index names; they are beside it, or in the folder archive beside its own.

    An index is CDXJ, or CDX with the letters of its columns in its first line: ``g`` is the file.
    """
    names: dict[str, None] = {}
    columns: list[str] = []
    with path.open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, 1):
            if line.lstrip().startswith("CDX ") and number == 1:
                columns = line.split()[1:]
                continue
            if not line.strip() or line.startswith("!"):
                continue
            try:
                if columns:
                    name = line.split()[columns.index("g")]
                else:
                    name = str(json.loads(line.split(" ", 2)[2])["filename"])
                names[name] = None
            except (LookupError, ValueError, TypeError) as error:
                raise ValueError(
                    f"line {number} names no WARC file (filename, or column g): write the WARC files instead"
                ) from error
    for name in names:
        places = (path.parent / name, path.parent.parent / "archive" / name)
        yield next((place for place in places if place.is_file()), places[0])


def _packed(path: Path, folder: Path) -> Iterator[Input]:
    """Yield the WARC files in a package."""
    with zipfile.ZipFile(path) as package, path.open("rb") as raw:
        entries = [info for info in package.infolist() if info.filename.lower().endswith(ENDINGS[:-1])]
        if not entries:
            yield path  # no package: its reader says what it is
        for info in entries:
            name = Path(info.filename).name
            if info.compress_type == zipfile.ZIP_STORED and not info.flag_bits & 1:
                raw.seek(info.header_offset)
                lengths = raw.read(_STORED)[_LENGTHS]
                skipped = int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little")
                yield Part(path, name, info.header_offset + _STORED + skipped, info.file_size)
                continue
            copy = folder / f"{path.name}-{info.header_offset}" / name
            copy.parent.mkdir()
            with package.open(info) as packed, copy.open("wb") as out:
                shutil.copyfileobj(packed, out)
            yield copy
