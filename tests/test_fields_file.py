"""Fields files: what they may say, and the place of every error in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from archivebot.config import ArchiveConfig, UserFile
from archivebot.exceptions import UsageError
from archivebot.fields.file import read_sites
from archivebot.fields.rule import RowsRule, Rule
from archivebot.fields.sites import Sites
from archivebot.fields.values import FieldType
from archivebot.toml.patterns import url_pattern

WHOLE = """
[[site]]
match = ["*.example.org/products/*", "shop.example"]
ignore = ".ad, .counter"
watch = ["#stock"]
[site.fields]
name = "h1"
price = { css = ".price", type = "number" }
tags = { xpath = "//a[@rel='tag']", all = true }
seen = "//time/@datetime"
offers = { each = "tr.offer", columns = { shop = "td", price = { css = ".price", type = "number" } } }

[[site]]
match = "*"
fields.name = "title"
"""


def read(text: str) -> Sites:
    return read_sites(UserFile("shop.toml", text))


def test_a_file_names_the_fields_of_each_site() -> None:
    shop, other = read(WHOLE).sites
    assert [*shop.rules] == ["name", "price", "tags", "seen", "offers"]
    assert (shop.ignore, shop.watch) == ((".ad, .counter",), ("#stock",))
    assert shop.rules["name"] == Rule("descendant-or-self::h1")
    assert shop.rules["tags"] == Rule("//a[@rel='tag']", FieldType.TEXT, all=True)
    assert isinstance(shop.rules["offers"], RowsRule)
    assert [*other.rules] == ["name"]


def test_the_first_site_that_matches_is_the_site_of_a_page() -> None:
    sites = read(WHOLE)
    for url in ("https://a.example.org/products/1?x=y", "http://shop.example:8080/", "http://shop.example/a"):
        assert sites.of(url) is sites.sites[0], url
    for url in ("https://a.example.org/products", "http://myshop.example/", "ftp://x/"):
        assert sites.of(url) is sites.sites[1], url
    assert read("").of("http://a.example/") is None


@pytest.mark.parametrize(
    ("pattern", "url", "matches"),
    [
        ("example.org", "http://example.org/a", True),
        ("EXAMPLE.org", "http://example.org/a", True),
        ("example.org", "http://www.example.org/", False),
        ("*.example.org", "http://a.b.example.org/", True),
        ("*example.org", "http://myexample.org/", True),
        ("example.*/a", "http://example.com/a", True),
        ("example.*/a", "http://example.com/b/a", False),
        ("https://example.org", "http://example.org/", False),
        ("example.org:80", "http://example.org/", False),
        ("[::1]:8000/*", "http://[::1]:8000/a", True),
        ("example.org/?a=*", "http://example.org/?a=b&c=d", True),
        ("example.org/a.b", "http://example.org/a-b", False),
        ("HTTP://Example.org/a", "http://example.org/a", True),
        ("http://example.org:80/a", "http://example.org/a", True),
        ("http://example.org:80/a", "http://example.org:8080/a", False),
        ("https://*.example.org:443", "https://a.example.org/", True),
        ("https://example.org:80", "https://example.org/", False),
        ("bücher.example/a", "http://xn--bcher-kva.example/a", True),
        ("*.BÜCHER.example:8080", "http://a.xn--bcher-kva.example:8080/", True),
        ("bücher.*", "http://xn--bcher-kva.example/", True),
        ("１２.example", "http://12.example/", True),
        ("[2001:0DB8:0::1]:8000/*", "http://[2001:db8::1]:8000/a", True),
        ("http://[::FFFF:1.2.3.4]/a", "http://[::ffff:102:304]/a", True),
        ("example.org./a", "http://example.org/a", True),
        ("*.example.org.:8080", "http://a.example.org:8080/", True),
        ("example.org?a=1", "http://example.org/", False),
        ("example.org/über uns", "http://example.org/%C3%BCber%20uns", True),
        ("example.org/über uns/*", "http://example.org/%C3%BCber%20uns/1", True),
        ("example.org/%7euser%2f*", "http://example.org/~user%2F1", True),
        ("example.org/50%25*", "http://example.org/50%25/1", True),
        ("example.org/%2a/*", "http://example.org/x/1", False),
        ("example.org/%2a", "http://example.org/x", False),
        ("example.org/%2a", "http://example.org/*", True),
        ("example.org/?b=2&a=ü", "http://example.org/?a=%C3%BC&b=2", True),
        ("example.org/?q=ü&*", "http://example.org/?q=%C3%BC&s=1", True),
        ("example.org/*.*", "http://example.org/a", False),
        ("example.org/a{1}<b>/*", "http://example.org/a%7B1%7D%3Cb%3E/1", True),
        ("example.org/a,b;c/*", "http://example.org/a,b;c/1", True),
        ("example.org/*?day=2026/01,a b&*", "http://example.org/?day=2026%2F01%2Ca+b&x=1", True),
        ("example.org/?q=a%20b*", "http://example.org/?q=a+bc", True),
        ("example.org/?2026/01*", "http://example.org/?2026/01/02", True),
    ],
)
def test_a_pattern_has_a_host_and_may_have_a_path(pattern: str, url: str, matches: bool) -> None:
    assert bool(url_pattern(pattern).fullmatch(url)) is matches


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[site]]\nmatch = ?", r"^shop\.toml is not TOML: .*line 2"),
        ("sites = 1", r"^shop\.toml: there is no 'sites' here, only site; did you mean 'site'\?$"),
        ("site = 1", r"^shop\.toml: write a table \[\[site\]\]"),
        ("[[site]]\nfields={}", r"^shop\.toml, site 1, match: give the pages"),
        ('[[site]]\nmatch=""', r"^shop\.toml, site 1, match: give the pages"),
        ("[[site]]\nmatch=7", r"^shop\.toml, site 1, match is 7: give a text"),
        (
            '[[site]]\nmatch="a"\nfield={}',
            r"^shop\.toml, site 1: there is no 'field' here, only match, fields",
        ),
        ('[[site]]\nmatch="a"\nfields=1', r"site 1, fields is 1: give a table"),
        ('[[site]]\nmatch="a"\nfields={"a b"="p"}', r"site 1, fields: 'a b' is no name"),
        ('[[site]]\nmatch="a"\nfields={a="p["}', r"site 1, fields.a: 'p\[' is no CSS selector: Expected"),
        ('[[site]]\nmatch="a"\nfields={a="p::before"}', r"site 1, fields.a: 'p::before' is no CSS selector"),
        ('[[site]]\nmatch="a"\nfields={a="//p["}', r"site 1, fields.a: '//p\[' is no XPath"),
        ('[[site]]\nmatch="a"\nfields={a="//p[foo()]"}', r"site 1, fields.a: .* is no XPath"),
        ('[[site]]\nmatch="a"\nfields={a="//p[re:test(., \'(\')]"}', r"site 1, fields.a: .* is no XPath"),
        ('[[site]]\nmatch="a"\nfields={a=1}', r"site 1, fields.a is 1: give a selector"),
        ('[[site]]\nmatch="a"\nfields={a={css="p", xpath="p"}}', r"site 1, fields.a: give one selector"),
        ('[[site]]\nmatch="a"\nfields={a={css="p", type="money"}}', r"a.type is 'money': give one of text"),
        ('[[site]]\nmatch="a"\nfields={a={css="p", all=1}}', r"fields.a.all is 1: give true or false"),
        ('[[site]]\nmatch="a"\nfields={a={css="p", counts=1}}', r"a.counts is 1: give true or false"),
        ('[[site]]\nmatch="a"\nfields={a={css="p", kind="x"}}', r"fields.a: there is no 'kind' here"),
        ('[[site]]\nmatch="a"\nfields={a={each="p"}}', r"fields.a: rows have a selector"),
        ('[[site]]\nmatch="a"\nfields={a={each="p[", columns={b="i"}}}', r"fields.a.each: 'p\[' is no CSS"),
        ('[[site]]\nmatch="a"\nfields={a={each="p", columns={b="i["}}}', r"fields.a.columns.b: 'i\[' is no"),
        ('[[site]]\nmatch="a"\n[[site]]\nmatch="b"\nignore=["p", "i["]', r"site 2, ignore: 'i\[' is no CSS"),
        ('[[site]]\nmatch="a"\nwatch="p::text"', r"site 1, watch: 'p::text' is no CSS selector of elements"),
        ('[[site]]\nmatch="a"\nwatch="//p"', r"site 1, watch: '//p' is no CSS selector of elements"),
    ],
)
def test_an_error_names_the_file_the_site_and_the_key(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        read(text)


def test_the_file_of_a_setting_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "shop.toml"
    path.write_text(WHOLE, "utf-8")
    for name in (str(path), f"@{path}"):
        assert ArchiveConfig.from_settings({"ARCHIVE_FIELDS": name}).fields == UserFile(str(path), WHOLE)
    assert ArchiveConfig.from_settings({"ARCHIVE_FIELDS": ""}).fields == UserFile()
    path.write_bytes(b"\xff")
    for name in (str(path), str(tmp_path / "none.toml")):
        with pytest.raises(UsageError, match="cannot be read"):
            ArchiveConfig.from_settings({"ARCHIVE_FIELDS": name})
