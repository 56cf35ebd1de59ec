"""Policies of revisits: which of the content changes of known histories they see, at equal budgets.

    python benchmarks/recrawl.py DATA/history-dev [--archive FILE] [--days N] [--goal SHARE] [--json]
                                                  [--constants]

Ingests all versions of the data with `scrapy ingest`; with `--archive` an archive made before is read. The
content changes are those that archivebot judged: versions that only touched furniture are none. A version
lasts until the next version of its page; the last version is where the time line of the page ends.

All time lines start together, and each page is known by its first version. A fixed interval is chosen at
which about 60 % of all content changes are seen before the next change of their page. Each of its visits is
one fetch; every other policy has one fetch at the same moment, and chooses the page. So all policies have
the same budget at any time, and none knows more than it has fetched, except the oracle: it knows all time
lines, and fetches the changed page whose version ends first, which is the optimum for unit fetches with
deadlines. `changes` is the default of `scrapy schedule`, `adaptive` the rule of Apache Nutch's
AdaptiveFetchSchedule. `--days` ends the time lines after a number of days; `--goal` is another share than
0.6, for scarcer budgets. `--constants` instead changes
the constants of the default policy one at a time, and shows for each site what the value sees there that is
best on all other sites. Exit code 1 if a bound fails.
"""

from __future__ import annotations

import heapq
import json
import os
import random
import sys
import tempfile
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from common import data_folder, need, read_index, run
from numpy.typing import NDArray
from store import write_warc
from tables import Row, Table, at_least, report

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.models import Kind
from archivebot.schedule.planner import LOSS, WEIGHT, WINDOW, Planner, Watched
from archivebot.schedule.policy import Policy
from archivebot.urls import host_of
from archivebot.urls.pattern import pattern

GOAL = 0.6  # of the changes: what the fixed interval sees
LEAST_CAUGHT, LEAST_OF_ORACLE, MOST_BEHIND = 0.75, 0.9, 0.02
DAY = 86400.0
SEED = 20261124
IDLE = -1  # the oracle's choice if no page has an unseen change

Times = NDArray[np.float64]
Pages = NDArray[np.intp]
Constants = dict[str, Any]

# The values beside those of archivebot/schedule/planner.py that --constants tries.
TRIED: dict[str, tuple[float, ...]] = {
    "window": (20, 100, 200),
    "weight": (0.5, 1.0, 4.0),
    "loss": (0.0, 0.01, 0.03, 0.3),
}


@dataclass(frozen=True)
class Line:
    """The time line of a page in days: when each state of its content began, the first at 0, and the end."""

    page: Watched
    group: str
    states: Times
    end: float

    @property
    def ends(self) -> Times:
        return np.append(self.states[1:], self.end)


@dataclass(frozen=True)
class Result:
    """The figures of a policy: shares of changes, of time and of fetches, the age in days, and by site."""

    caught: float
    freshness: float
    age: float
    wasted: float
    fetches: int
    sites: dict[str, float]


def read_lines(data: Path, archive: Path, most_days: float) -> list[Line]:
    """Return the time lines of the pages that were seen for some time."""
    found = []
    with Archive.reader(ArchiveConfig(uri=f"sqlite:///{archive}")) as reader:
        for versions in read_index(data):
            url = versions[0].url
            captures = [each for each in reader.captures(url) if each.number is not None]
            times = [each.captured_at.timestamp() / DAY for each in captures]
            if not times:
                continue
            end = min(times[-1] - times[0], most_days)
            begun = [
                time - times[0]
                for each, time in zip(captures, times, strict=True)
                if each.kind is Kind.CHANGED and 0 < time - times[0] < end
            ]
            page = Watched(url, host_of(url), pattern(url) or "")
            if end > 0:
                found.append(Line(page, versions[0].site, np.unique([0.0, *begun]), end))
    return found


def fixed_interval(lines: Sequence[Line], goal: float) -> float:
    """Return the interval in days at which visits at a random phase see a share of all changes."""
    lasting = np.concatenate([(line.ends - line.states)[1:] for line in lines])
    low, high = 1e-5, 1e5
    for _ in range(60):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if np.minimum(1, lasting / middle).mean() > goal else (low, middle)
    return float(low)


