"""Owners of leases: a name for each worker, by which the others can check whether it is alive."""

from __future__ import annotations

import os
import secrets
import socket


def new_owner() -> str:
    """Return a name that no other worker has: ``host:process:random``."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"


def others_at_work(place: str) -> str:
    """Return why a crawl cannot start over: other workers are active."""
    return (
        f"{place}: the crawl would start over, but other workers are at work on it: give all of them the same"
        " archive, or end them first"
    )


def is_gone(owner: str) -> bool:
    """Return whether an owner was a process of this machine that has ended.

    False for a process on another machine, and if another process now has the same id: in these cases only a
    missing heartbeat shows the end.

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
    except PermissionError:  # it is alive, and belongs to another user
        return False
    return False
