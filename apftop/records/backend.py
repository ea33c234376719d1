"""What lies behind the queues: how long storage, webhooks and admission took, and how requests ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from apftop.records.measures import Window


@dataclass(frozen=True, slots=True)
class Timed:
    """Calls over the window and their mean, beside the mean over the life before the window; seconds.

    None where there were no calls.
    """

    count: float
    mean_s: float | None
    usual_s: float | None


@dataclass(frozen=True, slots=True)
class Backend:
    """One server over a window, by metrics that are read less often than those of APF.

    `requests` are completed requests by HTTP code, those that were refused among them; `terminations` are those that
    the server ended itself, by code. `forbidden` are those answered with 403, and `too_many` those with 429, by verb
    and resource. `etcd` is by operation, `webhooks` by name, `admission` by plugin. Empty where not exposed.
    """

    window: Window
    requests: Mapping[int, float] = field(default_factory=dict)
    terminations: Mapping[int, float] = field(default_factory=dict)
    forbidden: Mapping[str, float] = field(default_factory=dict)
    too_many: Mapping[str, float] = field(default_factory=dict)
    etcd: Mapping[str, Timed] = field(default_factory=dict)
    webhooks: Mapping[str, Timed] = field(default_factory=dict)
    admission: Mapping[str, Timed] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CallbackRule:
    """Which requests make an API server call the service; `*` matches all. Operations as CREATE."""

    operations: tuple[str, ...]
    groups: tuple[str, ...]
    resources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Callback:
    """A service in the cluster that API servers call while they serve a request, which so waits for it.

    `kind` is what calls it: an admission webhook, or the aggregation of an API, whose `rules` have its group. `name` is
    that of the webhook or the APIService, `config` the object that holds it. `timeout_s` is that of a webhook.
    """

    kind: Literal["validating", "mutating", "apiservice"]
    config: str
    name: str
    namespace: str
    service: str
    timeout_s: float | None = None
    fails_closed: bool | None = None
    rules: tuple[CallbackRule, ...] = ()
