"""Who may import whom."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

FLOOR = {"bounds", "config", "exceptions", "interrupt", "models", "terminal", "timestamps", "units"}

# Room -> the rooms of ours it may import, besides the floor.
ROOMS: dict[str, set[str]] = {
    **{room: set() for room in FLOOR},
    "sample": set(),
    "text": set(),
    "fingerprint": {"text"},
    "http": set(),
    "links": set(),
    "markup": {"text"},
    "urls": set(),
    "vision": {"text"},
    "content": {"markup", "text"},
    "duplicates": {"fingerprint"},
    "hypertext": {"text", "urls"},
    "quality": {"markup"},
    "records": set(),
    "segmentation": {"markup", "text"},
    "storage": set(),
    "templates": {"markup"},
    "versioning": {"markup", "text"},
    "warc": {"http", "urls"},
    "frontier": {"storage"},
    "labels": {"fingerprint", "markup", "segmentation", "templates", "text"},
    "significance": {"content", "markup", "text"},
    "topic": {"hypertext", "text", "urls"},
    "archive": {
        "content",
        "duplicates",
        "fingerprint",
        "http",
        "markup",
        "quality",
        "segmentation",
        "significance",
        "storage",
        "urls",
        "versioning",
    },
    "forms": {"hypertext", "markup", "storage", "text", "topic", "urls"},
    "": {"archive"},  # the package itself: its public names
    "cli": {"archive", "frontier"},
    "crawl": {
        "archive",
        "forms",
        "frontier",
        "http",
        "hypertext",
        "links",
        "records",
        "text",
        "topic",
        "urls",
    },
    "jobs": {"archive", "forms", "hypertext", "markup", "storage", "topic"},
    "commands": {
        "archive",
        "cli",
        "content",
        "duplicates",
        "fingerprint",
        "forms",
        "frontier",
        "jobs",
        "labels",
        "links",
        "markup",
        "quality",
        "segmentation",
        "storage",
        "templates",
        "text",
        "topic",
        "urls",
        "versioning",
        "vision",
        "warc",
    },
    "pipelines": {"archive", "crawl", "frontier", "urls"},
    "settings": {""},
    "spiders": {"archive", "crawl", "forms", "frontier", "urls"},
}

# What is foreign -> the rooms or modules that may import it; everything else of ours may not.
FOREIGN: dict[str, set[str]] = {
    "scrapy": {"crawl", "commands", "cli", "settings", "spiders", "pipelines"},
    "twisted": {"crawl"},
    "zope": {"crawl"},
    "sqlite3": {"storage", "frontier"},
    "redis": {"frontier/redis.py"},
    "scrapy_redis": {"crawl/scheduling/redis.py"},
    "numpy": {"content", "duplicates", "fingerprint", "forms", "links", "significance", "topic"},
    "scipy": {"forms", "links", "topic"},
    "matplotlib": {"jobs/harvest.py"},
    "playwright": {"vision/render.py"},
    "pymongo": {"storage/mongo/database.py", "storage/mongo/revisits.py"},
    "turbohtml": {
        "content",
        "markup",
        "quality",
        "segmentation",
        "significance/attributes.py",
        "text/language.py",
    },
    "datasketch": {"fingerprint/minhash.py"},
    "lxml": {"forms", "hypertext"},
    "ada_url": {"urls/canonical.py"},
    "tldextract": {"urls/scope.py"},
    "Stemmer": {"text/terms.py"},
    "py3langid": {"text/language.py"},
    "babel": {"content/days.py"},
    "backports": {"http/codings.py", "storage/frames.py"},
    "brotli": {"http/codings.py"},
}


def sources() -> Iterator[tuple[str, Path]]:
    """Give every source file with the room it stands in."""
    for path in sorted((ROOT / "archivebot").rglob("*.py")):
        parts = path.relative_to(ROOT / "archivebot").parts
        yield (parts[0] if len(parts) > 1 else path.stem.replace("__init__", "")), path
    for room in ("spiders", "pipelines"):
        for path in sorted((ROOT / room).rglob("*.py")):
            yield room, path


def imports(path: Path) -> Iterator[str]:
    """Give the dotted names that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            yield str(node.module)


@pytest.mark.parametrize(("room", "path"), list(sources()), ids=lambda value: getattr(value, "name", value))
def test_a_module_imports_only_what_its_room_may(room: str, path: Path) -> None:
    assert room in ROOMS, f"{room} is not in the table: say who may import it, and whom it may"
    allowed = ROOMS[room] | FLOOR | {room}
    for name in imports(path):
        top, _, rest = name.partition(".")
        if top == "archivebot":
            assert rest.partition(".")[0] in allowed, f"{path.relative_to(ROOT)} imports {name}"
        elif top in ("spiders", "pipelines"):
            assert top == room, f"{path.relative_to(ROOT)} imports {name}"
        elif top in FOREIGN:
            here = path.relative_to(ROOT / "archivebot" if room not in ("spiders", "pipelines") else ROOT)
            places = FOREIGN[top]
            assert room in places or here.as_posix() in places, f"{path.relative_to(ROOT)} imports {name}"


def test_the_rooms_form_no_circle() -> None:
    done: set[str] = set(FLOOR)
    waiting = {room: needs - FLOOR - {room} for room, needs in ROOMS.items()}
    while ready := {room for room, needs in waiting.items() if needs <= done}:
        done |= ready
        waiting = {room: needs for room, needs in waiting.items() if room not in ready}
    assert not waiting


# Those that talk past the door: it itself, and the script that shows the sample, which prints its own words.
DOORS = {ROOT / "archivebot/terminal.py", ROOT / "archivebot/sample/__main__.py"}


def test_nothing_is_printed_past_the_door_to_the_terminal() -> None:
    past = []
    for _, path in sources():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))) if path not in DOORS else ():
            printed = isinstance(node, ast.Name) and node.id == "print"
            streams = ("stdout", "stderr", "__stdout__", "__stderr__")
            if printed or (isinstance(node, ast.Attribute) and node.attr in streams):
                past.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    # A crawl is given the stream that it tells its progress on; what it writes there is made harmless.
    assert [place for place in past if not place.startswith("archivebot/crawl/extensions/progress.py")] == []


def test_no_source_file_is_longer_than_400_lines() -> None:
    assert {path.name for _, path in sources() if len(path.read_text("utf-8").splitlines()) > 400} == set()


def test_every_module_opens_with_one_sentence_that_says_what_lives_there() -> None:
    for _, path in sources():
        docstring = ast.get_docstring(ast.parse(path.read_text("utf-8")))
        if path.stat().st_size:
            assert docstring, path
            assert docstring.splitlines()[0].endswith((".", ":", ";")), path
