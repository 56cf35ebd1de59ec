"""The token that a client needs to write."""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass, field
from pathlib import Path

from starlette.exceptions import HTTPException

from archivebot.exceptions import UsageError

# Characters of a token: fewer can be guessed.
SHORTEST = 16


@dataclass(frozen=True, slots=True)
class Token:
    """The token of a server; a server without a token only reads."""

    value: str = field(default="", repr=False)

    @classmethod
    def read(cls, path: Path | None) -> Token:
        """Return the token in the first line of a file; raises UsageError if it cannot be used."""
        if path is None:
            return cls()
        try:
            token = path.read_text("utf-8").partition("\n")[0].strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or error
            raise UsageError(f"the token file {path} cannot be read: {reason}") from error
        if len(token) < SHORTEST:
            raise UsageError(
                f"the token in {path} is too short: write at least {SHORTEST} characters in its first line"
            )
        if not re.fullmatch("[ -~]+", token):  # other characters do not arrive in a header as they were sent
            raise UsageError(f"the token in {path} has a character that is not ASCII: write another token")
        return cls(token)

    def check(self, authorization: str) -> None:
        """Raise HTTPException unless the value of an Authorization header has the token."""
        if not self.value:
            raise HTTPException(
                403,
                "this server only reads: start it with --token-file, so that clients may start crawls"
                " and add watches",
            )
        scheme, _, given = authorization.partition(" ")
        right = hmac.compare_digest(given.strip().encode(), self.value.encode())
        if scheme.lower() != "bearer" or not right:
            raise HTTPException(
                401,
                "send the token of the server: Authorization: Bearer TOKEN",
                {"WWW-Authenticate": "Bearer"},
            )
