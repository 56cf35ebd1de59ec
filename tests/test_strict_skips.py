"""Skips under CI: allowed ones pass, others turn the run red."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contracts.store import ROOT

SKIPPED = "import pytest\ndef test_it():\n    pytest.skip({reason!r})\n"
MODULE_SKIPPED = "import pytest\npytest.skip({reason!r}, allow_module_level=True)\n"
MARKED = "import pytest\n@pytest.mark.skipif(True, reason={reason!r})\ndef test_it(): pass\n"
EXPECTED = "import pytest\n@pytest.mark.xfail(reason={reason!r})\ndef test_it(): assert False\n"


def run(folder: Path, code: str, reason: str, ci: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_sample.py").write_text(code.format(reason=reason))
    command = [sys.executable, "-m", "pytest", "-p", "tests.strict_skips", f"--rootdir={folder}", str(folder)]
    return subprocess.run(
        [*command, "-c", os.devnull], cwd=ROOT, env={**os.environ, "CI": ci}, text=True, capture_output=True
    )


@pytest.mark.parametrize("code", [SKIPPED, MODULE_SKIPPED, MARKED])
def test_a_skip_without_leave_turns_the_run_red_under_ci(tmp_path: Path, code: str) -> None:
    ran = run(tmp_path, code, "no server", ci="true")
    assert ran.returncode == 1
    assert "test_sample.py" in ran.stdout
    assert ": no server" in ran.stdout


@pytest.mark.parametrize("code", [SKIPPED, MARKED])
def test_a_skip_that_says_it_is_allowed_passes(tmp_path: Path, code: str) -> None:
    assert run(tmp_path, code, "allowed: no server", ci="true").returncode == 0


def test_a_failure_that_was_expected_is_no_skip(tmp_path: Path) -> None:
    assert run(tmp_path, EXPECTED, "known", ci="true").returncode == 0


def test_at_a_desk_every_skip_passes(tmp_path: Path) -> None:
    assert run(tmp_path, SKIPPED, "no server", ci="").returncode == 0
