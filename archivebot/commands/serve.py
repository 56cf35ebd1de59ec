"""scrapy serve: the archive in a browser, and for the programs of other archives."""

from __future__ import annotations

import argparse

from archivebot.cli import ArchiveCommand, print_json
from archivebot.exceptions import UsageError
from archivebot.terminal import flush, note, write


class Command(ArchiveCommand):
    """Serve the archive to browsers: pages as they were, time lines, Memento and a CDX server"""

    least, most = 0, 0
    explanation = "Prints its address when it answers. Ctrl-C ends it."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--port", default="8080", help="the port; 0 for any that is free (default: 8080)")
        help_text = "the address to answer at (default: 127.0.0.1, which only this computer reaches)"
        parser.add_argument("--host", default="127.0.0.1", help=help_text)

    def work(self, args: list[str], opts: argparse.Namespace) -> int:
        from archivebot.web.server import serve  # other commands need no server

        if not opts.port.isdecimal() or int(opts.port) > 65_535:
            raise UsageError(f"--port is {opts.port!r}: write a number from 0 to 65535")
        self.archive().close()  # is there one? An older one is upgraded once, not by each thread
        serve(self.archive, opts.host, int(opts.port), _announce_json if opts.json else _announce)
        note("scrapy serve: ended")
        return 0


def _announce(address: str) -> None:
    write(address)
    flush()


def _announce_json(address: str) -> None:
    print_json({"address": address})
    flush()
