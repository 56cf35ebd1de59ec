"""The three rules that reject a form as a query interface, before the classifier."""

from __future__ import annotations

from archivebot.forms.features import sources
from archivebot.forms.form import FILLED, TYPED, Form
from archivebot.forms.lexicon import PASSWORDS, USER_NAMES, meanings, whole_words

# Minimum of fields of a query interface; the paper states no number. A form with one field searches a site.
LEAST_FIELDS = 2

_PASSWORD = whole_words(PASSWORDS)
_USER_NAME = whole_words(USER_NAMES)
_ONLY = {"checkbox": "check box", "select": "selection list"}


def rejection(form: Form, least: int = LEAST_FIELDS) -> str:
    """Return the rule that rejects a form as a query interface, or "".

    The rules of Xin, Cui and others ("Deep Web discovery", 2011), the clearest first: 2, a field for a
    password or a user name; 3, only one check box or selection list; 1, fewer than ``least`` fields to
    fill.

    >>> from archivebot.forms.form import Control
    >>> rejection(Form("", "", "get", (), (Control("select", "year"),)))
    'rule 3: only one selection list'
    >>> rejection(Form("", "", "get", (), (Control("text", "q"),)))
    'rule 1: fields to fill: 1, fewer than 2'
    >>> rejection(Form("", "", "get", (), (Control("text", "author"), Control("text", "title"))))
    ''
    """
    if reason := credentials(form):
        return reason
    if form.questions == 1 and (kind := next(form.named(FILLED)).kind) in _ONLY:
        return f"rule 3: only one {_ONLY[kind]}"
    if form.questions < least:
        return f"rule 1: fields to fill: {form.questions}, fewer than {least}"
    return ""


def credentials(form: Form) -> str:
    """Return the field that shows that a form is for login or registration (rule 2), or "".

    A user name does not count if the form searches: then it asks for the author of a text.
    """
    for control in form.controls:
        if control.kind == "password" or (control.kind in TYPED and _PASSWORD.search(control.label)):
            return f"rule 2: a field for a password, {control.label or control.name!r}"
    user = next((control for control in form.named(TYPED) if _USER_NAME.search(control.label)), None)
    return f"rule 2: a field for a user name, {user.label!r}" if user and not _searches(form) else ""


def _searches(form: Form) -> bool:
    texts = sources(form)
    together = f"{texts['action']} {texts['form']} {texts['name']} {texts['button']}"
    return "search" in meanings(together.lower())
