"""Bundles: which samples a folder or an archive gives, and the times that they carry."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import tarfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from apftop.bundle import Bundle, read_bundle
from apftop.errors import Trouble
from apftop.parse.body import pick
from apftop.parse.vocabulary import wanted_at_once
from apftop.records.raw import Endpoint, Sample
from tests.case_values import report
from tests.derive.behind import answer, etcd, requests

CASES = Path(__file__).parent / "cases"
T0, T1 = 1775988180.0, 1775988210.0  # 2026-04-12T10:03:00Z and half a minute later


def read(path: Path) -> Bundle:
    def picked(chunks: Iterable[bytes], kind: str, encoding: str) -> tuple[bytes, str]:
        return pick(chunks, kind, encoding, wanted_at_once())

    return read_bundle(path, picked)


def of(bundle: Bundle, endpoint: Endpoint, replica: str = "server") -> list[Sample]:
    return [one for one in bundle.samples if (one.endpoint, one.replica) == (endpoint, replica)]


def without_source(document: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in document.items() if key != "source"}


@pytest.mark.parametrize("case", ["C03", "C23", "C33"])
def test_an_archive_reads_as_its_folder(case: str, tmp_path: Path) -> None:
    archive = tmp_path / "bundle.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(CASES / case, "some/where" if case == "C23" else "bundle")

    if case == "C23":
        # Two folders deep is still one bundle: what all members share is left out.
        assert read(archive).samples == read(CASES / case).samples
    assert without_source(report(archive)) == without_source(report(CASES / case))


def test_an_archive_made_inside_the_folder_reads_the_same(tmp_path: Path) -> None:
    archive = tmp_path / "bundle.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(CASES / "C23", ".")

    assert read(archive).samples == read(CASES / "C23").samples


def archive(path: Path, **members: Path | bytes) -> Path:
    """A .tgz of files by their path; bytes for those that are made up."""
    with tarfile.open(path, "w:gz") as tar:
        for name, content in members.items():
            if isinstance(content, Path):
                tar.add(content, name)
            else:
                info = tarfile.TarInfo(name)
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
    return path


def test_an_archive_with_a_finders_extras_and_a_readme_beside_the_folder(tmp_path: Path) -> None:
    extras = {"._bundle": b"\x00\x05\x16\x07", "bundle/._metrics_t0.txt": b"\x00", "README.md": b"hello"}
    made = archive(tmp_path / "x.tgz", **extras, bundle=CASES / "C03")

    assert read(made).samples == read(CASES / "C03").samples


def test_an_archive_of_several_bundles_is_refused(tmp_path: Path) -> None:
    made = archive(tmp_path / "x.tgz", a=CASES / "C03", b=CASES / "C05")

    with pytest.raises(Trouble, match="several bundles in one archive"):
        read(made)


def test_links_within_an_archive_are_followed(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "x.tgz", "w:gz") as tar:
        tar.add(CASES / "C31" / "dump_requests.txt", "saved/today.txt")
        link = tarfile.TarInfo("dump_requests.txt")
        link.type, link.linkname = tarfile.SYMTYPE, "saved/today.txt"
        tar.addfile(link)
    (dump,) = of(read(tmp_path / "x.tgz"), Endpoint.REQUESTS)

    assert dump.body == (CASES / "C31" / "dump_requests.txt").read_bytes()


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    shutil.copytree(CASES / "C03", bundle)
    (bundle / "metrics_t1.txt.gz").unlink()
    (bundle / "metrics_t1.txt").mkdir()
    (bundle / "dump_queues.txt.gz").unlink()
    (bundle / "dump_queues.txt").symlink_to("/nonexistent/dump")
    samples = {sample.origin: sample.error for sample in read(bundle).samples}

    assert samples["metrics_t1.txt"] == "metrics_t1.txt: not a file"
    assert samples["dump_queues.txt"] == "dump_queues.txt: not a file"


def test_the_same_file_packed_and_plain_is_refused(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    shutil.copytree(CASES / "C03", bundle)
    (bundle / "dump_queues.txt").write_bytes(b"")

    assert "with and without .gz" in of(read(bundle), Endpoint.QUEUES)[0].error


def test_leftovers_of_an_editor_are_not_read(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    shutil.copytree(CASES / "C03", bundle)
    (bundle / "prioritylevels.yaml.orig").write_text("not: this")
    (bundle / "metrics_t1.txt.bak").write_text("nor this")

    assert read(bundle).samples == read(CASES / "C03").samples


def test_two_stamped_answers_leave_out_a_third(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    shutil.copytree(CASES / "C03", bundle)
    shutil.copy(CASES / "C03" / "metrics_t0.txt.gz", bundle / "metrics.txt.gz")
    found = read(bundle)

    assert len(of(found, Endpoint.METRICS)) == 2
    assert any("metrics.txt: left out" in problem for problem in found.problems)


@pytest.mark.parametrize("packed", [False, True])
def test_notes_may_be_packed_and_begin_with_a_byte_order_mark(packed: bool, tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    shutil.copytree(CASES / "C03", bundle)
    noted = b"\xef\xbb\xbf" + (bundle / "scrape.json").read_bytes()
    (bundle / "scrape.json").unlink()
    (bundle / ("scrape.json.gz" if packed else "scrape.json")).write_bytes(gzip.compress(noted) if packed else noted)

    assert read(bundle).times.interval_s == 30


@pytest.mark.parametrize("t0", ["1776000000000", "1e300", "-1e18", '"0001-01-01T00:00:00Z"'])
def test_times_beyond_all_calendars_are_named_and_left_out(t0: str, tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    shutil.copytree(CASES / "C03", bundle)
    (bundle / "scrape.json").write_text(f'{{"t0": {t0}, "t1": "2026-04-12T10:03:30Z"}}')
    found = read(bundle)

    assert found.times.t0 is None
    assert any("no time of a Kubernetes server" in problem for problem in found.problems)
    assert report(bundle)["taken"]["t0"] is None


@pytest.mark.parametrize("name", ["scrape.json", "http_meta.json", "http.json", "answers.json"])
@pytest.mark.parametrize("depth", [1, 200_000])
def test_notes_that_are_something_else_are_named(name: str, depth: int, tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    shutil.copytree(CASES / "C03", bundle)
    (bundle / name).write_text('[{"x": ' * depth + "3" + "}]" * depth)
    found = read(bundle)

    assert any(problem.startswith(name) for problem in found.problems)


def test_notes_alone_are_no_bundle(tmp_path: Path) -> None:
    (tmp_path / "scrape.json").write_text('{"interval_s": 30}')

    with pytest.raises(Trouble, match="nothing here"):
        read(tmp_path)


def test_times_of_the_samples() -> None:
    bundle = read(CASES / "C27")

    assert [(one.noted, one.received) for one in of(bundle, Endpoint.METRICS)] == [(T0, None), (T1, None)]
    (dump,) = of(bundle, Endpoint.REQUESTS)
    assert (dump.received, dump.server_time, dump.noted) == (None, T1, T1)
    assert (bundle.times.t0, bundle.times.t1, bundle.times.interval_s) == (T0, T1, 30.0)


def test_files_beside_the_replicas_hold_for_all() -> None:
    bundle = read(CASES / "C23")

    for replica in ("kas-a", "kas-b", "kas-c"):
        assert len(of(bundle, Endpoint.METRICS, replica)) == 2
        assert len(of(bundle, Endpoint.SCHEMAS, replica)) == 1
        assert len(of(bundle, Endpoint.CONFIGS, replica)) == 1


def test_a_replicas_own_file_wins_over_the_shared_one(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    shutil.copytree(CASES / "C23", bundle)
    (bundle / "replicas" / "kas-b" / "scrape.json").write_text('{"t0": 1000, "t1": 1010}')
    found = read(bundle)

    assert [one.noted for one in of(found, Endpoint.METRICS, "kas-b")] == [1000, 1010]
    assert [one.noted for one in of(found, Endpoint.METRICS, "kas-a")] == [T0, T1]


def test_a_dump_beside_the_replicas_belongs_to_none_of_them(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    shutil.copytree(CASES / "C23", bundle)
    shutil.copy(CASES / "C31" / "dump_requests.txt", bundle)
    found = read(bundle)

    assert not [one for one in found.samples if one.endpoint is Endpoint.REQUESTS]
    assert any("dump_requests.txt" in problem for problem in found.problems)


def test_raw_http_answers_give_status_date_and_body() -> None:
    (answer,) = of(read(CASES / "C33"), Endpoint.LEVELS, "server1")

    assert answer.status == 403
    assert answer.server_date == T1
    assert b"Forbidden" in answer.body
    assert dict(answer.headers).keys() <= {"date", "content-type"}


def test_an_interval_alone_gives_rates_without_times(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    shutil.copytree(CASES / "C03", bundle)
    (bundle / "scrape.json").write_text('{"interval_s": 30}')
    document = report(bundle)

    assert document["taken"] == {"t0": None, "t1": None, "interval_s": 30}
    assert document["replicas"]["server"]["levels"]["workload-low"]["dispatched_per_s"] == 368


@pytest.mark.parametrize(
    "scrape", ['{"interval_s": 30}', '{"t0": "2026-04-12T10:02:00Z", "t1": "2026-04-12T10:03:22Z"}']
)
def test_noted_times_are_no_clock_skew(scrape: str, tmp_path: Path) -> None:
    shutil.copy(CASES / "C31" / "dump_requests.txt", tmp_path)
    (tmp_path / "scrape.json").write_text(scrape)
    replica = report(tmp_path)["replicas"]["server"]

    assert replica["clock_skew_s"] is None
    assert replica["clock"]["known_from"] == "the start of the dump's own request"
    assert replica["levels"]["global-default"]["oldest_waiting_s"] == pytest.approx(3.1875)


def test_ages_without_any_clock_are_unknown(tmp_path: Path) -> None:
    shutil.copy(CASES / "C41" / "replicas" / "kas-a" / "dump_requests.txt", tmp_path)
    (tmp_path / "scrape.json").write_text('{"interval_s": 30}')
    document = report(tmp_path)

    assert {row["age_s"] for row in document["requests"]} == {None}
    assert "unreliable" in document["replicas"]["server"]["clock"]["known_from"]


def test_metrics_saved_with_their_http_head(tmp_path: Path) -> None:
    (tmp_path / "http").mkdir()
    body = gzip.decompress((CASES / "C03" / "metrics_t1.txt.gz").read_bytes())
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nSet-Cookie: secret\r\n\r\n"
    (tmp_path / "http" / "metrics.txt").write_bytes(head + body)

    assert report(tmp_path)["replicas"]["server"]["levels"]["workload-low"]["nominal"] == 25


def test_a_refusal_saved_with_its_http_head_keeps_its_status(tmp_path: Path) -> None:
    (tmp_path / "http").mkdir()
    head = b"HTTP/1.1 429 Too Many Requests\nRetry-After: 4\nX-Kubernetes-PF-FlowSchema-UID: u\n\nToo many requests\n"
    (tmp_path / "http" / "metrics.txt").write_bytes(head)
    replica = report(tmp_path)["replicas"]["server"]

    assert replica["endpoints"]["metrics"] == 429
    assert (replica["own"]["rejected"], replica["own"]["of"]) == (1, 1)


@pytest.mark.parametrize("body", [b"", b"Too many requests, please try again later.\n"], ids=["empty", "refusal"])
def test_an_unreadable_first_answer_is_named_although_the_second_is_fine(body: bytes, tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    shutil.copytree(CASES / "C03", bundle)
    (bundle / "metrics_t0.txt.gz").unlink()
    (bundle / "metrics_t0.txt").write_bytes(body)
    document = report(bundle)
    replica = document["replicas"]["server"]

    assert any("metrics_t0.txt" in problem for problem in replica["problems"])
    assert replica["levels"]["workload-low"]["dispatched"] is None
    assert replica["levels"]["workload-low"]["seats_in_use"] == 39


def test_two_dumps_of_levels_alone_give_rates(tmp_path: Path) -> None:
    before = (CASES / "C03" / "dump_priority_levels.txt").read_text()
    after = "".join(_raised(line, 10) if line.startswith("workload-low,") else line for line in before.splitlines(True))
    (tmp_path / "dump_priority_levels_t0.txt").write_text(before)
    (tmp_path / "dump_priority_levels_t1.txt").write_text(after)
    shutil.copy(CASES / "C03" / "scrape.json", tmp_path)
    found = of(read(tmp_path), Endpoint.LEVELS)
    level = report(tmp_path)["replicas"]["server"]["levels"]["workload-low"]

    assert [one.noted for one in found] == [T0, T1]
    assert [one.server_time for one in found] == [None, None]
    assert level["dispatched"] == 300


def _raised(line: str, per_s: int) -> str:
    """A row of dump_priority_levels half a minute later."""
    cells = line.split(",")
    cells[6] = f" {int(cells[6]) + 30 * per_s}"
    return ",".join(cells)


def test_two_numbered_dumps_leave_out_a_third(tmp_path: Path) -> None:
    for name in ("dump_priority_levels", "dump_priority_levels_t0", "dump_priority_levels_t1"):
        shutil.copy(CASES / "C03" / "dump_priority_levels.txt", tmp_path / f"{name}.txt")
    found = read(tmp_path)

    assert [one.origin for one in of(found, Endpoint.LEVELS)] == [
        "dump_priority_levels_t0.txt",
        "dump_priority_levels_t1.txt",
    ]
    assert any("dump_priority_levels.txt: left out" in problem for problem in found.problems)


def test_answers_in_the_wrong_order_give_no_rates(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    shutil.copytree(CASES / "C03", bundle)
    (bundle / "metrics_t0.txt.gz").rename(bundle / "x")
    (bundle / "metrics_t1.txt.gz").rename(bundle / "metrics_t0.txt.gz")
    (bundle / "x").rename(bundle / "metrics_t1.txt.gz")
    replica = report(bundle)["replicas"]["server"]

    assert replica["levels"]["workload-low"]["dispatched_per_s"] is None
    assert any("different servers, out of order" in problem for problem in replica["problems"])


def test_empty_metrics_do_not_mean_that_apf_is_off(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    shutil.copytree(CASES / "C03", bundle)
    for name in ("metrics_t0.txt.gz", "metrics_t1.txt.gz", "dump_priority_levels.txt"):
        (bundle / name).unlink()
    (bundle / "metrics.txt").write_bytes(b"")
    replica = report(bundle)["replicas"]["server"]

    assert replica["apf"] == "ok"
    assert replica["levels"]["workload-low"]["waiting"] == 300


def test_times_per_file_win_over_times_per_replica(tmp_path: Path) -> None:
    shutil.copy(CASES / "C31" / "dump_requests.txt", tmp_path)
    meta = {
        "server": {"Date": "Sun, 12 Apr 2026 10:03:00 GMT"},
        "dump_requests.txt": {"Date": "Sun, 12 Apr 2026 10:03:30 GMT", "local_received": "2026-04-12T10:05:12Z"},
    }
    (tmp_path / "http_meta.json").write_text(json.dumps(meta))
    (dump,) = of(read(tmp_path), Endpoint.REQUESTS)

    assert dump.server_date == T1
    assert dump.received == T1 + 102


def test_plain_and_packed_files_read_the_same(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    for file in (CASES / "C03").iterdir():
        body = file.read_bytes()
        name = file.name.removesuffix(".gz")
        (plain / name).write_bytes(gzip.decompress(body) if file.suffix == ".gz" else body)

    assert without_source(report(plain)) == without_source(report(CASES / "C03"))


WEBHOOK = """
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: checks}
webhooks:
- name: check.kyverno.svc
  clientConfig: {service: {namespace: kyverno, name: kyverno-svc}}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.metrics.k8s.io}
