"""OpenMetrics: strictly valid, with the series that servers exposed at their times, however much memory there is."""

from __future__ import annotations

import io
import math
import re
from collections import defaultdict
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.core import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from apftop.errors import Trouble
from apftop.export.openmetrics import to_openmetrics
from apftop.export.openmetrics_text import END, bound_text, labels_text, number_text
from apftop.export.series import Point, Points
from apftop.export.server_series import ServerSeries
from apftop.export.source import Asked, Saved, opened
from apftop.records.raw import Endpoint, Sample
from tests.export.exporting import BUNDLES, reported, run, tape

LINE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)\{(.*)\} (\S+) ([0-9]+\.[0-9]{3})")
LE = re.compile(r',le="[^"]*"$')


def parsed(text: str) -> list[Metric]:
    """The families of text by the strict parser."""
    return list(text_string_to_metric_families(text))  # type: ignore[no-untyped-call]


def strict(text: str) -> dict[str, Metric]:
    """What the strict parser makes of text, time by time: that of prometheus_client loses a histogram's later times."""
    heads: list[str] = []
    lines: dict[str, list[str]] = defaultdict(list)
    found: dict[str, Metric] = {}
    *body, end = text.splitlines()
    assert end == "# EOF"
    for line in body:
        if line.startswith("#"):
            heads = heads if heads and heads[-1].split()[2] == line.split()[2] else []
            heads.append(line)
            continue
        match = LINE.fullmatch(line)
        assert match, line
        if not set(heads) <= set(lines[match[4]]):
            lines[match[4]] += heads
        lines[match[4]].append(line)
    for some in lines.values():
        for family in parsed("\n".join((*some, "# EOF", ""))):
            found.setdefault(family.name, family).samples.extend([] if family is found[family.name] else family.samples)
    return found


def well_ordered(text: str) -> None:
    """Each family, and each group of labels in it, is in one piece; times rise in it; no point is there twice."""
    families: list[str] = []
    groups: set[tuple[str, str]] = set()
    seen: set[tuple[str, str, str]] = set()
    group, last = ("", ""), 0.0
    for line in text.splitlines():
        if line.startswith("# TYPE"):
            families.append(line.split()[2])
        if (match := LINE.fullmatch(line)) is None:
            continue
        now, time = (families[-1], LE.sub("", match[2])), float(match[4])
        if now != group:
            assert now not in groups, line
            groups.add(now)
            group, last = now, 0.0
        assert time >= last, line
        last = time
        assert (match[1], match[2], match[4]) not in seen, line
        seen.add((match[1], match[2], match[4]))
    assert len(set(families)) == len(families)


@pytest.fixture(scope="module")
def taped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tape(tmp_path_factory.mktemp("taped"), 1)


@pytest.fixture(scope="module")
def text(taped: Path) -> str:
    return run(taped, "--to", "openmetrics", "--between", "-8s", "-0s").stdout


@pytest.fixture(scope="module")
def families(text: str) -> dict[str, Metric]:
    return strict(text)


def test_what_servers_exposed_passes_the_strict_parser(text: str, families: dict[str, Metric]) -> None:
    well_ordered(text)

    assert families["apiserver_flowcontrol_dispatched_requests"].type == "counter"
    assert families["apiserver_flowcontrol_request_wait_duration_seconds"].type == "histogram"
    assert families["apiserver_flowcontrol_request_wait_duration_seconds"].unit == "seconds"
    labels = [sample.labels for family in families.values() for sample in family.samples]
    assert all(some["job"] == "apiserver" and some["instance"] for some in labels)


@pytest.mark.parametrize("bundle", BUNDLES[:3], ids=lambda path: path.name)
def test_those_of_a_bundle_do_too(bundle: Path) -> None:
    text = run(bundle, "--to", "openmetrics", "--job", "kas").stdout

    well_ordered(text)
    assert strict(text)["apiserver_flowcontrol_current_executing_requests"].samples[0].labels["job"] == "kas"


def test_numbers_of_tables_pass_it_whole(taped: Path) -> None:
    text = run(taped, "--to", "openmetrics", "--table", "levels", "--table", "totals", "--every", "20").stdout

    well_ordered(text)
    families = {family.name: family for family in parsed(text)}
    assert families["apftop_level_wait_p99_low_seconds"].unit == "seconds"
    assert families["apftop_level_dispatched_per_second"].type == "gauge"
    assert set(families["apftop_cluster_level_waiting_requests"].samples[0].labels) == {"job", "priority_level"}


def test_increases_are_what_the_report_counts(taped: Path, families: dict[str, Metric]) -> None:
    values: dict[tuple[str, str], dict[float, float]] = defaultdict(lambda: defaultdict(float))
    for sample in families["apiserver_flowcontrol_dispatched_requests"].samples:
        key = sample.labels["instance"], sample.labels["priority_level"]
        values[key][float(str(sample.timestamp))] += sample.value
    report = reported(taped, "--at", "-0s")

    compared = 0
    for name, replica in report["replicas"].items():
        own = replica["own"]["priority_level"]
        for level, told in replica["levels"].items():
            if told["dispatched"] and level != own:
                t0, t1 = (datetime.fromisoformat(told["window"][key]).timestamp() for key in ("t0", "t1"))
                points = values[name, level]
                first, last = (points[min(points, key=lambda one: abs(one - t))] for t in (t0, t1))
                assert last - first == told["dispatched"]
                compared += 1
    assert compared > 3


