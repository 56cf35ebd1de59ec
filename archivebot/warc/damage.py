"""The report on a broken place in a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Report = Callable[[int, str], None]


@dataclass(frozen=True, slots=True)
class Damage:
    """What is wrong in a file, and where.

    ``offset`` counts bytes of the file up to the compressed frame, and decoded bytes within it.

    >>> print(Damage("crawl.warc.gz", 1234, "gzip member ends early"))
    crawl.warc.gz, offset 1234: gzip member ends early
    """

    file: str
    offset: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}, offset {self.offset}: {self.reason}"
