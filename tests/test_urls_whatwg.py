"""Addresses mean what they mean to a browser: cases of the URL standard, https://url.spec.whatwg.org/ ."""

import random

import pytest
from ada_url import join_url

from archivebot.exceptions import UsageError
from archivebot.hypertext import resolve
from archivebot.urls import canonical_url, joined

BASE = "http://example.org/foo/bar"


@pytest.mark.parametrize(
    ("base", "reference", "address"),
    [
        # Empty segments of the base stay; these are real links of a magazine and of a university.
        ("https://www.sonnenenergie.de//", "index.php?id=2", "https://www.sonnenenergie.de//index.php?id=2"),
        (
            "http://dri.cornell.edu/pub/People//",
            "./davis.gif",
            "http://dri.cornell.edu/pub/People//davis.gif",
        ),
        ("http://a.example/b//c//d", "../e", "http://a.example/b//c/e"),
        ("http://a.example/b//c//d", "..//e", "http://a.example/b//c//e"),
        ("http://a.example/b//c", "?d", "http://a.example/b//c?d"),
        # Slashes too few or too many, and backslashes.
        (BASE, "http:/x", "http://example.org/x"),
        ("https://example.org/foo", "http:/x", "http://x/"),
        (BASE, "http:x", "http://example.org/foo/x"),
        (BASE, "http:///x", "http://x/"),
        (BASE, "https:////x", "https://x/"),
        (BASE, "\\index.php", "http://example.org/index.php"),
        (BASE, "\\\\x\\y", "http://x/y"),
        (BASE, "a\\b?c\\d", "http://example.org/foo/a/b?c%5Cd"),
        (BASE, "://x", "http://example.org/foo/://x"),
        # Tabs, newlines and blanks.
        (BASE, "\t http:\n//x\r/y\tz \x0c", "http://x/yz"),
        (BASE, "/\t/x/y", "http://x/y"),
        (BASE, " a b ", "http://example.org/foo/a%20b"),
        # Numbers are addresses.
        (BASE, "http://0x7f.1/", "http://127.0.0.1/"),
        (BASE, "http://2130706433/", "http://127.0.0.1/"),
        (BASE, "http://017700000001/", "http://127.0.0.1/"),
        (BASE, "http://127.1/", "http://127.0.0.1/"),
        (BASE, "http://0xA9FEA9FE/", "http://169.254.169.254/"),
        (BASE, "http://①②⑦.0.0.1/", "http://127.0.0.1/"),
        (BASE, "http://[0:0::0:0:FFFF:127.0.0.1]/", "http://[::ffff:7f00:1]/"),
        # Names.
        (BASE, "http://faß.ExAmPlE/", "http://xn--fa-hia.example/"),
        (BASE, "http://ＧＯ．example/", "http://go.example/"),
        (BASE, "http://bücher.XN--BCHER-KVA.example", "http://xn--bcher-kva.xn--bcher-kva.example/"),
        (BASE, "http://ex%61mple。org", "http://example.org/"),
        (BASE, "http://a_b.example/", "http://a_b.example/"),
        # Dot segments, also escaped.
        (BASE, "a/%2e%2E/./b", "http://example.org/foo/b"),
        (BASE, "../../../c", "http://example.org/c"),
        (BASE, "%2E", "http://example.org/foo/"),
        # User info and ports.
        (BASE, "http://user:pw@x:80/", "http://x/"),
        (BASE, "//x:00443/", "http://x:443/"),
        (BASE, "http://a@b@x:8080", "http://x:8080/"),
    ],
)
def test_a_reference_leads_where_a_browser_goes(base: str, reference: str, address: str) -> None:
    assert canonical_url(reference, base) == address
    assert resolve(reference, base) == address
    assert canonical_url(address) == address


@pytest.mark.parametrize(
    "reference",
    [
        "http://exa mple/",
        "http://a<b/",
        "http://1.2.3.4.5/",
        "http://256.1.1.1/",
        "http://1.2.3.08/",
        "http://x:65536/",
        "http://%zz/",
        "http://[1::2::3]/",
        "http://",
        "//",
        "http:\\\\",
        "mailto:a@b.example",
        "java\nscript:x()",
        "ftp://x/",
    ],
)
def test_what_has_no_http_address_leads_nowhere(reference: str) -> None:
    assert resolve(reference, BASE) is None
    with pytest.raises(UsageError):
        canonical_url(reference, BASE)


def test_a_base_that_is_no_address_does_no_harm() -> None:
    assert joined("page.html", "http://x/y") == "http://x/y"
    assert joined("page.html", "y") is None


BASES = (
    *("http://a.example/b/c?d", "https://u:p@h.example:80/x//y/./z", "http://h", "http://h/a;jsessionid=1/b"),
    *("file:///c:/d", "http://h.example/%2e/a/%2E%2e/b", "foo://h/a/b", "foo:a", "http://h/?q/r"),
)
STARTS = ("", "", "/", "http://a.example/", "https://a-b.c1", "http://0x.a1/", "http://xn--a.example/", "//b")


@pytest.mark.parametrize("base", BASES)
def test_plain_references_are_resolved_as_all_others(base: str) -> None:
    chance = random.Random(base)
    for _ in range(5_000):
        rest = "".join(chance.choices("/.~-_aA0:%?#=&;@b2ex ", k=chance.randrange(9)))
        reference = chance.choice(STARTS) + rest
        try:
            address = join_url(base, reference)
        except ValueError:
            continue
        assert joined(base, reference) == address
