"""scrapy frontier: the queued and refused URLs of a crawl, and ways to change them."""

from __future__ import annotations

import argparse
from contextlib import closing
from typing import Any

from archivebot.cli import TIME, FrontierCommand, print_json, print_table
from archivebot.exceptions import UsageError
from archivebot.frontier import Frontier, FrontierReader, State, open_frontier
from archivebot.frontier.base import RETRIED
from archivebot.jobs.frontier import crawl_state
from archivebot.records.frontier import ending
from archivebot.terminal import write
from archivebot.timestamps import parse_time
from archivebot.units import amount, read_count
from archivebot.urls import parse_seed


class Command(FrontierCommand):
    """Show the frontier of a crawl: states, hosts, what comes next, what was rejected and why"""

    arguments = "[URL...]"
    most = 1000
    explanation = "--forget removes the given URLs, or the whole crawl, which then starts over."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--top", metavar="N", default="10", help="rows of each table (10)")
        parser.add_argument("--forget", action="store_true", help="remove URLs, or the whole crawl")
        parser.add_argument(
            "--retry",
            nargs="?",
            const=State.FAILED.value,
            metavar="STATE",
            help="queue the URLs in a state again: failed (default) or rejected",
        )

    def work(self, args: list[str], opts: argparse.Namespace) -> int:
        if args and not opts.forget:
            raise UsageError(
                "URLs need --forget; to see why a URL was or was not fetched: scrapy explain URL"
            )
        if opts.forget and opts.retry is not None:
            raise UsageError("--forget and --retry: give one of them")
        if not opts.forget and opts.retry is None:
            return super().work(args, opts)
        with closing(open_frontier(self.uri, opts.crawl, create=False)) as frontier:
            return _forget(frontier, args, opts) if opts.forget else _retry(frontier, opts)

    def report(self, frontier: FrontierReader, args: list[str], opts: argparse.Namespace) -> int:
        if (top := read_count(opts.top)) is None:
            raise UsageError(f"--top is {opts.top!r}: give a whole number")
        state = crawl_state(frontier, top)
        if opts.json:
            print_json(state)
        else:
            _show(state)
        return 0


def _forget(frontier: Frontier, args: list[str], opts: argparse.Namespace) -> int:
    gone = frontier.forget([parse_seed(url) for url in args] or None)
    return _changed(opts, "forgotten", gone, f"{amount(gone, 'URL')} forgotten")


def _retry(frontier: Frontier, opts: argparse.Namespace) -> int:
    if opts.retry not in RETRIED:
        raise UsageError(f"--retry is {opts.retry!r}: give failed or rejected")
    again = frontier.retry(State(opts.retry))
    them = "it" if again == 1 else "them"
    message = f"{amount(again, 'URL')} queued again; the crawl's command fetches {them}"
    return _changed(opts, "queued", again, message)


def _changed(opts: argparse.Namespace, name: str, count: int, message: str) -> int:
    if opts.json:
        print_json({name: count})
    else:
        write(message)
    return 0


def _show(state: dict[str, Any]) -> None:
    began = parse_time(state["began"])
    write(f"{state['crawl']}, began {began:{TIME}}, {ending(state['ended'])}")
    write()
    print_table(list(state["states"]), [list(state["states"].values())])
    for title, head, rows in (
        ("hosts", ["host", *map(str, State)], [list(host.values()) for host in state["hosts"]]),
        ("next", ["score", "url"], [[f"{each['score']:.4g}", each["url"]] for each in state["next"]]),
        ("rejected, by reason", ["urls", "reason"], [[n, reason] for reason, n in state["reasons"].items()]),
        ("rejected", ["reason", "url"], [[each["reason"], each["url"]] for each in state["rejected"]]),
    ):
        if rows:
            write(f"\n{title}")
            print_table(head, rows)
