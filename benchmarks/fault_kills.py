"""What a crawl has at its end that was killed again and again: itself, and the process that stores its pages.

    python benchmarks/fault_kills.py [--count 100]

A crawl of a site in which each page is linked from one other page alone (see resume.py) is killed with
SIGKILL at a random moment after its first request, the same command is given again, and so on. Then the
same with the process that stores the pages: the crawl ends by itself, with exit code 3, and is started
again. Counted are the pages that are lost, and the pages that are captured twice. Exit code 1 where there
is any, or where the last run fails.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path

from common import ROOT, Row, report
from resume import CONCURRENCY, DELAY, KILLED, SQLITE, Runs, site

PAGES_PER_KILL = 12
STORING = b"archivebot.crawl.process.archivist"


class StoringRuns(Runs):
    """Runs of which the process is killed that stores their pages."""

    def end(self) -> None:
        process = self.running[0]
        with suppress(ProcessLookupError):
            os.kill(storing(process.pid), signal.SIGKILL)
        self.site.wait(process)
        self.running.popleft()


def storing(crawl: int) -> int:
    """Return the process that stores the pages of a crawl: it is started before those that cut them."""
    children = Path(f"/proc/{crawl}/task/{crawl}/children").read_text().split()
    ours = [int(pid) for pid in children if STORING in Path(f"/proc/{pid}/cmdline").read_bytes()]
    return min(ours)


def survive(kind: type[Runs], folder: Path, count: int) -> tuple[int, int, int]:
    """Kill a crawl so many times; return the pages lost, those captured twice, and the last exit code."""
    folder.mkdir(parents=True)
    pages = PAGES_PER_KILL * count
    fetched = KILLED * pages / count + CONCURRENCY
    with ExitStack() as stack:
        served = stack.enter_context(site(pages, DELAY))
        command = SQLITE.command(served.seed, folder, "")
        runs = kind(command, ROOT, folder / "log", served)
        stack.callback(runs.close)
        if runs.start():
            runs.kill(count, 2 * fetched * DELAY / CONCURRENCY)
        codes = runs.finish()
    stored = SQLITE.stored(folder)
    if runs.kills < count:
        print(f"the site was done after {runs.kills} kills of {count}", file=sys.stderr)
    return pages - len(stored), stored.total() - len(stored), max(map(abs, codes), default=1)


def measure(folder: Path, count: int) -> list[Row]:
    """Kill crawls, and the processes that store their pages."""
    rows = []
    for name, kind in (("crawl", Runs), ("storing process", StoringRuns)):
        lost, twice, code = survive(kind, folder / f"kills {name}".replace(" ", "-"), count)
        for what, value in (("pages lost", lost), ("captured twice", twice), ("exit code", code)):
            rows.append(Row(f"{what}, {count} kills of the {name}", str(value), value=value, bound=0))
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=100, help="kills of each")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(Path(folder), options.count)
    return report("kills: a site on loopback", rows)


if __name__ == "__main__":
    sys.exit(main())
