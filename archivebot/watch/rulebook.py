"""A rules file that programs add rules to."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from archivebot.exceptions import Conflict, StorageError, UsageError
from archivebot.storage.lock import lock
from archivebot.toml.tables import listed, tables
from archivebot.watch.file import RULE_KEYS, read_rule

# Bytes of a rules file to which nothing more is added: some thousand rules.
LARGEST = 1_000_000

# Seconds to wait for another program that adds a rule, and how often a rule is added to a file that changes.
PATIENCE, TRIES = 10.0, 5

_BARE = re.compile(r"[A-Za-z0-9_-]+")


class Rulebook:
    """The rules file at a path, "" for none. What was written by hand in it stays as it is."""

    def __init__(self, path: str) -> None:
        self.path = Path(path.removeprefix("@")) if path else None

    def rules(self) -> list[dict[str, Any]]:
        """Return the rules as tables, none if there is no file; raises StorageError if it cannot be read."""
        found = _read(self.path)[1] if self.path else []
        return [{key: rule[key] for key in RULE_KEYS if key in rule} for rule in found]

    def add(self, rule: Mapping[str, Any]) -> None:
        """Add a rule at the end of the file, which is made if there is none.

        The outputs of the rule must be in the file. A lock beside the file lets one program at a time add
        rules. If the file changes meanwhile, for example in an editor, the rule is added to the changed file.
        Raises UsageError if the rule is wrong, Conflict if its name is taken, StorageError if the file cannot
        be read or written.
        """
        if self.path is None:
            raise StorageError("no rules file is watched: set ARCHIVE_WATCH, as rules.toml")
        path = self.path.resolve()
        try:
            with path.with_name(f"{path.name}.lock").open("ab") as file:
                if not lock(file, Path(path.name), PATIENCE):
                    raise StorageError(f"another program is adding rules to {path.name}: try again")
                for _ in range(TRIES):
                    before, found = _read(path)
                    if _replaced(path, before, _longer(path.name, before, found, rule)):
                        return
        except OSError as error:
            raise StorageError(f"{path.name} cannot be written: {error.strerror}") from error
        raise StorageError(f"{path.name} changes again and again: try again")


def _read(path: Path) -> tuple[bytes, list[dict[str, Any]]]:
    """Return the bytes and the rules of a file; there is none of either if there is no file."""
    data = _data(path)
    try:
        return data, listed(tables(data.decode("utf-8-sig"), path.name), "rule", path.name)
    except UsageError as error:
        raise StorageError(f"{error}; mend the file") from error
    except UnicodeDecodeError as error:
        raise StorageError(f"{path.name} is not UTF-8: {error}; mend the file") from error


def _data(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise StorageError(f"{path.name} cannot be read: {error.strerror}") from error


def _longer(name: str, before: bytes, found: list[dict[str, Any]], rule: Mapping[str, Any]) -> bytes:
    """Return the bytes of a file with one more rule, which follows the line ends of the file."""
    try:
        table = _table(rule).encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"the rule is no text in UTF-8: {error}") from error
    outputs = tables(before.decode("utf-8-sig"), name).get("output", {})
    read = read_rule(rule, "the rule", list(outputs) if isinstance(outputs, dict) else [])
    if read.name in [each.get("name") for each in found]:
        raise Conflict(f"{read.name!r} is the name of another rule: choose another name")
    line = b"\r\n" if b"\r\n" in before else b"\n"
    kept = before.rstrip()
    added = kept + line * 2 * bool(kept) + table.replace(b"\n", line)
    if len(added) > LARGEST:
        raise StorageError(f"{name} would have more than {LARGEST:,} bytes: remove rules that are not needed")
    if listed(tables(added.decode("utf-8-sig"), name), "rule", name) != [*found, dict(rule)]:
        raise StorageError(f"no rule can be added to {name}: write its rules as [[rule]] tables")
    return added


def _replaced(path: Path, before: bytes, after: bytes) -> bool:
    """Replace a file as a whole, so that no reader sees half of it; False if it has changed."""
    temporary = None
    try:
        with NamedTemporaryFile("wb", dir=path.parent, delete=False) as file:
            temporary = Path(file.name)
            file.write(after)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o600)
        if _data(path) != before:
            return False
        temporary.replace(path)
        temporary = None
    finally:
        if temporary:
            with suppress(OSError):
                temporary.unlink()
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # otherwise a power cut could bring back the file before
    finally:
        os.close(folder)
    return True


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
