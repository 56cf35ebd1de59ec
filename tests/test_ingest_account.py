"""The account of an ingest: what became of the records of files, in random orders of the files."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from tests.commands import run_scrapy

WARCS = Path(__file__).parent / "warc"


def ingested(files: list[str], uri: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(
        run_scrapy(("ingest", *files, "--json", "-s", f"ARCHIVE_URI={uri}")).stdout
    )["files"]
    return found


def kept(file: dict[str, Any]) -> int:
    """Return how many records of a file are in the archive."""
    return int(file["captures"] + file["known"] + sum(file["attached"].values()))


@pytest.mark.long
def test_every_record_has_its_end_and_nothing_is_stored_twice_in_any_order(tmp_path: Path) -> None:
    files = sorted(str(path) for path in WARCS.rglob("*") if ".warc" in path.name or ".arc" in path.name)
    assert len(files) >= 3
    chance, seen = random.Random(7), []
    for order in range(3):
        chance.shuffle(files)
        uri = f"sqlite:///{tmp_path}/{order}.db"
        first, again = ingested(files, uri), ingested(files, uri)
        assert [len(first), len(again)] == [len(files)] * 2
        counts = [sum(map(kept, files)) for files in (first, again)]
        assert counts[0] == counts[1]
        assert sum(file["captures"] + len(file["attached"]) for file in again) == 0
        assert [file["damaged"] for file in first] == [file["damaged"] for file in again]
        with Archive.reader(ArchiveConfig(uri=uri)) as archive:
            captures = Counter(
                (url, capture.captured_at, capture.outcome, capture.digest)
                for _, url in archive.pages()
                for capture in archive.captures(url)
            )
            assert archive.verify()[1] == []
        assert max(captures.values()) == 1
        seen.append(captures)
    assert seen[0] == seen[1] == seen[2]
