"""The program that reads the text of one document from its standard input.

The bytes of a file may be hostile, so it is a process of its own with bounds: a crash, an endless loop or a
lack of memory ends only this process. Its source is run as it is, so it must not import archivebot.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Callable, Iterable, Iterator
from ctypes import c_void_p
from io import BytesIO
from itertools import dropwhile, islice, takewhile
from typing import Any
from xml.etree import ElementTree
from zipfile import ZipFile

MOST_MEMORY = 1 << 30  # bytes
MOST_SECONDS = 20  # of CPU; PDFium reads 1,000 pages in two

MISSING = 3  # exit code if the library that reads a format is not installed

# Maximum of pages, slides or sheets that are read, and of characters of the text.
MOST_PAGES = 2000
MOST_CHARACTERS = 4_000_000

# Pages in whose beginnings a title is looked for, and the characters of each beginning.
TITLE_PAGES = 3
TITLE_CHARACTERS = 3000
MOST_TITLE = 300

# Minimum height of the lines of a title, relative to the largest line.
ALIKE = 0.95

# What PDFium writes for a hyphen at the end of a line: the word goes on in the next one.
HYPHEN = "\ufffe"

ODF = "application/vnd.oasis.opendocument."
OOXML = "application/vnd.openxmlformats-officedocument."

# Elements of Word that show nothing: properties, what was moved or removed, and a box for older programs.
WORD_HIDDEN = ("pPr", "del", "moveFrom", "Fallback")
WORD_SIGNS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}

# The same of OpenDocument, and the maximum of equal cells or rows in a row.
ODF_HIDDEN = ("tracked-changes", "annotation", "notes", "note", "title", "desc")
ODF_SIGNS = {"tab": "\t", "line-break": "\n", "s": " "}
MOST_REPEATED = 1000

# The title of a document, and the parts of its text.
Extract = tuple[str, Iterator[str]]


def pdf(data: bytes) -> Extract:
    """Return the text of a PDF, page by page, in the order of its content.

    The title is the text in the largest font of the first page with text.
    """
    import pypdfium2

    document = pypdfium2.PdfDocument(data)
    pages = (document[index].get_textpage() for index in range(min(len(document), MOST_PAGES)))
    texts = (page.get_text_range() for page in pages)
    beginnings = (document[index].get_textpage() for index in range(min(len(document), TITLE_PAGES)))
    title = next(filter(None, (_largest(page.raw, page.count_chars()) for page in beginnings)), "")
    return title, (f"{text.replace(HYPHEN, '')}\n" for text in texts)


def _largest(page: c_void_p, count: int) -> str:
    """Return the first lines of a page in the largest font, by the mean height of their characters.

    The height of a character is that of its box, because the font may be scaled. The mean spares small
    capitals and initials. A line of one character is no title.
    """
    import pypdfium2.raw as pdfium

    lines: list[tuple[float, str]] = []
    text, heights = "", []
    box = pdfium.FS_RECTF()
    for index in range(min(count, TITLE_CHARACTERS) + 1):
        character = chr(pdfium.FPDFText_GetUnicode(page, index)) if index < count else "\n"
        if not character.isspace() and character.isprintable():
            pdfium.FPDFText_GetLooseCharBox(page, index, box)
            heights.append(box.top - box.bottom)
        if character != "\n":
            text += character
            continue
        if len(heights) > 1:
            lines.append((sum(heights) / len(heights), text.strip()))
        text, heights = "", []
    least = ALIKE * max((height for height, _ in lines), default=0)
    title = takewhile(lambda line: line[0] >= least, dropwhile(lambda line: line[0] < least, lines))
    return " ".join(text for _, text in title)


def word(data: bytes) -> Extract:
    """Return the text of a Word document as it is shown: its paragraphs, and its tables row by row.

    It is read from the XML, because the paragraphs of python-docx leave out fields, inserted words and boxes.
    """
    import docx
    from docx.oxml.ns import qn

    document = docx.Document(BytesIO(data))
    styles = [style.style_id for style in document.styles if style.name == "Title"]
    paragraphs = (part for part in document.element.body.iter(qn("w:p")) if part.style in styles)
    title = next(filter(str.strip, map(_word_text, paragraphs)), document.core_properties.title)
    return title, map(_word_text, document.element.body)


def _word_text(part: Any) -> str:
    """Return the text of an element of a Word document; paragraphs and rows end with a line break."""
    name = str(part.tag).rpartition("}")[2]
    if name in WORD_HIDDEN:
        return ""
    if name == "t":
        return part.text or ""
    if name in WORD_SIGNS:
        return WORD_SIGNS[name]
    text = "".join(map(_word_text, part))
    if name == "tc":
        return text.removesuffix("\n") + "\t"
    if name == "tr":
        return text.removesuffix("\t") + "\n"
    return f"{text}\n" if name == "p" else f"\n{text}" if name == "txbxContent" else text


def excel(data: bytes) -> Extract:
    """Return the cells of an Excel workbook as they were last computed, a line for each row with a value."""
    import openpyxl

    workbook = openpyxl.load_workbook(BytesIO(data), read_only=True, data_only=True)

    def lines() -> Iterator[str]:
        for sheet in workbook.worksheets[:MOST_PAGES]:
            yield sheet.title
            sheet.reset_dimensions()  # a sheet may declare a million empty rows
            for row in sheet.iter_rows(values_only=True):
                if line := "\t".join("" if value is None else str(value) for value in row).rstrip("\t"):
                    yield line
            yield ""

    return workbook.properties.title or "", lines()


def powerpoint(data: bytes) -> Extract:
    """Return the texts of the shapes of a PowerPoint presentation; the title is that of the first slide."""
    import pptx

    slides = list(islice(pptx.Presentation(BytesIO(data)).slides, MOST_PAGES))

    def lines(shapes: Iterable[Any]) -> Iterator[str]:
        for shape in shapes:
            if hasattr(shape, "shapes"):
                yield from lines(shape.shapes)
            elif shape.has_text_frame:
                yield shape.text_frame.text
            elif getattr(shape, "has_table", False):
                yield from ("\t".join(cell.text for cell in row.cells) for row in shape.table.rows)

    first = slides[0].shapes.title if slides else None
    return first.text_frame.text if first is not None else "", (
        line for slide in slides for line in (*lines(slide.shapes), "")
    )


def opendocument(data: bytes) -> Extract:
    """Return the text of an OpenDocument file: its paragraphs, and its tables row by row."""
    with ZipFile(BytesIO(data)) as file:
        content = ElementTree.fromstring(file.read("content.xml"))
        meta = ElementTree.fromstring(file.read("meta.xml")) if "meta.xml" in file.namelist() else content
    return meta.findtext("{*}meta/{*}title") or "", map(_odf_text, content.iterfind("{*}body/*/*"))


def _odf_text(part: Any, is_inline: bool = False) -> str:
    """Return the text of an element of OpenDocument; paragraphs, and rows with words, end with a line break.

    A spreadsheet may have a million empty rows, written as one that is repeated.
    """
    name = part.tag.rpartition("}")[2]
    if name in ODF_HIDDEN:
        return ""
    if name in ODF_SIGNS:
        return ODF_SIGNS[name]
    is_line = name in ("p", "h")
    is_inline = is_inline or is_line
    texts = (_odf_text(each, is_inline) + (each.tail or "" if is_inline else "") for each in part)
    text = "".join((part.text or "" if is_inline else "", *texts))
    if name.endswith("table-cell"):
        return (text.removesuffix("\n") + "\t") * _times(part, "columns")
    if name == "table-row":
        return f"{text.rstrip()}\n" * _times(part, "rows") if text.strip() else ""
    return f"{text}\n" if is_line else f"\n{text}" if name == "text-box" else text


def _times(part: Any, what: str) -> int:
    name = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}number-%s-repeated"
    return min(int(part.get(name % what, 1)), MOST_REPEATED)


def rtf(data: bytes) -> Extract:
    """Return the text of an RTF document."""
    from striprtf.striprtf import rtf_to_text

    return "", iter([rtf_to_text(data.decode("latin-1"), errors="replace")])


# How documents are read, by their MIME types.
READERS: dict[str, Callable[[bytes], Extract]] = {
    "application/pdf": pdf,
    "application/rtf": rtf,
    f"{OOXML}wordprocessingml.document": word,
    f"{OOXML}spreadsheetml.sheet": excel,
    f"{OOXML}presentationml.presentation": powerpoint,
    f"{ODF}text": opendocument,
    f"{ODF}spreadsheet": opendocument,
    f"{ODF}presentation": opendocument,
}


def extracted(data: bytes, type_: str) -> tuple[str, str]:
    """Return the title and the text of a document of a MIME type; raises what its reader raises."""
    title, parts = READERS[type_](data)
    lines: list[str] = []
    room = MOST_CHARACTERS
    for part in parts:
        lines += (line.rstrip() for line in part[:room].splitlines() or [""])
        room -= len(part)
        if room <= 0:
            break
    return _whole(" ".join(title.split())[:MOST_TITLE]), _whole("\n".join(lines).strip("\n"))


def _whole(text: str) -> str:
    """Return a text with the halves of characters, as UTF-16 has them, joined; single ones are replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def main() -> None:
    """Write the title and the text of the document to the standard output, as JSON."""
    for limit, most in ((resource.RLIMIT_DATA, MOST_MEMORY), (resource.RLIMIT_CPU, MOST_SECONDS)):
        soft, hard = resource.getrlimit(limit)
        resource.setrlimit(limit, (min([most, *(each for each in (soft, hard) if each >= 0)]), hard))
    with open(1, "w", encoding="utf-8") as answer:
        json.dump(extracted(sys.stdin.buffer.read(), sys.argv[1]), answer)


if __name__ == "__main__":
    try:
        main()
    except ModuleNotFoundError:
        sys.exit(MISSING)
