"""Documents: their texts, and what archives, commands and searches make of them."""

from __future__ import annotations

import io
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import openpyxl
import pytest

from archivebot.archive import Archive, PageReading
from archivebot.bounds import MOST_BYTES
from archivebot.crawl.reading.pages import read_any
from archivebot.documents import document, extraction
from archivebot.documents.document import DocumentText, document_text
from archivebot.exceptions import UsageError
from archivebot.markup.formats import READABLE, format_of, kind_of
from archivebot.models import Change, ChangeKind, Kind, Page
from archivebot.topic.sources import example, read_folder, readable
from tests.commands import run_scrapy
from tests.documentfiles import FORMATS, SONG, TITLE, changed_file, drawn, excel, pdf, pdf_of, word
from tests.factories import make_page, visit
from tests.served import archived

RULES = ["The ferry runs all year.", "Tickets are sold at the harbour.", "A ticket costs 12 euro."]
DEARER = [*RULES[:2], "A ticket costs 15 euro."]
URL = "http://example.com/rules"
PDF = "application/pdf"
NOTHING = DocumentText()


def type_of(body: bytes) -> str:
    found = format_of(body)
    assert found is not None
    return found.type


def test_each_type_that_counts_as_readable_has_a_reader() -> None:
    assert extraction.READERS.keys() == READABLE
    assert document.MOST_BYTES == MOST_BYTES
    assert {kind_of(each).value for each in READABLE} == {"document"}


@pytest.mark.parametrize("name", FORMATS)
def test_a_document_has_its_text_and_its_title(name: str) -> None:
    body = FORMATS[name](RULES)
    found = format_of(body)
    assert found is not None
    assert (found.name, found.type in READABLE) == (name, True)
    title, text = document_text(body, found.type)
    assert [line for rule in RULES for line in text.splitlines() if rule in line][:3] != []
    assert all(rule in text for rule in RULES)
    assert title == ("" if name == "an RTF document" else TITLE)


def test_cells_are_in_the_line_of_their_row() -> None:
    assert "adult\tchild" in document_text(word(RULES), type_of(word(RULES))).text.splitlines()
    rows = document_text(excel(RULES), type_of(excel(RULES))).text.splitlines()
    assert rows == ["Prices", *(f"{rule}\t12.5\t\tTrue" for rule in RULES)]


def test_the_text_of_a_word_file_is_what_it_shows() -> None:
    def run(words: str) -> str:
        return f"<w:r><w:t>{words}</w:t></w:r>"

    box = f"<w:txbxContent><w:p>{run('a box')}</w:p></w:txbxContent>"
    nested = f"<w:tbl><w:tr><w:tc><w:p>{run('nested')}</w:p></w:tc></w:tr></w:tbl>"
    wide = '<w:tcPr><w:gridSpan w:val="2"/></w:tcPr>'
    parts = f"""
        <w:sdt><w:sdtContent><w:p>{run("a control")}</w:p></w:sdtContent></w:sdt>
        <w:p><w:pPr><w:tabs><w:tab/></w:tabs></w:pPr>{run("Kept, ")}<w:ins>{run("inserted, ")}</w:ins>
            <w:del><w:r><w:delText>removed</w:delText></w:r></w:del><w:moveFrom>{run("moved")}</w:moveFrom>
            <w:fldSimple w:instr="DATE">{run("a field")}</w:fldSimple><w:r><w:tab/></w:r>{run("end")}</w:p>
        <w:p><w:r><w:drawing><a:p xmlns:a="a"/></w:drawing></w:r>{run("a drawing")}</w:p>
        <w:p><w:r><mc:AlternateContent xmlns:mc="mc"><mc:Choice>{box}</mc:Choice>
            <mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:r></w:p>
        <w:tbl><w:tr><w:tc><w:p>{run("a")}</w:p></w:tc><w:tc>{nested}<w:p/></w:tc></w:tr>
            <w:tr><w:tc>{wide}<w:p>{run("wide")}</w:p></w:tc></w:tr></w:tbl>"""
    body = changed_file(word([]), "word/document.xml", "<w:sectPr", f"{parts}<w:sectPr")
    lines = document_text(body, type_of(body)).text.splitlines()
    assert lines == [
        *(
            TITLE,
            "adult\tchild",
            "a control",
            "Kept, inserted, a field\tend",
            "",
            "a drawing",
            "",
            "a box",
            "",
        ),
        *("a\tnested", "", "wide"),
    ]


def odf(kind: str, parts: str) -> str:
    start, end = f"<office:{kind}>", f"</office:{kind}>"
    names = ("office", "text", "table", "draw:drawing", "presentation")
    spaces = " ".join(
        f'xmlns:{name.partition(":")[0]}="urn:oasis:names:tc:opendocument:xmlns:{name.rpartition(":")[2]}:1.0"'
        for name in names
    )
    content = f"<office:document-content {spaces}><office:body>{start}{parts}{end}</office:body>"
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mimetype", extraction.ODF + kind)
        archive.writestr("content.xml", f"{content}</office:document-content>")
    return document_text(file.getvalue(), extraction.ODF + kind).text


