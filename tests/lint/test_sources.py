"""Where lint and classify take objects, release and seats from: files, folders, saved bundles, a loopback cluster."""

from __future__ import annotations

import gzip
import json
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from apftop.apf.release import Release
from apftop.collect.layout import About
from apftop.collect.writer import write_bundle
from apftop.errors import Trouble
from apftop.lint.sources import from_paths, from_servers
from apftop.records.raw import Endpoint, Sample
from tests.collect.loopback import apftop, denied, kubeconfig, running
from tests.collect.saved import CONFIGS, SAMPLES, SCHEMAS
from tests.lint.written import SCHEMA
from tests.reach.conftest import _no_settings, ca
from tests.reach.server import Ca

__all__ = ["_no_settings", "ca"]

CASES = Path(__file__).parents[1] / "cases"
C19, C25 = CASES / "C19", CASES / "C25"
NO_PROBES = "missing-probes"


def found(*arguments: str | Path) -> dict[str, Any]:
    """What lint finds, as JSON; none of what it was given went unread."""
    result = apftop("lint", *map(str, arguments), "--output", "json")
    assert result.return_value in (0, 1), result.stderr
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def text(*arguments: str | Path) -> str:
    return apftop("lint", *map(str, arguments)).stdout


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A whole bundle: a server of 1.30 that has no schema `probes` and refuses 31.5 requests a second."""
    made = tmp_path / "bundle"
    shutil.copytree(C25 / "without", made)
    for name in ("prioritylevels.yaml", "requests.json", "scrape.json"):
        shutil.copy(C25 / name, made)
    return made


def packed(folder: Path) -> Path:
    made = folder.with_suffix(".tgz")
    with tarfile.open(made, "w:gz") as archive:
        archive.add(folder, "incident")
    return made


def judged_by(document: dict[str, Any]) -> tuple[str, str, int, str]:
    seats, by = document["server_concurrency"], document["server_concurrency_by"]
    return document["target"], document["target_by"], seats, by


class TestBundle:
    def test_its_metrics_tell_release_seats_and_refusals(self, bundle: Path) -> None:
        document = found(bundle)
        (fault,) = [one for one in document["faults"] if one["code"] == NO_PROBES]

        by = f"the metrics in {bundle}"
        assert judged_by(document) == ("1.30", by, 600, by)
        assert "31.5 a second" in fault["text"]
        assert document["missing"] == [NO_PROBES]

    def test_flags_come_before_its_metrics(self, bundle: Path) -> None:
        document = found(bundle, "--target", "1.34", "--seats", "100")

        assert judged_by(document) == ("1.34", "--target", 100, "--seats")

    def test_text_says_by_what_it_was_judged(self, bundle: Path) -> None:
        told = text(bundle).splitlines()[-1]

        assert f"Kubernetes 1.30 (the metrics in {bundle})" in told
        assert f"600 seats (the metrics in {bundle})" in told

    def test_an_archive_says_what_its_folder_says(self, bundle: Path) -> None:
        folder, archive = found(bundle), found(packed(bundle))
        files = {one["file"] for one in archive["faults"]} - {None}

        assert [(one["code"], one["line"]) for one in archive["faults"]] == [
            (one["code"], one["line"]) for one in folder["faults"]
        ]
        assert files <= {str(bundle.with_suffix(".tgz") / name) for name in ("flowschemas.yaml", "prioritylevels.yaml")}

    def test_what_it_is_compared_with_tells_too(self, bundle: Path, tmp_path: Path) -> None:
        (tmp_path / "new.yaml").write_text(SCHEMA)
        document = found(tmp_path / "new.yaml", "--against", bundle)

        assert document["target_by"] == f"the metrics in {bundle}"
        assert document["missing"] == []

    def test_files_beside_it_change_what_it_has(self, bundle: Path, tmp_path: Path) -> None:
        probes = (C25 / "with" / "flowschemas.yaml").read_text()
        (tmp_path / "again.yaml").write_text(probes)

        assert found(bundle, tmp_path / "again.yaml")["missing"] == []

    def test_without_times_it_is_read_all_the_same(self, bundle: Path) -> None:
        (bundle / "scrape.json").unlink()

        assert found(bundle)["missing"] == [NO_PROBES]

    def test_dumps_that_were_refused_are_no_concern_of_lint(self, bundle: Path) -> None:
        (bundle / "http").mkdir()
        (bundle / "http" / "dump_queues.txt").write_bytes(b"HTTP/1.1 403 Forbidden\r\n\r\nno")

        assert apftop("lint", str(bundle), "--fail-on", "never").return_value == 0

    def test_metrics_that_cannot_be_read_are_named(self, bundle: Path) -> None:
        (bundle / "metrics_t1.txt").write_text("<html>not these</html>")
        result = apftop("lint", str(bundle))

        assert result.return_value == 3
        assert "metrics_t1.txt" in result.stderr

    def test_a_file_that_is_no_part_of_it_is_not_passed_over(self, bundle: Path) -> None:
        (bundle / "edited.yaml").write_text(SCHEMA)
        result = apftop("lint", str(bundle))

        assert result.return_value == 3
        assert f"{bundle / 'edited.yaml'}: lies in the bundle and is no part of it" in result.stderr

    def test_of_two_the_older_release_counts(self, bundle: Path) -> None:
        source = from_paths((CASES / "C03", bundle))

        assert source.release == Release(1, 30, 4)
        assert source.concurrency == 60
        assert source.by == f"the metrics in {CASES / 'C03'} and the metrics in {bundle}"


def plain_files(folder: Path) -> Path:
    return folder


def gzipped(folder: Path) -> Path:
    file = folder / "flowschemas.yaml"
    (folder / "flowschemas.yaml.gz").write_bytes(gzip.compress(file.read_bytes()))
    file.unlink()
    return folder


def answered(folder: Path) -> Path:
    """The schemas as raw HTTP, with a head of four lines."""
    body = (folder / "flowschemas.yaml").read_bytes()
    (folder / "flowschemas.yaml").unlink()
    (folder / "http").mkdir()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/yaml\r\nDate: Sun, 12 Apr 2026 10:03:00 GMT\r\n\r\n"
    (folder / "http" / "flowschemas.txt").write_bytes(head + body)
    return folder


def of_replicas(folder: Path) -> Path:
    """Two servers with objects of their own."""
    for name in ("a", "b"):
        (folder / "replicas" / name).mkdir(parents=True)
        for file in ("flowschemas.yaml", "metrics_t0.txt", "metrics_t1.txt"):
            shutil.copy(folder / file, folder / "replicas" / name)
    for file in ("flowschemas.yaml", "metrics_t0.txt", "metrics_t1.txt"):
        (folder / file).unlink()
    return folder


@pytest.mark.parametrize(
    ("saved", "file", "head"),
    [
        (plain_files, "flowschemas.yaml", 0),
        (gzipped, "flowschemas.yaml.gz", 0),
        (answered, "http/flowschemas.txt", 4),
        (of_replicas, "replicas/a/flowschemas.yaml", 0),
    ],
)
def test_objects_of_a_bundle_keep_their_file_and_lines(
    bundle: Path, saved: Callable[[Path], Path], file: str, head: int
) -> None:
    lines = (bundle / "flowschemas.yaml").read_text().splitlines()
    source = from_paths((saved(bundle),))
    schemas = [one for one in source.documents if one.kind == "FlowSchema"]

    assert {one.file for one in schemas} == {str(bundle / file)}
    assert len({one.name for one in schemas}) == len(schemas)
    for one in schemas:
        assert lines[(one.line("metadata.name") or 0) - 1 - head].strip() == f"name: {one.name}"


def test_objects_of_a_collected_bundle_keep_their_file(tmp_path: Path) -> None:
    kept = {Endpoint.SCHEMAS: SCHEMAS, Endpoint.CONFIGS: CONFIGS}
    first = SAMPLES[0].replica
    objects = [Sample(first, endpoint, body, 200, sent=1.0, received=2.0) for endpoint, body in kept.items()]
    saved = write_bundle([*SAMPLES, *objects], tmp_path / "saved.tgz", About("test"))
    document = found(saved, "--fail-on", "never")

    assert document["target"] == "1.30"
    assert {Path(one["file"]).name for one in document["faults"] if one["object"] == "FlowSchema/load"} == {
        "flowschemas.json"
    }


class TestFolder:
    def test_without_metrics_it_is_judged_by_default(self) -> None:
        assert judged_by(found(C19, "--fail-on", "never")) == ("1.37", "default", 600, "default")
        assert "Kubernetes 1.37 (default) and servers of 600 seats (default)" in text(C19).splitlines()[-1]

    def test_with_a_folder_for_metrics_it_is_no_bundle(self, tmp_path: Path) -> None:
        shutil.copytree(C19, tmp_path / "policy")
        (tmp_path / "policy" / "metrics").mkdir()
        (tmp_path / "policy" / "teams").mkdir()
        (tmp_path / "policy" / "teams" / "mine.yaml").write_text(SCHEMA)
        source = from_paths((tmp_path / "policy",))

        assert str(tmp_path / "policy" / "teams" / "mine.yaml") in {one.file for one in source.documents}
        assert source.release is None

    def test_schemas_alone_are_judged_with_the_built_in_levels(self, tmp_path: Path) -> None:
        shutil.copy(C25 / "with" / "flowschemas.yaml", tmp_path)
        document = found(tmp_path, "--target", "1.30")

        assert document["dangling"] == []
        assert document["nominal_after"]["workload-low"] == 245


class TestNothing:
    def refused(self, *arguments: str | Path) -> str:
        result: Result = apftop(*map(str, arguments))
        assert isinstance(result.exception, Trouble)
        assert "nothing is wrong" not in result.stdout
        return str(result.exception)

    @pytest.mark.parametrize("command", [("lint",), ("classify", "--verb", "get", "--path", "/livez")])
    def test_a_folder_and_a_file_without_any_object_are_not_in_order(
        self, command: tuple[str, ...], tmp_path: Path
    ) -> None:
        (tmp_path / "pod.yaml").write_text("kind: Pod\napiVersion: v1\nmetadata:\n  name: x\n")
        for path in (tmp_path, tmp_path / "pod.yaml"):
            told = self.refused(*command, path)

            assert told.startswith(f"no FlowSchema and no PriorityLevelConfiguration: {path}; looked for ")

    def test_nor_is_a_bundle_without_them(self) -> None:
        assert "C31" in self.refused("lint", CASES / "C31")

    def test_where_a_server_refused_them_it_says_so(self) -> None:
        assert "403 on the APF objects" in self.refused("lint", CASES / "C33")

    def test_nor_can_anything_be_compared_with_them(self) -> None:
        assert "C31" in self.refused("lint", C19, "--against", CASES / "C31")

    def test_a_cluster_that_refuses_them_is_not_in_order(self, ca: Ca, tmp_path: Path) -> None:
        with running(ca) as (server,):
            for path in ("flowschemas", "prioritylevelconfigurations"):
                whole = f"/apis/flowcontrol.apiserver.k8s.io/v1/{path}"
                server.replies[whole] = denied(whole)
            told = self.refused("lint", "--live", "--kubeconfig", kubeconfig(server, ca, tmp_path))

        assert "403 on the APF objects" in told


def test_a_live_cluster_is_judged_by_its_metrics(ca: Ca, tmp_path: Path) -> None:
    with running(ca) as (server,):
        document = found("--live", "--kubeconfig", kubeconfig(server, ca, tmp_path))

    assert (document["target"], document["target_by"]) == ("1.30", "the metrics of the servers")
    assert {(one["file"], one["line"]) for one in document["faults"]} == {(None, None)}


def test_an_answer_that_broke_off_is_no_object() -> None:
    source = from_servers([Sample("a", Endpoint.SCHEMAS, b"{", error="the answer breaks off: a")])

    assert source.documents == ()
    assert source.problems == ("a: the answer breaks off: a",)


class TestClassify:
    def classified(self, path: Path, *more: str) -> dict[str, Any]:
        result = apftop("classify", str(path), *more, "--output", "json")
        assert result.return_value == 0, result.stderr
        document: dict[str, Any] = json.loads(result.stdout)
        return document

    @pytest.mark.parametrize("saved", [plain_files, packed, gzipped])
    def test_a_bundle_brings_its_requests(self, bundle: Path, saved: Callable[[Path], Path]) -> None:
        expected = json.loads((C25 / "expected.json").read_text())["classify_without"]

        assert self.classified(saved(bundle))["classify"] == expected

    def test_its_metrics_tell_the_seats(self) -> None:
        asked = ("--as", "argocd/server", "--verb", "list", "--resource", "pods")
        (small,) = self.classified(CASES / "C03", *asked)["requests"]
        (default,) = self.classified(C19, *asked)["requests"]

        # A list may take 15% of 25 nominal seats; of 227 it takes the 10 that one from the cache takes at most.
        assert (small["seats"]["high"], default["seats"]["high"]) == (4, 10)

    def test_its_metrics_tell_the_gates(self, tmp_path: Path) -> None:
        asked = ("--user", "admin", "--group", "system:masters", "--verb", "list", "--resource", "pods")
        shutil.copytree(CASES / "C03", tmp_path / "bundle")
        (plain,) = self.classified(tmp_path / "bundle", *asked, "--stored", "450")["requests"]
        for file in (tmp_path / "bundle").glob("metrics_*.txt.gz"):
            gate = b'kubernetes_feature_enabled{name="ConsistentListFromCache",stage="ALPHA"} 1\n'
            body = gzip.decompress(file.read_bytes())
            file.write_bytes(gzip.compress(b"# TYPE kubernetes_feature_enabled gauge\n" + gate + body))
        (gated,) = self.classified(tmp_path / "bundle", *asked, "--stored", "450")["requests"]

        # From etcd each object counts twice in 1.30.
        assert (plain["seats"]["high"], gated["seats"]["high"]) == (9, 5)

    def test_an_object_that_is_broken_is_said(self, tmp_path: Path) -> None:
        shutil.copytree(C19, tmp_path / "policy")
        (tmp_path / "policy" / "more.yaml").write_text(SCHEMA.replace("matchingPrecedence: ", "matchingPrecedence: x"))
        result = apftop("classify", str(tmp_path / "policy"))

        assert isinstance(result.exception, Trouble)
        assert "more.yaml:8: FlowSchema/batch" in str(result.exception)

    def test_requests_that_cannot_be_read_are_named(self, bundle: Path) -> None:
        (bundle / "requests.json").write_text("{")
        result = apftop("classify", str(bundle))

        assert isinstance(result.exception, Trouble)
        assert "requests.json" in str(result.exception)


def test_lint_and_report_find_the_same_slips() -> None:
    linted = found(C19, "--fail-on", "never")
    reported = json.loads(apftop("report", str(C19), "--output", "json").stdout)["findings"]
    dangling = {one["subject"]: one["facts"] for one in reported if one["code"] == "dangling-schema"}
    unreferenced = {one["subject"] for one in reported if one["code"] == "unreferenced-level"}

    assert set(dangling) == set(linted["dangling"])
    near = {one["missing_level"]: one["near"] for one in dangling.values() if one["near"]}
    assert near == linted["near_names"] == {"cluster-high/": "cluster-high"}
    assert unreferenced == set(linted["unreferenced"]) == {"cluster-high"}
