"""Whether the conditions of the query library's alerts hold now, by the window that is at hand."""

from __future__ import annotations

from apftop.findings.scene import Scene
from apftop.records.findings import Alert, Mixin


def alerts(scene: Scene) -> tuple[Alert, ...]:
    """The alerts whose condition holds or cannot be told; those that do not hold are left out."""
    return ()


def mixin(scene: Scene) -> Mixin | None:
    """What KubeAPITerminatedRequests makes of the same window; None without the metrics that it needs."""
    return None
