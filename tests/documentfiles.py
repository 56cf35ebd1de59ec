"""Documents of each format, with a title and some lines."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

import docx
import odfdo
import openpyxl
import pptx

TITLE = "Ferry rules"

HELVETICA = [b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]

# A font that is not in the file, whose characters are those of the charset GBK.
SONG = [
    b"<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /GBK-EUC-H"
    b" /DescendantFonts [6 0 R] >>",
    b"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /FontDescriptor 7 0 R"
    b" /CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 2 >> >>",
    b"<< /Type /FontDescriptor /FontName /STSong-Light /Flags 4 /FontBBox [-25 -254 1000 880]"
    b" /ItalicAngle 0 /Ascent 880 /Descent -120 /CapHeight 880 /StemV 93 >>",
]


def pdf(content: bytes, font: Sequence[bytes] = HELVETICA, comment: bytes = b"") -> bytes:
    """Return a PDF with one page; ``content`` draws it with the font /F."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        b" /Resources << /Font << /F 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%b\nendstream" % (len(content), content),
        *font,
    ]
    file, places = b"%PDF-1.4\n" + comment, []
    for number, body in enumerate(objects, 1):
        places.append(b"%010d 00000 n \n" % len(file))
        file += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    start, size = len(file), len(objects) + 1
    file += b"xref\n0 %d\n0000000000 65535 f \n%b" % (size, b"".join(places))
    return file + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, start)


def drawn(*runs: tuple[float, str]) -> bytes:
    """Return what draws lines in fonts of some sizes, one below the other."""
    lines = (b"/F %.1f Tf 0 -30 Td (%b) Tj" % (size, text.encode()) for size, text in runs)
    return b"BT 72 760 Td " + b" ".join(lines) + b" ET"


def pdf_of(lines: Sequence[str], comment: bytes = b"") -> bytes:
    return pdf(drawn((24, TITLE), *((11, line) for line in lines)), comment=comment)


def word(lines: Sequence[str]) -> bytes:
    document = docx.Document()
    document.add_paragraph(TITLE, style="Title")
    for line in lines:
        document.add_paragraph(line)
    table = document.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "adult", "child"
    return _saved(document)


def excel(lines: Sequence[str]) -> bytes:
    workbook = openpyxl.Workbook()
    workbook.properties.title = TITLE
    sheet = workbook.active
    sheet.title = "Prices"
    for line in lines:
        sheet.append([line, 12.5, None, True])
    return _saved(workbook)


def powerpoint(lines: Sequence[str]) -> bytes:
    presentation = pptx.Presentation()
    for title in (TITLE, "The next slide"):
        slide = presentation.slides.add_slide(presentation.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = "\n".join(lines)
    return _saved(presentation)


def opendocument(lines: Sequence[str]) -> bytes:
    document = odfdo.Document("text")
    document.meta.title = TITLE
    document.body.clear()
    for line in lines:
        document.body.append(odfdo.Paragraph(line))
    return _saved(document)


def rtf(lines: Sequence[str]) -> bytes:
    return b"{\\rtf1\\ansi " + b"\\par ".join(line.encode() for line in lines) + b"}"


def changed_file(archive: bytes, name: str, old: str, new: str) -> bytes:
    """Return a document of several files with other words in one of them."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as before, zipfile.ZipFile(file, "w") as after:
        for each in before.namelist():
            data = before.read(each)
            after.writestr(each, data.replace(old.encode(), new.encode()) if each == name else data)
    return file.getvalue()


def _saved(document: Any) -> bytes:
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


FORMATS: dict[str, Callable[[Sequence[str]], bytes]] = {
    "a PDF document": pdf_of,
    "a Word document": word,
    "an Excel workbook": excel,
    "a PowerPoint presentation": powerpoint,
    "an OpenDocument text": opendocument,
    "an RTF document": rtf,
}
