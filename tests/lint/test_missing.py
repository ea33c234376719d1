"""Built-in objects that are missing, where all objects of a cluster are known."""

from __future__ import annotations

import pytest

from apftop.apf.builtins import builtin_levels, builtin_schemas
from apftop.apf.objects import MANDATORY
from apftop.apf.release import Release
from apftop.lint.all import linted
from tests.lint.policies import cluster, codes, found, level, schema

SCHEMAS = sorted(builtin_schemas(Release(1, 26)).keys() - MANDATORY)
LEVELS = sorted(builtin_levels().keys() - MANDATORY)
HURT = {"probes", "system-leader-election", "system-node-high", "system-nodes"}
OLD = {"endpoint-controller", "workload-leader-election"}


def gravity(name: str) -> str:
    return "error" if name in HURT else "note" if name in OLD else "warning"


@pytest.mark.fires(
    "missing-probes",
    "missing-system-leader-election",
    "missing-endpoint-controller",
    "missing-workload-leader-election",
    "missing-system-node-high",
    "missing-system-nodes",
    "missing-kube-controller-manager",
    "missing-kube-scheduler",
    "missing-kube-system-service-accounts",
    "missing-service-accounts",
    "missing-global-default",
)
@pytest.mark.parametrize("name", SCHEMAS)
def test_a_builtin_schema_that_is_missing_is_told(name: str) -> None:
    (fault,) = found(cluster(target="1.30", without={f"FlowSchema/{name}"}), f"missing-{name}")

    assert fault.text.startswith(f"the built-in schema {name} is missing")
    assert fault.gravity == gravity(name)


@pytest.mark.fires(
    "missing-system",
    "missing-node-high",
    "missing-leader-election",
    "missing-workload-high",
    "missing-workload-low",
    "missing-global-default",
)
@pytest.mark.parametrize("name", LEVELS)
def test_a_builtin_level_that_is_missing_is_an_error(name: str) -> None:
    (fault,) = found(cluster(without={f"PriorityLevelConfiguration/{name}"}), f"missing-{name}")

    assert fault.gravity == "error"
    assert fault.text == f"the built-in level {name} is missing, and schemas that lead to it are ignored"


@pytest.mark.spares(
    "missing-probes",
    "missing-system-leader-election",
    "missing-endpoint-controller",
    "missing-workload-leader-election",
    "missing-system-node-high",
    "missing-system-nodes",
    "missing-kube-controller-manager",
    "missing-kube-scheduler",
    "missing-kube-system-service-accounts",
    "missing-service-accounts",
    "missing-global-default",
    "missing-system",
    "missing-node-high",
    "missing-leader-election",
    "missing-workload-high",
    "missing-workload-low",
    "mandatory-missing",
)
@pytest.mark.parametrize("target", [f"1.{minor}" for minor in range(26, 38)])
def test_nothing_is_missing_among_the_objects_of_any_release(target: str) -> None:
    assert not [fault for fault in linted(cluster(target=target)).faults if "missing" in fault.code]


@pytest.mark.spares("missing-endpoint-controller", "missing-workload-leader-election")
def test_what_1_34_no_longer_brings_is_not_missing_there() -> None:
    without = {f"FlowSchema/{name}" for name in OLD}

    assert not [fault for fault in linted(cluster(without=without)).faults if "missing" in fault.code]


@pytest.mark.spares("missing-probes", "mandatory-missing")
def test_nothing_is_missing_among_some_objects() -> None:
    assert not [code for code in codes(schema("mine") + level("batch")) if "missing" in code]


@pytest.mark.spares("missing-probes")
def test_an_object_that_is_broken_is_there() -> None:
    assert not found(cluster(schema("probes", rules="all")), "missing-probes")


@pytest.mark.fires("missing-probes")
def test_refusals_are_told_of_the_level_to_which_probes_go() -> None:
    refused = {"global-default": 31.5, "exempt": 7.0, "system": 2.0}

    (fault,) = found(cluster(without={"FlowSchema/probes"}, refused=refused), "missing-probes")

    assert fault.text.endswith("where they go now, requests are refused: 31.5 a second in global-default")


@pytest.mark.fires("missing-system-node-high")
def test_refusals_are_told_of_the_level_of_the_schema_that_matches_next() -> None:
    refused = {"node-high": 5.0, "system": 2.0, "global-default": 3.0}

    (fault,) = found(cluster(without={"FlowSchema/system-node-high"}, refused=refused), "missing-system-node-high")

    assert fault.text.endswith("requests are refused: 2 a second in system")


@pytest.mark.fires("mandatory-missing")
@pytest.mark.parametrize("kind", ["FlowSchema", "PriorityLevelConfiguration"])
@pytest.mark.parametrize("name", sorted(MANDATORY))
def test_servers_go_on_without_a_mandatory_object(kind: str, name: str) -> None:
    made = cluster(without={f"{kind}/{name}"})

    (fault,) = found(made, "mandatory-missing")

    assert fault.gravity == "warning"
    assert fault.text.endswith(f"{name} is missing: servers go on with one of their own, and make it again")
    assert linted(made).nominal_after["catch-all"] == 13


@pytest.mark.spares("mandatory-missing", "missing-workload-low")
def test_levels_are_not_missing_where_only_schemas_were_read() -> None:
    levels = {f"PriorityLevelConfiguration/{name}" for name in builtin_levels()}

    made = linted(cluster(without=levels))

    assert not [fault for fault in made.faults if "missing" in fault.code or fault.code == "dangling-schema"]
