"""The record of a form, as stored and as printed for scripts."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from archivebot.forms.classifier import Decision
from archivebot.forms.form import MOST_TEXT, Control, Form
from archivebot.models import FoundForm

FORMAT = 1

_LISTS = ("hints", "options", "values", "also", "sends")


@dataclass(frozen=True, slots=True)
class FormRecord:
    """A form found on a page: its target (an absolute URL), its fields, and its classification.

    ``attributes`` are labels with their controls; ``controls`` are all controls in the order of the page,
    including hidden ones; ``domain`` is the subject of its hidden database, empty if unknown. ``enctype`` is
    the encoding of a POST.
    """

    signature: str
    name: str
    method: str
    action: str
    charset: str
    decision: Decision
    domain: str
    attributes: tuple[tuple[str, tuple[Control, ...]], ...]
    controls: tuple[Control, ...]
    enctype: str = ""

    @classmethod
    def of(
        cls, form: Form, decision: Decision, url: str, charset: str = "utf-8", domain: str = ""
    ) -> FormRecord:
        """Return the record of a form on the page of a URL in a charset."""
        return cls(
            signature=form.signature(url),
            name=form.name,
            method=form.method,
            action=form.target(url),
            charset=form.charset or charset,
            decision=decision,
            domain=domain,
            attributes=tuple((each.label, each.controls) for each in form.attributes),
            controls=tuple(_absolute(control, form, url) for control in form.controls),
            enctype=form.enctype,
        )

    @property
    def text(self) -> str:
        """The visible texts of the form: labels, and the options of selection lists."""
        options = (option for control in self.controls for option in control.options)
        return " ".join((*(label for label, _ in self.attributes), *options))

    @property
    def fields(self) -> list[dict[str, Any]]:
        """The attributes in the form for scripts."""
        return [{"label": label, "controls": names(controls)} for label, controls in self.attributes]

    def found(self) -> FoundForm:
        """Return the form for storage, with the controls of an attribute as indices, and long values cut.

        >>> form = Form("f", "/find", "get", (), (Control("text", "q", options=("a", "b")),))
        >>> record = FormRecord.of(form, Decision(True, 0.9, False, "a search box"), "http://a.example/x")
        >>> FormRecord.read(record.found()) == record, record.action
        (True, 'http://a.example/find')
        """
        data = {"format": FORMAT, **asdict(self)}
        del data["signature"]
        for control in data["controls"]:
            if len(control["value"]) + sum(len(each) + 1 for each in control["also"]) > MOST_TEXT:
                control.update(value=control["value"][:MOST_TEXT], also=(), cut=True)
        places: dict[Control, int] = {}
        for at, control in enumerate(self.controls):
            places.setdefault(control, at)
        data["attributes"] = [
            [label, [places[control] for control in controls]] for label, controls in self.attributes
        ]
        return FoundForm(self.signature, json.dumps(data, ensure_ascii=False, separators=(",", ":")))

    @classmethod
    def read(cls, found: FoundForm) -> FormRecord:
        """Read a record written by :meth:`found`."""
        data = json.loads(found.data)
        controls = tuple(
            Control(**each | {name: tuple(each.get(name, ())) for name in _LISTS})
            for each in data["controls"]
        )
        return cls(
            signature=found.signature,
            name=data["name"],
            method=data["method"],
            action=data["action"],
            charset=data["charset"],
            decision=Decision(**data["decision"]),
            domain=data["domain"],
            attributes=tuple(
                (label, tuple(controls[at] for at in each)) for label, each in data["attributes"]
            ),
            controls=controls,
            enctype=data.get("enctype", ""),
        )


def _absolute(control: Control, form: Form, url: str) -> Control:
    if not control.sends:
        return control
    action, *rest = control.sends
    return replace(control, sends=(form.target(url, action), *rest))


def names(controls: Iterable[Control]) -> list[str]:
    """Return names of controls, made of kind and name.

    >>> names([Control("text", "author"), Control("radio", "exact")])
    ['text author', 'radio exact']
    """
    return [f"{control.kind} {control.name}".strip() for control in controls]
