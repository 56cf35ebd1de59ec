"""The course of a focused crawl: harvest rate and topical hosts over the pages fetched."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TextIO

from archivebot.exceptions import UsageError
from archivebot.frontier.base import FrontierReader, State
from archivebot.topic.evaluation import brier

# Number of pages in the current harvest rate: one page moves it by a percentage point.
RECENT = 100

# More points than a plot has pixels make an SVG large and show nothing.
MOST_DRAWN = 1000

FORMATS = (".svg", ".png")


@dataclass(frozen=True, slots=True)
class Point:
    """The state of a crawl after a number of pages.

    ``relevant`` counts the pages on topic, ``harvest`` is their share (0..1) and ``recent`` their share among
    the last pages; ``hosts`` counts the hosts with at least one page on topic.
    """

    pages: int
    relevant: int
    harvest: float
    recent: float
    hosts: int


def points_of(frontier: FrontierReader) -> list[Point]:
    """Return the points of a crawl, in the order of its fetches; none if no page was judged."""
    done = frontier.records(State.DONE)
    return list(curve((each.entry.host, each.relevant) for each in done if each.relevant is not None))


@dataclass(frozen=True, slots=True)
class Check:
    """The judgement of a crawl beside labels, over the judged pages that have one.

    ``harvest`` is the share of these pages that were judged to be on topic, ``labelled`` the share that is by
    the labels (0..1). ``brier`` is the mean squared error of their relevances: 0 at best.
    """

    pages: int
    harvest: float
    labelled: float
    brier: float


def check(frontier: FrontierReader, labels: Mapping[str, bool]) -> Check | None:
    """Compare the judged pages of a crawl with labels by URL; None if no judged page has a label."""
    found = [
        (each.relevance, bool(each.relevant), labels[each.entry.url])
        for each in frontier.records(State.DONE)
        if each.relevance is not None and each.entry.url in labels
    ]
    if not found:
        return None
    values, judged, true = zip(*found, strict=True)
    return Check(len(found), sum(judged) / len(found), sum(true) / len(found), brier(values, true))


def curve(pages: Iterable[tuple[str, bool]], recent: int = RECENT) -> Iterator[Point]:
    """Yield the point after each page of a crawl, given as its host and whether it is on topic.

    The harvest rate is the share of pages on topic among those fetched (Chakrabarti, van den Berg, Dom,
    "Focused crawling: a new approach to topic-specific Web resource discovery", Computer Networks 31,
    1999, section 4); ``recent`` is the number of pages in the current rate.

    >>> [(p.relevant, p.harvest, p.recent, p.hosts) for p in curve([("a", True), ("b", False)], recent=1)]
    [(1, 1.0, 1.0, 1), (1, 0.5, 0.0, 1)]
    >>> list(curve([]))
    []
    """
    last: deque[bool] = deque(maxlen=recent)
    hosts: set[str] = set()
    found = 0
    for count, (host, relevant) in enumerate(pages, 1):
        last.append(relevant)
        if relevant:
            found += 1
            hosts.add(host)
        yield Point(count, found, found / count, sum(last) / len(last), len(hosts))


def sampled(points: Sequence[Point], step: int) -> list[Point]:
    """Keep each point after a multiple of ``step`` pages, and the last one.

    >>> [point.pages for point in sampled(list(curve([("a", True)] * 5)), 2)]
    [2, 4, 5]
    >>> sampled([], 2)
    []
    """
    return [point for point in points if point.pages % step == 0 or point is points[-1]]


def write_csv(points: Iterable[Point], stream: TextIO) -> None:
    """Write a row for each point under the names of its fields; shares have four decimals.

    >>> import sys
    >>> write_csv(curve([("a", True), ("b", False), ("b", True)]), sys.stdout)
    pages,relevant,harvest,recent,hosts
    1,1,1.0,1.0,1
    2,1,0.5,0.5,1
    3,2,0.6667,0.6667,2
    """
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(field.name for field in fields(Point))
    writer.writerows([round(value, 4) for value in astuple(point)] for point in points)


def plot(points: Sequence[Point], path: Path) -> None:
    """Draw harvest rate and topical hosts over pages into an SVG or PNG file.

    Raises UsageError for another suffix, if the file cannot be written, or without matplotlib.
    """
    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"{path} has no suffix {' or '.join(FORMATS)}: give one, for example harvest.svg")
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator, PercentFormatter
    except ImportError as error:
        raise UsageError("plots need matplotlib: pip install matplotlib") from error
    figure = Figure(figsize=(7, 5), dpi=150, layout="constrained")
    upper, lower = figure.subplots(2, sharex=True, height_ratios=(3, 2))
    points = sampled(points, max(1, len(points) // MOST_DRAWN))
    pages = [point.pages for point in points]
    upper.plot(
        pages, [point.recent for point in points], color="#9ecae1", linewidth=1, label=f"last {RECENT} pages"
    )
    upper.plot(
        pages, [point.harvest for point in points], color="#08519c", linewidth=2, label="all pages so far"
    )
    upper.set(ylabel="harvest rate", ylim=(0, 1.02))
    upper.yaxis.set_major_formatter(PercentFormatter(1))
    upper.legend(frameon=False)
    lower.step(pages, [point.hosts for point in points], where="post", color="#a63603", linewidth=2)
    lower.set(xlabel="pages fetched", ylabel="topical hosts", xlim=(0, None), ylim=(0, None))
    for axis in (lower.xaxis, lower.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
    for axes in (upper, lower):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
    try:
        figure.savefig(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
