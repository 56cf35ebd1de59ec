"""Spider arguments: what is read, and how wrong ones are refused."""

from pathlib import Path

import pytest

from archivebot.crawl.arguments import Arguments, TopicArguments, read_seeds
from archivebot.exceptions import UsageError
from archivebot.units import LARGEST, read_seconds


def test_all_arguments_are_read() -> None:
    given = {
        "seeds": "a.example,http://b.example/x",
        "scope": "domain",
        "depth": "0",
        "pages": "7",
        "bytes": "5MB",
        "time": "2h",
        "level": "2",
    }
    arguments = Arguments.parse(given)
    assert arguments == Arguments(
        ("http://a.example/", "http://b.example/x"), "domain", 0, 7, 5_000_000, 7200, 2
    )


def test_scrapyd_may_pass_its_own_arguments() -> None:
    assert Arguments.parse({"seeds": "a.example", "_job": "26"}).seeds == ("http://a.example/",)


def test_a_seeds_file_without_its_at_sign_is_no_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert read_seeds("seeds.txt") == ("http://seeds.txt/",)
    (tmp_path / "seeds.txt").write_text("http://a.example/\n")
    with pytest.raises(UsageError, match=r"write seeds=@seeds\.txt"):
        read_seeds("seeds.txt")
    assert len(read_seeds(",".join(f"http://a.example/{number}.txt" for number in range(300)))) == 300


def test_a_seeds_file_has_one_seed_per_line_and_comments(tmp_path: Path) -> None:
    file = tmp_path / "seeds.txt"
    file.write_bytes(
        b"\xef\xbb\xbf# ours\nhttp://a.example/\r\n\n  http://a.example/x,y \nhttp://a.example/\n"
    )
    assert read_seeds(f"@{file}") == ("http://a.example/", "http://a.example/x,y")


def test_a_comment_behind_a_seed_is_no_part_of_it(tmp_path: Path) -> None:
    file = tmp_path / "seeds.txt"
    file.write_text("http://a.example/x # ours\na.example/#top\n \t# none\nhttp://a.example/y\t#z\n")
    assert read_seeds(f"@{file}") == ("http://a.example/x", "http://a.example/", "http://a.example/y")


def test_a_file_may_be_named_from_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "seeds.txt").write_text("https://a.example/\n")
    assert read_seeds("@~/seeds.txt") == ("https://a.example/",)
    with pytest.raises(UsageError, match="'~nobody-of-that-name/x' cannot be read: No such file"):
        read_seeds("@~nobody-of-that-name/x")


def test_a_seeds_file_without_a_seed_is_named(tmp_path: Path) -> None:
    (tmp_path / "seeds.txt").write_text("# none yet\n")
    with pytest.raises(UsageError, match=r"no seeds in '.*seeds\.txt': write a URL on each line"):
        read_seeds(f"@{tmp_path / 'seeds.txt'}")


def test_a_seeds_file_in_utf_16_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "seeds.txt").write_text("http://a.example/", "utf-16")
    with pytest.raises(UsageError, match="cannot be read: it is no text in UTF-8"):
        read_seeds(f"@{tmp_path / 'seeds.txt'}")


def test_the_longest_time_is_a_century() -> None:
    assert read_seconds("time", "36500d") == read_seconds("time", "9" * 400) == 36_500 * 86_400
    assert read_seconds("time", "36499d") == 36_499 * 86_400


def test_a_number_of_thousands_of_digits_is_the_largest() -> None:
    found = Arguments.parse({"seeds": "a.example", "pages": "9" * 5000, "time": "9" * 5000})
    assert (found.pages, found.time) == (LARGEST, 36_500 * 86_400)
    with pytest.raises(UsageError, match="give a whole number from 1 to 9"):
        Arguments.parse({"seeds": "a.example", "level": "9" * 5000})


