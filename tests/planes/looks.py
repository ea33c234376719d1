"""Looks at a plane through apftop's own fetching and deriving."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from apftop.cluster import reach
from apftop.derive.frame import frame
from apftop.fetch import LOOK, Form, Manner, Turn, run
from apftop.live import fold
from apftop.parse.body import picker_of_apf
from apftop.parse.vocabulary import asked_names
from apftop.records.frame import Replica
from apftop.records.raw import Endpoint, Sample
from tests.planes.plane import Plane


def look(
    plane: Plane,
    *wants: Endpoint,
    user: str = "admin",
    replica: int = 0,
    form: Form = "auto",
    gzip: bool | None = None,
    named: bool = True,
) -> list[Sample]:
    """One look at one replica: everything, or what is named."""
    accesses = reach([], str(plane.kubeconfig(user, replica))).ways
    manner = Manner(families=asked_names() if named else (), form=form, gzip=gzip, picker=picker_of_apf)
    return run(accesses, [Turn(wants or LOOK)], manner)


def between(first: list[Sample], last: list[Sample]) -> Replica:
    """What happened on one replica between two looks."""
    (replica,) = frame(fold([*first, *last])).replicas.values()
    return replica


def report(plane: Plane, *arguments: str, user: str = "admin", replica: int = 0) -> tuple[dict[str, Any], int, str]:
    """`apftop report --output json` as a process of its own: the document, the exit code, and what it said."""
    config = str(plane.kubeconfig(user, replica))
    command = [sys.executable, "-m", "apftop", "report", "--kubeconfig", config, "--output", "json", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return json.loads(done.stdout), done.returncode, done.stderr
