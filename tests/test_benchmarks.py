"""The benchmarks: their list, their places in docs/performance.md, and how their tables get there."""

from __future__ import annotations

import doctest
import re
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import ROOT

FOLDER = ROOT / "benchmarks"
sys.path.insert(0, str(FOLDER))  # scripts beside each other, no package

import document  # noqa: E402 - after the path
import run  # noqa: E402 - after the path
import tables  # noqa: E402 - after the path
from tables import Report, Row, Table, at_least  # noqa: E402 - after the path

# Scripts that are no benchmarks: what runs them, one that makes data, and the child process of another.
OTHERS = {"run.py", "background.py", "fault_flips.py"}

REPORT = Report(
    [Table("speed", ("ours",), [Row("pages/s", ("65",), at_least(65, 60)), Row("CPU")])], ["peer"]
)
SCRIPT = "import sys; sys.path.insert(0, {folder!r}); from tables import *; sys.exit(report({tables}))"


def script(*made: str) -> list[str]:
    return [sys.executable, "-c", SCRIPT.format(folder=str(FOLDER), tables=", ".join(made))]


def held(value: float) -> str:
    return f"Table('speed', ('ours',), [Row('pages/s', ('65',), at_least({value}, 60))])"


@pytest.mark.parametrize("module", [document, run, tables], ids=lambda module: module.__name__)
def test_the_examples_are_right(module: ModuleType) -> None:
    failed, tried = doctest.testmod(module)
    assert tried
    assert not failed


def test_every_script_is_a_benchmark_of_the_list() -> None:
    scripts = {path.name for path in FOLDER.glob("*.py") if "__main__" in path.read_text("utf-8")}
    assert scripts - OTHERS == {benchmark.script for benchmark in run.BENCHMARKS.values()}


def test_every_place_of_the_document_has_a_benchmark_and_the_other_way_round() -> None:
    text = document.DOCUMENT.read_text("utf-8")
    assert document.places(text).keys() == run.BENCHMARKS.keys()
    assert len(re.findall(r"^<!-- ", text, re.MULTILINE)) == 2 * len(run.BENCHMARKS)


def test_every_data_set_is_described() -> None:
    text = document.DOCUMENT.read_text("utf-8")
    sets = {name for benchmark in run.BENCHMARKS.values() for name in benchmark.sets}
    assert [name for name in sorted(sets) if f"| `{name}` |" not in text] == []


@pytest.mark.parametrize("name", run.BENCHMARKS)
def test_the_writer_replaces_its_own_tables_only(name: str) -> None:
    text = document.DOCUMENT.read_text("utf-8")
    before = document.places(text)
    changed = document.written(text, name, "other\n")
    assert document.places(changed) == {**before, name: "other\n"}
    assert document.written(changed, name, before[name]) == text


def test_a_place_that_is_missing_is_named() -> None:
    with pytest.raises(KeyError, match="crawl"):
        document.written("<!-- store -->\n<!-- /store -->\n", "crawl", "")


def test_below_the_tables_stand_the_run_and_what_was_not_installed() -> None:
    assert document.content(REPORT, "at noon").splitlines() == [
        "",
        "| speed   | ours | bound       |     |",
        "| ------- | ---: | ----------- | --- |",
        "| pages/s |   65 | at least 60 | ok  |",
        "| CPU     |      |             |     |",
        "",
        "*at noon* Not installed: peer.",
        "",
    ]


def test_a_report_is_read_as_it_was_written() -> None:
    assert Report.from_json(REPORT.to_json()).to_json() == REPORT.to_json()


@pytest.mark.parametrize(("value", "code"), [(60, 0), (59, 1), (float("nan"), 1)])
def test_the_exit_code_of_a_benchmark_says_whether_its_bounds_hold(value: float, code: int) -> None:
    assert tables.report(Table("speed", (), [Row("pages/s", (), at_least(value, 60))])) == code


