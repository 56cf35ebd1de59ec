"""Forms through time: forms of a site with the same target are versions of one form."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256

from archivebot.forms.record import FormRecord
from archivebot.storage.base import KeptForm


@dataclass(frozen=True, slots=True)
class FormVersion:
    """A stored form: its ``version`` number, and the number of all ``versions`` with the same target."""

    kept: KeptForm
    record: FormRecord
    version: int
    versions: int

    @property
    def id(self) -> str:
        """The id of the form in the archive, 12 hex digits; equal signatures occur on several sites."""
        return sha256(f"{self.kept.site} {self.record.signature}".encode()).hexdigest()[:12]


def form_versions(forms: Iterable[KeptForm]) -> Iterator[FormVersion]:
    """Number the forms of each site with the same method and address, in the order of their first times.

    Another field changes the signature, and so results in another version; forms of one page that differ only
    in their fields count as versions, too.
    """
    alike: defaultdict[tuple[str, str, str], list[tuple[KeptForm, FormRecord]]] = defaultdict(list)
    for kept in forms:
        record = FormRecord.read(kept.form)
        alike[kept.site, record.method, record.action.partition("?")[0]].append((kept, record))
    for each in alike.values():
        ordered = sorted(each, key=lambda pair: (pair[0].first, pair[0].form.signature))
        for number, (kept, record) in enumerate(ordered, 1):
            yield FormVersion(kept, record, number, len(ordered))
