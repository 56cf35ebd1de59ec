"""The console sessions of the documents: read out of them, run, and compared with what they print."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from archivebot.terminal import PROGRAMS
from tests.commands import run_scrapy

ROOT = Path(__file__).parents[1]
DOCUMENTS = (ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md")))
DOCUMENTED_PORT = 8777
SAMPLE_URL = re.compile(rf"http://127\.0\.0\.1:{DOCUMENTED_PORT}/[\w./-]*")


@dataclass(frozen=True)
class Session:
    """One console block of a document: commands, each with what it prints."""

    document: str
    line: int
    steps: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return f"{self.document}:{self.line}"


@dataclass(frozen=True)
class Sample:
    """The folder in which the sample was archived, the port of its site, and what was printed."""

    folder: Path
    port: int
    printed: str

    def adapted(self, text: str) -> str:
        """Make of a text about the documented port one about the real one."""
        for url in sorted(set(SAMPLE_URL.findall(text_of_all()))):
            text = text.replace(lineage_prefix(url), lineage_prefix(self.real(url)))
        return self.real(text)

    def real(self, text: str) -> str:
        return text.replace(f":{DOCUMENTED_PORT}", f":{self.port}")

    def copy(self, folder: Path) -> Path:
        """Make a folder with the archive, files of the documents, to be changed by one session."""
        folder.mkdir()
        for path in self.folder.iterdir():
            shutil.copy(path, folder)
        write_warc(folder / "old.warc.gz")
        (folder / "page.html").write_text("<!DOCTYPE html><p>no WARC</p>")
        (_, fields), *_ = fenced(text_of("docs/fields.md"), "toml")
        (folder / "fields.toml").write_text(fields, "utf-8")
        (_, collections), *_ = fenced(text_of("docs/collections.md"), "toml")
        (folder / "collections.toml").write_text(self.real(collections), "utf-8")
        return folder


def text_of(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def text_of_all() -> str:
    return "".join(path.read_text("utf-8") for path in DOCUMENTS)


def lineage_prefix(url: str) -> str:
    return hashlib.sha256(url.encode()).hexdigest()[:8] + "-"


def fenced(text: str, language: str) -> list[tuple[int, str]]:
    """Return the code blocks of one language with the lines where they begin."""
    found = re.finditer(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, block.start()) + 1, block[1]) for block in found]


def sessions() -> Iterator[Session]:
    for path in DOCUMENTS:
        for line, block in fenced(path.read_text("utf-8"), "console"):
            first, *rest = re.split(r"^\$ ", block, flags=re.MULTILINE)
            assert not first, f"{path.name}:{line} does not begin with a command"
            steps = tuple((command, output) for command, _, output in (step.partition("\n") for step in rest))
            yield Session(path.name, line, steps)


def normalised(text: str) -> str:
    """Leave out what differs from run to run: times, digests, compressed sizes, lineages, columns."""
    for pattern, instead in (
        (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:Z|\.\d+\+00:00)?", "TIME"),
        (r"\b20\d{12}\b", "TIME"),
        (r"\b[\d.]+ (?:B|kB|MB)(?!\w)", "SIZE"),
        (r"\d+\.\d s\b|\d+\.\d/s", "SPEED"),
        (r'("(?:stored_bytes|bytes_(?:stored|frames|rows)|ratio)"): [\d.]+', r"\1: N"),
        # An index takes pages of a kilobyte, and how many depends on the order in which pages came.
        (r'("index": "[^"]*",\s+"pages": \d+,\s+"texts": \d+,\s+"bytes"): 4[1-4]\d{3}\b', r"\1: N"),
        (r"\b\d\.\d{1,4}$", "RATIO"),
        (r"\b[0-9a-f]{64}\b|\b[0-9a-f]{12}\b", "DIGEST"),
        (r"\b(site|topic)-[0-9a-f]{8}\b", r"\1-CRAWL"),
        (r"\b[0-9a-f]{8}-(\d+)\b", r"LINEAGE-\1"),
        (r":\d{4,5}\b", ":PORT"),
        (r"[ \t]+", " "),
        (r"^ | $", ""),
    ):
        text = re.sub(pattern, instead, text, flags=re.MULTILINE)
    return text.strip("\n") + "\n"


def agrees(expected: str, printed: str) -> bool:
    """Compare an output with a document, where a line of three dots stands for any lines."""
    lines = (
        r"(?:.*\n)*?" if line == "..." else re.escape(line) + r"\n"
        for line in normalised(expected).splitlines()
    )
    return re.fullmatch("".join(lines), normalised(printed)) is not None


def environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ARCHIVE_")}
    return kept | {
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
        "SCRAPY_SETTINGS_MODULE": "archivebot.settings",
    }


def run(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    if arguments[0] in PROGRAMS:
        return run_scrapy(
            arguments[1:],
            program=arguments[0],
            folder=folder,
            environment=environment(),
            timeout=120,
            stderr=subprocess.STDOUT,
        )
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def write_warc(path: Path) -> None:
    with gzip.open(path, "wb") as file:
        for day, month in (("2019-05-04", "May"), ("2021-08-01", "August")):
            body = f"<!DOCTYPE html><title>Library</title><h1>Library</h1><p>We open in {month}.</p>"
            block = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{body}"
            head = (
                "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://library.example/\r\n"
                f"WARC-Date: {day}T10:00:00Z\r\nContent-Length: {len(block)}\r\n\r\n"
            )
            file.write(f"{head}{block}\r\n\r\n".encode())
