"""Scenarios: who asks a simulated cluster for what, how often, and what its cluster is made of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import msgspec

from apftop.apf.estimate import Stored
from apftop.apf.objects import FlowSchema, PriorityLevelConfiguration
from apftop.errors import Trouble

METHODS = {"create": "POST", "update": "PUT", "patch": "PATCH", "delete": "DELETE"}
"""The HTTP methods of the verbs that change something; all others are GETs."""


@dataclass(frozen=True, slots=True)
class Call:
    """One kind of request of a client.

    `resource` may have a subresource (`pods/status`) and belongs to `api`, a group/version or `v1`; without one, `path`
    is asked for. One of the `namespaces` and of the `names` is drawn each time; without any it is all of them, and in a
    name `{}` is replaced by anything and `{me}` by the user. The handler takes `service_ms` in the middle, in two of
    three cases more or less by the factor e**`spread` at most. `query` is sent along; `watchers` is how many are told
    of a change. `share` is how often this call is made compared with the others of its client.
    """

    verb: str
    service_ms: float
    resource: str = ""
    api: str = "v1"
    path: str = ""
    namespaces: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    share: float = 1.0
    spread: float = 0.5
    query: str = ""
    watchers: int = 0

    @property
    def asks(self) -> str:
        """The query string, with the option that makes a LIST a watch."""
        return f"watch=true&{self.query}".rstrip("&") if self.verb == "watch" else self.query

    @property
    def told(self) -> int | None:
        """How many watchers the server counts; None for a request that it counts none for."""
        counted = self.verb in METHODS and self.resource != "serviceaccounts/token"
        return self.watchers if counted else None


@dataclass(frozen=True, slots=True)
class Client:
    """Users that do the same; `groups` are those that do not follow from their names.

    `rates` are requests a second, over all replicas, at seconds of the cycle: straight lines between them, the last
    one holds to the end. `weights` are the shares of the replicas. Of at least as many users as replicas each keeps to
    one. `timeout_s` is the request's own deadline, and each refused request is sent again up to `retries` times.
    """

    users: tuple[str, ...]
    rates: tuple[tuple[float, float], ...]
    calls: tuple[Call, ...]
    groups: tuple[str, ...] = ()
    weights: tuple[float, ...] = (1.0, 1.0, 1.0)
    timeout_s: float = 60.0
    retries: int = 0


@dataclass(frozen=True, slots=True)
class Reader:
    """Whom apftop's own requests are taken for."""

    user: str
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scenario:
    """A cluster and its clients; after `cycle_s` seconds everything begins anew.

    `most_read` and `most_mutating` are the server's --max-requests-inflight and --max-mutating-requests-inflight.
    `levels` and `schemas` are those that are not built in; `stored` is what the servers know of stored objects, by
    `resource` or `resource.group`: a LIST of one namespace costs as much as one of all.
    """

    about: str
    cycle_s: float
    most_read: int
    most_mutating: int
    days_up: tuple[float, ...]
    reader: Reader
    stored: dict[str, Stored]
    levels: tuple[PriorityLevelConfiguration, ...]
    schemas: tuple[FlowSchema, ...]
    clients: tuple[Client, ...]

    @property
    def replicas(self) -> int:
        return len(self.days_up)


def names() -> tuple[str, ...]:
    """The scenarios that there are."""
    folder = files("apftop.demo").joinpath("scenarios")
    return tuple(sorted(file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml")))


@cache
def load(name: str) -> Scenario:
    """The scenario of this name. Raises Trouble where there is none."""
    if name not in names():
        raise Trouble(f"no scenario {name!r}", "apftop demo", f"there are: {', '.join(names())}")
    text = files("apftop.demo").joinpath("scenarios", f"{name}.toml").read_bytes()
    return msgspec.toml.decode(text, type=Scenario)
