"""scrapy forms --classify: the forms of files, judged and never submitted."""

from __future__ import annotations

import argparse
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from archivebot.commands.forms import Command
from archivebot.forms.classifier import FormClassifier
from tests.commands import run_scrapy
from tests.test_forms_classifier import CONTACT, JUMP_MENU, LOGIN, SEARCH_BOX
from tests.test_forms_labels import BOOKS

PAGE = f"<title>Books</title>{SEARCH_BOX}{LOGIN}{JUMP_MENU}<h1>Find a book</h1>{BOOKS}{CONTACT}"

Printed = pytest.CaptureFixture[str]


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "books.html"
    path.write_text(PAGE)
    return path


def forms(*args: object) -> int:
    """Run the command in this process and give its exit code."""
    command, parser = Command(), argparse.ArgumentParser()
    command.settings = Settings()
    parser.add_argument("files", nargs="*")
    parser.add_argument("--json", action="store_true")
    command.add_arguments(parser)
    opts = parser.parse_args(list(map(str, args)))
    command.run(opts.files, opts)
    assert command.exitcode is not None
    return command.exitcode


@pytest.fixture
def told(capsys: Printed) -> Any:
    """Return what the command says of files in JSON."""

    def tell(*args: object) -> Any:
        assert forms("--classify", "--json", *args) == 0
        return json.loads(capsys.readouterr().out)

    return tell


def test_every_form_of_every_file_is_told_in_order(page: Path, tmp_path: Path, told: Any) -> None:
    (tmp_path / "none.html").write_text("<p>no form")
    found = told(page, tmp_path / "none.html", page)
    assert [(form["source"], form["index"]) for form in found] == [(str(page), n) for n in range(5)] * 2
    assert [form["search"] for form in found[:5]] == [True, False, False, True, False]
    assert [form["multi_field"] for form in found[:5]] == [False, False, False, True, False]
    assert [form["domain"] for form in found[:5]] == [None, None, None, "books", None]
    assert all(0 <= form["score"] <= 1 and form["reason"] for form in found)
    assert found[3]["fields"][0] == {"label": "Author", "controls": ["text author", *["radio how"] * 3]}


def test_a_file_without_forms_is_an_empty_list(tmp_path: Path, told: Any) -> None:
    (tmp_path / "none.html").write_bytes(b"")
    assert told(tmp_path / "none.html") == []


def test_a_table_tells_queries_searches_and_others(page: Path, capsys: Printed) -> None:
    assert forms("--classify", page) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[2] for line in lines] == ["form", "search", "other", "other", "query", "other"]
    assert "rule 2" in lines[2]


def test_fields_asked_for_and_weights_can_be_others(page: Path, tmp_path: Path, told: Any) -> None:
    assert told(page, "--fields", 1)[0]["multi_field"]
    assert not told(page, "--fields", 7)[3]["multi_field"]
    FormClassifier(5.0, {}).save(tmp_path / "model.json")
    found = told(page, "--model", tmp_path / "model.json")
    assert [form["search"] for form in found] == [True, False, True, True, True]


@pytest.fixture
def site() -> Iterator[socket.socket]:
    """A port that somebody could connect to."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.2)
        yield listener


def test_no_form_is_ever_submitted(page: Path, site: socket.socket) -> None:
    address = f"http://127.0.0.1:{site.getsockname()[1]}/"
    page.write_text(f"<base href={address}>" + PAGE.replace("action=/", f"action={address}"))
    result = run_scrapy(("forms", "--classify", "--json", str(page)))
    assert json.loads(result.stdout)[3]["multi_field"]
    with pytest.raises(TimeoutError):
        site.accept()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--classify", "nowhere.html"), "nowhere.html is no file"),
        (("README.md",), "scrapy forms --classify FILE"),
        (("--classify",), "name the files"),
        (("--classify", "README.md", "--fields", "0"), "--fields is 0"),
        (("--classify", "README.md", "--model", "README.md"), "is no model of forms"),
        (("--classify", "README.md", "--export", "x.jsonl"), "--export is for forms that the archive keeps"),
        (("--classify", "README.md", "--scan"), "--scan is for forms that the archive keeps"),
        (("--fields", "0"), "--fields is for forms of files: give --classify"),
        (("--model", "model.json"), "--model is for forms of files: give --classify"),
    ],
)
def test_wrong_use_exits_with_2_and_advice(args: tuple[str, ...], message: str, capsys: Printed) -> None:
    assert forms(*args) == 2
    assert message in capsys.readouterr().err


RECIPES = (
    "<form action=/find>Ingredient <input name=ingredient> Cuisine <input name=cuisine>"
    "<input type=submit value=Search></form>"
)


def test_domains_are_learnt_from_labelled_pages(tmp_path: Path, told: Any) -> None:
    for name in ("one.html", "two.html", "new.html"):
        (tmp_path / name).write_text(f"<title>{name}</title>{RECIPES}")
    lines = [json.dumps({"file": name, "domain": "recipes"}) for name in ("one.html", "two.html")]
    examples = tmp_path / "domains.jsonl"
    examples.write_text("\n".join(lines))
    assert [form["domain"] for form in told(tmp_path / "new.html")] == [None]
    assert [form["domain"] for form in told(tmp_path / "new.html", "--domains", examples)] == ["recipes"]


def test_labelled_pages_that_cannot_be_read_are_named(tmp_path: Path, page: Path, capsys: Printed) -> None:
    examples = tmp_path / "domains.jsonl"
    examples.write_text('{"file": "books.html"}')
    assert forms("--classify", page, "--domains", examples) == 2
    assert 'write {"file": ..., "domain": ...} in each line' in capsys.readouterr().err
    assert forms("--domains", examples) == 2
    assert "give --classify as well" in capsys.readouterr().err
