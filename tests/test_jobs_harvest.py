"""The curve of a crawl: its counts, its rows, its plot."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.exceptions import UsageError
from archivebot.jobs.harvest import Point, curve, plot, sampled, write_csv

PAGES = st.lists(st.tuples(st.sampled_from(["a.example", "b.example", "c.example:81"]), st.booleans()))


@given(PAGES, st.integers(1, 5))
def test_a_point_counts_what_was_fetched_up_to_it(pages: list[tuple[str, bool]], recent: int) -> None:
    for count, point in enumerate(curve(pages, recent), 1):
        so_far = pages[:count]
        last = so_far[-recent:]
        found = [host for host, relevant in so_far if relevant]
        assert point == Point(
            pages=count,
            relevant=len(found),
            harvest=len(found) / count,
            recent=sum(relevant for _, relevant in last) / len(last),
            hosts=len(set(found)),
        )


def test_a_host_counts_only_once_it_has_a_page_on_topic() -> None:
    pages = [("a", False), ("b", True), ("b", True), ("a", True)]
    assert [point.hosts for point in curve(pages)] == [0, 1, 1, 2]


def test_the_recent_rate_looks_back_a_hundred_pages() -> None:
    *_, last = curve([("a", True)] * 100 + [("a", False)] * 100)
    assert (last.harvest, last.recent) == (0.5, 0.0)


@given(st.integers(0, 30), st.integers(1, 40))
def test_sampling_keeps_multiples_of_the_step_and_the_end(count: int, step: int) -> None:
    kept = [point.pages for point in sampled(list(curve([("a", True)] * count)), step)]
    assert kept == sorted({*range(step, count + 1, step), count} - {0})


def test_csv_has_a_row_for_each_point_under_the_names_of_its_fields() -> None:
    stream = io.StringIO()
    points = list(curve([("a", True), ("b", False), ("c", True)]))
    write_csv(points, stream)
    rows = list(csv.DictReader(io.StringIO(stream.getvalue())))
    assert [row["pages"] for row in rows] == ["1", "2", "3"]
    assert rows[-1] == {"pages": "3", "relevant": "2", "harvest": "0.6667", "recent": "0.6667", "hosts": "2"}


@pytest.mark.parametrize(("name", "magic"), [("curve.png", b"\x89PNG\r\n"), ("curve.SVG", b"<?xml")])
def test_the_suffix_says_the_format_of_the_plot(tmp_path: Path, name: str, magic: bytes) -> None:
    plot(list(curve([("a", True), ("b", False)])), tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(magic)


def test_the_plot_of_a_long_crawl_stays_small(tmp_path: Path) -> None:
    plot(list(curve([("a", number % 3 == 0) for number in range(30_000)])), tmp_path / "curve.svg")
    assert (tmp_path / "curve.svg").stat().st_size < 200_000


@pytest.mark.parametrize("name", ["curve.pdf", "curve", ".svg"])
def test_another_suffix_is_refused_with_those_that_work(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"no suffix \.svg or \.png"):
        plot([], tmp_path / name)


def test_a_plot_that_cannot_be_written_names_its_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"curve\.svg cannot be written: No such file"):
        plot(list(curve([("a", True)])), tmp_path / "nowhere" / "curve.svg")


def test_without_matplotlib_a_plot_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(UsageError, match="pip install matplotlib"):
        plot([], tmp_path / "curve.svg")
