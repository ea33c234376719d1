"""A strict reading of a page: well-formed, with elements and attributes that the report writes and no others."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta"}
ELEMENTS = {
    *("html", "head", "meta", "title", "style", "body", "header", "nav", "main", "footer", "section", "article", "div"),
    *("h1", "h2", "h3", "h4", "p", "ul", "li", "dl", "dt", "dd", "pre", "code", "strong", "span", "a", "details"),
    *("summary", "table", "caption", "thead", "tbody", "tr", "th", "td", "figure", "figcaption"),
    *("svg", "g", "path", "rect", "line", "text"),
}
ATTRIBUTES = {
    *("lang", "charset", "http-equiv", "content", "name", "class", "id", "href", "scope", "tabindex", "role"),
    *("aria-label", "aria-labelledby", "aria-hidden", "viewbox", "x", "y", "x1", "x2", "y1", "y2", "width", "height"),
    *("d", "transform"),
}


@dataclass
class Element:
    """An element with the text in it, that of its children too."""

    tag: str
    attributes: dict[str, str]
    parent: str
    text: list[str] = field(default_factory=list)

    @property
    def said(self) -> str:
        return "".join(self.text)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[Element] = []
        self.all: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ELEMENTS, tag
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)) and set(names) <= ATTRIBUTES, (tag, names)
        one = Element(tag, {name: value or "" for name, value in attrs}, self.open[-1].tag if self.open else "")
        self.all.append(one)
        if tag not in VOID:
            self.open.append(one)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        raise AssertionError(f"{tag} closes itself")

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop().tag == tag, f"{tag} is closed out of turn"

    def handle_data(self, data: str) -> None:
        for one in self.open:
            one.text.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"an instruction: {data}")


def elements(page: str) -> list[Element]:
    """All elements of a page in order; fails where it is not well-formed, or has what a report has not."""
    assert page.startswith("<!DOCTYPE html>\n<html ")
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert not reader.open
    ids = [one.attributes["id"] for one in reader.all if "id" in one.attributes]
    assert len(ids) == len(set(ids))
    for one in reader.all:
        labels = one.attributes.get("aria-labelledby")
        assert labels is None or labels in ids
        href = one.attributes.get("href")
        assert href is None or (href[0] == "#" and href[1:] in ids), href
        if one.tag in ("li", "dt", "dd", "tr", "caption"):
            assert one.parent in {"li": {"ul"}, "tr": {"thead", "tbody"}, "caption": {"table"}}.get(one.tag, {"dl"})
        if one.tag == "th":
            assert one.attributes["scope"] in ("row", "col")
    return reader.all


def loads_nothing(page: str) -> None:
    """Fails where a browser would ask for anything, or run anything."""
    lower = page.lower()
    style = lower[lower.index("<style>") : lower.index("</style>")]
    for word in ("url(", "@import", "image-set(", "src(", "expression("):
        assert word not in style
    found = elements(page)
    assert not {"script", "link", "img", "iframe", "object", "embed", "base", "form", "use", "image"} & {
        one.tag for one in found
    }
    assert not any(
        name.startswith("on") or name in ("src", "style", "srcset") for one in found for name in one.attributes
    )
    policies = [one.attributes["content"] for one in found if "http-equiv" in one.attributes]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]
    assert any(one.attributes == {"name": "referrer", "content": "no-referrer"} for one in found)
