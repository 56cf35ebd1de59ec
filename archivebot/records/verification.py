"""The result of a verification as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from archivebot.models import Damage


def verification_record(checked: int, damaged: Iterable[Damage]) -> dict[str, Any]:
    """Return the number of versions checked and the damage found as a record."""
    return {"checked": checked, "damaged": list(map(asdict, damaged))}
