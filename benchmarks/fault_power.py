"""The state of a crawl after a power cut: copies of the fsynced data, each continued by the same command.

    python benchmarks/faults.py power [--count 20]

A crawl of a site in which each page is linked from one other page alone runs under strace (`apt-get install
strace`), which notes every write, truncation, fsync and deletion of the files of archive and frontier, in
order. The copy for a moment holds the data of each file at the start of its last fsync before that moment,
and the file itself only if its folder was fsynced since the file was created: the worst result of a power
cut. Then the same command continues each copy. The benchmark counts the pages missing in the end, and the
damage that `scrapy verify` finds before and after. Exit code 1 if there are any.
"""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from common import ROOT, need, run
from resume import SQLITE, captures, site, uri_of
from tables import Row, Table, at_most

PAGES = 300
DELAY = 0.05  # mean seconds until the server answers
SEED = 20261120
FILES = tuple(
    f"{name}{suffix}" for name in ("archive.db", "archive.frontier.db") for suffix in ("", "-wal", "-journal")
)
CALLS = "openat,pwrite64,ftruncate,fsync,fdatasync,unlink"

_BEGUN = re.compile(r"(\d+) +[\d.]+ (\w+)\((.*)$")
_RESUMED = re.compile(r"(\d+) +[\d.]+ <\.\.\. (\w+) resumed>(.*)$")
_HEX = re.compile(r"\\x([0-9a-f]{2})")


@dataclass
class File:
    """One file: what was written, and what of it is durable."""

    now: bytearray = field(default_factory=bytearray)
    durable: bytes | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """One call on a file; an fsync is noted twice, when it begins and when it has ended."""

    call: str
    name: str
    data: bytes = b""
    offset: int = 0


def events(trace: Path, folder: Path) -> Iterator[Event]:
    """Read what strace noted of the files in a folder, in order."""
    begun: dict[str, tuple[str, str]] = {}
    with trace.open() as lines:
        for line in lines:
            if found := _RESUMED.match(line):
                process, call, rest = found.groups()
                arguments = begun.pop(process)[1] + rest
                yield from _event(call, arguments, folder, begins=False)
            elif found := _BEGUN.match(line):
                process, call, arguments = found.groups()
                if arguments.endswith("<unfinished ...>"):
                    arguments = arguments.removesuffix("<unfinished ...>")
                    begun[process] = call, arguments
                    yield from _event(call, arguments, folder, ends=False)
                else:
                    yield from _event(call, arguments, folder)


def _event(call: str, text: str, folder: Path, *, begins: bool = True, ends: bool = True) -> Iterator[Event]:
    text = _HEX.sub(lambda found: chr(int(found[1], 16)), text) if call != "pwrite64" else text
    if call in ("fsync", "fdatasync"):
        name = _name(text.partition("<")[2].rpartition(">")[0], folder)
        if begins:
            yield Event("begin", name)
        if ends:
            yield Event("end", name)
    elif not ends or " = -1" in text:
        return
    elif call == "pwrite64":
        path, _, rest = text.partition("<")[2].partition('>, "')
        data, _, numbers = rest.partition('", ')
        path = _HEX.sub(lambda found: chr(int(found[1], 16)), path)
        offset = int(numbers.split(", ")[1].partition(")")[0])
        yield Event("write", _name(path, folder), bytes.fromhex(data.replace("\\x", "")), offset)
    elif call == "ftruncate":
        path, _, size = text.partition("<")[2].partition(">, ")
        yield Event("truncate", _name(path, folder), offset=int(size.partition(")")[0]))
    elif call == "unlink":
        yield Event("unlink", _name(text.split('"')[1], folder))
    elif "O_CREAT" in text:
        yield Event("create", _name(text.split('"')[1], folder))


def _name(path: str, folder: Path) -> str:
    """Name a file in the folder, and the folder itself by nothing."""
    return path.removeprefix(str(folder)).lstrip("/").removesuffix(" (deleted)")


class Disk:
    """The files of a folder as a disk would hold them, event by event."""

    def __init__(self) -> None:
        self._files: defaultdict[str, File] = defaultdict(File)
        self._syncing: dict[str, bytes] = {}
        self._entries: dict[str, File] = {}  # what the folder held when it was fsynced last

    def see(self, event: Event) -> None:
        """Apply one event."""
        file = self._files[event.name] if event.name else None
        if event.call == "end" and file is None:
            self._entries = {name: file for name, file in self._files.items() if name}
        elif file is None:
            return
        elif event.call == "write":
            file.now.extend(bytes(max(0, event.offset - len(file.now))))
            file.now[event.offset : event.offset + len(event.data)] = event.data
        elif event.call == "truncate":
            file.now = file.now[: event.offset].ljust(event.offset, b"\0")
        elif event.call == "begin":
            self._syncing[event.name] = bytes(file.now)
        elif event.call == "end":
            file.durable = self._syncing.get(event.name, b"")
        elif event.call == "unlink":
            del self._files[event.name]

    def copy(self, folder: Path) -> None:
        """Write what a power cut would leave now."""
        folder.mkdir()
        for name, file in self._entries.items():
            (folder / name).write_bytes(file.durable or b"")


def measure(folder: Path, count: int, pages: int = PAGES) -> Table:
    """Crawl once, and go on from some copies of what had been fsynced."""
    if not shutil.which("strace"):
        raise SystemExit("strace is missing: apt-get install strace")
    place = (folder / "power").resolve()
    place.mkdir(parents=True)
    lost = damaged = behind = 0
    with site(pages, DELAY) as served:
        _crawl_traced(served.seed, place, folder / "trace")
        found = list(events(folder / "trace", place))
        chance = random.Random(SEED)
        moments = sorted(chance.sample(range(len(found)), count))
        disk, seen = Disk(), 0
        for moment in moments:
            for event in found[seen:moment]:
                disk.see(event)
            seen = moment
            shutil.rmtree(place)
            disk.copy(place)
            behind += pages - len(captures(uri_of(place))) if (place / "archive.db").exists() else pages
            for _ in range(2):
                damaged += run(_scrapy("verify", place)).code not in (0, 1)
                if not _:
                    need(run(SQLITE.command(served.seed, place, "")), "a crawl on a copy")
            lost += pages - len(captures(uri_of(place)))
    rows = [
        Row("pages to fetch after a cut, mean", (f"{behind / count:.0f}",)),
        Row("pages lost in the end", (str(lost),), at_most(lost, 0)),
        Row("damaged archives, before or after", (str(damaged),), at_most(damaged, 0)),
    ]
    return Table(f"{count} power cuts", (f"of {pages} pages",), rows)


def _crawl_traced(seed: str, place: Path, trace: Path) -> None:
    paths = [word for name in FILES for word in ("-P", str(place / name))]
    strace = ["strace", "-f", "--seccomp-bpf", "-y", "-xx", "-s", "100000000", "-ttt", "-o", str(trace)]
    command = [*strace, "-e", f"trace={CALLS}", "-P", str(place), *paths, *SQLITE.command(seed, place, "")]
    ran = subprocess.run(command, cwd=ROOT, text=True, capture_output=True)
    if ran.returncode:
        raise SystemExit(f"the crawl failed with exit code {ran.returncode}:\n{ran.stderr[-3000:]}")


def _scrapy(command: str, place: Path) -> list[str]:
    return [sys.executable, "-m", "scrapy", command, "-s", f"ARCHIVE_URI={uri_of(place)}"]