def test_pieces_that_do_not_fit_into_memory_are_merged(taped: Path) -> None:
    with opened(taped) as source:
        series = ServerSeries("apiserver")
        points = [
            point
            for number in range(len(source.segments))  # type: ignore[union-attr]
            for one in source.taken(number)  # type: ignore[union-attr]
            if isinstance(one.what, Sample) and one.what.endpoint is Endpoint.METRICS
            for point in series.points(one.what)
        ]
    with Points() as whole, Points(held_bytes=50_000) as pieces:
        for point in points:
            whole.add(point)
            pieces.add(point)

        assert list(pieces.in_order()) == list(whole.in_order())


def test_of_several_points_at_one_time_the_first_counts() -> None:
    with Points() as points:
        for at, lines in ((2, "b"), (1, "a"), (2, "c")):
            points.add(Point("f", "g", at, lines))

        assert [point.lines for point in points.in_order()] == ["a", "b"]


def exported(*samples: Sample) -> tuple[str, list[str]]:
    """The text of samples, and what was left out of it."""
    told: list[str] = []
    target = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("apftop.export.openmetrics.write", target.write)
        to_openmetrics(Saved("", samples), Asked(), (), "j", None, told, force=False)
    return target.getvalue(), told


def metrics(body: str, at: float = 10.0, replica: str = "kas-1") -> Sample:
    return Sample(replica, Endpoint.METRICS, body.encode(), 200, sent=at - 1, received=at + 1)


def test_odd_series_keep_their_names_and_stay_valid() -> None:
    text, told = exported(
        metrics(
            '# HELP a_total Said \\\\ "so"\n# TYPE a_total counter\n'
            'a_total{l="x\\\\\\"\\n",job="own"} 1\na_total{l="nan"} NaN\n'
            "# TYPE b counter\nb 2\n# TYPE c gauge\nc NaN\n# TYPE d gauge\nd -Inf\n# TYPE a gauge\na 3\ne 4\n"
        )
    )

    well_ordered(text)
    families = strict(text)
    (a,) = families["a"].samples
    assert (a.name, a.labels, a.value) == ("a_total", {"l": 'x\\"\n', "job": "own", "instance": "kas-1"}, 1.0)
    assert families["a"].documentation == 'Said \\ "so"'
    assert (families["b"].type, families["e"].type) == ("unknown", "unknown")
    assert math.isnan(families["c"].samples[0].value) and families["d"].samples[0].value == -math.inf
    assert len(told) == 2 and "a_total: a counter that is no number" in told[0] and told[1].startswith("a: ")


def test_each_answer_is_there_at_its_time() -> None:
    bodies = [metrics(f"# TYPE a gauge\na {value}\n", at) for value, at in ((1, 10.0), (3, 30.0004), (2, 20.0))]

    text, _ = exported(*bodies, metrics("# TYPE a gauge\na 9\n", 5.0, "kas-0"))

    assert text == (
        "# TYPE a gauge\n"
        'a{instance="kas-0",job="j"} 9 5.000\n'
        'a{instance="kas-1",job="j"} 1 10.000\n'
        'a{instance="kas-1",job="j"} 2 20.000\n'
        'a{instance="kas-1",job="j"} 3 30.000\n'
        "# EOF\n"
    )


def test_what_has_no_time_is_left_out_and_told() -> None:
    with pytest.raises(Trouble, match="nobody noted when this was said"):
        exported(Sample("kas-1", Endpoint.METRICS, b"a 1\n", 200))


def test_answers_are_so_many_seconds_apart_if_asked(taped: Path) -> None:
    def times(*words: object) -> set[str]:
        text = run(taped, "--to", "openmetrics", *words).stdout
        found = [match for line in text.splitlines() if (match := LINE.fullmatch(line))]
        instance = found[0][2].partition('instance="')[2].partition('"')[0]
        return {match[4] for match in found if f'instance="{instance}"' in match[2]}

    assert len(times("--every", "20")) < len(times()) / 2


@pytest.mark.parametrize(
    ("bound", "text"),
    [
        (0.0, "0.0"),
        (0.005, "0.005"),
        (1.0, "1.0"),
        (5e-5, "5e-05"),
        (100000.0, "100000.0"),
        (1e6, "1e+06"),
        (2.5e7, "2.5e+07"),
        (1e10, "1e+10"),
        (math.inf, "+Inf"),
    ],
)
def test_bounds_are_canonical(bound: float, text: str) -> None:
    assert bound_text(bound) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_read_back_as_they_were(value: float) -> None:
    assert float(number_text(value)) == value
    assert float(bound_text(value)) == value


@given(st.dictionaries(st.sampled_from(["a", "b", "job"]), st.text(st.characters(exclude_categories=["Cs"]))))
def test_labels_read_back_as_they_were(labels: dict[str, str]) -> None:
    (family,) = parsed(f"# TYPE x gauge\nx{{{labels_text(labels)}}} 1 1.0\n{END}")

    assert family.samples[0].labels == labels