spec: {group: metrics.k8s.io, service: {namespace: kube-system, name: metrics-server}}
"""


@pytest.mark.parametrize("name", ["webhooks.yaml", "validatingwebhookconfigurations.yaml", "apiservices.yml"])
def test_webhooks_are_read_from_a_file_of_any_mix(name: str, tmp_path: Path) -> None:
    shutil.copytree(CASES / "C03", tmp_path / "bundle")
    (tmp_path / "bundle" / name).write_text(WEBHOOK)

    assert [one["service"] for one in report(tmp_path / "bundle")["callbacks"]] == ["kyverno-svc", "metrics-server"]


def test_webhooks_beside_the_servers_hold_for_all(tmp_path: Path) -> None:
    shutil.copytree(CASES / "C23", tmp_path / "bundle")
    (tmp_path / "bundle" / "webhooks.yaml").write_text(WEBHOOK)
    document = report(tmp_path / "bundle")

    assert len(document["callbacks"]) == 2
    assert document["problems"] == []


def test_without_a_file_of_webhooks_they_are_unknown() -> None:
    assert report(CASES / "C03")["callbacks"] is None


def test_what_lies_behind_the_queues_comes_out_of_the_saved_metrics(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    shutil.copytree(CASES / "C05", bundle)
    for number, count in ((0, 100), (1, 400)):
        packed = bundle / f"metrics_t{number}.txt.gz"
        more = answer(requests(count), etcd({"get": (count, count / 4)}), start=None)
        (bundle / f"metrics_t{number}.txt").write_bytes(gzip.decompress(packed.read_bytes()) + more)
        packed.unlink()
    (replica,) = report(bundle)["replicas"].values()

    assert replica["backend"]["window"]["seconds"] == replica["window"]["seconds"]
    assert replica["backend"]["requests"]["200"] == 300
    assert replica["backend"]["etcd"]["get"] == {"count": 300, "mean_s": 0.25, "usual_s": 0.25}


def test_answers_of_the_lane_of_its_own_are_read_too(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    shutil.copytree(CASES / "C05", bundle)
    for number in (0, 1):
        (bundle / f"backend_t{number}.txt").write_bytes(answer(requests(10 + number)))
    (replica,) = report(bundle)["replicas"].values()

    assert replica["backend"]["requests"] == {"200": 1}
