"""A bundle redacted from a real plane says the same as the plain one of the same moment, and names nobody."""

from __future__ import annotations

import hashlib
import json
import re
import ssl
import time
from pathlib import Path

import pytest

from apftop.report.looking import first_look, servers
from tests.planes import load
from tests.planes.flow import apply_flow, flow_schema, priority_level, remove_flow
from tests.planes.objects import create_namespace, delete_namespace
from tests.planes.plane import Plane
from tests.planes.test_collect_live import options
from tests.planes.users import GROUPS
from tests.redacting.telling import Mapped, files, found_in, redacted, report, run, told_back, values
from tests.redacting.test_reports import words
from tests.tape.taping import record

NAMESPACE = "acme-payments"
FORMAT_WORDS = {"batch", "plain", "users"}
"""Names that other tests give on the same servers, and of an API group, a content type and a key as well."""


def secrets(plane: Plane) -> set[str]:
    """Users, tokens, certificates with their fingerprints, and addresses of a plane."""
    found = {*plane.tokens.values(), *GROUPS, "uid-elephant", NAMESPACE, "acme-team", "acme-jobs", "loaders"}
    for file in plane.folder.rglob("*.crt"):
        text = file.read_text()
        found |= {line for line in text.splitlines() if len(line) > 30}
        for body in re.findall(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", text, re.DOTALL):
            der = ssl.PEM_cert_to_DER_cert(body)
            found |= {hashlib.sha256(der).hexdigest(), hashlib.sha1(der).hexdigest()}
    for url in plane.urls:
        found |= {url, url.removeprefix("https://"), url.rpartition(":")[2], "127.0.0.1"}
    return found - FORMAT_WORDS


@pytest.mark.timeout(300)
def test_a_redacted_bundle_of_a_real_plane_says_the_same_and_names_nobody(plane: Plane, tmp_path: Path) -> None:
    level, shut = (
        priority_level("acme-jobs", shares=shares, queues=64, hand_size=6, queue_length=20) for shares in (5, 0)
    )
    schema = flow_schema("acme-team", "acme-jobs", users=["elephant", "mouse0", "mouse1"])
    create_namespace(plane, NAMESPACE)
    apply_flow(plane, level, schema, "elephant")
    slow = load.get(f"/api/v1/namespaces/{NAMESPACE}/configmaps")
    try:
        loops = [
            load.ClosedLoop(user, slow, concurrency=width, seconds=8)
            for user, width in (("elephant", 40), ("mouse0", 4), ("mouse1", 8))
        ]
        with load.running(plane, *loops):
            # Without seats they wait.
            plane.client().apply(shut)
            time.sleep(1.0)
            samples, _ = first_look(servers(options(plane)), 2.0)
            plane.client().apply(level)
    finally:
        remove_flow(plane, level, schema)
        delete_namespace(plane, NAMESPACE)
    tape = tmp_path / "moment.apftape"
    record(tape, samples)
    plain = tmp_path / "plain"
    run("collect", tape, "-o", plain)
    for number, source in enumerate((tape, plain)):
        folder = tmp_path / str(number)
        folder.mkdir()
        target, names = redacted(source, folder)
        assert values(json.loads(report(target)), names) == values(json.loads(report(plain)))
        assert words(told_back(report(target, "text"), names), target) == words(report(plain, "text"), plain)
        assert found_in(target, secrets(plane)) == set()
        assert found_in(target, {name for kind in names.values() for name in kind.values()} - FORMAT_WORDS) == set()
        hands = [hand for name, body in files(target) if name.endswith("facts.json") for hand in hands_in(body, names)]
        assert ("acme-team", "elephant") in hands
    assert {"elephant", "acme-team", "acme-jobs", "127.0.0.1"} <= {name for name, _ in found_in(plain, secrets(plane))}


def hands_in(body: bytes, names: Mapped) -> list[tuple[str, str]]:
    """The flows whose hands are kept, by their true names."""
    found = json.loads(body)["hands"]
    return [(told_back(one["flow_schema"], names), told_back(one["distinguisher"], names)) for one in found]
