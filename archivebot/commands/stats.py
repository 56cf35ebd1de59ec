"""scrapy stats: the contents of the archive, and its compression."""

from __future__ import annotations

import argparse

from archivebot.archive import ArchiveReader
from archivebot.cli import ArchiveCommand, print_json, print_table
from archivebot.records import archive_record, ratio, rows_bytes
from archivebot.storage.base import Totals
from archivebot.terminal import write
from archivebot.units import size
from archivebot.urls import host_of_key


class Command(ArchiveCommand):
    """Show how much the archive holds, whole and per host"""

    least, most = 0, 0
    explanation = (
        "The ratio is bytes stored per byte fetched. What a host stores are its frames and dictionaries."
        " The rows of a host, with their indexes, are estimated by its share of the captures."
    )

    def answer(self, archive: ArchiveReader, args: list[str], opts: argparse.Namespace) -> int:
        totals = archive.totals()
        if opts.json:
            print_json(archive_record(archive.uri, totals))
            return 0
        whole = totals.pop("")
        write(archive.uri)
        head = ["host", "urls", "captures", "versions", "blocks", "fetched", "stored"]
        rows = [(host_of_key(host), total) for host, total in totals.items()] + [("all", whole)]
        table = [_row(*row, whole) for row in rows]
        print_table([*head, "frames", "dictionaries", "rows", "ratio"], table)
        return 0


def _row(host: str, totals: Totals, whole: Totals) -> list[object]:
    share = ratio(totals)
    return [
        host,
        totals.urls,
        totals.captures,
        totals.versions,
        totals.blocks,
        size(totals.bytes_fetched),
        size(totals.bytes_stored),
        size(totals.bytes_frames),
        size(totals.bytes_dictionaries),
        size(rows_bytes(totals, whole)),
        f"{share:.4f}" if share is not None else None,
    ]
