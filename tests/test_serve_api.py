"""The API of scrapy serve: every answer has the shape that /openapi.json says, and errors say what to do."""

from __future__ import annotations

import importlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import timedelta
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode

import pytest

from archivebot import Archive, ArchiveConfig
from archivebot.config import WatchConfig
from archivebot.exceptions import NotArchived
from archivebot.forms.find import search_forms
from archivebot.frontier import frontier_uri, open_frontier
from archivebot.frontier.base import Entry, State
from archivebot.jobs.frontier import found_in
from archivebot.jobs.indexing import IndexProgress, update_index
from archivebot.jobs.questions import questions
from archivebot.jobs.watch import watch
from archivebot.models import Link, Outcome
from archivebot.terminal import name_program
from archivebot.watch.file import read_rules
from archivebot.web.api import problem
from archivebot.web.limits import BURST
from archivebot.web.templating import page
from tests.commands import run_scrapy
from tests.documentfiles import pdf_of
from tests.factories import START, URL, html, make_page
from tests.served import Answer, Served, archived, serving

TEMPLATES = Path(importlib.import_module("archivebot.web").__file__ or "").parent / "templates"

HOST = "http://example.com/"
TEXT = " ".join(f"word{number} of the story about harbours" for number in range(60))
FORM = (
    b"<form action=/find><input name=q><select name=s><option>Books<option>Maps</select>"
    b"<input type=submit></form>"
)
LATE = START + timedelta(days=5)
TOKEN = "a-token-that-nobody-guesses"


def links(*paths: str) -> tuple[Link, ...]:
    return tuple(Link(HOST + path, f"to {path}") for path in paths)


def pages() -> Iterator[Any]:
    """Yield a site: a front page that drops a link, pages that change, go, and are alike."""
    yield replace(make_page(html("Front"), 0, url=HOST), links=links("page", "left", "gone"))
    yield replace(make_page(html("Front", "again"), 9, url=HOST), links=links("page"))
    yield make_page(html("Monday", "Second"), 0)
    yield make_page(html("Friday", "Second", "Third"), 9)
    yield make_page(html("left"), 0, url=f"{HOST}left")
    yield make_page(html("here"), 0, url=f"{HOST}gone")
    yield make_page(b"", 9, url=f"{HOST}gone", outcome=Outcome.GONE, status=410)
    yield make_page(html(TEXT), 1, url=f"{HOST}one")
    yield make_page(html(TEXT), 1, url="http://other.example/two")
    yield make_page(b"\x89PNG\r\n\x1a\n", 4, url=f"{HOST}i.png", headers=(("Content-Type", "image/png"),))


def made(folder: Path) -> str:
    """Make an archive with a form, and a frontier with a judged page; return its URI."""
    uri = f"sqlite:///{folder}/archive.db"
    rules = folder / "rules.toml"
    rules.write_text(f'[[rule]]\nname = "all"\n\n[output.feed]\njson = "{folder}/feed.json"\n')
    with Archive.open(ArchiveConfig(uri=uri)) as archive:
        for is_late in (False, True):
            for page in pages():
                if (page.captured_at > LATE) is is_late:
                    archive.add(archive.segment(page))
            with Archive.reader(ArchiveConfig(uri=uri)) as reader:
                watch(reader, uri, read_rules(str(rules)), WatchConfig(), lambda url, error: None)
        found = [record.found() for record in search_forms(FORM, "utf-8", URL)]
        assert found
        archive.forms.add("example.com", URL, found, START)
    with Archive.reader(ArchiveConfig(uri=uri)) as reader:
        update_index(reader, f"{folder}/archive.search.db", IndexProgress())
    frontier = open_frontier(frontier_uri(uri), "crawl")
    frontier.begin("{}", None)
    frontier.add([Entry(HOST, "example.com", 2.0), Entry(URL, "example.com", 1.0, source=HOST)])
    lease = frontier.lease()
    assert lease is not None
    frontier.settle(lease.entry.url, State.DONE, answered=True, relevance=0.9, relevant=True)
    frontier.close()
    return uri


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("api")
    rules = f"ARCHIVE_WATCH={folder}/rules.toml"
    with serving(made(folder), "-s", "ARCHIVE_API_RATE=0", "-s", rules) as served:
        yield served


@pytest.fixture(scope="module")
def openapi(server: Served) -> dict[str, Any]:
    found: dict[str, Any] = server.get("/openapi.json").json
    return found


def ask(server: Served, name: str, **parameters: object) -> Answer:
    return server.get(f"/api/{name}?{urlencode(parameters)}")


