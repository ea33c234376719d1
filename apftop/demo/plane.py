"""A simulated control plane: the objects of its cluster, and the servers that run by them."""

from __future__ import annotations

from apftop.apf.builtins import builtin_levels, builtin_schemas
from apftop.apf.objects import FlowSchema, PriorityLevelConfiguration
from apftop.demo.build import RELEASE
from apftop.demo.scenario import Scenario
from apftop.demo.server import Server


class ControlPlane:
    """The servers of one scenario, which know nothing of each other: balancing is done by the clients' weights.

    `epoch_ns` is the instant at which the scenario begins, Unix nanoseconds. The same scenario, seed, epoch and
    questions at the same instants give the same answers, byte for byte.
    """

    def __init__(self, scenario: Scenario, seed: int, epoch_ns: int) -> None:
        self.levels: tuple[PriorityLevelConfiguration, ...] = (*builtin_levels().values(), *scenario.levels)
        self.schemas: tuple[FlowSchema, ...] = (*builtin_schemas(RELEASE).values(), *scenario.schemas)
        self.servers = tuple(
            Server(scenario, replica, self.levels, self.schemas, str(seed), epoch_ns)
            for replica in range(scenario.replicas)
        )
        self.ports: tuple[int, ...] = ()
        """Where the servers listen on loopback, once they do."""
