"""scrapy topic as a user types it: make, show, evaluate, score."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from tests.conftest import ROOT
from tests.factories import URL, html, make_page
from tests.test_topic_training import DIVING, SHOPS

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run a command in a folder with a page of the topic, another page, and labelled examples."""
    records = []
    for number, page in enumerate(DIVING + SHOPS):
        name = f"{'diving' if page.relevant else 'shop'}{number}.html"
        (tmp_path / name).write_text(f"<title>{page.title}</title><p>{page.text}")
        records.append({"url": page.source, "file": name, "relevant": page.relevant})
    (tmp_path / "examples.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))

    def run(*args: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"PYTHONPATH": str(ROOT), "SCRAPY_SETTINGS_MODULE": "archivebot.settings"}
        environment["ARCHIVE_URI"] = f"sqlite:///{tmp_path}/a.db"
        command = [sys.executable, "-m", "scrapy", "topic", *args]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8", check=False
        )

    return run


def document(result: subprocess.CompletedProcess[str]) -> Any:
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_words_make_a_topic_without_any_archive(run: Run, tmp_path: Path) -> None:
    profile = document(run("diving", "--words", "coral reef, dive:2, -casino", "--json"))
    assert profile["terms"] == {"dive": 2.0, "coral": 1.0, "reef": 1.0}
    assert profile["negative"] == {"casino": 1.0}
    assert json.loads((tmp_path / "topics" / "diving.json").read_text("utf-8")) == profile
    assert not (tmp_path / "a.db").exists()


def test_scores_are_those_of_the_contract(run: Run) -> None:
    run("diving", "--from", "diving0.html,diving1.html", "diving2.html")
    found = document(run("diving", "--score", "diving3.html", "shop8.html", "--json"))
    assert [record["source"] for record in found] == ["diving3.html", "shop8.html"]
    assert [record["relevant"] for record in found] == [True, False]
    assert all(set(record) == {"source", "relevance", "relevant", "terms"} for record in found)
    assert found[0]["relevance"] > 0.5 > found[1]["relevance"]
    assert all(isinstance(term, str) and isinstance(weight, float) for term, weight in found[0]["terms"])
    assert "diving3.html" in run("diving", "--score", "diving3.html").stdout


def test_labelled_examples_train_a_model_and_are_cross_validated(run: Run) -> None:
    made = run("diving", "--examples", "examples.jsonl")
    assert "8 pages of the topic, 8 others" in made.stdout
    assert document(run("diving", "--show", "--json"))["page_model"]["classes"].keys() == {
        "relevant",
        "other",
    }
    found = document(run("diving", "--evaluate", "examples.jsonl", "--json"))
    assert found["auc"] == 1.0
    assert {"precision", "recall", "f1", "auc"} <= set(found)
    assert "precision" in run("diving", "--evaluate", "examples.jsonl").stdout


def test_a_topic_is_shown_as_a_table(run: Run) -> None:
    run("diving", "--words", "reef, -casino")
    shown = run("diving").stdout
    assert "reef" in shown
    assert "casino" in shown
    assert shown == run("diving", "--show").stdout


def test_pages_of_the_archive_are_read_and_others_asked_to_be_crawled(run: Run, tmp_path: Path) -> None:
    archive = Archive.open(ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db"))
    archive.add(archive.segment(make_page(html("Dive the coral reef."))))
    archive.close()
    assert run("diving", "--from", URL).returncode == 0
    assert document(run("all", "--archive", "--json"))["examples"] == {"relevant": 1, "other": 0}
    assert document(run("diving", "--score", URL, "--json"))[0]["relevant"]
    missing = run("diving", "--score", "http://example.net/")
    assert missing.returncode == 1
    assert "never captured" in missing.stderr


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("divin",), "is it diving?"),
        (("diving", "--from", "none.html"), "cannot be read"),
        (("diving", "--negative", "shop8.html"), "give --from"),
        (("diving", "--words", "reef:much"), "no number"),
        (("diving", "--evaluat"), ""),
        ((), "write: scrapy topic"),
        (("a/b", "--words", "reef"), "cannot name a topic"),
    ],
)
def test_wrong_use_exits_with_2_and_advice(run: Run, args: tuple[str, ...], message: str) -> None:
    run("diving", "--words", "reef")
    result = run(*args)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