ASKED: list[tuple[str, dict[str, object]]] = [
    ("sites", {}),
    ("pages", {}),
    ("pages", {"site": HOST, "kind": "changed", "status": 200, "since": "2026"}),
    ("pages", {"topic": "harbours"}),
    ("captures", {"url": URL}),
    ("version", {"url": URL}),
    ("version", {"url": URL, "number": 1}),
    ("version", {"url": f"{HOST}i.png", "at": "2026"}),
    ("delta", {"url": URL, "from": 1, "to": 2}),
    ("changes", {"since": "20260105", "content_only": "true"}),
    ("changes", {"since": "2020"}),
    ("search", {"q": "monday"}),
    ("search", {"q": "here", "change": "removed", "from": "2026", "to": "2026-02", "label": "main"}),
    ("search", {"q": "harb*", "site": HOST, "topic": "harbours", "newest": "true"}),
    ("activity", {"site": HOST}),
    ("events", {"site": HOST}),
    ("events", {"site": HOST, "what": "islanded", "period": "2026"}),
    ("duplicates", {}),
    ("duplicates", {"blocks": "true", "url": f"{HOST}one"}),
    ("clusters", {}),
    ("forms", {}),
    ("frontier", {}),
    ("explain", {"url": URL}),
    ("harvest", {"step": 1}),
    ("rank", {}),
    ("rank", {"by": "hits"}),
    ("alerts", {}),
    ("alerts", {"rule": "all", "site": HOST, "limit": 2}),
    ("watches", {}),
]


@pytest.mark.parametrize(("name", "parameters"), ASKED)
def test_an_answer_has_the_shape_that_is_described(
    server: Served, openapi: dict[str, Any], name: str, parameters: dict[str, object]
) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="no jsonschema: pip install jsonschema")
    answer = ask(server, name, **parameters)
    assert answer.status == 200, answer.text
    assert answer.json not in ([], {})
    shape = openapi["paths"][f"/api/{name}"]["get"]["responses"]["200"]["content"]["application/json"][
        "schema"
    ]
    jsonschema.Draft202012Validator(shape | {"components": openapi["components"]}).validate(answer.json)


def test_every_question_is_described_and_asked(server: Served, openapi: dict[str, Any]) -> None:
    described = {path.removeprefix("/api/") for path, each in openapi["paths"].items() if "get" in each}
    assert described == {name for name, _ in ASKED} | {"block"}
    lineage = ask(server, "version", url=URL).json["blocks"][0]["lineage"]
    assert [state["text"] for state in ask(server, "block", url=URL, lineage=lineage).json["states"]] == [
        "Monday",
        "Friday",
    ]


@pytest.mark.long
def test_commands_print_the_same(server: Served) -> None:
    uri = next(str(word).partition("=")[2] for word in server.process.args if "ARCHIVE_URI" in str(word))
    for command, name, parameters in (
        (("stats",), "sites", {}),
        (("list", "--pages"), "pages", {}),
        (("changes", "--since", "2020"), "changes", {"since": "2020"}),
        (("forms",), "forms", {}),
        (("rank", "--by", "hits"), "rank", {"by": "hits"}),
    ):
        printed = run_scrapy((*command, "--json", "-s", f"ARCHIVE_URI={uri}"))
        assert json.loads(printed.stdout) == ask(server, name, **parameters).json, command


def test_the_activity_of_a_site_counts_what_happened_to_its_pages(server: Served) -> None:
    first, *rest = ask(server, "activity", site=HOST).json
    assert first == {"period": "2026-01-01", "new": 4, "changed": 0, "removed": 0, "islanded": 0}
    assert rest[-1] == {"period": "2026-01-10", "new": 0, "changed": 2, "removed": 1, "islanded": 1}


@pytest.mark.parametrize(
    ("name", "parameters", "key"),
    [
        ("pages", {"limit": 2}, "url"),
        ("captures", {"url": HOST, "limit": 1}, "captured_at"),
        ("changes", {"since": "2020", "limit": 3}, "url"),
    ],
)
def test_a_long_answer_comes_in_parts(
    server: Served, name: str, parameters: dict[str, object], key: str
) -> None:
    whole = ask(server, name, **{**parameters, "limit": 1000})
    assert whole.header("Link") is None
    path, found = f"/api/{name}?{urlencode(parameters)}", []
    while path:
        answer = server.get(path)
        assert 0 < len(answer.json) <= int(str(parameters["limit"]))
        found += answer.json
        path = answer.links[0][0].removeprefix(server.host) if answer.header("Link") else ""
    assert [each[key] for each in found] == [each[key] for each in whole.json]


