"""What lint predicts is what real servers do: refuse, set back, delete, make again, and how many seats come of it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import yaml

from apftop.findings.changes.patches import KEPT
from apftop.lint.all import linted as linted_policy
from apftop.lint.files import read_file
from apftop.lint.gather import objects_of, policy_of
from apftop.lint.unchanged import same_spec
from apftop.records.linting import Linted
from tests.lint.policies import lint
from tests.planes.broken_objects import broken_objects
from tests.planes.client import PLURALS, Answer, Client, Json
from tests.planes.fate_cases import Case, cases, item_of, spec_of
from tests.planes.fate_runs import (
    annotation,
    apply_all,
    as_they_were,
    create,
    live,
    observed,
    release_of,
    set_up,
    undisturbed,
)
from tests.planes.flow import VERSION, flow_schema, priority_level
from tests.planes.impersonated import Sent, ask_as
from tests.planes.objects import wait_on_replicas
from tests.planes.observe import metric
from tests.planes.plane import Plane

SEED = 8
STRICT_ONLY = {"unknown-field", "wrong-field"}
"""What servers refuse only if they are told to validate fields strictly, as kubectl does."""
LOOKED_AFTER_S, LATE_S = 70.0, 60.0
"""Each server looks after the objects once a minute, and a busy one somewhat later."""
NOMINAL = "apiserver_flowcontrol_nominal_limit_seats"
RUNNER = "system:serviceaccount:ci:runner"


def linted(item: Json, plane: Plane) -> Linted:
    return lint(yaml.safe_dump(item, sort_keys=False), plane.version)


def refused(found: Linted) -> bool:
    """Whether lint says that servers refuse what was given."""
    outcomes = {fate.outcome for fate in found.fates.values()}
    return "refused" in outcomes or any(fault.code == "broken" for fault in found.faults)


def tried(client: Client, item: Json, validation: str = "Warn") -> Answer:
    """What comes of a creation that stores nothing."""
    root = f"/apis/{item['apiVersion']}/{PLURALS[item['kind']]}"
    return client.post(f"{root}?dryRun=All&fieldValidation={validation}", item)


def accepted(answer: Answer) -> bool:
    """Whether an object is taken, or only is there already."""
    return answer.status in (201, 409)


def as_stored(item: Json, answer: Answer) -> bool:
    """Whether lint fills in what was left out as servers do."""
    (ours,), (theirs,) = (read_file("policy.yaml", body)[0] for body in (json.dumps(item).encode(), answer.body))
    return ours.object is None or (theirs.object is not None and same_spec(ours.object, theirs.object))


def test_lint_refuses_what_servers_refuse(plane: Plane) -> None:
    client = plane.client()
    others, taken = [], []
    for what, item in broken_objects(SEED):
        found = linted(item, plane)
        taken.append(not refused(found))
        loose, strict = tried(client, item), tried(client, item, "Strict")
        if loose.status == 201 and not as_stored(item, loose):
            others.append(f"{what}: stored as {loose.text[:600]}")
        expected = (refused(found), refused(found) or any(one.code in STRICT_ONLY for one in found.faults))
        if expected != (not accepted(loose), not accepted(strict)):
            codes = [fault.code for fault in found.faults if fault.gravity == "error"]
            others.append(f"{what}: lint {codes}, servers {loose.status} and {strict.status}: {strict.text[:300]}")

    assert others == []
    assert taken.count(True) > 150
    assert taken.count(False) > 150


def test_a_misspelt_field_is_dropped_and_its_default_holds(plane: Plane) -> None:
    item = priority_level("mine", shares=5)
    item["spec"]["limited"]["nominalConcurencyShares"] = item["spec"]["limited"].pop("nominalConcurrencyShares")
    answer = tried(plane.client(), item).expect(201)
    (fault,) = (one for one in linted(item, plane).faults if one.code == "unknown-field")

    assert answer.json()["spec"]["limited"]["nominalConcurrencyShares"] == 30
    assert f'unknown field "{fault.place}"' in answer.headers["warning"].replace("\\", "")
    assert fault.advice == "call it nominalConcurrencyShares"


@pytest.mark.parametrize(
    "metadata",
    [
        {"name": "mine", "resourceVersion": "1"},
        {"name": "mine", "finalizers": ["a b"]},
        {"name": "mine", "ownerReferences": [{"apiVersion": "v1", "kind": "", "name": "a", "uid": "b"}]},
    ],
)
def test_some_metadata_that_servers_refuse_is_not_looked_at(plane: Plane, metadata: Json) -> None:
    item, client = {**priority_level("mine", shares=5), "metadata": metadata}, plane.client()

    # A trial does not look at the resource version.
    status = client.post(f"/apis/{VERSION}/{PLURALS[item['kind']]}", item).status
    client.remove(item)
    assert not refused(linted(item, plane))
    assert status >= 400


@pytest.mark.parametrize(
    ("metadata", "groups"), [({"generateName": "mine-"}, [""]), ({"name": "mine"}, [None])], ids=["generated", "null"]
)
def test_what_can_only_be_created_and_a_null_for_a_text_are_called_broken(
    plane: Plane, metadata: Json, groups: list[str | None]
) -> None:
    item = {**flow_schema("mine", "workload-low", users=["jane"]), "metadata": metadata}
    item["spec"]["rules"][0]["resourceRules"][0]["apiGroups"] = groups

    assert accepted(tried(plane.client(), item))
    assert [fault.code for fault in linted(item, plane).faults if fault.gravity == "error"] == ["broken"]


def predicted(plane: Plane, table: Sequence[Case], specs: Mapping[str, Json]) -> dict[str, str]:
    """The outcomes that lint tells from the live objects, by object."""
    there = live(plane.client())
    given = [item_of(case, case.given, specs[case.key]) for case in table if case.given is not None]
    left = [item for key, item in there.items() if key not in {one.key for one in table if one.given is None}]
    before, files, rest = (
        read_file("policy.yaml", yaml.safe_dump_all(items).encode())[0] for items in (there.values(), given, left)
    )
    changed = policy_of(files, objects_of(before), release_of(plane), 90)
    fewer = policy_of(rest, objects_of(before), release_of(plane), 90, whole=True)
    found = {key: fate.outcome for key, fate in linted_policy(fewer).fates.items() if fate.outcome == "recreated"}
    return {**found, **{key: fate.outcome for key, fate in linted_policy(changed).fates.items()}}


def test_objects_fare_as_lint_says(plane: Plane) -> None:
    client, table = plane.client(), cases(release_of(plane).minor)
    expected = {case.key: case.outcome for case in table}
    annotations = {case.key: case.written for case in table if case.outcome != "deleted"}
    with as_they_were(plane) as built:
        specs = {case.key: spec_of(case, {key: item["spec"] for key, item in built.items()}) for case in table}
        for _ in range(5):
            ready = set_up(client, table, specs)
            told = predicted(plane, table, specs)
            statuses = apply_all(client, table, specs)
            if ready and undisturbed(client, table, specs):
                break
        else:
            raise AssertionError("servers always came in between")
        time.sleep(LOOKED_AFTER_S)
        ends = time.monotonic() + LATE_S
        while True:
            after = live(client)
            came = {one.key: observed(one, statuses[one.key], after.get(one.key), specs[one.key]) for one in table}
            written = {one.key: annotation(after[one.key]) for one in table if one.key in after}
            if (came, written) == (expected, annotations) or time.monotonic() > ends:
                break
            time.sleep(1)

    assert came == expected
    assert written == annotations
    assert {key: told.get(key) for key in came} == came


def run_lint(plane: Plane, *arguments: str) -> tuple[str, int]:
    """`apftop lint` as a process of its own: what it prints, and its exit code."""
    command = [sys.executable, "-m", "apftop", "lint", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout, done.returncode


def seats(plane: Plane, file: Path, items: Sequence[Json]) -> dict[str, int]:
    """The nominal seats after a change, as `apftop lint FILE --live` tells them before it."""
    file.write_text(yaml.safe_dump_all(items))
    config = str(plane.kubeconfig())
    out, _ = run_lint(plane, str(file), "--live", "--kubeconfig", config, "--output", "json")
    told: dict[str, int] = json.loads(out)["nominal_after"]
    return told


def test_nominal_seats_are_as_told_before_each_change(plane: Plane, tmp_path: Path) -> None:
    client, file = plane.client(), tmp_path / "change.yaml"
    with as_they_were(plane) as built:
        levels = {name.partition("/")[2]: item for name, item in built.items() if name.startswith("Priority")}

        def edited(name: str, **shares: int) -> Json:
            inner = levels[name]["spec"]
            kind = "exempt" if name == "exempt" else "limited"
            spec = {**inner, kind: {**inner[kind], **shares}}
            metadata = {"name": name, "annotations": {KEPT: "false"}}
            return {"apiVersion": VERSION, "kind": "PriorityLevelConfiguration", "metadata": metadata, "spec": spec}

        changes = [
            [priority_level("lint-a", shares=50)],
            [priority_level("lint-a", shares=200), priority_level("lint-b", shares=0, reject=True)],
            [edited("workload-low", nominalConcurrencyShares=333, lendablePercent=10)],
            [edited("exempt", nominalConcurrencyShares=20)],
            [edited("global-default", nominalConcurrencyShares=0), priority_level("lint-b", shares=7)],
        ]
        for items in changes:
            told = seats(plane, file, items)
            for item in items:
                client.apply(item)
            wait_on_seats(plane, told)
        gone = [item for key, item in live(client).items() if not key.endswith("/lint-a")]
        told = seats(plane, file, gone)
        client.remove(priority_level("lint-a", shares=200))
        assert "lint-a" not in told
        wait_on_seats(plane, told)


def wait_on_seats(plane: Plane, told: Mapping[str, int]) -> None:
    """Waits until each server has those nominal seats."""
    wait_on_replicas(
        plane,
        f"nominal seats {dict(told)}",
        lambda _, client: {name: metric(client, NOMINAL, priority_level=name) for name in told} == told,
    )


def test_the_starter_is_taken_as_it_is_and_matches_the_account(plane: Plane, tmp_path: Path) -> None:
    text, _ = run_lint(plane, "--starter", RUNNER)
    file = tmp_path / "starter.yaml"
    file.write_text(text)
    config = str(plane.kubeconfig())
    client, groups = plane.client(), ("system:serviceaccounts", "system:serviceaccounts:ci", "system:authenticated")
    said, code = run_lint(plane, str(file), "--live", "--kubeconfig", config, "--fail-on", "warning")
    assert code == 0, said

    with as_they_were(plane):
        made = [create(client, item).expect(201).json() for item in yaml.safe_load_all(text)]
        uids = {item["kind"]: item["metadata"]["uid"] for item in made}
        expected = (uids["FlowSchema"], uids["PriorityLevelConfiguration"])
        mine = Sent("GET", "/api/v1/namespaces/ci/pods", "", RUNNER, groups)
        others = [
            Sent("GET", "/api/v1/pods", "", RUNNER, groups),
            Sent("GET", "/api/v1/namespaces/ci/pods", "", f"{RUNNER}-2", groups),
        ]

        def in_force(replica: int, _: Client) -> bool:
            (told,) = ask_as(plane, [mine], replica)
            return (told.schema, told.level) == expected

        wait_on_replicas(plane, "the starter in force", in_force)
        assert all(one.schema != expected[0] for one in ask_as(plane, others))
