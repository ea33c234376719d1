"""`apftop collect` as a person runs it, against servers on loopback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from apftop.errors import Trouble
from tests.collect.loopback import (
    AGGREGATED,
    DUMPS,
    GROUP,
    MUTATING,
    SLICES,
    VALIDATING,
    apftop,
    denied,
    kubeconfig,
    names,
    running,
)
from tests.reach.server import Ca, Reply, Server


@pytest.mark.parametrize("name", ["saved", "saved.tgz"])
def test_all_replicas_are_saved_and_the_report_reads_them(name: str, ca: Ca, tmp_path: Path) -> None:
    target = tmp_path / name
    with running(ca, 3) as servers:
        run = apftop("collect", "--kubeconfig", kubeconfig(servers[0], ca, tmp_path), "-o", str(target), "-d", "0.2")

    assert (run.return_value, run.stderr) == (0, "")
    assert f"saved {target}" in run.stdout
    assert "3 servers" in run.stdout
    assert all(f"{replica}: whole" in run.stdout for replica in names(servers))
    assert "names users, namespaces and objects" in run.stdout
    assert run.stdout.endswith(f"Next: apftop report {target}\n")
    again = apftop("report", str(target), "--output", "json")
    document = json.loads(again.stdout)
    assert (again.return_value, again.stderr) == (0, "")
    assert list(document["replicas"]) == sorted(names(servers))
    assert document["source"] == f"{target} (context here, cluster c)"
    told = [replica["endpoints"].pop("callbacks") for replica in document["replicas"].values()]
    assert sorted(told, key=str) == [200, None, None]
    assert [one["service"] for one in document["callbacks"]] == ["metrics-server", "kyverno-svc"]
    for replica in document["replicas"].values():
        assert set(replica["endpoints"].values()) == {200}
        assert replica["own"]["flow_schema"] == "load"


def test_a_token_is_in_no_file(ca: Ca, tmp_path: Path) -> None:
    with running(ca) as (server,):
        apftop("collect", "--kubeconfig", kubeconfig(server, ca, tmp_path), "-o", str(tmp_path / "saved"), "-d", "0.2")

    assert server.seen[0].headers["authorization"] == ["Bearer s3cr3t"]
    files = [file for file in (tmp_path / "saved").rglob("*") if file.is_file()]
    assert len(files) > 8
    assert not any(b"s3cr3t" in file.read_bytes() for file in files)


def test_what_is_denied_is_told_with_the_rule_that_grants_it_and_the_rest_is_saved(ca: Ca, tmp_path: Path) -> None:
    with running(ca) as (server,):
        for dump in ("dump_priority_levels", "dump_queues", "dump_requests"):
            server.replies[DUMPS + dump] = denied(DUMPS + dump)
        config = kubeconfig(server, ca, tmp_path)
        run = apftop("collect", "--kubeconfig", config, "-o", str(tmp_path / "saved"), "-d", "0.2")

    assert run.return_value == 3
    assert 'nonResourceURLs: ["/debug/api_priority_and_fairness/*"], verbs: ["get"]' in run.stderr
    assert "without dump_priority_levels, dump_queues, dump_requests" in run.stdout
    again = apftop("report", str(tmp_path / "saved"), "--output", "json")
    (replica,) = json.loads(again.stdout)["replicas"].values()
    assert again.return_value == 3
    assert replica["endpoints"]["dump_queues"] == 403
    assert replica["endpoints"]["metrics"] == 200


def test_webhooks_that_may_not_be_read_are_no_fault_and_are_told(ca: Ca, tmp_path: Path) -> None:
    with running(ca) as (server,):
        for path in (VALIDATING, MUTATING, AGGREGATED):
            server.replies[path] = denied(path)
        config = kubeconfig(server, ca, tmp_path)
        run = apftop("collect", "--kubeconfig", config, "-o", str(tmp_path / "saved"), "-d", "0.2")

    assert (run.return_value, run.stderr) == (0, "")
    assert "without webhooks and APIServices, which no server told: see `apftop doctor`" in run.stdout
    again = apftop("report", str(tmp_path / "saved"), "--output", "json")
    document = json.loads(again.stdout)
    (replica,) = document["replicas"].values()
    assert (again.return_value, replica["endpoints"]["callbacks"], document["callbacks"]) == (0, 403, None)


def test_each_kind_of_callback_is_saved_in_a_file_of_its_own(ca: Ca, tmp_path: Path) -> None:
    with running(ca) as (server,):
        apftop("collect", "--kubeconfig", kubeconfig(server, ca, tmp_path), "-o", str(tmp_path / "saved"), "-d", "0.2")

    saved = sorted(file.name for file in (tmp_path / "saved").glob("webhooks*"))
    assert saved == ["webhooks_apiservices.json", "webhooks_mutating.json", "webhooks_validating.json"]
    (tmp_path / "saved" / "answers.json").unlink()
    document = json.loads(apftop("report", str(tmp_path / "saved"), "--output", "json").stdout)
    assert [one["kind"] for one in document["callbacks"]] == ["apiservice", "validating"]


def test_one_replica_that_hangs_up_leaves_the_others(ca: Ca, tmp_path: Path) -> None:
    with running(ca, 2) as servers:
        for path in servers[1].replies:
            servers[1].replies[path] = Reply(how="reset")
        config = kubeconfig(servers[0], ca, tmp_path)
        run = apftop("collect", "--kubeconfig", config, "-o", str(tmp_path / "saved"), "-d", "0.2")

    first, second = names(servers)
    assert run.return_value == 3
    assert f"{first}: whole" in run.stdout
    assert f"{second}: without metrics" in run.stdout
    assert second in run.stderr


def trouble(*arguments: str) -> str:
    run = apftop("collect", *arguments)
    assert isinstance(run.exception, Trouble), run.output
    assert "\n" not in str(run.exception)
    return str(run.exception)


def test_nothing_is_saved_where_nobody_answers(ca: Ca, tmp_path: Path) -> None:
    with running(ca) as (server,):
        pass
    config = kubeconfig(server, ca, tmp_path)
    line = trouble("--kubeconfig", config, "-o", str(tmp_path / "saved"), "-d", "0.2")

    assert "nothing is saved" in line
    assert not (tmp_path / "saved").exists()


def test_nobody_is_asked_when_the_name_is_taken(ca: Ca, tmp_path: Path) -> None:
    (tmp_path / "saved.tgz").write_text("mine")
    with running(ca) as (server,):
        line = trouble("--kubeconfig", kubeconfig(server, ca, tmp_path), "-o", str(tmp_path / "saved.tgz"))

        assert server.seen == []
    assert "there is something already" in line
    assert (tmp_path / "saved.tgz").read_text() == "mine"


def report(server: Server, ca: Ca, folder: Path, *arguments: str) -> tuple[dict[str, object], int, str]:
    run = apftop("report", "--kubeconfig", kubeconfig(server, ca, folder), "-d", "0.2", "-o", "json", *arguments)
    return json.loads(run.stdout), run.return_value, run.stderr


def test_a_report_looks_at_all_replicas_behind_the_url(ca: Ca, tmp_path: Path) -> None:
    with running(ca, 3) as servers:
        document, code, said = report(servers[2], ca, tmp_path)

    assert (code, said) == (0, "")
    assert list(document["replicas"]) == sorted(names(servers))  # type: ignore[call-overload]
    assert document["source"] == "context here, cluster c"


def test_a_report_says_why_it_looks_at_the_url_only(ca: Ca, tmp_path: Path) -> None:
    with running(ca, 3) as servers:
        servers[0].replies[SLICES] = denied(SLICES)
        document, code, said = report(servers[0], ca, tmp_path)

    assert code == 0
    assert list(document["replicas"]) == names(servers[:1])  # type: ignore[call-overload]
    assert "endpointslices" in said
    assert "1 of 3 API servers that are alive by their leases" in said
    assert document["problems"] == [line.removeprefix("apftop: ") for line in said.splitlines()]


def test_replicas_named_by_hand_are_taken_as_they_are(ca: Ca, tmp_path: Path) -> None:
    with running(ca, 3) as servers:
        config = kubeconfig(servers[0], ca, tmp_path)
        run = apftop("report", "--kubeconfig", config, "--server", servers[1].url, "-d", "0.2", "-o", "json")

    assert list(json.loads(run.stdout)["replicas"]) == names(servers[1:2])
    assert not any(seen.path == SLICES for server in servers for seen in server.seen)


def test_the_leases_are_asked_once(ca: Ca, tmp_path: Path) -> None:
    with running(ca, 2) as servers:
        report(servers[0], ca, tmp_path)

    assert sum(seen.path.endswith("/leases") for server in servers for seen in server.seen) == 1
    assert [sum(seen.path == f"{GROUP}/v1/flowschemas" for seen in server.seen) for server in servers] == [1, 1]
