"""Pages of two days for the tests of alerts, and a run of ``scrapy watch`` over them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.kinds import SiteChange
from archivebot.watch.alert import Alert, ChangedAddress
from tests.commands import run_scrapy
from tests.factories import html, make_page

SITE = "http://example.com/"
ALERT = Alert(
    "1", "all", SiteChange.CHANGED, "new text", (ChangedAddress(SITE, 1, 2, "20260101000000", SITE),)
)
TERN = "A tern dives for fish where the tide turns at noon. " * 6


def page(text: str, menu: str = "news") -> bytes:
    """Return a page with a menu, a text of its own, a text that stays, and a footer."""
    return (
        html(text, TERN)
        .replace(b"<body>", f"<body><nav><a href=/>Home</a> <a href=/{menu}>{menu}</a></nav>".encode())
        .replace(b"</body>", b"<footer>Printed on recycled paper</footer></body>")
    )


def archived(uri: str, day: float, pages: dict[str, bytes | dict[str, Any]], site: str = SITE) -> None:
    """Store a visit of each page, as bytes or as arguments of :func:`tests.factories.make_page`."""
    with Archive.open(ArchiveConfig(uri=uri)) as archive:
        for path, visit in pages.items():
            given = {"body": visit} if isinstance(visit, bytes) else visit
            archive.add(archive.segment(make_page(day=day, url=site + path, **given)))


class Watch:
    """An archive in a folder, with a rules file beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.uri = folder, f"sqlite:///{folder}/a.db"
        self.rules = folder / "rules.toml"

    def run(self, *options: str) -> subprocess.CompletedProcess[str]:
        """Run ``scrapy watch``."""
        return run_scrapy(
            ("watch", str(self.rules), *options), environment={**os.environ, "ARCHIVE_URI": self.uri}
        )

    def begin(self, rules: str, pages: dict[str, bytes]) -> None:
        """Write the rules, archive the pages for the first time, and let the first run note them."""
        self.rules.write_text(rules, "utf-8")
        archived(self.uri, 0, dict(pages))
        done = self.run()
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        assert "watching from now on" in done.stderr

    def sent(self, *options: str, code: int = 0) -> dict[str, Any]:
        """Return what a run prints as JSON."""
        done = self.run("--json", *options)
        assert done.returncode == code, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found
