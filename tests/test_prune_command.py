"""scrapy prune: what goes, what stays, and that every other command says so."""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.exceptions import Pruned, UsageError
from archivebot.jobs.prune import PruneProgress
from archivebot.jobs.prune import prune as run_prune
from archivebot.models import Kind, Outcome, Page
from archivebot.versioning.keep import Keep
from tests.commands import run_scrapy
from tests.contracts.store import ROOT, URL, at, story

OTHER = "http://example.com/other"


def page(number: int, foot: int, url: str = URL) -> Page:
    """A page with a story and a counter in its footer."""
    body = story(number).replace(b"</body>", b"<footer>Visitors today: %d</footer></body>" % foot)
    headers = (("Content-Type", "text/html; charset=utf-8"),)
    return Page(url, at(60 * foot), Outcome.FETCHED, 200, headers, body)


def fill(archive: Archive, count: int = 24, url: str = URL) -> list[Page]:
    """Store visits of which each sixth changes content and the others the footer."""
    pages = [page(foot // 6, foot, url) for foot in range(count)]
    for each in pages:
        archive.add(archive.segment(each), with_blocks=False)
    return pages


@pytest.fixture
def uri(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/archive.db"


@pytest.fixture
def archive(uri: str) -> Iterator[Archive]:
    with Archive.open(ArchiveConfig(uri=uri)) as archive:
        yield archive


def prune(uri: str, *words: str) -> tuple[int, str, str]:
    done = run_scrapy(["prune", *words], environment={**os.environ, "ARCHIVE_URI": uri})
    return done.returncode, done.stdout, done.stderr


def told(uri: str, *words: str) -> tuple[int, str, str]:
    done = run_scrapy(list(words), environment={**os.environ, "ARCHIVE_URI": uri})
    return done.returncode, done.stdout, done.stderr


def rebuilt(archive: Archive, pages: Sequence[Page]) -> list[int]:
    """Return the places of the pages whose bytes are there; the others must be pruned."""
    found = []
    captures = {capture.captured_at: capture for capture in archive.captures(pages[0].url)}
    for place, each in enumerate(pages):
        capture = captures[each.captured_at]
        assert capture.sha256 == sha256(each.body).hexdigest()
        if capture.pruned:
            with pytest.raises(Pruned):
                archive.body(capture)
        else:
            assert archive.body(capture) == each.body
            found.append(place)
    return found


def test_first_last_and_changed_versions_stay_byte_for_byte(archive: Archive, uri: str) -> None:
    pages = fill(archive)
    changed = {
        place
        for place, capture in enumerate(archive.captures(URL))
        if capture.kind in (Kind.NEW, Kind.CHANGED)
    }
    assert changed == {0, 6, 12, 18}  # the others touched the footer only
    code, out, err = prune(uri, "--keep", "changes")
    assert (code, err) == (0, "")
    assert out.startswith(f"{URL}  19 of 24 versions, ")
    assert rebuilt(archive, pages) == [0, 6, 12, 18, 23]
    assert archive.verify() == (5, [])
    code, out, _ = prune(uri, "--keep", "changes", "--json")
    assert json.loads(out)["pruned"] == 0


def test_a_dry_run_changes_nothing(archive: Archive, uri: str) -> None:
    pages = fill(archive)
    code, out, _ = prune(uri, "--keep", "ends", "--dry-run", "--json")
    said = json.loads(out)
    assert (code, said["pruned"], said["kept"], said["freed"]) == (0, 22, 2, None)
    assert rebuilt(archive, pages) == list(range(24))


def test_only_the_named_page_or_site_is_pruned(archive: Archive, uri: str) -> None:
    pages, others = fill(archive), fill(archive, url=OTHER)
    elsewhere = fill(archive, url="http://other.example/")
    assert prune(uri, OTHER, "--keep", "ends")[0] == 0
    assert (len(rebuilt(archive, pages)), len(rebuilt(archive, others))) == (24, 2)
    assert prune(uri, "--site", URL, "--keep", "ends")[0] == 0
    assert (len(rebuilt(archive, pages)), len(rebuilt(archive, elsewhere))) == (2, 24)
    assert archive.verify()[1] == []


@pytest.mark.parametrize("option", ["--site", "--collection"])
def test_an_empty_option_does_not_choose_all_pages(archive: Archive, uri: str, option: str) -> None:
    pages = fill(archive)
    code, out, log = prune(uri, "--keep", "changes", option, "")
    assert (code, out) == (2, "")
    assert f"{option}: is empty: give a value, or leave the option out" in log
    assert len(rebuilt(archive, pages)) == len(pages)


@pytest.mark.parametrize(
    "words",
    [
        ("search", "story", "--from", ""),
        ("changes", "--since", "2026", "--site", ""),
        ("text", URL, "--at", " "),
    ],
)
def test_an_empty_option_is_not_left_out(archive: Archive, uri: str, words: Sequence[str]) -> None:
    fill(archive, 2)
    assert told(uri, "index")[0] == 0
    code, out, log = told(uri, *words)
    assert (code, out) == (2, "")
    assert "is empty" in log


def test_the_totals_of_an_archive_are_not_added_up_to_prune_one_page(archive: Archive) -> None:
    fill(archive)
    asked: list[str] = []
    archive._store.database.set_trace_callback(asked.append)  # type: ignore[attr-defined]
    done = run_prune(archive, [URL], Keep.parse("ends"), datetime.now(UTC), PruneProgress())
    archive._store.database.set_trace_callback(None)  # type: ignore[attr-defined]
    assert (done.pruned, done.after) == (22, archive.totals()[""].bytes_stored)
    assert done.before > done.after
    assert [sql for sql in asked if "GROUP BY host" in sql] == []


def test_every_command_says_what_was_pruned(archive: Archive, uri: str, tmp_path: Path) -> None:
    fill(archive)
    prune(uri, "--keep", "changes")
    assert told(uri, "verify")[1] == "5 versions checked, 0 damaged, 19 pruned\n"
    history = told(uri, "history", URL)[1]
    assert history.count("pruned") == 19
    flags = [each["pruned"] for each in json.loads(told(uri, "history", URL, "--json")[1])["captures"]]
    assert flags.count(True) == 19
    code, _, err = told(uri, "replay", URL, "--at", at(60 * 3).strftime("%Y%m%d%H%M%S"))
    assert code == 1
    assert "was pruned" in err
    code, _, err = told(uri, "delta", URL, "3", "4")
    assert code == 1
    assert "was pruned" in err
    assert "version 19 -> 24" in told(uri, "delta", URL)[1]
    folder = tmp_path / "out"
    folder.mkdir()
    code, out, _ = told(uri, "export", "warc", "--output", str(folder), "--blocks", "no")
    assert code == 0
    assert "19 captures are pruned" in out
    index = next(folder.glob("*.cdxj")).read_text()
    assert len(index.splitlines()) == 5
    assert len(list(archive.mementos.of(URL))) == 5
    assert told(uri, "index")[0] == 0
    assert told(uri, "changes", "--since", "2026-01-01")[0] in (0, 1)


def test_a_pruned_version_that_comes_back_is_stored_again(archive: Archive, uri: str) -> None:
    pages = fill(archive)
    prune(uri, "--keep", "ends")
    again = Page(URL, at(60 * 99), Outcome.FETCHED, 200, pages[3].headers, pages[3].body)
    capture = archive.add(archive.segment(again))
    assert (capture.number, capture.pruned) == (4, False)
    assert rebuilt(archive, pages) == [0, 3, 23]
    assert archive.verify() == (3, [])


def test_a_pruned_body_that_came_with_an_error_later_does_not_hide_the_page(
    archive: Archive, uri: str
) -> None:
    pages = fill(archive, 12)
    error = replace(pages[3], captured_at=at(60 * 99), outcome=Outcome.SERVER_ERROR, status=503)
    assert archive.add(archive.segment(error)).kind is Kind.FAILED
    prune(uri, "--keep", "changes")
    assert archive.last(URL).pruned
    assert archive.body(archive.at(URL, None)) == pages[-1].body
    with pytest.raises(Pruned):
        archive.at(URL, pages[3].captured_at)


def test_the_space_is_given_back(archive: Archive, uri: str) -> None:
    fill(archive, 120)
    archive.sync()
    before = archive.totals()[""]
    code, out, _ = prune(uri, "--keep", "ends", "--json")
    said = json.loads(out)
    assert code == 0
    assert said["freed"] >= 0.8 * said["frames"]
    after = archive.totals()[""]
    assert before.bytes_frames - after.bytes_frames == said["freed"]
    assert said["before"] - said["after"] >= 0.8 * said["frames"]


def test_a_damaged_page_is_left_as_it_is(archive: Archive, uri: str) -> None:
    fill(archive, 12)
    store = archive._store
    store.database.execute(
        "UPDATE frame SET data = x'00' WHERE version = (SELECT id FROM version WHERE number = 7)"
    )
    code, _, err = prune(uri, "--keep", "changes")
    assert code == 4
    assert "left as it is" in err
    assert archive._store.retention.count() == 0


def test_wrong_rules_are_named(uri: str, archive: Archive) -> None:
    fill(archive, 2)
    for words in (["--keep", "often"], [], ["--keep", "all", "--site", URL, URL]):
        code, _, err = prune(uri, *words)
        assert (code, bool(err)) == (2, True)
    with pytest.raises(UsageError, match="0d"):
        Keep.parse("0d")


def test_periods_and_ages_keep_what_they_name(archive: Archive) -> None:
    pages = fill(archive, 72)  # one an hour, from midnight on
    captures = archive.captures(URL)
    now = captures[-1].captured_at

    def places(rule: str) -> list[int]:
        kept = Keep.parse(rule).digests(captures, now)
        return [place for place, each in enumerate(pages) if sha256(each.body).hexdigest() in kept]

    assert places("ends") == [0, 71]
    assert places("daily") == [0, 23, 47, 71]
    assert places("yearly") == [0, 71]
    assert places("1d") == [0, *range(47, 72)]
    assert places("daily,1d") == [0, 23, *range(47, 72)]
    assert places("all") == list(range(72))
    assert Keep.parse("1y").digests(captures, datetime.now(UTC) + timedelta(days=9999)) == {
        captures[0].sha256,
        captures[-1].sha256,
    }


def wait_for_log(process: subprocess.Popen[bytes], log: Path, size: float) -> int:
    """Wait until a write-ahead log has a size, or its process has ended; return its largest size in bytes."""
    largest, end = 0, time.monotonic() + 60
    while process.poll() is None and largest < size:
        if time.monotonic() > end:
            process.kill()
            pytest.fail("prune does not end")
        with suppress(FileNotFoundError):
            largest = max(largest, log.stat().st_size)
        time.sleep(0.0005)
    return largest


@pytest.mark.long
def test_thirty_kills_lose_nothing(archive: Archive, uri: str, tmp_path: Path) -> None:
    urls = [f"http://example.com/{number}" for number in range(4)]
    pages = {url: fill(archive, 24, url) for url in urls}
    archive.close()
    chance, command = random.Random(1), [sys.executable, "-m", "scrapy", "prune", "--keep", "ends"]
    left: list[int] = []
    whole = 0
    for number in range(31):
        copy = tmp_path / f"{number}.db"
        copy.write_bytes((tmp_path / "archive.db").read_bytes())
        there = f"sqlite:///{copy}"
        with subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, "ARCHIVE_URI": there}, stdout=subprocess.DEVNULL
        ) as process:
            log = Path(f"{copy}-wal")
            if number:  # a size of the log is a moment of the work, however fast the machine is
                wait_for_log(process, log, chance.uniform(0, whole))
                process.kill()
            else:
                whole = wait_for_log(process, log, math.inf)
        with Archive.open(ArchiveConfig(uri=there)) as killed:
            kept = rebuilt(killed, pages[chance.choice(urls)])
            assert {0, 23} <= set(kept)
            count, damaged = killed.verify()
            assert (count >= 8, damaged) == (True, [])
            left.append(count)
    assert (whole > 0, left[0]) == (True, 8)
    assert len(set(left)) > 1, "no kill came before the end"
    assert prune(there, "--keep", "ends")[0] == 0
    with Archive.open(ArchiveConfig(uri=there)) as done:
        assert done.verify() == (8, [])
