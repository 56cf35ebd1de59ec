"""How a fetch ended, read from what the server said."""

from __future__ import annotations

from archivebot.outcome.status import outcome_of

__all__ = ["outcome_of"]