def test_a_benchmark_reports_whether_its_bounds_hold_or_not() -> None:
    for value in (65, 55):
        found = run.measured(script(held(value)))
        assert isinstance(found, Report)
        assert [bound.value for _, bound in found.tables[0].bounds] == [value]


def test_a_benchmark_that_fails_has_no_report() -> None:
    assert run.measured([sys.executable, "-c", "raise SystemExit(1)"]) == "exit code 1"


@pytest.mark.long
def test_a_benchmark_that_takes_too_long_is_ended_with_what_it_started(tmp_path: Path) -> None:
    file = tmp_path / "alive"
    child = f"import time, pathlib\nwhile True: pathlib.Path({str(file)!r}).touch(); time.sleep(0.05)"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    assert run.measured([sys.executable, "-c", parent], most=2) == "not done after 2 s"
    assert file.exists()
    file.unlink()
    time.sleep(0.3)
    assert not file.exists()


def test_one_table_has_all_bounds_and_the_benchmarks_that_did_not_end() -> None:
    table = run.bounds({"crawl": REPORT, "store": "exit code 1"})
    assert table.markdown().splitlines()[2:] == [
        "| crawl  |           speed: pages/s |    65 | at least 60 | ok   |",
        "| store  | did not end: exit code 1 |       | at most 0   | FAIL |",
    ]


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """Return a document with places for two benchmarks."""
    path = tmp_path / "performance.md"
    path.write_text(
        "# Speed\n<!-- good -->\nold\n<!-- /good -->\n<!-- bad -->\nold\n<!-- /bad -->\n", "utf-8"
    )
    return path


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a list of a benchmark that holds its bound, one that fails, and one that needs data."""
    made = {"good": script(held(65)), "bad": [sys.executable, "-c", "raise SystemExit(1)"]}
    found = {name: run.Benchmark(name, f"{name}.py") for name in made}
    found["data"] = run.Benchmark("data", "data.py DATA/pages")
    monkeypatch.setattr(run, "BENCHMARKS", found)
    monkeypatch.setattr(run.Benchmark, "words", lambda self, data: made[self.name])


def call(monkeypatch: pytest.MonkeyPatch, page: Path, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["run.py", "--document", str(page), *words])
    return run.main()


@pytest.mark.usefixtures("listed")
def test_without_data_all_others_run_and_the_document_gets_their_tables(
    page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, page) == 1
    places = document.places(page.read_text("utf-8"))
    assert "| pages/s |   65 | at least 60 | ok  |" in places["good"]
    assert re.search(
        r"^\*`good\.py`, \d{4}-\d\d-\d\d, \d+ cores of .+, commit \w+", places["good"], re.MULTILINE
    )
    assert places["bad"] == "old\n"
    printed = capsys.readouterr().out
    assert printed.count("FAIL") == 1
    assert "not run: data needs DATA with pages" in printed


@pytest.mark.usefixtures("listed")
def test_only_what_is_named_runs(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert call(monkeypatch, page, "good") == 0


@pytest.mark.usefixtures("listed")
@pytest.mark.parametrize("name", ["data", "other"])
def test_what_cannot_run_is_refused_before_anything_runs(
    name: str, page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = page.read_text("utf-8")
    with pytest.raises(SystemExit) as ended:
        call(monkeypatch, page, "good", name)
    assert ended.value.code == 2
    assert name in capsys.readouterr().err
    assert page.read_text("utf-8") == before


def test_a_data_set_is_a_folder_of_the_data(tmp_path: Path) -> None:
    benchmark = run.Benchmark("dates", "dates.py DATA/one DATA/two --fast")
    (tmp_path / "one").mkdir()
    assert benchmark.lacks(None) == ["one", "two"]
    assert benchmark.lacks(tmp_path) == ["two"]
    assert benchmark.words(tmp_path)[1:] == [
        str(FOLDER / "dates.py"),
        str(tmp_path / "one"),
        str(tmp_path / "two"),
        "--fast",
    ]
