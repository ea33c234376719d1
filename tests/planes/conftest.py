"""The fixture of real control planes, which are off unless asked for."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from tests.planes.build import APISERVER_VERSIONS, BUILD_SECONDS, ETCD_VERSION, GoMissingError, cached, go_command
from tests.planes.plane import Plane, start_plane
from tests.prometheus import build

SWITCH = "APFTOP_REALPLANE"
OFF = f"real control planes are off: set {SWITCH}=1 (needs Go)"
OTHER_PROMETHEUS = "APFTOP_PROMETHEUS"
"""The path of a Prometheus to take in place of one that is built."""
BUILT = ("plane", "prometheus", "promtool")
START_SECONDS = 300


def _built(version: str) -> bool:
    return bool(cached("etcd", ETCD_VERSION) and cached("kube-apiserver", version))


def _why_not(version: str) -> str | None:
    if os.environ.get(SWITCH) != "1":
        return OFF
    if not _built(version) and go_command() is None:
        return "Go is not installed"
    return None


@pytest.fixture(scope="session", params=APISERVER_VERSIONS)
def plane(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    """Three replicas of one version; pytest ends them before it starts those of the next version."""
    version: str = request.param
    if reason := _why_not(version):
        pytest.skip(reason)
    with start_plane(version, folder=tmp_path_factory.mktemp(f"plane-{version}")) as running:
        yield running


@pytest.fixture(scope="session")
def prometheus() -> Path:
    """A Prometheus."""
    other = os.environ.get(OTHER_PROMETHEUS)
    return _tool("prometheus") if other is None else Path(other)


@pytest.fixture(scope="session")
def promtool() -> Path:
    """What checks metrics and makes blocks of them for a Prometheus."""
    return _tool("promtool")


def _tool(name: build.Name) -> Path:
    if os.environ.get(SWITCH) != "1":
        pytest.skip(OFF)
    try:
        return build.binary(name)
    except GoMissingError:
        pytest.skip("Go is not installed")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests that use what has to be built, and gives them the time of a build where one is needed."""
    for item in items:
        if not isinstance(item, pytest.Function) or not set(BUILT) & set(item.fixturenames):
            continue
        item.add_marker(pytest.mark.realplane)
        # One worker has all of them, so that one plane runs at a time.
        item.add_marker(pytest.mark.xdist_group("planes"))
        version = item.callspec.params.get("plane") if hasattr(item, "callspec") else None
        if isinstance(version, str) and _why_not(version) is None and not _built(version):
            item.add_marker(pytest.mark.timeout(2 * BUILD_SECONDS + START_SECONDS))
        elif "plane" not in item.fixturenames:
            item.add_marker(pytest.mark.timeout(BUILD_SECONDS))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Adds the end of every server's log to the report of a test that failed."""
    report = yield
    plane = getattr(item, "funcargs", {}).get("plane")
    if report.failed and isinstance(plane, Plane):
        for process in plane.processes:
            report.sections.append((f"log of {process.name}", process.log_tail()))
    return report
