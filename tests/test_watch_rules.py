"""What rules find in the past of an archive, and the errors of a rules file."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig, WatchConfig
from archivebot.exceptions import CorruptObject, UsageError
from archivebot.jobs.watch import PageChanges, past
from archivebot.models import REQUISITE, Outcome
from archivebot.watch.file import read_rules
from archivebot.watch.rule import Bounds
from tests.factories import make_page
from tests.watching import SITE, Watch, archived, page

Found = Callable[[str], list[dict[str, Any]]]

OPEN, LATE = "The harbour opens at six on weekdays.", "The harbour opens at eight on weekdays."
GONE: dict[str, Any] = {"outcome": Outcome.GONE, "status": 410}
MOVED: dict[str, Any] = {"outcome": Outcome.REDIRECT, "status": 301, "location": f"{SITE}new"}


@pytest.fixture(scope="module")
def watch(tmp_path_factory: pytest.TempPathFactory) -> Watch:
    """An archive of pages of which some changed, in their content or beside it."""
    found = Watch(tmp_path_factory.mktemp("rules"))
    archived(
        found.uri,
        0,
        {
            "hours": page(OPEN),
            "menu": page("Home is here."),
            "same": page("Nothing happens."),
            "fete": page("The fete is on Sunday."),
            "old": page("This page moves."),
            "flicker": page("The tide is low."),
        },
    )
    archived(
        found.uri,
        10,
        {
            "hours": page(LATE),
            "menu": page("Home is here.", "events"),
            "same": page("Nothing happens."),
            "fete": GONE,
            "old": MOVED,
            "new": page("This page is new and about eels."),
            "flicker": page("The tide is high."),
        },
    )
    archived(found.uri, 20, {"hours": page(LATE), "flicker": page("The tide is low.")})
    with Archive.open(ArchiveConfig(uri=found.uri)) as archive:
        for day in (0, 10):
            seal = make_page(f"plate {day}".encode(), day, url=f"{SITE}seal.png")
            archive.add(archive.segment(replace(seal, origin=REQUISITE)))
    return found


@pytest.fixture
def found(watch: Watch) -> Found:
    def found(rule: str) -> list[dict[str, Any]]:
        watch.rules.write_text(f'[[rule]]\nname = "r"\n{rule}\n', "utf-8")
        done = watch.sent("--test", code=0 if rule_finds(rule) else 1)
        alerts: list[dict[str, Any]] = done["alerts"]
        return alerts

    return found


def rule_finds(rule: str) -> bool:
    return not rule.endswith("# nothing")


def paths(alerts: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the kind and the path of each page of each alert."""
    return sorted(
        (alert["kind"], each["url"].removeprefix(SITE)) for alert in alerts for each in alert["pages"]
    )


def reported(folder: Path, rule: str, *visits: bytes | dict[str, Any]) -> list[tuple[str, str]]:
    """Return the kind and the reason of each alert about a page that was visited once a day."""

    def stop(url: str, error: CorruptObject) -> None:
        raise error

    watch = Watch(folder)
    watch.rules.write_text(f'[[rule]]\nname = "r"\n{rule}\n', "utf-8")
    for day, visit in enumerate(visits):
        archived(watch.uri, day, {"hours": visit})
    with Archive.open(ArchiveConfig(uri=watch.uri)) as archive:
        done = past(archive, read_rules(str(watch.rules)), None, WatchConfig(), stop)
    return [(alert.kind.value, alert.reason) for alert in done.alerts]


HOURS, FLICKER = ("changed", "hours"), ("changed", "flicker")


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("", [FLICKER, FLICKER, HOURS, ("gone", "fete"), ("moved", "old")]),
        (f'match = "{SITE}hours"', [HOURS]),
        (f'match = ["{SITE}f*"]', [FLICKER, FLICKER, ("gone", "fete")]),
        (f'match = "{SITE}same" # nothing', []),
        ('changes = ["gone"]', [("gone", "fete")]),
        ('changes = "touched"', [("touched", "menu")]),
        (f'changes = "new"\nmatch = "{SITE}new"', [("new", "new")]),
        ('changes = "new"\nadded = "eels"', [("new", "new")]),
        ('added = "eight"', [HOURS]),
        ('added = ["eight", "zeppelin"]', [HOURS]),
        ('added = "six" # nothing', []),
        ('removed = "six"', [HOURS]),
        ('added = "eight"\nremoved = "low" # nothing', []),
        ('added = "eigh" # nothing', []),
        (f'size = 2\nmatch = "{SITE}hours"', [HOURS]),
        (f'size = 9\nmatch = "{SITE}hours" # nothing', []),
        ("persist = 2", [HOURS]),
        ("persist = 3 # nothing", []),
        ('labels = "navigation"', [("touched", "menu")]),
        ('labels = "main"', [FLICKER, FLICKER, HOURS]),
    ],
)
def test_a_rule_finds_the_changes_that_meet_its_conditions(
    found: Found, rule: str, expected: list[tuple[str, str]]
) -> None:
    assert paths(found(rule)) == expected


