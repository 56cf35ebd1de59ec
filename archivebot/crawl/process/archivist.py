"""A process that holds the archive of a crawl: it does what it is told, one call after another."""

from __future__ import annotations

import gc
import logging
import os
import pickle
import resource
import socket
import traceback
from collections.abc import Callable
from contextlib import suppress
from io import BufferedReader
from logging.handlers import QueueHandler
from pathlib import Path
from queue import SimpleQueue
from time import monotonic
from typing import Any, NamedTuple

from archivebot.archive import Archive
from archivebot.crawl.process.parcel import pack
from archivebot.exceptions import ArchiveError, StorageError
from archivebot.models import Position
from archivebot.terminal import guard

# Before each answer stands its length in bytes.
HEAD = 8


# Answers that wait for the disk at most, and for how many seconds: it takes about 5 ms, in which no more
# than a few pages are stored.
MOST_HELD = 32
LONGEST_HELD = 1.0


class Answer(NamedTuple):
    """What came of a call: its result or its error, what was logged, how far the archive has come with it."""

    result: Any
    error: Exception | None
    logged: list[logging.LogRecord]
    position: Position | None = None


def bound_memory(more: int) -> None:
    """Let this process take so many bytes more than it has; beyond them allocating raises MemoryError."""
    taken = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = taken + more if hard == resource.RLIM_INFINITY else min(taken + more, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def main() -> None:
    """Serve the process whose socket is the standard input, until it closes that or is gone."""
    guard()  # a traceback may show a text of a page
    told: SimpleQueue[logging.LogRecord] = SimpleQueue()
    logging.basicConfig(level=logging.INFO, handlers=[QueueHandler(told)])
    with socket.socket(fileno=0) as line, suppress(EOFError, ConnectionError, pickle.UnpicklingError):
        _serve(line, told)
    gc.freeze()  # what is left need not be looked through for garbage


def _serve(line: socket.socket, told: SimpleQueue[logging.LogRecord]) -> None:
    """Do calls until there are no more; the first brings the archive, and the process it is held for.

    It may bring the bytes of memory, too, that may be taken when the archive is open. Answers are held back
    until what was stored is durable: the disk is waited for when no further call waits to be done, once for
    all calls since.
    """
    calls = line.makefile("rb")
    parent, config, *memory = pickle.load(calls)
    archive: Archive | None = None
    try:
        archive, error = _tried(Archive.open, config)
        for most in memory:
            bound_memory(most)
        _tell(line, Answer(None, error, _taken(told)))
        held: list[Answer] = []
        since = 0.0
        while archive:
            is_late = len(held) == MOST_HELD or monotonic() - since > LONGEST_HELD
            if held and (archive.is_durable or is_late or not _waits(line, calls)):
                _release(line, archive, held)
                held = []
            if not held:
                since = monotonic()
            work, args, kwargs = pickle.load(calls)
            # What a process that was killed still had under way is fetched again by the next one:
            # stored now, it could be stored twice.
            if os.getppid() != parent:
                break
            held.append(Answer(*_tried(work, archive, *args, **kwargs), _taken(told)))
    finally:
        calls.close()
        if archive:
            with suppress(StorageError):  # whoever closed the archive was told
                archive.close()


def _waits(line: socket.socket, calls: BufferedReader) -> bool:
    """Return whether another call has come, at least the beginning of one."""
    line.setblocking(False)
    try:
        return bool(calls.peek(1))
    finally:
        line.setblocking(True)


def _release(line: socket.socket, archive: Archive, held: list[Answer]) -> None:
    """Send answers once what they tell of is durable; if it cannot be, none of them is true."""
    position, error = _tried(Archive.sync, archive)
    for answer in held:
        _tell(line, answer._replace(position=position, error=answer.error or error))


def _tried(work: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, Exception | None]:
    """Return a result or an error; one that is not ours goes as text, as nobody may know its class."""
    try:
        return work(*args, **kwargs), None
    except ArchiveError as error:
        return None, error
    except Exception as error:
        return None, _foreign(error)


def _foreign(error: Exception) -> RuntimeError:
    told = RuntimeError(f"{type(error).__name__}: {error}")
    told.add_note("".join(traceback.format_exception(error)))
    return told


def _taken(told: SimpleQueue[logging.LogRecord]) -> list[logging.LogRecord]:
    return [told.get() for _ in range(told.qsize())]


def _tell(line: socket.socket, answer: Answer) -> None:
    try:
        data = pack(answer)
    except Exception as error:  # a result that does not pickle
        data = pack(answer._replace(result=None, error=_foreign(error)))
    line.sendall(len(data).to_bytes(HEAD, "big") + data)
