"""The pages that the answer of a command leaves out."""

from __future__ import annotations

from archivebot.exceptions import CorruptObject
from archivebot.terminal import note


class LeftOut:
    """Reports each damaged page when it is called, and has the exit code of the command.

    >>> LeftOut().exit_code(1)
    1
    """

    def __init__(self) -> None:
        self._count = 0

    def __call__(self, url: str, error: CorruptObject) -> None:
        """Report a page that cannot be read."""
        self._count += 1
        note(f"{url} is left out: {error}")

    def exit_code(self, otherwise: int) -> int:
        """Return the exit code of damage if a page was left out."""
        return CorruptObject.exit_code if self._count else otherwise
