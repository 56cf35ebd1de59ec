"""Short lines, prices and tiny pages that are edited in place."""

from __future__ import annotations

import numpy as np
import pytest

from archivebot.content.lines import Line, Place
from archivebot.models import ChangeKind
from archivebot.significance.edits import in_place
from archivebot.significance.prices import is_price, offer
from archivebot.significance.reading import Reading
from archivebot.significance.significance import Significance, significance
from archivebot.significance.worth import Worth, Worths

PROSE = "A kettle of steel that keeps the water warm for hours, with a spout for slow pouring. "
OTHERS = "".join(
    f"<li><img src={name}.jpg><h3><a href=/{name}>The {name}</a></h3><p>$ {price}</p></li>"
    for name, price in (("mug", 12), ("pan", 40), ("pot", 35), ("lid", 9), ("jug", 22))
)


def product(price: str = "$149", stock: str = "In stock", other: str = OTHERS, menu: str = "Sale") -> bytes:
    return (
        f"<html><head><title>Kettle | Shop</title></head><body><header><nav><ul><li><a href=/>Home</a></li>"
        f"<li><a href=/s>{menu}</a></li></ul></nav></header><div class=product><img src=k.jpg>"
        f"<div class=summary><h1>Kettle</h1><div class=box><span class=amount>{price}</span></div>"
        f"<div class=stock>{stock}</div><button>Add to cart</button></div></div>"
        f"<div class=tab><h2>Description</h2><p>{PROSE * 4}</p><p>{PROSE * 3}</p></div>"
        f"<aside class=related><h2>Customers also bought</h2><ul>{other}</ul></aside>"
        f"<footer><p>© 2024 Shop</p></footer></body></html>"
    ).encode()


def told(before: bytes, after: bytes) -> Significance:
    return significance(Reading(before), Reading(after))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("$149", "$199"),
        ("149,00 €", "199,00 €"),
        ("1 490 kr", "1 990 kr"),
        ("¥14,900", "¥19,900"),
        ("149 zł", "199 zł"),
        ("CHF 149.–", "CHF 199.–"),
        ("R$ 149,90", "R$ 199,90"),
        ("14.900 ₽", "19.900 ₽"),
        ("149元", "199元"),
        ("£149", "£149 £99"),
    ],
)
def test_another_price_of_the_product_is_content(before: str, after: str) -> None:
    assert told(product(before), product(after)).kind is ChangeKind.CONTENT


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("In stock", "Sold out", "[-In stock-]{+Sold out+}"),
        ("Auf Lager", "Ausverkauft", "[-Auf Lager-]{+Ausverkauft+}"),
        ("Disponible", "Agotado", "[-Disponible-]{+Agotado+}"),
        ("有货", "缺货", "[-有-]{+缺+}货"),
    ],
)
def test_another_availability_is_content_in_any_language(before: str, after: str, reason: str) -> None:
    change = told(product(stock=before), product(stock=after))
    assert (change.kind, change.reason) == (ChangeKind.CONTENT, reason)


def test_another_item_of_the_menu_of_a_shop_is_furniture() -> None:
    assert told(product(), product(menu="Outlet")).kind is ChangeKind.FURNITURE


def test_other_products_beside_the_product_are_furniture() -> None:
    others = OTHERS.replace("mug", "cup").replace("pan", "wok").replace("12", "14")
    before, after = Reading(product()), Reading(product(other=others))
    assert offer(before.content.walk.lines) == offer(after.content.walk.lines)
    assert significance(before, after).kind is ChangeKind.FURNITURE


@pytest.mark.parametrize(("tag", "worth"), [("div", Worth.NUMBERS), ("footer", Worth.WORDS)])
def test_in_a_foot_numbers_alone_count_in_the_main_text_only(tag: str, worth: Worth) -> None:
    body = Place("body", None, None, 0, 0, 2)
    foot, paragraph = Place(tag, None, body, 1, 0, 1), Place("p", None, body, 1, 1, 2)
    lines = [Line("The page was last checked on 9 November 2026", 8, foot), Line(PROSE, 16, paragraph)]
    chosen = np.array([False, True])
    assert Worths(lines, np.array([0.3, 0.9]), chosen, "")[0] is worth


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<h1>Server status</h1><p>OK</p>", "<h1>Server status</h1><p>DOWN</p>"),
        ("<h1>Server status</h1><p>OK</p>", "<h1>Server status</h1><p>OK</p><p>since noon</p>"),
        ("<p>Open</p>", "<p>Closed</p>"),
        ("<div>Level: 3</div>", "<div>Level: 4</div>"),
    ],
)
def test_another_line_of_a_tiny_page_is_content(before: str, after: str) -> None:
    assert told(before.encode(), after.encode()).kind is ChangeKind.CONTENT
    assert told(after.encode(), before.encode()).kind is ChangeKind.CONTENT


def test_an_edit_is_told_from_a_line_that_came_and_a_line_that_went() -> None:
    before = ["Home", "8 left", "A storm takes half of the nests", "End"]
    after = ["Home", "7 left", "The ferry runs again from Monday", "End"]
    assert list(in_place(before, [1, 2], after, [1, 2])) == [(1, 1)]
    assert list(in_place(before, [1], after, [1, 2])) == []


def test_repeated_lines_in_another_order_are_content_with_a_reason() -> None:
    before, after = (
        f"<h1>Ferries</h1><table><tr><td>{'<td>'.join(cells)}</table><p>{PROSE * 4}".encode()
        for cells in (
            ("In stock", "Sold out", "In stock", "In stock"),
            ("Sold out", "In stock", "Sold out"),
        )
    )
    change = told(before, after)
    assert (change.kind, change.reason) == (ChangeKind.CONTENT, "[-In stock-]{+Sold out+}")


def test_the_offer_of_a_page_is_found_where_only_the_body_holds_heading_and_price() -> None:
    def line(text: str, tag: str, at: int) -> Line:
        return Line(text, 1, Place(tag, None, body, 1, at, at + 1))

    body = Place("body", None, None, 0, 0, 4)
    lines = [line("Home", "a", 0), line("Kettle", "h1", 1), line("$149", "p", 2), line("$12", "p", 3)]
    assert offer(lines) == range(1, 3)
    assert offer(lines[:2]) == range(0)


def test_a_sentence_with_a_price_is_no_price() -> None:
    assert not is_price(
        "A year after it came to the market the kettle costs $149 at most of the shops that sell it."
    )


def test_the_reason_quotes_the_edit_of_a_long_line() -> None:
    before, after = (
        f"<h1>Terms</h1><p>{PROSE * 6}It may be returned within {days} days of the purchase.</p>".encode()
        for days in (30, 14)
    )
    assert told(before, after).reason == "…may be returned within [-30-]{+14+} days of the purchase."


def test_the_reason_quotes_the_edit_of_a_line_without_blanks() -> None:
    line = "存档保存一个网站的所有网页和它们的每一个版本，让读者{}看到过去的内容，而不只是今天的。"
    before, after = (f"<h1>存档</h1><p>{line.format(word)}".encode() for word in ("可以", "能够"))
    reason = "…保存一个网站的所有网页和它们的每一个版本，让读者[-可以-]{+能够+}看到过去的内容"
    assert told(before, after).reason.startswith(reason)
