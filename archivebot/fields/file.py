"""Reads a fields file: TOML with one table for each site."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from cssselect import SelectorError
from parsel import Selector
from parsel.csstranslator import HTMLTranslator
from turbohtml import parse

from archivebot.config import UserFile
from archivebot.exceptions import UsageError
from archivebot.fields.rule import RowsRule, Rule
from archivebot.fields.sites import Site, Sites
from archivebot.fields.values import FieldType
from archivebot.toml.patterns import url_pattern
from archivebot.toml.tables import check_keys, listed, tables, texts

_NAME = re.compile(r"[^\W\d][\w-]*")
# How an XPath begins if it is written in place of a CSS selector.
_XPATH = re.compile(r"\.{0,2}/|@|(?:(?:re|set):)?[\w-]*\(")

_SITE_KEYS = ("match", "fields", "ignore", "watch")
_RULE_KEYS = ("css", "xpath", "type", "all", "counts")
_ROWS_KEYS = ("each", "columns", "counts")

# For HTML, where upper case in a name means lower case, and for XML.
_TRANSLATORS = (HTMLTranslator(), HTMLTranslator(xhtml=True))

_PAGE = Selector("<p>")
_DOCUMENT = parse("<p>")


def read_sites(file: UserFile) -> Sites:
    """Return the sites of a fields file, all selectors checked; no file has no sites.

    Raises UsageError with the place of the error: the line of what is not TOML, else the site and its key.

    >>> read_sites(UserFile("shop.toml", '[[site]]\\nmatch="example.org"\\nfields={name="h1["}'))
    Traceback (most recent call last):
    archivebot.exceptions.UsageError: shop.toml, site 1, fields.name: 'h1[' is no CSS selector: Expected ...
    """
    found = tables(file.text, file.name)
    check_keys(found, ("site",), file.name)
    sites = listed(found, "site", file.name)
    return Sites(tuple(_site(site, f"{file.name}, site {n}") for n, site in enumerate(sites, 1)))


def _site(found: Mapping[str, Any], at: str) -> Site:
    check_keys(found, _SITE_KEYS, at)
    patterns = texts(found, "match", at)
    if not all(patterns) or not patterns:
        raise UsageError(f'{at}, match: give the pages, for example "*.example.org/products/*"')
    fields = _table(found.get("fields", {}), f"{at}, fields")
    return Site(
        tuple(map(url_pattern, patterns)),
        {name: _rule_or_rows(rule, f"{at}, fields.{name}") for name, rule in fields.items()},
        tuple(_part(selector, f"{at}, ignore") for selector in texts(found, "ignore", at)),
        tuple(_part(selector, f"{at}, watch") for selector in texts(found, "watch", at)),
    )


def _rule_or_rows(found: object, at: str) -> Rule | RowsRule:
    if not isinstance(found, dict) or not found.keys() & {"each", "columns"}:
        return _rule(found, at)
    check_keys(found, _ROWS_KEYS, at)
    columns = _table(found.get("columns", {}), f"{at}.columns")
    if not isinstance(found.get("each"), str) or not columns:
        raise UsageError(f'{at}: rows have a selector, each = "...", and a table of columns')
    return RowsRule(
        _xpath(found["each"], f"{at}.each"),
        {name: _rule(rule, f"{at}.columns.{name}") for name, rule in columns.items()},
        _switch(found, "counts", at, default=True),
    )


def _rule(found: object, at: str) -> Rule:
    if isinstance(found, str):
        return Rule(_xpath(found, at))
    if not isinstance(found, dict):
        raise UsageError(f"{at} is {found!r}: give a selector, or a table with css or xpath")
    check_keys(found, _RULE_KEYS, at)
    given = [name for name in ("css", "xpath") if isinstance(found.get(name), str)]
    if len(given) != 1:
        raise UsageError(f'{at}: give one selector, css = "..." or xpath = "..."')
    kind = found.get("type", FieldType.TEXT)
    if kind not in list(FieldType):
        raise UsageError(f"{at}.type is {kind!r}: give one of {', '.join(FieldType)}")
    selector = found[given[0]]
    xpath = _css(selector, at) if given == ["css"] else _checked(selector, at)
    every, counts = _switch(found, "all", at, default=False), _switch(found, "counts", at, default=True)
    return Rule(xpath, FieldType(kind), every, counts)


def _switch(found: Mapping[str, Any], key: str, at: str, *, default: bool) -> bool:
    value = found.get(key, default)
    if not isinstance(value, bool):
        raise UsageError(f"{at}.{key} is {value!r}: give true or false")
    return value


def _xpath(selector: str, at: str) -> str:
    """Return the XPath of a CSS selector or of an XPath."""
    return _checked(selector, at) if _XPATH.match(selector) else _css(selector, at)


def _css(selector: str, at: str) -> str:
    try:
        xpaths = dict.fromkeys(each.css_to_xpath(selector) for each in _TRANSLATORS)
        return _checked(" | ".join(xpaths), at)
    except SelectorError as error:
        raise UsageError(f"{at}: {selector!r} is no CSS selector: {error}") from error


def _checked(xpath: str, at: str) -> str:
    try:
        _PAGE.xpath(xpath)
    except (ValueError, re.error) as error:
        raise UsageError(f"{at}: {xpath!r} is no XPath: {error}") from error
    return xpath


def _part(selector: str, at: str) -> str:
    """Return a CSS selector of elements; they are looked up in the tree that knows their bytes."""
    try:
        _DOCUMENT.select(selector)
    except ValueError as error:
        raise UsageError(f"{at}: {selector!r} is no CSS selector of elements: {error}") from error
    return selector


def _table(found: object, at: str) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise UsageError(f"{at} is {found!r}: give a table of names and selectors")
    for name in found:
        if not _NAME.fullmatch(name):
            raise UsageError(f"{at}: {name!r} is no name: give letters, digits, _ and -, a letter first")
    return found
