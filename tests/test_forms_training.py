"""Training: what is read as an example, what is learnt from it, and the script that does both."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from archivebot.exceptions import UsageError
from archivebot.forms.classifier import FormClassifier
from archivebot.forms.reader import read_forms
from archivebot.forms.training import LEAST_SITES, Example, examples, learnt

FIND = "<form action=/find><input name=word><button>Find</button></form>"
SEND = "<form method=post action=/send><input name=mail><button>Send</button></form>"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Pages of as many sites as an event needs, each with a form of both kinds and two that say nothing."""
    labels: dict[str, Any] = {}
    for number in range(LEAST_SITES):
        (tmp_path / f"{number}.html").write_text(FIND + SEND + FIND + SEND)
        kinds = ["search", "contact/comment", "NOT ANNOTATED", "SKIP THIS FORM"]
        labels[f"{number}.html"] = {"url": f"http://www.{number}.example/a", "forms": kinds}
    (tmp_path / "labels.json").write_text(json.dumps(labels))
    return tmp_path


def test_labels_that_say_nothing_are_left_out(folder: Path) -> None:
    found = list(examples(folder))
    assert [(example.kind, example.searches) for example in found[:2]] == [
        ("search", True),
        ("contact/comment", False),
    ]
    assert len(found) == 2 * LEAST_SITES
    assert found[1].place == ("0.html", 1)
    assert found[0].site == "0.example"


def test_what_is_learnt_judges_its_examples(folder: Path) -> None:
    known = list(examples(folder)) * 20
    model = learnt(known)
    assert [model.decide(example.form).search for example in known] == [example.searches for example in known]
    assert model.weights['button has "find"'] > 0 > model.weights['button has "send"']


def test_what_one_site_alone_says_is_not_learnt(folder: Path) -> None:
    (odd,) = read_forms(FIND.replace("word", "zyzzyva").encode(), "utf-8")
    model = learnt([*examples(folder), Example(odd, "search", "odd.example")])
    assert not any("zyzzyva" in event for event in model.weights)


def test_a_form_of_several_fields_counts_more_than_one_of_one(folder: Path) -> None:
    several = FIND.replace("<button>", "<input name=place><button>")
    (form,) = read_forms(several.encode(), "utf-8")
    known = [*examples(folder), *(Example(form, "search", f"{n}.example") for n in range(LEAST_SITES))]
    weights = learnt(known).weights
    assert weights["2 fields"] > -weights.get("1 fields", 0.0) / 2 > 0


def test_one_kind_alone_teaches_nothing(folder: Path) -> None:
    with pytest.raises(ValueError, match="needed"):
        learnt([example for example in examples(folder) if example.searches])


def test_a_folder_without_labels_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="labels"):
        list(examples(tmp_path))


@pytest.mark.long
def test_the_script_writes_a_model(folder: Path) -> None:
    module = "archivebot.forms.training"
    command = [sys.executable, "-m", module, str(folder), "-o", str(folder / "model.json")]
    subprocess.run(command, check=True)
    assert FormClassifier.load(folder / "model.json") == learnt(list(examples(folder)))
