"""Who may import whom: rooms on at most seven floors, no circle, no file loose or long."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# The modules that every room may import.
FLOOR = set(
    "bounds config exceptions garbage interrupt kinds metadata models terminal timestamps units wire".split()
)

# What else lies in archivebot/ itself: Scrapy looks for the settings there, Python for the public names.
LOOSE = {"settings", ""}

FLOORS = 7
LONGEST = 400

# Room -> the rooms of ours it may import, besides the floor.
ROOMS: dict[str, set[str]] = {
    **{room: set() for room in FLOOR},
    "sample": set(),
    "schedule": set(),
    "text": set(),
    "fingerprint": {"text"},
    "net": set(),
    "proof": {"net"},
    "http": set(),
    "links": set(),
    "markup": {"documents", "text"},
    "urls": set(),
    "vision": {"text"},
    "toml": {"urls"},
    "access": {"toml", "urls"},
    "collection": {"toml", "urls"},
    "content": {"documents", "markup", "text"},
    "documents": set(),
    "duplicates": {"fingerprint"},
    "hypertext": {"markup", "text", "urls"},
    "quality": {"markup"},
    "segmentation": {"markup", "text"},
    "storage": {"proof", "urls"},
    "templates": {"markup"},
    "versioning": {"markup", "text"},
    "replay": {"markup", "urls"},
    "warc": {"http", "urls"},
    "export": {"markup", "proof", "versioning", "warc"},
    "fields": {"content", "markup", "text", "toml"},
    "forms": {"hypertext", "markup", "storage", "text", "urls"},
    "frontier": {"storage"},
    "labels": {"fingerprint", "markup", "segmentation", "templates", "text"},
    "search": {"storage", "text"},
    "significance": {"content", "documents", "markup", "text"},
    "topic": {"documents", "hypertext", "markup", "text", "urls"},
    "archive": {
        "labels",
        "collection",
        "content",
        "documents",
        "duplicates",
        "fields",
        "fingerprint",
        "http",
        "markup",
        "quality",
        "segmentation",
        "proof",
        "significance",
        "storage",
        "urls",
        "versioning",
    },
    "records": {
        *("content", "duplicates", "forms", "frontier", "labels", "proof", "storage", "templates"),
        *("topic", "urls"),
    },
    "watch": {"net", "storage", "toml", "text", "urls", "versioning"},
    "": {"archive"},  # the package itself: its public names
    "cli": {"archive", "frontier", "significance", "text", "versioning", "vision"},
    "crawl": {
        "access",
        "archive",
        "collection",
        "documents",
        "export",
        "fields",
        "forms",
        "frontier",
        "http",
        "hypertext",
        "links",
        "markup",
        "records",
        "replay",
        "schedule",
        "text",
        "topic",
        "urls",
    },
    "web": {
        "archive",
        "documents",
        "markup",
        "net",
        "records",
        "replay",
        "search",
        "storage",
        "urls",
        "versioning",
        "watch",
    },
    "jobs": {
        "archive",
        "content",
        "duplicates",
        "export",
        "fingerprint",
        "forms",
        "frontier",
        "hypertext",
        "labels",
        "links",
        "markup",
        "proof",
        "records",
        "schedule",
        "search",
        "storage",
        "templates",
        "text",
        "topic",
        "urls",
        "warc",
        "fields",
        "versioning",
        "watch",
    },
    "commands": {
        "",
        "archive",
        "cli",
        "collection",
        "content",
        "crawl",
        "duplicates",
        "export",
        "fields",
        "fingerprint",
        "forms",
        "frontier",
        "jobs",
        "labels",
        "markup",
        "proof",
        "quality",
        "records",
        "schedule",
        "search",
        "segmentation",
        "storage",
        "templates",
        "text",
        "topic",
        "urls",
        "versioning",
        "vision",
        "warc",
        "watch",
        "web",
    },
    "pipelines": {"archive", "crawl", "frontier", "urls", "warc"},
    "program": {"", "crawl", "storage"},
    "settings": {""},
    "spiders": {"archive", "crawl", "forms", "frontier", "hypertext", "jobs", "schedule", "urls"},
}

# What is foreign -> the rooms or modules that may import it; everything else of ours may not.
FOREIGN: dict[str, set[str]] = {
    "scrapy": {"crawl", "commands", "cli", "program", "settings", "spiders", "pipelines"},
    "shtab": {"program/completion.py"},
    "twisted": {"crawl"},
    "zope": {"crawl"},
    "sqlite3": {"storage", "frontier", "search", "watch/outbox.py", "watch/sent.py"},
    "redis": {"frontier/redis.py"},
    "scrapy_redis": {"crawl/scheduling/redis.py"},
    "numpy": {
        *("content", "duplicates", "fingerprint", "forms", "links", "schedule", "significance", "topic"),
        "markup/page.py",
        "markup/seen.py",
    },
    "scipy": {"forms", "links", "topic"},
    "matplotlib": {"jobs/harvest.py"},
    "playwright": {"vision/render.py"},
    "pymongo": {"storage/mongo/database.py"},
    "parsel": {"fields"},
    "form2request": {"crawl/middlewares/access.py"},
    "turbohtml": {
        "content",
        "fields/file.py",
        "hypertext",
        "labels",
        "markup",
        "quality",
        "replay",
        "segmentation",
        "significance/attributes.py",
        "significance/reading.py",
        "significance/watched.py",
        "text/language.py",
    },
    "cryptography": {"proof/signing.py", "proof/stamp.py"},
    "rfc3161_client": {"proof/stamp.py"},
    "datasketch": {"fingerprint/minhash.py"},
    "starlette": {"web"},
    "uvicorn": {"web/server.py", "web/connections.py"},
    "h11": {"web/connections.py"},
    "jinja2": {"web/templating.py"},
    "lxml": {"forms", "hypertext/entries.py"},
    "regex": {"replay/cdx.py"},
    "ada_url": {"urls/canonical.py"},
    "tldextract": {"urls/scope.py"},
    "Stemmer": {"text/terms.py"},
    "py3langid": {"text/language.py"},
    "babel": {"content/days.py"},
    "wcwidth": {"cli/printing.py"},
    "backports": {"http/codings.py", "storage/frames.py"},
    "brotli": {"http/codings.py"},
}


# Room of the crawl -> the rooms of the crawl it may import.
CRAWL: dict[str, set[str]] = {
    "": set(),
    "arguments": {"limits"},
    "collections": {"arguments"},
    "limits": set(),
    "logformatter": set(),
    "meanings": set(),
    "compat": {"exchange"},
    "exchange": set(),
    "extension": set(),
    "feed": set(),
    "refusals": set(),
    "downloader": {"refusals"},
    "process": {"extension", "reading"},
    "reading": {"compat", "exchange"},
    "retry": {"compat"},
    "intake": {"retry"},
    "scheduling": {"arguments", "compat", "extension", "process", "retry"},
    "answers": {"compat", "exchange", "intake", "reading"},
    "extensions": {"arguments", "compat", "downloader", "extension", "process", "scheduling"},
    "scheduler": {"arguments", "scheduling"},
    "spider": {
        *("arguments", "collections", "exchange", "process", "reading", "refusals", "retry", "scheduling"),
    },
    "middlewares": {
        *("arguments", "extensions", "intake", "process", "reading", "refusals", "retry", "scheduling"),
        *("compat", "exchange", "limits", "spider"),
    },
    "plain": {"spider"},
}

# The one folder that uses what Scrapy and Twisted call private.
PRIVATE = ROOT / "archivebot/crawl/compat"


def sources() -> Iterator[tuple[str, Path]]:
    """Yield every source file with the room it stands in."""
    for path in sorted((ROOT / "archivebot").rglob("*.py")):
        yield room_of(module_of(path)), path
    for room in ("spiders", "pipelines"):
        for path in sorted((ROOT / room).rglob("*.py")):
            yield room, path


def module_of(path: Path) -> str:
    """Return the dotted name of a source file."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def room_of(module: str) -> str:
    """Return the room of a module of ours; "" for the package itself."""
    top, _, rest = module.partition(".")
    return rest.partition(".")[0] if top == "archivebot" else top


