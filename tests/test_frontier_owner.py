"""Owners of leases, alive and dead."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from archivebot.frontier.owner import is_gone, new_owner


def test_a_process_has_as_many_owners_as_it_wants() -> None:
    first, second = new_owner(), new_owner()
    assert first != second
    assert first.startswith(f"{socket.gethostname()}:{os.getpid()}:")
    assert not is_gone(first)


def test_a_process_that_was_killed_is_gone() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        owner = f"{socket.gethostname()}:{process.pid}:00000000"
        assert not is_gone(owner)
        process.kill()
    assert is_gone(owner)
    assert not is_gone(f"elsewhere.invalid:{process.pid}:00000000")


def test_a_process_of_another_user_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(process: int, signal: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", refuse)
    assert not is_gone(f"{socket.gethostname()}:1:00000000")
