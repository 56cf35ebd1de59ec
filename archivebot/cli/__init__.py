"""The common parts of the commands, kept outside: Scrapy takes every class there for a command."""

from archivebot.cli.command import ArchiveCommand, FrontierCommand, WritingCommand, run_crawl
from archivebot.cli.files import file_body, named_files
from archivebot.cli.printing import TIME, print_json, print_table, tell_age

__all__ = [
    "TIME",
    "ArchiveCommand",
    "FrontierCommand",
    "WritingCommand",
    "file_body",
    "named_files",
    "print_json",
    "print_table",
    "run_crawl",
    "tell_age",
]
