"""The title and the text of a document, read by another process."""

from __future__ import annotations

import inspect
import json
import logging
import subprocess
import sys
from collections import OrderedDict
from hashlib import blake2b
from typing import NamedTuple

from archivebot.documents import extraction

logger = logging.getLogger(__name__)

# Bytes of the largest document that is read: that of the largest page.
MOST_BYTES = 16 * 1024 * 1024

# Seconds until a document is given up, and the number of documents whose texts are remembered: a comparison
# asks for the texts of two several times.
PATIENCE = 60
REMEMBERED = 8


class DocumentText(NamedTuple):
    """The title and the text of a document, each "" if there is none."""

    title: str = ""
    text: str = ""


_read: OrderedDict[bytes, DocumentText] = OrderedDict()


def document_text(body: bytes, type_: str) -> DocumentText:
    """Return the title and the text of a document of a MIME type.

    Both are empty if it cannot be read: it is damaged or encrypted, has only pictures, is larger than a page
    may be, or takes more memory or time than the process that reads it may have.

    >>> document_text(b"{\\\\rtf1 Ferries run {\\\\b daily}.}", "application/rtf").text
    'Ferries run daily.'
    >>> document_text(b"%PDF-1.4", "application/pdf")
    DocumentText(title='', text='')
    """
    if len(body) > MOST_BYTES:
        return DocumentText()
    key = blake2b(body, person=type_.encode()[-16:]).digest()
    found = _read.pop(key, None) or _extracted(body, type_)
    _read[key] = found
    if len(_read) > REMEMBERED:
        _read.popitem(last=False)
    return found


def _extracted(body: bytes, type_: str) -> DocumentText:
    # A module may be in a zipped egg, so its source is passed on instead of its path. In a session of its own
    # the process does not get a Ctrl-C, after which the document would count as one without a text.
    command = [sys.executable, "-P", "-c", inspect.getsource(extraction), type_]
    try:
        found = subprocess.check_output(
            command, input=body, stderr=subprocess.DEVNULL, timeout=PATIENCE, start_new_session=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        if getattr(error, "returncode", None) == extraction.MISSING:
            logger.warning("No text of %s is read: a library is missing, so install archivebot again", type_)
        return DocumentText()
    return DocumentText(*json.loads(found))
