"""The documents say what is so: their sessions are run, their tables compared with the code."""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from archivebot import exceptions, settings
from archivebot.cli import ArchiveCommand
from archivebot.config import (
    ArchiveConfig,
    CrawlConfig,
    FocusConfig,
    FrontierConfig,
    PaceConfig,
    RequisiteConfig,
    SearchConfig,
    ServeConfig,
    SiteConfig,
    WatchConfig,
    setting_names,
)
from archivebot.crawl.arguments import (
    FOCUSES,
    LINK_RULES,
    ORDERS,
    Arguments,
    DeepWebArguments,
    QueryArguments,
    RecrawlArguments,
    TopicArguments,
)
from archivebot.crawl.retry import PASSING
from archivebot.http import outcome_of
from archivebot.models import Change, Kind, Outcome
from archivebot.sample.server import STATES, SampleSite
from archivebot.storage.sqlite.schema import migrate
from archivebot.urls.scope import KINDS
from archivebot.versioning.policy import kind_of
from tests.sessions import (
    DOCUMENTS,
    ROOT,
    Sample,
    Session,
    agrees,
    fenced,
    run,
    sessions,
    text_of,
)

SPIDERS: dict[str, type[Arguments]] = {
    "site": Arguments,
    "topic": TopicArguments,
    "deepweb": DeepWebArguments,
    "query": QueryArguments,
    "recrawl": RecrawlArguments,
}
SOURCES = [path for name in ("archivebot", "spiders", "pipelines") for path in (ROOT / name).rglob("*.py")]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sample]:
    """Archive the sample site twice; then serve it as it was last, for the sessions that crawl it."""
    folder = tmp_path_factory.mktemp("sample")
    with SampleSite(0).running() as site:
        port = int(site.url.rstrip("/").rpartition(":")[2])
    done = run(["archivebot.sample", "--port", str(port)], folder)
    assert done.returncode == 0, done.stdout
    with SampleSite(port, STATES[-1]).running():
        yield Sample(folder, port, done.stdout)


PROGRAMS = [
    path
    for path in DOCUMENTS
    if fenced(path.read_text("utf-8"), "python") and path.name != "proof.md"  # it has a test of its own
]
SESSIONS = [session for session in sessions() if session.steps[0][0] != "make crawl"]


def follow(session: Session, sample: Sample, folder: Path) -> str:
    """Run a session on its own copy of the archive, and return what went wrong."""
    sample.copy(folder)
    code = 0
    for command, expected in session.steps:
        if command == "echo $?":
            if int(expected) != code:
                return f"the exit code is {code} and not {expected}"
            code = 0
            continue
        if code:
            return f"an exit code {code} that the document does not show"
        done = run(shlex.split(sample.adapted(command)), folder)
        code = done.returncode
        if not agrees(expected, done.stdout):
            return f"$ {command}\n{done.stdout}"
    return f"an exit code {code} that the document does not show" if code else ""


def test_make_crawl_prints_what_the_readme_shows(sample: Sample) -> None:
    ((_, block), *_) = fenced(text_of("README.md"), "console")
    assert block.startswith("$ make crawl\n")
    assert agrees(block.removeprefix("$ make crawl\n"), sample.printed), sample.printed


@pytest.mark.parametrize(
    "session",
    [
        pytest.param(
            session, id=str(session), marks=() if session.document == "README.md" else pytest.mark.long
        )
        for session in SESSIONS
    ],
)
def test_a_session_runs_as_the_document_shows_it(session: Session, sample: Sample, tmp_path: Path) -> None:
    wrong = follow(session, sample, tmp_path / "session")
    assert not wrong, wrong


def test_every_command_line_outside_sessions_is_one_of_scrapy_with_known_arguments() -> None:
    shown = [line for _, block in fenced(text_of("README.md"), "sh") for line in block.splitlines()]
    lines = [shlex.split(line) for line in shown if line.startswith("scrapy ")]
    crawls = [words[2:] for words in lines if words[1] == "crawl"]
    assert {spider for spider, *_ in crawls} == {"site", "deepweb", "query", "recrawl"}
    for spider, *words in crawls:
        given = [word.partition("=") for word in words if "=" in word]
        SPIDERS[spider].parse({name: value for name, _, value in given})
    others = {words[1] for words in lines} - {"crawl"}
    assert all((ROOT / f"archivebot/commands/{name}.py").exists() for name in others)


def test_the_crawl_of_the_readme_runs_and_writes_its_feed(tmp_path: Path) -> None:
    (line,) = re.findall(r"^scrapy (crawl site .*)$", text_of("README.md"), re.MULTILINE)
    with SampleSite(0).running() as site:
        done = run(["scrapy", *shlex.split(line.replace("https://example.org/", site.url))], tmp_path)
    assert done.returncode == 0, done.stdout
    records = json.loads((tmp_path / "out.json").read_text("utf-8"))
    fields = re.findall(
        r"`(\w+)`", text_of("docs/commands.md").partition("write a record")[2].partition("## ")[0]
    )
    assert len(records) > 10
    record = next(record for record in records if record["blocks"]["items"])
    assert record.keys() | record["blocks"].keys() | record["blocks"]["items"][0].keys() <= set(fields)


