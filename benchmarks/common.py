"""The common parts of the benchmarks: the pages of a data folder, and subprocesses with their cost."""

from __future__ import annotations

import argparse
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import Event, Thread
from urllib.parse import quote

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # the checkout itself, installed or not

_HOST = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z]{2,}/")


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a page: where its bytes lie, when they were fetched, and their SHA-256."""

    url: str
    site: str
    date: datetime
    file: Path
    sha256: str


@dataclass(frozen=True, slots=True)
class Cost:
    """What a subprocess printed and used."""

    code: int
    stdout: str
    stderr: str
    seconds: float
    cpu: float
    peak: int  # bytes of the process
    together: int = 0  # bytes of the process and all that it started, if measured


def data_folder(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser of arguments that takes the data folder first."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="unpacked folder with index.json and the pages")
    return parser


def url_of(site: str, path: str) -> str:
    """Return the canonical URL of a page of the data; a path without a host gets one named after its site.

    >>> url_of("news", "faz.net/index.html"), url_of("policy", "Copy.AI/Terms of Service.html")
    ('http://faz.net/index.html', 'http://policy.example/Copy.AI/Terms%20of%20Service.html')
    """
    from archivebot.urls import canonical_url

    host = "" if _HOST.match(path) else f"{site}.example/"
    return canonical_url(f"http://{host}{quote(path)}")


def read_index(folder: Path) -> list[list[Version]]:
    """Return the pages of a data folder, each as its versions in time order."""
    pages = json.loads((folder / "index.json").read_text("utf-8"))
    return [
        sorted(
            (
                Version(
                    url=url_of(page["site"], page["url"]),
                    site=page["site"],
                    date=datetime.fromisoformat(version["date"]),
                    file=folder / page["site"] / page["urlhash"] / version["file"],
                    sha256=version["sha256"],
                )
                for version in page["versions"]
            ),
            key=lambda version: version.date,
        )
        for page in pages
    ]


def in_time_order(pages: Iterable[Sequence[Version]]) -> list[Version]:
    """Return all versions of all pages by date."""
    return sorted((version for page in pages for version in page), key=lambda v: (v.date, v.url))


def run(command: Sequence[str], cwd: Path = ROOT, *, together: bool = False, **environment: str) -> Cost:
    """Run a command to its end and return its cost: its peak memory is that of its own process only.

    Linux counts the memory of the parent at the time of the fork as a child's peak, so the caller
    must stay small. With ``together`` the memory of all processes of the command is measured, too.
    Python keeps the bytecode of the modules, as on most machines, even if this process must not. Otherwise
    each process of archivebot would compile its modules again, in 0.2 s, but no peer from a package would.
    """
    started = time.perf_counter()
    with subprocess.Popen(
        command,
        cwd=cwd,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "", **environment},
    ) as process:
        memory = _Memory(process.pid) if together else None
        stdout, stderr = _communicate(process)
        peak = memory.end() if memory else 0
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - started
    cpu = used.ru_utime + used.ru_stime
    return Cost(process.returncode, stdout, stderr, seconds, cpu, used.ru_maxrss * 1024, peak)


class _Memory:
    """The peak memory of a process and all that it started, looked at ten times a second.

    Memory that several processes share counts once: it is the sum of their proportional set sizes.
    """

    def __init__(self, pid: int) -> None:
        self._pid, self._peak, self._done = pid, 0, Event()
        self._watch = Thread(target=self._look)
        self._watch.start()

    def end(self) -> int:
        """Return the peak in bytes."""
        self._done.set()
        self._watch.join()
        return self._peak

    def _look(self) -> None:
        while not self._done.wait(0.1):
            self._peak = max(self._peak, sum(map(_proportional, _processes(self._pid))))


def _processes(pid: int) -> Iterator[int]:
    """Yield a process and all that it started."""
    yield pid
    with suppress(OSError):  # it has ended
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from _processes(int(child))


def _proportional(pid: int) -> int:
    """Return the proportional set size of a process in bytes; 0 if it has ended."""
    with suppress(OSError):
        found = re.search(r"^Pss: +(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
        return int(found[1]) * 1024 if found else 0
    return 0


def _communicate(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Read both streams to their ends without reaping the process, whose usage wait4 returns."""
    errors: list[str] = []
    assert process.stdout is not None
    assert process.stderr is not None
    reader = Thread(target=lambda stream: errors.append(stream.read()), args=(process.stderr,))
    reader.start()
    output = process.stdout.read()
    reader.join()
    return output, errors[0]


def free_port() -> int:
    """Return a port that no program listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@contextmanager
def redis_server(folder: Path) -> Iterator[tuple[str, int]]:
    """Run a Redis that saves nothing; yields its URI and its process."""
    port = free_port()
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        try:
            time.sleep(1)
            yield f"redis://127.0.0.1:{port}/0", server.pid
        finally:
            server.terminate()


def need(cost: Cost, what: str) -> Cost:
    """Return the cost of a subprocess; end the benchmark if it failed."""
    if cost.code:
        raise SystemExit(f"{what} failed with exit code {cost.code}:\n{cost.stderr[-3000:]}")
    return cost


def megabytes(count: float) -> str:
    return f"{count / 1e6:.2f} MB"


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which that share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
