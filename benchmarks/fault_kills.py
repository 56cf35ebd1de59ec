"""The result of a crawl that is killed repeatedly: the crawl itself, and the process that stores its pages.

    python benchmarks/faults.py kills [--count 100]

A crawl of a site in which each page is linked from one other page alone (see resume.py) is killed with
SIGKILL at a random moment after its first request, the same command is run again, and so on. Then the same is
done with the process that stores the pages: the crawl ends by itself, with exit code 3, and is started again.
The benchmark counts lost pages, pages captured twice, and the dictionaries that were made, because each one
replaces the frames of all pages. Exit code 1 if a page is lost or captured twice, if the last run fails, or
if there is less than one dictionary for 50 kills.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from contextlib import ExitStack, closing, suppress
from pathlib import Path

from common import ROOT
from resume import CONCURRENCY, DELAY, KILLED, SQLITE, Runs, site
from tables import Row, Table, at_least, at_most

PAGES_PER_KILL = 12
KILLS_PER_DICTIONARY = 50
STORING = b"archivebot.archive.process.archivist"


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


def survive(kind: type[Runs], folder: Path, count: int) -> tuple[int, int, int, int]:
    """Kill a crawl so many times; return the pages lost, those captured twice, exit code and dictionaries."""
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
    failed = max(map(abs, codes), default=1)
    return pages - len(stored), stored.total() - len(stored), failed, dictionaries(folder)


def dictionaries(folder: Path) -> int:
    """Return how many dictionaries were made; each has a lower id than the dictionary that it replaces."""
    with closing(sqlite3.connect(f"{folder}/archive.db")) as database:
        return -int(database.execute("SELECT coalesce(min(id), 0) FROM dictionary").fetchone()[0])


def measure(folder: Path, count: int) -> Table:
    """Kill crawls, and the processes that store their pages."""
    kinds = {"the crawl": Runs, "the storing process": StoringRuns}
    ends = [survive(kind, folder / str(number), count) for number, kind in enumerate(kinds.values())]
    rows = [
        Row(what, list(map(str, values)), at_most(max(values), 0))
        for what, values in zip(
            ("pages lost", "pages captured twice", "exit code"),
            zip(*(end[:-1] for end in ends), strict=True),
            strict=True,
        )
    ]
    made = [end[-1] for end in ends]
    rows.append(
        Row("dictionaries made", list(map(str, made)), at_least(min(made), count // KILLS_PER_DICTIONARY))
    )
    return Table(f"{count} kills of", tuple(kinds), rows)