def fixed_visits(lines: Sequence[Line], interval: float) -> tuple[Times, Pages]:
    """Return the times of all visits at a fixed interval, the pages one after the other, and the pages."""
    order = list(range(len(lines)))
    random.Random(SEED).shuffle(order)
    times = [
        np.arange((place + 0.5) / len(lines) * interval, lines[index].end, interval)
        for place, index in enumerate(order)
    ]
    pages = np.repeat(np.array(order), [len(each) for each in times])
    when = np.concatenate(times)
    sorted_by_time = np.argsort(when, kind="stable")
    return when[sorted_by_time], pages[sorted_by_time]


def planned_visits(
    lines: Sequence[Line], when: Times, interval: float, policy: Policy, constants: Constants
) -> Pages:
    """Return the pages that a policy visits at given times; it is told only what each visit found."""
    planner = Planner([line.page for line in lines], len(lines) / interval, policy, **constants)
    ending = sorted(range(len(lines)), key=lambda index: lines[index].end)
    begun = [line.states.tolist() for line in lines]
    states, left, gone = [0] * len(lines), len(lines), 0
    chosen = np.empty(len(when), dtype=np.intp)
    for slot, time in enumerate(when.tolist()):
        # A page whose time line has ended is visited no more, by a fixed interval neither.
        while lines[ending[gone]].end <= time:
            planner.remove(ending[gone])
            gone, left = gone + 1, left - 1
            planner.budget = left / interval
        index = planner.next()
        assert index is not None, "no page gets visits, although one is left"
        state = bisect_right(begun[index], time) - 1
        planner.visited(index, time, changed=state != states[index])
        states[index], chosen[slot] = state, index
    return chosen


def best_visits(lines: Sequence[Line], when: Times) -> Pages:
    """Return the pages that the oracle visits: each change once, the one that ends first before others."""
    changes = sorted(
        (float(began), float(ended), index)
        for index, line in enumerate(lines)
        for began, ended in zip(line.states[1:], line.ends[1:], strict=True)
    )
    chosen = np.full(len(when), IDLE, dtype=np.intp)
    waiting: list[tuple[float, int]] = []
    following = 0
    for slot, time in enumerate(when.tolist()):
        while following < len(changes) and changes[following][0] <= time:
            heapq.heappush(waiting, changes[following][1:])
            following += 1
        while waiting and waiting[0][0] <= time:
            heapq.heappop(waiting)
        if waiting:
            chosen[slot] = heapq.heappop(waiting)[1]
    return chosen


def judged(lines: Sequence[Line], when: Times, chosen: Pages) -> Result:
    """Return the figures of visits."""
    seen: defaultdict[str, int] = defaultdict(int)
    changes: defaultdict[str, int] = defaultdict(int)
    fresh, age = [], []
    for index, line in enumerate(lines):
        times = np.concatenate([[0.0], when[chosen == index]])
        states = np.searchsorted(line.states, times, side="right") - 1
        seen[line.group] += len(np.unique(states)) - 1
        changes[line.group] += len(line.states) - 1
        following = np.append(times[1:], line.end)
        stale = np.maximum(following - line.ends[states], 0.0)
        fresh.append(1 - stale.sum() / line.end)
        age.append((stale**2 / 2).sum() / line.end)
    fetches = int((chosen != IDLE).sum())
    caught = sum(seen.values())
    sites = {site: seen[site] / changes[site] for site in changes if changes[site]}
    return Result(
        caught / max(sum(changes.values()), 1),
        float(np.mean(fresh)),
        float(np.mean(age)),
        1 - caught / max(fetches, 1),
        fetches,
        sites,
    )


def results(lines: Sequence[Line], interval: float) -> dict[str, Result]:
    """Return the figures of all policies by name."""
    when, fixed = fixed_visits(lines, interval)
    policies = {
        "default": Policy.CHANGES,
        "freshness": Policy.FRESHNESS,
        "proportional": Policy.PROPORTIONAL,
        "adaptive": Policy.ADAPTIVE,
    }
    planned = in_processes(lines, when, interval, [(each, {}) for each in policies.values()])
    return dict(zip(policies, planned, strict=True)) | {
        "fixed": judged(lines, when, fixed),
        "oracle": judged(lines, when, best_visits(lines, when)),
    }


