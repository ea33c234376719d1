"""The requests of a scenario's clients, as they come to one replica."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from random import Random

from apftop.apf.attributes import Attributes, attributes
from apftop.apf.identity import groups_by_name
from apftop.demo.scenario import METHODS, Call, Client, Scenario

NANOSECONDS = 1_000_000_000
SUFFIXES = 48
"""How many names a client makes of one pattern: pods and builds are asked for more than once."""

_SUFFIX = "bcdfghjklmnpqrstvwxz2456789"


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as its client sends it."""

    attributes: Attributes
    query: str
    watchers: int | None
    service_ns: int
    timeout_s: float
    retries: int


class Stream:
    """What one client sends to one replica: at random times by its rates, drawn from a generator of its own.

    `epoch_ns` is when the scenario begins.
    """

    def __init__(self, scenario: Scenario, client: Client, replica: int, seed: str, epoch_ns: int) -> None:
        users = client.users[replica :: scenario.replicas] if len(client.users) >= scenario.replicas else client.users
        self._client = client
        self._random = Random(seed)  # noqa: S311  a simulation, not a secret
        self._epoch_ns = epoch_ns
        self._cycle_s = scenario.cycle_s
        self._weight = client.weights[replica] / sum(client.weights)
        self._seconds = [second for second, _ in client.rates]
        self._greatest = max(rate for _, rate in client.rates) * self._weight
        self._users = [(user, (*client.groups, *groups_by_name(user))) for user in users]
        self._shares = [call.share for call in client.calls]
        self._suffixes = ["".join(self._random.choices(_SUFFIX, k=5)) for _ in range(SUFFIXES)]

    @property
    def silent(self) -> bool:
        """Whether nothing ever comes."""
        return not self._greatest

    def next_ns(self, now: int) -> int:
        """When the next request comes, after now."""
        # Candidates come at the greatest rate, and each is taken with the share that the rate has then.
        random, greatest = self._random, self._greatest
        while True:
            now += int(random.expovariate(greatest) * NANOSECONDS) + 1
            if random.random() * greatest <= self._rate(now):
                return now

    def ask(self) -> Asked:
        """The request that comes."""
        random, client = self._random, self._client
        user, groups = random.choice(self._users)
        (call,) = random.choices(client.calls, self._shares)
        service_ns = int(random.lognormvariate(math.log(call.service_ms), call.spread) * 1_000_000)
        sent = attributes(METHODS.get(call.verb, "GET"), self._path(call, user), call.asks, user, groups)
        return Asked(sent, call.asks, call.told, service_ns, client.timeout_s, client.retries)

    def _path(self, call: Call, user: str) -> str:
        """The path of one call as it is made this time."""
        if not call.resource:
            return call.path
        random = self._random
        resource, _, subresource = call.resource.partition("/")
        namespace = random.choice(call.namespaces) if call.namespaces else ""
        name = random.choice(call.names) if call.names else ""
        name = name.replace("{me}", user.rpartition(":")[2])
        if "{}" in name:
            name = name.replace("{}", random.choice(self._suffixes))
        root = f"/apis/{call.api}" if "/" in call.api else f"/api/{call.api}"
        inside = f"/namespaces/{namespace}" if namespace else ""
        return "/".join(part for part in (f"{root}{inside}/{resource}", name, subresource) if part)

    def _rate(self, now: int) -> float:
        second = (now - self._epoch_ns) / NANOSECONDS % self._cycle_s
        rates = self._client.rates
        after = bisect_right(self._seconds, second)
        before_s, before = rates[max(0, after - 1)]
        if after == 0 or after == len(rates):
            return before * self._weight
        after_s, next_rate = rates[after]
        return (before + (next_rate - before) * (second - before_s) / (after_s - before_s)) * self._weight
