"""The text format and OpenMetrics, against written examples and against the Python client's parser."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics_oracle
from prometheus_client.parser import text_string_to_metric_families as text_oracle

from apftop.parse.exposition_text import parse_text
from apftop.records.parsed import Family, Histogram, Labels, Metrics, ParseError
from tests.parse.test_exposition_proto import Drawn, escaped, expositions, written

Flat = dict[tuple[str, Labels], str]

WAIT = "apiserver_flowcontrol_request_wait_duration_seconds"
WAIT_HEAD = f"""\
# HELP {WAIT} [BETA] Length of time a request spent waiting in its queue
# TYPE {WAIT} histogram
"""


def wait_lines(schema: str = "exempt", *, le: tuple[str, ...] = ("0", "0.005", "+Inf")) -> str:
    labels = f'execute="true",flow_schema="{schema}",priority_level="exempt"'
    buckets = "".join(f'{WAIT}_bucket{{{labels},le="{bound}"}} {n}\n' for bound, n in zip(le, "357", strict=False))
    return f"{buckets}{WAIT}_sum{{{labels}}} 0.25\n{WAIT}_count{{{labels}}} 7\n"


def read(text: str) -> Metrics:
    return parse_text(text.encode())


def values(text: str, name: str) -> Mapping[Labels, float]:
    return read(text).families[name].values


def histogram(text: str, name: str = WAIT) -> Histogram:
    (made,) = read(text).families[name].histograms.values()
    return made


def shown(value: float) -> str:
    # The oracle reads -0 as 0.
    return repr(float(value) + 0.0)


def flat(metrics: Metrics) -> Flat:
    """Every number under the name and labels of its sample, as text: NaN equals NaN so."""
    out: Flat = {}
    for family in metrics.families.values():
        for labels, value in family.values.items():
            out[family.name, labels] = shown(value)
        for labels, made in family.histograms.items():
            for bound, count in zip((*made.bounds, math.inf), made.cumulative, strict=True):
                out[f"{family.name}_bucket", tuple(sorted((*labels, ("le", repr(bound)))))] = shown(count)
            out[f"{family.name}_sum", labels] = shown(made.sum)
            out[f"{family.name}_count", labels] = shown(made.count)
    return out


def oracle(text: str, *, openmetrics: bool = False) -> Flat:
    """What the Python client's parser makes of the same text."""
    out: Flat = {}
    for family in (openmetrics_oracle if openmetrics else text_oracle)(text):
        for sample in family.samples:
            labels = dict(sample.labels)
            if sample.name.endswith("_bucket"):
                labels["le"] = repr(float(labels["le"]))
            out[sample.name, tuple(sorted(labels.items()))] = shown(sample.value)
    return out


def federated(families: list[Drawn]) -> str:
    """The families as a Prometheus server hands them on: sample names sorted, each typed alone, with time stamps."""
    lines = written(families, headers=False).split("\n")[:-1]
    out = ""
    for name, same in groupby(sorted(lines, key=_sample_name), _sample_name):
        out += f"# TYPE {name} untyped\n" + "".join(f"{line} 1700000000000\n" for line in same)
    return out


def _sample_name(line: str) -> str:
    return line.partition("{")[0].partition(" ")[0]


@given(expositions())
def test_any_exposition_reads_as_the_python_client_reads_it(families: list[Drawn]) -> None:
    text = written(families)
    metrics = read(text)
    assert flat(metrics) == oracle(text)
    assert not metrics.problems


@given(expositions())
def test_kinds_and_help_come_from_the_headers(families: list[Drawn]) -> None:
    metrics = read(written(families))
    for family in families:
        if family.values or family.histograms:
            found = metrics.families[family.name]
            assert (found.kind, found.help) == (family.kind, family.help)


@given(expositions())
def test_headers_are_not_needed(families: list[Drawn]) -> None:
    assert flat(read(written(families, headers=False))) == flat(read(written(families)))


@given(expositions())
def test_federated_families_are_put_together_again(families: list[Drawn]) -> None:
    assert flat(read(federated(families))) == oracle(written(families))


@given(expositions(), st.booleans())
def test_a_cut_body_is_refused_or_gives_true_values_only(families: list[Drawn], by_prometheus: bool) -> None:
    body = (federated(families) if by_prometheus else written(families)).encode()
    whole = parse_text(body)
    for end in range(len(body)):
        try:
            part = parse_text(body[:end])
        except ParseError:
            continue
        assert not end or body[end - 1 : end] == b"\n"
        assert flat(part).items() <= flat(whole).items()


# Lines.


def test_labels_are_sorted_by_name() -> None:
    assert values('x{b="2",a="1"} 3\n', "x") == {(("a", "1"), ("b", "2")): 3.0}


