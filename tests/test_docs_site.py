"""The documents as a site: Sphinx builds them all without a warning, with the docstrings of the classes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from archivebot.archive import Archive
from tests.sessions import DOCUMENTS, ROOT

TAGS = re.compile("<[^>]+>")


def test_every_document_is_in_the_contents() -> None:
    index = ROOT / "docs/index.md"
    listed = re.findall(r"^([\w/-]+)$", index.read_text("utf-8"), re.MULTILINE)
    documents = {
        path.relative_to(ROOT / "docs").with_suffix("") for path in DOCUMENTS if "docs" in path.parts
    }
    assert sorted(listed) == sorted(map(str, documents - {Path("index")}))


@pytest.mark.long
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    words = ["--quiet", "--fail-on-warning", "--keep-going", "-b", "html", "docs", str(tmp_path)]
    command = [sys.executable, "-m", "sphinx", "-d", str(tmp_path / "trees"), *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    api = unescape(TAGS.sub("", (tmp_path / "api.html").read_text("utf-8")))
    assert [name for name in dir(Archive) if not name.startswith("_") and name not in api] == []
    assert "Return what happened to each block between two versions of a page." in api
    assert "Keep a Changelog" in (tmp_path / "changelog.html").read_text("utf-8")
    assert json.loads((tmp_path / "capture.schema.json").read_text("utf-8"))["properties"]
    assert (tmp_path / "guides/watch-a-site.html").is_file()
