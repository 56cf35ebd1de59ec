"""The tree of errors: as drawn, with an exit code each."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from archivebot import exceptions
from archivebot.archive.process.worker import Crashed
from archivebot.exceptions import ArchiveError

DRAWN = re.compile(r"^ {4}(?P<branch>[│├└─ ]*)(?P<name>\w+) *(?P<meaning>.*?)(?: +exit (?P<code>\d+))?$")


def classes(base: type[ArchiveError] = ArchiveError) -> Iterator[type[ArchiveError]]:
    if base.__module__ == exceptions.__name__:
        yield base
        for child in base.__subclasses__():
            yield from classes(child)


def drawn() -> dict[str, tuple[str, int | None]]:
    """Read the tree in the module's docstring: name -> (name of the parent, exit code if drawn)."""
    found: dict[str, tuple[str, int | None]] = {}
    above = ["ArchiveError"]
    for line in str(exceptions.__doc__).partition("::\n\n")[2].splitlines():
        match = DRAWN.match(line)
        if match:
            depth = len(match["branch"]) // 4
            above[depth:] = [match["name"]]
            found[match["name"]] = (
                above[depth - 1] if depth else "",
                int(match["code"]) if match["code"] else None,
            )
    return found


def test_the_drawn_tree_is_the_tree_of_the_classes() -> None:
    real = {child.__name__: base.__name__ for base in classes() for child in base.__subclasses__()}
    assert Crashed.__name__ in real  # it stands with the processes that crash
    assert {name: parent for name, (parent, _) in drawn().items()} == {"ArchiveError": "", **real}


def test_the_drawn_exit_codes_are_those_of_the_classes() -> None:
    codes = {error.__name__: error.exit_code for error in classes()}
    told = {name: code for name, (_, code) in drawn().items() if code is not None}
    assert len(told) == 8
    assert told == {name: codes[name] for name in told}


@pytest.mark.parametrize("error", list(classes()))
def test_every_error_ends_a_command_with_a_code_that_is_not_success(error: type[ArchiveError]) -> None:
    assert 1 <= error.exit_code <= 125


def test_only_nothing_found_and_usage_have_the_first_two_codes() -> None:
    found = {error.__name__: error.exit_code for error in classes() if error.exit_code < 3}
    assert found == {"NotArchived": 1, "Pruned": 1, "UsageError": 2}


@pytest.mark.parametrize("error", list(classes()))
def test_every_error_says_when_it_is_raised(error: type[ArchiveError]) -> None:
    assert error.__doc__


@pytest.mark.parametrize("error", list(classes()))
def test_the_message_is_what_was_given(error: type[ArchiveError]) -> None:
    assert str(error("do this")) == "do this"
