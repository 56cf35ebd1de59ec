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


def run(folder: Path, ci: str, **files: tuple[str, str]) -> subprocess.CompletedProcess[str]:
    """Run tests, each given as its code and the reason in it."""
    for name, (code, reason) in files.items():
        (folder / f"test_{name}.py").write_text(code.format(reason=reason))
    command = [sys.executable, "-m", "pytest", "-p", "tests.strict_skips", f"--rootdir={folder}", str(folder)]
    return subprocess.run(
        [*command, "-c", os.devnull], cwd=ROOT, env={**os.environ, "CI": ci}, text=True, capture_output=True
    )


@pytest.mark.long
def test_skips_without_leave_turn_the_run_red_under_ci(tmp_path: Path) -> None:
    refused = {"skipped": SKIPPED, "module": MODULE_SKIPPED, "marked": MARKED}
    ran = run(
        tmp_path,
        "true",
        **{name: (code, "no server") for name, code in refused.items()},
        allowed=(SKIPPED, "allowed: no server"),
        expected=(EXPECTED, "known"),
    )
    assert ran.returncode == 1
    told = ran.stdout.partition("counts as failed")[2].splitlines()
    named = sorted(line.partition(".py")[0] for line in told if line.endswith(": no server"))
    assert named == sorted(f"test_{name}" for name in refused)
    assert "allowed" not in "".join(told)
    assert "expected" not in "".join(told)


@pytest.mark.long
def test_skips_with_leave_and_expected_failures_pass_under_ci(tmp_path: Path) -> None:
    leave = "allowed: no server"
    ran = run(tmp_path, "true", skipped=(SKIPPED, leave), marked=(MARKED, leave), failed=(EXPECTED, "known"))
    assert ran.returncode == 0


@pytest.mark.long
def test_at_a_desk_every_skip_passes(tmp_path: Path) -> None:
    assert run(tmp_path, "", skipped=(SKIPPED, "no server")).returncode == 0
