"""The commands of the program, by task, and the spiders."""

from __future__ import annotations

import argparse
import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module

import scrapy.commands
from scrapy.cmdline import ScrapyArgumentParser
from scrapy.commands import ScrapyCommand, ScrapyHelpFormatter
from scrapy.spiderloader import SpiderLoader
from scrapy.utils.project import get_project_settings

from archivebot.crawl.spider import ArchiveSpider

COMMANDS = "archivebot.commands"

# What a user wants to do -> the commands for it. A command that is in no row is printed under OTHER.
TASKS: Mapping[str, tuple[str, ...]] = {
    "Collect pages": ("crawl", "schedule", "recrawl", "ingest"),
    "See what changed": ("changes", "history", "delta", "watch"),
    "Read pages": ("list", "replay", "text", "extract", "serve", "index", "search"),
    "Stay on a topic": ("topic", "frontier", "explain", "harvest"),
    "Look into pages and sites": ("blocks", "segment", "links", "rank", "duplicates", "template", "forms"),
    "Keep the archive": ("check-rules", "stats", "verify", "proof", "prune", "export", "settings"),
}
OTHER = "Other commands"

# What the program itself answers.
OWN = {
    "help": "List the commands, or explain one of them",
    "version": "Print the versions of archivebot and of its parts",
    "completion": "Print a script that completes command lines in a shell",
}


@dataclass(frozen=True)
class Catalogue:
    """Each command by its name, those of Scrapy that archivebot does not replace, and the spiders."""

    commands: Mapping[str, ScrapyCommand]
    foreign: Mapping[str, ScrapyCommand]
    spiders: Mapping[str, type[ArchiveSpider]]

    @classmethod
    def read(cls) -> Catalogue:
        """Import the commands and the spiders."""
        settings = get_project_settings()
        own = {name: _command(f"{COMMANDS}.{name}") for name in _modules(COMMANDS)}
        foreign = {
            name: _command(f"{scrapy.commands.__name__}.{name}")
            for name in _modules(scrapy.commands.__name__)
            if name not in own and name not in OWN
        }
        loader = SpiderLoader.from_settings(settings)
        spiders = {name: loader.load(name) for name in sorted(loader.list())}
        for command in (*own.values(), *foreign.values()):
            command.settings = settings
        ours = {name: found for name, found in spiders.items() if issubclass(found, ArchiveSpider)}
        return cls(own, foreign, ours)

    @staticmethod
    def read_names() -> list[str]:
        """Return the names of all commands, without an import of them."""
        return sorted({*_modules(COMMANDS), *_modules(scrapy.commands.__name__), *OWN})

    @property
    def names(self) -> Sequence[str]:
        """The names of all commands."""
        return sorted({*self.commands, *self.foreign, *OWN})

    def tasks(self) -> dict[str, list[str]]:
        """Return the commands of archivebot by task, each once."""
        placed = {name for names in TASKS.values() for name in names}
        rest = [name for name in self.commands if name not in placed]
        found = {task: [name for name in names if name in self.commands] for task, names in TASKS.items()}
        return {**found, **({OTHER: rest} if rest else {})}

    def parser(self, name: str) -> argparse.ArgumentParser:
        """Return the parser of a command, with its options, as Scrapy makes it."""
        command = self.commands.get(name) or self.foreign[name]
        parser = ScrapyArgumentParser(
            prog=f"archivebot {name}",
            formatter_class=_HelpFormatter,
            usage=f"archivebot {name} {command.syntax()}",
            conflict_handler="resolve",
            description=command.long_desc(),
        )
        command.add_options(parser)
        return parser


class _HelpFormatter(ScrapyHelpFormatter):
    """Scrapy's, but for options: a line of an option that ends with a colon is no heading."""

    def format_part_strings(self, part_strings: list[str]) -> list[str]:
        if part_strings and part_strings[0].startswith("  "):
            return part_strings
        return super().format_part_strings(part_strings)


def _modules(package: str) -> list[str]:
    return [module.name for module in pkgutil.iter_modules(import_module(package).__path__)]


def _command(module: str) -> ScrapyCommand:
    command: ScrapyCommand = import_module(module).Command()
    return command
