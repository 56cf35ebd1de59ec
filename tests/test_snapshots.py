"""What every command prints on one archive: wide, narrow and in colour, held against stored files.

The archive has the sample site in two states, with pages in English, Chinese and Arabic. `make snapshots`
writes the files in ``tests/snapshots`` anew; look at their difference before you commit it.
"""

from __future__ import annotations

import io
import itertools
import json
import os
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path

import pytest
from scrapy.cmdline import ScrapyArgumentParser
from scrapy.utils.project import get_project_settings
from wcwidth import width

from archivebot import terminal
from archivebot.cli import command as base
from archivebot.commands import schedule
from archivebot.frontier import Entry, open_frontier
from archivebot.program import help as program_help
from archivebot.program.catalogue import Catalogue
from archivebot.sample.server import STATES, answer, paths
from archivebot.terminal import ERASE
from tests.conftest import ROOT
from tests.sessions import fenced

SNAPSHOTS = Path(__file__).parent / "snapshots"
RENEW = "RENEW_SNAPSHOTS"
SITE = "http://library.example"
FIRST, NOW = datetime(2026, 11, 2, tzinfo=UTC), datetime(2026, 11, 16, tzinfo=UTC)
COMMAND_FILES = sorted((ROOT / "archivebot/commands").glob("[!_]*.py"))
ESCAPE = "\N{SYMBOL FOR ESCAPE}"
SGR = re.compile(rf"{ESCAPE}\[\d+m")
HEADS = {
    "blocks": "lineage ",
    "changes": "kind ",
    "history": "captured ",
    "list": "captured ",
    "search": "captured ",
    "template": "repeats ",
}
# What makes the archive, its index, its forms and a topic.
PREPARED = ("ingest site.warc", "forms --scan", "topic harbour --words 'old maps, harbour'", "index")
ARABIC = (
    "<!DOCTYPE html><html lang=ar dir=rtl><title>مكتبة ميلووتر</title><h1>أهلا بكم في المكتبة</h1>"
    "<p>{} تفتح المكتبة أبوابها من الثلاثاء إلى السبت، والدخول مجاني لجميع الزوار من كل الأعمار.</p>"
    "<ul><li>قاعة القراءة</li><li>{}</li><li>ركن الأطفال</li></ul>"
)
WIDE, NARROW = 160, 72

