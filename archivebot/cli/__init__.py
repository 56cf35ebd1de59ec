"""The common parts of the commands, kept outside: Scrapy takes every class there for a command."""

from archivebot.cli.checks import check, check_log, check_options, note_unknown
from archivebot.cli.command import (
    ArchiveCommand,
    FrontierCommand,
    WritingCommand,
    add_fields_option,
    name_in_usage,
    run_crawl,
)
from archivebot.cli.files import check_feeds, file_body, named_files, writing
from archivebot.cli.leftout import LeftOut
from archivebot.cli.linewise import linewise
from archivebot.cli.printing import TIME, note_age, print_csv, print_json, print_table
from archivebot.cli.visual import add_visual_options, coherence, print_visual, visual_blocks

__all__ = [
    "TIME",
    "ArchiveCommand",
    "FrontierCommand",
    "LeftOut",
    "WritingCommand",
    "add_fields_option",
    "add_visual_options",
    "check",
    "check_feeds",
    "check_log",
    "check_options",
    "coherence",
    "file_body",
    "linewise",
    "name_in_usage",
    "named_files",
    "note_age",
    "note_unknown",
    "print_csv",
    "print_json",
    "print_table",
    "print_visual",
    "run_crawl",
    "visual_blocks",
    "writing",
]
