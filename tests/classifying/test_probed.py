"""What is told of a probe."""

from __future__ import annotations

import pytest

from apftop.apf.attributes import attributes
from apftop.classifying.probed import differs, probed_document, probed_text
from apftop.records.classified import Asked, Classified
from apftop.records.probed import Heard, Said, Unasked

ONE = Classified(Asked("it", attributes("GET", "/version")), seen=True, schema="mine", level="batch")
SAME = Said("10.0.0.1:6443", 200, "mine", "batch")


@pytest.mark.parametrize(
    ("heard", "other", "text"),
    [
        (SAME, False, "the server 10.0.0.1:6443 says: mine -> batch (status 200), the same"),
        (
            Said("a", 403, "mine", "other"),
            True,
            "the server a says: mine -> other (status 403), NOT what the model makes of these objects",
        ),
        (
            Said("a\x1b[31m", 429, "mine", "batch"),
            False,
            "the server a\\x1b[31m says: mine -> batch (status 429), the same",
        ),
        (Unasked("no harmless GET"), False, "not probed: no harmless GET"),
    ],
)
def test_which_server_says_what_and_whether_it_is_the_same(heard: Heard, other: bool, text: str) -> None:
    assert probed_text(ONE, heard) == text
    assert differs(ONE, heard) is other


def test_as_json_nothing_is_told_of_a_probe_that_was_not_sent_but_why() -> None:
    made = probed_document(ONE, Unasked("no harmless GET"))

    assert made is not None
    assert {key: value for key, value in made.items() if value is not None} == {"why_not": "no harmless GET"}
    assert probed_document(ONE, SAME) == {
        "server": "10.0.0.1:6443",
        "status": 200,
        "flow_schema": "mine",
        "priority_level": "batch",
        "agrees": True,
        "why_not": None,
    }
    assert probed_document(ONE, None) is None
