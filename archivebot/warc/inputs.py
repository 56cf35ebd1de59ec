"""From the names on a command line to the WARC and ARC files that they stand for."""

from __future__ import annotations

import glob
import json
import lzma
import shutil
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import mkdtemp

from archivebot.exceptions import WarcError

# The endings of the files that are read from a folder.
ENDINGS = (".warc", ".warc.gz", ".warc.zst", ".arc", ".arc.gz", ".wacz")
INDEXES = (".cdxj", ".cdx")

STDIN = "-"

_ZIP = (b"PK\x03\x04", b"PK\x05\x06")  # the first bytes of a ZIP file, and of an empty one
_STORED = 30  # bytes of a local header of a ZIP file without its name and its extra field
_LENGTHS = slice(26, 30)  # where the lengths of these two are


# What reading a package, a file in it or an index raises: zipfile has no error of its own for most flaws.
_FLAWS = (
    OSError,
    ValueError,
    KeyError,
    EOFError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
)


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
OnError = Callable[[Path, WarcError], None]


def _raise(path: Path, error: WarcError) -> None:
    raise error


def inputs(names: Sequence[str], folder: Path, on_error: OnError = _raise) -> list[Input]:
    """Return the files that names stand for, in order and each of them once.

    A name is a file, a folder, a pattern such as ``data/*.warc.gz``, a WACZ package, an index (CDXJ) of files
    beside it, or ``-`` for standard input. What cannot be read in place is copied into a temporary
    ``folder``. A package, a file in a package or an index that cannot be read, or a folder without WARC
    files, is passed to ``on_error``, which raises the error unless another function is given; the others
    still count.
    """
    found: dict[Input, None] = {}
    paths = chain.from_iterable(_paths(name, folder, on_error) for name in dict.fromkeys(names))
    for path in dict.fromkeys(paths):
        try:
            for file in _files(path, folder, on_error):
                found[file] = None
        except WarcError as error:
            on_error(path, error)
    return list(found)


def _paths(name: str, folder: Path, on_error: OnError) -> Iterator[Path]:
    path = Path(name)
    if name == STDIN:
        copy = folder / "stdin"
        with copy.open("wb") as out:
            shutil.copyfileobj(sys.stdin.buffer, out)
        yield copy
    elif path.is_dir():
        found = [each for each in sorted(path.rglob("*")) if each.name.lower().endswith(ENDINGS)]
        if not found:
            endings = ", ".join(ENDINGS)
            on_error(path, WarcError(f"{path} has no file that ends in {endings}: name other files yourself"))
        yield from found
    elif not path.exists() and glob.has_magic(name):
        yield from map(Path, sorted(glob.glob(name, recursive=True)) or [name])
    else:
        yield path


def _files(path: Path, folder: Path, on_error: OnError) -> Iterator[Input]:
    try:
        if path.name.lower().endswith(INDEXES) and path.is_file():
            yield from _indexed(path)
        elif path.is_file() and _is_package(path):
            yield from _packed(path, folder, on_error)
        else:
            yield path
    except _FLAWS as error:
        raise WarcError(f"{path} cannot be read: {error}") from error


def _is_package(path: Path) -> bool:
    """Return whether a file is a ZIP file from its first byte on: a WARC file may end with one.

    Raises BadZipFile if the end of the ZIP file is missing.
    """
    with path.open("rb") as file:
        begins = file.read(4) in _ZIP
        if begins and not zipfile.is_zipfile(file):
            raise zipfile.BadZipFile("the end of this ZIP file is missing: copy it again, or try zip -FF")
        return begins


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


def _packed(path: Path, folder: Path, on_error: OnError) -> Iterator[Input]:
    """Yield the WARC files in a package, without those that cannot be read."""
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
            copy = Path(mkdtemp(dir=folder)) / name
            try:
                with package.open(info) as packed, copy.open("wb") as out:
                    shutil.copyfileobj(packed, out)
            except _FLAWS as error:
                on_error(path, WarcError(f"{path} cannot be read: {info.filename}: {error}"))
            else:
                yield copy
