"""Scripts that complete the command lines of the program in a shell."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import shtab

from archivebot.exceptions import UsageError
from archivebot.program.catalogue import OWN, Catalogue

SHELLS = tuple(shtab.SUPPORTED_SHELLS)
# The arguments of commands that are files.
FILES = {"ingest": shtab.FILE, "segment": shtab.FILE, "watch": shtab.FILE}


def completion(catalogue: Catalogue, words: Sequence[str]) -> str:
    """Return the script for a shell; raises UsageError if it is none of :data:`SHELLS`.

    Commands, options, spiders and the names of their arguments are completed.
    """
    if len(words) != 1 or words[0] not in SHELLS:
        known = ", ".join(SHELLS)
        raise UsageError(
            f'name a shell: archivebot completion {known}; for bash: eval "$(archivebot completion bash)"'
        )
    return str(shtab.complete(_parser(catalogue), words[0]))


def _parser(catalogue: Catalogue) -> argparse.ArgumentParser:
    root = argparse.ArgumentParser(prog="archivebot")
    commands = root.add_subparsers()
    for name, text in OWN.items():
        own = commands.add_parser(name, help=text)
        if name == "completion":
            own.add_argument("shell", choices=SHELLS)
        elif name == "help":
            own.add_argument("command", choices=sorted(catalogue.commands))
    for name, command in {**catalogue.commands, **catalogue.foreign}.items():
        parser = commands.add_parser(
            name,
            help=_plain(command.short_desc()),
            parents=[catalogue.parser(name)],
            add_help=False,
            conflict_handler="resolve",
        )
        if name == "crawl":
            _complete_spiders(catalogue, parser)
        elif name in FILES:
            parser.add_argument("file", nargs="*").complete = FILES[name]  # type: ignore[attr-defined]  # read by shtab
    return root


def _complete_spiders(catalogue: Catalogue, parser: argparse.ArgumentParser) -> None:
    """Complete the names of spiders, and after ``-a`` the names of all their arguments."""
    parser.add_argument("spider", choices=sorted(catalogue.spiders))
    names = sorted({name for found in catalogue.spiders.values() for name in found.arguments_class.READERS})
    parser.add_argument("-a", choices=[f"{name}=" for name in names])


def _plain(text: str) -> str:
    """Return a text without the signs that a shell expands."""
    return text.replace("`", "'").replace("$", "")
