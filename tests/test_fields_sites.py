"""The fields of a page: what selectors find, and as what it is read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from archivebot.config import UserFile
from archivebot.fields.file import read_sites
from archivebot.fields.tree import MOST_TEXT, Tree

PAGE = """<!doctype html><html lang="de-AT"><head><base href="/shop/"><title>Tern</title>
<meta name=description content="A  bird."><meta itemprop=price content="12.50">
</head><body><h1>The <b>t</b>ern<script>1</script></h1><p class=price>1.299,00 €</p><p class=price>7 €</p>
<p class=day>am 5. März 2021</p><time datetime="2020-01-02T03:04">yesterday</time>
<a class=more href="more?a=b">More</a><img src=//x.example/a.jpg>
<table><tr><th>Shop<th>Price<tr><td>A<td>1<tr><td>B<td>none<tr><td><td></table></body></html>"""


def fields(rules: str, page: str = PAGE, *, is_xml: bool = False) -> dict[str, Any]:
    site = read_sites(UserFile("a.toml", f'[[site]]\nmatch="*"\n[site.fields]\n{rules}')).sites[0]
    found = site.fields(Tree(page, is_xml=is_xml), "http://a.example/b/c")
    return {field.name: json.loads(field.data) for field in found}


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ('"h1"', "The tern"),
        ('"h1::text"', "The"),
        ('"h1 ::text"', "The"),
        ('"//h1//text()"', "The"),
        ('"string(//h1/b)"', "t"),
        ('"meta[name=description]"', "A bird."),
        ('"table"', "Shop Price A 1 B none"),
        ('"h2"', None),
        ('"title"', "Tern"),
        ('{css="script", type="number"}', 1),
        ('"re:replace(//title, \'T\', \'\', \'F\')"', "Fern"),
        ('"count(//tr)"', "4.0"),
        ('{xpath="count(//tr)", type="number"}', 4),
        ('{css=".price", type="number"}', 1299),
        ('{css=".price", type="number", all=true}', [1299, 7]),
        ('{css="[itemprop=price]", type="number"}', 12.5),
        ('{css="h1", type="number"}', None),
        ('{css="td", type="number", all=true}', [1]),
        ('{css="h2", all=true}', []),
        ('{css=".day", type="date"}', "2021-03-05"),
        ('{css="time", type="date"}', "2020-01-02"),
        ('{css="time"}', "yesterday"),
        ('{css=".more", type="url"}', "http://a.example/shop/more?a=b"),
        ('{css="img", type="url"}', "http://x.example/a.jpg"),
        ('{css="a::attr(href)", type="url"}', "http://a.example/shop/more?a=b"),
        ('{xpath="//p[re:test(@class, \'^d\')]"}', "am 5. März 2021"),
        ('{each="tr", columns={shop="td", price={css="td + td", type="number"}}}', [
            {"shop": "A", "price": 1},
            {"shop": "B", "price": None},
        ]),
    ],
)  # fmt: skip
def test_a_selector_finds_a_value(rule: str, value: object) -> None:
    assert fields(f"a = {rule}") == {"a": value}


@pytest.mark.parametrize(
    ("price", "value"),
    [
        ("₹1,00,000", 100_000),
        ("₹ 12,34,567.50", 1_234_567.5),
        ("۱٬۲۹۹٬۰۰۰ تومان", 1_299_000),
        ("١٢٫٥٠ ج.م", 12.5),
        ("１２，８００円", 12_800),
        ("$.99", 0.99),
        ("No.5", 5),
        ("1,2,3", 1.2),
    ],
)
def test_a_number_is_read_as_its_country_writes_it(price: str, value: float) -> None:
    assert fields('price={css="p", type="number"}', f"<p>{price}</p>") == {"price": value}


def test_a_selector_that_fails_on_a_page_finds_nothing_and_the_others_do(
    caplog: pytest.LogCaptureFixture,
) -> None:
    found = fields("""bad = '//h1[re:test(., "(")]'\ngood = "h1\"""")
    assert found == {"bad": None, "good": "The tern"}
    assert "the field bad of http://a.example/b/c could not be read" in caplog.text


def test_an_xml_document_is_read_without_its_namespaces() -> None:
    feed = '<?xml version="1.0" encoding="iso-8859-1"?><f:feed xmlns:f="x"><f:pubDate>é</f:pubDate></f:feed>'
    assert fields('a = "//pubDate"', feed, is_xml=True) == {"a": "é"}


def test_what_a_css_selector_excludes_by_its_state_is_not_found() -> None:
    page = "<option disabled>a</option><option>b</option>"
    assert fields("""a = {css="option:not(:disabled)", all=true}""", page) == {"a": ["b"]}


def test_the_entries_of_a_feed_are_rows_by_css() -> None:
    item = "<item><title>Terns &amp; gulls</title><pubDate>Fri, 05 Mar 2021 10:00:00 GMT</pubDate></item>"
    columns = '{what="title", day={css="pubDate", type="date"}}'
    found = fields(f'a = {{each="item", columns={columns}}}', f"<rss>{item}</rss>", is_xml=True)
    assert found == {"a": [{"what": "Terns & gulls", "day": "2021-03-05"}]}


@pytest.mark.parametrize("page", ["", "\0", "plain", "<p", "<p>" * 5000, "\ufffd<a href='//['>x"])
def test_any_page_has_fields(page: str) -> None:
    assert fields('a = "h1"\nb = {css="a", type="url", all=true}', page) == {"a": None, "b": []}


def test_a_text_is_cut_at_a_bound() -> None:
    assert len(fields('a = "p"', f"<p>{'x' * 2 * MOST_TEXT}")["a"]) == MOST_TEXT
