"""The help of the program: the commands by task, one command, the arguments of a spider."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable
from inspect import cleandoc

from archivebot.crawl.arguments import Arguments
from archivebot.crawl.meanings import MEANINGS
from archivebot.crawl.spider import ArchiveSpider
from archivebot.program.catalogue import OWN, Catalogue
from archivebot.program.completion import SHELLS
from archivebot.terminal import commanded

WIDEST = 100  # columns of a line of help, on however wide a terminal
BEGIN = """archivebot collects web pages and keeps their whole history.

  archivebot crawl site -a seeds=https://example.org/ -a pages=100
  archivebot changes
  archivebot serve
"""
END = "archivebot COMMAND --help explains a command, archivebot crawl SPIDER --help a spider."
USAGES = {
    "help": "archivebot help [COMMAND]",
    "version": "archivebot version [--json]",
    "completion": f"archivebot completion {'|'.join(SHELLS)}",
}


def overview(catalogue: Catalogue) -> str:
    """Return the commands by task, and the spiders."""
    parts = [BEGIN]
    for task, names in catalogue.tasks().items():
        rows = [(name, catalogue.commands[name].short_desc()) for name in names]
        parts.append(f"{task}\n{_rows(rows)}")
    parts.append(
        f"Spiders of archivebot crawl\n{_rows((n, _first(s)) for n, s in catalogue.spiders.items())}"
    )
    parts.append(f"This program\n{_rows(OWN.items())}")
    parts.append(f"Commands of Scrapy\n{_filled(', '.join(sorted(catalogue.foreign)), '  ')}\n")
    return "\n".join([*parts, _filled(END)])


def command_help(catalogue: Catalogue, name: str) -> str:
    """Return the help of one command."""
    if name in OWN:
        return f"Usage\n=====\n  {USAGES[name]}\n\n{OWN[name]}"
    text = catalogue.parser(name).format_help().rstrip()
    if name == "crawl":
        spiders = _rows((each, _first(found)) for each, found in catalogue.spiders.items())
        text += f"\n\nSpiders\n=======\n{spiders}\narchivebot crawl SPIDER --help lists its arguments."
    return text


def spider_help(spider: type[ArchiveSpider]) -> str:
    """Return the help of one spider: its arguments with their values, meaning and default."""
    arguments = spider.arguments_class
    required = " ".join(f"-a {name}=..." for name in arguments.REQUIRED)
    rows = [(name, _meaning(arguments, name)) for name in arguments.READERS]
    return "\n".join(
        [
            f"Usage\n=====\n  archivebot crawl {spider.name} {required}".rstrip() + " [-a NAME=VALUE ...]\n",
            f"{_filled(_first(spider))}\n",
            "Arguments\n=========",
            _rows(rows),
            "archivebot crawl --help lists the options. The same command again continues a",
            "crawl that was interrupted, or visits the pages again.",
        ]
    )


def _meaning(arguments: type[Arguments], name: str) -> str:
    meaning = MEANINGS.get(name, "")
    default = "required" if name in arguments.REQUIRED else arguments.default(name)
    return f"{meaning} ({default})" if default else meaning


def _first(spider: type[ArchiveSpider]) -> str:
    """Return the first sentence of what a spider does."""
    return cleandoc(spider.__doc__ or "").partition("\n")[0].rstrip(".").replace("``", "")


def _rows(rows: Iterable[tuple[str, str]]) -> str:
    """Return pairs in two columns, the second filled to the width of the terminal.

    >>> print(_rows([("a", "b c"), ("long", "d")]), end="")
      a     b c
      long  d
    """
    pairs = list(rows)
    wide = max((len(name) for name, _ in pairs), default=0)
    return "".join(f"{_filled(text, f'  {name:<{wide}}  ', wide + 4)}\n" for name, text in pairs)


def _filled(text: str, begin: str = "", indent: int = 0) -> str:
    width = min(WIDEST, shutil.get_terminal_size().columns)
    after = " " * (indent or len(begin))
    return textwrap.fill(
        commanded(text), width, initial_indent=begin, subsequent_indent=after, break_long_words=False
    )
