"""Queries to a form that is known, made as a browser makes them, and asked by the spider."""

from __future__ import annotations

from dataclasses import replace
from email import message_from_bytes
from pathlib import Path
from urllib.parse import urlencode

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.exceptions import UsageError
from archivebot.forms.classifier import Decision
from archivebot.forms.find import search_forms
from archivebot.forms.form import Control, Form
from archivebot.forms.query import Query, queries, read_grid
from archivebot.forms.reader import read_forms
from archivebot.forms.record import FormRecord
from archivebot.urls import host_of
from archivebot.wire import Wire
from tests.commands import run_scrapy
from tests.conftest import Crawl
from tests.contracts.store import at
from tests.factories import make_page
from tests.mockserver import Asked, MockServer, Reply, html

FIELDS = (
    Control("hidden", "db", "books"),
    Control("text", "author"),
    Control("select", "year", "1998", options=("1998", "1999")),
    Control("radio", "by", "title"),
    Control("submit", "go", "Search"),
)


def record(url: str = "http://a.example/books/", method: str = "get", charset: str = "utf-8") -> FormRecord:
    form = Form("", "find", method, (), FIELDS)
    return FormRecord.of(form, Decision(True, 0.9, True, ""), url, charset)


def query_urls(kept: FormRecord, rows: list[dict[str, str]]) -> list[str]:
    return [query.key for query in queries(kept, rows)]


def test_what_is_not_given_keeps_its_value() -> None:
    (url,) = query_urls(record(), [{"author": "Kim Lee"}])
    assert url == "http://a.example/books/find?db=books&author=Kim+Lee&year=1998"


def test_a_value_that_a_selection_list_does_not_have_is_refused() -> None:
    select = b"<select name=y><option value=98>1998<option>1999</select>"
    (form,) = read_forms(b"<form action=/find>Title <input name=t> In " + select + b"</form>", "utf-8")
    kept = FormRecord.read(FormRecord.of(form, Decision(True, 0.9, True, ""), "http://a.example/").found())
    assert query_urls(kept, [{"y": "98"}, {"y": "1999"}])[1] == "http://a.example/find?t=&y=1999"
    with pytest.raises(UsageError, match="the selection list 'y' has no value '1998': did you mean '1999'"):
        query_urls(kept, [{"y": "1998"}])
    many = b"".join(b"<option>%d" % number for number in range(60))
    (form,) = read_forms(b"<form action=/find><select name=y>" + many + b"</select></form>", "utf-8")
    known = FormRecord.of(form, Decision(True, 0.9, True, ""), "http://a.example/")
    assert query_urls(known, [{"y": "59"}]) == ["http://a.example/find?y=59"]


@pytest.mark.parametrize(
    ("fields", "sent"),
    [
        ("<select name=y><option value=98>1998<option>1999</select>", "y=98"),
        ("<select name=y><option>1998<option selected> 19 <option disabled>20</select>", "y=19"),
        ("<select name=y><option selected>1<option selected>2</select>", "y=2"),
        ("<select name=y><option disabled>Year<option>1998</select>", "y=1998"),
        ("<select name=y><optgroup disabled><option>1<option>2</optgroup><option>3</select>", "y=3"),
        ("<select name=y><option disabled selected>Year<option>1998</select>", ""),
        ("<select name=y multiple><option>1998<option>1999</select>", ""),
        ("<select name=y multiple><option>1998<option selected>1999</select>", "y=1999"),
        ("<select name=y multiple><option selected>1<option>2<option value='' selected>3</select>", "y=1&y="),
        (
            "<select name=y multiple><option selected disabled>1" + 2 * "<option selected>2" + "</select>",
            "y=2&y=2",
        ),
        ("<select name=y size=4><option>1998<option>1999</select>", ""),
        ("<select name=y></select>", ""),
        (f"<select name=y>{'<option>0' * 60}<option selected>59</select>", "y=59"),
        ("<textarea name=y>\nterns &amp; gulls</textarea>", "y=terns+%26+gulls"),
        ("<textarea name=y>\n\nterns\r\n  gulls\n</textarea>", "y=%0D%0Aterns%0D%0A++gulls%0D%0A"),
        ("<input type=hidden name=y value=' terns&#10;  gulls&#13;'>", "y=+terns%0D%0A++gulls%0D%0A"),
        ("<input name=y value='  terns&#10;gulls'>", "y=++ternsgulls"),
        ("<input name=y value=1 disabled>", ""),
        ("<input type=checkbox name=y checked>", "y=on"),
        ("<input type=checkbox name=y value='' checked>", "y="),
        ("<input type=checkbox name=y value=1 checked disabled>", ""),
        ("<input type=checkbox name=y value=1><input type=radio name=y value=2>", ""),
        (2 * "<input type=checkbox name=y value=1 checked>", "y=1&y=1"),
        ("<input type=radio name=y value=1 checked><input type=radio name=y value=2 checked>", "y=2"),
        ("<input type=radio name=y value=1 checked><input type=radio name=y checked disabled>", ""),
        ("<fieldset disabled><legend><input name=x></legend><p><input name=y></p></fieldset>", "x="),
        (
            "<fieldset disabled><div>-</div><legend><input name=x></legend>"
            "<legend><input name=y></legend><div><legend><input name=w></legend></div></fieldset>",
            "x=",
        ),
    ],
)
def test_what_is_not_given_is_sent_as_a_browser_sends_it(fields: str, sent: str) -> None:
    (form,) = read_forms(f"<form action=/find>{fields}<input name=z></form>".encode(), "utf-8")
    kept = FormRecord.read(FormRecord.of(form, Decision(True, 0.9, True, ""), "http://a.example/").found())
    (query,) = queries(kept, [{"z": "1"}])
    assert query.url == f"http://a.example/find?{'&'.join(filter(None, (sent, 'z=1')))}"


