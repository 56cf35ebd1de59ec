"""Alerts in ``scrapy serve``: the page that lists them, and the API that adds a rule to the rules file."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from html import unescape
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from archivebot.exceptions import Conflict, CorruptObject, StorageError, UsageError
from archivebot.storage.lock import lock
from archivebot.watch import rulebook
from archivebot.watch.outbox import Outbox
from archivebot.watch.rulebook import Rulebook
from archivebot.watch.sent import sent_alerts
from tests.permissions import as_nobody, forbid
from tests.served import Answer, Served, serving
from tests.test_archive_lookup import folder
from tests.watching import ALERT, SITE, Watch, archived, page

__all__ = ["folder"]

TOKEN = "a-token-that-nobody-guesses"
RULES = f"""\
# by hand
[[rule]]
name = "hours"
match = "{SITE}hours*"

[[rule]]
name = "menus"
changes = "touched"
"""
OUTPUTS = (
    '\n[output.feed]\njson = "feed.json"\n\n[output.dead]\nwebhook = "http://127.0.0.1:9/"\ntimeout = 1\n'
)
NEW = {
    "name": "fête prices",
    "match": ["http://example.com/f*", "*"],
    "changes": ["changed", "gone"],
    "added": 'a "quoted" \\ word\t\x7f\u2028',
    "numbers": {"ticket price": {"below": 2.5, "share": 0.1}, "seats": {"above": 100}},
    "size": 3,
    "persist": 2,
    "send": "feed",
}


@pytest.fixture(scope="module")
def watch(tmp_path_factory: pytest.TempPathFactory) -> Watch:
    """An archive whose pages changed, and whose alerts were sent to a feed and to a receiver that is down."""
    found = Watch(tmp_path_factory.mktemp("alerts"))
    texts = [f"The hall opens at {name}." for name in ("six", "seven", "eight")]
    paths = ("hours", "hours/1", "hours/2")
    found.begin(RULES + OUTPUTS, dict.fromkeys((*paths, "menu"), page(texts[0])))
    archived(found.uri, 10, {**dict.fromkeys(paths, page(texts[1])), "menu": page(texts[0], "events")})
    found.run()
    archived(found.uri, 20, {"hours": page(texts[2])})
    archived(found.uri, 20, {"hours": page("Elsewhere")}, "http://other.example/")
    found.run()
    return found


@pytest.fixture(scope="module")
def server(watch: Watch) -> Iterator[Served]:
    token = watch.folder / "token"
    token.write_text(f"{TOKEN}\n")
    settings = ("-s", f"ARCHIVE_WATCH={watch.rules}", "-s", "ARCHIVE_API_RATE=0")
    with serving(watch.uri, "--token-file", str(token), *settings) as served:
        yield served


def asked(server: Served, **parameters: object) -> list[dict[str, Any]]:
    answer = server.get(f"/api/alerts?{urlencode(parameters)}")
    assert answer.status == 200, answer.text
    found: list[dict[str, Any]] = answer.json
    return found


def post(server: Served, rule: object, token: str = TOKEN) -> Answer:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        body = rule if isinstance(rule, bytes) else json.dumps(rule).encode()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
        connection.request("POST", "/api/watches", body, headers)
        answer = connection.getresponse()
        return Answer(answer.status, answer.getheaders(), answer.read())
    finally:
        connection.close()


def test_the_alerts_come_newest_first_with_their_deliveries(server: Served) -> None:
    found = asked(server)
    assert (found[0]["rule"], len(found[0]["pages"])) == ("hours", 1)
    assert {each["rule"]: len(each["pages"]) for each in found[1:]} == {"hours": 3, "menus": 1}
    assert found[0]["captured_at"] == "20260121000000"
    assert found[0]["outputs"]["feed"] == {"sent": True, "attempts": 1}
    assert found[0]["outputs"]["dead"]["sent"] is False
    assert "127.0.0.1:9" not in server.get("/api/alerts").text  # an address may hold a secret
    assert len(asked(server, rule="menus")) == 1
    assert len(asked(server, site=f"{SITE}any")) == 3
    assert asked(server, site="http://other.example/") == []
    assert [each["id"] for each in asked(server, limit=1, skip=1)] == [found[1]["id"]]
    ((_, relation, _),) = server.get("/api/alerts?limit=2").links
    assert relation == "next"


def test_the_page_says_why_and_leads_to_the_delta(server: Served) -> None:
    text = unescape(server.get("/alerts").text)
    marked = re.sub("<del>(.+?)</del>", r"[-\1-]", re.sub("<ins>(.+?)</ins>", r"{+\1+}", text))
    assert all(each["reason"] in marked for each in asked(server))
    assert "<ins>eight.</ins>" in text
    assert "eight" in asked(server)[0]["reason"]
    assert "dead: waiting" in text
    links = re.findall(r'href="(/delta[^"]*)"', text)
    assert len(links) == 5
    assert all(server.get(each).status == 200 for each in links)
    assert "No alert of this rule or site" in server.get("/alerts?rule=none").text


def test_without_an_outbox_the_page_says_how_to_begin(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    archived(watch.uri, 0, {"hours": page("six")})
    with serving(watch.uri) as server:
        assert "scrapy watch rules.toml" in server.get("/alerts").text
        assert server.get("/api/watches").json == []
        assert post(server, NEW).status == 403


def test_a_client_with_the_token_adds_a_rule(server: Served, watch: Watch) -> None:
    before = watch.rules.read_text("utf-8")
    answer = post(server, NEW)
    assert (answer.status, answer.json) == (201, NEW)
    after = watch.rules.read_text("utf-8")
    assert after.startswith(before.rstrip())
    assert [each["name"] for each in server.get("/api/watches").json] == ["hours", "menus", "fête prices"]
    assert server.get("/api/watches").json[-1] == NEW
    archived(watch.uri, 30, {"hours": page("The hall opens at nine.")})
    assert watch.sent(code=6)["alerts"][0]["rule"] == "hours"  # one output is down, the rules are read
    assert post(server, NEW).status == 409
    assert post(server, NEW, f"{TOKEN}x").status == 401


@pytest.mark.parametrize(
    ("rule", "detail"),
    [
        ([], "is no rule"),
        (b"{", "is no JSON"),
        (b'{"name": "\\ud800"}', "is no JSON"),
        (b'{"name": "x", "numbers": {"a": {"above": NaN}}}', "is no number"),
        (b'{"name": "x", "numbers": {"a": {"above": 1e999}}}', "is not TOML"),
        ({"name": "x", "numbers": {"a": {"above": 10**400}}}, "is too large"),
        ({"name": "a\n[output.x]"}, "give a name"),
        ({"name": "x", "colour": "red"}, "there is no 'colour'"),
        ({"name": "x", "size": None}, "give a whole number"),
        ({"name": "x", "send": "nobody"}, "there is no output 'nobody'"),
        ({"name": "x", "changes": "eaten"}, "there is no 'eaten'"),
    ],
)
def test_a_wrong_rule_changes_nothing(server: Served, watch: Watch, rule: object, detail: str) -> None:
    before = watch.rules.read_text("utf-8")
    answer = post(server, rule)
    assert answer.status == 400, answer.text
    assert detail in answer.json["detail"]
    assert watch.rules.read_text("utf-8") == before


def test_a_rule_begins_a_file_and_never_spoils_one(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    book = Rulebook(str(path))
    assert book.rules() == []
    book.add({"name": "one"})
    assert path.read_text() == '[[rule]]\nname = "one"\n'
    with pytest.raises(Conflict, match="another name"):
        book.add({"name": "one"})
    path.write_text('rule = [{name = "one"}]\n')
    with pytest.raises(UsageError, match="not TOML"):
        book.add({"name": "two"})
    path.write_text("rule = ")
    with pytest.raises(StorageError, match="mend the file"):
        book.add({"name": "two"})
    assert path.read_text() == "rule = "
    with pytest.raises(StorageError, match="set ARCHIVE_WATCH"):
        Rulebook("").add({"name": "two"})


@pytest.mark.parametrize(
    "rule",
    [
        {"name": "x", "added": "a\ud800"},
        {"name": "x", "match": "a.example/*\ud800"},
        {"name": "x", "numbers": {"price\ud800": {"below": 1}}},
    ],
)
def test_a_rule_with_half_of_a_surrogate_pair_is_refused(tmp_path: Path, rule: dict[str, Any]) -> None:
    path = tmp_path / "rules.toml"
    with pytest.raises(UsageError, match="the rule is no text in UTF-8"):
        Rulebook(str(path)).add(rule)
    assert not path.exists()


def test_a_rule_is_added_with_the_line_ends_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    by_hand = b'\xef\xbb\xbf# by hand\r\n[[rule]]\r\nname = "one" # \xc3\xa9\r\n'
    path.write_bytes(by_hand)
    Rulebook(str(path)).add({"name": "two"})
    assert path.read_bytes() == by_hand + b'\r\n[[rule]]\r\nname = "two"\r\n'
    assert Rulebook(str(path)).rules() == [{"name": "one"}, {"name": "two"}]


def test_rules_that_several_programs_add_at_once_are_all_there(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    names = [f"rule {number}" for number in range(24)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: Rulebook(str(path)).add({"name": name}), names))
    assert sorted(rule["name"] for rule in Rulebook(str(path)).rules()) == sorted(names)


def test_what_an_editor_writes_meanwhile_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rules.toml"
    path.write_text('[[rule]]\nname = "one"\n')
    texts = iter(['[[rule]]\nname = "edited"\n'])
    read = rulebook.read_rule

    def edited(*given: Any) -> Any:
        path.write_text(next(texts, path.read_text()))
        return read(*given)

    monkeypatch.setattr(rulebook, "read_rule", edited)
    Rulebook(str(path)).add({"name": "two"})
    assert path.read_text() == '[[rule]]\nname = "edited"\n\n[[rule]]\nname = "two"\n'
    texts = iter(f'[[rule]]\nname = "again {number}"\n' for number in range(100))
    with pytest.raises(StorageError, match="again and again"):
        Rulebook(str(path)).add({"name": "three"})
    assert sorted(each.name for each in tmp_path.iterdir()) == ["rules.toml", "rules.toml.lock"]


def test_a_file_that_another_program_holds_or_nobody_may_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rulebook, "PATIENCE", 0.05)
    path = tmp_path / "rules.toml"
    with (tmp_path / "rules.toml.lock").open("ab") as file:
        assert lock(file, path)
        with pytest.raises(StorageError, match="another program is adding rules"):
            Rulebook(str(path)).add({"name": "one"})
    wrong = tmp_path / (
        "x" * 300
    )  # the system refuses such a name, as it refuses a folder without permission
    with pytest.raises(StorageError, match="cannot be read"):
        Rulebook(str(wrong)).rules()
    with pytest.raises(StorageError, match="cannot be read"):
        list(sent_alerts(wrong, "archive"))
    path.write_bytes(b'[[rule]]\nname = "\xff"\n')
    with pytest.raises(StorageError, match=r"not UTF-8.*mend the file"):
        Rulebook(str(path)).rules()


@pytest.mark.parametrize("record", ["{", "[]", '{"pages": []}', "null", '{"pages": [{"url": "http://a/"}]}'])
def test_a_damaged_alert_is_an_error_that_says_what_to_do(tmp_path: Path, record: str) -> None:
    path = tmp_path / "a.watch.db"
    with Outbox(path, "archive", tmp_path / "rules.toml") as outbox:
        outbox.record([(ALERT, ["feed"])], {})
        assert [each.alert.reason for each in sent_alerts(path, "archive")] == ["new text"]
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("UPDATE alert SET record = ?", (record,))
        for ask in (lambda: list(sent_alerts(path, "archive")), lambda: outbox.last("feed", 1)):
            with pytest.raises(CorruptObject, match="a damaged alert: move the file away"):
                ask()


def test_the_alerts_in_a_folder_that_may_not_be_written_are_read(folder: Path) -> None:
    path = folder / "a.watch.db"
    with Outbox(path, "archive", folder / "rules.toml") as outbox:
        outbox.record([(ALERT, ["feed"])], {})
    forbid(folder)
    assert as_nobody(lambda: [each.alert.reason for each in sent_alerts(path, "archive")] == ["new text"])
