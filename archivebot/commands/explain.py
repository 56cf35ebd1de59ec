"""scrapy explain: why a URL got its score or was refused, and how the crawl found it."""

from __future__ import annotations

import argparse
from typing import Any

from archivebot.cli import FrontierCommand, print_json, print_table
from archivebot.exceptions import NotArchived
from archivebot.frontier.base import FrontierReader, Record
from archivebot.records import url_record
from archivebot.terminal import write
from archivebot.urls import parse_seed

FACTS = ("state", "reason", "anchor", "score", "distance", "order", "relevance", "relevant")


class Command(FrontierCommand):
    """Explain the score, the state and the path of one URL in a crawl"""

    arguments = "URL"
    least, most = 1, 1

    def report(self, frontier: FrontierReader, args: list[str], opts: argparse.Namespace) -> int:
        record = frontier.get(args[0]) or frontier.get(parse_seed(args[0]))
        if record is None:
            raise NotArchived(
                f"the crawl {frontier.crawl} never met {args[0]}: no page that it fetched links to it, "
                "or only with rel=nofollow"
            )
        explained = url_record(record, path(frontier, record))
        if opts.json:
            print_json(explained)
        else:
            _show(explained)
        return 0


def path(frontier: FrontierReader, record: Record) -> list[str]:
    """Return the URLs from the seed to a record; each is the page with the link to the next."""
    way = [record.entry.url]
    while record.entry.source and record.entry.source not in way:
        way.insert(0, record.entry.source)
        before = frontier.get(record.entry.source)
        if before is None:
            break
        record = before
    return way


def _show(explained: dict[str, Any]) -> None:
    write(explained["url"])
    for name in FACTS:
        if explained[name] not in (None, ""):
            write(f"  {name:<10} {_value(explained[name])}")
    for title, parts in (("the score of its link", explained["parts"]), ("its page", explained["page"])):
        if parts:
            write(f"\n{title}")
            print_table(["part", "value"], [[name, _value(value)] for name, value in parts.items()])
    write("\npath from the seed")
    for url in explained["path"]:
        write(f"  {url}")


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, list):
        return ", ".join(f"{term} {weight:+.2f}" for term, weight in value)
    return str(value)
