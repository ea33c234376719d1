"""The names under which a store has what apftop reads, and those of labels that scraping adds."""

from __future__ import annotations

from functools import cache

from apftop.parse.vocabulary import asked_at_once, vocabulary

SUFFIXES = ("_bucket", "_sum", "_count")
JOBS = ("apiserver", "kube-apiserver", "kubernetes-apiservers", "kubernetes-apiserver", "kube-apiservers")
"""Names that the job of API servers has in common setups, best first."""

CLUSTERS = (
    "cluster",
    "cluster_id",
    "cluster_name",
    "clusterName",
    "k8s_cluster",
    "k8s_cluster_name",
    "kubernetes_cluster",
)
"""Labels that tell clusters apart where one store has several."""

TWINS = ("prometheus_replica", "__replica__", "replica", "receive_replica", "prometheus", "tenant_id")
"""Labels that tell apart who scraped, where several scrape the same."""

ANCHORS = (
    "process_start_time_seconds",
    "apiserver_flowcontrol_nominal_limit_seats",
    "apiserver_flowcontrol_request_concurrency_limit",
    "apiserver_flowcontrol_current_limit_seats",
    "apiserver_flowcontrol_demand_seats_average",
)
"""Series that each scrape of an API server has: their times are those of the scrapes, their labels name the server."""

OWN = ("__name__", "priority_level")
"""The labels of these that the servers gave themselves."""

PROBED = "|".join(ANCHORS[1:])


@cache
def families() -> frozenset[str]:
    """The families that apftop reads."""
    return frozenset(asked_at_once())


@cache
def behind() -> frozenset[str]:
    """Those of them that tell what lies behind the queues: of their histograms only sums and counts are read."""
    return frozenset(vocabulary().behind.names)


@cache
def groups() -> tuple[str, ...]:
    """Patterns of names that together are all that is asked for, each small enough for one question a server."""
    front = "|".join(sorted(families() - behind()))
    waits = "|".join(sorted(name for name in families() - behind() if name.startswith(vocabulary().prefix)))
    return front, f"({waits})({'|'.join(SUFFIXES)})", f"({'|'.join(sorted(behind()))})(_sum|_count)?"


def parted(name: str) -> tuple[str, str] | None:
    """A name as family and suffix, which is empty for a plain series; None for what is not read."""
    if name in families():
        return name, ""
    for suffix in SUFFIXES:
        stem = name.removesuffix(suffix)
        if stem != name and stem in families():
            return stem, suffix
    return None


def quoted(text: str) -> str:
    """Text as a string of PromQL."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
