"""The versions of archivebot and of what it is made of."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from archivebot import __version__
from archivebot.storage.libraries import sqlite_version
from archivebot.terminal import write, write_json

# The distributions that do most of the work, and those of the extras.
PARTS = ("Scrapy", "Twisted", "turbohtml", "parsel", "lxml", "numpy", "scipy", "tldextract", "starlette")
EXTRAS = ("pymongo", "redis", "scrapy-redis", "matplotlib", "playwright", "h2", "scrapyd")


def print_versions(*, as_json: bool) -> None:
    """Print the version of archivebot, then of its parts; an extra that is not installed is ``-``."""
    found: dict[str, str | None] = {
        "archivebot": __version__,
        "Python": platform.python_version(),
        "SQLite": sqlite_version(),
        **{name: _version(name) for name in (*PARTS, *EXTRAS)},
        "platform": platform.platform(),
    }
    if as_json:
        write_json(found, indent=1)
        return
    wide = max(map(len, found))
    write("\n".join(f"{name:<{wide}}  {number or '-'}" for name, number in found.items()))


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
