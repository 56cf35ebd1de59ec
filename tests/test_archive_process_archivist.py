"""The process that stores the pages of a crawl: what it answers is durable."""

from __future__ import annotations

import os
import pickle
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from archivebot.archive import Archive
from archivebot.archive.process import archivist
from archivebot.archive.process.archivist import HEAD, MOST_HELD, Answer
from archivebot.archive.process.parcel import pack
from archivebot.config import ArchiveConfig
from archivebot.exceptions import StorageError, TooLarge
from archivebot.models import Position, Snapshot
from tests.conftest import ROOT
from tests.factories import URL, make_page


def snapshot(number: int) -> Snapshot:
    return Snapshot(make_page(b"<p>edition %d" % number, day=number), None)


def _serve(line: socket.socket) -> None:
    with line, suppress(EOFError):
        archivist._serve(line, SimpleQueue())


class Line:
    """The line to an archivist, which works in a thread of this process."""

    def __init__(self, config: ArchiveConfig) -> None:
        self.ours, theirs = socket.socketpair()
        self.thread = threading.Thread(target=_serve, args=(theirs,))
        self.thread.start()
        self.send((os.getppid(), config))
        assert self.answer().error is None

    def send(self, *calls: object) -> None:
        self.ours.sendall(b"".join(map(pack, calls)))

    def answers(self, wait: float) -> bool:
        """Return whether an answer comes within some seconds."""
        return bool(select.select([self.ours], [], [], wait)[0])

    def answer(self) -> Answer:
        size = int.from_bytes(self.ours.recv(HEAD, socket.MSG_WAITALL), "big")
        found: Answer = pickle.loads(self.ours.recv(size, socket.MSG_WAITALL))
        return found

    def close(self) -> None:
        self.ours.shutdown(socket.SHUT_WR)
        self.thread.join(30)
        self.ours.close()


@pytest.fixture
def line(tmp_path: Path, disk: Disk) -> Iterator[Line]:
    line = Line(ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db"))
    yield line
    disk.ready.set()
    line.close()


class Disk:
    """A disk that can be made to wait, and that counts how often it was waited for."""

    def __init__(self, sync: Callable[[Archive], Position | None]) -> None:
        self.ready, self.waits, self._sync = threading.Event(), 0, sync
        self.ready.set()

    def sync(self, archive: Archive) -> Position | None:
        self.ready.wait(30)
        position = self._sync(archive)
        self.waits += position is not None
        return position


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    disk = Disk(Archive.sync)
    monkeypatch.setattr(Archive, "sync", lambda archive: disk.sync(archive))
    return disk


def add(number: int) -> tuple[Any, ...]:
    return Archive.add, (snapshot(number),), {}


def test_a_page_is_answered_when_it_is_durable(line: Line, disk: Disk) -> None:
    disk.ready.clear()
    line.send(add(0))
    assert not line.answers(0.3)
    disk.ready.set()
    answer = line.answer()
    assert (answer.result.number, answer.error) == (1, None)
    assert answer.position is not None


def test_pages_that_are_stored_together_wait_for_the_disk_once(line: Line, disk: Disk) -> None:
    count = MOST_HELD
    line.send(*map(add, range(count)))
    answers = [line.answer() for _ in range(count)]
    assert [answer.result.number for answer in answers] == list(range(1, count + 1))
    assert disk.waits < count / 2


def test_no_answer_is_held_back_for_long(line: Line, disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archivist, "LONGEST_HELD", -1.0)
    line.send(*map(add, range(9)))
    assert [line.answer().result.number for _ in range(9)] == list(range(1, 10))
    assert disk.waits == 9


def test_memory_is_bounded_by_what_the_operator_allows_at_most() -> None:
    code = (
        "import resource as r; r.setrlimit(r.RLIMIT_DATA, (1 << 32, 1 << 32));"
        "from archivebot.archive.process.archivist import bound_memory;"
        "bound_memory(1 << 28); print(r.getrlimit(r.RLIMIT_DATA)[0] < 1 << 32);"
        "bound_memory(1 << 40); print(r.getrlimit(r.RLIMIT_DATA) == (1 << 32, 1 << 32))"
    )
    told = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True)
    assert told.stdout.split() == ["True"] * 2


def test_what_writes_nothing_does_not_wait_for_the_disk(line: Line, disk: Disk) -> None:
    line.send((Archive.version_count, (URL,), {}))
    assert line.answer().position is None
    assert disk.waits == 0


def test_nothing_is_stored_in_an_archive_that_was_deleted(line: Line, tmp_path: Path) -> None:
    line.send(add(0))
    assert line.answer().error is None
    (tmp_path / "a.db").unlink()
    line.send(add(1))
    error = line.answer().error
    assert isinstance(error, StorageError)
    assert "was deleted, moved or replaced" in str(error)


def _too_large(archive: Archive) -> None:
    raise MemoryError


def test_a_lack_of_memory_is_an_error_that_says_so(line: Line) -> None:
    line.send((_too_large, (), {}))
    error = line.answer().error
    assert isinstance(error, TooLarge)
    assert "more memory than a process may have" in str(error)
