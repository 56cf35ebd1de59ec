"""robots.txt: decisions on real files compared with Google's matcher, and CPU time compared with Protego.

    python benchmarks/robots.py DATA/robots-dev

DATA/robots-dev holds the files, named by their hosts, and in decisions.tsv what Google's matcher decides:
host, agent, path, 1 for allowed. A decision is more permissive where Google forbids what is allowed here.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from common import data_folder
from tables import Row, Table, at_least, at_most, report

LEAST_AGREEMENT = 0.999
OURS = "archivebot"

Allows = Callable[[str], bool]
Reader = Callable[[bytes, str], Allows]


class Tally(NamedTuple):
    """What a parser made of the decisions: shares that agree, ours and all, and what it was laxer on."""

    ours: float
    all: float
    laxer: int
    read: float
    asked: float


def decisions(data: Path) -> dict[tuple[str, str], list[tuple[str, bool]]]:
    """Return what Google's matcher decides: for a host and an agent, paths and whether they are allowed."""
    found = defaultdict(list)
    for line in (data / "decisions.tsv").read_text("utf-8").split("\n"):
        if line:
            host, agent, path, allowed = line.split("\t")
            found[host, agent].append((path, allowed == "1"))
    return found


def archivebot_reader(body: bytes, agent: str) -> Allows:
    from archivebot.crawl.middlewares.robots import Rules

    rules = Rules.parse(body, agent)
    return lambda url: rules.refusal(url) is None


def protego_reader(body: bytes, agent: str) -> Allows:
    from protego import Protego

    parser = Protego.parse(body.decode("utf-8-sig", "ignore"))
    return lambda url: parser.can_fetch(url, agent)


def tally(data: Path, reader: Reader) -> Tally:
    """Ask a parser for every decision; the times are CPU seconds."""
    agreed = {True: [0, 0], False: [0, 0]}
    laxer = 0
    reading = asking = 0.0
    for (host, agent), told in decisions(data).items():
        body = (data / "files" / host).read_bytes()
        started = time.process_time()
        allows = reader(body, agent)
        read = time.process_time()
        answers = [allows(f"http://{host}{path}") for path, _ in told]
        asking += time.process_time() - read
        reading += read - started
        for answer, (_, allowed) in zip(answers, told, strict=True):
            counts = agreed[agent == OURS]
            counts[0] += answer == allowed
            counts[1] += 1
            laxer += answer and not allowed
    ours, others = agreed[True], agreed[False]
    return Tally(ours[0] / ours[1], (ours[0] + others[0]) / (ours[1] + others[1]), laxer, reading, asking)


def main() -> int:
    data = data_folder(__doc__).parse_args().data
    ours, peer = tally(data, archivebot_reader), tally(data, protego_reader)
    counts = Counter(agent == OURS for (_, agent), told in decisions(data).items() for _ in told)
    rows = [
        Row(
            f"{counts[True]:,} for `{OURS}` that agree with Google",
            (f"{ours.ours:.6f}", f"{peer.ours:.6f}"),
            at_least(ours.ours, LEAST_AGREEMENT),
        ),
        Row(
            f"{counts.total():,} for all agents that agree",
            (f"{ours.all:.6f}", f"{peer.all:.6f}"),
            at_least(ours.all, LEAST_AGREEMENT),
        ),
        Row("more permissive than Google", (str(ours.laxer), str(peer.laxer)), at_most(ours.laxer, 0)),
        Row("CPU of reading, s", (f"{ours.read:.2f}", f"{peer.read:.2f}")),
        Row("CPU of asking, s", (f"{ours.asked:.2f}", f"{peer.asked:.2f}")),
    ]
    return report(Table("decisions", ("archivebot", "Protego"), rows))


if __name__ == "__main__":
    raise SystemExit(main())
