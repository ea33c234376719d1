"""Objects that a release brings and that are not there."""

from __future__ import annotations

from collections.abc import Iterator

from apftop.apf.builtins import builtin_levels, builtin_schemas
from apftop.apf.objects import MANDATORY
from apftop.lint.policy import Policy
from apftop.records.linting import Fault, Gravity

HURTS = {
    "probes": "liveness probes of API servers and load balancers are queued and refused like any request, and servers "
    "that are refused are restarted",
    "system-leader-election": "leases of the control plane's leaders share a level with everything else",
    "system-node-high": "leases and status of nodes share a level with everything else of the nodes",
    "system-nodes": "nodes share a level with all who are authenticated",
}
"""What comes of a suggested schema that is missing."""


def missing(policy: Policy) -> Iterator[Fault]:
    """What is missing among the objects, where these are all that there is; servers make it again within a minute."""
    if not policy.whole:
        return
    for name, schema in builtin_schemas(policy.target).items():
        if name in policy.after.schemas or name in MANDATORY:
            continue
        # Without `probes`, probes are matched by whatever takes anonymous requests.
        refused = policy.refused_per_s.get("global-default" if name == "probes" else schema.priority_level, 0.0)
        now = f"; its requests go elsewhere, where {refused:.3g} a second are refused now" if refused else ""
        text = f"the built-in schema {name} is missing: {HURTS.get(name, 'its requests are matched by others')}{now}"
        gravity: Gravity = "error" if name in HURTS else "warning"
        yield Fault(f"missing-{name}", gravity, text, "servers make it again within a minute: see who deletes it")
    for name in builtin_levels():
        if name not in policy.after.levels and name not in MANDATORY:
            text = f"the built-in level {name} is missing, and schemas that lead to it are ignored"
            yield Fault(f"missing-{name}", "error", text, "servers make it again within a minute: see who deletes it")
