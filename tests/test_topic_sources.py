"""Sources of examples: HTML, plain text, saved answers, folders, and lists of labelled pages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from archivebot.exceptions import UsageError
from archivebot.topic.sources import example, read_examples, read_file, read_folder, read_labels


def test_html_gives_title_text_and_links() -> None:
    page = example(b"<title>Reefs</title><p>Dive <a href='b'>here</a>", "", "http://a.example/")
    assert (page.title, page.text) == ("Reefs", "Dive here")
    assert [link.url for link in page.links] == ["http://a.example/b"]


def test_text_in_the_charset_of_the_page_is_read() -> None:
    body = '<meta charset="gb2312"><title>潜水</title>'.encode("gb18030")
    assert example(body, "text/html", "").title == "潜水"
    assert example("潜水".encode(), "", "").text == "潜水"


def test_the_header_of_a_saved_answer_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(
        b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<title>Reefs</title><p>Dive"
    )
    (tmp_path / "b").write_bytes(b"Server: NCSA\nContent-type: text/html\n\n<title>Reefs</title><p>Dive")
    (tmp_path / "c").write_bytes(b"Note: a text\n\nDive")
    assert [read_file(tmp_path / name).text for name in "abc"] == ["Dive", "Dive", "Note: a text\n\nDive"]


def test_a_folder_gives_all_files_but_hidden_ones_in_order(tmp_path: Path) -> None:
    for name in ("b/z.txt", "a.txt", ".hidden"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    assert [page.text for page in read_folder(tmp_path)] == ["a.txt", "b/z.txt"]


def test_labelled_pages_are_looked_for_beside_their_list(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<title>Reefs</title><a href='/b'>b</a>")
    record = {"url": "http://a.example/", "file": "page.html", "relevant": False}
    (tmp_path / "list.jsonl").write_text(f"{json.dumps(record)}\n\n")
    (page,) = read_examples(tmp_path / "list.jsonl")
    assert (page.source, page.title, page.relevant) == ("http://a.example/", "Reefs", False)
    assert page.links[0].url == "http://a.example/b"


def test_a_line_of_labels_ends_only_at_a_line_feed(tmp_path: Path) -> None:
    records = [
        {"url": "http://a.example/", "relevant": True, "title": "Reefs\u2028and\x85wrecks"},
        {"url": "http://b.example/", "relevant": False},
    ]
    text = "\r\n".join(json.dumps(record, ensure_ascii=False) for record in records)
    (tmp_path / "out.jsonl").write_text("\ufeff" + text, "utf-8")
    assert read_labels(tmp_path / "out.jsonl") == {"http://a.example/": True, "http://b.example/": False}


@pytest.mark.parametrize("line", ["{", "[]", '{"url": "u"}', '{"url": "u", "file": "f", "relevant": "yes"}'])
def test_a_line_that_cannot_be_used_is_named(line: str, tmp_path: Path) -> None:
    (tmp_path / "list.jsonl").write_text(f"\n{line}\n")
    with pytest.raises(UsageError, match="line 2"):
        read_examples(tmp_path / "list.jsonl")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none.html cannot be read"):
        read_file(tmp_path / "none.html")
    with pytest.raises(UsageError, match=r"none.jsonl cannot be read"):
        read_examples(tmp_path / "none.jsonl")
