"""scrapy template: what the pages of a site have in common."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime

from archivebot.archive import Archive
from archivebot.cli import WritingCommand, print_json, print_table
from archivebot.exceptions import NotArchived, UsageError
from archivebot.jobs.templates import learn, shares
from archivebot.records import template_record
from archivebot.storage.base import LearnedTemplate
from archivebot.templates.parts import parts_of
from archivebot.terminal import write
from archivebot.urls import host_of

# Number of pages from which a site is learned: the reference recommends 50 to 500.
PAGES = 100

# A site of one page has no template: everything on it would repeat.
LEAST_PAGES = 2


class Command(WritingCommand):
    """Learn what the pages of a site have in common, and show what of it a page has"""

    arguments = "URL"
    explanation = "The result is stored in the archive; scrapy blocks uses it to mark furniture."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--pages", type=int, default=PAGES, metavar="N", help="learn from so many pages (%(default)s)"
        )

    def change(self, archive: Archive, args: list[str], opts: argparse.Namespace) -> int:
        if opts.pages < LEAST_PAGES:
            raise UsageError(f"--pages is {opts.pages}: give a number from {LEAST_PAGES} on")
        capture = archive.at(archive.resolve(args[0]), None)
        page = parts_of(*archive.document(capture))
        if page is None or capture.number is None:
            raise NotArchived(f"{capture.url} is no page of a site: it has no markup")
        tree = learn(archive, archive.site(capture.url), opts.pages)
        if tree.pages < LEAST_PAGES:
            raise NotArchived(
                f"the archive has {tree.pages} page of {host_of(capture.url)}: what repeats shows from"
                f" {LEAST_PAGES} on"
            )
        template = LearnedTemplate(host_of(capture.url), datetime.now(UTC), tree.pages, tree.to_json())
        archive.templates.add(template)
        shown = shares(archive, capture, tree, page)
        if opts.json:
            print_json(template_record(template, len(tree.elements), capture.url, shown))
            return 0
        write(f"{template.site}  learned from {tree.pages} pages, {len(tree.elements)} elements")
        write(f"{capture.url}: how much of each block the pages of the site repeat")
        print_table(
            ["repeats", "lineage", "topic"], [[block.repeats, block.lineage, block.topic] for block in shown]
        )
        return 0
