"""The commands as a user types them: what they print, as text and as JSON, and their exit codes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.models import Outcome
from archivebot.wire import Wire
from tests.commands import run_scrapy
from tests.conftest import ROOT
from tests.factories import URL, html, make_page

OLD = ["Opening hours are from nine to six on working days.", "The café is closed on Mondays.", "Imprint"]
NEW = ["Opening hours are from nine to eight on working days.", "The café is closed on Mondays.", "Imprint"]

WIRED = "http://wired.example/"
RECEIVED = b"HTTP/1.1 200 Fine\r\ncontent-TYPE: text/html\r\nX-A: \x1b[1m\r\nX-a: 2\r\n\r\n"

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An archive of one page in two versions and a failure."""
    uri = f"sqlite:///{tmp_path_factory.mktemp('commands')}/a.db"
    archive = Archive.open(ArchiveConfig(uri=uri))
    for page in (
        make_page(html(*OLD), 0),
        make_page(html(*NEW), 10),
        make_page(b"", 20, outcome=Outcome.TIMEOUT, status=None),
        make_page(html(*NEW), 30),
    ):
        archive.add(archive.segment(page))
    archive.close()
    return uri


@pytest.fixture(scope="module")
def run(uri: str) -> Run:
    def run(*args: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return run_scrapy(args, environment={**os.environ, "ARCHIVE_URI": uri, **environment})

    return run


def document(result: subprocess.CompletedProcess[str]) -> Any:
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_history_lists_captures_oldest_first(run: Run) -> None:
    history = document(run("history", URL, "--json"))
    assert (history["url"], history["urlkey"]) == (URL, "com,example)/page")
    assert [capture["captured_at"] for capture in history["captures"]] == [
        "20260101000000",
        "20260111000000",
        "20260121000000",
        "20260131000000",
    ]
    assert [capture["kind"] for capture in history["captures"]] == ["new", "changed", "failed", "revisit"]
    first = history["captures"][0]
    assert first["digest"].startswith("sha256:")
    assert (first["status"], first["version"], first["blocks"], first["new_blocks"]) == (200, 1, 3, 3)
    assert first["bytes"] == len(html(*OLD))
    table = run("history", URL).stdout
    assert "changed" in table
    assert "2026-01-11 00:00:00" in table


def test_history_of_an_unknown_url_is_empty_and_exits_with_1(run: Run) -> None:
    result = run("history", "http://example.net/", "--json")
    assert (result.returncode, json.loads(result.stdout)) == (1, {"captures": []})
    assert "never captured" in result.stderr


def test_history_of_a_block_gives_its_texts(run: Run) -> None:
    lineage = document(run("blocks", URL, "--json"))[0]["lineage"]
    states = document(run("history", URL, "--block", lineage, "--json"))["states"]
    assert [(state["version"], state["text"]) for state in states] == [(1, OLD[0]), (2, NEW[0])]
    assert NEW[0] in run("history", URL, "--block", lineage).stdout
    missing = run("history", URL, "--block", "x-1")
    assert (missing.returncode, f"scrapy blocks {URL}" in missing.stderr) == (1, True)


@pytest.mark.parametrize(
    ("time", "texts"),
    [
        ("20260105", OLD),
        ("2026-01-15T00:00:00Z", NEW),
        ("Mon, 05 Jan 2026 00:00:00 GMT", OLD),
        ("1999", OLD),
        ("2099", NEW),
    ],
)
def test_replay_writes_exactly_the_body_of_that_time(
    run: Run, tmp_path: Path, time: str, texts: list[str]
) -> None:
    out = tmp_path / "out.html"
    assert run("replay", URL, "--at", time, "--output", str(out)).returncode == 0
    assert out.read_bytes() == html(*texts)


@pytest.mark.long
def test_replay_writes_bytes_to_stdout_and_talk_to_stderr(uri: str) -> None:
    command = [sys.executable, "-m", "scrapy", "replay", URL]
    result = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "ARCHIVE_URI": uri}, capture_output=True, check=True
    )
    assert result.stdout == html(*NEW)
    assert b"version 2" in result.stderr


def test_replay_takes_a_hyphen_for_stdout(run: Run) -> None:
    assert run("replay", URL, "--output", "-").stdout == html(*NEW).decode()
    for other in ("--json", "--headers"):
        refused = run("replay", URL, "--output", "-", other)
        assert refused.returncode == 2
        assert "stdout takes either" in refused.stderr


