"""Features: the events of a form, each present or not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from archivebot.forms.form import BUTTONS, FILLED, TYPED, Form
from archivebot.forms.lexicon import MEANINGS, SEARCH_NAMES, meanings
from archivebot.text import words

# The boundaries of words that are joined in names.
_JOINTS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])|[_-]+")
_PIECES = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_HOST = re.compile(r"^(?:https?:)?//[^/]*", re.IGNORECASE)

MOST_TEXT = 1500  # characters taken of each source

# The sources that state the purpose of a form; the others are names of fields and of its position.
_SAYING = ("action", "form", "name", "button", "button name", "label", "hint")
_NAMING = ("name", "id", "label")

_COUNTED = "select checkbox radio textarea email search tel file password image hidden submit".split()
_DOINGS = ("buy", "log in", "subscribe", "write")
_PERSONAL = frozenset(("password", "email", "tel", "file", "textarea"))


def events(form: Form) -> set[str]:
    """Return the events of a form: its structure, its words by their source, and their meanings.

    Xin, Cui and others ("Deep Web discovery", 2011) take the name and the action of the form, its types of
    controls, the names and values of controls, and the words between; here ids and classes are added, which
    are often in English even if the words are not, and the meanings of words in many languages. Each event
    reads as a reason.

    >>> sorted(event for event in events(Form("", "/find", "get", (), ())) if "action" in event)
    ['action has "find"']
    """
    texts = sources(form)
    count = _few(form.questions)
    meant = {source: meanings(text.lower()) for source, text in texts.items() if text}
    found = {*_structure(form, count), *_purpose(form, count, meant)}
    for source, text in texts.items():
        if not text:
            found.add(f"no {source}")
            continue
        found.update([f'{source} has "{word}"' for word in pieces(text)])
        found.update([f"{source} means {meaning}" for meaning in meant[source]])
    return found


def sources(form: Form) -> dict[str, str]:
    """Return the text of each source in a form."""
    filled = list(form.named(FILLED))
    buttons = list(form.named(BUTTONS))
    texts = {
        "action": [_HOST.sub("", form.action)],
        "form": [form.name, form.css, form.role, form.label],
        "around": form.around,
        "name": [control.name for control in filled],
        "id": [control.css for control in filled],
        "button": [part for control in buttons for part in (control.value, *control.hints)],
        "button name": [f"{control.name} {control.css}" for control in buttons],
        "label": [control.label for control in filled],
        "hint": [part for control in filled for part in (*control.hints, control.typed)],
        "text": [form.text],
    }
    return {source: " ".join(parts)[:MOST_TEXT].strip() for source, parts in texts.items()}


def pieces(text: str) -> list[str]:
    """Return the words of a text or a name, in lower case, without numbers.

    >>> pieces("txtSearch_box2 Поиск"), pieces("HTMLForm17-id")
    (['txt', 'search', 'box', 'поиск'], ['html', 'form', 'id'])
    """
    if text.isascii():
        return [piece.lower() for piece in _PIECES.findall(text)]
    return [word for word in words(_JOINTS.sub(" ", text)) if not word.isdigit()]


def _structure(form: Form, count: str) -> Iterator[str]:
    """Yield which controls occur and how many."""
    kinds = Counter(control.kind for control in form.controls)
    yield f"method {form.method}"
    for kind in _COUNTED:
        yield f"{min(kinds[kind], 2)} {kind}"
    yield f"{_few(sum(kinds[kind] for kind in TYPED) - kinds['textarea'])} text boxes"
    yield f"{count} fields"
    buttons = sum(kinds[kind] for kind in BUTTONS)
    yield f"{_few(buttons)} buttons"
    if not buttons:
        yield f"{count} fields, no button"
    if form.questions == 1:
        yield f"only a {next(form.named(FILLED)).kind}"
    if any(control.jumps for control in form.controls):
        yield "acts on a change"
    if form.links:
        yield "links"
    yield f"{_length(form.text)} text"
    if any(control.name.lower() in SEARCH_NAMES for control in form.named(TYPED)):
        yield "a name of search boxes"


def _purpose(form: Form, count: str, meant: dict[str, list[str]]) -> Iterator[str]:
    """Yield the purposes of a form as a whole, with the number of its fields."""
    personal = any(control.kind in _PERSONAL for control in form.controls)
    personal = personal or any("person" in meant.get(source, ()) for source in _NAMING)
    yield f"{count} fields, {'something' if personal else 'nothing'} personal"
    found = {meaning for source in _SAYING for meaning in meant.get(source, ())}
    goods = any("goods" in meant.get(source, ()) for source in _NAMING)
    if goods and not personal and found.isdisjoint(_DOINGS):
        yield f"{count} fields, for goods alone"
    for meaning in MEANINGS:
        verdict = f"{'means' if meaning in found else 'does not mean'} {meaning}"
        yield verdict
        yield f"{count} fields, {verdict}"


def _few(count: int) -> str:
    return str(count) if count < 3 else "3 to 5" if count < 6 else "many"


def _length(text: str) -> str:
    return "no" if not text else "short" if len(text) < 60 else "some" if len(text) < 400 else "long"
