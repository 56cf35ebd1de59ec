"""The egg and the wheel hold the packages of the project with their data, and nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterable
from configparser import ConfigParser
from pathlib import Path, PurePosixPath

import pytest

from archivebot.sample.server import SampleSite

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


@pytest.mark.long
def test_a_wheel_has_a_working_program_in_any_folder(tmp_path: Path) -> None:
    """A new environment has the wheel alone; the libraries come from this one, without its checkout."""
    checkout = copy_of_checkout(tmp_path / "checkout")
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        "dist",
        ".",
    ]
    subprocess.run(build, cwd=checkout, check=True)
    (wheel,) = (checkout / "dist").iterdir()
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "new")], check=True)
    programs = tmp_path / "new/bin"
    place = Path(sysconfig.get_paths(vars={"base": str(tmp_path / "new")})["purelib"])
    subprocess.run([programs / "pip", "install", "-q", "--no-deps", str(wheel)], check=True)
    (place / "libraries.pth").write_text(
        sysconfig.get_paths()["purelib"] + "\n", "utf-8"
    )  # no .pth of it counts
    shutil.rmtree(checkout)
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ARCHIVE_", "PYTHON"))}
    kept.pop("SCRAPY_SETTINGS_MODULE", None)

    def run(*words: str, **environment: str) -> str:
        done = subprocess.run(
            [programs / words[0], *words[1:]],
            cwd=folder,
            env=kept | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    where = "import archivebot, spiders; print(archivebot.__file__, spiders.__path__)"
    assert run("python", "-c", where).count(str(place)) == 2
    with SampleSite(0).running() as site:
        assert "0 errors" in run("archivebot", "crawl", "site", "-a", f"seeds={site.url}", "-a", "pages=5")
    assert "Welcome to the library" in run("archivebot", "text", site.url)
    assert "0 damaged" in run("archivebot", "verify")
    spiders = run("python", "-m", "scrapy", "list", SCRAPY_SETTINGS_MODULE="archivebot.settings")
    assert spiders.split() == ["deepweb", "query", "recrawl", "site", "topic"]
