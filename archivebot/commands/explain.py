"""scrapy explain: why a page or a link got its score, what refused it, and how the crawl came to it."""

from __future__ import annotations

import argparse
import json
from typing import Any

from archivebot.cli import FrontierCommand, print_json, print_table
from archivebot.exceptions import NotArchived
from archivebot.frontier.base import Frontier, Record
from archivebot.terminal import say
from archivebot.urls import parse_seed

# What parts may lack of a score because each is rounded; more came later: another link, or what the crawl
# has learnt since.
ROUNDING = 0.005

FACTS = ("state", "reason", "anchor", "score", "distance", "order", "relevance", "relevant")


class Command(FrontierCommand):
    """Explain the score, the state and the path of one URL in a crawl"""

    arguments = "URL"
    least, most = 1, 1

    def report(self, frontier: Frontier, args: list[str], opts: argparse.Namespace) -> int:
        record = frontier.get(args[0]) or frontier.get(parse_seed(args[0]))
        if record is None:
            raise NotArchived(
                f"the crawl {frontier.crawl} never met {args[0]}: no page that it fetched links to it, "
                "or only with rel=nofollow"
            )
        explained = explanation(record, path(frontier, record))
        if opts.json:
            print_json(explained)
        else:
            _show(explained)
        return 0


def explanation(record: Record, way: list[str]) -> dict[str, Any]:
    """Give all that is known of one URL as a JSON-ready record."""
    entry = record.entry
    parts = json.loads(entry.parts or "{}")
    anchor = parts.pop("text", "")
    if parts and abs(later := entry.score - sum(parts.values())) > ROUNDING:
        parts["later"] = round(later, 4)
    return {
        "url": entry.url,
        "state": record.state.value,
        "anchor": anchor,
        "score": entry.score,
        "parts": parts,
        "reason": entry.reason,
        "path": way,
        "distance": entry.distance,
        "order": record.order,
        "relevance": record.relevance,
        "relevant": record.relevant,
        "page": json.loads(record.note or "{}"),
    }


def path(frontier: Frontier, record: Record) -> list[str]:
    """Give the URLs from the seed to a record, each the page on which the next was found."""
    way = [record.entry.url]
    while record.entry.source and record.entry.source not in way:
        way.insert(0, record.entry.source)
        before = frontier.get(record.entry.source)
        if before is None:
            break
        record = before
    return way


def _show(explained: dict[str, Any]) -> None:
    say(explained["url"])
    for name in FACTS:
        if explained[name] not in (None, ""):
            say(f"  {name:<10} {_value(explained[name])}")
    for title, parts in (("the score of its link", explained["parts"]), ("its page", explained["page"])):
        if parts:
            say(f"\n{title}")
            print_table(["part", "value"], [[name, _value(value)] for name, value in parts.items()])
    say("\npath from the seed")
    for url in explained["path"]:
        say(f"  {url}")


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, list):
        return ", ".join(f"{term} {weight:+.2f}" for term, weight in value)
    return str(value)