def test_a_long_value_is_sent_whole_and_only_its_beginning_is_stored() -> None:
    state = "/wEP  DwUK" * 20_000
    page = (
        f"<form action=/find method=post><input type=hidden name=state value='{state}'><input name=z></form>"
    )
    (form,) = read_forms(page.encode(), "utf-8")
    known = FormRecord.of(form, Decision(True, 0.9, True, ""), "http://a.example/")
    (query,) = queries(known, [{"z": "1"}])
    assert query.body.decode() == urlencode({"state": state, "z": "1"})
    assert len(known.found().data) < 2_000
    kept = FormRecord.read(known.found())
    with pytest.raises(UsageError, match="only the beginning of the value of 'state' is stored"):
        query_urls(kept, [{"z": "1"}])
    assert [query.body for query in queries(kept, [{"z": "1", "state": "2"}])] == [b"state=2&z=1"]


def test_a_multiple_selection_list_sends_only_the_value_that_is_given() -> None:
    select = b"<select name=y multiple><option selected>1<option selected>2<option>3</select>"
    (form,) = read_forms(b"<form action=/find>" + select + b"</form>", "utf-8")
    known = FormRecord.of(form, Decision(True, 0.9, True, ""), "http://a.example/")
    assert query_urls(known, [{}, {"y": "3"}]) == [
        f"http://a.example/find?{sent}" for sent in ("y=1&y=2", "y=3")
    ]


def test_a_given_value_is_sent_in_place_of_ticked_boxes() -> None:
    boxes = "".join(f"<input type=checkbox name=y value={number} checked>" for number in range(3))
    (form,) = read_forms(f"<form action=/find>{boxes}</form>".encode(), "utf-8")
    known = FormRecord.of(form, Decision(True, 0.9, True, ""), "http://a.example/")
    assert query_urls(known, [{"y": "2"}]) == ["http://a.example/find?y=2"]


@pytest.mark.parametrize(
    ("fields", "sent"),
    [
        ("<input type=checkbox name=y value=1 checked>", ""),
        ("<input type=radio name=y value=1 checked><input type=radio name=y value=2>", ""),
        ("<input type=radio name=y value=1 checked><input type=radio name=y value=''>", "y="),
        ("<input type=hidden name=y value=0><input type=checkbox name=y value=1>", "y=0"),
    ],
)
def test_an_empty_cell_leaves_boxes_unticked(fields: str, sent: str) -> None:
    (form,) = read_forms(f"<form action=/find>{fields}<input name=z></form>".encode(), "utf-8")
    known = FormRecord.of(form, Decision(True, 0.9, True, ""), "http://a.example/")
    (query,) = queries(known, [{"y": "", "z": ""}])
    assert query.url == f"http://a.example/find?{'&'.join(filter(None, (sent, 'z=')))}"


