"""Charts: what is drawn of points, what is not, and what they say without being seen."""

from __future__ import annotations

import math
import re

from apftop.present import whole
from apftop.report.charts import BOTTOM, HEIGHT, TOP, Band, Chart, Line, Sign, drawn
from apftop.report.html_parts import element
from tests.html.dom import Element, elements

BEGIN = 1_700_000_000.0


def chart(*values: float | None, step: float = 1.0) -> Chart:
    points = [(BEGIN + at * step, value) for at, value in enumerate(values)]
    return Chart("kas-1", BEGIN, points[-1][0], whole, [Line("waiting", "a", points)])


def parts(made: Chart) -> list[Element]:
    body = element("body", element("p", "what", id="c1"), drawn(made, "c1"))
    return elements(f'<!DOCTYPE html>\n<html lang="en">{body}</html>')


def steps(made: Chart) -> str:
    return next(one.attributes["d"] for one in parts(made) if one.tag == "path")


def heights(path: str) -> set[float]:
    return {float(y) for y in re.findall(r"(?:[ML][\d.]+ |V)([\d.]+)", path)}


def told(made: Chart) -> list[str]:
    return [one.said for one in parts(made) if one.tag == "title" and one.parent == "rect"]


def test_a_peak_between_ten_thousand_points_is_drawn() -> None:
    values = [0.0] * 10_000
    values[4321] = 1000.0
    path = steps(chart(*values))

    assert heights(path) == {float(HEIGHT - BOTTOM), float(TOP)}
    assert len(path) < 4000


def test_a_trough_is_drawn_too() -> None:
    values = [1000.0] * 10_000
    values[4321] = 0.0

    assert heights(steps(chart(*values))) == {float(HEIGHT - BOTTOM), float(TOP)}


def test_a_line_does_not_go_through_what_is_unknown() -> None:
    assert steps(chart(1, 1, None, 1, 1)).count("M") == 2
    assert steps(chart(1, 1, 1, 1, 1)).count("M") == 1


def test_a_line_does_not_go_through_a_time_without_points() -> None:
    points = [(BEGIN + at, 1.0) for at in (*range(10), *range(60, 70))]

    assert steps(Chart("", BEGIN, BEGIN + 70, whole, [Line("waiting", "a", points)])).count("M") == 2


def test_one_point_alone_is_seen() -> None:
    assert steps(chart(None, 1, None)).endswith("h2")


def test_nothing_is_drawn_of_what_is_not_known_at_all() -> None:
    made = chart(None, None, None)

    assert not [one for one in parts(made) if one.tag == "path"]
    assert set(told(made)) == {"22:13:20 to 22:13:22 UTC: waiting -"}


def test_bounds_that_are_open_go_to_the_upper_edge_and_say_so() -> None:
    band = Band("p99", "a", [(BEGIN, 1.0, 2.0), (BEGIN + 1, 5.0, math.inf), (BEGIN + 2, None, None)])
    made = Chart("", BEGIN, BEGIN + 2, whole, bands=[band])

    assert float(TOP) in heights(steps(made).replace("L", "M"))
    assert any(one.endswith("p99 >5") for one in told(made))
    assert any(one.endswith("p99 1 to 2") for one in told(made))
    assert told(made)[-1].endswith("p99 -")


def test_numbers_are_told_on_hover_with_their_time() -> None:
    assert told(chart(*range(49)))[0] == "22:13:20 to 22:13:21 UTC: waiting 0"
    assert told(chart(*range(49)))[-1] == "22:14:07 to 22:14:08 UTC: waiting 47 to 48"


def test_what_happens_at_one_place_is_one_sign() -> None:
    signs = (
        Sign(BEGIN + 1, "F", "found: full"),
        Sign(BEGIN + 1.1, "C", "changed"),
        Sign(BEGIN + 40, "E", "ended: full"),
    )
    made = Chart("", BEGIN, BEGIN + 48, whole, chart(*range(49)).lines, signs=signs)
    found = [one for one in parts(made) if one.attributes.get("class") == "sign"]

    assert [one.said for one in found] == [
        "22:13:21 UTC: found: full; 22:13:21 UTC: changedFC",
        "22:14:00 UTC: ended: fullE",
    ]


def test_axes_have_their_unit_and_round_times() -> None:
    said = [one.said for one in parts(chart(*range(301))) if one.tag == "text"]

    assert said == ["0", "250", "500", "22:14", "22:16", "22:18"]
