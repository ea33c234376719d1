"""How servers read query strings; as measured on 1.30 and 1.37, by what a request is classified as."""

from __future__ import annotations

import pytest

from apftop.apf.attributes import attributes
from apftop.apf.query import query_values


@pytest.mark.parametrize(
    ("query", "values"),
    [
        ("", {}),
        ("watch", {"watch": [""]}),
        ("watch=1&limit=5&watch=0", {"watch": ["1", "0"], "limit": ["5"]}),
        ("fieldSelector=metadata.name%3Da+b", {"fieldSelector": ["metadata.name=a b"]}),
        ("&&a=b&", {"a": ["b"]}),
        ("a=b=c", {"a": ["b=c"]}),
        ("watch=1;x=2&limit=5", {"limit": ["5"]}),
        ("watch=%ZZ&limit=5%", {}),
        ("%7=1&w%61tch=1", {"watch": ["1"]}),
    ],
)
def test_pairs_that_are_broken_are_as_if_they_were_not_there(query: str, values: dict[str, list[str]]) -> None:
    assert query_values(query) == values


@pytest.mark.parametrize(
    ("query", "verb"),
    [
        ("watch=1;x=2", "list"),
        ("watch=%ZZ", "list"),
        ("watch=1%", "list"),
        ("watch", "watch"),
        ("Watch=1", "list"),
        ("watch=false&watch=true", "list"),
    ],
)
def test_whether_a_list_is_a_watch(query: str, verb: str) -> None:
    assert attributes("GET", "/api/v1/pods", query).verb == verb
