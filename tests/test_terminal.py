"""What is printed: hostile text goes into every command, and nothing of it steers a terminal."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import subprocess
import sys
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest

from archivebot.archive import Archive
from archivebot.cli import print_table
from archivebot.config import ArchiveConfig
from archivebot.frontier import Entry, State, open_frontier
from archivebot.models import Link, Outcome, Page
from archivebot.terminal import (
    ADDED,
    PLAIN,
    UNSAFE,
    Harmless,
    harmless,
    json_text,
    status,
    write,
    write_json,
    write_pieces,
)
from tests.commands import run_scrapy_raw
from tests.conftest import ROOT
from tests.factories import URL, html, make_page
from tests.recorded import seen

# Clear the screen, set its title, colour by C1, erase by DEL and CR, turn the direction of what follows.
HOSTILE = "\x1b[2J\x1b]0;owned\x07\x9b31m\x7f\r\x08\u202egpj.exe\u2066\u200f\u061c\ufeff\u2028\U000e0041"
BIDI = UNSAFE.sub(lambda found: f"&#{ord(found[0])};" if ord(found[0]) > 0x9F else "", HOSTILE)
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256))
SAID = f"The library {BIDI} opens at nine and closes at {{}} on every working day of the week."
FORM = (
    f'<form action="/find"><label>Title {BIDI} <input name="title"></label><label>Author {BIDI}'
    f' <input name="author"></label><select name="s"><option>{BIDI}</select><button>Search</button></form>'
)


@pytest.mark.parametrize(
    "code", [*range(9), *range(0xB, 0x20), 0x7F, 0x85, 0x9B, 0x202E, 0x2066, 0x200F, 0x61C]
)
def test_controls_are_replaced(code: int) -> None:
    assert harmless(f"a{chr(code)}b") == "a\ufffdb"


def test_what_texts_need_stays() -> None:
    kept = "a\tb\nc é 北京 \u200bไทย\u200b می\u200cخواهم 👩\u200d👧 soft\xadhyphen"
    assert harmless(kept) == kept


def test_json_loses_nothing_and_has_nothing_in_it_that_steers() -> None:
    document = {"text": HOSTILE + "\ud800", "kept": "é 👧"}
    text = json_text(document)
    assert not UNSAFE.search(text)
    assert "é 👧" in text
    assert json.loads(text) == document


def test_a_long_document_is_printed_without_its_whole_text_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    document = [{"name": "a tern"}] * 100_000
    with Path(os.devnull).open("w", encoding="utf-8") as sink:
        monkeypatch.setattr(sys, "stdout", sink)
        tracemalloc.start()
        try:
            write_json(document, indent=1)
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert most < 2_000_000 < len(json.dumps(document, indent=1))


def test_what_others_print_passes_the_door_as_well() -> None:
    bare = io.StringIO()
    door = Harmless(bare)
    print("Traceback", HOSTILE, file=door)
    door.writelines([HOSTILE])
    assert not UNSAFE.search(bare.getvalue())
    assert "Traceback" in bare.getvalue()


def test_colours_are_ours_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    screen.isatty = lambda: True
    monkeypatch.setattr(sys, "stdout", Harmless(screen))
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    write_pieces([("{+\x1b[31mred+}", ADDED), ("", ADDED), (" plain", PLAIN)])
    assert screen.getvalue() == "\x1b[32m{+\ufffd[31mred+}\x1b[0m plain\n"
    status("\x1b[31m", screen)
    assert screen.getvalue().endswith("\x1b[K\ufffd[31m")


def test_a_line_of_progress_is_gone_when_an_answer_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    screen.isatty = lambda: True
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("NO_COLOR", "1")
    status("17 of 17 pages")
    write("done")
    status("18 of 18 pages")
    write_pieces([("all", PLAIN)])
    assert seen(screen.getvalue()) == "done\nall\n"


@pytest.mark.parametrize(
    ("is_terminal", "environment", "coloured"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (True, {"TERM": "dumb"}, False),
        (False, {"FORCE_COLOR": "1"}, True),
        (False, {"FORCE_COLOR": ""}, False),
        (True, {"TERM": "dumb", "FORCE_COLOR": "1"}, True),
        (True, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
    ],
)
def test_the_environment_decides_on_colours(
    monkeypatch: pytest.MonkeyPatch, is_terminal: bool, environment: dict[str, str], coloured: bool
) -> None:
    screen = io.StringIO()
    screen.isatty = lambda: is_terminal
    monkeypatch.setattr(sys, "stdout", screen)
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    print_table(["kind", "page"], [["gone", "a"], ["touched", ""]])
    text = screen.getvalue()
    assert ("\x1b[" in text) is coloured
    plain = re.sub("\x1b\\[\\d+m", "", text)
    assert plain == "kind     page\ngone     a\ntouched\n"
    if coloured:
        assert "\x1b[31mgone   \x1b[0m  a" in text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive, a frontier, a topic and files that are full of hostile text."""
    folder = tmp_path_factory.mktemp("hostile")
    archive = Archive.open(ArchiveConfig(uri=f"sqlite:///{folder}/archive.db"))
    headers = (("Content-Type", "text/html; charset=utf-8"), ("X-\x1b", HOSTILE))
    head = f"<title>{BIDI}</title>"
    for day, hour in enumerate(("six", "eight")):
        page = make_page(
            html(SAID.format(hour), FORM, *(["More of it."] * day), head=head), day, headers=headers
        )
        page = replace(page, links=(Link(f"http://example.com/{HOSTILE}", anchor=HOSTILE),))
        archive.add(archive.segment(page))
        wall = make_page(b"x", 3 + day, outcome=Outcome.SERVER_ERROR, status=500)
        archive.add(archive.segment(replace(wall, reason=HOSTILE)))
    text = " ".join(f"{BIDI} The {n}th shelf holds {n * n} books on the harbour." for n in range(40))
    for path in (f"/{HOSTILE}", "/a", "/b"):
        archive.add(
            archive.segment(make_page(html(text, FORM, head=head), 2, url=f"http://example.com{path}"))
        )
    archive.add(
        archive.segment(make_page(PNG, 2, url="http://example.com/p", headers=(("Content-Type", HOSTILE),)))
    )
    archive.close()
    _frontier(f"sqlite:///{folder}/archive.frontier.db")
    (folder / "topics").mkdir()
    (folder / f"{HOSTILE.replace(chr(0), '')}.html").write_text(f"<title>{BIDI}</title><p>{SAID}{FORM}")
    (folder / "picture.html").write_bytes(PNG)
    _write_warcs(folder)
    return folder


