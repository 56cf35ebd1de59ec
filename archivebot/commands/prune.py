"""scrapy prune: remove the versions that a rule of retention does not keep."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime

from archivebot.archive import Archive
from archivebot.cli import WritingCommand, print_json
from archivebot.exceptions import CorruptObject, UsageError
from archivebot.jobs.prune import PruneProgress, prune
from archivebot.terminal import note, write
from archivebot.units import amount, size
from archivebot.urls import parse_seed
from archivebot.versioning.keep import Keep


class Command(WritingCommand):
    """Remove versions that a rule does not keep, and free their space"""

    arguments = "[URL]"
    least, most = 0, 1
    explanation = (
        "The first and the last version of each page stay, and each capture stays on record. With a URL only"
        " this page is pruned. What is removed cannot be brought back: try --dry-run first."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--keep", metavar="RULE", help="such as changes, or changes,monthly,90d")
        parser.add_argument("--site", metavar="URL", help="only the pages on this host")
        parser.add_argument(
            "--collection", metavar="NAME", help="only the pages of a collection, by its own rule"
        )
        parser.add_argument("--dry-run", action="store_true", help="only print what would go")

    def change(self, archive: Archive, args: list[str], opts: argparse.Namespace) -> int:
        collection = archive.collections.named(opts.collection) if opts.collection else None
        rule = opts.keep or (collection.keep if collection else "")
        if not rule:
            raise UsageError("write --keep RULE, such as --keep changes; see scrapy prune -h")
        if len([*args, *filter(None, (opts.site, opts.collection))]) > 1:
            raise UsageError("a URL, --site and --collection each choose pages: give one of them")
        keep = Keep.parse(rule)
        site = parse_seed(opts.site) if opts.site else None
        unread: list[CorruptObject] = []
        urls = [archive.resolve(args[0])] if args else list(archive.visits.pages(site, unread.append))
        if collection:
            urls = [url for url in urls if archive.collections.of(url) == collection]
        progress = PruneProgress() if opts.json else _Printed()
        done = prune(archive, urls, keep, datetime.now(UTC), progress, dry=opts.dry_run, unread=unread)
        if opts.json:
            print_json(done.record())
        else:
            would = "would go" if opts.dry_run else "pruned"
            versions, pages = amount(done.pruned, "version"), amount(done.pages, "page")
            message = f"{versions} of {pages} {would}, {done.kept} stay"
            freed = "" if opts.dry_run else f"; archive {size(done.before)} -> {size(done.after)}"
            write(f"{message}; frames of {size(done.frames)}{freed}")
        return CorruptObject.exit_code if done.damaged else 0


class _Printed(PruneProgress):
    """Prints each page that loses versions."""

    def pruned(self, url: str, kept: int, gone: int, size_: int) -> None:
        write(f"{url}  {gone} of {gone + kept} versions, {size(size_)}")

    def damaged(self, message: str) -> None:
        note(f"left as it is: {message}")
