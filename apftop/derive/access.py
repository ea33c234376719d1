"""What could not be read of a server, why, and what grants it: one line for each reason."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from apftop.records.raw import CALLBACKS, DUMPS, OBJECTS, Endpoint
from apftop.records.state import Outcome

GRANTS = {
    "the dumps": 'nonResourceURLs: ["/debug/api_priority_and_fairness/*"], verbs: ["get"]',
    "/metrics": 'nonResourceURLs: ["/metrics"], verbs: ["get"]',
    "the APF objects": (
        'apiGroups: ["flowcontrol.apiserver.k8s.io"], '
        'resources: ["flowschemas", "prioritylevelconfigurations"], verbs: ["get", "list", "watch"]'
    ),
    "the webhooks": (
        'apiGroups: ["admissionregistration.k8s.io"], '
        'resources: ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"], verbs: ["get", "list"]'
    ),
    "the APIServices": 'apiGroups: ["apiregistration.k8s.io"], resources: ["apiservices"], verbs: ["get", "list"]',
}
LOST = {
    "the dumps": "no requests, queues or ages",
    "/metrics": "no limits, waits or reasons",
    "the APF objects": "names come from metric labels, without shares, queues or rules",
}
"""Of all but webhooks and APIServices, without which only a few causes are not seen."""


def access_problems(outcomes: Mapping[Endpoint, Outcome]) -> list[str]:
    """One line for each status that is not 200 and each error, naming the endpoints that it struck.

    Objects are asked of one server for all: why it did not give them is of no account where this server is silent too.
    Webhooks and APIServices that may not be read are no problem.
    """
    by_status: dict[int, list[str]] = defaultdict(list)
    by_error: dict[str, list[Endpoint]] = defaultdict(list)
    for endpoint, outcome in outcomes.items():
        if endpoint in CALLBACKS and outcome.status != 200:
            continue
        if outcome.error:
            by_error[outcome.error].append(endpoint)
        elif outcome.status not in (None, 200):
            by_status[outcome.status or 0].append(_group(endpoint))
    own = [error for error, endpoints in by_error.items() if any(endpoint not in OBJECTS for endpoint in endpoints)]
    lines = [line for status, groups in sorted(by_status.items()) for line in _status_lines(status, _unique(groups))]
    return lines + (own or list(by_error))


def _status_lines(status: int, groups: list[str]) -> list[str]:
    where = " and ".join(groups)
    match status:
        case 401:
            return [f"401 on {where}: the credentials are not accepted (an expired token?); log in again"]
        case 403:
            return [f"403 on {group}: {LOST[group]}; grant with a ClusterRole rule {GRANTS[group]}" for group in groups]
        case 404:
            return [f"404 on {where}: APF is switched off here, or this is not an API server with APF"]
        case 429:
            return [f"429 on {where}: this tool's own requests were refused; see its own flow schema"]
        case 503:
            return [f"503 on {where}: the server is starting, stopping or overloaded; try again"]
    return [f"status {status} on {where}: not read; is the URL that of an API server?"]


def _group(endpoint: Endpoint) -> str:
    if endpoint in DUMPS:
        return "the dumps"
    return "the APF objects" if endpoint in OBJECTS else "/metrics"


def _unique(groups: list[str]) -> list[str]:
    """Each once and always in the same order, so that servers that fail alike say the same."""
    return [group for group in LOST if group in groups]
