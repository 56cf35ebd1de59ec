"""scrapy rank: the most important pages, by the links in the archive."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from archivebot.archive import ArchiveReader
from archivebot.cli import ArchiveCommand, LeftOut, print_json, print_table
from archivebot.exceptions import NotArchived, UsageError
from archivebot.jobs.rank import METHODS, TOPICAL, ranking
from archivebot.topic.rings import read_rings
from archivebot.topic.similarity import NEAR
from archivebot.topic.training import profile_of, with_synonyms


class Command(ArchiveCommand):
    """Rank pages by the links between them"""

    least, most = 0, 0
    explanation = "Pages that were never fetched are ranked, too."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--by", choices=METHODS, default="pagerank", help="the method (%(default)s)")
        parser.add_argument("--top", type=int, default=20, metavar="N", help="how many pages (%(default)s)")
        parser.add_argument("--topic", help="the name of a topic, or some words")
        parser.add_argument(
            "--near", type=float, metavar="C", help=f"similarity at which a word counts fully ({NEAR})"
        )
        parser.add_argument("--rings", metavar="WORDS", help='words like the topic\'s, "ferry=boat=raft:0.5"')
        parser.add_argument("--external", action="store_true", help="only links between different domains")

    def answer(self, archive: ArchiveReader, args: list[str], opts: argparse.Namespace) -> int:
        _check(opts)
        near = NEAR if opts.near is None else opts.near
        rings = read_rings(opts.rings) if opts.rings else []
        profile = with_synonyms(profile_of(opts.topic, self.topics), rings) if opts.topic else None
        left_out = LeftOut()
        lists = ranking(
            archive,
            opts.by,
            profile,
            opts.top,
            external=opts.external,
            near=near,
            config=self.config,
            damaged=left_out,
        )
        if not any(lists.values()):
            counted = "page" if opts.by == "relevance" else "link"
            advice = "without --external" if opts.external else "other words"
            raise NotArchived(f"no {counted} in {archive.uri} counts: try {advice}")
        if opts.json:
            print_json({"by": opts.by, **{name: list(map(asdict, pages)) for name, pages in lists.items()}})
            return left_out.exit_code(0)
        for name, pages in lists.items():
            head = ["rank", "score", "in_links", "hosts", name]
            print_table(
                head, [[page.rank, page.score, page.in_links, page.hosts, page.url] for page in pages]
            )
        return left_out.exit_code(0)


def _check(opts: argparse.Namespace) -> None:
    """Raise UsageError if the options do not belong together."""
    if opts.top < 1:
        raise UsageError(f"--top is {opts.top}: give a number from 1 on")
    if opts.by in TOPICAL and not opts.topic:
        raise UsageError(f"--by {opts.by} needs a --topic")
    if opts.near is not None and (not opts.topic or opts.by == "relevance"):
        raise UsageError("--near is for links to a topic: give --topic, and not --by relevance")
    if opts.near is not None and not 0 <= opts.near <= 1:
        raise UsageError(f"--near is {opts.near}: give a number from 0 to 1")
    if opts.rings and not opts.topic:
        raise UsageError("--rings belongs to --topic: give a topic as well")
