"""scrapy explain: why a URL got its score or was refused, and how the crawl found it."""

from __future__ import annotations

import argparse
from typing import Any

from archivebot.cli import FrontierCommand, print_json, print_table
from archivebot.jobs.frontier import found_in
from archivebot.terminal import write

FACTS = ("crawl", "state", "reason", "anchor", "score", "distance", "order", "relevance", "relevant")


class Command(FrontierCommand):
    """Explain the score, the state and the path of one URL in a crawl"""

    arguments = "URL"
    least, most = 1, 1

    def work(self, args: list[str], opts: argparse.Namespace) -> int:
        """Look for the URL in the crawls, the one begun last first; raises NotArchived."""
        explained = found_in(self.uri, args[0], opts.crawl)
        if opts.json:
            print_json(explained)
        else:
            _show(explained)
        return 0


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
