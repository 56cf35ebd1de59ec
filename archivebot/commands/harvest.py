"""scrapy harvest: how many of the pages of a focused crawl were on topic."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from io import StringIO
from pathlib import Path

from archivebot.cli import FrontierCommand, print_json, print_table, writing
from archivebot.exceptions import NotArchived, UsageError
from archivebot.frontier.base import FrontierReader
from archivebot.jobs.harvest import RECENT, Check, Point, check, plot, points_of, sampled, write_csv
from archivebot.terminal import write
from archivebot.topic.sources import read_labels
from archivebot.units import read_count


class Command(FrontierCommand):
    """Show harvest rate and topical hosts over the pages of a focused crawl"""

    explanation = (
        "Pages count in the order of their fetches. Pages without text, such as redirects, do not count."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--step", metavar="N", default="500", help="pages between two rows (500)")
        parser.add_argument("--csv", metavar="FILE", help="write a row for each page to FILE, - for stdout")
        parser.add_argument("--plot", metavar="FILE", help="draw the curve into FILE, .svg or .png")
        parser.add_argument(
            "--labels",
            metavar="FILE",
            help='compare the judgement with JSON lines of {"url", "relevant"}, and print its Brier score',
        )

    def report(self, frontier: FrontierReader, args: list[str], opts: argparse.Namespace) -> int:
        if not (step := read_count(opts.step)):
            raise UsageError(f"--step is {opts.step!r}: give a whole number from 1 on")
        if opts.json and opts.csv == "-":
            raise UsageError("--json and --csv - both write to stdout: give --csv a file")
        labels = read_labels(Path(opts.labels)) if opts.labels else {}
        points = points_of(frontier)
        if not points:
            raise NotArchived(f"no page of crawl {frontier.crawl} was judged; scrapy crawl topic judges them")
        checked = check(frontier, labels)
        if opts.labels and checked is None:
            raise UsageError(f"{opts.labels} has no label of a judged page of crawl {frontier.crawl}")
        if opts.plot:
            plot(points, Path(opts.plot))
        if opts.csv:
            _write(points, opts.csv)
        rows = sampled(points, step)
        if opts.json:
            found = {"crawl": frontier.crawl, "points": [asdict(point) for point in rows]}
            print_json(found | ({"check": asdict(checked)} if checked else {}))
        elif opts.csv != "-":
            head = ["pages", "on topic", "harvest", f"last {RECENT}", "topical hosts"]
            print_table(head, [_row(point) for point in rows])
            if checked:
                write("")
                _print_check(checked)
        return 0


def _write(points: Sequence[Point], file: str) -> None:
    if file == "-":
        text = StringIO()
        write_csv(points, text)
        write(text.getvalue().removesuffix("\n"))
        return
    with writing(Path(file)), Path(file).open("w", encoding="utf-8", newline="") as stream:
        write_csv(points, stream)


def _print_check(checked: Check) -> None:
    head = ["labelled pages", "harvest", "by labels", "Brier score"]
    shares = [f"{value:.3f}" for value in (checked.harvest, checked.labelled, checked.brier)]
    print_table(head, [[checked.pages, *shares]])


def _row(point: Point) -> list[object]:
    return [point.pages, point.relevant, f"{point.harvest:.3f}", f"{point.recent:.3f}", point.hosts]
