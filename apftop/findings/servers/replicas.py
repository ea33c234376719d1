"""Replicas that differ: in load, in configuration, in version, in their clocks; those that nobody sees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from apftop.apf.builtins import builtin_levels
from apftop.apf.release import holds, parse_release
from apftop.check.in_force import written_s
from apftop.findings.changes.grants import OBJECTS_RULES, granted
from apftop.findings.scene import Finder, Place, Scene, by_level, servers
from apftop.findings.servers.uneven import fresh, hot_replica, slow_replica
from apftop.findings.words.listing import few
from apftop.findings.words.told import listed, most
from apftop.present import plain, seconds, whole
from apftop.records.findings import Finding
from apftop.records.frame import Clock, Replica
from apftop.records.logs import Denied
from apftop.records.raw import Endpoint
from apftop.rules import rules


def hidden_replicas(scene: Scene) -> Iterator[Finding]:
    """More servers renew their leases than are known here: what happens on the others is in no number."""
    hidden, alive = scene.frame.servers_hidden, scene.frame.servers_alive
    # At first only some of those that are asked have answered.
    if not hidden or alive is None or not any(one.window for one in scene.frame.servers):
        return
    known = [one.name for one in scene.frame.servers]
    yield Finding(
        code="hidden-replicas",
        severity="info",
        subject="cluster",
        title=f"{hidden} of {alive} API servers {'is' if hidden == 1 else 'are'} hidden: "
        f"the URL leads to {len(known)} of them",
        replicas=tuple(known),
        evidence=(
            f"{alive} leases of API servers in kube-system are renewed",
            f"seen here: {listed(known)}",
            "queues, seats and refusals are each server's own: nothing here tells of the others",
        ),
        advice=(
            "name each server: apftop --server https://ADDRESS:6443, once for each of them",
            "the addresses: kubectl get endpointslices -n default -l kubernetes.io/service-name=kubernetes -o wide",
            "a user who may read these EndpointSlices need not name them: apftop finds the servers by itself",
        ),
        facts={"alive": alive, "seen": len(known), "hidden": hidden},
    )


def config_skew(scene: Scene) -> Iterator[Finding]:
    """Servers that give a level other nominal seats, or lack one that others run."""
    told = [
        one for one in servers(scene) if Endpoint.METRICS in one.samples and one.nominal_sum is not None and fresh(one)
    ]
    if len(told) < 2 or _written_lately(told):
        return
    seats = {one.name: one.server_concurrency for one in told if one.server_concurrency is not None}
    doubtful = {name for one in told for name in _perhaps_gone(one)} - builtin_levels().keys()
    found = {
        name: nominal
        for name, group in by_level(scene).items()
        if name not in doubtful and (nominal := _nominal(group))
    }
    differing = {name: by for name, by in found.items() if len(set(by.values())) > 1}
    lacking = {name: lack for name in found if (lack := [one.name for one in told if not _runs(one, name)])}
    flags = len(set(seats.values())) > 1
    # A server has as many seats as its flags say; what levels get of them may have changed between two readings.
    if not flags and (_read_apart(told) or not (differing or lacking)):
        return
    without = sorted({one for by in lacking.values() for one in by})
    what = [f"{len(differing)} levels have other seats"] if differing else []
    what += [f"{len(lacking)} levels are missing on {listed(without)}"] if lacking else []
    lines = [f"seats of each server: {most(seats)}"] if flags else []
    lines += [f"{plain(name)}: nominal seats {most(by)}" for name, by in sorted(differing.items())[:5]]
    lines += [f"{plain(name)}: not on {listed(by)}" for name, by in sorted(lacking.items())[:5]]
    yield Finding(
        code="config-skew",
        severity="warning",
        subject="cluster",
        title=f"API servers disagree: {' and '.join(what) or 'they have other numbers of seats'}",
        replicas=tuple(one.name for one in told),
        evidence=tuple(lines),
        advice=(
            "give all API servers the same --max-requests-inflight and --max-mutating-requests-inflight"
            if flags
            else "look at the log of the server that differs for errors about priority levels or flow schemas",
            "while a roll-out of new flags runs this is to be expected, and over when it is",
        ),
        facts={"seats": seats, "nominal": differing, "lacking": lacking},
    )


def _measured(one: Replica) -> bool:
    return Endpoint.METRICS in one.samples and fresh(one)


def _perhaps_gone(one: Replica) -> Sequence[str]:
    """Levels that gauges alone show: these live on until a server restarts, and one that restarted since lacks them."""
    if one.window is None and Endpoint.LEVELS not in one.samples:
        return [name for name, level in one.levels.items() if level.config is None]
    return one.possibly_stale_levels


def _runs(one: Replica, level: str) -> bool:
    return level in one.levels and one.levels[level].state != "stale"


def _written_lately(told: Sequence[Replica]) -> bool:
    """Whether a level was written after, or just before, the oldest metrics were read: servers are then in between.

    Both by the servers' clocks, as far as it is known how far they are from this machine's.
    """
    times = [(one.samples[Endpoint.METRICS].time, one.clock.skew_s or 0.0) for one in told]
    oldest = min((time - ahead for time, ahead in times if time is not None), default=None)
    configs = [level.config for one in told for level in one.levels.values() if level.config is not None]
    written = max((time for one in configs if (time := written_s(one)) is not None), default=None)
    if oldest is None or written is None:
        return False
    return written > oldest - rules().check.objects.settled_s


def _read_apart(told: Sequence[Replica]) -> bool:
    """Whether a change could lie between the metrics of these servers, and no objects are there to tell of it."""
    if any(level.config is not None for one in told for level in one.levels.values()):
        return False
    times = [time for one in told if (time := one.samples[Endpoint.METRICS].time) is not None]
    return bool(times) and max(times) - min(times) > rules().check.objects.settled_s


def _nominal(group: Sequence[Place]) -> dict[str, float]:
    """The nominal seats of a level by server; none of a level that is on its way out, nor of the exempt one."""
    if any(place.level.exempt or place.level.quiescing or _without_object(place) for place in group):
        return {}
    return {
        place.replica.name: place.level.nominal
        for place in group
        if place.level.nominal is not None and fresh(place.replica)
    }


def _without_object(place: Place) -> bool:
    known = any(level.config is not None for level in place.replica.levels.values())
    return known and place.level.config is None


def mixed_versions(scene: Scene) -> Iterator[Finding]:
    """Servers of several releases, and what is other between these."""
    found: dict[str, list[Replica]] = {}
    for one in servers(scene):
        release = parse_release(one.version or "")
        if release is not None:
            found.setdefault(str(release), []).append(one)
    if len(found) < 2:
        return
    versions = sorted(found, key=lambda text: parse_release(text) or (0, 0, 0))
    releases = [release for text in versions if (release := parse_release(text)) is not None]
    changes = [
        one.text
        for one in rules().findings.replicas.changes
        if len({holds(release, one.holds) for release in releases}) > 1
    ]
    yield Finding(
        code="mixed-versions",
        severity="info",
        subject="cluster",
        title=f"API servers run {len(found)} releases: {listed(versions)}",
        replicas=tuple(one.name for one in servers(scene)),
        evidence=(
            *(f"{version}: {listed([one.name for one in found[version]])}" for version in versions),
            *changes,
        ),
        advice=(
            "compare a server with itself over time, not with one of another release",
            "finish the roll-out, and look again",
        ),
        facts={"versions": {version: [one.name for one in found[version]] for version in versions}, "changes": changes},
    )


@dataclass(frozen=True, slots=True)
class _Skew:
    """How far this machine's clock is ahead of a server's, and how far that is believed; seconds."""

    replica: str
    ahead_s: float
    within_s: float
    cut_off: bool


def clock_skew(scene: Scene) -> Iterator[Finding]:
    """Clocks that are seconds apart: this machine's and a server's, or those of two servers."""
    terms = rules().findings.replicas
    known = [one for server in scene.frame.servers if (one := _skew(server.name, server.clock)) is not None]
    here = [one for one in known if abs(one.ahead_s) - one.within_s >= terms.clock_here_s]
    low, high = min(known, key=_ahead, default=None), max(known, key=_ahead, default=None)
    apart_s = high.ahead_s - low.ahead_s if low and high else 0.0
    sure_s = apart_s - _within(low, high) if low and high else 0.0
    if not here and sure_s < terms.clocks_apart_s:
        return
    known.sort(key=lambda one: -abs(one.ahead_s))
    differ = sure_s >= terms.clocks_apart_s and low is not None and high is not None
    between = f"clocks of API servers differ by {seconds(apart_s)}" if differ else ""
    mine = f"this machine's clock is off by {_from_to(here)}" if here else ""
    yield Finding(
        code="clock-skew",
        severity="warning" if differ and sure_s >= terms.clocks_warning_s else "info",
        subject="cluster",
        title=" and ".join(filter(None, (between, mine))),
        replicas=tuple(one.replica for one in known),
        evidence=few([_told(one) for one in known]),
        advice=(
            "set the clocks by NTP: see chronyc tracking or timedatectl on the machine that is off",
            "ages and waits here are by each server's own clock and hold; times of logs of two machines do not compare",
        ),
        facts={
            "ahead_s": {one.replica: one.ahead_s for one in known},
            "within_s": {one.replica: one.within_s for one in known},
            "servers_differ_s": apart_s if differ else None,
        },
    )


def _skew(replica: str, clock: Clock) -> _Skew | None:
    if clock.skew_s is None or clock.tolerance_s is None:
        return None
    # `Date` is cut off to whole seconds; nothing else is known to just a second.
    return _Skew(replica, clock.skew_s, clock.tolerance_s, clock.tolerance_s == rules().clock.date_tolerance_s)


def _ahead(one: _Skew) -> float:
    return one.ahead_s


def _within(low: _Skew, high: _Skew) -> float:
    """How far the difference of two is believed: what is cut off of both is off by less than one of them."""
    return max(low.within_s, high.within_s) if low.cut_off and high.cut_off else low.within_s + high.within_s


def _from_to(skews: Sequence[_Skew]) -> str:
    sizes = sorted(abs(one.ahead_s) for one in skews)
    if len(sizes) == 1 or seconds(sizes[0]) == seconds(sizes[-1]):
        return seconds(sizes[-1])
    return f"{seconds(sizes[0])} to {seconds(sizes[-1])}"


def _told(one: _Skew) -> str:
    side = "ahead of" if one.ahead_s > 0 else "behind"
    within = f", give or take {seconds(one.within_s)}" if one.within_s else ""
    return f"this machine is {seconds(abs(one.ahead_s))} {side} {plain(one.replica)}{within}"


def extension_server(scene: Scene) -> Iterator[Finding]:
    """A target that runs the two mandatory levels and nothing else: no kube-apiserver, but one of an aggregated API."""
    for one in scene.frame.replicas.values():
        if one.kind == "extension":
            yield _extension(one, _denied_to(scene, one.name))


def _denied_to(scene: Scene, server: str) -> list[Denied]:
    """Lines of its log; those that name no server are its own where it is the only one of its kind."""
    others = sum(one.kind == "extension" for one in scene.frame.replicas.values()) > 1
    return [one for one in scene.logs.denied if one.server == server or (not one.server and not others)]


def _extension(one: Replica, denied: Sequence[Denied]) -> Finding:
    level = one.levels.get("catch-all")
    users = sorted({line.user for line in denied})
    grant = granted("apf-objects-reader", users[0], OBJECTS_RULES) if users else None
    return Finding(
        code="extension-server",
        severity="info",
        subject=plain(one.name),
        title=f"{plain(one.name)} is not a kube-apiserver: mandatory levels only, so it is left out of all totals",
        replicas=(one.name,),
        evidence=(
            "it runs catch-all and exempt and no other level, as a server does that cannot read the APF objects",
            *((f"catch-all has {whole(level.nominal)} seats there, and no queue",) if level and level.nominal else ()),
            *(
                f"its log, {line.lines} times: {plain(line.user)} may not list {plain(line.resource)}"
                for line in denied[:4]
            ),
        ),
        advice=(
            "harmless for the kube-apiservers: its seats and counters are its own",
            "let its service account list and watch the APF objects, or switch APF off in it"
            " (--enable-priority-and-fairness=false) if the kube-apiservers guard it well enough",
        ),
        change=grant,
        facts={"levels": sorted(one.levels), "denied": {line.resource: line.user for line in denied}},
    )


FINDERS: tuple[Finder, ...] = (
    hot_replica,
    slow_replica,
    hidden_replicas,
    config_skew,
    mixed_versions,
    clock_skew,
    extension_server,
)