def test_every_command_and_each_of_its_options_is_documented() -> None:
    text = text_of("docs/commands.md")
    for path in sorted((ROOT / "archivebot/commands").glob("[!_]*.py")):
        section = text.partition(f"## scrapy {path.stem}\n")[2].partition("\n## ")[0]
        assert section, path.stem
        command = import_module(f"archivebot.commands.{path.stem}").Command()
        if isinstance(command, ArchiveCommand):
            parser = argparse.ArgumentParser()
            command.add_arguments(parser)
            for option in ("--json", *parser._option_string_actions):
                assert option in (*re.findall(r"(?<![\w-])--?[\w-]+", section), "-h", "--help"), (
                    path.stem,
                    option,
                )


def test_every_spider_argument_and_each_of_its_values_is_documented() -> None:
    names = {name for arguments in SPIDERS.values() for name in arguments.READERS}
    for name in ("README.md", "docs/commands.md"):
        assert names <= set(re.findall(r"^\| `(\w+)` \|", text_of(name), re.MULTILINE))
        assert all(f"`{value}`" in text_of(name) for value in (*KINDS, *FOCUSES, *ORDERS, *LINK_RULES))


def rows(name: str) -> list[list[str]]:
    """Return the cells of all tables of a document."""
    lines = (line.strip() for line in text_of(name).splitlines())
    return [[cell.strip() for cell in line[1:-1].split(" | ")] for line in lines if line.startswith("| ")]


def test_every_setting_of_archivebot_is_documented() -> None:
    used = {
        name
        for path in SOURCES
        for name in re.findall(r"\bARCHIVE_[A-Z0-9]+(?:_[A-Z0-9]+)*\b(?!_)", path.read_text("utf-8"))
    }
    assert used == {name for row in rows("docs/settings.md") for name in re.findall(r"ARCHIVE_\w+", row[0])}


def test_every_setting_of_scrapy_that_is_changed_is_documented() -> None:
    documented = " ".join(row[0] for row in rows("docs/settings.md"))
    assert [name for name in vars(settings) if name.isupper() and f"`{name}`" not in documented] == []


def test_the_defaults_of_settings_are_those_documented(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "ARCHIVE_URI",
        "ARCHIVE_COLLECTIONS",
        "ARCHIVE_FIELDS",
        "ARCHIVE_CONTACT",
        "ARCHIVE_TOPICS",
        "ARCHIVE_WATCH",
    ):
        monkeypatch.delenv(name, raising=False)
    actual = vars(import_module("archivebot.settings"))
    compared = set()
    for name, shown, *_ in rows("docs/settings.md"):
        setting = name.strip("`")
        if not re.fullmatch(r"\d+(?:\.\d+)?|True|False|empty|`[^`<]+`", shown) or setting not in actual:
            continue
        value = actual[setting]
        if not isinstance(value, dict | list) or shown == "`{}`":
            assert str(value or "") == shown.strip("`").replace("empty", "") or str(value) == shown.strip(
                "`"
            ), name
            compared.add(setting)
    assert setting_names() - compared == {"ARCHIVE_READERS"}  # it depends on the machine


def test_the_settings_file_has_the_defaults_of_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in setting_names():
        monkeypatch.delenv(name, raising=False)
    actual = vars(import_module("archivebot.settings"))
    assert setting_names() <= actual.keys()
    assert ArchiveConfig.from_settings(actual) == ArchiveConfig()
    for config in (
        PaceConfig,
        FrontierConfig,
        RequisiteConfig,
        FocusConfig,
        WatchConfig,
        SiteConfig,
        SearchConfig,
    ):
        assert config.from_settings(actual) == config()
    for given in (CrawlConfig, ServeConfig):
        assert replace(given.from_settings(actual), readers=1) == given()


def test_every_error_is_documented_with_its_exit_code() -> None:
    for name, error in vars(exceptions).items():
        if isinstance(error, type) and issubclass(error, exceptions.ArchiveError):
            assert f"`{name}`" in text_of("docs/commands.md")
            for code, names, *_ in rows("docs/commands.md"):
                if code.isdigit() and f"`{name}`" in names:
                    assert int(code) == error.exit_code, name


def test_the_table_of_statuses_is_that_of_the_code() -> None:
    shown = [row for row in rows("docs/crawling.md") if row[0].isdigit()]
    assert len(shown) > 20
    for status, outcome, kind, again in shown:
        actual = outcome_of(int(status), b"body")
        assert outcome == f"`{actual}`"
        assert f"`{kind_of(actual, 'a', 'a')}`" in kind
        assert again == ("yes" if actual in PASSING else "no")


def test_the_table_of_other_outcomes_is_that_of_the_code() -> None:
    known = {f"`{outcome}`": outcome for outcome in Outcome}
    for row in rows("docs/crawling.md"):
        if len(row) == 4 and row[1] in known and not row[0].isdigit():
            outcome = known.pop(row[1])
            assert row[2] == f"`{kind_of(outcome, None, 'a')}`"
            assert row[3] == ("yes" if outcome in PASSING else "no")
    assert not {name for name in known if name not in text_of("docs/crawling.md")}


