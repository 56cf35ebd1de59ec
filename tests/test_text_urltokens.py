"""The words of a URL."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.text.urltokens import url_tokens


@pytest.mark.parametrize(
    ("url", "tokens"),
    [
        ("http://bj.58.com/job.shtml", ["bj", "58", "job"]),
        (
            "http://www.cs.utexas.edu/users/novak/cs375.html",
            ["cs", "utexa", "edu", "user", "novak", "cs", "375"],
        ),
        ("http://x.example/HomePage/CSDept/iOS", ["x", "exampl", "home", "page", "cs", "dept", "os"]),
        ("http://x.example/2019fall/", ["x", "exampl", "2019", "fall"]),
        (
            "http://x.example/research_groups/the-history-of-art",
            "x exampl research group histori art".split(),
        ),
        ("http://x.example/?q=distance%20learning&lang=en", "x exampl q distanc learn lang en".split()),
        ("http://x.example/%E8%AF%BE%E7%A8%8B", ["x", "exampl", "课程"]),
        ("http://x.example/%FF%FE", ["x", "exampl"]),
        ("https://www.example.com/index.php", ["exampl"]),
    ],
)
def test_a_url_gives_stems_of_the_words_that_say_something(url: str, tokens: list[str]) -> None:
    assert url_tokens(url) == tokens


@given(st.text(max_size=100))
def test_any_text_gives_words_without_punctuation(url: str) -> None:
    assert all(token and not {"/", ".", ":", "%", "-", "_"} & set(token) for token in url_tokens(url))
