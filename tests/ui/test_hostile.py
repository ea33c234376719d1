"""Names that others choose reach the screen as text, and end nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from apftop.records.moment import Moment
from tests.sheets.checked import CLOCK, HAND, WAITED, with_checks
from tests.ui.moments import a_moment
from tests.ui.screen import shown

NAMES = {
    "a closing tag": "[/foo]",
    "a tag": "system:serviceaccount:[ns]",
    "an action": "[@click=app.leave(3)]x[/]",
    "an escape": "\x1b[2J\x1b]0;owned\x07",
    "a line break": "a\r\nb\tc",
    "bidi": "user\u202egnp.exe\u2066",
    "wide": "名前空間",
    "combining": "e\u0301\u0301\u0301",
    "surrogate": "\ud800",
    "long": "x" * 5000,
    "empty": "",
}


def hostile(name: str) -> Moment:
    """A moment in which everything that others may name has this name."""
    moment = a_moment(2, source=name)
    (first, *_) = moment.frame.replicas.values()
    level = replace(first.levels["workload-low"], name=name)
    schema = replace(first.schemas["service-accounts"], name=name, level=name)
    requests = tuple(replace(one, user=name, path=name, namespace=name, name=name) for one in first.requests or ())
    replica = replace(
        first,
        name=name,
        version=name,
        levels=dict(first.levels) | {name: level},
        schemas=dict(first.schemas) | {name: schema},
        requests=requests,
        problems=(name,),
    )
    moment = replace(moment, frame=replace(moment.frame, replicas={name: replica}), news=(name,))
    flow = replace(WAITED.flows[0], flow=name, schema=name)
    checks = replace(WAITED, checks=(replace(HAND, about=name, reason=name), *WAITED.checks), flows=(flow,))
    return with_checks(moment, {name: checks}, replace(CLOCK, reason=name))


@pytest.mark.parametrize("kind", NAMES)
async def test_hostile_names_are_shown_as_text_and_end_nothing(kind: str) -> None:
    name = NAMES[kind]
    async with shown((120, 40)) as screen:
        await screen.send(hostile(name))
        for key in [*"123456784", "enter", "escape", "m", "enter", "escape"]:
            await screen.press(key)
            assert not any(
                ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0 for character in "".join(screen.lines)
            )
            assert not any(character in screen.text for character in "\u202e\u2066\ud800")
        await screen.press("1", "tab", "tab", "enter", "question_mark", "escape", "y", "escape", "slash", "x", "enter")
        assert screen.app.is_running
        assert screen.app.failure is None


@pytest.mark.parametrize("kind", ["a closing tag", "a tag", "wide"])
async def test_harmless_signs_stay_what_they_are(kind: str) -> None:
    async with shown((120, 40)) as screen:
        await screen.send(hostile(NAMES[kind]))
        await screen.press("6")
        assert NAMES[kind] in screen.text