def test_a_blank_between_two_urls_separates_them() -> None:
    assert read_seeds("http://h/a  HTTPS://g/b?c, http://f/") == ("http://h/a", "https://g/b?c", "http://f/")
    assert read_seeds("http://h/a b,http://g/") == ("http://h/a%20b", "http://g/")


@pytest.mark.parametrize(
    ("text", "seeds"),
    [
        ("http://h/a,1518,b.html", ["http://h/a,1518,b.html"]),
        ("http://h/a,1518,,00.html,", ["http://h/a,1518,,00.html"]),
        ("http://h/?1,2,http://g/b,c,", ["http://h/?1,2", "http://g/b,c"]),
        ("http://h/a,1518,example.org/b", ["http://h/a,1518", "http://example.org/b"]),
        (
            "http://h/a,localhost:8000,10.0.0.1/b",
            ["http://h/a", "http://localhost:8000/", "http://10.0.0.1/b"],
        ),
        ("http://h/a, wiki, http://g/", ["http://h/a", "http://wiki/", "http://g/"]),
        ("http://h,wiki,//g/a,HTTPS://f/", ["http://h/", "http://wiki/", "http://g/a", "https://f/"]),
        ("wiki/a,intranet/b", ["http://wiki/a", "http://intranet/b"]),
    ],
)
def test_a_comma_in_the_path_of_a_url_does_not_separate_it(text: str, seeds: list[str]) -> None:
    assert read_seeds(text) == tuple(seeds)


def test_another_scheme_in_a_list_is_refused() -> None:
    with pytest.raises(UsageError, match="ftp://b/"):
        read_seeds("http://h/a,ftp://b/")


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
        ({"seeds": "a.example", "bytes": "0"}, "for example 500MB"),
        ({"seeds": "a.example", "time": "soon"}, "30m or 2h"),
    ],
)
def test_wrong_arguments_say_what_to_give(given: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Arguments.parse(given)


def test_a_topic_takes_what_a_site_takes_and_its_own() -> None:
    given = {"seeds": "a.example", "topic": " tides ", "focus": "hard", "tunnel": "2", "order": "bfs"}
    arguments = TopicArguments.parse(given)
    assert (arguments.topic, arguments.focus, arguments.tunnel, arguments.order) == (
        "tides",
        "hard",
        2,
        "bfs",
    )
    assert arguments.scope == "web"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "no topic"),
        ({"topic": " "}, "the topic is empty"),
        ({"topic": "tides", "focus": "sharp"}, "soft, hard"),
        ({"topic": "tides", "order": "random"}, "best, linear, bfs, pagerank, ipagerank"),
        ({"topic": "tides", "rings": "tide"}, "needs words that mean the same"),
        ({"topic": "tides", "tunel": "1"}, "did you mean tunnel"),
    ],
)
def test_wrong_topic_arguments_say_what_to_give(given: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        TopicArguments.parse({"seeds": "a.example", **given})


def test_the_limits_of_a_run_do_not_make_another_crawl_of_it() -> None:
    given = {"seeds": "a.example"}
    limited = Arguments.parse({**given, "pages": "7", "time": "60", "bytes": "1k"})
    assert limited.identity == Arguments.parse(given).identity
    assert limited.identity != Arguments.parse({**given, "depth": "1"}).identity


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"threshold": "0.5"}, "threshold drops links in hard focus: give -a focus=hard as well"),
        ({"threshold": "0.5", "focus": "hard", "order": "bfs"}, "order=best or order=ipagerank"),
        ({"near": "0.8"}, "near belongs to order=ipagerank"),
    ],
)
def test_what_has_no_effect_in_a_crawl_is_refused(given: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        TopicArguments.parse({"seeds": "a.example", "topic": "tides", **given})
    hard = {"topic": "tides", "focus": "hard", "threshold": "0.5", "order": "ipagerank", "near": "0.8"}
    assert TopicArguments.parse({"seeds": "a.example", **hard}).near == 0.8