@pytest.mark.parametrize("line", ["x 5", "x{} 5", "x{ } 5", " x  5 ", "x\t5", "x{}5", "x 5\r", "x +5.", "x {} 5"])
def test_notations_of_a_series_without_labels(line: str) -> None:
    assert values(f"{line}\n", "x") == {(): 5.0}


@pytest.mark.parametrize(
    "line", ['x{a="1",} 5', 'x{ a = "1" } 5', 'x {a="1"}\t5', 'x{a="1"}5', '\tx{a="1"} 5\r', 'x{a="1" , } 5']
)
def test_notations_of_a_series_with_labels(line: str) -> None:
    assert values(f"{line}\n", "x") == {(("a", "1"),): 5.0}


@pytest.mark.parametrize(
    "value", ['a"b', "a\\b", "a\nb", "{", "} 1", '"} 7 # {', "a,b", "a=b", "# x", " ", "", "\x1b[1m", "\u2028"]
)
def test_any_character_may_stand_in_a_label_value(value: str) -> None:
    assert values(f'x{{a="{escaped(value)}"}} 5\n', "x") == {(("a", value),): 5.0}


def test_an_unknown_escape_stays_as_it_is() -> None:
    assert values('x{a="C:\\dir"} 5\n', "x") == {(("a", "C:\\dir"),): 5.0}


@pytest.mark.parametrize(
    ("text", "value"), [("+Inf", "inf"), ("-Inf", "-inf"), ("Inf", "inf"), ("NaN", "nan"), ("1.5e+300", "1.5e+300")]
)
def test_special_values(text: str, value: str) -> None:
    assert repr(values(f"x {text}\n", "x")[()]) == value


NO_SAMPLES = ("x", "x ", "x five", "x 1_000", "x ٣", "x 1 2 3", "x 1 NaN", "x1.5", "9x 1", "Too many requests, wait.")
BAD_LABELS = ('"1" 5', '"1} 5', "1} 5", '"1",,} 5', '"1" b="2"} 5', '"1",a="2"} 5', '"1",="2"} 5', '"1"} 5} 6')


@pytest.mark.parametrize("line", [*NO_SAMPLES, *(f"x{{a={rest}" for rest in BAD_LABELS)])
def test_a_line_that_cannot_be_read_is_named_by_its_number(line: str) -> None:
    with pytest.raises(ParseError, match="line 2 cannot be read"):
        read(f"y 1\n{line}\ny 2\n")


def test_the_text_of_an_unreadable_line_is_cut_and_escaped() -> None:
    with pytest.raises(ParseError) as caught:
        read("\x1b[31m" + "z" * 500 + "\n")
    assert str(caught.value) == "line 1 cannot be read: '\\x1b[31m" + "z" * 75 + "'"


def test_bytes_that_are_no_utf8_are_refused_with_their_line() -> None:
    with pytest.raises(ParseError, match="line 2: byte 0xff is not UTF-8"):
        parse_text(b'x 1\ny{a="\xff"} 2\n')


def test_a_last_line_without_an_end_is_a_truncated_body() -> None:
    with pytest.raises(ParseError, match=r"truncated: line 2 has no end: 'process_start_time_seconds 1\.7960'"):
        read("x 1\nprocess_start_time_seconds 1.7960")


def test_blank_lines_and_other_comments_are_passed_over() -> None:
    assert values("\n# a remark {} \n#\n \t\r\n  # HELP x of x\nx 5\n\n", "x") == {(): 5.0}


def test_an_empty_body_has_no_families() -> None:
    assert read("") == Metrics({}, "text")


def test_quoted_names_are_left_out_and_named() -> None:
    metrics = read('{"a.b",c="1"} 5\nx{"a.b"="1"} 6\ny 7\n')
    assert list(metrics.families) == ["y"]
    assert metrics.problems == tuple(f"line {line}: a name in quotes is not read, left out" for line in (1, 2))


def test_a_kind_may_stand_after_its_samples() -> None:
    assert read("x 5\n# TYPE x gauge\n").families["x"].kind == "gauge"


def test_help_is_unescaped() -> None:
    assert read('# HELP x a\\\\b\\nc \\"d\nx 5\n').families["x"].help == 'a\\b\nc \\"d'


def test_parts_of_a_family_may_stand_apart() -> None:
    text = '# TYPE x gauge\nx{a="1"} 1\n# TYPE y gauge\ny 2\n# TYPE x gauge\nx{a="2"} 3\n'
    assert values(text, "x") == {(("a", "1"),): 1.0, (("a", "2"),): 3.0}


def test_time_stamps_are_milliseconds() -> None:
    assert read("x 1 1700000000123\ny 2 1700000005000\nz 3\n").stamps == {"": (1700000000.123, 1700000005.0)}


