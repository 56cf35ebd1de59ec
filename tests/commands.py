"""Runs commands of scrapy out of a process that has imported them: the imports take longer than most crawls.

Each command is a process of its own, forked from that one: with its own folder, environment, output and exit
code, as if a shell had started it. The processes of the archive of a crawl are forked from the crawl, for the
same reason. Tests of these processes, and crawls started by :meth:`tests.conftest.Crawl.start`, have separate
programs, as users have them.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import json
import logging
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Self

ROOT = Path(__file__).parents[1]
PACKAGES = ("archivebot", "pipelines", "spiders")

# What a crawl imports by the names in its settings.
NAMED = (
    "scrapy.core.downloader.handlers.http11",
    "scrapy.core.scraper",
    "scrapy.crawler",
    "scrapy.extensions.closespider",
    "scrapy.extensions.corestats",
    "scrapy.extensions.feedexport",
    "scrapy.extensions.memusage",
    "scrapy.extensions.spiderstate",
    "scrapy.extensions.telnet",
    "scrapy.resolver",
    "scrapy.spiderloader",
)

MOST = 1 << 18  # bytes of a request: the words of the command and the environment
# Of linux/capability.h: the version of its structures, and the rights to write and to read any file.
VERSION_3, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 0x20080522, 1, 2

RUNS = 1000  # instead of the exit code of a command that runs on
KILLED = 10.0  # seconds in which a process that was killed ends
STATUS = 8  # bytes of a process number, or of an exit status


def run_scrapy(command: Sequence[str], **given: Any) -> subprocess.CompletedProcess[str]:
    """Run ``scrapy`` with some arguments to its end, as :func:`run_scrapy_raw` does; its output is text."""
    done = run_scrapy_raw(command, **given)
    return subprocess.CompletedProcess(done.args, done.returncode, _text(done.stdout), _text(done.stderr))


def run_scrapy_raw(
    command: Sequence[str],
    *,
    folder: Path = ROOT,
    environment: Mapping[str, str] | None = None,
    timeout: float = 60,
    stderr: int = subprocess.PIPE,
    bound: bool = False,
    program: str = "scrapy",
) -> subprocess.CompletedProcess[bytes]:
    """Run ``scrapy`` with some arguments to its end; ``stderr`` may be STDOUT, to get both as one.

    If ``bound``, the rights of files apply to it, even if it is root. ``program`` is the name of the program.
    """
    with TemporaryFile() as out, TemporaryFile() as err:
        files = [out.fileno(), (out if stderr == subprocess.STDOUT else err).fileno()]
        try:
            code = run_in(
                files,
                command,
                folder=folder,
                environment=environment,
                timeout=timeout,
                bound=bound,
                program=program,
            )
        except TimeoutError:
            raise subprocess.TimeoutExpired(list(command), timeout, _all(out), _all(err)) from None
        return subprocess.CompletedProcess(list(command), code, _all(out), _all(err))


class Started:
    """A command of ``scrapy`` that runs on beside the tests, with pipes from its output; as a Popen."""

    def __init__(self, command: Sequence[str], *, bound: bool = False) -> None:
        self.args = list(command)
        self._code: int | None = None
        pipes = [os.pipe(), os.pipe()]
        self.stdout, self.stderr = (os.fdopen(ours, encoding="utf-8") for ours, _ in pipes)
        theirs = [file for _, file in pipes]
        given = _given(command, ROOT, None, bound, "scrapy") | {"beside": True}
        try:
            self.pid = _asked(given, theirs)
        finally:
            for file in theirs:
                os.close(file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.kill()
        self.wait(KILLED)
        self.stdout.close()
        self.stderr.close()

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)  # until wait() its number belongs to no other process

    def kill(self) -> None:
        if self._code is None:
            self.send_signal(signal.SIGKILL)

    def wait(self, timeout: float) -> int:
        """Return the exit code; raises TimeoutExpired."""
        if self._code is None:
            code = _asked({"ended": self.pid, "timeout": timeout})
            if code == RUNS:
                raise subprocess.TimeoutExpired(self.args, timeout)
            self._code = code
        return self._code


def run_in(
    files: Sequence[int],
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str] | None,
    timeout: float,
    bound: bool = False,
    program: str = "scrapy",
) -> int:
    """Run a command whose output goes to two open files, such as a terminal; return its exit code.

    Raises TimeoutError after killing it.
    """
    line = _started()
    process = _asked(_given(command, folder, environment, bound, program), files)
    line.settimeout(timeout)
    try:
        return _number(line)
    except TimeoutError:
        os.kill(process, signal.SIGKILL)
        line.settimeout(None)
        _number(line)
        raise
    finally:
        line.settimeout(None)


def _given(
    command: Sequence[str], folder: Path, environment: Mapping[str, str] | None, bound: bool, program: str
) -> dict[str, object]:
    return {
        "command": list(command),
        "folder": str(folder),
        "environment": dict(environment or os.environ),
        "bound": bound,
        "program": program,
    }


def _asked(given: Mapping[str, object], files: Sequence[int] = ()) -> int:
    line = _started()
    socket.send_fds(line, [json.dumps(given).encode()], files)
    return _number(line)


def _all(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


def _text(data: bytes) -> str:
    return data.decode().replace("\r\n", "\n").replace("\r", "\n")  # as subprocess does


def _number(line: socket.socket) -> int:
    data = line.recv(STATUS, socket.MSG_WAITALL)
    assert len(data) == STATUS, "the process that starts commands is gone"
    return int.from_bytes(data, "big", signed=True)


@cache
def _started() -> socket.socket:
    """Start the process that the commands of this test run are forked from; it ends with the test run."""
    line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    line.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MOST)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.commands"], cwd=ROOT, stdin=theirs, stdout=subprocess.DEVNULL
        )

    def end() -> None:
        line.close()
        process.wait()

    atexit.register(end)
    return line


def main() -> None:
    """Fork one command after another; a forked process leaves the loop and becomes its command."""
    _import_all()
    gc.freeze()
    line = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    while True:
        data, files, _, _ = socket.recv_fds(line, MOST, 2)
        if not data:
            return
        given = json.loads(data)
        if "ended" in given:
            _send(line, _ended(given["ended"], given["timeout"]))
            continue
        process = os.fork()
        if not process:
            line.close()
            break
        for file in files:
            os.close(file)
        _send(line, process)
        if "beside" not in given:
            _send(line, _ended(process))
    _become(given, files)


def _send(line: socket.socket, number: int) -> None:
    line.send(number.to_bytes(STATUS, "big", signed=True))


def _ended(process: int, timeout: float | None = None) -> int:
    """Wait for the end of a child; return its exit code, or RUNS after a time."""
    opened = os.pidfd_open(process)
    ended, _, _ = select.select([opened], [], [], timeout)
    os.close(opened)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) if ended else RUNS


def _become(given: dict[str, object], files: Sequence[int]) -> None:
    for number, file in enumerate(files, 1):
        os.dup2(file, number)
        os.close(file)
    if given["bound"]:
        be_bound()
    os.chdir(str(given["folder"]))
    os.environ.clear()
    os.environ.update(given["environment"])
    encoding = os.environ.get("PYTHONIOENCODING", "utf-8")
    by_line = "PYTHONUNBUFFERED" in os.environ
    if not Path("/dev/fd/1").is_file():  # but the streams of this process can be positioned
        lines = 1 if os.isatty(1) or by_line else -1
        sys.stdout = open(1, "w", encoding=encoding, buffering=lines, closefd=False)  # noqa: SIM115  # they are open as long as the process
        sys.stderr = open(2, "w", encoding=encoding, errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115  # they are open as long as the process
    else:
        sys.stdout.reconfigure(encoding=encoding, line_buffering=by_line)
        sys.stderr.reconfigure(encoding=encoding, errors="backslashreplace")
    sys.path[0] = str(given["folder"])
    sys.argv = [given["program"], *given["command"]]
    import_module("archivebot.archive.process.worker").__dict__["_start"] = Forked
    sys.modules.pop("archivebot.settings", None)  # read anew, in the environment of the command
    module = {"scrapy": "scrapy", "archivebot": "archivebot.program"}[str(given["program"])]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


class Forked:
    """A process of the archive, forked from its crawl; it has the methods of Popen that its worker calls."""

    def __init__(self, module: str, theirs: socket.socket) -> None:
        self._code: int | None = None
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the thread that waits for signals holds no lock
            self.pid = os.fork()
        if not self.pid:
            _serve(module, theirs)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

    def wait(self, timeout: float) -> int:
        if self._code is None:
            code = _ended(self.pid, timeout)
            if code == RUNS:
                raise subprocess.TimeoutExpired("fork", timeout)
            self._code = code
        return self._code

    def kill(self) -> None:
        if self._code is None:
            os.kill(self.pid, signal.SIGKILL)


def _serve(module: str, line: socket.socket) -> None:
    """Run the main function of a module with a socket as its standard input, and end."""
    code = 1
    try:
        os.dup2(line.fileno(), 0)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        logging.root.handlers.clear()
        import_module(module).main()
        code = 0
    finally:
        os._exit(code)


def be_bound() -> None:
    """Let the rights of files apply to this process and to those that it forks, even if it is root."""
    libc = ctypes.CDLL(None)
    header = (ctypes.c_uint32 * 2)(VERSION_3, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted and inheritable, the first 32 and the others
    assert not libc.capget(header, sets)
    for index in range(3):
        sets[index] &= ~(1 << CAP_DAC_OVERRIDE | 1 << CAP_DAC_READ_SEARCH)
    assert not libc.capset(header, sets)


def _import_all() -> None:
    """Import what commands and crawls need; no reactor, of which a process has one."""
    files = (path for name in PACKAGES for path in (ROOT / name).rglob("*.py"))
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in files]
    for name in (*NAMED, *(name for name in names if not name.endswith(("__init__", "__main__")))):
        import_module(name)
    assert "twisted.internet.reactor" not in sys.modules
    import_module("archivebot.text.language").guess("")  # loads its model


if __name__ == "__main__":
    main()
