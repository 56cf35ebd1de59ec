"""Spider arguments: what is read, and how wrong ones are refused."""

from pathlib import Path

import pytest

from archivebot.crawl.arguments import Arguments, read_seeds
from archivebot.exceptions import UsageError


def test_all_arguments_are_read() -> None:
    given = {
        "seeds": "a.example,http://b.example/x",
        "scope": "domain",
        "depth": "0",
        "pages": "7",
        "level": "2",
    }
    arguments = Arguments.parse(given)
    assert arguments == Arguments(("http://a.example/", "http://b.example/x"), "domain", 0, 7, 2)


def test_scrapyd_may_pass_its_own_arguments() -> None:
    assert Arguments.parse({"seeds": "a.example", "_job": "26"}).seeds == ("http://a.example/",)


def test_a_seeds_file_has_one_seed_per_line_and_comments(tmp_path: Path) -> None:
    file = tmp_path / "seeds.txt"
    file.write_bytes(
        b"\xef\xbb\xbf# ours\nhttp://a.example/\r\n\n  http://a.example/x,y \nhttp://a.example/\n"
    )
    assert read_seeds(f"@{file}") == ("http://a.example/", "http://a.example/x,y")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "no seeds"),
        ({"seeds": " , "}, "no seeds"),
        ({"seeds": "@/no/such/file"}, "cannot be read"),
        ({"sseds": "a.example"}, "did you mean seeds"),
        ({"seeds": "a.example", "xyzzy": "1"}, "the arguments are"),
        ({"seeds": "a.example", "scope": "planet"}, "host, domain, prefix, page"),
        ({"seeds": "a.example", "depth": "-1"}, "from 0 on"),
        ({"seeds": "a.example", "pages": "0"}, "from 1 on"),
        ({"seeds": "a.example", "pages": "many"}, "whole number"),
        ({"seeds": "a.example", "level": "10"}, "from 1 to 9"),
    ],
)
def test_wrong_arguments_say_what_to_give(given: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Arguments.parse(given)
