"""scrapy verify: rebuild what is stored and hash it again."""

from __future__ import annotations

import argparse

from archivebot.archive import ArchiveReader
from archivebot.cli import ArchiveCommand, print_json
from archivebot.exceptions import CorruptObject, UsageError
from archivebot.records import verification_record
from archivebot.terminal import write


class Command(ArchiveCommand):
    """Rebuild every version, hash it again and list what is damaged"""

    least, most = 0, 0
    explanation = "Nothing is changed. The exit code is 0 only if nothing is damaged, else 4."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--sample", metavar="N", help="check only N versions, chosen at random")

    def answer(self, archive: ArchiveReader, args: list[str], opts: argparse.Namespace) -> int:
        if opts.sample is not None and not opts.sample.isdigit():
            raise UsageError(f"--sample is {opts.sample!r}: give a whole number")
        checked, damaged = archive.verify(int(opts.sample) if opts.sample else None)
        pruned = archive.retention.count()
        if opts.json:
            print_json(verification_record(checked, pruned, damaged))
        else:
            for damage in damaged:
                write(f"damaged: {damage.url} version {damage.version} {damage.digest}: {damage.reason}")
            gone = f", {pruned} pruned" if pruned else ""
            write(f"{checked} versions checked, {len(damaged)} damaged{gone}")
        return CorruptObject.exit_code if damaged else 0
