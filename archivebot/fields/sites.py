"""The sites of a fields file: which fields their pages have, and which parts count when change is judged."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from archivebot.fields.rule import RowsRule, Rule
from archivebot.fields.tree import Tree
from archivebot.fields.values import FieldType
from archivebot.models import Field

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Site:
    """The selectors for the pages whose URL matches one of the ``patterns``.

    ``ignore`` and ``watch`` are CSS selectors of the parts that never count, and always count, when a change
    is judged.
    """

    patterns: tuple[re.Pattern[str], ...]
    rules: Mapping[str, Rule | RowsRule] = field(default_factory=dict, hash=False)
    ignore: tuple[str, ...] = ()
    watch: tuple[str, ...] = ()

    def fields(self, tree: Tree, url: str) -> tuple[Field, ...]:
        """Return the fields of a page; a field that no selector finds, or whose selector fails, is null."""
        return tuple(
            Field(name, _read(name, rule, tree, url), rule.counts) for name, rule in self.rules.items()
        )


def _read(name: str, rule: Rule | RowsRule, tree: Tree, url: str) -> str:
    try:
        value = rule.read(tree, tree.root, url)
    except Exception as error:  # of a selector that fails on some pages only, or of too large a page
        logger.warning("the field %s of %s could not be read: %s", name, url, error)
        value = None
    return json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Sites:
    """The sites of a fields file in order."""

    sites: tuple[Site, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """The names of all fields that selectors find."""
        return frozenset(name for site in self.sites for name in site.rules)

    @property
    def numbers(self) -> frozenset[str]:
        """The names of the fields that are one number on a site."""
        return frozenset(
            name
            for site in self.sites
            for name, rule in site.rules.items()
            if isinstance(rule, Rule) and rule.kind is FieldType.NUMBER and not rule.all
        )

    def of(self, url: str) -> Site | None:
        """Return the first site whose pattern matches a URL."""
        return next((site for site in self.sites if any(each.fullmatch(url) for each in site.patterns)), None)