def test_an_alert_says_why_and_links_to_the_delta(found: Found) -> None:
    (alert,) = found('added = "eight"')
    assert alert["reason"] == "“eight” was added: The harbour opens at eight on weekdays."
    assert alert["title"] == f"r: {SITE}hours changed"
    assert alert["link"].endswith("/delta?url=http%3A%2F%2Fexample.com%2Fhours&from=1&to=2")
    (gone,) = found('changes = "gone"')
    assert gone["reason"] == "status 410"


@pytest.mark.parametrize(
    ("since", "expected"), [("20260106", [HOURS]), ("20260115", [])], ids=["before", "after"]
)
def test_the_past_is_judged_since_a_time(watch: Watch, since: str, expected: list[tuple[str, str]]) -> None:
    watch.rules.write_text(f'[[rule]]\nname = "r"\nmatch = "{SITE}hours"\n', "utf-8")
    done = watch.sent("--test", "--since", since, code=0 if expected else 1)
    assert paths(done["alerts"]) == expected


@pytest.mark.long
def test_an_edit_that_is_edited_again_does_not_persist(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    watch.rules.write_text('[[rule]]\nname = "lasting"\npersist = 2\n', "utf-8")
    costs = ("costs 25 pounds for adults", "costs 12 pounds", "costs 40 pounds")
    for day, (cost, hour) in enumerate(zip(costs, ("six", "nine", "nine"), strict=True)):
        ferry = page(f"The ferry to the island {cost}.")
        archived(watch.uri, day, {"ferry": ferry, "hours": page(f"The harbour is open until {hour}.")})
    assert paths(watch.sent("--test")["alerts"]) == [("changed", "hours")]


def test_a_change_with_two_conditions_that_is_undone_does_not_persist(tmp_path: Path) -> None:
    rule = 'added = "eight"\nlabels = "main"\npersist = 2'
    assert reported(tmp_path, rule, page(OPEN), page(LATE), page(OPEN)) == []


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ('added = "sold out"', "“sold out” was added: Sold out"),
        ('removed = "on sale"', "“on sale” was removed: On sale"),
        ('added = "sold out"\nlabels = "main"', ""),
        ('added = "sail"', ""),
    ],
)
@pytest.mark.parametrize("shown", ["<title>{} - Ferry</title>", '<img src="/state.png" alt="{}">'])
def test_words_of_the_title_and_of_images_come_and_go(
    tmp_path: Path, shown: str, rule: str, told: str
) -> None:
    texts = (OPEN + shown.format(state) for state in ("On sale", "Sold out"))
    visits = [page(text).replace(b"<title>Page</title>", b"") for text in texts]
    found = reported(tmp_path, rule, *visits)
    assert [reason.startswith(told) for _, reason in found] == [True] * bool(told)


OUT, IN = page(OPEN), page(LATE)


@pytest.mark.parametrize(
    ("rule", "visits", "told"),
    [
        ("persist = 2", (OUT, OUT, IN, OUT, OUT), 0),
        ("persist = 2", (OUT, IN, OUT, OUT), 0),
        ("persist = 2", (OUT, OUT, GONE, OUT, OUT), 0),
        ("persist = 2", (OUT, OUT, MOVED, OUT, OUT), 0),
        ('persist = 2\nadded = "six"', (OUT, OUT, IN, OUT, OUT), 0),
        ('persist = 2\nchanges = "gone"', (OUT, GONE, GONE, OUT, GONE, GONE), 1),
        ("persist = 3", (OUT, OUT, OUT, IN, GONE, OUT, OUT, OUT), 0),
        ("persist = 2", (OUT, OUT, IN, IN, OUT, OUT), 2),
        ("persist = 2", (OUT, OUT, IN, OUT, IN, IN), 1),
        ("persist = 2", (OUT, OUT, GONE, IN, IN), 1),
        ("persist = 2", (OUT, OUT, GONE, OUT, GONE, GONE), 1),
    ],
)
def test_the_return_from_a_change_that_does_not_persist_is_no_change(
    tmp_path: Path, rule: str, visits: tuple[bytes | dict[str, Any], ...], told: int
) -> None:
    assert len(reported(tmp_path, rule, *visits)) == told


