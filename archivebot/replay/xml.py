"""Drawings and pages in XML, with the text that a browser reads in them."""

from __future__ import annotations

import re

from turbohtml import CData, Document, Element, Text, parse_xml

from archivebot.markup.charset import charset_of, xml_declaration
from archivebot.markup.media import Media

XLINK = "http://www.w3.org/1999/xlink"
# Another prefix of it than the usual one.
_PREFIX = re.compile(rf"""xmlns:(?!xlink\s*=)([\w.-]+)\s*=\s*["']{re.escape(XLINK)}["']""")

# The document type with its own declarations, which the parser does not read. Illustrator declares the
# namespaces of its drawings there.
_TYPE = re.compile(r"((?>\s|<\?.*?\?>|<!--.*?-->)*+)<!DOCTYPE\s[^\[>]*\[(.*?)\]\s*>", re.DOTALL)
_ENTITY = re.compile(r"""<!ENTITY\s+([\w:.-]+)\s+(?:"([^"&<%]{0,1000})"|'([^'&<%]{0,1000})')\s*>""")
_REFERENCE = re.compile(r"&([\w:.-]+);")
# Characters that the references which are replaced add at most.
MOST_ADDED = 1 << 20


def text_of(body: bytes, media: Media) -> tuple[str, str]:
    """Return the text of a body that may have addresses, and its charset, which only media of texts know."""
    charset = media.charset if media.is_text else charset_of(body, "", (xml_declaration,))
    return body.decode(charset, "replace").removeprefix("\ufeff"), charset


def read_xml(text: str) -> Document:
    """Return a document in XML; raises HTMLParseError if it is not well-formed.

    Entities that it declares are replaced, and the attributes of XLink have their usual prefix.

    >>> read_xml('<!DOCTYPE a [<!ENTITY n "x">]><a b="&n;">&amp;&n;</a>').inner_xml
    '<a b="x">&amp;x</a>'
    >>> read_xml(f'<a xmlns:l="{XLINK}" l:href="b"/>').select_one("a").attr("xlink:href")
    'b'
    """
    if found := _TYPE.match(text):
        declared = {name: one or two for name, one, two in _ENTITY.findall(found[2])}
        most = MOST_ADDED // max([1, *map(len, declared.values())])
        rest = _REFERENCE.sub(lambda each: declared.get(each[1], each[0]), text[found.end() :], most)
        text = found[1] + rest
    document = parse_xml(text)
    for prefix in sorted(set(_PREFIX.findall(text))):
        _name_links(document, prefix)
    return document


def sheet_of(style: Element) -> str:
    """Return the style sheet in an element, also that in a CDATA section."""
    return "".join(each.data for each in style.children if isinstance(each, (CData, Text)))


def _name_links(document: Document, prefix: str) -> None:
    """Rename the addresses of XLink to ``xlink:href``, the name that the rewriter looks for."""
    for element in document.select("*"):
        if (address := element.attr(f"{prefix}:href")) is not None:
            del element.attrs[f"{prefix}:href"]
            element.attrs["xmlns:xlink"], element.attrs["xlink:href"] = XLINK, address
