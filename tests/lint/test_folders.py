"""Folders as people keep them: each file once, whatever links there are, and nothing is passed over in silence."""

from __future__ import annotations

import os
from pathlib import Path

from apftop.lint.folders import files_of, names_group
from apftop.lint.sources import from_files
from tests.lint.permissions import permissions_that_count
from tests.lint.written import LEVEL, SCHEMA


def names(*paths: Path) -> list[str]:
    return [path.name for path in files_of(paths)[0]]


def test_all_yaml_and_json_in_a_folder_is_meant_however_deep(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    for name in ("z.yaml", "a/one.YML", "a/b/two.json", "a/b/three.txt"):
        (tmp_path / name).write_text(SCHEMA)

    assert names(tmp_path) == ["z.yaml", "one.YML", "two.json"]


def test_links_are_followed_once_and_loops_end(tmp_path: Path) -> None:
    """A mounted ConfigMap is such a folder of links."""
    (tmp_path / "..2024").mkdir()
    (tmp_path / "..2024" / "x.yaml").write_text(SCHEMA)
    (tmp_path / "..data").symlink_to("..2024")
    (tmp_path / "x.yaml").symlink_to("..data/x.yaml")
    (tmp_path / "loop").symlink_to(".")

    assert len(from_files((tmp_path,)).documents) == 1


def test_a_folder_elsewhere_that_a_link_leads_to_is_looked_into(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "x.yaml").write_text(SCHEMA)
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "shared").symlink_to("../there")

    assert names(tmp_path / "here") == ["x.yaml"]


def test_a_link_to_nothing_is_a_problem_and_the_rest_is_read(tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text(SCHEMA)
    (tmp_path / "lost.yaml").symlink_to("gone.yaml")
    os.mkfifo(tmp_path / "pipe.yaml")

    found = from_files((tmp_path,))
    assert [one.name for one in found.documents] == ["batch"]
    assert found.problems == (f"{tmp_path}/lost.yaml: no such file or directory",)


def test_a_folder_and_a_file_that_may_not_be_read_are_problems(tmp_path: Path) -> None:
    (tmp_path / "shut").mkdir(mode=0)
    (tmp_path / "shut.yaml").write_text(LEVEL)
    (tmp_path / "shut.yaml").chmod(0)
    (tmp_path / "good.yaml").write_text(SCHEMA)

    with permissions_that_count():
        found = from_files((tmp_path,))
    (tmp_path / "shut").chmod(0o700)
    assert len(found.documents) == 1
    assert {one.rpartition(": ")[2] for one in found.problems} == {"permission denied"}
    assert len(found.problems) == 2


def test_kustomizations_are_left_alone_and_their_patches_are_named(tmp_path: Path) -> None:
    group = "flowcontrol.apiserver.k8s.io"
    (tmp_path / "base.yaml").write_text(SCHEMA)
    (tmp_path / "patch.yaml").write_text(f"apiVersion: {group}/v1\nkind: FlowSchema\nmetadata: {{name: batch}}\n")
    (tmp_path / "kustomization.yaml").write_text(
        f"resources: [base.yaml]\npatches:\n- path: patch.yaml\n  target: {{group: {group}, kind: FlowSchema}}\n"
        "patchesStrategicMerge:\n- |\n  kind: FlowSchema\n"
    )

    found = from_files((tmp_path,))
    assert [one.file for one in found.documents] == [str(tmp_path / "base.yaml")]
    assert [(one.code, one.gravity, one.file) for one in found.faults] == [
        ("not-rendered", "note", str(tmp_path / "patch.yaml"))
    ]
    assert found.problems == ()


def test_a_broken_kustomization_takes_nothing_away(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(SCHEMA)
    for text in ("patches: [", "patches: 7", "[1]", "patches: [7, {target: x}]"):
        (tmp_path / "kustomization.yaml").write_text(text)

        assert names(tmp_path) == ["base.yaml"]


def test_the_group_is_seen_in_utf_16_too() -> None:
    assert names_group(SCHEMA.encode("utf-16"))
    assert not names_group(b"kind: ConfigMap\n")