@pytest.mark.parametrize(
    ("path", "status", "detail"),
    [
        ("/api/captures", 400, "url is missing: write ?url=..."),
        ("/api/captures?url=x&url=y", 400, "url is there 2 times"),
        ("/api/captures?url=x&limit=0", 400, "write a whole number from 1 to 1000"),
        (f"/api/captures?url={'x' * 5000}", 400, "write 1 to 4000 characters"),
        ("/api/captures?url=none.example", 404, "was never captured"),
        ("/api/captures?url=%ff", 400, "write percent-encoded UTF-8"),
        ("/api/pages?kind=x", 400, "write one of new"),
        ("/api/pages?colour=red", 400, "there is no parameter 'colour' here"),
        ("/api/changes?content_only=yes", 400, "write true or false"),
        ("/api/version?url=x&at=soon", 400, "write 1 to 14 digits"),
        ("/api/rank?by=arc", 400, "needs a topic"),
        ("/api/frontier?crawl=none", 404, "has no frontier"),
        ("/api/explain?url=none.example", 404, "never met"),
        ("/api/nothing", 404, "there is no page /api/nothing"),
    ],
)
def test_an_error_is_a_problem_that_says_what_to_do(
    server: Served, path: str, status: int, detail: str
) -> None:
    answer = server.get(path)
    assert (answer.status, answer.header("Content-Type")) == (status, "application/problem+json")
    assert answer.json["status"] == status
    assert detail in answer.json["detail"]


def test_the_explanation_of_a_url_is_found_in_each_crawl(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path}/frontier.db"
    for name, url in (("first", URL), ("second", HOST)):
        with closing(open_frontier(uri, name)) as frontier:
            frontier.begin("{}", None)
            frontier.add([Entry(url, "example.com", 1.0)])
    (explain,) = [each for each in questions(uri, tmp_path, "") if each.name == "explain"]
    found = [explain.answer(None, explain.read({"url": [url]})) for url in (URL, HOST)]
    assert [(each["crawl"], each["url"]) for each in found] == [("first", URL), ("second", HOST)]
    with pytest.raises(NotArchived, match="never met"):
        explain.answer(None, explain.read({"url": [URL], "crawl": ["second"]}))


def test_the_last_change_is_that_of_the_command_also_if_an_earlier_version_is_back_or_pruned(
    tmp_path: Path,
) -> None:
    uri = f"sqlite:///{tmp_path}/archive.db"
    texts = ("The fee is ten", "The fee is twelve", "The fee is one", "The fee is twelve")
    archived(uri, [make_page(html(text), day) for day, text in enumerate(texts)])
    with serving(uri, "-s", "ARCHIVE_API_RATE=0") as server:
        told = json.loads(run_scrapy(["delta", URL, "--json", "-s", f"ARCHIVE_URI={uri}"]).stdout)
        assert (told["from"], told["to"]) == (3, 2)
        assert ask(server, "delta", url=URL).json == told
        assert "Version 3 → 2" in server.get(f"/delta?{urlencode({'url': URL})}").text
        assert ask(server, "delta", url=URL, to=2).json["from"] == 1
        archived(uri, [make_page(html("The fee is nothing"), 9)])
        done = run_scrapy(["prune", URL, "--keep", "1d", "-s", f"ARCHIVE_URI={uri}"])
        assert "2 versions of 1 page pruned" in done.stdout
        assert [ask(server, "delta", url=URL, **to).json["from"] for to in ({}, {"to": 4})] == [1, 1]


def test_a_version_of_a_document_has_its_title_and_its_text(tmp_path: Path) -> None:
    url = "http://example.com/rules.pdf"
    uri = archived(f"sqlite:///{tmp_path}/a.db", [make_page(pdf_of(["The ferry runs all year."]), url=url)])
    with serving(uri) as server:
        found = ask(server, "version", url=url).json
    assert (found["media"], found["title"]) == ("a PDF document", "Ferry rules")
    assert found["text"] == found["blocks"][0]["text"] == "Ferry rules\nThe ferry runs all year."


def test_a_url_is_explained_as_people_type_it(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path}/frontier.db"
    met = "https://www.example.com/a"
    for name, url in (("first", met), ("second", "http://example.com/b")):
        with closing(open_frontier(uri, name)) as frontier:
            frontier.begin("{}", None)
            frontier.add([Entry(url, "example.com", 1.0)])
    for typed in (met, "example.com/a", "www.example.com/a#top", "http://example.com/a"):
        assert found_in(uri, typed, None)["url"] == met
    assert found_in(uri, "https://www.example.com/b", "second")["url"] == "http://example.com/b"
    with pytest.raises(NotArchived, match="none of the 2 crawls ever met example"):
        found_in(uri, "example.com/c", None)


def test_pages_and_problems_name_the_program_that_runs() -> None:
    assert not [path.name for path in TEMPLATES.glob("*.html") if "scrapy " in path.read_text("utf-8")]
    name_program("archivebot")
    try:
        assert b"archivebot forms lists them" in problem(404, "scrapy forms lists them").body
        shown = page("topic.html", title="", topic="", state=None, points=[], told=[], ranks=None).body
        assert b"<code>archivebot crawl topic" in shown
    finally:
        name_program("scrapy")


