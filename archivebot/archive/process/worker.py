"""A child process that receives calls without waiting and answers them in order."""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from concurrent.futures import Future
from typing import Any

from archivebot.archive.process.archivist import HEAD, Answer
from archivebot.archive.process.parcel import pack
from archivebot.archive.process.sender import Sender
from archivebot.exceptions import StorageError
from archivebot.interrupt import children
from archivebot.models import Position

# Bytes read at once; most answers have a tenth of that.
CHUNK = 256 * 1024

# Seconds for a process to end by itself.
LAST = 2.0


class Crashed(StorageError):
    """The process died before it answered this call, the first of the waiting calls."""


class Late(Crashed):
    """The process was ended because it did not answer this call in time."""


class Worker:
    """A child process that runs the ``main`` of a module, and the socket to it.

    It is a separate program, not a fork or a spawn of :mod:`multiprocessing`. A fork would share the reactor
    and the open databases. A spawn imports the main module again: all of Scrapy under ``scrapy crawl``, and a
    second crawl in a script without ``if __name__ == "__main__"``. Both ends of the socket belong to one user
    and one program, so messages may be pickled.

    A Ctrl-C or a SIGTERM for the whole group does not reach the child: it ends when its socket is closed,
    which also happens if this process is killed. A child that does not answer a call for ``patience`` seconds
    is killed; only the first call, which opens the archive, may take longer.
    """

    def __init__(self, module: str, patience: float | None = None) -> None:
        self._line, theirs = socket.socketpair()
        self._sender = Sender(self._line)
        with theirs:
            self._process = _start(module, theirs)
        children.add(self._process)
        self._patience = patience
        self._is_open = False
        self._since = 0.0  # when the last answer came, or the first waiting call was sent
        self._alarm: asyncio.TimerHandle | None = None
        self._received = bytearray()
        self._waiting: deque[asyncio.Future[Any] | Future[Any]] = deque()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.lost: StorageError | None = None  # why there are no more answers
        self.position: Position | None = None  # the position of the archive in the last answer

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def waiting(self) -> int:
        """The number of calls without an answer."""
        return len(self._waiting)

    async def run(self, call: object) -> Any:
        """Return the answer to a call; calls are answered one after another, in their order.

        Raises the error of the call, Crashed if the process died of it, StorageError if the process has
        ended.
        """
        self._listen()
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._send(call, future)
        return await future

    def begin(self, call: object) -> Future[Any]:
        """Send a call and return the future of its answer."""
        future: Future[Any] = Future()
        self._send(call, future)
        return future

    async def answer(self, future: Future[Any]) -> Any:
        """Return the answer to a call sent with :meth:`begin`."""
        self._listen()
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Let the process finish its calls within a few seconds, and wait for its end."""
        self.hang_up()
        self._end()

    def kill(self, reason: str) -> None:
        """Kill the process; ``reason`` is reported to the calls that wait for an answer."""
        if not self.lost:
            self._process.kill()
            killed = StorageError(f"a process of the archive {reason} and was ended; what is stored is whole")
            self._lose(killed, Late(*killed.args))

    def hang_up(self) -> None:
        """Let the process finish its calls and end."""
        self._lose(StorageError("the archive of this crawl is closed"))

    def _listen(self) -> None:
        if self._loop is None and not self.lost:
            self._loop = asyncio.get_running_loop()
            self._loop.add_reader(self._line, self._read)

    def _send(self, call: object, future: asyncio.Future[Any] | Future[Any]) -> None:
        data = pack(call)
        if self.lost:
            raise self.lost
        if not self._waiting:
            self._since = time.monotonic()
        if self._alarm is None and self._is_open and self._patience and self._loop:
            self._alarm = self._loop.call_later(self._patience, self._look)
        self._waiting.append(future)
        self._sender.send(data)

    def _look(self) -> None:
        """Check whether the process hangs, and schedule the next check."""
        assert self._loop is not None
        assert self._patience is not None
        left = self._since + self._patience - time.monotonic()
        self._alarm = None
        if self._waiting and left > 0:
            self._alarm = self._loop.call_later(left, self._look)
        elif self._waiting:
            self.kill(f"gave no answer for {self._patience:g} seconds")

    def _end(self) -> int:
        """Wait for the end of the process, kill it if necessary, and return its exit code."""
        children.discard(self._process)
        for _ in range(2):
            try:
                return self._process.wait(LAST)
            except subprocess.TimeoutExpired:
                self._process.kill()
        return -signal.SIGKILL  # it hangs in the kernel

    def _read(self) -> None:
        """Receive data, and deliver the complete answers."""
        try:
            data = self._line.recv(CHUNK, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            died = _died(self._end())
            self._lose(died, Crashed(*died.args))
            return
        received = self._received
        received += data
        self._since = time.monotonic()
        while len(received) >= HEAD:
            end = HEAD + int.from_bytes(received[:HEAD], "big")
            if len(received) < end:
                break
            with memoryview(received) as view, view[HEAD:end] as packed:  # a copy of a large page costs
                answer: Answer = pickle.loads(packed)
            del received[:end]
            for record in answer.logged:
                logger = logging.getLogger(record.name)
                if logger.isEnabledFor(record.levelno):
                    logger.handle(record)
            self.position = answer.position or self.position
            _settle(self._waiting.popleft(), answer)
            self._is_open = True

    def _lose(self, reason: StorageError, first: StorageError | None = None) -> None:
        """Close the socket; all calls, also later ones, raise ``reason``, the first waiting one ``first``."""
        if self.lost:
            return
        self.lost = reason
        if self._alarm:
            self._alarm.cancel()
        if self._loop:
            self._loop.remove_reader(self._line)
        self._sender.close()
        error = first or reason
        while self._waiting:
            _settle(self._waiting.popleft(), Answer(None, error, []))
            error = reason


def _settle(future: asyncio.Future[Any] | Future[Any], answer: Answer) -> None:
    if future.done():  # the caller was cancelled
        return
    if answer.error:
        future.set_exception(answer.error)
    else:
        future.set_result(answer.result)


def _start(module: str, line: socket.socket) -> subprocess.Popen[bytes]:
    """Start the main function of a module with a socket as its standard input.

    It gets the sys.path of this process, because a script may have added a folder and scrapyd an egg. It
    inherits a mask that blocks SIGINT and SIGTERM, so they can never end it.
    """
    ours = os.pathsep.join(map(os.path.abspath, sys.path))
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    try:
        return subprocess.Popen(
            [sys.executable, "-P", "-c", f"from {module} import main; main()"],
            stdin=line.fileno(),
            stdout=subprocess.DEVNULL,  # a feed may go to standard output
            env={**os.environ, "PYTHONPATH": ours},
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _died(code: int) -> StorageError:
    how = f"was killed by signal {-code} (out of memory?)" if code < 0 else f"ended with code {code}"
    return StorageError(f"a process of the archive {how}; what is stored is whole")
