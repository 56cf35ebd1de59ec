"""The report of damage in a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Report = Callable[[int, str], None]


@dataclass(frozen=True, slots=True)
class Damage:
    """A damage in a file, and its position.

    ``offset`` counts bytes of the file up to the compressed frame, and decoded bytes within it.

    >>> print(Damage("crawl.warc.gz", 1234, "gzip member ends early"))
    crawl.warc.gz, offset 1234: gzip member ends early
    """

    file: str
    offset: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}, offset {self.offset}: {self.reason}"
