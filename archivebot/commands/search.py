"""scrapy search: the words of all blocks through time."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime

from archivebot.archive import ArchiveReader
from archivebot.cli import TIME, ArchiveCommand, print_json, print_table
from archivebot.config import SearchConfig
from archivebot.exceptions import NotArchived, UsageError
from archivebot.jobs.search import Wanted, search
from archivebot.models import Label
from archivebot.search import index_path
from archivebot.search.events import WordChange
from archivebot.search.words import pieces
from archivebot.terminal import note
from archivebot.timestamps import parse_since, parse_time
from archivebot.topic.relevance import PageScorer
from archivebot.topic.training import profile_of
from archivebot.urls import parse_seed


class Command(ArchiveCommand):
    """Find words in the blocks of all versions: when they came and when they went"""

    arguments = "WORDS..."
    least, most = 1, sys.maxsize
    explanation = (
        'One block must have all words; "words in quotes" are a phrase, word* is the beginning of a word.'
        " scrapy index makes the index that is searched."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        change = parser.add_mutually_exclusive_group()
        change.add_argument("--added", action="store_true", help="only when the words came")
        change.add_argument("--removed", action="store_true", help="only when the words went")
        parser.add_argument("--from", dest="since", metavar="TIME", help="since a time, or in the last 7d")
        parser.add_argument("--to", dest="until", metavar="TIME", help="at or before a time")
        parser.add_argument("--site", metavar="URL", help="only the pages on this host")
        parser.add_argument("--label", choices=[label.value for label in Label], help="only blocks with it")
        parser.add_argument("--topic", help="only pages on a topic: its name, or some words")
        parser.add_argument("--newest", action="store_true", help="the newest first")
        parser.add_argument("--skip", type=int, default=0, metavar="N", help="leave out the first N")
        parser.add_argument("--limit", type=int, default=100, metavar="N", help="at most N (default: 100)")

    def answer(self, archive: ArchiveReader, args: list[str], opts: argparse.Namespace) -> int:
        path = index_path(self.config, SearchConfig.from_settings(self.settings))
        if opts.skip < 0 or opts.limit < 1:
            raise UsageError("--skip is a number from 0, and --limit from 1")
        change = WordChange.ADDED if opts.added else WordChange.REMOVED if opts.removed else None
        words = " ".join(args)
        wanted = Wanted(
            words,
            change,
            parse_since(opts.since, datetime.now(UTC)) if opts.since else None,
            parse_time(opts.until) if opts.until else None,
            parse_seed(opts.site) if opts.site else None,
            Label(opts.label) if opts.label else None,
            PageScorer(profile_of(opts.topic, self.topics)) if opts.topic else None,
            opts.newest,
            opts.skip,
            opts.limit,
        )
        found = search(archive, path, wanted)
        for each in found.notes:
            note(each)
        if opts.json:
            print_json(found.records)
        elif found.records:
            print_table(
                ["captured", "change", "version", "page", "block", "text"],
                [_row(record, words) for record in found.records],
            )
        else:
            note(f"no block of {archive.uri} matches")
        if found.following:
            note(f"there are more: --skip {found.following['skip']}")
        return 0 if found.records else NotArchived.exit_code


def _row(record: dict[str, object], words: str) -> list[object]:
    text = "".join(piece for piece, _ in pieces(str(record["text"]), words))
    when = parse_time(str(record["captured_at"]))
    return [f"{when:{TIME}}", *(record[name] for name in ("change", "version", "url", "lineage")), text]
