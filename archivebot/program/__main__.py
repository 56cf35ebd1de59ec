"""The entry point of ``archivebot``: help, versions, completion, and all commands of Scrapy."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path

from scrapy.cmdline import execute

from archivebot.exceptions import ArchiveError, UsageError
from archivebot.interrupt import INTERRUPTED
from archivebot.program.catalogue import Catalogue
from archivebot.program.completion import completion
from archivebot.program.help import command_help, overview, spider_help
from archivebot.program.versions import print_versions
from archivebot.terminal import PROGRAMS, commanded, flush, guard, hush, name_program, note, write

SETTINGS_MODULE = "SCRAPY_SETTINGS_MODULE"  # with this variable Scrapy needs no scrapy.cfg
HELP = ("-h", "--help")


def main(words: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code; a command of Scrapy ends the program itself."""
    words = list(sys.argv[1:] if words is None else words)
    name_program(PROGRAMS[1])
    guard()
    os.environ.setdefault(SETTINGS_MODULE, "archivebot.settings")
    try:
        code = _answered(words)
        flush()
        if code is None:
            execute([PROGRAMS[1], *words])
            return 0
    except ArchiveError as error:
        note(f"archivebot: {error}")
        return error.exit_code
    except BrokenPipeError:
        hush()
        return 0
    except KeyboardInterrupt:  # a command that has begun handles it
        note("archivebot: interrupted")
        return INTERRUPTED
    return code


def _answered(words: Sequence[str]) -> int | None:
    """Answer what Scrapy does not; return an exit code, or None for a command of Scrapy."""
    _check_packages()
    first, *rest = words or ("help",)
    if first in (*HELP, "help") and not {*rest} - {*HELP}:
        write(overview(Catalogue.read()))
    elif first in ("version", "--version", "-V") and rest in ([], ["--json"]):
        print_versions(as_json=bool(rest))
    elif first == "completion" and not {*rest} & {*HELP}:
        write(completion(Catalogue.read(), rest))
    elif first == "help" or (not first.startswith("-") and any(word in HELP for word in rest)):
        write(commanded(_help(rest[:1] if first == "help" else [first], rest)))
    elif first.startswith("-"):
        raise UsageError(f"{first} comes after a command: archivebot COMMAND {first}; see archivebot help")
    else:
        _known(Catalogue.read_names(), first)
        return None
    return 0


def _help(named: Sequence[str], rest: Sequence[str]) -> str:
    """Return the help of a command, or of the spider that follows ``crawl``."""
    (command,) = named
    catalogue = Catalogue.read()
    _known(catalogue.names, command)
    spiders = [word for word in rest if word in catalogue.spiders]
    if command == "crawl" and spiders:
        return spider_help(catalogue.spiders[spiders[0]])
    return command_help(catalogue, command)


def _known(names: Sequence[str], name: str) -> None:
    if name not in names:
        near = get_close_matches(name, names, 1)
        raise UsageError(f"there is no command {name!r}: {_hint(near)}")


def _hint(near: Sequence[str]) -> str:
    return f"did you mean {near[0]}?" if near else "archivebot help lists them"


def _check_packages() -> None:
    """Raise UsageError if ``spiders`` or ``pipelines`` is the package of another project."""
    for name, module in (("spiders", "site"), ("pipelines", "storage")):
        found = find_spec(name)
        places = list(found.submodule_search_locations or ()) if found else []
        if not any((Path(place) / f"{module}.py").is_file() or place.endswith(".egg") for place in places):
            where = found.origin if found and found.origin else "none"
            raise UsageError(
                f"the package {name!r} that Python finds is not that of archivebot ({where}): install "
                f"archivebot in an environment of its own, for example with pipx"
            )


if __name__ == "__main__":
    sys.exit(main())