def test_a_summary_has_its_quantiles_and_apart_its_sum_and_count() -> None:
    families = read('# TYPE s summary\ns{quantile="0.5"} 1\ns_sum 9\ns_count 4\n').families
    assert families["s"] == Family("s", "summary", "", {(("quantile", "0.5"),): 1.0}, {})
    assert families["s_sum"] == Family("s_sum", "summary", "", {(): 9.0}, {})


# Duplicates.


def test_a_series_that_stands_twice_with_one_value_is_kept() -> None:
    metrics = read('x{a="1",b="2"} NaN\nx{b="2",a="1"} NaN\n')
    assert flat(metrics) == {("x", (("a", "1"), ("b", "2"))): "nan"}
    assert not metrics.problems


def test_a_series_that_stands_twice_with_different_values_is_left_out_and_named() -> None:
    metrics = read('x{a="1"} 1\nx{a="2"} 2\nx{a="1"} 3\n')
    assert metrics.families["x"].values == {(("a", "2"),): 2.0}
    assert metrics.problems == ("x{a='1'} (line 3): it stands there twice with different values, left out",)


def test_many_problems_are_counted() -> None:
    metrics = read("".join(f"x{n} 1\nx{n} 2\n" for n in range(60)))
    assert len(metrics.problems) == 51
    assert metrics.problems[-1] == "and 10 more"


# Histograms.


def test_a_histogram_series_is_grouped_by_its_labels() -> None:
    families = read(WAIT_HEAD + wait_lines("a") + wait_lines("b")).families
    made = Histogram(7, 0.25, (0.0, 0.005), (3, 5, 7))
    labels = [(("execute", "true"), ("flow_schema", name), ("priority_level", "exempt")) for name in "ab"]
    assert families[WAIT].histograms == dict.fromkeys(labels, made)
    assert list(families) == [WAIT]


def test_bounds_are_sorted_as_numbers() -> None:
    text = 'h_bucket{le="+Inf"} 9\nh_bucket{le="10"} 8\nh_bucket{le="2.0"} 7\nh_bucket{le="1e-05"} 6\n'
    assert histogram(f"{text}h_sum 1\nh_count 9\n", "h") == Histogram(9, 1.0, (1e-05, 2.0, 10.0), (6, 7, 8, 9))


def test_two_spellings_of_a_bound_are_one_bucket() -> None:
    other = wait_lines(le=("0.0",)).splitlines(keepends=True)[0]
    assert histogram(other + wait_lines()) == histogram(wait_lines())


def test_two_spellings_of_a_bound_with_different_counts_are_named() -> None:
    text = 'h_bucket{le="1"} 1\nh_bucket{le="1.0"} 2\nh_bucket{le="+Inf"} 9\nh_sum 1\nh_count 9\n'
    assert read(text).problems == ("h{} (line 5): it stands there twice with different values, left out",)


def test_counts_of_nanoseconds_stay_exact() -> None:
    text = 'h_bucket{le="1"} 4.3e+10\nh_bucket{le="+Inf"} 9007199254740993\nh_sum NaN\nh_count 9007199254740993\n'
    made = histogram(text, "h")
    assert made.cumulative == (43_000_000_000, 9_007_199_254_740_993)
    assert math.isnan(made.sum)


@pytest.mark.parametrize(
    ("spoiled", "why"),
    [
        (lambda text: text.replace("_count{", "_total{"), "it has no _count"),
        (lambda text: text.replace("_sum{", "_total{"), "it has no _sum"),
        (lambda text: text.replace('le="+Inf"', 'le="60"'), "it has no +Inf bucket"),
        (lambda text: text.replace("} 7\n", "} 8\n", 1), "its _count 7 contradicts its +Inf bucket 8"),
        (lambda text: text.replace("} 3\n", "} 6\n"), "its buckets do not rise"),
        (lambda text: text.replace("} 3\n", "} -3\n"), "its buckets do not rise"),
        (lambda text: text.replace("} 3\n", "} 2.5\n"), "it has a count that is no whole number"),
        (lambda text: text.replace("} 3\n", "} NaN\n"), "it has a count that is no whole number"),
        (lambda text: text.replace('le="0"', 'le="low"'), "it has a bucket without a readable `le`"),
        (lambda text: text.replace(',le="0"', ""), "it has a bucket without a readable `le`"),
    ],
)
def test_a_spoiled_histogram_in_the_middle_is_left_out_and_named(spoiled: object, why: str) -> None:
    assert callable(spoiled)
    metrics = read(WAIT_HEAD + spoiled(wait_lines("a")) + wait_lines("b"))
    assert [dict(labels)["flow_schema"] for labels in metrics.families[WAIT].histograms] == ["b"]
    (problem,) = metrics.problems
    assert problem.startswith(f"{WAIT}{{execute='true',flow_schema='a',priority_level='exempt'}} (line ")
    assert problem.endswith(f"): {why}, left out")


