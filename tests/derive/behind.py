"""Small metrics answers that tell what lies behind the queues."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tests.derive.build import series

ETCD = "etcd_request_duration_seconds"
WEBHOOK = "apiserver_admission_webhook_admission_duration_seconds"
PLUGIN = "apiserver_admission_controller_admission_duration_seconds"
START = 1000.0


def requests(count: float, code: int = 200, verb: str = "GET", resource: str = "pods", below: str = "") -> str:
    """One series of apiserver_request_total."""
    return series("apiserver_request_total", count, verb=verb, resource=resource, subresource=below, code=str(code))


def terminated(count: float, code: int = 429, path: str = "/livez") -> str:
    return series("apiserver_request_terminations_total", count, verb="GET", subresource=path, code=str(code))


def spent(family: str, count: int, seconds: float, **labels: str) -> list[str]:
    """A histogram of so many calls that took so many seconds together."""
    inside = ",".join(f'{key}="{text}"' for key, text in labels.items())
    return [
        f'{family}_bucket{{{inside},le="+Inf"}} {count}',
        f"{family}_sum{{{inside}}} {seconds}",
        f"{family}_count{{{inside}}} {count}",
    ]


def etcd(calls: Mapping[str, tuple[int, float]], label: str = "type", kind: str = "/registry/pods") -> list[str]:
    """Calls of storage: counts and seconds by operation, for one kind of object."""
    return [
        line for name, (count, s) in calls.items() for line in spent(ETCD, count, s, operation=name, **{label: kind})
    ]


def answer(*lines: str | Iterable[str], start: float | None = START) -> bytes:
    """An answer to the question for these families."""
    flat = [one for line in lines for one in ([line] if isinstance(line, str) else line)]
    head = [f"process_start_time_seconds {start}"] if start is not None else []
    return ("\n".join([*head, *flat]) + "\n").encode()