def test_a_spreadsheet_may_have_a_million_empty_rows() -> None:
    empty = '<table:table-cell table:number-columns-repeated="%d"/>'
    rows = f"""<table:table><table:table-row><table:table-cell><text:p>adult</text:p></table:table-cell>
        {empty % 2}<table:table-cell table:number-columns-repeated="2"><text:p>12.50 euro</text:p>
        </table:table-cell>{empty % 16379}</table:table-row>
        <table:table-row table:number-rows-repeated="1048575">{empty % 16384}</table:table-row>
        </table:table>"""
    assert odf("spreadsheet", rows) == "adult\t\t\t12.50 euro\t12.50 euro"


def test_the_text_of_an_opendocument_text_is_what_it_shows() -> None:
    removed = (
        "<text:tracked-changes><text:deletion><text:p>removed</text:p></text:deletion></text:tracked-changes>"
    )
    note = "<text:note><text:note-body><text:p>a note</text:p></text:note-body></text:note>"
    box = "<draw:frame><draw:text-box><text:p>a box</text:p></draw:text-box></draw:frame>"
    line = f"<text:p>Kept<text:s/><text:span>words</text:span>{note} to the<text:tab/>end</text:p>"
    item = "<text:list><text:list-item><text:p>an item</text:p></text:list-item></text:list>"
    found = odf(
        "text",
        f"{removed}{line}<text:section><text:h>Head</text:h></text:section>{item}<text:p>{box}</text:p>",
    )
    assert found.split("\n") == ["Kept words to the\tend", "Head", "an item", "", "a box"]


def test_empty_rows_of_a_workbook_are_no_lines() -> None:
    workbook = openpyxl.Workbook()
    workbook.active["A1"], workbook.active["B100000"] = "first", "last"
    file = io.BytesIO()
    workbook.save(file)
    lines = document_text(file.getvalue(), type_of(file.getvalue())).text.split("\n")
    assert lines == ["Sheet", "first", "\tlast"]


def test_a_pdf_without_its_chinese_font_has_chinese_text() -> None:
    body = pdf(b"BT /F 24 Tf 72 700 Td <%b> Tj ET" % "中国档案馆".encode("gbk").hex().encode(), SONG)
    assert document_text(body, PDF) == ("中国档案馆", "中国档案馆")


@pytest.mark.parametrize(
    ("content", "title"),
    [
        (drawn((9, "Page 1"), (20, "Two lines of"), (20, "a title"), (11, "Text"), (20, "Large")), None),
        (drawn((40, "1"), (20, "Two lines of a title"), (11, "Text of the page")), None),
        (drawn((11, "Two lines of a title")), None),
        # A font of one unit that the matrix makes large.
        (b"BT /F 1 Tf 20 0 0 20 72 700 Tm (Two lines of a title) Tj 11 0 0 11 72 600 Tm (Text) Tj ET", None),
        # Small capitals.
        (
            b"BT 72 700 Td /F 20 Tf (T) Tj /F 16 Tf (WO LINES) Tj /F 11 Tf 0 -40 Td (Text) Tj ET",
            "TWO LINES",
        ),
        (b"", ""),
    ],
)
def test_the_title_of_a_pdf_is_its_largest_text(content: bytes, title: str | None) -> None:
    assert document_text(pdf(content), PDF).title == ("Two lines of a title" if title is None else title)


def test_a_hyphen_at_the_end_of_a_line_of_a_pdf_joins_its_word() -> None:
    text = document_text(pdf(drawn((11, "The ferry runs through-"), (11, "out the year"))), PDF).text
    assert "throughout the year" in text.replace("-\n", "")


def test_half_a_character_is_replaced(archive: Archive) -> None:
    assert document_text(rb"{\rtf1 \u-10179?\u-8704?}", "application/rtf").text == "\U0001f600"
    for day, line in enumerate((rb"{\rtf1 \u-10179? The ferry}", rb"{\rtf1 \u-10179? A ferry}")):
        capture = visit(archive, document_page(line, day))
    assert capture.kind is Kind.CHANGED
    delta = archive.delta(URL, archive.version(URL, 1), archive.version(URL, 2))
    assert [change.after for change in delta.changes] == ["\ufffd A ferry"]


@pytest.mark.parametrize(
    ("body", "type_"),
    [
        (b"%PDF-1.7 broken", PDF),
        (pdf_of(RULES)[:300], PDF),
        (word(RULES)[:3000], extraction.OOXML + "wordprocessingml.document"),
        (b"PK\3\4", extraction.ODF + "text"),
        (b"", "application/rtf"),
    ],
)
def test_a_damaged_document_has_no_text(body: bytes, type_: str) -> None:
    assert document_text(body, type_) == NOTHING


