"""The lock on a file: one holder, and clear errors where no lock can be had."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from archivebot.exceptions import Busy, StorageError
from archivebot.jobs.instance import only_instance
from archivebot.storage.lock import lock


def test_one_holds_a_lock_until_it_closes_the_file(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with path.open("a+b") as first, path.open("a+b") as second:
        assert lock(first, path)
        assert not lock(second, path, 0.1)
        first.close()
        assert lock(second, path, 0.1)


def test_a_file_that_cannot_be_locked_is_named(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.touch()
    # The system locks no file that is open as a mere place, which stands in for a file system without locks.
    with (
        open(os.open(path, os.O_PATH), "rb", buffering=0) as file,
        pytest.raises(
            StorageError, match=r"lock cannot be locked: .* move it to a file system that has locks"
        ),
    ):
        lock(file, path)


def test_a_lock_on_a_full_disk_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.recrawl.lock").symlink_to("/dev/full")
    with (
        pytest.raises(StorageError, match=r"recrawl.lock cannot be written: "),
        only_instance(f"sqlite:///{tmp_path}/a.db"),
    ):
        pass


def test_a_holder_is_named_also_if_its_name_is_no_text(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path}/a.db"
    with only_instance(uri):
        with pytest.raises(Busy, match=f"process {os.getpid()} already"), only_instance(uri):
            pass
        (tmp_path / "a.recrawl.lock").write_bytes(b"\xff" * 1000)
        with pytest.raises(Busy, match="already visits"), only_instance(uri):
            pass