def _frontier(uri: str) -> None:
    frontier = open_frontier(uri, HOSTILE)
    frontier.begin(json.dumps({"topic": HOSTILE}), None)
    parts = json.dumps({HOSTILE: 1.0, "text": HOSTILE})
    frontier.add([Entry(f"http://a.example/{HOSTILE}", HOSTILE, 1.0, "{}", parts=parts)])
    frontier.reject([Entry("http://a.example/no", HOSTILE, 1.0, "{}", reason=HOSTILE)])
    lease = frontier.lease()
    assert lease
    note = json.dumps({"terms": [[HOSTILE, 1.0]]})
    frontier.settle(lease.entry.url, State.DONE, relevance=0.5, relevant=True, note=note, reason=HOSTILE)
    frontier.close()


def _write_warcs(folder: Path) -> None:
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>hello"
    hostile = HOSTILE.replace("\r", "").encode()
    for name, uri, digest in (
        (b"digest.warc", b"http://example.com/d", b"sha1:" + hostile),
        (b"uri \xff\x1b[2J.warc", b"http://example.com/" + hostile, b""),
        (b"date.warc", b"http://example.com/d", b""),
    ):
        date = hostile if name == b"date.warc" else b"2020-01-01T00:00:00Z"
        head = b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: %s\r\nWARC-Date: %s\r\n" % (uri, date)
        head += b"WARC-Block-Digest: %s\r\nWARC-Payload-Digest: %s\r\n" % (digest, digest) if digest else b""
        record = head + b"Content-Type: application/http\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n" % (
            len(block),
            block,
        )
        Path(os.fsdecode(os.path.join(os.fsencode(folder), name))).write_bytes(record)
    (folder / f"no warc {HOSTILE.replace(chr(0), '')}").write_bytes(hostile)


