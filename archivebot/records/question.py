"""Questions to an archive that programs ask by name: their parameters, and the shapes of the answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from archivebot.exceptions import UsageError
from archivebot.records.shapes import Schema

Given = Mapping[str, Any]

# Characters of a parameter: longer than most URLs, shorter than the lines that servers refuse.
LONGEST = 4_000

URL: Schema = {"type": "string", "minLength": 1, "maxLength": LONGEST}
WORDS: Schema = {"type": "string", "minLength": 1, "maxLength": 500}
TIME: Schema = {
    "type": "string",
    "pattern": "^([0-9]{1,14}|[0-9]{17})$",
    "description": "1 to 14 digits, or 17, as in 20260102030405",
}
PERIOD: Schema = {
    "type": "string",
    "pattern": "^[0-9]{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?)?$",
    "description": "a year, a month or a day, as in 2026-11",
}
SINCE: Schema = {"type": "string", "minLength": 1, "maxLength": 40}
SWITCH: Schema = {"type": "boolean", "default": False}


def count(most: int, default: int | None = None, least: int = 0) -> Schema:
    """Return the schema of a parameter that is a whole number."""
    schema: Schema = {"type": "integer", "minimum": least, "maximum": most}
    return schema if default is None else schema | {"default": default}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a question: its JSON Schema says which values it takes."""

    name: str
    schema: Schema
    description: str
    is_required: bool = False

    def read(self, text: str) -> Any:
        """Return the value that a text stands for; raises UsageError.

        >>> Parameter("limit", count(100), "").read("12"), Parameter("clusters", SWITCH, "").read("true")
        (12, True)
        >>> Parameter("limit", count(100), "").read("101")
        Traceback (most recent call last):
        archivebot.exceptions.UsageError: limit is '101': write a whole number from 0 to 100
        """
        schema = self.schema
        if schema["type"] == "integer":
            if re.fullmatch("[0-9]{1,9}", text) and schema["minimum"] <= int(text) <= schema["maximum"]:
                return int(text)
            raise self._wrong(text, f"a whole number from {schema['minimum']} to {schema['maximum']}")
        if schema["type"] == "boolean":
            if text in ("true", "false"):
                return text == "true"
            raise self._wrong(text, "true or false")
        if "enum" in schema and text not in schema["enum"]:
            raise self._wrong(text, f"one of {', '.join(schema['enum'])}")
        if "pattern" in schema and not re.fullmatch(schema["pattern"], text):
            raise self._wrong(text, schema["description"])
        if not schema.get("minLength", 0) <= len(text) <= schema.get("maxLength", LONGEST):
            raise self._wrong(text[:40], f"1 to {schema.get('maxLength', LONGEST)} characters")
        return text

    def _wrong(self, text: str, advice: str) -> UsageError:
        return UsageError(f"{self.name} is {text!r}: write {advice}")


SITE = Parameter("site", URL, "a URL: only the pages on its host")
PARTS = (
    Parameter("skip", count(1_000_000, 0), "begins after this many rows"),
    Parameter("limit", count(1000, 100, least=1), "the most rows to return"),
)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a long answer; ``following`` are the parameters of the next part, None at the end.

    ``notes`` are sentences about what the answer lacks.
    """

    records: Sequence[Any]
    following: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """A question to an archive, ``answer`` of a reader of the archive and the values of the parameters.

    The answer is a record, a list of records, or a Part of a list; ``shape`` is its JSON Schema. A question
    that ``reads_all`` may read the whole archive, and takes as long as that takes; ``reads_pages`` is false
    if it reads only forms or the state of a crawl. An answer that is ``passing``, by the values of the
    parameters, may change while the archive does not.
    """

    name: str
    summary: str
    shape: Schema
    answer: Callable[[Any, Given], Any]
    parameters: tuple[Parameter, ...] = ()
    reads_all: bool = False
    reads_pages: bool = True
    passing: Callable[[Given], bool] = lambda given: False

    @property
    def names(self) -> list[str]:
        """The names of the parameters."""
        return [each.name for each in self.parameters]

    def read(self, given: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """Return the values of parameters by name, None for those without a default; raises UsageError.

        >>> Question("pages", "", {}, print, (Parameter("url", URL, "", is_required=True),)).read({})
        Traceback (most recent call last):
        archivebot.exceptions.UsageError: url is missing: write ?url=...
        """
        for name, values in given.items():
            if name not in self.names:
                known = ", ".join(self.names) or "none"
                raise UsageError(f"there is no parameter {name[:40]!r} here: the parameters are {known}")
            if len(values) > 1:
                raise UsageError(f"{name} is there {len(values)} times: write it once")
        return {each.name: self._value(each, given.get(each.name)) for each in self.parameters}

    def _value(self, parameter: Parameter, texts: Sequence[str] | None) -> Any:
        if texts:
            return parameter.read(texts[0])
        if parameter.is_required:
            raise UsageError(f"{parameter.name} is missing: write ?{urlencode({parameter.name: '...'})}")
        return parameter.schema.get("default")
