"""The level manager beside fixed levels: bytes stored, and how exactly changes are located.

    python benchmarks/levels.py DATA/history-dev [--pages 2] [--versions 30] [--sites NAME ...] [--seed N]

Stores the first versions of a few pages of each site, cut at the fixed levels 1 to 5, and with the level
manager, which begins at the usual level. *Stored* are the bytes of the frames. *Blocks anew* are the bytes of
the blocks that a version does not share with the version before, as an archive would store them that stores
changed blocks as they are (Song et al., 2008). *Located* is the median share of the bytes of all blocks that
lie outside of the blocks that changed: 1 is the most exact. *Blocks* is the mean number of blocks that a
version is compared by. Exit code 1 if a bound fails.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from statistics import median

from common import Version, data_folder, read_index
from tables import Row, Table, at_least, at_most, report

from archivebot.archive import Archive
from archivebot.config import DEFAULT_LEVEL, ArchiveConfig
from archivebot.models import Kind, Outcome, Page

FIXED = (1, 2, 3, 4, 5)
MANAGER = 0  # in place of a level
# The manager may cost no more than the level that it begins at, but for what one version more or less may do.
MOST_STORED, LEAST_LOCATED = 1.01, 0.99


@dataclass
class Found:
    """What the versions of a site gave at one level: bytes, blocks, and for each change the share located."""

    stored: int = 0
    anew: int = 0
    blocks: list[int] = field(default_factory=list)
    located: list[float] = field(default_factory=list)
    levels: list[int] = field(default_factory=list)


def chosen(pages: Sequence[list[Version]], count: int, seed: int) -> list[list[Version]]:
    """Choose some pages of each site, of those with most versions of different bytes."""
    sites: defaultdict[str, list[list[Version]]] = defaultdict(list)
    for page in pages:
        sites[page[0].site].append(page)
    chance = random.Random(seed)
    found = []
    for site in sorted(sites):
        by_changes = sorted(sites[site], key=lambda page: -len({version.sha256 for version in page}))
        found += chance.sample(by_changes[: 3 * count], min(count, len(by_changes)))
    return found


def stored(page: Sequence[Version], most: int, level: int) -> Found:
    """Store the first versions of a page in an archive of its own."""
    found, before = Found(), ""
    with tempfile.TemporaryDirectory() as folder:
        config = ArchiveConfig(
            uri=f"sqlite:///{folder}/archive.db", level=level or DEFAULT_LEVEL, adjust_level=not level
        )
        with Archive.open(config) as archive:
            distinct = []
            for version in page:
                if version.sha256 != before:
                    distinct.append(version)
                before = version.sha256
            for version in distinct[:most]:
                body = version.file.read_bytes()
                headers = (("Content-Type", "text/html"),)
                capture = archive.add(
                    archive.segment(Page(version.url, version.date, Outcome.FETCHED, 200, headers, body))
                )
                found.stored += capture.stored_bytes
                if capture.number is None or capture.kind is Kind.REVISIT:
                    continue
                blocks = capture.blocks
                anew = sum(block.end - block.start for block in blocks if block.new)
                found.anew += anew
                found.blocks.append(len(blocks))
                found.levels.append(capture.level or 0)
                whole = sum(block.end - block.start for block in blocks)
                if capture.kind in (Kind.CHANGED, Kind.TOUCHED) and whole:
                    found.located.append(1 - anew / whole)
    return found


def together(results: Sequence[Found]) -> Found:
    """Return the sums over pages."""
    whole = Found()
    for each in results:
        whole.stored += each.stored
        whole.anew += each.anew
        whole.blocks += each.blocks
        whole.located += each.located
        whole.levels += each.levels
    return whole


def _cells(found: Found) -> list[str]:
    return [
        f"{found.stored / 1000:.1f}",
        f"{found.anew / 1000:.0f}",
        f"{median(found.located):.3f}" if found.located else "-",
        f"{sum(found.blocks) / max(len(found.blocks), 1):.1f}",
        f"{sum(found.levels) / max(len(found.levels), 1):.2f}",
    ]


def main() -> int:
    parser = data_folder(__doc__)
    parser.add_argument("--pages", type=int, default=2, help="pages per site")
    parser.add_argument("--versions", type=int, default=30, help="versions per page")
    parser.add_argument("--sites", nargs="*", default=[], help="only these sites")
    parser.add_argument("--seed", type=int, default=20261125)
    options = parser.parse_args()
    found = [page for page in read_index(options.data) if page[0].site in (options.sites or [page[0].site])]
    pages = chosen(found, options.pages, options.seed)
    by_level: dict[int, list[Found]] = {}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for level in (*FIXED, MANAGER):
            by_level[level] = list(pool.map(partial(_stored, options.versions, level), pages))
            print(f"\rlevel {level} of {len(FIXED)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    columns = ("stored, kB", "blocks anew, kB", "located", "blocks", "mean level")
    usual, managed = together(by_level[DEFAULT_LEVEL]), together(by_level[MANAGER])
    rows = [Row(f"level {level}", _cells(together(by_level[level]))) for level in FIXED]
    rows.append(Row("manager", _cells(managed), at_most(managed.stored / usual.stored, MOST_STORED)))
    exact = median(managed.located) / max(median(usual.located), 1e-9)
    rows.append(Row("manager, located", _cells(managed), at_least(exact, LEAST_LOCATED)))
    sites = []
    for site in sorted({page[0].site for page in pages}):
        shown = []
        for results in by_level.values():
            of_site = together(
                [each for page, each in zip(pages, results, strict=True) if page[0].site == site]
            )
            shown.append(f"{of_site.stored / 1000:.1f} / {_cells(of_site)[2]}")
        sites.append(Row(site, shown))
    names = (*(f"level {level}" for level in FIXED), "manager")
    return report(Table("level", columns, rows), Table("stored, kB / located", names, sites))


def _stored(most: int, level: int, page: Sequence[Version]) -> Found:
    return stored(page, most, level)


if __name__ == "__main__":
    sys.exit(main())
