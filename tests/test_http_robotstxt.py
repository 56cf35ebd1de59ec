"""robots.txt as Google's parser reads it; each case is one of real files, cut down to what decides."""

import pytest

from archivebot.http.robotstxt import MOST_LINE, RobotsTxt

HOST = "http://a.example"


def allows(text: str | bytes, *paths: str, agent: str = "archivebot") -> list[bool]:
    robots = RobotsTxt.parse(text.encode() if isinstance(text, str) else text, agent)
    return [robots.allows(HOST + path) for path in paths]


# The text, the agent that asks, what it may not fetch, what it may; "|" ends a line. The hosts are those of
# the files where another reading of the same lines decided otherwise than Google's matcher.
CASES = {
    "www.gunbroker.com: a Crawl-delay does not end a group": (
        "User-agent: msnbot |Crawl-delay: 1||User-agent: *|Disallow: /AA/",
        ("msnbot", "/AA/", "/"),
        ("archivebot", "/AA/", "/"),
    ),
    "www.ebi.ac.uk: nor does any other record": (
        "User-agent: EBISearch|Crawl-Delay: 0||Sitemap: /s.xml||Host: a|User-agent: *|Disallow: /epo",
        ("EBISearch", "/epo-dev", "/e"),
    ),
    "www.lonelyplanet.com: an empty group takes the rules of the next": (
        "User-agent: Blekkobot|Crawl-delay: 10||User-agent: 008|Disallow: /",
        ("Blekkobot", "/", None),
    ),
    "www.nhk.or.jp: the product token is the first word": (
        "User-agent: *|Disallow: /k||User-agent: Sogou web spider|Disallow: /",
        ("Sogou", "/x", None),
        ("archivebot", "/k", "/x"),
    ),
    "www.kit.edu: it ends before a digit": (
        "User-agent: *|Disallow: /admin||User-agent: W3C-checklink|Disallow:",
        ("W", None, "/admin"),
        ("archivebot", "/admin", "/"),
    ),
    "a version, a comment or a star behind our name": (
        "User-agent: archivebot/0.1|User-agent: x|Disallow: /a||User-agent: ArchiveBot crawler|Disallow: /b||"
        "User-agent: archivebot*|Disallow: /c",
        *(("archivebot", path, "/d") for path in ("/a", "/b", "/c")),
        ("other", None, "/a"),
    ),
    "a name that is longer or shorter is another": (
        "User-agent: archivebot-x|Disallow: /||User-agent: archive|Disallow: /",
        ("archivebot", None, "/x"),
    ),
    "a star with a blank behind it is everybody": (
        "User-agent: * # all|Disallow: /a||User-agent: * bots|Disallow: /b||User-agent: *bot|Disallow: /c",
        ("archivebot", "/a", "/c"),
        ("archivebot", "/b", "/c"),
    ),
    "stockcharts.com: blanks in place of a colon": (
        "User-agent *|Disallow /j-|Disallow\t /k|Disallow /a /b|Disallow",
        ("archivebot", "/j-x", "/a"),
        ("archivebot", "/k", "/a"),
    ),
    "misspellings that Google accepts, and one that it does not": (
        "Useragent: *|Dissallow: /a|Disalow: /b|Diasllow: /c|Disallaw: /d|Disallowed: /e|Disslow: /f",
        *(("archivebot", path, "/f") for path in ("/a", "/b", "/c", "/d", "/e")),
    ),
    "www.inquirer.net: an address is no path": (
        "User-agent: *|Disallow: http://bandera.inquirer.net/feed|Disallow: x|Disallow: /4711/ ",
        ("archivebot", "/4711/", "/http://bandera.inquirer.net/feed"),
        ("archivebot", "/4711/", "/x"),
    ),
    "en.wikipedia.org: the index of a folder is the folder": (
        "User-agent: *|Disallow: /|Allow: /wiki/index.html",
        ("archivebot", "/wiki/a", "/wiki/"),
        ("archivebot", "/wiki/index.htm", "/wiki/index.html?a"),
    ),
    "www.khaleejtimes.com: a star anywhere": (
        "User-agent: *|Disallow: /*updfcache=1|Disallow: /*/k/*.pdf$|Disallow: /q**$",
        ("archivebot", "/abcupdfcache=1&x", "/updfcache=2"),
        ("archivebot", "/a/b/k/c.pdf", "/a/b/k/c.pdf?x"),
        ("archivebot", "/qx", "/p"),
    ),
    "a dollar sign is the end at the end alone": (
        "User-agent: *|Disallow: /a$b|Disallow: /c$|Disallow: /d.d$",
        ("archivebot", "/a$b/", "/a"),
        ("archivebot", "/c", "/cc"),
        ("archivebot", "/d.d", "/d.dd.d"),
    ),
    "the longest pattern decides, and an Allow before a Disallow": (
        "User-agent: *|Disallow: /a|Allow: /a/b|Disallow: /a/b/c|Allow: /t|Disallow: /t",
        ("archivebot", "/a", "/a/b"),
        ("archivebot", "/a/b/c", "/t"),
    ),
    "patterns are escaped, escapes are in capitals": (
        "User-agent: *|Disallow: /ü|Disallow: /%c3%a9",
        ("archivebot", "/%C3%BC", "/u"),
        ("archivebot", "/%C3%A9", "/%c3%a9"),
    ),
    "a Disallow also names the canonical URL": (
        "User-agent: *|Disallow: /%7Ejoe|Disallow: /a b|Disallow: /w%3Ax|Disallow: /c%2Fd|Disallow: /e%24",
        ("archivebot", "/~joe/", "/joe"),
        ("archivebot", "/a%20b", "/ab"),
        ("archivebot", "/w:x", "/w"),
        ("archivebot", "/w%3Ax", "/c/d"),
        ("archivebot", "/e%24", "/e"),
    ),
    "rules before any group hold for nobody": (
        "Disallow: /|User-agent: x|Disallow: /",
        ("archivebot", None, "/"),
    ),
}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("case", CASES)
def test_lines_mean_what_they_mean_to_google(case: str, end: str) -> None:
    text, *asked = CASES[case]
    for agent, denied, allowed in asked:
        body = text.replace("|", end)
        assert denied is None or allows(body, denied, agent=agent) == [False], (agent, denied)
        assert allowed is None or allows(body, allowed, agent=agent) == [True], (agent, allowed)


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b"\xef\xbb", b"\xef"])
def test_a_byte_order_mark_or_what_is_left_of_it_is_skipped(mark: bytes) -> None:
    assert allows(mark + b"User-agent: *\nDisallow: /", "/x") == [False]


