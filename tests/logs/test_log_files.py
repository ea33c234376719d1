"""Logs as files: named, in bundles, packed, torn, and large."""

from __future__ import annotations

import gzip
import io
import tarfile
import tracemalloc
from pathlib import Path

import pytest

from apftop.errors import Trouble
from apftop.logs.lines import LONGEST
from apftop.logs.read import logs_of
from apftop.records.logs import NO_LOGS, Denied
from tests.logs.build import ARGO, access, line
from tests.logs.test_client_log import WORDINGS

CASES = Path(__file__).parent.parent / "cases"
WAIT = WORDINGS["1.21 to 1.32"].encode() + b"\n"
DENIED = (
    b'W1208 15:30:36.007286       1 reflector.go:535] failed to list *v1.FlowSchema: forbidden: User "u" cannot list '
    b'resource "flowschemas" in API group "flowcontrol.apiserver.k8s.io" at the cluster scope\n'
)


def test_without_logs_nothing_is_known(tmp_path: Path) -> None:
    assert logs_of(None) == NO_LOGS
    assert logs_of(tmp_path) == NO_LOGS


def test_a_client_that_never_waits_has_no_lines_rather_than_no_log(tmp_path: Path) -> None:
    (tmp_path / "client.log").write_bytes(b"I0412 10:03:02.015838 1 main.go:1] ready\n")
    log = logs_of(tmp_path).client

    assert log is not None and log.lines == 0


def test_the_logs_of_a_bundle_lie_beside_and_inside_the_folders_of_its_servers(tmp_path: Path) -> None:
    for folder in ("replicas/kas-a", "replicas/kas-b", "targets/kueue"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "client.log").write_bytes(WAIT)
    (tmp_path / "audit.log.gz").write_bytes(gzip.compress(line(1)))
    (tmp_path / "replicas/kas-a/audit.log").write_bytes(line(2))
    (tmp_path / "replicas/kas-b/log.txt").write_bytes(access())
    (tmp_path / "targets/kueue/log.txt").write_bytes(DENIED)
    (tmp_path / "notes.log").write_bytes(line(3))
    logs = logs_of(tmp_path)

    assert logs.client is not None and logs.client.lines == 1
    assert logs.entries == 2
    assert {(one.user, one.level): one.requests for one in logs.callers} == {(ARGO, ""): 2, ("", "workload-low"): 1}
    assert logs.denied == (Denied("u", "flowschemas", 1, "kueue"),)
    assert logs.problems == ()


@pytest.mark.parametrize("root", ["", "incident/"])
def test_the_logs_of_an_archive_are_those_of_its_folder(tmp_path: Path, root: str) -> None:
    archive = tmp_path / "bundle.tgz"
    files = {
        "metrics.txt": b"",
        "client.log": WAIT,
        "replicas/kas/log.txt": DENIED,
        "audit.log.gz": gzip.compress(line()),
    }
    with tarfile.open(archive, "w:gz") as tar:
        for name, body in files.items():
            member = tarfile.TarInfo(root + name)
            member.size = len(body)
            tar.addfile(member, io.BytesIO(body))
    logs = logs_of(archive)

    assert logs.client is not None and logs.client.lines == 1
    assert logs.entries == 1
    assert [one.server for one in logs.denied] == ["kas"]


def test_named_logs_are_read_besides_those_of_the_bundle(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    bundle.mkdir()
    (bundle / "client.log").write_bytes(WAIT)
    other, audit = tmp_path / "other.txt", tmp_path / "a.gz"
    other.write_bytes(WAIT)
    audit.write_bytes(gzip.compress(line(1) + line(2)))
    logs = logs_of(bundle, [other], [audit])

    assert logs.client is not None and logs.client.lines == 1, "the same line at the same time is the same wait"
    assert logs.entries == 2


def test_an_access_log_may_be_given_as_an_audit_log(tmp_path: Path) -> None:
    file = tmp_path / "kube-apiserver.log"
    file.write_bytes(access() + b"I0412 10:03:02.015838       1 controller.go:615] quota admission\n")
    logs = logs_of(None, [], [file])

    assert logs.entries == 1 and logs.problems == ()


def test_where_both_logs_tell_of_the_same_requests_they_are_not_added_up(tmp_path: Path) -> None:
    audit, log = tmp_path / "audit.log", tmp_path / "log.txt"
    audit.write_bytes(b"".join(line(number) for number in range(5)))
    log.write_bytes(access() * 3)

    assert logs_of(tmp_path).entries == 5


def test_broken_lines_are_counted_with_their_file_and_the_first_of_them(tmp_path: Path) -> None:
    (tmp_path / "audit.log").write_bytes(line(1) + line(2)[:100] + b"\n\n" + line(3) + line(4)[:50])
    logs = logs_of(tmp_path)

    assert logs.entries == 2
    assert logs.problems == ("audit.log: 2 of 5 lines cannot be read, the first is line 2",)


def test_a_torn_gzip_file_is_read_up_to_the_tear(tmp_path: Path) -> None:
    whole = gzip.compress(b"".join(line(number) for number in range(5000)))
    (tmp_path / "audit.log.gz").write_bytes(whole[: len(whole) // 2])
    logs = logs_of(tmp_path)

    assert 0 < logs.entries < 5000
    (problem,) = logs.problems
    assert problem.startswith("audit.log.gz: read up to line")


def test_a_line_without_end_is_skipped_as_one_broken_line(tmp_path: Path) -> None:
    (tmp_path / "audit.log").write_bytes(line(1) + b"x" * (LONGEST * 2 + 5) + b"\n" + line(2))
    logs = logs_of(tmp_path)

    assert logs.entries == 2
    assert logs.problems == ("audit.log: 1 of 3 lines cannot be read, the first is line 2",)


def test_text_in_utf_16_is_named(tmp_path: Path) -> None:
    (tmp_path / "client.log").write_bytes(WAIT.decode().encode("utf-16"))

    assert logs_of(tmp_path).problems == ("client.log: read up to line 0: UTF-16 text: save it as UTF-8",)


def test_a_named_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(Trouble, match=r"the log cannot be read .*gone\.log"):
        logs_of(None, [tmp_path / "gone.log"])


def test_a_large_log_needs_little_memory(tmp_path: Path) -> None:
    file = tmp_path / "audit.log.gz"
    with gzip.open(file, "wb", compresslevel=1) as out:
        for number in range(20_000):
            name = f"agent-{number % 3000}"
            out.write(line(number, userAgent=name, requestObject={"data": "x" * 7000}))
    tracemalloc.start()
    try:
        logs = logs_of(None, [], [file])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert logs.entries == sum(one.requests for one in logs.callers) == 20_000
    assert peak < 30 << 20, "the file has 150 MB"


def test_the_log_of_an_extension_server_in_a_case() -> None:
    found = {(one.server, one.resource): one.lines for one in logs_of(CASES / "C35").denied}

    assert found == {("kueue", "flowschemas"): 1, ("kueue", "prioritylevelconfigurations"): 1}
