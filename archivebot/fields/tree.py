"""The elements of a page as selectors see them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from archivebot.fields.values import ATTRIBUTES, FieldType, absolute, value_of
from archivebot.markup.dom import visible_text
from archivebot.markup.tags import INVISIBLE

if TYPE_CHECKING:
    from parsel import Selector

Value = str | int | float | None

# Maximum of characters of a text value; a longer one is cut. Of a page that a selector takes as a whole the
# feed would repeat everything.
MOST_TEXT = 10_000


class Tree:
    """The tree of a page, parsed by parsel when the first selector asks for it.

    parsel is what Scrapy's selectors are: a selector that finds something in ``scrapy shell`` finds the same
    here. XML documents have no namespaces.

    >>> tree = Tree("<base href=/a/><p>Terns: <a href=b>two</a>")
    >>> tree.values(tree.root, "//p", FieldType.NUMBER), tree.values(tree.root, "//p", FieldType.TEXT)
    ([], ['Terns: two'])
    >>> tree.values(tree.root, "//a", FieldType.URL, "http://example.org/")
    ['http://example.org/a/b']
    """

    def __init__(self, source: str, *, is_xml: bool = False) -> None:
        self._source, self._is_xml = source, is_xml

    @cached_property
    def root(self) -> Selector:
        """The whole page."""
        from parsel import Selector  # a tenth of a second, which only crawls with selectors need

        root = Selector(self._source, type="xml" if self._is_xml else "html")
        if self._is_xml:
            root.remove_namespaces()
        return root

    @cached_property
    def _base(self) -> str:
        return self.root.xpath("//base/@href").get("")

    @cached_property
    def _language(self) -> str:
        return self.root.xpath("/html/@lang").get("en").partition("-")[0].lower()

    def values(self, part: Selector, xpath: str, kind: FieldType, url: str = "") -> list[Value]:
        """Return the values that a selector finds in a part of a page; ``url`` is the URL of the page."""
        base = absolute(url, self._base) or url
        found = (
            value_of(_text(node, kind)[:MOST_TEXT], kind, base, self._language) for node in part.xpath(xpath)
        )
        return [value for value in found if value is not None]


def _text(node: Selector, kind: FieldType) -> str:
    """Return the attribute of an element that holds its value, else its text, as far as it is visible."""
    if isinstance(node.root, str | int | float):  # the result of ::text, ::attr() or a function
        return str(node.get())
    held = next((node.attrib[name] for name in ATTRIBUTES[kind] if name in node.attrib), "")
    if node.root.tag in INVISIBLE:  # such as TITLE, also of an entry of a feed
        return held or str(node.xpath("string()").get())
    return held or visible_text(node.get().encode(), "utf-8")
