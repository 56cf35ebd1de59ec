"""The effect of single changed bits on an archive, over many repetitions.

    python benchmarks/faults.py flips [--count 1000]

An archive of the sample site, with a template, is copied; one bit of the copy, chosen at random, is flipped,
and everything is read back: each reading method of Archive in a process, and one of the commands, for one
flip in twenty, as a user runs it. Verify must find every change of the data read, and every failure to read.
The benchmark counts the flips that changed the data read without notice, and the errors that were not
reported as errors of the archive. Exit code 1 if there are any.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import socket
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from common import ROOT, need, run
from tables import Row, Table, at_most

SEED = 20261120
CHUNK = 50  # flips that one process tries
COMMANDS = 20  # of so many flips one is also read by a command
MEMORY = 2 << 30

SITE = "127.0.0.1"


def build(folder: Path) -> Path:
    """Archive the sample site twice, and learn its template."""
    with socket.create_server((SITE, 0)) as listener:
        port = listener.getsockname()[1]
    uri = f"sqlite:///{folder}/archive.db"
    need(run([sys.executable, "-m", "archivebot.sample", "--port", str(port)], ARCHIVE_URI=uri), "the sample")
    url = f"http://{SITE}:{port}/"
    need(run([sys.executable, "-m", "scrapy", "template", url], ARCHIVE_URI=uri), "scrapy template")
    return folder / "archive.db"


class Reading(dict[str, Any]):
    """All that an archive tells, by name; an error of the archive stands for what could not be told."""

    def __init__(self, path: Path) -> None:
        from archivebot.archive import Archive
        from archivebot.config import ArchiveConfig
        from archivebot.exceptions import ArchiveError

        self.error = ArchiveError
        try:
            self.archive = Archive.open(ArchiveConfig(uri=f"sqlite:///{path}"), create=False)
        except ArchiveError as error:
            self["open"] = str(error)
            return
        try:
            self._read()
        finally:
            self.archive.close()

    def _note(self, name: str, read: Callable[..., Any], *arguments: Any) -> Any:
        try:
            found = read(*arguments)
            self[name] = found if isinstance(found, dict | tuple) else sorted(found, key=repr)
        except self.error as error:
            self[name] = str(error)
            return []
        return self[name]

    def _read(self) -> None:
        archive = self.archive
        self._note("totals", archive.totals)
        self._note("fingerprints", archive.fingerprints.all)
        self._note("links", archive.links.all)
        self._note("template", lambda: (archive.templates.latest(SITE),))
        for form in self._note("forms", archive.forms.all):
            self._note(f"pages of {form}", archive.forms.pages, form.site, form.form.signature)
        for _, url in self._note("pages", self.archive.pages):
            self._page(url)

    def _page(self, url: str) -> None:
        versions = []
        for capture in self._note(f"captures of {url}", self.archive.captures, url):
            if capture.digest:
                name = f"{url} at {capture.captured_at}"
                self._note(f"document of {name}", self.archive.document, capture)
                versions += self._note(f"version of {name}", lambda of: [self.archive.seen(of)], capture)
        for version in versions:
            self._note(f"blocks of {version}", self.archive.blocks, version)
        numbered = [version for version in versions if version.number]
        for before, after in pairwise(numbered):
            self._note(f"delta to {after}", lambda *of: (self.archive.delta(url, *of),), before, after)


def verified(path: Path) -> bool:
    """Return whether verify finds no damage."""
    from archivebot.archive import Archive
    from archivebot.config import ArchiveConfig
    from archivebot.exceptions import ArchiveError

    try:
        archive = Archive.open(ArchiveConfig(uri=f"sqlite:///{path}"), create=False)
        try:
            return not archive.verify()[1]
        finally:
            archive.close()
    except ArchiveError:
        return False


def commands(url: str) -> list[list[str]]:
    """Return the commands that read; each is given --json."""
    pages = [["history", url], ["delta", url], ["text", url], ["blocks", url]]
    return [*pages, ["stats"], ["verify"], ["forms"], ["duplicates"], ["rank"], ["replay", url, "--headers"]]


def attempt(path: Path, seed: int, count: int) -> Counter[str]:
    """Flip bits of copies of an archive, one at a time, and count what became of them."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    chance, original, found = random.Random(seed), path.read_bytes(), Counter[str]()
    before = Reading(path)
    url = before["pages"][0][1]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "archive.db"
        for number in range(count):
            bit = chance.randrange(len(original) * 8)
            changed = bytearray(original)
            changed[bit // 8] ^= 1 << bit % 8
            copy.write_bytes(changed)
            try:
                same = before == Reading(copy)
                copy.write_bytes(changed)  # opening may have written
                whole = verified(copy)
            except Exception as error:
                found["tracebacks"] += 1
                print(f"bit {bit}: {type(error).__name__}: {error}", file=sys.stderr)
                continue
            found["the same" if same else "told"] += 1
            found["found"] += not whole
            if whole and not same:
                found["silent"] += 1
                print(f"bit {bit} changed what reads back, and verify finds nothing", file=sys.stderr)
            if number % COMMANDS == 0:
                words = chance.choice(commands(url))
                found["tracebacks"] += _fails(words, copy, bytes(changed))
            for left in Path(folder).iterdir():
                left.unlink()
    return found


def _fails(words: list[str], copy: Path, data: bytes) -> bool:
    """Return whether a command ends with a traceback."""
    copy.write_bytes(data)
    ran = subprocess.run(
        [sys.executable, "-m", "scrapy", *words, "--json"],
        cwd=ROOT,
        env={**os.environ, "ARCHIVE_URI": f"sqlite:///{copy}"},
        capture_output=True,
        text=True,
    )
    if failed := "Traceback" in ran.stderr:
        print(f"{' '.join(words)}:\n{ran.stderr[-1500:]}", file=sys.stderr)
    return failed


def measure(folder: Path, count: int) -> Table:
    """Flip bits in as many copies, some in each of several processes."""
    (folder / "flips").mkdir(parents=True)
    path = build(folder / "flips")
    found = Counter[str]()
    for start in range(0, count, CHUNK):
        words = [str(path), str(SEED + start), str(min(CHUNK, count - start))]
        tried = run([sys.executable, str(Path(__file__).resolve()), *words])
        print(tried.stderr, end="", file=sys.stderr)
        found.update(json.loads(tried.stdout) if not tried.code else {"tracebacks": 1})
    rows = [
        Row("found by `scrapy verify`", (str(found["found"]),)),
        Row("changed nothing that reads back", (str(found["the same"]),)),
        Row("silent changes", (str(found["silent"]),), at_most(found["silent"], 0)),
        Row("tracebacks", (str(found["tracebacks"]),), at_most(found["tracebacks"], 0)),
    ]
    return Table("flipped bits", (f"of {count}",), rows)


def main() -> int:
    """Flip bits of copies of one archive: a process of its own does it, as memory is limited there."""
    parser = argparse.ArgumentParser()
    parser.add_argument("path", type=Path)
    parser.add_argument("seed", type=int)
    parser.add_argument("count", type=int)
    print(json.dumps(attempt(**vars(parser.parse_args()))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
