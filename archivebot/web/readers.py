"""The processes of a server, each with its own reader of the archive, and what is kept of their answers."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable, Hashable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from archivebot.archive import Archive, ArchiveReader
from archivebot.archive.process.readers import Readers as Processes
from archivebot.config import ArchiveConfig
from archivebot.exceptions import ArchiveError, TooLarge
from archivebot.web.kept import Answer, Kept

Found = TypeVar("Found")
View = Callable[[ArchiveReader, Request], Response]

# Bytes of the answers that are kept. Those of the CDX server and TimeMaps have a megabyte, pages 300 kB.
KEPT = 64_000_000

# Bytes of an answer that is kept besides its body: the headers of both sides, the key, the state. They were
# 1.9 to 5.4 kB in answers about URLs of 30 characters. An answer without rows takes them, too. Their texts
# are weighed besides: a client may send 64 kB of them.
REST = 4_000

# Seconds after which a process that does not answer is killed. The slowest delta of a large page takes 10.
PATIENCE = 60.0

# What a process is told of a request.
_SCOPE = (
    *("type", "http_version", "method", "scheme", "path", "raw_path", "root_path"),
    *("query_string", "headers", "server"),
)
# Stands for the body that the server has kept.
_UNSENT = b"kept by the server"


class Readers:
    """Answers questions to an archive in processes, because Python computes on one core in each.

    With 8 clients, 95 % of replays took up to 211 ms in one process with four threads.
    """

    def __init__(self, config: ArchiveConfig, processes: int) -> None:
        self._config = config
        self._processes = Processes(config, processes, PATIENCE)
        self._turns = asyncio.Semaphore(processes)
        self._kept: Kept[_Repeatable] = Kept(_Repeatable.weight, KEPT)
        self._making: dict[Hashable, asyncio.Lock] = {}
        self._watched: ArchiveReader | None = None

    async def open(self, call: Callable[[ArchiveReader], object]) -> None:
        """Open the archive in all processes, and let each answer a question, which loads its code."""
        await self._processes.prepare((call, (), {}))
        with suppress(ArchiveError):  # the answer to each question reports it
            watched = Archive.reader(self._config)
            if watched.changes() is None:
                watched.close()
            else:
                self._watched = watched

    async def ask(self, question: Callable[..., Found], *given: object, page: str = "") -> Found:
        """Return what a question returns of a reader and what is given; raises its errors.

        The question is a function of a module, or part of one: it is named to a process. Questions about one
        ``page`` go to one process, which has read it.
        """
        # Without turns a question could wait for one process while another has nothing to do.
        async with nullcontext() if page else self._turns:
            try:
                found: Found = await self._processes.run((question, given, {}), page)
            except TooLarge as error:
                raise TooLarge(f"{error}; the exact bytes can be read") from error
        return found

    async def view(self, view: View, request: Request, page: str = "") -> Response:
        """Return the answer of a view to a request; ``page`` as in :meth:`ask`.

        A view that makes its answer with :func:`keeping` makes it only if the state has changed since, and is
        not called if the archive has not changed at all since the same request. Only one process at a time
        makes an answer that is not kept.
        """
        # As it was sent: without its percent-encoding a path may be that of another archived URL.
        key = (request.scope.get("raw_path") or request.url.path, request.scope["query_string"])
        if self._kept.get(key) is not None:
            return await self._viewed(view, request, key, page)
        lock = self._making.setdefault(key, asyncio.Lock())
        try:
            async with lock:
                return await self._viewed(view, request, key, page)
        finally:
            if not lock.locked():
                self._making.pop(key, None)

    async def _viewed(self, view: View, request: Request, key: Hashable, page: str) -> Response:
        before, kept = self._state(request), self._kept.get(key)
        if kept is not None and (response := kept.repeated(before)):
            return response
        known = (kept.state, kept.answer._replace(body=_UNSENT)) if kept else None
        scope = {name: request.scope[name] for name in _SCOPE if name in request.scope}
        sent = await self.ask(_shown, view, scope, known, page=page)
        if sent.made:
            kept = _Repeatable(key, *sent.made)
        if kept and sent.shows(kept.answer):
            kept.last = before, replace(sent, body=None, made=None)
        if kept:
            self._kept.put(key, kept)
        return sent.response(kept.answer.body if kept else b"")

    def _state(self, request: Request) -> Hashable | None:
        """Return a value that is the same if the archive and the headers of a request are."""
        changes = self._watched.changes() if self._watched else None
        return None if changes is None else (changes, tuple(request.scope["headers"]))

    def close(self) -> None:
        """End the processes."""
        self._processes.close()
        if self._watched:
            self._watched.close()


@dataclass(slots=True)
class _Repeatable:
    """An answer with the key of its request and its state.

    ``last`` is what a process sent with it last, and for which state of the archive and which headers.
    """

    key: Hashable
    state: Hashable
    answer: Answer
    last: tuple[Hashable | None, _Sent] | None = None

    def weight(self) -> int:
        """Return the bytes that it takes."""
        texts = self.key, self.state, self.answer._replace(body=b""), self.last
        return len(self.answer.body) + REST + len(pickle.dumps(texts))

    def repeated(self, state: Hashable | None) -> Response | None:
        """Return the answer once more, None if the state of the archive and the request is another."""
        if self.last is None or state is None or self.last[0] != state:
            return None
        return self.last[1].response(self.answer.body)


@dataclass(slots=True)
class Keeping:
    """The kept answer to one request, and the answer that is to be kept."""

    known: tuple[Hashable, Answer] | None = None
    made: tuple[Hashable, Answer] | None = field(default=None, init=False)

    def of(self, state: Hashable, make: Callable[[], Answer]) -> Answer:
        """Return the answer in a state; ``make`` returns it if it is not kept."""
        if self.known and self.known[0] == state:
            return self.known[1]
        answer = make()
        self.made = state, answer
        return answer


def keeping(request: Request) -> Keeping:
    """Return what is kept of the answers to a request."""
    found: Keeping = request.state.keeping
    return found


@dataclass(frozen=True, slots=True)
class _Sent:
    """The answer of a process; the body is None if the server has kept it."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes | None
    made: tuple[Hashable, Answer] | None

    def shows(self, answer: Answer) -> bool:
        """Return whether the body is that of an answer, which is kept."""
        return self.body is None or self.body is answer.body

    def response(self, kept: bytes) -> Response:
        """Return the answer for the client; ``kept`` is the body that was kept."""
        found = Response(kept if self.body is None else self.body, self.status)
        length = [each for each in found.raw_headers if each[0] == b"content-length"]
        found.raw_headers = [each for each in self.headers if each[0] != b"content-length"] + length
        return found


def _shown(
    reader: ArchiveReader, view: View, scope: Mapping[str, Any], known: tuple[Hashable, Answer] | None
) -> _Sent:
    """Answer a request in a process."""
    kept = Keeping(known)
    response = view(reader, Request({**scope, "state": {"keeping": kept}}))
    is_kept = known is not None and response.body is known[1].body
    return _Sent(
        response.status_code, response.raw_headers, None if is_kept else bytes(response.body), kept.made
    )


async def answer(view: View, request: Request, *, by_page: bool = False) -> Response:
    """Answer a request by a view in one of the processes.

    With ``by_page`` requests with the same parameter ``url`` are answered by the same process.
    """
    readers: Readers = request.app.state.readers
    page = request.query_params.get("url", "") if by_page else ""
    return await readers.view(view, request, page)


def answers(view: View, *, by_page: bool = False) -> partial[Any]:
    """Return what answers the requests of a route by a view; see :func:`answer`."""
    return partial(answer, view, by_page=by_page)
