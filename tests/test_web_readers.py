"""The processes of a server: which of them answers a question."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.web.readers import Readers
from tests import probes

PAGES = ("http://a.example/", "http://b.example/")


@pytest.mark.long
def test_questions_about_one_page_go_to_the_process_that_has_read_it(tmp_path: Path) -> None:
    config = ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db")
    Archive.open(config).close()

    async def asked() -> list[int]:
        with closing(Readers(config, 2)) as readers:
            await readers.open(probes.process)
            first = [await readers.ask(probes.process, page=page) for page in PAGES]
            again = await asyncio.gather(*(readers.ask(probes.process, page=PAGES[0]) for _ in range(6)))
            return [*first, *again]

    one, other, *again = asyncio.run(asked())
    assert one != other
    assert again == [one] * 6
