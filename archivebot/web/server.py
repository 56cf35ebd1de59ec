"""The server: from the socket to the last answer."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import uvicorn

from archivebot.archive import Archive, ArchiveReader
from archivebot.config import ArchiveConfig
from archivebot.exceptions import UsageError
from archivebot.garbage import spare_collections
from archivebot.interrupt import ASKING
from archivebot.web.app import Desk, application
from archivebot.web.connections import Admission, Connection
from archivebot.web.long import LongAnswers
from archivebot.web.readers import Readers

# Seconds for the requests in progress after the first signal.
PATIENCE = 5
BACKLOG = 2048


class Server(uvicorn.Server):
    """Calls ``ready`` when it answers; the first SIGINT or SIGTERM lets it finish what it is doing.

    uvicorn would raise the signal again at the end, which counts as the second; see
    :mod:`archivebot.interrupt`.
    """

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self._end) for number in ASKING}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _end(self, number: int, frame: object) -> None:
        self.should_exit = True


def serve(archive: ArchiveConfig, host: str, port: int, desk: Desk, ready: Callable[[str], None]) -> None:
    """Serve an archive until a signal; ``ready`` is called with the address when it answers.

    ``port`` may be 0, for any free port. Raises UsageError if the address
    cannot be bound, and StorageError if no process can be started.
    """
    bound = _bound(host, port)
    with bound:
        name, number = bound.getsockname()[:2]
        address = f"http://[{name}]:{number}/" if ":" in name else f"http://{name}:{number}/"
        readers, long = Readers(archive, desk.processes), LongAnswers(partial(Archive.read_only, archive))

        config = uvicorn.Config(
            Admission(application(readers, long, desk, host)),
            http=Connection,
            log_level="error",
            access_log=False,
            lifespan="off",
            server_header=False,
            timeout_graceful_shutdown=PATIENCE,
        )
        spare_collections()
        try:
            asyncio.run(_run(Server(config, lambda: ready(address)), bound, readers))
        finally:
            long.close()


async def _run(server: Server, bound: socket.socket, readers: Readers) -> None:
    try:
        await readers.open(_loaded)
        await server.serve([bound])
    finally:
        readers.close()


def _loaded(reader: ArchiveReader) -> None:
    """Do nothing, in a process that has now loaded what answers: its first answer would take a second."""


def _bound(host: str, port: int) -> socket.socket:
    try:
        (family, *_, address), *_ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        bound = socket.create_server(address[:2], family=family, backlog=BACKLOG)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(
            f"{host}:{port} cannot be served: {reason}; choose another --port or --host"
        ) from error
    # Connections inherit it. Otherwise the body of each answer but the first waits 40 ms for the client.
    bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return bound
