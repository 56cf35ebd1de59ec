"""Forms through time: those of a site that lead to the same place are versions of one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256

from archivebot.forms.record import FormRecord
from archivebot.storage.base import KeptForm


@dataclass(frozen=True, slots=True)
class FormVersion:
    """A form that the archive keeps: the how manieth ``version`` of all ``versions`` that lead there."""

    kept: KeptForm
    record: FormRecord
    version: int
    versions: int

    @property
    def id(self) -> str:
        """What names it in the archive, 12 hex digits: sites that run one program share signatures."""
        return sha256(f"{self.kept.site} {self.record.signature}".encode()).hexdigest()[:12]


def form_versions(forms: Iterable[KeptForm]) -> Iterator[FormVersion]:
    """Number the forms of each site that have one method and one address, in the order they came.

    Another field makes another signature, and so another version; forms of one page that differ only in
    their fields are taken for versions as well.
    """
    alike: defaultdict[tuple[str, str, str], list[tuple[KeptForm, FormRecord]]] = defaultdict(list)
    for kept in forms:
        record = FormRecord.read(kept.form)
        alike[kept.site, record.method, record.action.partition("?")[0]].append((kept, record))
    for each in alike.values():
        ordered = sorted(each, key=lambda pair: (pair[0].first, pair[0].form.signature))
        for number, (kept, record) in enumerate(ordered, 1):
            yield FormVersion(kept, record, number, len(ordered))
