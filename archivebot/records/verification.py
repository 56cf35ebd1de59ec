"""The result of a verification as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from archivebot.models import Damage


def verification_record(checked: int, pruned: int, damaged: Iterable[Damage]) -> dict[str, Any]:
    """Return the numbers of versions checked and of pruned versions, and the damage found, as a record."""
    return {"checked": checked, "pruned": pruned, "damaged": list(map(asdict, damaged))}
