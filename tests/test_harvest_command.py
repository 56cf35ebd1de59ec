"""``scrapy harvest`` as a user types it, on the frontier of a crawl that was half done."""

from __future__ import annotations

import csv
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from archivebot.frontier import Entry, Frontier, State, frontier_uri, open_frontier
from tests.commands import run_scrapy

Run = Callable[..., subprocess.CompletedProcess[str]]

# Every second page is on topic; of ten hosts those with an even number.
PAGES = [(f"http://host{number % 10}.example/{number}", number % 2 == 0) for number in range(25)]


@pytest.fixture(scope="module")
def archive_uri(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Where no archive is, but beside it a frontier of two crawls; the latter fetched redirects, too."""
    uri = f"sqlite:///{tmp_path_factory.mktemp('harvest')}/archive.db"
    for crawl, pages in (("ferries", PAGES[:2]), ("tides", PAGES)):
        frontier = open_frontier(frontier_uri(uri), crawl)
        frontier.begin("{}", None)
        waiting = [Entry("http://later.example/", "later.example", score=-1.0)]
        found = [Entry(url, url.split("/")[2]) for url, _ in pages]
        redirects = [Entry(f"http://moved{number}.example/", f"moved{number}.example") for number in range(5)]
        frontier.add([*found, *redirects, *waiting])
        for url, relevant in pages:
            _settle(frontier, url, relevant)
        for entry in redirects:
            _settle(frontier, entry.url, None)
        frontier.close()
    return uri


def _settle(frontier: Frontier, url: str, relevant: bool | None) -> None:
    lease = frontier.lease()
    assert lease is not None
    assert lease.entry.url == url
    relevance = None if relevant is None else 0.9 * relevant
    frontier.settle(url, State.DONE, answered=True, relevance=relevance, relevant=relevant)


@pytest.fixture(scope="module")
def run(archive_uri: str) -> Run:
    def run(*args: str, **environment: str) -> subprocess.CompletedProcess[str]:
        given = {"ARCHIVE_URI": archive_uri, **environment}
        return run_scrapy(("harvest", *args), environment=os.environ | given)

    return run


def test_a_row_stands_for_every_step_and_one_for_the_end(run: Run) -> None:
    result = run("--step", "10")
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == [
        "pages  on topic  harvest  last 100  topical hosts",
        "   10         5    0.500     0.500              5",
        "   20        10    0.500     0.500              5",
        "   25        13    0.520     0.520              5",
    ]


def test_json_names_the_crawl_and_its_points(run: Run) -> None:
    document = json.loads(run("--json").stdout)
    last = {"pages": 25, "relevant": 13, "harvest": 0.52, "recent": 0.52, "hosts": 5}
    assert document == {"crawl": "tides", "points": [last]}


def test_the_crawl_begun_last_is_shown_unless_another_is_named(run: Run) -> None:
    document = json.loads(run("--crawl", "ferries", "--json").stdout)
    assert (document["crawl"], document["points"][-1]["pages"]) == ("ferries", 2)


def test_csv_has_a_row_for_every_page(run: Run, tmp_path: Path) -> None:
    result = run("--csv", str(tmp_path / "out.csv"))
    assert result.returncode == 0, result.stderr
    text = (tmp_path / "out.csv").read_text("utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    assert [int(row["pages"]) for row in rows] == list(range(1, 26))
    assert rows[-1]["relevant"] == "13"
    assert run("--csv", "-").stdout == text


def test_labels_show_by_how_much_the_judgement_is_wrong(run: Run, tmp_path: Path) -> None:
    # Of four labelled pages two are judged with 0.9 and two with 0: errors 0.01, 0, 0.81 and 0.
    labels = {PAGES[0][0]: True, PAGES[1][0]: False, PAGES[2][0]: False, PAGES[3][0]: False}
    lines = [json.dumps({"url": url, "relevant": relevant}) for url, relevant in labels.items()]
    file = tmp_path / "labels.jsonl"
    file.write_text("\n".join([*lines, '{"url": "http://elsewhere.example/", "relevant": true}']), "utf-8")
    check = json.loads(run("--json", "--labels", str(file)).stdout)["check"]
    assert check == {"pages": 4, "harvest": 0.5, "labelled": 0.25, "brier": pytest.approx(0.205)}
    assert run("--labels", str(file)).stdout.splitlines()[-2:] == [
        "labelled pages  harvest  by labels  Brier score",
        "             4    0.500      0.250        0.205",
    ]


def test_labels_that_cannot_be_used_end_with_2_and_advice(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "labels.jsonl"
    file.write_text('{"url": "http://elsewhere.example/", "relevant": true}\n{"url": "http://a.example/"}')
    wrong = run("--labels", str(file))
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert f'{file}, line 2: write {{"url"' in wrong.stderr
    file.write_text('{"url": "http://elsewhere.example/", "relevant": true}')
    foreign = run("--labels", str(file))
    assert (foreign.returncode, foreign.stdout) == (2, "")
    assert "no label of a judged page of crawl tides" in foreign.stderr


@pytest.mark.long
def test_the_plot_is_written_beside_the_table(run: Run, tmp_path: Path) -> None:
    result = run("--plot", str(tmp_path / "out.svg"))
    assert result.returncode == 0, result.stderr
    assert "topical hosts" in result.stdout
    assert (tmp_path / "out.svg").read_text("utf-8").rstrip().endswith("</svg>")


@pytest.mark.parametrize(
    ("args", "advice"),
    [
        (("--step", "0"), "--step is '0': give a whole number from 1 on"),
        (("--step", "many"), "--step is 'many'"),
        (("--plot", "out.gif"), "give one, for example harvest.svg"),
        (("--csv", "/nowhere/out.csv"), "/nowhere/out.csv cannot be written"),
        (("--csv", "-", "--json"), "give --csv a file"),
        (("extra",), "write: scrapy harvest [options]"),
    ],
)
def test_wrong_use_ends_with_2_and_advice(run: Run, args: tuple[str, ...], advice: str) -> None:
    result = run(*args)
    assert (result.returncode, result.stdout) == (2, "")
    assert advice in result.stderr


def test_without_a_crawl_the_exit_code_is_1_and_nothing_is_made(run: Run, tmp_path: Path) -> None:
    result = run(ARCHIVE_URI=f"sqlite:///{tmp_path}/archive.db")
    assert result.returncode == 1
    assert "scrapy crawl" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_crawl_ends_with_1(run: Run) -> None:
    result = run("--crawl", "trains")
    assert result.returncode == 1
    assert "trains" in result.stderr


def test_a_crawl_that_judged_no_page_has_no_harvest(run: Run, tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path}/f.db"
    frontier = open_frontier(uri, "site")
    frontier.begin("{}", None)
    frontier.add([Entry("http://a.example/", "a.example")])
    _settle(frontier, "http://a.example/", None)
    frontier.close()
    result = run("-s", f"ARCHIVE_FRONTIER={uri}")
    assert result.returncode == 1
    assert "no page of crawl site was judged" in result.stderr
