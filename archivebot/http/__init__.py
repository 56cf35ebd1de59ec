"""The HTTP data of servers: status codes, content codings, robots.txt."""

from __future__ import annotations

from archivebot.http.status import outcome_of

__all__ = ["outcome_of"]