def test_every_kind_and_change_is_documented() -> None:
    text = text_of("docs/versions.md")
    assert [word for word in (*Kind, *Change) if f"`{word}`" not in text] == []


def test_every_stat_is_documented() -> None:
    text = text_of("docs/stats.md")
    pattern = re.compile(r'(?:inc|set|max|min)_value\(\s*f?"([^"{]+)')
    found = {name for path in SOURCES for name in pattern.findall(path.read_text("utf-8"))}
    assert len(found) > 10
    assert [name for name in sorted(found) if f"`{name}" not in text] == []
    assert [kind for kind in Kind if f"`archive/{kind}`" not in text] == []


def test_every_column_of_the_database_is_documented() -> None:
    text = text_of("docs/storage-format.md")
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        migrate(database, "")
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        columns = {row[1] for table in tables for row in database.execute(f"PRAGMA table_info({table})")}
    assert len(columns) > 30
    assert [name for name in columns if f"| `{name}` |" not in text] == []
    assert [name for name in tables if f"### {name}\n" not in text] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", path.read_text("utf-8")):
        name, _, anchor = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        assert file.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", file.read_text("utf-8"), re.MULTILINE)
            assert anchor in [re.sub(r"[^\w -]", "", text).lower().replace(" ", "-") for text in headings], (
                target
            )


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_each_row_belongs_to_a_table(path: Path) -> None:
    text = re.sub(r"(?ms)^```.*?^```", "", path.read_text("utf-8"))
    heads = re.findall(r"(?<!\|)\n\|.+\n(.*)", text)
    assert [line for line in heads if not re.fullmatch(r"\|[-: |]+\|", line)] == []


def test_a_body_is_recovered_by_hand_with_sqlite3_and_zstd(sample: Sample, tmp_path: Path) -> None:
    for tool in ("sqlite3", "zstd"):
        if shutil.which(tool) is None:
            pytest.skip(f"allowed: {tool} is not on PATH; the form in Python is tested as well")
    folder = sample.copy(tmp_path / "work")
    script = "".join(block for _, block in fenced(text_of("docs/storage-format.md"), "sh"))
    done = subprocess.run(
        ["sh", "-e", "-c", sample.adapted(script)], cwd=folder, capture_output=True, text=True, check=True
    )
    digest = hashlib.sha256(front_page()).hexdigest()
    assert done.stdout.split() == [digest, "body.html", digest]
    assert (folder / "body.html").read_bytes() == front_page()


@pytest.mark.long
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_the_python_of_a_document_runs(path: Path, sample: Sample, tmp_path: Path) -> None:
    folder = sample.copy(tmp_path / "work")
    for _, script in fenced(path.read_text("utf-8"), "python"):
        subprocess.run([sys.executable, "-W", "error", "-c", sample.adapted(script)], cwd=folder, check=True)


def test_a_body_is_recovered_by_hand_with_python(sample: Sample, tmp_path: Path) -> None:
    folder = sample.copy(tmp_path / "work")
    *_, (_, script) = fenced(text_of("docs/storage-format.md"), "python")
    subprocess.run([sys.executable, "-c", sample.adapted(script)], cwd=folder, check=True)
    assert (folder / "body.html").read_bytes() == front_page()


def test_a_proof_is_checked_by_hand_with_python(sample: Sample, tmp_path: Path) -> None:
    folder = sample.copy(tmp_path / "work")
    ((_, block), *_) = fenced(text_of("docs/proof.md"), "sh")
    for line in sample.adapted(block).splitlines():
        command, _, name = line.partition(" > ")
        printed = run(shlex.split(command), folder).stdout
        (folder / (name or "printed")).write_text(printed, "utf-8")
    ((_, script),) = fenced(text_of("docs/proof.md"), "python")
    check = [sys.executable, "-I", "-S", "-c", script]  # without archivebot, and without any package
    subprocess.run(check, cwd=folder, check=True)
    body, proof = folder / "body.html", folder / "proof.json"
    stored, found = body.read_bytes(), json.loads(proof.read_text("utf-8"))
    body.write_bytes(stored.replace(b"Bookbinding", b"Bookkeeping", 1))
    assert subprocess.run(check, cwd=folder, capture_output=True, check=False).returncode == 1
    body.write_bytes(stored)
    other = "0" * 64
    for changed in (
        {"record": found["record"] | {"time": 0}},
        {"leaf": other},
        {"index": found["index"] ^ 1},
        {"path": [other, *found["path"][1:]]},
        {"root": other},
        {"checkpoint": found["checkpoint"].replace("\n48\n", "\n49\n")},
    ):
        proof.write_text(json.dumps(found | changed), "utf-8")
        assert subprocess.run(check, cwd=folder, capture_output=True, check=False).returncode == 1, changed


def front_page() -> bytes:
    return (ROOT / "archivebot/sample/second/index.html").read_bytes()
