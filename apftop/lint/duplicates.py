"""Objects that are given more than once."""

from __future__ import annotations

from collections.abc import Iterator

from apftop.lint.policy import Document, Policy
from apftop.lint.unchanged import same_spec
from apftop.present import plain
from apftop.records.linting import Fault


def duplicates(policy: Policy) -> Iterator[Fault]:
    """Each document after which another one has the same kind and name; a file that is read twice is none."""
    for at, document in enumerate(policy.given):
        last = policy.document(document.kind, document.name)
        if not document.name or last is None or last is document or _place(last) == _place(document):
            continue
        if any(_place(one) == _place(document) for one in policy.given[at + 1 :]):
            continue
        where = plain(last.file) + (f":{last.line('')}" if last.line("") is not None else "")
        if _alike(document, last):
            text = f"it is given again at {where}, with the same spec"
            yield document.fault("duplicate-object", "note", text, "keep one of them")
        else:
            text = f"it is given again at {where}, with another spec: that one counts here, and where both are applied "
            text += "the later"
            yield document.fault("duplicate-object", "warning", text, "keep one of them")


def _place(document: Document) -> tuple[str, int | None]:
    return document.file, document.line("")


def _alike(one: Document, other: Document) -> bool:
    if one.object is None or other.object is None:
        return False
    return same_spec(one.object, other.object)