def asked_by(fields: str, row: dict[str, str], **attributes: str) -> Query:
    """Return the query of a row to a form with some fields, as the archive stores it."""
    opening = " ".join(f'{name}="{value}"' for name, value in {"action": "/find", **attributes}.items())
    (form,) = read_forms(f"<form {opening}><input name=z value=1>{fields}</form>".encode(), "utf-8")
    known = FormRecord.of(form, Decision(True, 0.9, True, ""), "http://a.example/books/")
    (query,) = queries(FormRecord.read(known.found()), [row])
    return query


@pytest.mark.parametrize(
    ("buttons", "sent"),
    [
        ("<input type=submit name=go value=' Find  it '><input type=submit name=clear>", "&go=+Find++it+"),
        ("<button type=button name=help>?</button><button name=go value=1>Find it</button>", "&go=1"),
        ("<button name=go>Find it</button>", "&go="),
        ("<input type=submit name=go>", "&go=Submit"),
        ("<button>Find it</button><button name=clear>Clear</button>", ""),
        ("<button name=a disabled></button><button name=b formmethod=dialog></button><button name=c>", "&c="),
        ("<button name=a>Log in</button><button name=go>Suchen</button><button name=b>Search", "&go="),
        ("<input type=image name=go src=go.png value=Go>", "&go.x=0&go.y=0"),
        ("<input type=image src=go.png>", "&x=0&y=0"),
    ],
)
def test_the_default_button_is_sent_as_a_browser_sends_it(buttons: str, sent: str) -> None:
    assert asked_by(buttons, {}).url == f"http://a.example/find?z=1{sent}"


@pytest.mark.parametrize(
    ("row", "sent"),
    [
        ({"go": "title"}, "&go=title"),
        ({"go": "author"}, "&go=author"),
        ({"go": "", "map": "1"}, "&map.x=0&map.y=0"),
        ({"go": ""}, ""),
    ],
)
def test_a_button_that_is_given_is_sent_in_place_of_the_default_one(row: dict[str, str], sent: str) -> None:
    buttons = "<button name=go value=title></button><button name=go value=author></button>"
    assert asked_by(f"{buttons}<input type=image name=map>", row).url == f"http://a.example/find?z=1{sent}"


def test_a_column_of_the_name_of_a_field_and_a_button_is_that_of_the_field() -> None:
    fields = "<input name=q><input type=submit name=q value=Find>"
    assert asked_by(fields, {"q": "terns"}).url == "http://a.example/find?z=1&q=terns&q=Find"


def test_a_button_says_where_and_how_a_form_is_sent() -> None:
    buttons = "<button name=a formaction=../quick formmethod=get>A</button><button name=b>B</button>"
    quick = asked_by(buttons, {}, method="post")
    assert (quick.method, quick.url) == ("GET", "http://a.example/quick?z=1&a=")
    full = asked_by(buttons, {"b": "1"}, method="post")
    assert (full.method, full.url, full.body) == ("POST", "http://a.example/find", b"z=1&b=1")


@pytest.mark.parametrize(
    ("attributes", "body"),
    [({"enctype": "text/plain"}, b"z=1\r\ny=\xc3\xa9\r\n"), ({"enctype": "other"}, b"z=1&y=%C3%A9")],
)
def test_a_post_is_encoded_as_the_form_says(attributes: dict[str, str], body: bytes) -> None:
    assert asked_by("<input name=y>", {"y": "é"}, method="post", **attributes).body == body


def test_a_field_for_the_charset_is_filled_in() -> None:
    fields = "<input type=hidden name=_CHARSET_ value=x><input name=_charset_ value=y>"
    asked = asked_by(fields, {}, **{"accept-charset": "latin1"})
    assert asked.url.endswith("/find?z=1&_CHARSET_=windows-1252&_charset_=y")