MODULES = {module_of(path): path for _, path in sources()}


@cache
def imports(path: Path) -> tuple[str, ...]:
    """Return the dotted names that a file imports, wherever in it, for types only or not."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            named = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in MODULES else str(node.module) for name in named)


def is_ours(name: str) -> bool:
    """Return whether a module is part of this project."""
    return name.partition(".")[0] in ("archivebot", "spiders", "pipelines")


@pytest.mark.parametrize(("room", "path"), list(sources()), ids=lambda value: getattr(value, "name", value))
def test_a_module_imports_only_what_its_room_may(room: str, path: Path) -> None:
    assert room in ROOMS, f"{room} is not in the table: say who may import it, and whom it may"
    allowed = ROOMS[room] | FLOOR | {room}
    for name in imports(path):
        top = name.partition(".")[0]
        if top == "archivebot":
            assert room_of(name) in allowed, f"{path.relative_to(ROOT)} imports {name}"
        elif top in ("spiders", "pipelines"):
            assert top == room, f"{path.relative_to(ROOT)} imports {name}"
        elif top in FOREIGN:
            here = path.relative_to(ROOT / "archivebot" if room not in ("spiders", "pipelines") else ROOT)
            places = FOREIGN[top]
            at = {room, here.as_posix(), here.parent.as_posix()}
            assert at & places, f"{path.relative_to(ROOT)} imports {name}"


def test_the_rooms_of_the_crawl_import_only_what_they_may() -> None:
    for module, path in MODULES.items():
        if module.startswith("archivebot.crawl"):
            room = inside(module)
            assert room in CRAWL, f"{room} is not in the table of the crawl"
            found = {inside(name) for name in imports(path) if name.startswith("archivebot.crawl")}
            assert found <= CRAWL[room] | {room}, f"{path.relative_to(ROOT)} imports {found}"
    list(TopologicalSorter(CRAWL).static_order())


def inside(module: str) -> str:
    """Return the room of the crawl that a module stands in."""
    return module.removeprefix("archivebot.crawl").strip(".").partition(".")[0]


def test_no_file_imports_itself_by_way_of_others() -> None:
    graph = {module: set(filter(is_ours, imports(path))) for module, path in MODULES.items()}
    list(TopologicalSorter(graph).static_order())


def test_the_rooms_stand_on_at_most_seven_floors() -> None:
    below: dict[str, set[str]] = {}
    for room, path in sources():
        below.setdefault(room, set()).update(room_of(name) for name in imports(path) if is_ours(name))
    graph = {room: rooms - {room} for room, rooms in below.items()}
    floors: dict[str, int] = {}
    for room in TopologicalSorter(graph).static_order():
        floors[room] = 1 + max((floors[other] for other in graph[room]), default=0)
    assert max(floors.values()) <= FLOORS, sorted(floors, key=floors.__getitem__)[-5:]


def test_every_room_has_a_folder_and_only_the_floor_lies_loose() -> None:
    loose = {path.stem.replace("__init__", "") for path in (ROOT / "archivebot").glob("*.py")}
    assert loose == FLOOR | LOOSE
    assert set(ROOMS) == {room for room, _ in sources()}


def test_what_others_call_private_is_used_in_one_folder() -> None:
    for room, path in sources():
        if PRIVATE in path.parents or room not in {"crawl", "cli", "commands", "spiders", "pipelines"}:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and not is_ours(str(node.module)):
                names = [*str(node.module).split("."), *(alias.name for alias in node.names)]
                private = [name for name in names if re.match("_[a-z]", name, re.IGNORECASE)]
                assert private == [], f"{path.relative_to(ROOT)} imports {private}"
            elif isinstance(node, ast.Attribute) and re.match("_[a-z]", node.attr, re.IGNORECASE):
                own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
                assert own or node.attr == "_replace", f"{path.relative_to(ROOT)}:{node.lineno}: {node.attr}"


def test_the_settings_of_the_archive_are_read_in_one_file() -> None:
    for room, path in sources():
        if room not in ("config", "settings"):
            nodes = ast.walk(ast.parse(path.read_text("utf-8")))
            found = [str(node.value) for node in nodes if isinstance(node, ast.Constant)]
            read = [value for value in found if re.fullmatch("ARCHIVE_[A-Z0-9_]+", value)]
            assert read == [], f"{path.relative_to(ROOT)} reads {read}"


# Those that talk past the door: it itself, and the script that shows the sample, which prints its own words.
DOORS = {ROOT / "archivebot/terminal.py", ROOT / "archivebot/sample/__main__.py"}


@pytest.mark.long
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


def test_no_source_file_is_too_long() -> None:
    assert {
        path.name for _, path in sources() if len(path.read_text("utf-8").splitlines()) > LONGEST
    } == set()


def test_every_module_opens_with_one_sentence_that_says_what_lives_there() -> None:
    for _, path in sources():
        docstring = ast.get_docstring(ast.parse(path.read_text("utf-8")))
        if path.stat().st_size:
            assert docstring, path
            assert docstring.splitlines()[0].endswith((".", ":", ";")), path