def in_processes(
    lines: Sequence[Line], when: Times, interval: float, wanted: Sequence[tuple[Policy, Constants]]
) -> list[Result]:
    """Return the figures of policies, which run in as many processes as there are processors."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(partial(_planned, lines, when, interval), wanted))


def _planned(lines: Sequence[Line], when: Times, interval: float, wanted: tuple[Policy, Constants]) -> Result:
    return judged(lines, when, planned_visits(lines, when, interval, *wanted))


def constants(lines: Sequence[Line], interval: float) -> list[Table]:
    """Return what the default policy sees with other constants, and with those chosen on other sites."""
    when, _ = fixed_visits(lines, interval)
    usual: Constants = {"window": WINDOW, "weight": WEIGHT, "loss": LOSS}
    tried = [usual, *(usual | {name: value} for name, values in TRIED.items() for value in values)]
    found = in_processes(lines, when, interval, [(Policy.CHANGES, each) for each in tried])
    changes = {line.group: 0 for line in lines}
    for line in lines:
        changes[line.group] += len(line.states) - 1
    sites = list(found[0].sites)
    rows = [
        Row(
            ", ".join(f"{name} {value:g}" for name, value in each.items()),
            [f"{result.caught:.3f}", *(f"{result.sites[site]:.3f}" for site in sites)],
        )
        for each, result in zip(tried, found, strict=True)
    ]
    held_out = []
    for site in sites:
        rest = [other for other in sites if other != site]
        best = max(found, key=lambda result: sum(result.sites[each] * changes[each] for each in rest))
        cells = (rows[found.index(best)].name, f"{best.sites[site]:.3f}", f"{found[0].sites[site]:.3f}")
        held_out.append(Row(site, cells))
    columns = ("best on the other sites", "changes seen", "with the constants of archivebot")
    return [Table("constants", ("all", *sites), rows), Table("site held out", columns, held_out)]


def tables(found: dict[str, Result]) -> list[Table]:
    """Return the figures of the policies, and the share of changes by site."""
    rows = []
    for name, each in found.items():
        cells = (
            f"{each.caught:.3f}",
            f"{each.freshness:.3f}",
            f"{each.age * 1440:.1f}",
            f"{each.wasted:.3f}",
            f"{each.fetches}",
        )
        least = min(LEAST_CAUGHT, LEAST_OF_ORACLE * found["oracle"].caught)
        rows.append(Row(name, cells, at_least(each.caught, least) if name == "default" else None))
    sites = []
    for site, caught in found["fixed"].sites.items():
        shares = [f"{each.sites[site]:.3f}" for each in found.values()]
        sites.append(Row(site, shares, at_least(found["default"].sites[site], caught - MOST_BEHIND)))
    columns = ("changes seen", "freshness", "age, min", "fetches in vain", "fetches")
    return [Table("policy", columns, rows), Table("changes seen", tuple(found), sites)]


def main() -> int:
    parser = data_folder(__doc__)
    parser.add_argument("--archive", type=Path, help="an archive into which the data were ingested")
    parser.add_argument("--days", type=float, default=float("inf"), help="end of the time lines")
    parser.add_argument("--goal", type=float, default=GOAL, help="of the changes, for the fixed interval")
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    parser.add_argument("--constants", action="store_true", help="try other constants of the default policy")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        archive = options.archive or _ingested(options.data, Path(folder))
        lines = read_lines(options.data, archive.resolve(), options.days)
    if not any(len(line.states) > 1 for line in lines):
        print("these histories have no change of content", file=sys.stderr)
        return 1
    interval = fixed_interval(lines, options.goal)
    if options.constants:
        return report(*constants(lines, interval))
    found = results(lines, interval)
    shown = tables(found)
    if options.json:
        policies = {
            name: {
                "caught": each.caught,
                "freshness": each.freshness,
                "fetches": each.fetches,
                "age": each.age,
                "wasted": each.wasted,
                "sites": each.sites,
            }
            for name, each in found.items()
        }
        print(json.dumps({"budget": found["fixed"].fetches, "interval": interval, "policies": policies}))
        return 0 if all(bound.held for table in shown for _, bound in table.bounds) else 1
    return report(*shown)


def _ingested(data: Path, folder: Path) -> Path:
    warc, archive = folder / "history.warc.gz", folder / "archive.db"
    write_warc(data, warc)
    words = [sys.executable, "-m", "scrapy", "ingest", str(warc), "-s", f"ARCHIVE_URI=sqlite:///{archive}"]
    need(run(words), "the ingest")
    return archive


if __name__ == "__main__":
    sys.exit(main())