def test_a_form_in_parts_is_sent_in_parts(crawl: Crawl, site: MockServer) -> None:
    fields = "Title <input name=title> Notes <textarea name='a&quot;b'></textarea><button name=go>Search"
    form = "<form action=/find method=post enctype=multipart/form-data accept-charset=latin1>"
    body = f"<h1>Search</h1>{form}{fields}</button></form>"
    asked: list[Asked] = []

    def find(each: Asked) -> Reply:
        asked.append(each)
        return Reply(b"<p>Found")

    site.routes["/find"] = find
    values = 'title,"a""b"\nTerns é,"one\n--two"\n'
    assert sent_by(crawl, site, body.encode(), "utf-8", values) == ["/find"]
    (each,) = asked
    parts = message_from_bytes(f"Content-Type: {each.headers['Content-Type']}\r\n\r\n".encode() + each.body)
    assert [(part["Content-Disposition"], part.get_payload(decode=True)) for part in parts.walk()][1:] == [
        ('form-data; name="title"', b"Terns \xe9"),
        ('form-data; name="a%22b"', b"one\r\n--two"),
        ('form-data; name="go"', b""),
    ]
    urls = [each["url"] for each in crawl.ask("list", "--pages")]
    assert site.url("/find?__wb_method=POST&a%2522b=one%0D%0A--two&go=&title=Terns+%E9") in urls


def test_of_many_chosen_options_only_the_first_are_stored() -> None:
    options = "<option selected value=''>any" * 5_000
    select = f"<select name=y multiple>{options}</select>"
    (form,) = read_forms(f"<form action=/find>{select}<input name=z></form>".encode(), "utf-8")
    known = FormRecord.of(form, Decision(True, 0.9, True, ""), "http://a.example/")
    (query,) = queries(known, [{"z": "1"}])
    assert query.url.count("y=") == 5_000
    assert len(known.found().data) < 3_000
    with pytest.raises(UsageError, match="only the beginning of the value of 'y' is stored"):
        query_urls(FormRecord.read(known.found()), [{"z": "1"}])


def test_a_line_break_of_the_grid_is_sent_as_browsers_send_it() -> None:
    (form,) = read_forms(b"<form action=/find><textarea name=y></textarea><input name=z></form>", "utf-8")
    known = FormRecord.of(form, Decision(True, 0.9, True, ""), "http://a.example/")
    (query,) = queries(known, [{"y": "a\nb", "z": "a\nb"}])
    assert query.url == "http://a.example/find?y=a%0D%0Ab&z=ab"


def test_a_disabled_field_is_sent_if_it_is_given() -> None:
    (form,) = read_forms(b"<form action=/find><input name=y disabled></form>", "utf-8")
    kept = FormRecord.of(form, Decision(True, 0.9, True, ""), "http://a.example/")
    assert query_urls(kept, [{"y": "1"}]) == ["http://a.example/find?y=1"]


@pytest.mark.parametrize("action", ["javascript:find()", " JavaScript:void(0)", "java\nscript:x"])
def test_a_form_whose_action_is_a_script_is_none(action: str) -> None:
    fields = "Author <input name=by> Title <input name=title><button>Search</button></form>"
    found = [
        search_forms(f'<form action="{target}">{fields}'.encode(), "utf-8", "http://a.example/")
        for target in ("/find", action)
    ]
    assert (len(found[0]), found[1]) == (1, [])


def test_what_a_charset_lacks_is_written_as_browsers_write_it() -> None:
    (url,) = query_urls(record(charset="gb18030"), [{"author": "\u7801"}])
    assert "author=%C2%EB" in url
    (url,) = query_urls(record(charset="latin-1"), [{"author": "\u7801"}])
    assert "author=%26%2330721%3B" in url


def test_a_field_that_the_form_lacks_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="no field 'autor': did you mean author"):
        query_urls(record(), [{"autor": "x"}])


def test_a_form_that_sends_post_has_its_fields_in_the_body_and_in_the_key() -> None:
    (query,) = queries(record(method="post"), [{"author": "Kim Lee"}])
    assert (query.method, query.url) == ("POST", "http://a.example/books/find")
    assert query.body == b"db=books&author=Kim+Lee&year=1998"
    assert "__wb_method=POST" in query.key
    assert "author=Kim+Lee" in query.key


def test_a_form_that_opens_no_page_is_refused() -> None:
    with pytest.raises(UsageError, match="the form sends DIALOG"):
        query_urls(record(method="dialog"), [{}])


@pytest.mark.parametrize("action", ["mailto:a@b.example", "about:blank", "http://[", "ftp://b.example/"])
def test_a_form_that_leads_to_no_http_url_is_refused(action: str) -> None:
    with pytest.raises(UsageError, match="which is no http URL"):
        query_urls(replace(record(), action=action), [{}])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a,b\n1\n", "row 2: 1 cells, and the head has 2"),
        ("a,b\n", "has no row"),
        ("", "has no row"),
        ("a,b,a\n1,2,3\n", "has 2 columns 'a': a query has one value for each field"),
    ],
)
def test_a_grid_that_makes_no_queries_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "grid.csv").write_text(text)
    with pytest.raises(UsageError, match=reason):
        read_grid(str(tmp_path / "grid.csv"))