@pytest.mark.parametrize("away", [GONE, MOVED], ids=["gone", "moved"])
def test_a_page_that_returns_with_another_menu_is_back(tmp_path: Path, away: dict[str, Any]) -> None:
    (found,) = reported(tmp_path, 'changes = "back"', page(OPEN), away, page(OPEN, "events"))
    assert found[0] == "back"


@pytest.mark.parametrize("away", [GONE, MOVED], ids=["gone", "moved"])
@pytest.mark.parametrize("rule", ['added = "eight"', 'labels = "main"', 'added = "eight"\npersist = 2'])
def test_conditions_look_at_what_changed_while_a_page_was_away(
    tmp_path: Path, away: dict[str, Any], rule: str
) -> None:
    (found,) = reported(tmp_path, rule, page(OPEN), away, page(LATE), page(LATE))
    assert found[0] == "back"
    assert "eight" in found[1]


def test_a_match_does_not_keep_the_texts_of_its_page(watch: Watch) -> None:
    watch.rules.write_text('[[rule]]\nname = "r"\nadded = "eight"\n', "utf-8")
    (rule,) = read_rules(str(watch.rules)).rules
    with Archive.open(ArchiveConfig(uri=watch.uri)) as archive:
        (match,) = PageChanges(archive, f"{SITE}hours").matches(rule, None)
    assert "eight" in match.reason
    assert (match.change.blocks, match.change.attributes) == ((), ())


