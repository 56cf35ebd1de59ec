"""Records twelve tasks of a new user, in a real terminal of 80 columns, as docs/session.md.

``python -m tests.recorded`` writes the document anew; tests/test_recorded.py compares it with what happens.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import shlex
import struct
import subprocess
import termios
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from archivebot.sample.server import STATES, SampleSite
from tests.commands import run_in

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs/session.md"
SITE = "http://127.0.0.1:8777/"
ROWS, COLUMNS = 24, 80
REMOVED = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR")  # of the environment of the commands
WEEK = "# a week passes"

HEAD = """# A session

Twelve tasks of a new user, recorded in a terminal of 80 columns. The site is the sample of
`python -m archivebot.sample --serve first`, and a week later `second`. `make session` records it anew.
"""
TASKS = {
    "What can it do?": ["archivebot help"],
    "Which arguments has a crawl?": ["archivebot crawl site --help"],
    "Archive a site": [f"archivebot crawl site -a seeds={SITE}"],
    "Come back a week later, with a table for a spreadsheet": [
        WEEK,
        f"archivebot crawl site -a seeds={SITE} -O week.csv",
        "head -c 47 week.csv",
    ],
    "What changed?": ["archivebot changes --content-only"],
    "What exactly changed on a page?": [f"archivebot delta {SITE}events.html"],
    "When was it visited, and what did it say before?": [
        f"archivebot history {SITE}news/reading-room.html",
        f"archivebot replay {SITE}news/reading-room.html --at 1970 --output then.html",
    ],
    "When did words go?": ["archivebot index", "archivebot search '\"18,400 pounds\"' --removed"],
    "Why is a page not there?": [
        f"archivebot explain {SITE}catalogue/search",
        "archivebot history 127.0.0.1:8777/nowhere.html",
    ],
    "Find pages on a topic": [
        f"archivebot crawl topic -a topic='old maps, harbour' -a seeds={SITE} -a pages=20",
        "archivebot harvest",
    ],
    "Give it to others": [
        f"archivebot export html {SITE}events.html --output events.html",
        "archivebot export warc --output exported",
    ],
    "Is it whole, and can I prove it?": [
        "archivebot verify",
        "archivebot proof --output checkpoint",
        "archivebot verify --checkpoint checkpoint",
    ],
}


@dataclass(frozen=True)
class Step:
    """A command line with what the terminal showed, and its exit code."""

    command: str
    shown: str
    code: int

    def __str__(self) -> str:
        code = f"[exit code {self.code}]\n" if self.code else ""
        return f"$ {self.command}\n{self.shown}{code}"


def record(
    folder: Path, port: int, tasks: Mapping[str, list[str]] = TASKS
) -> Iterator[tuple[str, list[Step]]]:
    """Do tasks in a folder, with the site at a port, and yield each with its steps."""
    states = iter(STATES)
    with ExitStack() as site:
        first = site.enter_context(SampleSite(port, next(states)).running())
        port = urlsplit(first.url).port or port
        for task, commands in tasks.items():
            steps = []
            for command in commands:
                if command == WEEK:
                    site.close()
                    site.enter_context(SampleSite(port, next(states)).running())
                else:
                    steps.append(run(command.replace(":8777", f":{port}"), folder))
            yield task, steps


def run(command: str, folder: Path) -> Step:
    """Run a command line in a terminal of its own."""
    program, *words = shlex.split(command)
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ARCHIVE_", "SCRAPY_"))}
    environment = {name: value for name, value in kept.items() if name not in REMOVED} | {"TERM": "xterm"}
    parts: list[bytes] = []
    reader = threading.Thread(target=_read, args=(ours, parts))
    reader.start()
    try:
        if program == "archivebot":
            code = run_in(
                (theirs, theirs), words, folder=folder, environment=environment, timeout=60, program=program
            )
        else:
            code = subprocess.run(
                [program, *words], cwd=folder, env=environment, stdout=theirs, stderr=theirs, check=False
            ).returncode
    finally:
        os.close(theirs)
        reader.join()
        os.close(ours)
    return Step(command, seen(b"".join(parts).decode()), code)


def _read(terminal: int, parts: list[bytes]) -> None:
    with suppress(OSError):  # the terminal is closed by its last program
        while part := os.read(terminal, 65536):
            parts.append(part)


def seen(data: str) -> str:
    """Return the lines that a terminal shows in the end, without colours.

    >>> seen("1 page\\r\\x1b[K2 pages\\r\\n\\x1b[1A\\r\\x1b[Kdone\\x1b[1m!\\x1b[0m\\r\\n")
    'done!\\n'
    """
    lines, row, column = [""], 0, 0
    for found in re.finditer(r"\x1b\[(\d*)([A-Za-z])|[\r\n]|[^\x1b\r\n]+", data):
        text, count, letter = found[0], int(found[1] or 1), found[2]
        if text == "\r":
            column = 0
        elif text == "\n":
            row += 1
            lines += [""] * (row == len(lines))
        elif letter == "A":
            row -= count
        elif letter == "K":
            lines[row] = lines[row][:column]
        elif letter is None:
            lines[row] = lines[row][:column].ljust(column) + text + lines[row][column + len(text) :]
            column += len(text)
    return "\n".join(line.rstrip() for line in lines).rstrip("\n") + "\n" if any(lines) else ""


def document(tasks: Iterator[tuple[str, list[Step]]]) -> str:
    """Return the recorded tasks as a document."""
    parts = [HEAD]
    for number, (task, steps) in enumerate(tasks, 1):
        parts.append(f"## {number}. {task}\n\n```text\n{''.join(map(str, steps))}```\n")
    return "\n".join(parts)


def main() -> None:
    """Write the document."""
    with TemporaryDirectory() as name:
        DOCUMENT.write_text(document(record(Path(name), 8777)), "utf-8")


if __name__ == "__main__":
    main()