def test_a_grid_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_grid(str(tmp_path / "none.csv"))


def store(
    crawl: Crawl,
    url: str,
    known: FormRecord | None,
    origin: str = "crawl",
    body: bytes = b"<p>Books",
    minute: int = 1,
) -> None:
    """Store a page with a form, as a crawl does that reached it on this machine."""
    page = make_page(body, url=url)
    page = replace(page, captured_at=at(minute), origin=origin, wire=Wire(ip="127.0.0.1"))
    with Archive.open(ArchiveConfig(uri=crawl.uri)) as archive:
        archive.add(archive.segment(page))
        if known:
            archive.forms.add(host_of(url), url, [known.found()], at(minute))


@pytest.fixture
def query(crawl: Crawl, site: MockServer) -> Crawl:
    """A crawl of a form that the archive knows."""
    store(crawl, site.url("/"), record(site.url("/")))
    (crawl.folder / "grid.csv").write_text("author,by\nLee,title\nKim,author\nLee,title\n", "utf-8")
    return replace(crawl, spider="query")


def given(crawl: Crawl, site: MockServer) -> dict[str, object]:
    (known,) = crawl.ask("forms")
    return {"form": known["id"], "values": f"@{crawl.folder}/grid.csv"}


# Canonical URLs have their parameters in order.
LEE = "/find?author=Lee&by=title&db=books&year=1998"
KIM = "/find?author=Kim&by=author&db=books&year=1998"


def test_each_row_is_one_query_and_links_are_not_followed(site: MockServer, query: Crawl) -> None:
    site.routes[LEE] = site.routes[KIM] = html("/book/1")
    crawled = query(**given(query, site))
    assert crawled.code == 0
    assert sorted(site.paths()) == sorted([LEE, KIM])
    assert sorted(record["url"] for record in crawled.records) == sorted(map(site.url, (LEE, KIM)))


ROWS = """
[[site]]
match = "*/find?*"
[site.fields]
matches = { css = ".count", type = "number" }
books = { each = "tr.book", columns = { title = "td", year = { css = ".year", type = "number" } } }
"""


def test_the_rows_of_an_answer_are_in_the_feed_by_a_schema_of_columns(site: MockServer, query: Crawl) -> None:
    table = "<p class=count>2 books</p><table><tr><th>Title<tr class=book><td>Terns<td class=year>1998"
    site.routes[LEE] = Reply(f"{table}<tr class=book><td>Gulls<td class=year>no year</table>".encode())
    site.routes[KIM] = Reply(b"<p>Nothing found.")
    (query.folder / "rows.toml").write_text(ROWS, "utf-8")
    crawled = query(**given(query, site), fields=f"@{query.folder}/rows.toml")
    lee, kim = (crawled.of(site.url(path))["fields"] for path in (LEE, KIM))
    assert (lee["matches"], kim["matches"]) == (2, None)
    assert lee["books"] == [{"title": "Terns", "year": 1998}, {"title": "Gulls", "year": None}]
    assert kim["books"] == []


def test_a_dry_run_prints_the_queries_and_asks_nothing(site: MockServer, query: Crawl) -> None:
    told = run_scrapy(query.words(**given(query, site), dry="yes"))
    assert told.returncode == 0
    assert told.stdout.split() == [site.url(LEE), site.url(KIM)]
    assert told.stderr.endswith("archivebot: 2 queries, none of them sent\n")
    assert site.asked == []


def test_a_budget_of_pages_holds(site: MockServer, query: Crawl) -> None:
    site.routes[LEE] = site.routes[KIM] = html()
    crawled = query(**given(query, site), pages=1)
    assert len(site.paths()) == 1
    assert "2 queries, of which 1 are asked" in crawled.log


def test_a_form_from_elsewhere_is_not_asked_at_a_private_address(crawl: Crawl, site: MockServer) -> None:
    store(crawl, site.url("/"), record(site.url("/")), origin="a.warc")
    (crawl.folder / "grid.csv").write_text("author\nLee\n", "utf-8")
    crawled = replace(crawl, spider="query")(**given(crawl, site))
    assert (site.asked, crawled.records, crawled.stat("guard/private_address")) == ([], [], 1)


