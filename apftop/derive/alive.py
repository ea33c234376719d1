"""How many API servers there are, by the leases that they renew; also where a balancer hides them."""

from __future__ import annotations

from apftop.records.state import State
from apftop.rules import rules


def servers_alive(state: State) -> int | None:
    """The kube-apiservers that renewed their lease lately, by the newest answer of any replica; None without one.

    Each renews a lease in kube-system every 10 s, named `apiserver-HASH`, in 1.26 `kube-apiserver-UUID`. Renewals are
    stamped by the servers' clocks, and compared with the `Date` of the answer; without it, with this machine's clock.
    """
    reads = [one.leases for one in state.replicas.values() if one.leases is not None and one.leases.time is not None]
    if not reads:
        return None
    read = max(reads, key=lambda one: one.time or 0.0)
    now = read.received if read.server_date is None else read.server_date
    limits = rules().alive
    return sum(
        lease.name.startswith(limits.lease_prefixes)
        and lease.renewed is not None
        and now is not None
        and now - lease.renewed <= limits.renewed_within_s
        for lease in read.data
    )
