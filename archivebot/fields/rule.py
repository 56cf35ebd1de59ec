"""The rule of a field: the selector that finds it, and how its value is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from archivebot.fields.tree import Tree, Value
from archivebot.fields.values import FieldType

if TYPE_CHECKING:
    from parsel import Selector

Row = dict[str, "Value | list[Value]"]

# Maximum of values in a list, and of rows.
MOST_VALUES = 1000


@dataclass(frozen=True, slots=True)
class Rule:
    """One value, or with ``all`` the list of all values, that an XPath finds."""

    xpath: str
    kind: FieldType = FieldType.TEXT
    all: bool = False
    counts: bool = True

    def read(self, tree: Tree, part: Selector, url: str) -> Value | list[Value]:
        """Return the value in a part of a page; None if there is none. Raises ValueError."""
        found = tree.values(part, self.xpath, self.kind, url)
        return found[:MOST_VALUES] if self.all else next(iter(found), None)


@dataclass(frozen=True, slots=True)
class RowsRule:
    """The rows of a table or list: in each part that an XPath finds, a value for each column."""

    xpath: str
    columns: Mapping[str, Rule] = field(hash=False)
    counts: bool = True

    def read(self, tree: Tree, part: Selector, url: str) -> list[Row]:
        """Return the rows in a part of a page that have any value. Raises ValueError."""
        rows = (
            {name: rule.read(tree, row, url) for name, rule in self.columns.items()}
            for row in part.xpath(self.xpath)[:MOST_VALUES]
        )
        return [row for row in rows if any(value not in (None, []) for value in row.values())]