def post(server: Served, body: bytes, **headers: str) -> Answer:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("POST", "/api/crawls", body, {"content-type": "application/json"} | sent)
        answer = connection.getresponse()
        return Answer(answer.status, answer.getheaders(), answer.read())
    finally:
        connection.close()


def test_without_a_token_nothing_can_be_started(server: Served) -> None:
    answer = post(server, b'{"spider": "site"}', authorization="Bearer ")
    assert (answer.status, "--token-file" in answer.json["detail"]) == (403, True)
    assert server.get("/api/pages", "POST").status == 405
    asked = server.get("/api/crawls")
    assert (asked.status, asked.json["detail"]) == (405, "/api/crawls takes POST, not GET")


@contextmanager
def scrapyd(asked: list[dict[str, list[str]]]) -> Iterator[str]:
    """Answer like scrapyd, and note what was asked."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers["Content-Length"])).decode()
            asked.append(parse_qs(text))
            refused = {"status": "error", "message": "spider 'none' not found"}
            good = {"status": "ok", "jobid": "6487"}
            body = json.dumps(refused if asked[-1]["spider"] == ["none"] else good).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}/"
        running.shutdown()


@pytest.mark.long
def test_a_client_with_the_token_starts_a_crawl(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(f"{TOKEN}\n")
    asked: list[dict[str, list[str]]] = []
    uri = made(tmp_path)
    right = {"authorization": f"Bearer {TOKEN}"}
    body = b'{"spider": "site", "arguments": {"seeds": "http://example.org/"}}'
    with (
        scrapyd(asked) as address,
        serving(uri, "--token-file", str(token), "-s", f"ARCHIVE_SCRAPYD={address}") as server,
    ):
        answer = post(server, body, **right)
        assert (answer.status, answer.json["job"]) == (202, "6487")
        assert asked == [
            {
                "project": ["archivebot"],
                "spider": ["site"],
                "setting": [f"ARCHIVE_URI={uri}"],
                "seeds": ["http://example.org/"],
            }
        ]
        for wrong, status in (
            (b"{", 400),
            (b"[]", 400),
            (b'{"spider": "../x"}', 400),
            (b'{"spider": "site", "arguments": {"setting": "FEEDS={}"}}', 400),
            (b'{"spider": "site", "arguments": {"seeds": "@/etc/passwd"}}', 400),
            (b'{"spider": "site", "arguments": {"seeds": 1}}', 400),
            (b" " * 70_000, 413),
            (b'{"spider": "none"}', 502),
        ):
            assert post(server, wrong, **right).status == status, wrong[:60]
        assert post(server, body, **right, content_type="text/plain").status == 415
        refused = post(server, body, authorization=f"Bearer {TOKEN}x")
        assert (refused.status, refused.header("WWW-Authenticate")) == (401, "Bearer")
        assert len(asked) == 2
    with serving(uri, "--token-file", str(token)) as server:
        answer = post(server, body, **right)
        assert (answer.status, "set ARCHIVE_SCRAPYD" in answer.json["detail"]) == (503, True)


def test_a_token_must_be_long_and_readable(tmp_path: Path) -> None:
    (tmp_path / "short").write_text("x")
    for name, reason in (("short", "is too short"), ("none", "cannot be read")):
        done = run_scrapy(("serve", "--token-file", str(tmp_path / name)))
        assert (done.returncode, reason in done.stderr) == (2, True)


@pytest.mark.long
def test_a_client_that_asks_too_often_has_to_wait(tmp_path: Path) -> None:
    with serving(made(tmp_path), "-s", "ARCHIVE_API_RATE=2") as server:
        started = time.monotonic()
        answers = [ask(server, "captures", url=URL) for _ in range(round(2 * BURST) + 30)]
        if time.monotonic() - started < 10:
            assert answers[0].status == 200
            assert answers[-1].status == 429
            assert answers[-1].header("Retry-After") == "1"
        assert server.get("/").status == 200


@pytest.mark.long
def test_schemathesis_finds_no_server_error(server: Served) -> None:
    schemathesis = pytest.importorskip("schemathesis", reason="no Schemathesis: pip install schemathesis")
    from hypothesis import HealthCheck, given, settings

    openapi = importlib.import_module("schemathesis.specs.openapi.checks")
    checks = [schemathesis.checks.not_a_server_error, openapi.response_schema_conformance]
    checks += [openapi.status_code_conformance, openapi.content_type_conformance]
    schema = schemathesis.openapi.from_url(f"{server.host}/openapi.json")
    operations = [each.ok() for each in schema.get_all_operations()]
    assert len(operations) > 15
    for operation in operations:

        @given(case=operation.as_strategy())
        @settings(max_examples=50, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        def check(case: Any) -> None:
            case.call_and_validate(checks=checks)

        check()