def test_forms_of_two_sites_that_run_one_program_have_ids_of_their_own(
    query: Crawl, site: MockServer
) -> None:
    archive = Archive.open(ArchiveConfig(uri=query.uri))
    archive.forms.add("b.example", "http://b.example/", [record(site.url("/")).found()], at(1))
    archive.close()
    one, other = query.ask("forms")
    assert one["signature"] == other["signature"]
    assert one["id"] != other["id"]
    assert query(form=one["id"], values=f"@{query.folder}/grid.csv", dry="yes").code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        ({"values": "@x.csv"}, 2, "give the id of a form and the values"),
        ({"form": "zz", "values": "@x.csv"}, 1, "no form 'zz'"),
        ({"form": "zz", "values": "x.csv"}, 2, "values is 'x.csv': give a CSV file"),
    ],
)
def test_a_query_that_cannot_be_asked_says_why(
    query: Crawl, arguments: dict[str, object], code: int, reason: str
) -> None:
    crawled = query(**arguments)
    assert (crawled.code, crawled.records) == (code, [])
    assert reason in crawled.log


def test_a_form_that_sends_post_is_asked_and_each_answer_has_its_own_key(
    crawl: Crawl, site: MockServer
) -> None:
    posted: list[bytes] = []

    def find(asked: Asked) -> Reply:
        posted.append(asked.body)
        return Reply(b"<p>Found: " + asked.body)

    site.routes["/find"] = find
    store(crawl, site.url("/"), record(site.url("/"), "post"))
    (crawl.folder / "grid.csv").write_text("author,by\nLee,title\nKim,author\n", "utf-8")
    asking = replace(crawl, spider="query")
    crawled = asking(**given(asking, site))
    assert crawled.code == 0, crawled.log
    assert sorted(posted) == [
        b"db=books&author=Kim&year=1998&by=author",
        b"db=books&author=Lee&year=1998&by=title",
    ]
    keys = [site.url(f"/find?__wb_method=POST&{fields}") for fields in (KIM[6:], LEE[6:])]
    assert sorted(record["url"] for record in crawled.records) == keys
    with Archive.reader(ArchiveConfig(uri=crawl.uri)) as reader:
        assert b"author=Kim" in reader.body(reader.at(keys[0], None))
    told = run_scrapy(asking.words(**given(asking, site), dry="yes"))
    assert told.stdout.split() == keys[::-1]


@pytest.mark.parametrize(("status", "posted"), [(302, 0), (307, 1), (308, 1)])
def test_a_redirect_of_a_post_is_followed_as_a_browser_does(
    crawl: Crawl, site: MockServer, status: int, posted: int
) -> None:
    found: list[Asked] = []

    def find(asked: Asked) -> Reply:
        found.append(asked)
        return Reply(b"<p>Found")

    site.routes["/find"] = Reply(b"", status, (("Location", "/new"),))
    site.routes["/new"] = find
    store(crawl, site.url("/"), record(site.url("/"), "post"))
    (crawl.folder / "grid.csv").write_text("author\nLee\nKim\n", "utf-8")
    crawled = replace(crawl, spider="query")(**given(crawl, site))
    assert crawled.code == 0, crawled.log
    bodies = {f"db=books&author={name}&year=1998".encode() for name in ("Lee", "Kim")}
    assert {asked.body for asked in found} == (bodies if posted else {b""})
    urls = [each["url"] for each in crawled.records if "/new" in each["url"]]
    assert len(urls) == (2 if posted else 1)
    assert all(("author=" in url) == bool(posted) for url in urls)


def state_form(state: str) -> bytes:
    hidden = f"<input type=hidden name=state value={state}>"
    fields = f"Author <input name=author> Title <input name=title> {hidden}<button>Search</button>"
    return f"<h1>Search</h1><form action=/find method=post>{fields}</form>".encode()