def test_a_line_is_cut_where_google_cuts_it_and_at_a_nul() -> None:
    longest = b"Disallow: /" + b"a" * (MOST_LINE - 11)
    assert allows(b"User-agent: *\n" + longest + b"bc", "/" + "a" * MOST_LINE) == [False]
    assert allows(b"User-agent: *\nDisallow: /a\0b", "/ac") == [False]


@pytest.mark.parametrize(
    ("text", "delay"),
    [
        ("User-agent: *\nCrawl-delay: 2.5\nDisallow: /", 2.5),
        ("User-agent: *\nCrawl-delay: 10 seconds", 10),
        ("User-agent: *\nCrawl-delay: 10\n\nUser-agent: msnbot\nCrawl-delay: 500", 10),
        ("User-agent: *\nCrawl-delay: 10\n\nUser-agent: ArchiveBot\nCrawl-delay: 1\nDisallow: /", 1),
        ("User-agent: *\nCrawl-delay: 10\n\nUser-agent: archivebot\nDisallow: /", 0),
        ("User-agent: x\nCrawl-delay: 10\n\nUser-agent: *\nDisallow: /", 0),
        ("User-agent: *\nCrawl-delay: soon\nCrawl-delay: -1", 0),
        ("User-agent: *\nCrawl-delay: " + "9" * 400, float("inf")),
        ("Crawl-delay: 7", 0),
    ],
)
def test_the_crawl_delay_is_that_of_the_group(text: str, delay: float) -> None:
    assert RobotsTxt.parse(text.encode(), "archivebot").crawl_delay == delay