def test_replay_shows_the_recorded_headers(run: Run) -> None:
    shown = run("replay", URL, "--headers")
    assert shown.stdout == "HTTP 200\nContent-Type: text/html; charset=utf-8\n"
    assert "was not recorded" in shown.stderr
    assert document(run("replay", URL, "--json"))["version"] == 2


def test_replay_shows_status_line_and_headers_as_they_came(run: Run, tmp_path: Path) -> None:
    wire = Wire(received=RECEIVED, trailers=b"X-Sum: 1\r\n", length=31)
    uri = f"sqlite:///{tmp_path}/wired.db"
    with closing(Archive.open(ArchiveConfig(uri=uri))) as archive:
        page = make_page(html(*NEW), url=WIRED, headers=wire.headers)
        archive.add(archive.segment(replace(page, wire=wire)))
    wired = ("-s", f"ARCHIVE_URI={uri}")
    shown = run("replay", WIRED, "--headers", *wired).stdout
    assert shown == "HTTP/1.1 200 Fine\ncontent-TYPE: text/html\nX-A: \ufffd[1m\nX-a: 2\n\nX-Sum: 1\n"
    record = document(run("replay", WIRED, "--json", *wired))
    assert record["headers"] == [["content-TYPE", "text/html"], ["X-A", "\x1b[1m"], ["X-a", "2"]]
    assert record["wire"]["received"].encode("latin-1") == RECEIVED
    assert document(run("history", WIRED, "--json", *wired))["captures"][0]["wire"]["length"] == 31
    assert {capture["wire"] for capture in document(run("history", URL, "--json"))["captures"]} == {None}


def test_replay_explains_what_is_wrong(run: Run) -> None:
    assert run("replay", "http://example.net/").returncode == 1
    wrong_time = run("replay", URL, "--at", "yesterday")
    assert wrong_time.returncode == 2
    assert "14 digits" in wrong_time.stderr
    wrong_file = run("replay", URL, "--output", "/nonexistent/file")
    assert wrong_file.returncode == 2
    assert "cannot be written" in wrong_file.stderr


def test_delta_names_the_block_that_changed_and_no_other(run: Run) -> None:
    delta = document(run("delta", URL, "--json"))
    assert (delta["from"], delta["to"], delta["layout_changed"]) == (1, 2, False)
    changed = [change for change in delta["changes"] if change["change"] != "UNCHANGED"]
    assert [(change["change"], change["before"], change["after"]) for change in changed] == [
        ("MODIFIED", OLD[0], NEW[0])
    ]
    assert 0.8 < changed[0]["similarity"] < 1
    assert [(change["label"], change["role"]) for change in delta["changes"]] == [
        ("main", "content"),
        ("main", "content"),
        ("footer", "furniture"),
    ]


def test_delta_is_readable_in_a_terminal(run: Run) -> None:
    text = run("delta", URL, "1", "2").stdout
    assert "[-six-]{+eight+}" in text
    assert re.search(r"^MODIFIED  \w{8}-1  main  ", text, re.MULTILINE)
    assert "café" not in text
    assert "café" in run("delta", URL, "1", "2", "--all").stdout


def test_delta_takes_times_as_well_as_numbers(run: Run) -> None:
    delta = document(run("delta", URL, "20260215", "2026-01-02", "--json"))
    assert (delta["from"], delta["to"]) == (2, 1)


def test_blocks_give_the_partition(run: Run) -> None:
    blocks = document(run("blocks", URL, "--at", "20260101", "--json"))
    assert [set(block) >= {"lineage", "level", "start", "end", "topic", "size"} for block in blocks] == [
        True
    ] * 3
    assert all(block["end"] - block["start"] == block["size"] for block in blocks)
    assert [block["label"] for block in blocks] == ["main", "main", "footer"]
    assert all(block["reason"] and block["simhash"] is None for block in blocks), "too short for fingerprints"
    assert "cut at level 3" in run("blocks", URL).stdout


def test_text_is_that_of_the_time_asked_for(run: Run) -> None:
    assert OLD[0] in run("text", URL, "--at", "2026-01-02").stdout.splitlines()
    record = document(run("text", URL, "--json"))
    assert (record["url"], record["captured_at"], record["version"]) == (URL, "20260131000000", 2)
    assert NEW[0] in record["text"].splitlines()
    assert record["quality"] == "good"
    assert run("text", "http://example.com/nowhere").returncode == 1


