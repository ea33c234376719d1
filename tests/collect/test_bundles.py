"""A bundle made of another one, and options that do not go together."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from apftop.errors import Trouble
from apftop.logs.read import logs_of
from tests.collect.loopback import apftop, kubeconfig, names, running
from tests.reach.server import Ca
from tests.redacting.telling import files, found_in, report, run, values

CASES = Path(__file__).parent.parent / "cases"


@pytest.mark.parametrize("case", ["C01", "C15", "C33", "C41"])
def test_a_bundle_of_a_bundle_says_the_same(case: str, tmp_path: Path) -> None:
    run("collect", CASES / case, "-o", tmp_path / "again.tgz", code=(0, 3))

    assert values(json.loads(report(tmp_path / "again.tgz"))) == values(json.loads(report(CASES / case)))


def test_logs_go_with_the_bundle(tmp_path: Path) -> None:
    run("collect", CASES / "C01", "-o", tmp_path / "again", code=(0, 3))

    assert logs_of(tmp_path / "again") == logs_of(CASES / "C01")


def test_live_servers_are_saved_without_their_names_addresses_and_certificates(ca: Ca, tmp_path: Path) -> None:
    with running(ca, 2) as servers:
        config = kubeconfig(servers[0], ca, tmp_path)
        result = apftop("collect", "--kubeconfig", config, "-o", str(tmp_path / "x"), "-d", "0.2", "--redact")
        addresses = {*names(servers), *(str(name).rpartition(":")[2] for name in names(servers)), "127.0.0.1"}

    assert "pseudonyms" in result.stdout
    # The names of the tests' services and objects, the context and the cluster are gone as well.
    secrets = {*addresses, "kyverno", "kyverno-svc", "check.kyverno.svc", "s3cr3t", "context here", "uid-load"}
    assert found_in(tmp_path / "x", secrets) == set()
    assert {name.split("/")[1] for name, _ in files(tmp_path / "x") if "/" in name} == {"server-1", "server-2"}


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--keep-mapping", "names.json"), "give both"),
        (("--at", "14:03"), "this is a bundle"),
        (("--context", "prod"), "leave out the path"),
    ],
)
def test_options_that_do_not_go_together_are_told(options: tuple[str, ...], line: str, tmp_path: Path) -> None:
    with pytest.raises(click.UsageError, match=line):
        run("collect", CASES / "C01", "-o", tmp_path / "x", *options)

    assert not (tmp_path / "x").exists()


def test_a_mapping_does_not_overwrite_a_file(tmp_path: Path) -> None:
    (tmp_path / "names.json").write_text("mine")

    with pytest.raises(Trouble, match="nothing is overwritten"):
        run("collect", CASES / "C21", "--redact", "-o", tmp_path / "x", "--keep-mapping", tmp_path / "names.json")

    assert not (tmp_path / "x").exists()
    assert (tmp_path / "names.json").read_text() == "mine"
