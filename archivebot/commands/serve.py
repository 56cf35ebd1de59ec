"""scrapy serve: the archive in a browser, and for the programs of other archives."""

from __future__ import annotations

import argparse
from pathlib import Path

from archivebot import __version__
from archivebot.cli import ArchiveCommand, print_json
from archivebot.config import SearchConfig, ServeConfig, WatchConfig, beside, whole_uri
from archivebot.exceptions import UsageError
from archivebot.frontier import chosen_uri
from archivebot.search import index_path
from archivebot.terminal import flush, note, write
from archivebot.units import read_count


class Command(ArchiveCommand):
    """Serve the archive to browsers: pages as they were, time lines, Memento and a CDX server"""

    least, most = 0, 0
    explanation = "Prints its address when it answers. Ctrl-C ends it."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--port", default="8080", help="the port; 0 for any that is free (default: 8080)")
        help_text = "the address to answer at (default: 127.0.0.1, which only this computer reaches)"
        parser.add_argument("--host", default="127.0.0.1", help=help_text)
        help_text = (
            "a file with a token, with which clients may start crawls by ARCHIVE_SCRAPYD,"
            " and add watch rules to the file ARCHIVE_WATCH"
        )
        parser.add_argument("--token-file", type=Path, metavar="FILE", help=help_text)

    def work(self, args: list[str], opts: argparse.Namespace) -> int:
        from archivebot.jobs import alerts
        from archivebot.jobs.questions import questions  # other commands need no server
        from archivebot.watch.rulebook import Rulebook
        from archivebot.web.app import Desk
        from archivebot.web.crawls import Crawls
        from archivebot.web.server import serve
        from archivebot.web.token import Token

        if (port := read_count(opts.port)) is None or port > 65_535:
            raise UsageError(f"--port is {opts.port!r}: write a number from 0 to 65535")
        limits = ServeConfig.from_settings(self.settings)
        uri = whole_uri(self.config.uri)
        watch = WatchConfig.from_settings(self.settings)
        index = index_path(self.config, SearchConfig.from_settings(self.settings))
        asked = questions(chosen_uri(self.settings), self.topics, index)
        asked += alerts.questions(beside(self.config.uri, "watch").absolute(), watch.watch)
        token, crawls = Token.read(opts.token_file), Crawls(limits.scrapyd, uri)
        rules, address = Rulebook(watch.watch), watch.watch_server
        desk = Desk(asked, token, crawls, rules, limits.api_rate, __version__, limits.readers, address)
        self.archive().close()  # is there one? An older one is upgraded once, not by each process
        announce = _announce_json if opts.json else _announce
        serve(self.config, opts.host, port, desk, announce)
        note("scrapy serve: ended")
        return 0


def _announce(address: str) -> None:
    write(address)
    flush()


def _announce_json(address: str) -> None:
    print_json({"address": address})
    flush()