@pytest.mark.parametrize(("lines", "part"), [(1, "+Inf bucket"), (2, "+Inf bucket"), (3, "_sum"), (4, "_count")])
def test_an_incomplete_histogram_at_the_end_is_a_truncated_body(lines: int, part: str) -> None:
    text = WAIT_HEAD + "".join(wait_lines().splitlines(keepends=True)[:lines])
    with pytest.raises(ParseError) as caught:
        read(text)
    series = f"{WAIT}{{execute='true',flow_schema='exempt',priority_level='exempt'}}"
    assert str(caught.value) == f"truncated at line {lines + 2}: the histogram {series} has no {part}"


def test_a_count_without_buckets_is_no_histogram() -> None:
    assert list(read("# TYPE x_count gauge\nx_count 5\nx_sum 2\n").families) == ["x_count", "x_sum"]


def test_a_gauge_histogram_is_left_out_and_named() -> None:
    metrics = read('# TYPE g gaugehistogram\ng_bucket{le="+Inf"} 1\ng_gsum 1\ng_gcount 1\n# EOF\n')
    assert not metrics.families
    assert metrics.problems == ("g: gauge histograms are not read, left out",)


def test_bare_samples_of_a_histogram_are_left_out_and_named() -> None:
    metrics = read(WAIT_HEAD + wait_lines() + f"{WAIT} 5\n")
    assert metrics.families[WAIT].histograms
    assert len(metrics.problems) == 1


def test_a_federated_body_cut_before_its_sums_is_refused() -> None:
    text = '# TYPE h_bucket untyped\nh_bucket{instance="a",le="+Inf"} 9 1700000000000\n'
    with pytest.raises(ParseError, match=r"truncated at line 2: the histogram h\{instance='a'\} has no _sum"):
        read(text)


def test_a_counter_that_is_named_like_a_bucket_stays_a_counter() -> None:
    assert values('# TYPE rain_bucket counter\nrain_bucket{le="full"} 4\n', "rain_bucket") == {(("le", "full"),): 4.0}


# OpenMetrics.

OPENMETRICS = """\
# HELP apiserver_flowcontrol_dispatched_requests [BETA] Number of \\"requests\\"
# TYPE apiserver_flowcontrol_dispatched_requests counter
apiserver_flowcontrol_dispatched_requests_total{flow_schema="exempt"} 2.0 # {trace_id="a} 1 # {b"} 2.0 1.79602e+09
apiserver_flowcontrol_dispatched_requests_created{flow_schema="exempt"} 1.7e+09
# TYPE apiserver_flowcontrol_work_estimated_seats histogram
# UNIT apiserver_flowcontrol_work_estimated_seats seats
apiserver_flowcontrol_work_estimated_seats_bucket{le="1.0"} 78 # {t="1"} 0.5 1.7960289144411833e+09
apiserver_flowcontrol_work_estimated_seats_bucket{le="+Inf"} 3001 # {} 0.5
apiserver_flowcontrol_work_estimated_seats_sum 58481.0
apiserver_flowcontrol_work_estimated_seats_count 3001
# TYPE build info
build_info{v="1"} 1
# TYPE kueue unknown
kueue 7.0 1700000000.5
# EOF
"""


def test_openmetrics_reads_as_the_python_client_reads_it() -> None:
    expected = {key: value for key, value in oracle(OPENMETRICS, openmetrics=True).items() if "_created" not in key[0]}
    assert flat(read(OPENMETRICS)) == expected


def test_an_openmetrics_counter_is_known_by_its_full_name() -> None:
    family = read(OPENMETRICS).families["apiserver_flowcontrol_dispatched_requests_total"]
    assert family.kind == "counter"
    assert family.help == '[BETA] Number of "requests"'


def test_openmetrics_time_stamps_are_seconds() -> None:
    assert read(OPENMETRICS).stamps == {"": (1700000000.5, 1700000000.5)}


def test_kinds_of_openmetrics() -> None:
    families = read(OPENMETRICS).families
    assert (families["build_info"].kind, families["kueue"].kind) == ("gauge", "untyped")


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n"])
def test_the_end_mark_may_lack_its_line_end(end: str) -> None:
    assert read(f"x 1\n# EOF{end}").format == "openmetrics"


def test_a_whole_body_may_end_with_a_broken_histogram() -> None:
    metrics = read('# TYPE h histogram\nh_bucket{le="+Inf"} 1\nh_sum 1\n# EOF\n')
    assert metrics.problems == ("h{} (line 3): it has no _count, left out",)
