"""scrapy settings: the settings in effect, as a crawl would use them."""

from __future__ import annotations

import argparse
from difflib import get_close_matches

from scrapy.commands.settings import Command as ScrapySettings
from scrapy.settings import SETTINGS_PRIORITIES, Settings

from archivebot.cli import print_json, print_table
from archivebot.cli.checks import check, note_unknown
from archivebot.config import setting_names
from archivebot.crawl.spider import ArchiveSpider, add_contact
from archivebot.exceptions import ArchiveError, UsageError
from archivebot.terminal import guard, note


class Command(ScrapySettings):
    """Print the settings in effect"""

    settings: Settings  # which Scrapy gives every command

    def short_desc(self) -> str:
        return "Print the settings in effect"

    def long_desc(self) -> str:
        return "Print one setting as a crawl would use it, or all settings of archivebot"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        guard()
        super().add_options(parser)
        parser.add_argument("--json", action="store_true", help="print all settings of archivebot as JSON")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            self._print(args, opts)
        except ArchiveError as error:
            note(f"scrapy settings: {error}")
            self.exitcode = error.exit_code

    def _print(self, args: list[str], opts: argparse.Namespace) -> None:
        settings = self.settings
        check(settings)
        note_unknown()
        if args:
            raise UsageError(f"there is no argument {args[0]}: write scrapy settings --get NAME")
        ArchiveSpider.update_settings(settings)
        add_contact(settings)
        names = sorted(setting_names())
        asked = [opts.get, opts.getbool, opts.getint, opts.getfloat, opts.getlist]
        for name in filter(None, asked):
            if name not in settings:
                near = get_close_matches(name, [*names, *settings], 1)
                hint = f"did you mean {near[0]}?" if near else "scrapy settings lists those of archivebot"
                raise UsageError(f"there is no setting {name}: {hint}")
        if any(asked):
            super().run(args, opts)
        elif opts.json:
            print_json({name: settings[name] for name in names})
        else:
            given = SETTINGS_PRIORITIES["project"]
            rows = [
                [name, _shown(settings[name]), "-s" if (settings.getpriority(name) or 0) > given else ""]
                for name in names
            ]
            print_table(["setting", "value", "given by"], rows)


def _shown(value: object) -> str:
    return str(value) if value != "" else "(empty)"
