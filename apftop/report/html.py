"""A report as one page of HTML: nothing is loaded, nothing is run, and all that is foreign is text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from apftop import __version__
from apftop.present import plain, utc
from apftop.report.html_found import findings_of
from apftop.report.html_now import sections_now
from apftop.report.html_parts import Markup, element, folded, joined, listed
from apftop.report.html_span import over_time
from apftop.report.look import Look
from apftop.report.looks import one_look
from apftop.report.over_time import counted_over
from apftop.report.series import Span
from apftop.report.text import problems, taken, unknowns
from apftop.sheets.finding_text import counted, risks, verdict

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""What the page may do: show itself."""

MOST_NAME = 200


def page_of(path: Path | None, options: Mapping[str, Any]) -> str:
    """The page of servers, of a bundle, or of some time of a tape: what `apftop report -o html` writes.

    `options` are those of that command. Raises Trouble, Unreachable and UsageError.
    """
    return page(*one_look(path, options))


def page(look: Look, span: Span | None = None) -> str:
    """The page of one look, and of the time that led to it."""
    parts = [
        (name, title, inner)
        for name, title, inner in (
            ("findings", "Findings", findings_of(look.found)),
            ("time", "Over time", over_time(span) if span else Markup()),
            *sections_now(look),
            ("unknown", "What is unknown, and why", _unknown(look)),
        )
        if inner
    ]
    body = (
        element("header", *_head(look, span)),
        element("nav", *(element("a", title, href=f"#{name}") for name, title, _ in parts), aria_label="Contents"),
        element("main", *(element("section", element("h2", title), inner, id=name) for name, title, inner in parts)),
        element("footer", *_foot(look)),
    )
    title = f"apftop: {look.found.verdict}: {plain(look.source, MOST_NAME)}"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", _style()),
    )
    return f'<!DOCTYPE html>\n<html lang="en">\n{head}\n{element("body", *body)}\n</html>\n'


@cache
def _style() -> Markup:
    return Markup(files("apftop.report").joinpath("page.css").read_text(encoding="utf-8"))


def _head(look: Look, span: Span | None) -> Iterator[Markup]:
    yield element("p", f"{plain(look.source, MOST_NAME)} · {taken(look.t0, look.t1, look.interval_s)}", class_="dim")
    yield element("h1", verdict(look.found))
    yield listed(look.found.why)
    yield element("p", element("strong", "At risk: "), risks(look.found))
    yield element("p", element("strong", "Findings: "), counted(look.found.found))
    if span is not None:
        told = f"Findings from {utc(span.first)} on: "
        yield element("p", element("strong", told), counted_over(span))


def _unknown(look: Look) -> Markup:
    """What could not be read or is not told, with what grants it."""
    told = [listed((*look.problems, *look.notes))]
    for name, replica in look.frame.replicas.items():
        lines = [*problems(replica), *unknowns(replica)]
        if lines:
            told += [element("h3", plain(name, MOST_NAME)), listed(lines)]
    if replicas := [one for one in look.frame.replicas.values() if one.sources]:
        known = (
            element(
                "p", f"{plain(one.name, MOST_NAME)}: ", ", ".join(f"{key} from {at}" for key, at in one.sources.items())
            )
            for one in replicas
        )
        told.append(folded("Where numbers come from", *known))
    return joined(told)


def _foot(look: Look) -> Iterator[Markup]:
    versions = ", ".join(
        f"{plain(name, MOST_NAME)} {plain(one.version or 'version unknown')}"
        for name, one in look.frame.replicas.items()
    )
    yield element("p", f"apftop {__version__}; servers: {versions or 'none answered'}.", class_="dim")
    yield element(
        "p",
        "Unknown is -, never 0. Quantiles are the bounds between which they lie. Times are UTC. ",
        "This page loads nothing and runs nothing.",
        class_="dim",
    )