def test_a_clock_that_was_ahead_silences_no_page(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    watch.begin('[[rule]]\nname = "r"\n', {"hours": page(OPEN)})
    archived(watch.uri, 36_500, {"hours": page(OPEN)})
    archived(watch.uri, 1, {"hours": page(LATE)})
    assert paths(watch.sent()["alerts"]) == [HOURS]
    with closing(sqlite3.connect(tmp_path / "a.watch.db")) as database, database:
        # As after a run while the clock was ahead.
        database.execute("UPDATE seen SET captured_at = captured_at + 3153600000000000")
    archived(watch.uri, 2, {"hours": page(OPEN)})
    assert watch.sent()["alerts"] == []
    archived(watch.uri, 3, {"hours": page(LATE)})
    assert paths(watch.sent()["alerts"]) == [HOURS]


def test_conditions_find_nothing_in_a_page_that_is_back_as_it_was(tmp_path: Path) -> None:
    assert reported(tmp_path, 'labels = "main"', page(OPEN), GONE, page(OPEN)) == []


@pytest.mark.long
def test_a_field_that_no_selector_finds_is_named(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    fields = tmp_path / "fields.toml"
    fields.write_text('[[site]]\nmatch = "*"\nfields = { price = "b" }\n', "utf-8")
    wrong = '[[rule]]\nname = "cheap"\nfields = ["price", "prise"]\nnumbers = { prize = { below = 20 } }\n'
    watch.begin(wrong, {"boat": page("A boat.")})
    told = watch.run("--fields", str(fields)).stderr
    assert "cheap: no selector of this run finds a field 'prise'" in told
    assert "'prize'" in told
    assert "'price'" not in told


@pytest.mark.long
def test_a_field_that_is_no_number_is_named_if_a_rule_has_bounds_for_it(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    fields = tmp_path / "fields.toml"
    fields.write_text(
        '[[site]]\nmatch = "*"\n[site.fields]\nprice = "b"\ncost = { css = "b", type = "number" }\n'
        'all = { css = "b", type = "number", all = true }\n'
    )
    wrong = "".join(f"numbers.{name} = {{ below = 20 }}\n" for name in ("price", "all", "cost", "summary"))
    watch.begin(f'[[rule]]\nname = "cheap"\n{wrong}', {"boat": page("A boat.")})
    told = watch.run("--fields", str(fields)).stderr
    for name in ("price", "all", "summary"):
        assert f"cheap: the field {name!r} is not one number: its selector needs type" in told
    assert "'cost'" not in told


@pytest.mark.long
def test_one_change_of_a_template_on_many_pages_is_one_alert(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    watch.rules.write_text('[[rule]]\nname = "prices"\nadded = "reduced"\n', "utf-8")
    for day, note in ((0, "All prices include tax."), (1, "All prices are reduced by tax.")):
        pages = {f"{number}": page(f"Boat {number} is for hire. {note}") for number in range(30)}
        archived(watch.uri, day, dict(pages))
    archived(watch.uri, 0, {"": page("All prices include tax.")}, "http://other.example/")
    archived(watch.uri, 9, {"": page("All prices are reduced by tax.")}, "http://other.example/")
    done = watch.sent("--test")
    assert sum(len(alert["pages"]) for alert in done["alerts"]) == 31
    assert {alert["pages"][0]["url"].split("/")[2] for alert in done["alerts"]} == {
        "example.com",
        "other.example",
    }


def test_values_of_fields_and_numbers_beyond_bounds_are_watched(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    fields = tmp_path / "fields.toml"
    fields.write_text(
        f'[[site]]\nmatch = "{SITE}*"\n[site.fields]\nprice = {{ css = ".price", type = "number" }}\n'
    )
    for day, price in enumerate((100, 104, 60, 58)):
        body = page("A boat for hire.").replace(b"</body>", f'<p class="price">{price}</p></body>'.encode())
        archived(watch.uri, day, {"boat": body})

    def reasons(rule: str) -> list[str]:
        watch.rules.write_text(f'[[rule]]\nname = "r"\n{rule}\n', "utf-8")
        done = watch.run("--test", "--json", "--fields", f"@{fields}")
        assert done.returncode in (0, 1), done.stderr
        return [alert["reason"] for alert in json.loads(done.stdout)["alerts"]]

    assert reasons('fields = "price"') == [
        "price: [-100-]{+104+}",
        "price: [-104-]{+60+}",
        "price: [-60-]{+58+}",
    ]
    assert reasons("numbers.price = { below = 90 }") == ["price 60 is below 90, was 104"]
    assert reasons("numbers.price = { share = 0.1 }") == ["price changed by 42 %, was 104"]
    assert reasons("numbers.price = { above = 102 }") == ["price 104 is above 102, was 100"]


@pytest.mark.parametrize(
    ("after", "bound", "said"),
    [
        (299999.99, Bounds(below=300000), "299999.99 is below 300000"),
        (1000000.0, Bounds(above=999999.5), "1000000 is above 999999.5"),
    ],
)
def test_an_alert_writes_a_number_and_its_bound_exactly(after: float, bound: Bounds, said: str) -> None:
    assert [text for _, text in bound.crossed(None, after)] == [said]


RULE = '[[rule]]\nname = "r"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[rule", "is not TOML"),
        ("", "has no rule: write a table"),
        ("[rule]\n", "write a table [[rule]] for each rule"),
        ("x = 1\n" + RULE, "there is no 'x' here, only rule, output"),
        ("[[rule]]\n", "rule 1: give a name"),
        (RULE + RULE, "rule 2: 'r' is the name of another rule"),
        (RULE + "machen = 1", "rule 1 (r): there is no 'machen' here"),
        (RULE + "match = 1", "match is 1: give a text, or a list of texts"),
        (RULE + 'changes = "chnged"', "there is no 'chnged', only new, changed"),
        (RULE + 'changes = "gone"\nadded = "x"', "changes: a page that is gone or moved shows nothing"),
        (
            RULE + 'changes = ["gone", "moved"]\nsize = 2',
            "changes: a page that is gone or moved shows nothing",
        ),
        (RULE + 'labels = "body"', "labels: there is no 'body', only"),
        (RULE + 'added = " "', "an empty term is in every text"),
        (RULE + 'added = "\\u200b"', "an empty term is in every text"),
        (RULE + 'match = ""', "an empty pattern is no page"),
        (RULE + "persist = 0", "persist is 0: give a whole number, at least 1"),
        (RULE + "size = true", "size is True: give a whole number"),
        (RULE + "numbers = 3", "give bounds by field"),
        (RULE + "numbers.price = {}", "numbers.price: give a bound"),
        (RULE + 'numbers.price = { below = "x" }', "below is 'x': give a number"),
        (RULE + "numbers.price = { below = nan }", "below is nan: give a number"),
        (RULE + 'send = "me"', "there is no output 'me'; the outputs are: none"),
        (RULE + "[output.a]\n", "output a: give one of atom, json"),
        (RULE + '[output.a]\natom = "a"\njson = "b"', "output a: give one of"),
        (RULE + '[output.a]\nwebhook = "ftp://a/"', "begins with http:// or https://"),
        (RULE + '[output.a]\nmail = "me"', "is 'me': give one mail address"),
        (RULE + '[output.a]\nmail = "a@b.example, c@d.example"', "give one mail address"),
        (RULE + '[output.a]\nmail = "a@b.example"\nserver = "b.example"', "begins with smtp://"),
        (RULE + '[output.a]\nmail = "a@["', "give one mail address"),
        (RULE + '[output.a]\nmail = "a\\u0000@b.example"', "give one mail address"),
        (RULE + '[output.a]\natom = "a\\u0000b"', "give a path"),
        (RULE + "[output.a]\ncommand = []", "give a program with its arguments"),
        (RULE + '[output.a]\ncommand = ["x", "a\\u0000b"]', "give a program with its arguments"),
        (RULE + '[output.a]\ncommand = ["x"]\ntimeout = 0', "give seconds, from 1 to 3600"),
        (RULE + '[output.a]\nwebhook = "http://a/"\nheaders.X = "a\\nb"', "is one line of ASCII"),
        (RULE + '[output.a]\nwebhook = "http://a/$NO_SUCH"', "the environment has no variable NO_SUCH"),
        (RULE + '[output.a]\natom = "costs 5 $"', "write $$ for a dollar sign"),
    ],
)
def test_an_error_in_a_rules_file_names_its_place(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(UsageError) as raised:
        read_rules(str(path))
    assert said in str(raised.value)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize("name", [b"\xff.toml", b"\xff/rules.toml"])
def test_a_rules_file_whose_path_is_not_utf_8_is_refused(tmp_path: Path, name: bytes) -> None:
    path = tmp_path / os.fsdecode(name)
    path.parent.mkdir(exist_ok=True)
    path.write_text(RULE, "utf-8")
    with pytest.raises(UsageError, match=r"is no text in UTF-8: rename it"):
        read_rules(str(path))


def test_a_variable_that_is_not_utf_8_is_no_part_of_an_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environb, b"TOKEN", b"\xff")
    path = tmp_path / "rules.toml"
    for output in ('webhook = "http://a/$TOKEN"', 'mail = "a@b.example"\nserver = "smtp://u:$TOKEN@a"'):
        path.write_text(f"{RULE}[output.a]\n{output}\n", "utf-8")
        with pytest.raises(UsageError, match="give an address"):
            read_rules(str(path))


@pytest.mark.parametrize(
    "output",
    [
        'webhook = "http://a/"\nheaders = "Bearer $TOKEN"',
        'webhook = "http://a/"\nheaders.X = ["$TOKEN"]',
        'webhook = "http://a/"\ntimeout = "$TOKEN"',
        'webhook = ["http://a/$TOKEN"]',
        'webhook = "http:/a/$TOKEN"',
        'mail = "$TOKEN"',
        'command = ["x", 5, "$TOKEN"]',
    ],
)
def test_no_error_shows_a_variable_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: str
) -> None:
    monkeypatch.setenv("TOKEN", "hunter2")
    path = tmp_path / "rules.toml"
    path.write_text(f"{RULE}[output.a]\n{output}\n", "utf-8")
    with pytest.raises(UsageError, match="give ") as raised:
        read_rules(str(path))
    assert "hunter2" not in str(raised.value)


def test_a_rules_file_that_is_missing_stops_the_command(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    archived(watch.uri, 0, {"": page("Here.")})
    done = watch.run()
    assert done.returncode == 2
    assert "rules.toml" in done.stderr
    assert "Traceback" not in done.stderr


def test_options_that_contradict_each_other_are_refused(watch: Watch) -> None:
    watch.rules.write_text(RULE, "utf-8")
    for options in (("--since", "7d"), ("--test", "--again")):
        assert watch.run(*options).returncode == 2