def test_a_wall_is_told_also_where_it_was_not_modified(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path}/wall.db"
    archive = Archive.open(ArchiveConfig(uri=uri))
    wall = b"<!DOCTYPE html><title>Page not found</title><h1>Page not found</h1><p>Sorry."
    for page in (make_page(wall, 0), make_page(b"", 1, outcome=Outcome.NOT_MODIFIED, status=304)):
        archive.add(archive.segment(page))
    archive.close()
    result = run_scrapy(("text", URL, "-s", f"ARCHIVE_URI={uri}"))
    assert result.returncode == 0
    assert "may be no page but a soft_404" in result.stderr


@pytest.fixture(scope="module")
def gone(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The option that names an archive of a page in two versions that is gone, and one that never was."""
    uri = f"sqlite:///{tmp_path_factory.mktemp('gone')}/gone.db"
    archive = Archive.open(ArchiveConfig(uri=uri))
    for page in (
        *(make_page(html(*OLD), 0), make_page(html(*NEW), 10)),
        *(make_page(b"<p>gone", day, outcome=Outcome.GONE, status=410) for day in (20, 30)),
        make_page(b"<p>what?", 30, outcome=Outcome.NOT_FOUND, status=404, url=f"{URL}/typo"),
    ):
        archive.add(archive.segment(page))
    archive.close()
    return ["-s", f"ARCHIVE_URI={uri}"]


@pytest.mark.long
@pytest.mark.parametrize("command", ["replay", "text", "blocks"])
def test_what_is_shown_of_a_page_that_is_gone_is_said_to_be_older(
    run: Run, gone: list[str], command: str
) -> None:
    said = f"{URL}: gone since 2026-01-21 00:00:00; this is version 2 of 2026-01-11 00:00:00"
    result = run(command, URL, *gone)
    assert result.returncode == 0
    assert said in result.stderr.splitlines()
    assert result.stdout == run(command, URL, "--at", "2026-01-15", *gone).stdout
    assert "gone" not in run(command, URL, "--at", "2026-01-15", *gone).stderr
    assert said in run(command, URL, "--at", "2026-01-25", *gone).stderr
    assert "gone" not in run(command, URL).stderr


@pytest.mark.long
@pytest.mark.parametrize("command", ["replay", "text", "blocks", "extract"])
def test_what_is_shown_of_a_page_that_led_elsewhere_is_said_to_be_older(
    run: Run, tmp_path: Path, command: str
) -> None:
    uri = f"sqlite:///{tmp_path}/moved.db"
    with Archive.open(ArchiveConfig(uri=uri)) as archive:
        for page in (
            make_page(html(*OLD), 0),
            make_page(b"<p>moved", 10, outcome=Outcome.REDIRECT, status=301, location="http://new.example/"),
            make_page(b"", 11, outcome=Outcome.TIMEOUT, status=None),
            make_page(html(*NEW), 20),
            make_page(b"", 9, outcome=Outcome.REDIRECT, status=301, location=URL, url=f"{URL}/alias"),
        ):
            archive.add(archive.segment(page))
    moved = ["-s", f"ARCHIVE_URI={uri}"]
    said = (
        f"{URL}: led to http://new.example/ at 2026-01-11 00:00:00; this is version 1 of 2026-01-01 00:00:00"
    )
    assert said in run(command, URL, "--at", "2026-01-15", *moved).stderr.splitlines()
    for when in ("2026-01-05", "2026-01-25"):
        assert "led to" not in run(command, URL, "--at", when, *moved).stderr
    nothing = f"{URL}/alias has no capture with a body in {uri}: it led to {URL}\n"
    assert run(command, f"{URL}/alias", *moved).stderr.endswith(nothing)


def test_a_text_of_a_later_time_than_asked_for_is_said_to_be_later(run: Run, gone: list[str]) -> None:
    said = f"{URL}: nothing is as old as 2025-12-31 23:59:59; this is of 2026-01-01 00:00:00"
    result = run("text", URL, "--at", "2025", *gone)
    assert (result.returncode, said in result.stderr.splitlines()) == (0, True)
    assert "nothing is as old" not in run("text", URL, "--at", "2026-01-01", *gone).stderr


@pytest.mark.long
def test_json_and_deltas_say_since_when_a_page_is_gone(run: Run, gone: list[str]) -> None:
    for command in ("replay", "text", "delta", "history"):
        assert document(run(command, URL, "--json", *gone))["gone_since"] == "20260121000000"
        assert document(run(command, URL, "--json"))["gone_since"] is None
    assert "gone since 2026-01-21 00:00:00" in run("delta", URL, *gone).stdout.splitlines()
    assert "gone" not in run("delta", URL).stdout


def test_what_was_never_there_is_not_found(run: Run, gone: list[str]) -> None:
    (typo,) = document(run("history", f"{URL}/typo", "--json", *gone))["captures"]
    kinds = [each["kind"] for each in document(run("history", URL, "--json", *gone))["captures"]]
    assert (typo["kind"], kinds) == ("not_found", ["new", "changed", "gone", "gone"])
    assert "gone" not in run("replay", f"{URL}/typo", *gone).stderr


def test_stats_sum_up(run: Run) -> None:
    stats = document(run("stats", "--json"))
    assert (stats["captures"], stats["versions"], stats["urls"], stats["blocks"]) == (4, 2, 1, 4)
    assert stats["bytes_fetched"] == len(html(*OLD)) + 2 * len(html(*NEW))
    assert stats["ratio"] == round(stats["bytes_stored"] / stats["bytes_fetched"], 4)
    assert "example.com" in run("stats").stdout


def test_verify_says_that_all_is_well(run: Run) -> None:
    assert document(run("verify", "--json")) == {"checked": 2, "pruned": 0, "damaged": []}
    assert run("verify", "--sample", "1").stdout == "1 version checked, 0 damaged\n"
    assert run("verify", "--sample", "9" * 5000).returncode == 0


def test_verify_of_a_damaged_archive_lists_it_and_fails(run: Run, uri: str, tmp_path: Path) -> None:
    data = Path(uri.removeprefix("sqlite:///")).read_bytes()
    at = data.index(b"\x28\xb5\x2f\xfd") + 20  # inside the first zstd frame
    copy = tmp_path / "damaged.db"
    copy.write_bytes(data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :])
    result = run("verify", "--json", "-s", f"ARCHIVE_URI=sqlite:///{copy}")
    assert result.returncode == 4
    assert json.loads(result.stdout)["damaged"][0]["url"] == URL
    listed = run("verify", "-s", f"ARCHIVE_URI=sqlite:///{copy}").stdout
    assert f"damaged: {URL} version " in listed
    assert "damaged: : " not in listed
    assert "None" not in listed


@pytest.mark.parametrize(
    ("args", "code", "says"),
    [
        (["history"], 2, "scrapy history [options] URL"),
        (["history", "a", "b"], 2, "scrapy history [options] URL"),
        (["history", "http://x.example/", "--jsn"], 2, "no option --jsn"),
        (["history", "http://"], 2, "http"),
        (["verify", "--sample", "few"], 2, "whole number"),
        (["verify", "--sample", ""], 2, "whole number"),
        (["delta", URL, "7", "8"], 1, "no version 8"),
        (["stats", "-s", "ARCHIVE_URI=sqlite:////nowhere/x.db"], 1, "crawl or ingest first"),
        (["stats", "-s", "ARCHIVE_URI=x.db"], 2, "sqlite:///archive.db"),
        (["stats", "-s", "ARCHIVE_LEVEL=deep"], 2, "whole number"),
        (["ingest"], 2, "FILE|FOLDER|PATTERN"),
        (["ingest", "/nowhere.warc"], 5, "nowhere.warc"),
    ],
)
def test_wrong_use_is_explained_without_a_traceback(run: Run, args: list[str], code: int, says: str) -> None:
    result = run(*args)
    assert result.returncode == code, result.stderr
    assert says in result.stderr
    assert "Traceback" not in result.stderr


def test_a_file_that_is_no_archive_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "x.db").write_bytes(b"this is not a database" * 100)
    result = run("stats", "-s", f"ARCHIVE_URI=sqlite:///{tmp_path}/x.db")
    assert result.returncode == 3
    assert "damaged or no archive" in result.stderr


@pytest.mark.long
def test_a_reader_that_stops_early_is_no_error(run: Run, uri: str) -> None:
    command = f"{sys.executable} -m scrapy history {URL} --json | head -1"
    result = subprocess.run(
        command, shell=True, cwd=ROOT, env={**os.environ, "ARCHIVE_URI": uri}, capture_output=True, check=True
    )
    assert result.stderr == b""


@pytest.mark.long
def test_every_command_explains_itself(run: Run) -> None:
    for path in (ROOT / "archivebot/commands").glob("[a-z]*.py"):
        text = run(path.stem, "-h").stdout
        assert "--json" in text or path.stem == "crawl"  # whose feed is -O out.json
