"""The files that names on a command line stand for."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.exceptions import WarcError
from archivebot.warc import Damage, inputs, read_pages
from tests.factories import URL, html
from tests.test_ingest import Ingest, Warc, ingest, opened, record, record_of, uri

__all__ = ["ingest", "uri"]  # fixtures

BODY = html("The text of the page.")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    with Warc(tmp_path / "x.warc.gz") as warc:
        warc.response("2020-01-01T00:00:00Z", BODY)
        warc.response("2021-01-01T00:00:00Z", html("Another text."))
    return warc.path


def bodies(names: list[str], folder: Path) -> list[bytes]:
    """Return the bodies of the pages of all files that names stand for."""
    damage: list[Damage] = []
    found = [item.page.body for path in inputs(names, folder) for item in read_pages(path, damage.append)]
    assert not damage
    return found


def test_a_file_whose_last_answer_is_a_package_is_no_package(file: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.wacz", "w") as package:
        package.write(file, "archive/x.warc.gz")
    blocks = [b"HTTP/1.1 200 OK\r\n\r\n" + body for body in (BODY, (tmp_path / "x.wacz").read_bytes())]
    path = tmp_path / "y.warc"
    path.write_bytes(b"".join(record_of(block, "response", "2020-01-01T00:00:00Z", URL) for block in blocks))
    assert zipfile.is_zipfile(path)
    assert bodies([str(path)], tmp_path) == [BODY, (tmp_path / "x.wacz").read_bytes()]


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_the_files_of_a_package_are_read_stored_or_not(file: Path, tmp_path: Path, method: int) -> None:
    with zipfile.ZipFile(tmp_path / "x.wacz", "w", method) as package:
        package.writestr("datapackage.json", "{}")
        package.write(file, "archive/x.warc.gz")
        package.write(file, "archive/y.warc.gz")
        package.writestr("pages/pages.jsonl", "{}\n")
    assert len(bodies([str(tmp_path / "x.wacz")], tmp_path)) == 4


def test_folders_patterns_and_indexes_name_files_and_each_counts_once(file: Path, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    file.rename(tmp_path / "deep" / "x.warc.gz")
    index = tmp_path / "deep" / "x.cdxj"
    index.write_text(f"com,example)/ 2020 {json.dumps({'filename': 'x.warc.gz', 'offset': '0'})}\n" * 2)
    names = [str(tmp_path), str(tmp_path / "*" / "*.warc.gz"), str(index)]
    for name in names:
        assert inputs([name], tmp_path) == [tmp_path / "deep" / "x.warc.gz"], name
    assert len(inputs(names, tmp_path)) == 1


def test_an_index_may_have_other_forms(file: Path, tmp_path: Path) -> None:
    entries = [
        {"filename": "x.warc.gz", "offset": 0, "length": 9, "digest": "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"},
        {"filename": "x.warc.gz", "mime": "warc/revisit", "digest": "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"},
    ]
    lines = [f"com,example)/ 20200101000000123 {json.dumps(each)}" for each in entries]
    (file.parent / "x.cdxj").write_text("\n".join(['!meta 0 {"format": "cdxj"}', *lines, ""]))
    columns = f"com,example)/ 20200101000000 http://example.com/ text/html 200 {'A' * 32} - - 9 0 x.warc.gz"
    (file.parent / "x.cdx").write_text(f" CDX N b a m s k r M S V g\n{columns}\n")
    for name in ("x.cdxj", "x.cdx"):
        assert inputs([str(file.parent / name)], tmp_path) == [file]
    (file.parent / "x.cdx").write_text(" CDX N b a\ncom,example)/ 20200101000000 http://example.com/\n")
    with pytest.raises(WarcError, match="line 2 names no WARC file"):
        inputs([str(file.parent / "x.cdx")], tmp_path)


def test_a_broken_index_or_package_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.cdxj").write_text("com,example)/ 2020 {}\n")
    with pytest.raises(WarcError, match="line 1 names no WARC file"):
        inputs([str(tmp_path / "x.cdxj")], tmp_path)
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as package:
        package.writestr("a.txt", "text")
    (path,) = inputs([str(tmp_path / "x.zip")], tmp_path)
    with pytest.raises(WarcError, match="a ZIP file without WARC files"):
        list(read_pages(path, lambda _: None))


def packed(path: Path, *files: Path) -> Path:
    """Write a package of compressed files."""
    path.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for file in files:
            package.write(file, f"archive/{file.name}")
    return path


def test_packages_of_one_name_in_several_folders_are_read_each_once(file: Path, tmp_path: Path) -> None:
    names = [str(packed(tmp_path / folder / "x.wacz", file)) for folder in ("a", "b")]
    (copies := tmp_path / "copies").mkdir()
    assert len(bodies([*names, str(tmp_path / "a")], copies)) == 4


def flawed(package: Path, flaw: str) -> Path:
    """Damage a package."""
    data = bytearray(package.read_bytes())
    match flaw:
        case "cut off":
            del data[-200:]
        case "encrypted":
            for magic, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
                data[data.index(magic) + flags] |= 1
        case "damaged":
            data[100:120] = bytes(20)
        case "of an unknown method":
            for magic, method in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
                data[data.index(magic) + method] = 99
    package.write_bytes(data)
    return package


@pytest.mark.parametrize(
    ("flaw", "said"),
    [
        ("cut off", "the end of this ZIP file is missing: copy it again"),
        ("encrypted", "is encrypted"),
        ("damaged", ""),
        ("of an unknown method", "compression"),
    ],
)
def test_a_bad_package_is_named_and_the_others_go_in(
    flaw: str, said: str, ingest: Ingest, file: Path, tmp_path: Path
) -> None:
    bad = flawed(packed(tmp_path / "in" / "a.wacz", file), flaw)
    packed(tmp_path / "in" / "b.wacz", file)
    done = ingest(tmp_path / "in")
    assert done.returncode == 5, done.stderr
    refused, taken = json.loads(done.stdout)["files"]
    assert (refused["file"], taken["kinds"]) == (str(bad), {"new": 1, "changed": 1})
    assert refused["error"].startswith(f"{bad} cannot be read: ")
    assert said in refused["error"]
    assert f"scrapy ingest: {refused['error']}" in done.stderr


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_file_in_a_package_is_named_and_the_others_go_in(
    method: int, ingest: Ingest, file: Path, tmp_path: Path
) -> None:
    package = tmp_path / "x.wacz"
    with zipfile.ZipFile(package, "w", method) as packages:
        for name in ("archive/x.warc.gz", "archive/y.warc.gz"):
            packages.write(file, name)
    flawed(package, "damaged")
    done = ingest(package)
    assert done.returncode == 5, done.stderr
    assert "Traceback" not in done.stderr
    refused, taken = json.loads(done.stdout)["files"]
    assert refused["error"].startswith(f"{package} cannot be read: archive/x.warc.gz: ")
    assert (Path(taken["file"]).name, taken["kinds"]) == ("y.warc.gz", {"new": 1, "changed": 1})


def test_a_folder_without_warc_files_is_named_and_the_other_files_go_in(
    ingest: Ingest, file: Path, tmp_path: Path
) -> None:
    (empty := tmp_path / "empty").mkdir()
    (empty / "notes.txt").write_text("no records here")
    done = ingest(empty, file)
    assert done.returncode == 5
    assert f"scrapy ingest: {empty} has no file that ends in .warc, " in done.stderr
    assert [bool(each["error"]) for each in json.loads(done.stdout)["files"]] == [True, False]
    with pytest.raises(WarcError, match="has no file that ends in"):
        inputs([str(empty)], tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("names", [["-"], ["-", "-"]])
def test_a_file_comes_by_standard_input(file: Path, uri: str, names: list[str]) -> None:
    command = [sys.executable, "-m", "scrapy", "ingest", *names, "--json", "-s", f"ARCHIVE_URI={uri}"]
    done = subprocess.run(command, input=file.read_bytes(), capture_output=True, timeout=120, check=True)
    assert json.loads(done.stdout)["files"][0]["kinds"] == {"new": 1, "changed": 1}


def test_a_date_with_the_day_of_the_year_is_repaired_and_said_to_be(
    ingest: Ingest, uri: str, tmp_path: Path
) -> None:
    block = b"HTTP 200 OK\r\nContent-Type: text/html;\r\n charset=utf-8\r\n\r\n" + BODY
    (tmp_path / "x.warc").write_bytes(record_of(block, "response", "2008-10-294T05:21:46-0700", URL))
    assert record(ingest(tmp_path / "x.warc"))["kinds"] == {"new": 1}
    with opened(uri) as archive:
        (capture,) = archive.captures(URL)
    assert f"{capture.captured_at:%Y-%m-%d %H:%M:%S}" == "2008-10-20 12:21:46"
    assert "2008-10-294" in capture.reason
    assert (capture.status, dict(capture.headers)["Content-Type"]) == (200, "text/html; charset=utf-8")


def test_an_exported_package_comes_back(ingest: Ingest, uri: str, file: Path, tmp_path: Path) -> None:
    from tests.commands import run_scrapy

    ingest(file)
    package, again = tmp_path / "x.wacz", f"sqlite:///{tmp_path}/b.db"
    run_scrapy(("export", "wacz", "--output", str(package), "-s", f"ARCHIVE_URI={uri}"))
    done = run_scrapy(("ingest", str(package), "-s", f"ARCHIVE_URI={again}"))
    assert done.returncode == 0, done.stderr
    with opened(uri) as before, Archive.open(ArchiveConfig(uri=again)) as after:
        assert [each.digest for each in before.captures(URL)] == [each.digest for each in after.captures(URL)]
