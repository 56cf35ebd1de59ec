"""The egg holds the project's packages with their data, and nothing else."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from configparser import ConfigParser
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("archivebot", "spiders", "pipelines")


def copy_of_checkout(target: Path) -> Path:
    """Copy what a build reads, and what it must leave out, so that it leaves nothing in the checkout."""
    litter = shutil.ignore_patterns("__pycache__", ".*", "build", "dist", "*.egg-info", "*.db*")
    return Path(shutil.copytree(ROOT, target, ignore=litter))


def files_of_packages() -> set[str]:
    """The files of the packages as the checkout has them, code and data."""
    return {
        file.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for file in (ROOT / package).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }


def without_caches(names: Iterable[str]) -> set[str]:
    return {name for name in names if "__pycache__" not in PurePosixPath(name).parts}


@pytest.fixture(scope="module")
def egg(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    checkout = copy_of_checkout(tmp_path_factory.mktemp("build") / "checkout")
    target = checkout.parent / "built"
    command = [sys.executable, "setup.py", "-q", "bdist_egg", "-d", str(target)]
    subprocess.run(command, cwd=checkout, check=True, capture_output=True)
    (file,) = target.iterdir()
    return zipfile.ZipFile(file)


def test_all_files_of_the_packages_are_in_it_and_no_others(egg: zipfile.ZipFile) -> None:
    names = without_caches(egg.namelist())
    metadata = {name for name in names if "INFO/" in name}
    assert names - metadata == files_of_packages()


def test_the_data_files_are_among_them(egg: zipfile.ZipFile) -> None:
    names = set(egg.namelist())
    assert "archivebot/text/stopwords.txt" in names
    assert any(name.startswith("archivebot/sample/") and name.endswith(".html") for name in names)


def test_every_package_has_its_init(egg: zipfile.ZipFile) -> None:
    code = [PurePosixPath(name) for name in egg.namelist() if name.endswith(".py")]
    assert {str(file.parent) for file in code} == {
        str(file.parent) for file in code if file.name == "__init__.py"
    }


def test_scrapyd_finds_the_settings(egg: zipfile.ZipFile) -> None:
    (name,) = [name for name in egg.namelist() if name.endswith("entry_points.txt")]
    entries = ConfigParser()
    entries.read_string(egg.read(name).decode())
    assert dict(entries["scrapy"]) == {"settings": "archivebot.settings"}
