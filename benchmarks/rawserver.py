"""A server on loopback that sends given answers byte for byte, valid or not."""

from __future__ import annotations

import socketserver
import threading
from collections import ChainMap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

MISSING = b"HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class _Handler(socketserver.StreamRequestHandler):
    answers: Mapping[str, bytes]

    def handle(self) -> None:
        path = self.rfile.readline().split()[1].decode()
        while self.rfile.readline().strip():
            pass
        with suppress(ConnectionError):
            self.wfile.write(self.answers.get(path, MISSING))


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 64


@contextmanager
def serve(answers: dict[str, bytes]) -> Iterator[str]:
    """Serve answers by path, as they are at the time, and at / a page that links to them; yield its URL."""
    links = b"".join(b"<p><a href='%s'>page</a></p>" % path.encode() for path in answers)
    handler = type("Handler", (_Handler,), {"answers": ChainMap({"/": answer(links)}, answers)})
    with _Server(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


def answer(body: bytes, coding: str = "", framing: str = "counted", kind: str = "text/html") -> bytes:
    """Write an answer down; its body is counted, chunked, or goes on until the connection is closed."""
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nConnection: close\r\n"
    if coding:
        head += f"Content-Encoding: {coding}\r\n"
    if framing == "counted":
        head += f"Content-Length: {len(body)}\r\n"
    if framing == "chunked":
        head += "Transfer-Encoding: chunked\r\n"
        parts = [body[at : at + 700] for at in range(0, len(body), 700)]
        body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in [*parts, b""])
    return head.encode() + b"\r\n" + body
