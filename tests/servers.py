"""Servers that the tests start for themselves: Redis, and MongoDB or FerretDB, which speaks its protocol."""

from __future__ import annotations

import os
import select
import shutil
import socket
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from pymongo import MongoClient
from pymongo.errors import PyMongoError
from redis import Redis
from redis.exceptions import RedisError

from tests.strict_skips import ALLOWED

# A server that is there already; the tests make databases of their own in it and drop them again.
GIVEN = "ARCHIVE_TEST_MONGODB_URI"

START_TIMEOUT = 20


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def certificate(folder: Path) -> Path:
    """Write a key and a certificate signed with it; nobody else has signed it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    pem, private = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    written = key.private_bytes(pem, private, serialization.NoEncryption()) + signed.public_bytes(pem)
    file = folder / "server.pem"
    file.write_bytes(written)
    return file


def command(folder: Path, port: int) -> list[str] | None:
    """Return the command that starts a server on its own folder, or None where none is installed."""
    if mongod := shutil.which("mongod"):
        return [mongod, "--dbpath", str(folder), "--port", str(port), "--bind_ip", "127.0.0.1", "--quiet"]
    if ferretdb := shutil.which("ferretdb"):
        return [
            ferretdb,
            "--handler=sqlite",
            f"--sqlite-url=file:{folder}/",
            f"--state-dir={folder}",
            f"--listen-addr=127.0.0.1:{port}",
            "--debug-addr=-",
            "--telemetry=disable",
            "--log-level=ERROR",
        ]
    return None


class MongoServer:
    """One server on a folder and a port of its own; it can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self._port = free_port()
        self._command = command(folder, self._port)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def port(self) -> int:
        """The port that the server listens on."""
        return self._port

    @property
    def installed(self) -> bool:
        """Return whether there is anything to start."""
        return self._command is not None

    def uri(self, database: str) -> str:
        """Return the URI of a database."""
        return f"mongodb://127.0.0.1:{self._port}/{database}"

    def start(self) -> None:
        """Start the server and wait until it answers."""
        assert self._command is not None
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + START_TIMEOUT
        with MongoClient[dict[str, object]](self.uri("admin"), serverSelectionTimeoutMS=200) as client:
            while True:
                try:
                    client.admin.command("ping")
                except PyMongoError:
                    assert self._process.poll() is None, f"{self._command[0]} ended while it started"
                    assert time.monotonic() < deadline, f"{self._command[0]} does not answer"
                else:
                    return

    def fill(self) -> None:
        """Start the server anew on a disk that is full: its databases cannot grow."""
        assert self._command is not None
        if "ferretdb" not in self._command[0]:
            pytest.skip("a mongod on a full disk needs a disk of its own")
        self.kill()
        self._command = [
            f"{word}?_pragma=max_page_count(1)" if word.startswith("--sqlite-url=") else word
            for word in self._command
        ]
        self.start()

    def kill(self) -> None:
        """End the server as a power cut would: without a word."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


class RedisServer:
    """One Redis on a folder and a port of its own; it can be killed and started again."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.port = free_port()
        self._command = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1"]
        self._command += ["--dir", str(folder), "--save", "", *options]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def installed(self) -> bool:
        """Return whether there is anything to start."""
        return shutil.which("redis-server") is not None

    def uri(self, database: int = 0) -> str:
        """Return the URI of a database."""
        return f"redis://127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Start the server and wait until it answers."""
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + START_TIMEOUT
        with Redis.from_url(self.uri()) as client:
            while True:
                try:
                    client.ping()
                except RedisError:
                    assert self._process.poll() is None, "redis-server ended while it started"
                    assert time.monotonic() < deadline, "redis-server does not answer"
                    time.sleep(0.02)
                else:
                    return

    def kill(self) -> None:
        """End the server as a power cut would: without a word."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


class CuttingProxy:
    """Stands before a server and can swallow one answer: the request was carried out, nobody is told."""

    def __init__(self, port: int) -> None:
        self._upstream = port
        self._words: tuple[bytes, ...] = ()
        self.cuts = 0

    def __enter__(self) -> CuttingProxy:
        self._listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._listener.close()

    @property
    def port(self) -> int:
        """The port that the proxy listens on."""
        return int(self._listener.getsockname()[1])

    def uri(self, database: str) -> str:
        """Return the URI of a MongoDB database behind the proxy."""
        return f"mongodb://127.0.0.1:{self.port}/{database}"

    def cut(self, *words: bytes) -> None:
        """Swallow the answer to the next request that holds all these words, and hang up."""
        self._words = words

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError), client, socket.create_connection(("127.0.0.1", self._upstream)) as server:
            request = b""
            while True:
                ready, _, _ = select.select((client, server), (), ())
                if client in ready:  # a long request comes in several parts
                    if not (part := client.recv(1 << 16)):
                        return
                    request += part
                    server.sendall(part)
                    continue
                if not (answer := server.recv(1 << 16)):
                    return
                if self._words and all(word in request for word in self._words):
                    self._words, self.cuts = (), self.cuts + 1
                    return
                request = b""
                client.sendall(answer)


@pytest.fixture(scope="session")
def mongo_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MongoServer]:
    """A running server that belongs to this test run."""
    server = MongoServer(tmp_path_factory.mktemp("mongo"))
    if not server.installed:
        allowed = f"{ALLOWED} " if shutil.which("go") is None else ""
        pytest.skip(f"{allowed}no MongoDB-wire server: install mongod, or Go to build FerretDB")
    server.start()
    yield server
    server.kill()


@pytest.fixture
def mongo_uri(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URI of an empty database; it is dropped afterwards."""
    name = f"archive_test_{uuid.uuid4().hex}"
    given = os.environ.get(GIVEN)
    if given:
        uri = urlunsplit(urlsplit(given)._replace(path=f"/{name}"))
    else:
        server: MongoServer = request.getfixturevalue("mongo_server")
        uri = server.uri(name)
    yield uri
    with MongoClient[dict[str, object]](uri) as client:
        client.drop_database(name)


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """A running Redis that belongs to this test run."""
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    if not server.installed:
        pytest.skip("no redis-server: install it with apt-get install redis-server")
    server.start()
    yield server
    server.kill()


@pytest.fixture
def redis_uri(redis_server: RedisServer) -> str:
    """The URI of an empty Redis."""
    with Redis.from_url(redis_server.uri()) as client:
        client.flushall()
    return redis_server.uri()