@pytest.mark.long
def test_a_document_that_takes_too_much_memory_or_time_has_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(word(RULES))) as small,
        zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as large,
    ):
        for name in small.namelist():
            if name != "word/document.xml":
                large.writestr(name, small.read(name))
        with large.open("word/document.xml", "w") as part:
            part.write(b'<w:document xmlns:w="w"><w:body>')
            for _ in range(3000):
                part.write(b"<w:p/>" * (1 << 16))
    body = bomb.getvalue()
    assert len(body) < 2_000_000
    assert document_text(body, type_of(body)) == NOTHING
    monkeypatch.setattr(document, "PATIENCE", 0.01)
    assert document_text(pdf_of(["Another one"]), PDF) == NOTHING


def test_a_missing_library_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "pypdfium2.py").write_text("import nothing_of_this_name")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert document_text(pdf_of(["A line of its own"]), PDF) == NOTHING
    assert "No text of application/pdf is read: a library is missing" in caplog.text


def test_threads_may_read_documents_at_a_time() -> None:
    bodies = [b"{\\rtf1 %d}" % (number % 9) for number in range(40)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda body: document_text(body, "application/rtf").text, bodies))
    assert found == [str(number % 9) for number in range(40)]


def test_an_archive_of_documents_is_not_a_document() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("rules.docx", word(RULES))
    assert type_of(file.getvalue()) == "application/zip"


def test_a_text_of_too_many_characters_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extraction, "MOST_CHARACTERS", 28)
    _, text = extraction.extracted(excel(RULES), type_of(excel(RULES)))
    assert text == "Prices\nThe ferry runs all yea"


def test_a_topic_judges_documents() -> None:
    body = pdf_of(RULES)
    assert example(body, PDF, URL).title == TITLE
    assert RULES[0] in example(body, PDF, URL).text
    assert (readable(body, ""), readable(b"%PDF-1.7 scan", "")) == (True, False)
    with pytest.raises(UsageError, match=r"a\.pdf is a PDF document: give pages and texts"):
        example(b"%PDF-1.7 scan", PDF, "a.pdf")
    read = read_any(PageReading(body), URL, context=True)
    assert (read.title, RULES[0] in read.text) == (TITLE, True)


def test_a_folder_of_examples_may_hold_documents(tmp_path: Path) -> None:
    for name, body in (("a.pdf", pdf_of(RULES)), ("b.docx", word(RULES)), ("c.pdf", b"%PDF-1.7 scan")):
        (tmp_path / name).write_bytes(body)
    assert [found.title for found in read_folder(tmp_path)] == [TITLE, TITLE]


def document_page(body: bytes, day: float) -> Page:
    return make_page(body, day, url=URL, headers=(("Content-Type", "application/octet-stream"),))


@pytest.mark.parametrize("name", FORMATS)
def test_other_words_of_a_document_are_a_change_of_its_only_block(archive: Archive, name: str) -> None:
    make = FORMATS[name]
    for day, lines in enumerate((RULES, DEARER)):
        capture = visit(archive, document_page(make(lines), day))
    assert capture.kind is Kind.CHANGED
    assert "15" in capture.reason
    delta = archive.delta(URL, archive.version(URL, 1), archive.version(URL, 2))
    assert [change.change for change in delta.changes] == [Change.MODIFIED]
    assert RULES[2] in (delta.changes[0].before or "")
    assert DEARER[2] in (delta.changes[0].after or "")
    states = archive.block_history(URL, delta.changes[0].lineage)
    assert [DEARER[2] in (state.text or "") for state in states] == [False, True]


def test_the_same_words_in_other_bytes_are_no_change_of_content(archive: Archive) -> None:
    visit(archive, document_page(pdf_of(RULES), 0))
    capture = visit(archive, document_page(pdf_of(RULES, comment=b"% saved again\n"), 1))
    assert capture.kind is Kind.TOUCHED
    delta = archive.delta(URL, archive.version(URL, 1), archive.version(URL, 2))
    assert (delta.kind, [change.change for change in delta.changes]) == (
        ChangeKind.FURNITURE,
        [Change.MARKUP],
    )


def test_a_document_without_words_counts_by_its_bytes(archive: Archive) -> None:
    for day in range(2):
        capture = visit(archive, document_page(b"%%PDF-1.7 scan %d" % day, day))
    assert capture.kind is Kind.CHANGED


def test_commands_show_the_words_of_a_document(tmp_path: Path) -> None:
    pages = [document_page(pdf_of(lines), day) for day, lines in enumerate((RULES, DEARER))]
    scan = make_page(b"%PDF-1.7 scan", url="http://example.com/scan")
    uri = archived(f"sqlite:///{tmp_path}/a.db", [*pages, scan])
    setting = ("-s", f"ARCHIVE_URI={uri}")
    assert run_scrapy(["text", URL, *setting]).stdout.splitlines() == [TITLE, *DEARER]
    assert "~ A ticket costs [-12-]{+15+} euro." in run_scrapy(["delta", URL, *setting]).stdout
    scanned = run_scrapy(["text", "http://example.com/scan", *setting])
    assert (scanned.stdout, "is a PDF document, 13 B" in scanned.stderr) == ("", True)
    assert run_scrapy(["index", *setting]).returncode == 0
    found = run_scrapy(["search", '"15 euro"', "--json", *setting]).stdout
    assert f'"url": "{URL}"' in found
    assert DEARER[2] in found