# Commands that fetch pages or wait for requests are tested where a server is: here their help alone is shown.
NO_OUTPUT = {"crawl", "recrawl", "serve"}
COMMANDS = {
    "blocks": f"{SITE}/zh.html",
    "changes": "--since 2026-11-05",
    "check-rules": "collections.toml",
    "delta": f"{SITE}/events.html",
    "delta.arabic": f"{SITE}/ar.html",
    "delta.chinese": f"{SITE}/zh.html",
    "delta.markup": f"{SITE}/gallery.html --markup",
    "duplicates": "",
    "explain": f"{SITE}/zh.html",
    "export": f"cdxj {SITE}/ar.html --output -",
    "extract": f"{SITE}/ar.html",
    "forms": "",
    "frontier": "",
    "harvest": "",
    "history": f"{SITE}/reading-groups.html",
    "history.arabic": f"{SITE}/ar.html --block 2",
    "index": "",
    "ingest": "site.warc missing.warc",
    "links": f"{SITE}/zh.html --to",
    "list": "--pages",
    "proof": f"{SITE}/zh.html",
    "prune": "--keep yearly --dry-run",
    "rank": "",
    "replay": f"{SITE}/ar.html --at 2026-11-03",
    "schedule": "",
    "search": "图书馆",
    "segment": f"{SITE}/ar.html",
    "settings": "",
    "stats": "",
    "template": f"{SITE}/zh.html",
    "text": f"{SITE}/zh.html",
    "topic": "harbour --show",
    "verify": "",
    "watch": "rules.toml --test --since 2026-11-05",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of the archive, in which the commands run."""
    made, before = tmp_path_factory.mktemp("snapshots"), Path.cwd()
    with pytest.MonkeyPatch.context() as patch:
        os.chdir(made)
        _write_warc(made / "site.warc")
        _, toml = fenced((ROOT / "docs/collections.md").read_text("utf-8"), "toml")[0]
        (made / "collections.toml").write_text(toml, "utf-8")
        (made / "rules.toml").write_text("[[rule]]\nname = 'all'\n[output.news]\natom = 'a.xml'\n", "utf-8")
        with closing(open_frontier("sqlite:///archive.frontier.db", "site-00000000")) as frontier:
            frontier.begin(json.dumps({"seeds": SITE}), None)
            frontier.add([Entry(f"{SITE}/zh.html", SITE, 1.5, "{}", parts='{"depth": 1.5, "text": "活动"}')])
            frontier.reject([Entry(f"{SITE}/لا", SITE, 0.0, "{}", reason="other_host")])
        for words in PREPARED:
            printed(words, WIDE, coloured=False, patch=patch)
        yield made
        os.chdir(before)


def _write_warc(path: Path) -> None:
    with path.open("wb") as file:
        for week, state in enumerate(STATES):
            known = {"/": "/", **dict.fromkeys([*paths(STATES[0]), *paths(state), "/ar.html"])}
            for number, name in enumerate(known):
                if name in ("/index.html", "/robots.txt"):
                    continue
                when = FIRST + timedelta(days=7 * week, seconds=number)
                status, kind, body, location = _answer(state, name)
                head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\n{location}\r\n".encode()
                length = len(head) + len(body)
                file.write(
                    f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {SITE}{name}\r\n"
                    f"WARC-Date: {when:%Y-%m-%dT%H:%M:%SZ}\r\nContent-Length: {length}\r\n\r\n".encode()
                )
                file.write(head + body + b"\r\n\r\n")


def _answer(state: str, path: str) -> tuple[int, str, bytes, str]:
    if path == "/ar.html":
        words = ("مرحبا.", "ورشة التجليد") if state == STATES[0] else ("أهلا.", "ورشة الخرائط القديمة")
        return 200, "text/html; charset=utf-8", ARABIC.format(*words).encode(), ""
    found = answer(state, path)
    location = f"Location: {SITE}{found.location}\r\n" if found.location else ""
    return found.status.value, found.kind, found.body, location


class Screen(io.TextIOWrapper):
    """A terminal that keeps what is printed."""

    def isatty(self) -> bool:
        return True


def printed(words: str, columns: int, *, coloured: bool, patch: pytest.MonkeyPatch) -> str:
    """Return what a command prints on a terminal of some columns, in this process, and its exit code."""
    name, *rest = shlex.split(words)
    screen = Screen(io.BytesIO(), "utf-8", newline="")
    patch.setattr(sys, "stdout", screen)
    patch.setattr(sys, "stderr", screen)
    patch.setattr(terminal, "_program", terminal.PROGRAMS[1])
    patch.setattr(base, "watch", lambda: None)  # the signals are those of pytest
    patch.setattr(schedule, "now", lambda: NOW)
    patch.setenv("SCRAPY_SETTINGS_MODULE", "archivebot.settings")
    patch.setenv("COLUMNS", str(columns))
    patch.setenv("NO_COLOR", "" if coloured else "1")
    for variable in ("FORCE_COLOR", "TERM"):
        patch.delenv(variable, raising=False)
    command = import_module(f"archivebot.commands.{name}").Command()
    command.settings = get_project_settings()
    command.settings.setdict(command.default_settings, priority="command")
    command.settings.setdict({"ARCHIVE_READERS": 1}, priority="cmdline")
    parser = ScrapyArgumentParser(conflict_handler="resolve")
    command.add_options(parser)
    options, arguments = parser.parse_known_args(rest)
    command.process_options(arguments, options)
    command.run(arguments, options)
    patch.undo()
    screen.flush()
    return f"{_without_figures(screen.buffer.getvalue().decode())}[exit code {command.exitcode}]\n"


def _without_figures(text: str) -> str:
    """Replace what the versions of libraries decide, and identities, by signs of the same width."""
    text = re.sub(rf"[^\n]*{re.escape(ERASE)}", "", text)  # a line of progress that the next text replaces
    for pattern in (
        r"[\d.]+(?= (?:B|kB|MB)\b)",
        r"\b\d+\.\d{3,}\b",
        r"archivebot/[0-9a-f]{16}",
        r"\b[0-9a-f]{64}\b",
        r"(?<=began )\d{4}-\d\d-\d\d \d\d:\d\d:\d\d",
    ):
        text = re.sub(pattern, lambda found: re.sub("[0-9a-f]", "#", found[0]), text)
    return text.replace("\x1b", ESCAPE)


def agree(name: str, text: str) -> None:
    """Compare a text with its file, or write the file."""
    path = SNAPSHOTS / f"{name}.txt"
    if os.environ.get(RENEW):
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8"), "make snapshots writes the files anew; look at their difference"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_prints_what_it_printed(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    words = f"{name.partition('.')[0]} {COMMANDS[name]}"
    coloured = printed(words, WIDE, coloured=True, patch=monkeypatch)
    narrow = printed(words, NARROW, coloured=False, patch=monkeypatch)
    wide = SGR.sub("", coloured)
    assert ESCAPE not in narrow
    parts = [f"$ archivebot {words}", f"== {WIDE} columns", wide, f"== {NARROW} columns"]
    parts += ["as above\n" if narrow == wide else narrow, "== in colour"]
    agree(name, "\n".join([*parts, "as above\n" if coloured == wide else coloured]))


@pytest.mark.parametrize("name", ["", *sorted(path.stem for path in COMMAND_FILES)])
def test_the_help_is_what_it_was(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    parts = []
    for columns in (100, NARROW):
        monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "archivebot.settings")
        monkeypatch.setenv("COLUMNS", str(columns))
        catalogue = Catalogue.read()
        text = program_help.command_help(catalogue, name) if name else program_help.overview(catalogue)
        parts += [f"== {columns} columns", text]
        if not name:
            assert max(map(len, text.splitlines())) <= columns
    agree(f"help-{name}" if name else "help", "\n".join(parts) + "\n")


@pytest.mark.parametrize("name", ["blocks", "changes", "history", "list", "search", "template"])
def test_the_cells_of_a_table_begin_at_the_same_column(name: str) -> None:
    """In English, Chinese and Arabic rows, by their width on a terminal."""
    text = (SNAPSHOTS / f"{name}.txt").read_text("utf-8").partition(" columns\n")[2].partition("\n==")[0]
    lines = text[text.index(HEADS[name]) :].splitlines()
    head, *rows = itertools.takewhile(lambda line: "  " in line, lines)
    begin = width(head[: head.rindex(re.split(r"  +", head)[-1])])
    assert len(rows) > 1
    for row in rows:
        assert (
            begin in [width(row[: found.start()]) for found in re.finditer(r"(?<=  )\S|$", row)]
            or width(row) < begin
        ), row


def test_every_command_has_a_snapshot() -> None:
    names = {name.partition(".")[0] for name in COMMANDS} | NO_OUTPUT
    assert names == {path.stem for path in COMMAND_FILES}
    stored = {path.stem for path in SNAPSHOTS.glob("*.txt")}
    assert stored == {*COMMANDS, *(f"help-{path.stem}" for path in COMMAND_FILES), "help"}
