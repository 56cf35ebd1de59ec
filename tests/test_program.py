"""The program `archivebot`: help by task, arguments of spiders, versions, completion, messages."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from archivebot import terminal
from archivebot.crawl.meanings import MEANINGS
from archivebot.program import __main__ as program
from archivebot.program.catalogue import Catalogue
from archivebot.terminal import commanded, name_program
from tests.conftest import ROOT

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Run a command line that Scrapy does not answer, on a terminal of 80 columns."""
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "archivebot.settings")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(terminal, "_program", terminal.PROGRAMS[0])
    monkeypatch.setattr(program, "guard", lambda: None)  # pytest has its own streams

    def run(*words: str) -> tuple[int, str, str]:
        code = program.main(words)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    yield run
    name_program(terminal.PROGRAMS[0])


def test_help_lists_each_command_once_by_task_in_80_columns(run: Run) -> None:
    code, out, _ = run("help")
    assert code == 0
    assert run()[1] == out == run("--help")[1]
    listed = re.findall(r"^  ([\w-]+) {2,}\w", out, re.MULTILINE)
    catalogue = Catalogue.read()
    own = [name for names in catalogue.tasks().values() for name in names]
    assert sorted(own) == sorted(catalogue.commands)
    assert listed == [*own, *catalogue.spiders, "help", "version", "completion"]
    assert max(map(len, out.splitlines())) <= 80
    assert "scrapy" not in out


@pytest.mark.parametrize("spider", ["site", "topic", "deepweb", "query", "recrawl"])
def test_the_arguments_of_a_spider_are_in_its_help(run: Run, spider: str) -> None:
    code, out, _ = run("crawl", spider, "--help")
    arguments = Catalogue.read().spiders[spider].arguments_class
    assert code == 0
    assert re.findall(r"^  (\w+)  +\S", out, re.MULTILINE) == list(arguments.READERS)
    assert all(f"-a {name}=..." in out.splitlines()[2] for name in arguments.REQUIRED)
    assert arguments.READERS.keys() <= MEANINGS.keys()
    assert max(map(len, out.splitlines())) <= 80


def test_help_shows_defaults(run: Run) -> None:
    out = re.sub(r"\s+", " ", run("crawl", "deepweb", "--help")[1])
    assert "maximum number of links from a seed (3)" in out
    assert "and fonts of pages (no)" in out


def test_the_help_of_a_command_names_the_program(run: Run) -> None:
    for words in (("history", "--help"), ("help", "history")):
        code, out, _ = run(*words)
        assert code == 0
        assert "archivebot history [options] URL" in out
        assert "--block LINEAGE" in out
    assert "Spiders" in run("crawl", "-h")[1]
    assert "archivebot version [--json]" in run("help", "version")[1]
    assert run("completion", "--help") == run("help", "completion")
    assert run("help", "-h") == run("help")


def test_a_line_of_an_option_that_ends_with_a_colon_is_no_heading(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for columns in range(60, 120):
        monkeypatch.setenv("COLUMNS", str(columns))
        for name in ("topic", "changes", "serve"):
            headings = re.findall(r"^(.+)\n[=-]+$", run(name, "--help")[1], re.MULTILINE)
            assert headings == ["Usage", "Options", "Global Options"], columns


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["histry"], "did you mean history?"),
        (["help", "xyzzy"], "there is no command 'xyzzy': archivebot help lists them"),
        (["completion"], "name a shell: archivebot completion bash"),
        (["completion", "csh2"], "name a shell"),
        (["--json", "stats"], "archivebot COMMAND --json"),
    ],
)
def test_wrong_words_are_one_message(run: Run, words: list[str], message: str) -> None:
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_versions_are_those_of_the_parts(run: Run) -> None:
    found = json.loads(run("version", "--json")[1])
    assert found["archivebot"]
    assert found["Python"] == sys.version.partition(" ")[0]
    assert [name for name in ("Scrapy", "turbohtml", "SQLite") if not found[name]] == []
    assert run("version")[1].splitlines()[0].split() == ["archivebot", found["archivebot"]]


def test_bash_completes_commands_spiders_and_arguments(run: Run, tmp_path: Path) -> None:
    script = tmp_path / "completion"
    script.write_text(run("completion", "bash")[1])
    asked = (("his", 1), ("crawl si", 2), ("crawl site -a see", 4), ("history --blo", 2))
    lines = [
        f"COMP_WORDS=(archivebot {words}); COMP_CWORD={at}; COMPREPLY=(); _shtab_archivebot; "
        "echo ${COMPREPLY[@]}"
        for words, at in asked
    ]
    told = f"source {script}\n" + "\n".join(lines)
    done = subprocess.run(["bash", "-c", told], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.split() == ["history", "site", "seeds=", "--block"]


def test_messages_propose_commands_of_the_program_that_runs(run: Run) -> None:
    assert commanded("see scrapy frontier") == "see scrapy frontier"
    run("version")
    assert (
        commanded("see scrapy frontier; Scrapy, scrapy.cfg") == "see archivebot frontier; Scrapy, scrapy.cfg"
    )


def test_the_packages_of_another_project_are_refused(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spiders").mkdir()
    (tmp_path / "spiders/__init__.py").write_text("")
    monkeypatch.delitem(sys.modules, "spiders", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    code, _, err = run("help")
    assert code == 2
    assert f"not that of archivebot ({tmp_path}/spiders/__init__.py)" in err


def test_a_signal_before_a_command_has_begun_is_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "execute", lambda words: signal.raise_signal(signal.SIGINT))
    assert run("history", "http://a.example/") == (130, "", "archivebot: interrupted\n")


def test_pip_installs_the_program() -> None:
    (found,) = (each for each in entry_points(group="console_scripts") if each.name == "archivebot")
    assert found.load() is program.main


def test_a_command_runs_in_any_folder(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "SCRAPY_SETTINGS_MODULE"}
    done = subprocess.run(
        [sys.executable, "-m", "archivebot.program", "history", "http://a.example/"],
        cwd=tmp_path,
        env=environment | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith("archivebot history: there is no archive at sqlite:///archive.db yet")
