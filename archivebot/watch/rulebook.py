"""A rules file that programs add rules to."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import Lock
from typing import Any

from archivebot.config import file_text
from archivebot.exceptions import Conflict, StorageError, UsageError
from archivebot.toml.tables import listed, tables
from archivebot.watch.file import RULE_KEYS, read_rule

# Bytes of a rules file to which nothing more is added: some thousand rules.
LARGEST = 1_000_000

_BARE = re.compile(r"[A-Za-z0-9_-]+")


class Rulebook:
    """The rules file at a path, "" for none. What was written by hand in it stays as it is."""

    def __init__(self, path: str) -> None:
        self.path = Path(path.removeprefix("@")) if path else None
        self._lock = Lock()

    def rules(self) -> list[dict[str, Any]]:
        """Return the rules as tables, none if there is no file; raises StorageError if it cannot be read."""
        _, found = self._read()
        return [{key: rule[key] for key in RULE_KEYS if key in rule} for rule in found]

    def add(self, rule: Mapping[str, Any]) -> None:
        """Add a rule at the end of the file, which is made if there is none.

        The outputs of the rule must be in the file. Raises UsageError if the rule is wrong, Conflict if its
        name is taken, StorageError if the file cannot be read or written.
        """
        if self.path is None:
            raise StorageError("no rules file is watched: set ARCHIVE_WATCH, as rules.toml")
        with self._lock:
            text, found = self._read()
            read = read_rule(rule, "the rule", self._outputs(text))
            if read.name in [each.get("name") for each in found]:
                raise Conflict(f"{read.name!r} is the name of another rule: choose another name")
            added = f"{text.rstrip()}\n\n{_table(rule)}".lstrip()
            if len(added.encode()) > LARGEST:
                raise StorageError(
                    f"{self.path.name} has {LARGEST:,} bytes: remove rules that are not needed"
                )
            if listed(tables(added, self.path.name), "rule", self.path.name) != [*found, dict(rule)]:
                raise StorageError(
                    f"no rule can be added to {self.path.name}: write its rules as [[rule]] tables"
                )
            self._write(added)

    def _read(self) -> tuple[str, list[dict[str, Any]]]:
        if self.path is None or not self.path.exists():
            return "", []
        try:
            text = file_text(str(self.path), "rules file")
            return text, listed(tables(text, self.path.name), "rule", self.path.name)
        except UsageError as error:
            raise StorageError(f"{error}; mend the file") from error

    def _outputs(self, text: str) -> list[str]:
        found = tables(text, "").get("output", {})
        return list(found) if isinstance(found, dict) else []

    def _write(self, text: str) -> None:
        """Replace the file as a whole, so that no reader sees half of it."""
        assert self.path is not None
        path = self.path.resolve()
        temporary = None
        try:
            with NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as file:
                temporary = Path(file.name)
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            temporary.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o600)
            temporary.replace(path)
        except OSError as error:
            if temporary:
                with suppress(OSError):
                    temporary.unlink()
            raise StorageError(f"{path.name} cannot be written: {error.strerror}") from error


def _table(rule: Mapping[str, Any]) -> str:
    lines = [f"{key} = {_value(value)}" for key, value in rule.items()]
    return "\n".join(["[[rule]]", *lines]) + "\n"


def _value(value: Any) -> str:
    """Return a value of JSON as TOML.

    >>> _value(["a\\x7f", 1, True]), _value({"a b": {"below": 2.5}})
    ('["a\\\\u007f", 1, true]', '{"a b" = {below = 2.5}}')
    """
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        pairs = (
            f"{key if _BARE.fullmatch(key) else _value(key)} = {_value(each)}" for key, each in value.items()
        )
        return f"{{{', '.join(pairs)}}}"
    return json.dumps(value)
