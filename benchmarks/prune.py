"""The space that pruning gives back, beside an archive that never held the pruned versions.

    python benchmarks/prune.py DATA [--sample N]

Stores the versions of N pages of each site, prunes copies of the archive by several rules, and rebuilds every
version that is left. A bound holds the share of the bytes of the pruned frames by which the file got smaller.
The peer is a new archive of the versions that are left. Exit code 1 if a bound fails.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from common import Version, data_folder, in_time_order, megabytes, read_index
from tables import Row, Table, at_least, at_most, report

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.jobs.prune import PruneProgress, Pruning, prune
from archivebot.models import Outcome, Page
from archivebot.versioning.keep import Keep

RULES = ("changes", "monthly", "ends")


def sample(data: Path, most: int) -> list[Version]:
    """Return the versions of the pages with most versions of each site, by date."""
    sites: dict[str, list[list[Version]]] = defaultdict(list)
    for page in read_index(data):
        sites[page[0].site].append(page)
    return in_time_order(page for pages in sites.values() for page in sorted(pages, key=len)[-most:])


def opened(path: Path) -> Archive:
    return Archive.open(ArchiveConfig(uri=f"sqlite:///{path}"))


def store(path: Path, versions: Iterable[Version]) -> None:
    """Store versions in a new archive."""
    with opened(path) as archive:
        for version in versions:
            when = version.date if version.date.tzinfo else version.date.replace(tzinfo=UTC)
            body = version.file.read_bytes()
            headers = (("Content-Type", "text/html"),)
            page = Page(version.url, when, Outcome.FETCHED, 200, headers, body)
            archive.add(archive.segment(page), with_blocks=False)


def pruned(path: Path, rule: str) -> tuple[Pruning, set[tuple[str, str]], int, float]:
    """Prune an archive; return the counts, the kept versions, those that are damaged, and the seconds."""
    with opened(path) as archive:
        started = time.perf_counter()
        urls = [url for _, url in archive.pages()]
        done = prune(archive, urls, Keep.parse(rule), datetime.now(UTC), PruneProgress())
        seconds = time.perf_counter() - started
        kept, wrong = set(), len(archive.verify()[1])
        for url in urls:
            for capture in archive.captures(url):
                if capture.digest and not capture.pruned:
                    kept.add((url, capture.sha256))
                    wrong += sha256(archive.body(capture)).hexdigest() != capture.sha256
    return done, kept, wrong, seconds


def main() -> int:
    parser = data_folder(__doc__)
    parser.add_argument("--sample", type=int, default=4, metavar="N", help="pages of each site (default: 4)")
    options = parser.parse_args()
    versions = sample(options.data, options.sample)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.db"
        store(whole, versions)
        for rule in RULES:
            copy, fresh = Path(folder) / f"{rule}.db", Path(folder) / f"{rule}-fresh.db"
            shutil.copy(whole, copy)
            done, kept, wrong, seconds = pruned(copy, rule)
            store(fresh, (each for each in versions if (each.url, each.sha256) in kept))
            share = (done.before - done.after) / max(1, done.frames)
            sizes = (megabytes(each) for each in (done.before, done.frames, done.after, fresh.stat().st_size))
            cells = [str(done.pruned), str(done.kept), *sizes, f"{seconds:.1f} s"]
            rows.append(Row(f"{rule}: share given back", [f"{share:.3f}", *cells], at_least(share, 0.8)))
            rows.append(Row(f"{rule}: versions damaged", [str(wrong)], at_most(wrong, 0)))
    columns = ("", "pruned", "kept", "before", "pruned frames", "after", "kept versions alone", "time")
    return report(Table(f"{len(versions)} versions", columns, rows))


if __name__ == "__main__":
    sys.exit(main())