@pytest.mark.parametrize(
    ("newest", "sent"),
    [(b"<p>No form", "last" * 25_000), (state_form("new" * 25_000), "new" * 25_000)],
    ids=["form lost", "form not looked for"],
)
def test_what_is_not_given_has_its_value_from_the_last_page_with_the_form(
    crawl: Crawl, site: MockServer, newest: bytes, sent: str
) -> None:
    posted: list[bytes] = []

    def find(asked: Asked) -> Reply:
        posted.append(asked.body)
        return Reply(b"<p>Found")

    site.routes["/find"] = find
    for minute, path, state in ((1, "/", "old" * 500), (2, "/advanced", "last" * 25_000)):
        body = state_form(state)
        (known,) = search_forms(body, "utf-8", site.url(path))
        store(crawl, site.url(path), known, body=body, minute=minute)
    store(crawl, site.url("/advanced"), None, body=newest, minute=3)
    (crawl.folder / "grid.csv").write_text("author\nLee\n", "utf-8")
    crawled = replace(crawl, spider="query")(**given(crawl, site))
    assert crawled.code == 0, crawled.log
    assert posted == [f"author=Lee&title=&state={sent}".encode()]


def test_a_value_of_which_the_archive_has_only_the_beginning_is_not_sent(
    crawl: Crawl, site: MockServer
) -> None:
    form = Form("", "find", "get", (), (Control("hidden", "state", "x" * 301), Control("text", "author")))
    store(crawl, site.url("/"), FormRecord.of(form, Decision(True, 0.9, True, ""), site.url("/")))
    (crawl.folder / "grid.csv").write_text("author\nLee\n", "utf-8")
    crawled = replace(crawl, spider="query")(**given(crawl, site))
    assert (crawled.code, site.asked) == (2, [])
    assert "only the beginning of the value of 'state' is stored" in crawled.log


def sent_by(crawl: Crawl, site: MockServer, body: bytes, charset: str, values: str) -> list[str]:
    """Return the paths that the queries of a grid ask for, on the form of a page at /books/."""
    (known,) = search_forms(body, charset, site.url("/books/"))
    store(crawl, site.url("/books/"), known, body=body)
    (crawl.folder / "grid.csv").write_text(values, "utf-8")
    crawled = replace(crawl, spider="query")(**given(crawl, site))
    assert crawled.code == 0, crawled.log
    return site.paths()


@pytest.mark.parametrize(("action", "path"), [("find", "/data/find"), ("", "/books/")])
def test_a_form_leads_to_where_the_base_of_its_page_says(
    crawl: Crawl, site: MockServer, action: str, path: str
) -> None:
    fields = "Author <input name=author> Title <input name=title><button>Search</button>"
    body = f'<base href="/data/"><h1>Search</h1><form action="{action}">{fields}</form>'.encode()
    asked = f"{path}?author=Lee&title="
    site.routes[asked] = html()
    assert sent_by(crawl, site, body, "utf-8", "author\nLee\n") == [asked]


@pytest.mark.parametrize(
    ("declared", "charset", "sent"),
    [
        ("iso-8859-1", "utf-8", "gr%F6%DFe"),
        ("unknown, latin1, utf-8", "utf-8", "gr%F6%DFe"),
        ("unknown", "utf-8", "gr%C3%B6%C3%9Fe"),
        ("", "utf-16-le", "gr%C3%B6%C3%9Fe"),
    ],
)
def test_values_are_sent_in_the_charset_that_the_form_accepts(
    crawl: Crawl, site: MockServer, declared: str, charset: str, sent: str
) -> None:
    fields = "Titel <input name=titel> Autor <input name=autor><button>Suchen</button>"
    body = f"<h1>Suche</h1><form action=find accept-charset='{declared}'>{fields}</form>"
    asked = f"/books/find?autor=&titel={sent}"
    site.routes[asked] = html()
    assert sent_by(crawl, site, body.encode(charset), charset, "titel\ngröße\n") == [asked]


def test_a_form_in_the_answer_to_a_post_leads_to_the_address_that_answered(
    crawl: Crawl, site: MockServer
) -> None:
    form = "<form method=post>Author <input name=author> Title <input name=title> {}<button>Search</button>"

    def find(asked: Asked) -> Reply:
        return Reply(f"<h1>Results</h1>{form.format('Year <input name=year>')}".encode())

    site.routes["/books/"] = find
    sent_by(crawl, site, f"<h1>Search</h1>{form.format('')}".encode(), "utf-8", "author\nLee\n")
    assert crawl.ask("forms", "--scan")
    assert {known["action"] for known in crawl.ask("forms")} == {site.url("/books/")}
