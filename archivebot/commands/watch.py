"""scrapy watch: alerts about the changes that the rules of a file name."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from archivebot.archive import ArchiveReader
from archivebot.cli import TIME, ArchiveCommand, LeftOut, add_fields_option, print_json, print_table
from archivebot.config import WatchConfig
from archivebot.exceptions import NotArchived, Undelivered, UsageError
from archivebot.fields.about import DESCRIPTION, SUMMARY
from archivebot.fields.sites import Sites
from archivebot.jobs.watch import Watched, past, watch
from archivebot.terminal import note, write
from archivebot.timestamps import parse_since
from archivebot.units import amount
from archivebot.watch.alert import Alert
from archivebot.watch.file import Rules, read_rules


class Command(ArchiveCommand):
    """Send alerts about what was captured since the last run, by the rules of a file"""

    arguments = "RULES"
    explanation = "The first run of a rules file sends nothing: it notes what the archive holds."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--test", action="store_true", help="show what the rules would have sent, and send nothing"
        )
        parser.add_argument(
            "--since", metavar="TIME", help="with --test: a time, or a duration before now (7d, 12h)"
        )
        parser.add_argument(
            "--again", action="store_true", help="try failed deliveries now, without waiting for their turn"
        )
        add_fields_option(parser)

    def work(self, args: list[str], opts: argparse.Namespace) -> int:
        if opts.since and not opts.test:
            raise UsageError("--since is for --test: a run begins where the last one ended")
        if opts.again and opts.test:
            raise UsageError("--test sends nothing: leave --again out")
        self._rules: Rules = read_rules(args[0])
        return super().work(args, opts)

    def answer(self, archive: ArchiveReader, args: list[str], opts: argparse.Namespace) -> int:
        config = WatchConfig.from_settings(self.settings)
        for line in self._doubts(archive.sites):
            note(line)
        left_out = LeftOut()
        if opts.test:
            since = parse_since(opts.since, datetime.now(UTC)) if opts.since else None
            found = past(archive, self._rules, since, config, left_out)
        else:
            uri = self.config.uri
            found = watch(archive, uri, self._rules, config, left_out, again=opts.again)
        self._print(found, opts)
        if opts.test:
            return left_out.exit_code(0 if found.alerts else NotArchived.exit_code)
        failed = any(tally.error for name, tally in found.outputs.items() if name in self._rules.outputs)
        return Undelivered.exit_code if failed else left_out.exit_code(0)

    def _doubts(self, sites: Sites) -> Iterator[str]:
        """Yield what is wrong with the fields of the rules, if there are selectors at all."""
        known = {*sites.names, DESCRIPTION, SUMMARY}
        for rule in self._rules.rules if sites.names else ():
            for name in dict.fromkeys((*rule.fields, *rule.numbers)):
                if name not in known:
                    yield f"{rule.name}: no selector of this run finds a field {name!r}"
                elif name in rule.numbers and name not in sites.numbers:
                    needed = 'its selector needs type = "number", without all'
                    yield f"{rule.name}: the field {name!r} is not one number: {needed}"

    def _print(self, found: Watched, opts: argparse.Namespace) -> None:
        if opts.json:
            outputs = {name: tally.record() for name, tally in found.outputs.items()}
            print_json({"alerts": [alert.record() for alert in found.alerts], "outputs": outputs})
            return
        if found.alerts:
            _print_alerts(found.alerts)
        if opts.test:
            for rule in self._rules.rules:
                own = [alert for alert in found.alerts if alert.rule == rule.name]
                changes = sum(len(each.pages) for each in own)
                write(f"{rule.name}: {amount(len(own), 'alert')} on {amount(changes, 'change')}")
        else:
            for line in found.lines():
                note(line)


def _print_alerts(alerts: Sequence[Alert]) -> None:
    rows = ([alert.rule, alert.kind, f"{alert.when:{TIME}}", _pages(alert), alert.reason] for alert in alerts)
    print_table(["rule", "kind", "captured", "page", "reason"], rows)


def _pages(alert: Alert) -> str:
    others = len(alert.pages) - 1
    return f"{alert.pages[0].url} and {others} more" if others else alert.pages[0].url
