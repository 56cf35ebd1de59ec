"""The report of a benchmark: tables of figures and their bounds."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

# The environment variable by which run.py names the file that it reads the report from.
REPORT = "BENCHMARK_REPORT"


@dataclass(frozen=True, slots=True)
class Bound:
    """A value and its limit: a minimum (`least`) or a maximum."""

    value: float
    limit: float
    least: bool

    @property
    def held(self) -> bool:
        return self.value >= self.limit if self.least else self.value <= self.limit

    def __str__(self) -> str:
        return f"at {'least' if self.least else 'most'} {self.limit:g}"


def at_least(value: float, limit: float) -> Bound:
    return Bound(value, limit, least=True)


def at_most(value: float, limit: float) -> Bound:
    return Bound(value, limit, least=False)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table: its name, a cell for each column, and the bound if it has one."""

    name: str
    cells: Sequence[str] = ()
    bound: Bound | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A table; the title heads the column of the names, and rows may leave their last cells out."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Row]

    @property
    def bounds(self) -> list[tuple[Row, Bound]]:
        return [(row, row.bound) for row in self.rows if row.bound]

    def markdown(self) -> str:
        """Return the table in Markdown, its columns aligned.

        >>> rows = [Row("pages/s", ("65", "73"), at_least(0.89, 0.8)), Row("memory", ("110 MB",))]
        >>> print(Table("crawl", ("ours", "peer"), rows).markdown())
        | crawl   |   ours | peer | bound        |     |
        | ------- | -----: | ---: | ------------ | --- |
        | pages/s |     65 |   73 | at least 0.8 | ok  |
        | memory  | 110 MB |      |              |     |
        """
        judged = bool(self.bounds)
        lines = [[self.title, *self.columns, *(["bound", ""] if judged else [])]]
        for row in self.rows:
            blank = [""] * (len(self.columns) - len(row.cells))
            lines.append([row.name, *row.cells, *blank, *(_verdict(row.bound) if judged else ())])
        widths = [max(3, *map(len, column)) for column in zip(*lines, strict=True)]
        figures = range(1, len(self.columns) + 1)
        rule = ["-" * (width - 1) + (":" if at in figures else "-") for at, width in enumerate(widths)]
        return "\n".join(
            "| "
            + " | ".join(
                cell.rjust(width) if at in figures else cell.ljust(width)
                for at, (cell, width) in enumerate(zip(line, widths, strict=True))
            )
            + " |"
            for line in (lines[0], rule, *lines[1:])
        )


def _verdict(bound: Bound | None) -> tuple[str, str]:
    return (str(bound), "ok" if bound.held else "FAIL") if bound else ("", "")


@dataclass(frozen=True, slots=True)
class Report:
    """What a benchmark measured, and the names of the peers that it lacked."""

    tables: Sequence[Table]
    missing: Sequence[str] = ()

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Report:
        """Read a report again.

        >>> found = Report([Table("a", ["b"], [Row("c", ["d"], at_most(1, 2))])], ["e"])
        >>> Report.from_json(found.to_json()) == found
        True
        """
        read = json.loads(text)
        return cls([_table(**table) for table in read["tables"]], read["missing"])


def _table(title: str, columns: list[str], rows: list[dict[str, object]]) -> Table:
    return Table(title, columns, [_row(**row) for row in rows])  # type: ignore[arg-type]  # as written


def _row(name: str, cells: list[str], bound: dict[str, float] | None) -> Row:
    return Row(name, cells, Bound(**bound) if bound else None)  # type: ignore[arg-type]  # as written


def report(*tables: Table, missing: Iterable[str] = ()) -> int:
    """Print the tables, leave them for run.py, and return the exit code: 1 if a bound fails.

    A benchmark calls it once, when it has measured everything: a run without a report did not end.
    """
    found = Report(tables, sorted(missing))
    for table in tables:
        print(f"\n{table.markdown()}")
    if found.missing:
        print(f"\nNot installed: {', '.join(found.missing)}.")
    if file := os.environ.get(REPORT):
        Path(file).write_text(found.to_json(), "utf-8")
    return 0 if all(bound.held for table in tables for _, bound in table.bounds) else 1


def installed(*modules: str) -> list[str]:
    """Return those of the modules that can be imported."""
    return [name for name in modules if find_spec(name)]
