"""The built-in objects, against those that the upstream library was given and against each other."""

from __future__ import annotations

import pytest

from apftop.apf.builtins import builtin_levels, builtin_schemas, mandatory_level, mandatory_schema
from apftop.apf.objects import FlowSchema, PriorityLevelConfiguration
from apftop.apf.release import Release
from tests.apf.objects_of import levels_of, schemas_of
from tests.apf.vectors import vectors

REMOVED = {"endpoint-controller", "workload-leader-election"}


def test_schemas_are_in_matching_order_and_name_levels_that_exist() -> None:
    for minor in range(26, 38):
        schemas = builtin_schemas(Release(1, minor))

        assert list(schemas.values()) == sorted(schemas.values(), key=lambda one: (one.precedence, one.name))
        assert {one.priority_level for one in schemas.values()} <= builtin_levels().keys()
        assert (schemas.keys() >= REMOVED) == (minor < 34)
        assert len(schemas) == (13 if minor < 34 else 11)


def test_mandatory_objects_are_among_them() -> None:
    for name in ("exempt", "catch-all"):
        assert mandatory_schema(name) == builtin_schemas(Release(1, 37))[name]
        assert mandatory_level(name) == builtin_levels()[name]
    with pytest.raises(KeyError):
        mandatory_level("system")


def schema_spec(schema: FlowSchema) -> tuple[object, ...]:
    return schema.name, schema.priority_level, schema.precedence, schema.distinguisher, schema.rules


def level_spec(level: PriorityLevelConfiguration) -> tuple[object, ...]:
    return (
        level.name,
        level.exempt,
        level.shares,
        level.lendable_percent,
        level.borrowing_limit_percent,
        level.queuing,
    )


def test_they_are_what_the_library_has() -> None:
    """A configuration whose schemas bear built-in names only is the library's own list."""
    lists = {13: builtin_schemas(Release(1, 30, 4)), 11: builtin_schemas(Release(1, 37, 2))}
    checked = 0
    for vector in vectors("classify"):
        scenario = vector["scenario"]
        wanted = lists.get(len(scenario["flow_schemas"]))
        if wanted is None or {one["metadata"]["name"] for one in scenario["flow_schemas"]} != wanted.keys():
            continue
        checked += 1
        assert {schema_spec(one) for one in schemas_of(scenario["flow_schemas"])} == {
            schema_spec(one) for one in wanted.values()
        }
        assert {level_spec(one) for one in levels_of(scenario["priority_levels"])} == {
            level_spec(one) for one in builtin_levels().values()
        }
    assert checked >= 2
