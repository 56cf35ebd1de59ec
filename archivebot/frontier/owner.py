"""Owners of leases: a name for each worker, by which the others can tell whether it still lives."""

from __future__ import annotations

import os
import secrets
import socket


def new_owner() -> str:
    """Make a name that no other worker has: ``host:process:random``."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"


def others_at_work(place: str) -> str:
    """Explain why a crawl cannot begin anew although its archive lost pages: other workers are at it."""
    return (
        f"{place}: the crawl relies on pages that this archive does not hold, and other workers are at work"
        " on it: give all of them the same archive, or end them first"
    )


def is_gone(owner: str) -> bool:
    """Return whether an owner was a process of this machine that has ended.

    False for what runs elsewhere, and for a process whose number another one has by now: of these only
    silence tells.

    >>> is_gone(new_owner()), is_gone("elsewhere.invalid:1:00000000")
    (False, False)
    """
    machine, process, _ = owner.rsplit(":", 2)
    if machine != socket.gethostname():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # it lives, and belongs to another user
        return False
    return False
