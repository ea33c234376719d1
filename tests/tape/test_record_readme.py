"""What README says of recording for long: a unit of systemd and a pod, as far as they can be checked here."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from apftop.cli import cli

README = (Path(__file__).parents[2] / "README.md").read_text()
SECTION = README.partition("\n### Recording for long\n")[2].partition("\n### ")[0]


def block(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```$", SECTION, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def documents() -> dict[str, Any]:
    return {one["kind"]: one for one in yaml.safe_load_all(block("yaml"))}


def options(words: list[str]) -> dict[str, Any]:
    """What `apftop` makes of a command line, of which it need not reach anything."""
    assert words[:2] == ["apftop", "record"]
    command = cli.get_command(click.Context(cli), "record")
    assert command is not None
    return command.make_context("record", words[2:]).params


def test_the_unit_says_what_apftop_understands(tmp_path: Path) -> None:
    unit = block("ini")
    (start,) = re.findall(r"^ExecStart=/\S+/(apftop .*)$", unit, re.MULTILINE)
    asked = options(start.split())
    assert asked["max_size"] == 5_000_000_000
    assert asked["max_age"] == 30 * 86400
    if (analyze := shutil.which("systemd-analyze")) is not None:
        path = tmp_path / "apftop-record.service"
        path.write_text(re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", unit, flags=re.MULTILINE))
        run = subprocess.run([analyze, "verify", str(path)], capture_output=True, text=True, check=False, timeout=60)
        told = [line for line in run.stderr.splitlines() if path.name in line]
        assert not told


def test_the_pod_says_what_apftop_understands() -> None:
    spec = documents()["Deployment"]["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    asked = options(container["args"])
    (mount,) = container["volumeMounts"]
    assert asked["path"].parent == Path(mount["mountPath"])
    assert mount["name"] in {one["name"] for one in spec["volumes"]}
    assert asked["max_size"] is not None
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert spec["securityContext"]["runAsNonRoot"]


def test_the_pod_may_read_what_readme_says_is_needed() -> None:
    said = documents()
    spec = said["Deployment"]["spec"]
    name = spec["template"]["spec"]["serviceAccountName"]
    binding = said["ClusterRoleBinding"]
    assert said["ServiceAccount"]["metadata"]["name"] == name
    assert [(one["kind"], one["name"]) for one in binding["subjects"]] == [("ServiceAccount", name)]
    needed = re.search(r"^```yaml\n(.*?)^```$", README.partition("\n## What it needs\n")[2], re.DOTALL | re.MULTILINE)
    assert needed is not None
    roles = [one["metadata"]["name"] for one in yaml.safe_load_all(needed[1]) if one["kind"] == "ClusterRole"]
    assert roles == [binding["roleRef"]["name"]]
    namespaces = {one["metadata"]["namespace"] for kind, one in said.items() if kind != "ClusterRoleBinding"}
    assert namespaces == {binding["subjects"][0]["namespace"]}


@pytest.mark.parametrize("command", re.findall(r"^(apftop record .*?)(?: +#.*)?$", block("sh"), re.MULTILINE))
def test_the_commands_in_readme_are_understood(command: str) -> None:
    assert options(command.split())["path"]