def run(folder: Path, *args: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    settings = [f"ARCHIVE_URI=sqlite:///{folder}/archive.db", f"ARCHIVE_TOPICS={folder}/topics"]
    words = (*args, *(word for each in settings for word in ("-s", each)))
    return run_scrapy_raw(words, timeout=120, environment=os.environ | environment)


def commands(folder: Path) -> list[list[str]]:
    odd = f"http://example.com/{HOSTILE}"
    files = [os.fsdecode(name) for name in os.listdir(os.fsencode(folder))]
    pages = [str(folder / name) for name in files if name.endswith(".html")]
    warcs = [str(folder / name) for name in files if "warc" in name]
    told = [
        *(["history", URL], ["history", odd], ["history", URL, "--block", "1"], ["history", HOSTILE]),
        *(
            ["replay", URL, "--headers"],
            ["replay", URL, "--at", HOSTILE],
            ["replay", URL, "--output", HOSTILE + "/x"],
        ),
        *(["delta", URL], ["delta", URL, "--all"], ["delta", odd], ["delta", "http://example.com/p"]),
        *(["blocks", URL], ["blocks", odd], ["blocks", "http://example.com/p"]),
        *(["text", URL], ["text", odd], ["text", "http://example.com/p"], ["text", "\udcff"]),
        *(["duplicates"], ["duplicates", "--clusters"], ["template", URL], ["stats"], ["verify"]),
        *(["segment", *pages], ["segment", HOSTILE], ["forms", "--classify", *pages], ["forms", "--scan"]),
        *(["ingest", *warcs], ["ingest", f"/nowhere/{HOSTILE}\udcff"]),
        *(["rank"], ["rank", "--by", "hits"], ["rank", "--by", "arc", "--topic", HOSTILE]),
        *(
            ["frontier"],
            ["frontier", "--crawl", HOSTILE + "x"],
            ["harvest"],
            ["explain", f"http://a.example/{HOSTILE}"],
        ),
        *(["explain", "http://a.example/no"], ["harvest", "--csv", "-"], ["harvest", "--plot", HOSTILE]),
        *(
            ["topic", "own", "--words", f"harbour, {HOSTILE}"],
            ["topic", "own", "--from", *pages, "--score", *pages],
        ),
        *(["topic", HOSTILE], ["stats", f"--{HOSTILE}"], ["stats", "-s", f"ARCHIVE_LEVEL={HOSTILE}"]),
    ]
    return [each for one in told for each in (one, [*one, "--json"])]


# Runs commands one after another in one process: to start one for each takes minutes.
DRIVER = """
import io, json, sys, traceback
from scrapy.cmdline import execute
results = []
for words in json.load(sys.stdin):
    outs = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
    sys.stdout, sys.stderr = outs
    code = None
    try:
        execute(["scrapy", *words])
    except SystemExit as end:
        code = end.code
    except Exception:
        traceback.print_exc()
    [out.flush() for out in outs]
    results.append([code, *(out.buffer.getvalue().decode("utf-8") for out in outs)])
json.dump(results, sys.__stdout__)
"""


@pytest.mark.long
def test_no_command_lets_a_hostile_text_steer_the_terminal(folder: Path) -> None:
    wanted = [[word.replace("\0", "") for word in words] for words in commands(folder)]
    settings = [f"ARCHIVE_URI=sqlite:///{folder}/archive.db", f"ARCHIVE_TOPICS={folder}/topics"]
    given = [[*words, *(word for each in settings for word in ("-s", each))] for words in wanted]
    done = subprocess.run(
        [sys.executable, "-c", DRIVER],
        input=json.dumps(given),
        cwd=ROOT,
        text=True,
        capture_output=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    for words, (code, *texts) in zip(wanted, results, strict=True):
        for text in texts:
            assert not UNSAFE.search(text), (words, text)
            assert "Traceback" not in text, (words, text)
        assert code in range(6), words
        assert any(texts), words
        if words[-1] == "--json" and not code:
            for document in texts[0].splitlines() if words[0] == "segment" else texts[:1]:
                json.loads(document)


def test_a_file_whose_name_is_no_text_is_ingested(folder: Path, tmp_path: Path) -> None:
    (name,) = [name for name in os.listdir(os.fsencode(folder)) if b"\xff" in name]
    (tmp_path / "archive").mkdir()
    result = run(
        tmp_path / "archive", "ingest", os.fsdecode(os.path.join(os.fsencode(folder), name)), "--json"
    )
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["files"][0]["captures"] == 1


@pytest.mark.long
def test_a_crawl_lets_no_hostile_text_out(folder: Path) -> None:
    for words in (["site", "-a", f"seeds={HOSTILE}"], [HOSTILE], ["site", "-a", f"{HOSTILE}=1"]):
        result = run(folder, "crawl", *(word.replace("\0", "") for word in words))
        assert result.returncode == 2
        for data in (result.stdout, result.stderr):
            assert not UNSAFE.search(data.decode("utf-8"))
            assert b"Traceback" not in data


def test_a_terminal_without_unicode_gets_escapes(folder: Path) -> None:
    archive = Archive.open(ArchiveConfig(uri=f"sqlite:///{folder}/archive.db"))
    page = Page(
        "http://example.com/zh", make_page().captured_at, Outcome.FETCHED, 200, body="<p>北京 👧".encode()
    )
    archive.add(archive.segment(page))
    archive.close()
    for words in (["text", page.url], ["delta", URL]):
        result = run(folder, *words, PYTHONIOENCODING="ascii")
        assert result.returncode == 0, result.stderr
        assert result.stdout.isascii()
    told = json.loads(run(folder, "text", page.url, "--json", PYTHONIOENCODING="ascii").stdout)
    assert told["text"] == "北京 👧"


@pytest.mark.parametrize("command", ["text", "blocks", "delta", "replay"])
def test_a_picture_is_named_and_not_printed(folder: Path, command: str) -> None:
    archive = Archive.open(ArchiveConfig(uri=f"sqlite:///{folder}/archive.db"))
    url = "http://example.com/picture.png"
    for day, more in enumerate((b"", b"\0more")):
        page = make_page(PNG + more, day, url=url, headers=(("Content-Type", "image/png"),))
        archive.add(archive.segment(page))
    archive.close()
    result = run(folder, command, url)
    assert result.returncode == 0, result.stderr
    if command == "replay":
        assert result.stdout == PNG + b"\0more"
    else:
        assert b"a PNG picture" in result.stdout + result.stderr
        assert b"IHDR" not in result.stdout + result.stderr
        assert (command == "text") == (not result.stdout)


def on_a_terminal(folder: Path, *args: str) -> tuple[int, bytes, bytes]:
    """Run a command whose stdout is a terminal; give its exit code and what both streams got."""
    parent, child = pty.openpty()
    command = [sys.executable, "-m", "scrapy", *args, "-s", f"ARCHIVE_URI=sqlite:///{folder}/archive.db"]
    with subprocess.Popen(command, cwd=ROOT, stdout=child, stderr=subprocess.PIPE) as process:
        os.close(child)
        shown = b""
        try:
            while data := os.read(parent, 4096):
                shown += data
        except OSError:  # the terminal is closed
            pass
        _, told = process.communicate(timeout=60)
    os.close(parent)
    return process.returncode, shown, told


@pytest.mark.long
def test_replay_shows_a_text_on_a_terminal_and_refuses_what_could_steer_it(folder: Path) -> None:
    archive = Archive.open(ArchiveConfig(uri=f"sqlite:///{folder}/archive.db"))
    pages = {"plain": "Zwölf\r\nBücher\r\n".encode("latin-1"), "bomb": b"hello \x1b[2J", "png": PNG}
    for name, body in pages.items():
        page = make_page(body, url=f"http://example.com/{name}", headers=(("Content-Type", "text/plain"),))
        archive.add(archive.segment(page))
    archive.close()
    assert on_a_terminal(folder, "replay", "http://example.com/plain")[:2] == (
        0,
        "Zwölf\r\nBücher\r\n".encode(),
    )
    for name in ("bomb", "png"):
        code, shown, told = on_a_terminal(folder, "replay", f"http://example.com/{name}")
        assert (code, shown) == (2, b"")
        assert b"--output" in told
        assert run(folder, "replay", f"http://example.com/{name}").stdout == pages[name]
