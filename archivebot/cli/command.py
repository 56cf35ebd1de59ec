"""The base classes of all commands: check options, open an archive or a frontier, explain errors."""

from __future__ import annotations

import argparse
import asyncio
import gc
import signal
from collections.abc import Sequence
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.settings import Settings

from archivebot.archive import Archive, ArchiveReader
from archivebot.cli.checks import check, check_log, check_options, note_unknown
from archivebot.config import FIELDS, ArchiveConfig, FocusConfig
from archivebot.exceptions import ArchiveError, NothingFetched, Outdated, StorageError, UsageError
from archivebot.frontier import FrontierReader, chosen_uri, read_frontier
from archivebot.garbage import spare_collections
from archivebot.interrupt import ASKING, INTERRUPTED, end_children, watch
from archivebot.terminal import commanded, flush, guard, hush, note

if TYPE_CHECKING:
    from scrapy.crawler import CrawlerProcessBase


# Modules of Scrapy that read the source of each frame of the stack when they are imported. If the engine
# imports them, on a deep stack, that takes 0.3 to 0.5 of the 1.3 seconds in which a crawl starts.
LOOK_AT_STACK = ("scrapy.core.downloader.tls", "scrapy.core.downloader.contextfactory")


def name_in_usage(parser: argparse.ArgumentParser) -> None:
    """Name the program that runs in the usage that argparse prints with an error."""
    if parser.usage:
        parser.usage = commanded(parser.usage)


def filled(text: str) -> str:
    """Return the text of an option; raises ArgumentTypeError if it is empty, as that of an unset variable."""
    if not text.strip():
        raise argparse.ArgumentTypeError("is empty: give a value, or leave the option out")
    return text


def add_fields_option(parser: argparse.ArgumentParser) -> None:
    """Declare the option of a command that reads fields, or judges changes by them."""
    help_text = "the selectors of sites, instead of ARCHIVE_FIELDS"
    parser.add_argument("--fields", dest="fields_file", metavar="@FILE", help=help_text)


class ArchiveCommand(ScrapyCommand):
    """A Scrapy command that reads an archive.

    Data goes to stdout, messages to stderr. Exit codes: 0 found, 1 nothing found, 2 wrong use, 3 and up as in
    :mod:`archivebot.exceptions`, 130 interrupted. A subclass has ``arguments`` (for the usage line),
    ``least`` and ``most`` (their minimum and maximum number), and implements :meth:`answer`, which returns an
    exit code.
    """

    settings: Settings  # which Scrapy gives every command
    requires_project = True
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}
    arguments = ""
    least, most = 1, 1
    explanation = ""

    def syntax(self) -> str:
        return f"[options] {self.arguments}".rstrip()

    def short_desc(self) -> str:
        return (self.__class__.__doc__ or "").partition("\n")[0]

    def long_desc(self) -> str:
        return f"{self.short_desc()}. {self.explanation}".rstrip()

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        guard()  # before anything is printed, also by Scrapy and argparse
        super().add_options(parser)
        name_in_usage(parser)
        parser.register("type", None, filled)  # of the options that have no other type
        parser.add_argument("--json", action="store_true", help="print one JSON document")
        self.add_arguments(parser)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options of one command."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        check_options(self.settings, opts)
        self.settings.set("ADDONS", {}, priority="cmdline")  # they are for spiders and commands of Scrapy
        super().process_options(args, opts)
        check_log(self.settings)
        if getattr(opts, "fields_file", None):
            self.settings.set(FIELDS, opts.fields_file, priority="cmdline")

    def answer(self, archive: ArchiveReader, args: list[str], opts: argparse.Namespace) -> int:
        """Do the work and return the exit code."""
        raise NotImplementedError

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        watch()
        try:
            check(self.settings)
            note_unknown()
            self.exitcode = self.work(self._checked(args), opts)
            flush()
        except ArchiveError as error:
            self.exitcode = self.failed(error, opts)
        except UnicodeEncodeError as error:  # nothing that is printed raises it: see archivebot.terminal
            wrong = UsageError(f"{error.object!r} is no text: write it in the encoding of the terminal")
            self.exitcode = self.failed(wrong, opts)
        except BrokenPipeError:
            hush()  # otherwise the interpreter prints an error at exit
        except KeyboardInterrupt:
            note(f"scrapy {self.name}: interrupted")
            self.exitcode = INTERRUPTED

    def work(self, args: list[str], opts: argparse.Namespace) -> int:
        """Open the archive or the frontier, run the command, and return the exit code."""
        with self.archive() as archive:
            return self.answer(archive, args, opts)

    def failed(self, error: ArchiveError, opts: argparse.Namespace) -> int:
        """Print an error and return its exit code."""
        note(f"scrapy {self.name}: {error}")
        return error.exit_code

    @property
    def name(self) -> str:
        """The word after ``scrapy``: the name of the module."""
        return type(self).__module__.rpartition(".")[2]

    @property
    def topics(self) -> Path:
        """The folder of the profiles of topics."""
        return FocusConfig.from_settings(self.settings).topics

    def _checked(self, args: Sequence[str]) -> list[str]:
        """Return the arguments; after ``--`` they may begin with a hyphen. Raises UsageError."""
        # Scrapy passes unknown options on as arguments.
        end = args.index("--") if "--" in args else len(args)
        unknown = [arg for arg in args[:end] if arg.startswith("-") and arg != "-"]
        if unknown:
            raise UsageError(f"there is no option {unknown[0]}; see scrapy {self.name} -h")
        found = [*args[:end], *args[end + 1 :]]
        if not self.least <= len(found) <= self.most:
            raise UsageError(f"write: scrapy {self.name} {self.syntax()}")
        return found

    @property
    def config(self) -> ArchiveConfig:
        """The archive of the settings."""
        return ArchiveConfig.from_settings(self.settings)

    def archive(self) -> ArchiveReader:
        """Open the archive of the settings for reading.

        An archive of an older archivebot is upgraded first, or read as it is if it cannot be written.
        """
        try:
            return Archive.reader(self.config)
        except Outdated:
            return Archive.open(self.config, create=False)


