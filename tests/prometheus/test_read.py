"""Scrapes out of a store give the frames that the same answers gave when they came from the servers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from apftop.derive.frame import frame
from apftop.errors import Trouble
from apftop.history.opened import NOT_KEPT, Opened, Scraped
from apftop.live import fold
from apftop.parse.metrics import parse_metrics
from apftop.prometheus.scrapes import last_two, spaced
from apftop.prometheus.store import store
from apftop.records.raw import Sample
from tests.prometheus.api import Api, Kept
from tests.prometheus.kept import kept, recorded

END = recorded()[-1].received or 0.0


def read(api: Api, at: float = END + 1, interval_s: float = 5.0, selector: str | None = None) -> Scraped:
    opened = Opened(store(api.url, environment={}), selector)
    try:
        return opened.at(at, interval_s)
    finally:
        opened.close()


def between(api: Api, first: float, last: float) -> Scraped:
    opened = Opened(store(api.url, environment={}), None)
    try:
        return opened.between(first, last, 5.0)
    finally:
        opened.close()


def refused(api: Api, selector: str | None = None) -> str:
    with pytest.raises(Trouble) as raised:
        read(api, selector=selector)
    return str(raised.value).replace(api.url, "URL")


def bare(sample: Sample) -> dict[str, Any]:
    """What an answer says of flow control."""
    found = parse_metrics(sample.body, sample.content_type).families
    return {
        name: (one.values, one.histograms) for name, one in found.items() if name.startswith("apiserver_flowcontrol")
    }


@pytest.mark.parametrize("three", [False, True])
def test_the_frame_is_that_of_the_servers_answers(api: Api, three: bool) -> None:
    api.series = kept(recorded(), {"namespace": "default", "service": "kubernetes"}, three=three)
    scraped = read(api).read
    times = {(one.replica, round(one.received or 0, 3)) for one in scraped.samples}
    same = [one for one in recorded() if (one.replica, round(one.received or 0, 3)) in times]
    direct = [Sample(one.replica, one.endpoint, one.body, content_type=one.content_type) for one in same]
    at = [round(one.received or 0, 3) for one in same]
    other = frame(fold(replace(one, sent=time, received=time) for one, time in zip(direct, at, strict=True)))
    mine = frame(fold(scraped.samples))

    assert len(same) == len(scraped.samples) == 6
    for name, replica in mine.replicas.items():
        assert replica.levels == other.replicas[name].levels
        assert replica.schemas == other.replicas[name].schemas
        assert replica.window is not None


def test_what_is_not_kept_is_said_once_and_the_blur_too(api: Api) -> None:
    notes = read(api).notes
    assert notes[0] == NOT_KEPT
    assert "the servers of job 'apiserver'" in notes
    assert any("older, with rates over" in one for one in notes)


def test_a_label_that_scraping_renamed_has_its_own_name_again(api: Api) -> None:
    for one in api.series:
        renamed = {
            name.replace("priority_level", "exported_priority_level"): value for name, value in one.metric.items()
        }
        one.metric = {**renamed, "priority_level": "of the scrape"}
    last = read(api).read.samples[-1]
    assert bare(last) == bare(next(one for one in reversed(recorded()) if one.replica == last.replica))


def test_several_clusters_are_refused_with_their_names(api: Api) -> None:
    api.series = [*kept(recorded("0"), {"cluster": "a"}, name="x"), *kept(recorded("1"), {"cluster": "b"}, name="y")]
    assert refused(api).startswith("it has several clusters: cluster is 'a', 'b': URL; name one with --selector")
    assert {one.replica for one in read(api, selector='job="apiserver",cluster="b"').read.samples} == {"y"}


def test_a_selector_without_a_job_does_not_lead_to_all_that_has_a_start_time(api: Api) -> None:
    exporter = {"__name__": "process_start_time_seconds", "job": "node", "instance": "n:9100", "cluster": "b"}
    times = [round(one.received or 0.0, 3) for one in recorded("1")]
    api.series = [
        *kept(recorded("0"), {"cluster": "a"}, name="x"),
        *kept(recorded("1"), {"cluster": "b"}, name="y"),
        Kept(exporter, [(time, "1000") for time in times]),
    ]
    scraped = read(api, selector='{cluster="b"}')
    assert {one.replica for one in scraped.read.samples} == {"y"}
    assert "the servers of job 'apiserver'" in scraped.notes


def test_what_two_scraped_is_read_once(api: Api) -> None:
    twin = kept(recorded()[:-3], {"prometheus_replica": "b"})
    api.series = [*kept(recorded(), {"prometheus_replica": "a"}), *twin]
    scraped = read(api)
    assert len(scraped.read.samples) == 6
    assert "scraped more than once: only what 'a' scraped is read" in scraped.notes


def test_a_server_whose_labels_changed_is_one_server(api: Api) -> None:
    some = recorded("0")
    api.series = [*kept(some[:3], {"node": "a"}, name="x"), *kept(some[3:], {"node": "b"}, name="x")]
    scraped = read(api)
    assert "read only since its labels have changed: 'x'" in scraped.notes
    assert {one.replica for one in scraped.read.samples} == {"x"}
    api.series = [*kept(some, {"node": "a"}, name="x"), *kept(recorded("1"), {"node": "b"}, name="x")]
    assert refused(api).startswith("several servers are called 'x': URL; name one with --selector: they differ in node")


def test_jobs_that_nobody_can_choose_from_are_listed(api: Api) -> None:
    api.series = [*kept(recorded("0"), {"job": "one"}), *kept(recorded("1"), {"job": "two"})]
    assert refused(api).startswith("several jobs have metrics of flow control: 'one', 'two': URL")


def test_an_empty_store_is_told(api: Api) -> None:
    api.series = []
    assert refused(api).startswith("there are no metrics of flow control at that time: URL")
    assert refused(api, selector='job="x"').startswith('there are no scrapes of {job="x"} at that time: URL')


def test_a_server_that_was_scraped_once_has_no_rates(api: Api) -> None:
    api.series = [*kept(recorded("0")), *kept(recorded("1")[-1:])]
    scraped = read(api)
    assert "scraped once by then, so without rates: 1" in scraped.notes
    assert len([one for one in scraped.read.samples if one.replica == "1"]) == 1


def test_a_server_that_is_scraped_no_more_is_named_and_in_no_sum(api: Api) -> None:
    api.series = [*kept(recorded("0")), *kept([one for one in recorded("1") if (one.received or 0) < END - 20])]
    for scraped in (read(api), between(api, END - 5, END + 1)):
        assert {one.replica for one in scraped.read.samples} == {"0"}
        (line,) = (one for one in scraped.notes if "not scraped" in one)
        assert line.endswith("and left out: 1")


def test_a_span_begins_with_rates_where_there_are_two_scrapes_before_it(api: Api) -> None:
    for at in {round(one.received or 0.0, 3) for one in recorded("0")[2:4]}:
        opened = Opened(store(api.url, environment={}), 'job="apiserver",instance="0"')
        before = [one for one in opened.between(at, at, 10.0).read.samples if (one.received or 0.0) <= at]
        opened.close()
        assert len(before) == 2


def test_where_all_are_scraped_no_more_the_last_time_is_told(api: Api) -> None:
    with pytest.raises(Trouble, match=r"no server was scraped any more at .*: the last at "):
        read(api, at=END + 120)


def test_a_server_that_goes_away_within_a_span_is_shown_as_not_answering(api: Api) -> None:
    api.series = [*kept(recorded("0")), *kept([one for one in recorded("1") if (one.received or 0) < END - 12])]
    scraped = between(api, END - 20, END + 1)
    (silent,) = (one for one in scraped.read.samples if one.error)
    assert silent.replica == "1"
    assert silent.error == "not scraped any more"
    seen = frame(fold(scraped.read.samples))
    assert seen.replicas["1"].samples["metrics"].stale
    assert not seen.replicas["0"].samples["metrics"].stale


def test_the_scrapes_of_a_twin_that_went_on_are_read(api: Api) -> None:
    ended = [one for one in recorded() if (one.received or 0) < END - 10]
    lasting = [one for one in recorded() if (one.received or 0) > END - 14]
    api.series = [*kept(ended, {"prometheus_replica": "a"}), *kept(lasting, {"prometheus_replica": "b"})]
    assert "scraped more than once: only what 'b' scraped is read" in read(api).notes


def test_servers_behind_one_address_are_told_apart_by_their_starts(api: Api) -> None:
    """Their counters would else fall and rise with each scrape."""
    mixed = sorted((one for one in recorded() if one.replica != "2"), key=lambda one: one.received or 0)
    starts = {"0": 1000.0, "1": 2000.0}
    api.series = kept(mixed, name="lb:443")
    api.series = [one for one in api.series if one.metric["__name__"] != "process_start_time_seconds"]
    values = [(round(one.received or 0, 3), str(starts[one.replica])) for one in mixed]
    metric = {"__name__": "process_start_time_seconds", "job": "apiserver", "instance": "lb:443"}
    api.series.append(Kept(metric, values))
    scraped = read(api)
    told = "several servers answer in turn, and each is shown by its start: 'lb:443'"
    assert told in scraped.notes
    assert {one.replica for one in scraped.read.samples} == {
        "lb:443 since 1970-01-01T00:16:40.000Z",
        "lb:443 since 1970-01-01T00:33:20.000Z",
    }
    assert all(one.window is not None and not one.window.reset for one in frame(fold(scraped.read.samples)).servers)


def test_a_restarted_server_is_one_server(api: Api) -> None:
    api.series = kept(recorded("0"))
    api.series = [one for one in api.series if one.metric["__name__"] != "process_start_time_seconds"]
    times = [round(one.received or 0, 3) for one in recorded("0")]
    values = [(time, "1000" if time < times[-1] else str(times[-1] - 1)) for time in times]
    metric = {"__name__": "process_start_time_seconds", "job": "apiserver", "instance": "0"}
    api.series.append(Kept(metric, values))
    assert {one.replica for one in read(api).read.samples} == {"0"}


def test_histograms_without_buckets_are_unknown_and_named(api: Api) -> None:
    name = "apiserver_flowcontrol_request_wait_duration_seconds"
    api.series = [one for one in api.series if one.metric["__name__"] != f"{name}_bucket"]
    scraped = read(api)
    assert f"the store has no buckets of {name}: unknown" in scraped.notes
    assert all(
        level.waits is None for one in frame(fold(scraped.read.samples)).servers for level in one.levels.values()
    )


def test_native_histograms_are_read_at_their_own_edges(api: Api) -> None:
    name = "apiserver_flowcontrol_request_wait_duration_seconds"
    own = {"priority_level": "p", "flow_schema": "f", "execute": "true", "job": "apiserver", "instance": "0"}
    times = [round(one.received or 0.0, 3) for one in recorded("0")[-2:]]
    coarse = {"count": "3", "sum": "4", "buckets": [[3, "-0.001", "0.001", "1"], [0, "1", "4", "2"]]}
    fine = {"count": "6", "sum": "9", "buckets": [[3, "-0.001", "0.001", "1"], [0, "1", "2", "3"], [0, "2", "4", "2"]]}
    series = [one for one in kept(recorded("0")) if not one.metric["__name__"].startswith(name)]
    api.series = [*series, Kept({"__name__": name, **own}, histograms=list(zip(times, (coarse, fine), strict=True)))]
    scraped = read(api, interval_s=0.1)
    found = [parse_metrics(one.body, one.content_type).families[name].histograms for one in scraped.read.samples]

    # 2 lies within a bucket of the first one: it can be no edge of both.
    assert [next(iter(one.values())).bounds for one in found] == [(0.001, 4.0)] * 2
    assert [next(iter(one.values())).cumulative for one in found] == [(1, 3, 3), (1, 6, 6)]


def test_scrapes_are_chosen_about_an_interval_apart() -> None:
    times = [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    assert spaced(times, 4.1) == (2.0, 6.0, 10.0)
    assert last_two(times, 9.0, 5.0) == (2.0, 8.0)
    assert last_two(times, 9.0, 30.0) == (0.0, 8.0)
    assert last_two(times, 1.0, 30.0) == (0.0,)
    assert last_two(times, -1.0, 5.0) == ()
