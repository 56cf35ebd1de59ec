"""The WARC reader beside warcio on small real files of warcio and cdxj-indexer (Apache-2.0)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT


def test_no_response_that_warcio_reads_is_lost_or_differs_without_a_reason() -> None:
    folder = Path(__file__).parent / "warc"
    command = [sys.executable, "benchmarks/warc.py", str(folder), "--list"]
    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok") == 2