class WritingCommand(ArchiveCommand):
    """A command that writes to the archive, and may ``create`` it.

    A subclass implements :meth:`change`, which returns an exit code.
    """

    create = False

    def change(self, archive: Archive, args: list[str], opts: argparse.Namespace) -> int:
        """Do the work and return the exit code."""
        raise NotImplementedError

    def work(self, args: list[str], opts: argparse.Namespace) -> int:
        with Archive.open(self.config, create=self.create) as archive:
            return self.change(archive, args, opts)


class FrontierCommand(ArchiveCommand):
    """A command on the frontier of one crawl, the one begun last unless ``--crawl`` names another.

    No archive is opened. A subclass implements :meth:`report`, which returns an exit code.
    """

    least, most = 0, 0

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--crawl", metavar="NAME", help="the crawl; without it the one begun last")

    def report(self, frontier: FrontierReader, args: list[str], opts: argparse.Namespace) -> int:
        """Do the work and return the exit code."""
        raise NotImplementedError

    def work(self, args: list[str], opts: argparse.Namespace) -> int:
        """Open the frontier for reading, report on it, and return the exit code; raises NotArchived."""
        with closing(read_frontier(self.uri, opts.crawl)) as frontier:
            return self.report(frontier, args, opts)

    @property
    def uri(self) -> str:
        """The frontier that REDIS_URL names, or ARCHIVE_FRONTIER, or the one beside the archive."""
        return chosen_uri(self.settings)


def run_crawl(process: CrawlerProcessBase, spider: str, **arguments: str) -> ArchiveError | None:
    """Run a spider to its end; return the error with which the program must end later, or None.

    There is one if pages were requested and no server answered, or if a feed could not be written. Raises the
    error that prevented the crawl from beginning, KeyboardInterrupt if that was a signal, and StorageError if
    the archive or the frontier failed during the crawl.
    """
    for name in LOOK_AT_STACK:
        import_module(name)
    crawler = process.create_crawler(spider)
    crawl = process.crawl(crawler, **arguments)
    spare_collections()
    try:
        process.start()
    finally:
        end_children()  # left behind by a crawl that was stopped while it began
        for number in ASKING:  # the handlers of Scrapy stop a reactor, and there is none any more
            signal.signal(number, signal.default_int_handler)
        gc.freeze()  # spare the garbage collection at exit, 0.3 seconds
    if isinstance(crawl, asyncio.Task):
        if not crawl.done():  # Scrapy stops without a word if it has no running engine to stop
            raise KeyboardInterrupt
        if error := crawl.exception():
            raise error
    if process.bootstrap_failed:
        raise ArchiveError("the crawl could not begin; -L ERROR shows why")
    if crawler.stats.get_value("finish_reason") == "storage_error":
        raise StorageError("the archive or its frontier failed, so the crawl ended; -L ERROR shows why")
    asked = crawler.stats.get_value("archive/captures") or crawler.stats.get_value("access/login_failed")
    if asked and not crawler.stats.get_value("archive/answered"):
        return NothingFetched("nothing could be fetched: the lines above say why")
    from scrapy.extensions.feedexport import FeedExporter  # a crawl has it by now, other commands need none

    has_failed = any(name.startswith("feedexport/failed_count/") for name in crawler.stats.get_stats())
    if has_failed or (crawler.settings.getdict("FEEDS") and crawler.get_extension(FeedExporter) is None):
        return StorageError("a feed is not complete: the lines above say why; the archive has all pages")
    return None
