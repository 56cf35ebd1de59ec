"""The process that holds an archive and executes calls, one after another."""

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
from select import select
from time import monotonic
from typing import Any, NamedTuple

from archivebot.archive import Archive
from archivebot.archive.process.parcel import pack
from archivebot.config import ArchiveConfig
from archivebot.exceptions import ArchiveError, StorageError, TooLarge
from archivebot.garbage import spare_collections
from archivebot.models import Position
from archivebot.terminal import guard

# Each answer is preceded by its length, in this number of bytes.
HEAD = 8

# Maximum of answers that wait for a sync to disk, and maximum seconds that they wait while calls follow each
# other. A sync takes about 5 ms, in which only a few pages are stored.
MOST_HELD = 32
LONGEST_HELD = 1.0

# Seconds since the last sync in which answers wait for another call. Without this pause a crawl of 2,000
# pages made 2,000 syncs.
PAUSE = 0.03


class Answer(NamedTuple):
    """The answer to a call: its result or error, its log records, and the position of the archive."""

    result: Any
    error: Exception | None
    logged: list[logging.LogRecord]
    position: Position | None = None


def bound_memory(more: int) -> None:
    """Limit this process to ``more`` bytes beyond its present memory; more raises MemoryError."""
    taken = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = taken + more if hard == resource.RLIM_INFINITY else min(taken + more, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def main() -> None:
    """Serve the process whose socket is the standard input, until it closes the socket or ends."""
    guard()  # a traceback may contain text of a page
    spare_collections()
    logged: SimpleQueue[logging.LogRecord] = SimpleQueue()
    logging.getLogger().setLevel(logging.INFO)
    logging.getLogger().addHandler(
        QueueHandler(logged)
    )  # basicConfig would write the level into each message
    with socket.socket(fileno=0) as line, suppress(EOFError, ConnectionError, pickle.UnpicklingError):
        _serve(line, logged)
    gc.freeze()  # spare the last garbage collection


def _serve(line: socket.socket, logged: SimpleQueue[logging.LogRecord]) -> None:
    """Execute calls until there are no more; the first call names the parent process and the archive.

    The first call of a process that stores nothing also sets its memory limit. Answers are held back until
    the data they report is durable. The archive is synced when no further call comes for :data:`PAUSE`, once
    for all calls since the last sync.
    """
    calls = line.makefile("rb")
    parent, config, *memory = pickle.load(calls)
    archive: Archive | None = None
    try:
        archive, error = _tried(Archive.read_only if memory else Archive.open, config)
        for most in memory:
            bound_memory(most)
        _answer(line, Answer(None, error, _taken(logged)))
        held: list[Answer] = []
        since = 0.0
        while archive:
            is_late = len(held) == MOST_HELD or monotonic() - since > LONGEST_HELD
            if held and (archive.is_durable or is_late or not _waits(line, calls, since + PAUSE)):
                _release(line, archive, held)
                held = []
            if not held:
                since = monotonic()
            work, args, kwargs = pickle.load(calls)
            # The parent was killed. The next one fetches the pages under way again: stored now, they could be
            # stored twice.
            if os.getppid() != parent:
                break
            held.append(Answer(*_tried(work, archive, *args, **kwargs), _taken(logged)))
            if memory and isinstance(held[-1].error, StorageError):
                archive = _opened_again(archive, config)
    finally:
        calls.close()
        if archive:
            with suppress(StorageError):  # already reported to the process that closed the archive
                archive.close()


def _opened_again(archive: Archive, config: ArchiveConfig) -> Archive:
    """Return an archive opened once more, because it may have been made anew; itself if that fails."""
    try:
        found = Archive.read_only(config)
    except StorageError:
        return archive  # the next call reports it
    with suppress(StorageError):
        archive.close()
    return found


def _waits(line: socket.socket, calls: BufferedReader, until: float) -> bool:
    """Wait for another call until a time; return whether it has arrived, at least in part."""
    line.setblocking(False)
    try:
        if not calls.peek(1):
            select([line], [], [], max(0.0, until - monotonic()))
        return bool(calls.peek(1))
    finally:
        line.setblocking(True)


def _release(line: socket.socket, archive: Archive, held: list[Answer]) -> None:
    """Sync the archive and send the answers held back; if the sync fails, all of them become errors."""
    position, error = _tried(Archive.sync, archive)
    for answer in held:
        _answer(line, answer._replace(position=position, error=answer.error or error))


def _tried(work: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, Exception | None]:
    """Return a result or an error; a foreign error is sent as text, because its class may be unknown."""
    try:
        return work(*args, **kwargs), None
    except ArchiveError as error:
        return None, error
    except MemoryError:
        return None, TooLarge("it takes more memory than a process may have")
    except Exception as error:
        return None, _foreign(error)


def _foreign(error: Exception) -> RuntimeError:
    foreign = RuntimeError(f"{type(error).__name__}: {error}")
    foreign.add_note("".join(traceback.format_exception(error)))
    return foreign


def _taken(logged: SimpleQueue[logging.LogRecord]) -> list[logging.LogRecord]:
    return [logged.get() for _ in range(logged.qsize())]


def _answer(line: socket.socket, answer: Answer) -> None:
    try:
        data = pack(answer)
    except Exception as error:  # the result cannot be pickled
        data = pack(answer._replace(result=None, error=_foreign(error)))
    line.sendall(len(data).to_bytes(HEAD, "big") + data)
