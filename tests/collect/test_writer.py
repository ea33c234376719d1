"""A bundle is on the disk as a whole or not at all, for the user's eyes only."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from apftop.collect.layout import About
from apftop.collect.writer import check_target, write_bundle
from apftop.errors import Trouble
from apftop.records.raw import Endpoint, Sample
from tests.collect.saved import DUMP, FOLDERS, SAMPLES, read, saved


@pytest.mark.parametrize("name", ["x", "x.tgz", "x.tar.gz", "x.TGZ"])
def test_a_name_says_whether_it_is_a_folder_or_an_archive(name: str, tmp_path: Path) -> None:
    path = write_bundle(SAMPLES, tmp_path / name, About("test"))

    assert path.is_dir() == (name == "x")
    assert path.is_dir() or tarfile.is_tarfile(path)
    assert list(read(path).samples) == SAMPLES


def test_only_the_user_may_read_it(tmp_path: Path) -> None:
    folder = write_bundle(SAMPLES, tmp_path / "x", About("test"))
    archive = write_bundle(SAMPLES, tmp_path / "x.tgz", About("test"))

    assert {path.stat().st_mode & 0o777 for path in (folder, *folder.rglob("*")) if path.is_dir()} == {0o700}
    assert {path.stat().st_mode & 0o777 for path in (archive, *folder.rglob("*")) if path.is_file()} == {0o600}


def test_the_same_samples_make_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first = write_bundle(SAMPLES, tmp_path / "a" / "x.tgz", About("test"))
    second = write_bundle(SAMPLES, tmp_path / "b" / "x.tgz", About("test"))

    assert first.read_bytes() == second.read_bytes()


def test_an_archive_unpacks_into_a_folder_of_its_own_name(tmp_path: Path) -> None:
    path = write_bundle(SAMPLES, tmp_path / "prod.tgz", About("test"))
    with tarfile.open(path) as archive:
        assert {member.name.partition("/")[0] for member in archive} == {"apftop-prod"}
        archive.extractall(tmp_path, filter="data")

    assert list(read(tmp_path / "apftop-prod").samples) == SAMPLES


def test_an_archive_may_be_named_like_a_part_of_a_bundle(tmp_path: Path) -> None:
    samples = [Sample(name, Endpoint.LEVELS, DUMP, 200) for name in ("http", "replicas")]

    assert list(saved(samples, "replicas.tgz").samples) == samples
    assert list(saved(samples, "http.tgz").samples) == samples


def test_several_replicas_lie_in_folders_and_one_at_the_top(tmp_path: Path) -> None:
    several = write_bundle(SAMPLES, tmp_path / "several", About("test"))
    one = write_bundle([one for one in SAMPLES if one.replica == SAMPLES[0].replica], tmp_path / "one", About("test"))

    assert sorted(path.name for path in one.iterdir()) == [
        "answers.json",
        "dump_priority_levels_t0.txt",
        "dump_priority_levels_t1.txt",
        "dump_queues.txt",
        "dump_requests.txt",
        "metrics_t0.txt",
        "metrics_t1.txt",
        "scrape.json",
    ]
    assert sorted(path.name for path in (several / "replicas").iterdir()) == FOLDERS


HOSTILE = (
    "../../etc",
    "/etc/passwd",
    ".",
    "..",
    "",
    "a\0b",
    "x" * 5000,
    "kas~9",
    "Kas",
    "kas",
    "KAS",
    "a/b",
    "a%2Fb",
    "\x1b[2J",
    "ß\n",
)


@pytest.mark.parametrize("name", ["bundle", "bundle.tgz"])
def test_no_name_of_a_replica_leads_out_or_is_lost(name: str, tmp_path: Path) -> None:
    samples = [Sample(replica, Endpoint.LEVELS, DUMP, 200) for replica in HOSTILE]
    (tmp_path / "inner").mkdir()
    path = write_bundle(samples, tmp_path / "inner" / name, About("test"))

    assert list(read(path).samples) == samples
    assert list(tmp_path.iterdir()) == [tmp_path / "inner"]
    assert list((tmp_path / "inner").iterdir()) == [path]
    if path.is_dir():
        folders = [folder.name for folder in (path / "replicas").iterdir()]
        assert len({folder.casefold() for folder in folders}) == len(HOSTILE)
        assert all(re.fullmatch(r"[A-Za-z0-9._~%-]{1,120}", folder) for folder in folders)


def test_a_refusal_is_kept_as_raw_http(tmp_path: Path) -> None:
    denied = Sample("a", Endpoint.QUEUES, b"no\n", 403, headers=(("retry-after", "1\r\nX: y"),))
    path = write_bundle([denied], tmp_path / "b", About("test"))

    assert (path / "http" / "dump_queues.txt").read_bytes() == b"HTTP/1.1 403\r\nretry-after: 1 X: y\r\n\r\nno\n"


def refused(target: Path, *words: str) -> None:
    with pytest.raises(Trouble) as caught:
        write_bundle(SAMPLES, target, About("test"))
    assert "\n" not in str(caught.value)
    assert all(word in str(caught.value) for word in (str(target), *words)), caught.value


@pytest.mark.parametrize("name", ["x", "x.tgz"])
def test_what_is_there_is_not_overwritten(name: str, tmp_path: Path) -> None:
    path = write_bundle(SAMPLES, tmp_path / name, About("test"))
    before = {one: one.read_bytes() for one in (path, *path.rglob("*")) if one.is_file()}
    refused(path, "something already", "another")

    assert {one: one.read_bytes() for one in (path, *path.rglob("*")) if one.is_file()} == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("kind", ["file", "link to nothing", "link to a folder", "folder for an archive"])
def test_whatever_is_there_is_not_overwritten(kind: str, tmp_path: Path) -> None:
    target = tmp_path / ("x.tgz" if "archive" in kind else "x")
    if kind == "file":
        target.write_text("mine")
    elif "link" in kind:
        (tmp_path / "folder").mkdir()
        target.symlink_to(tmp_path / ("folder" if "folder" in kind else "nothing"))
    else:
        target.mkdir()

    refused(target, "already")


def test_an_empty_folder_may_be_there(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()

    assert list(read(write_bundle(SAMPLES, tmp_path / "x", About("test"))).samples) == SAMPLES


def test_a_folder_that_is_not_there_is_named_before_anybody_is_asked(tmp_path: Path) -> None:
    with pytest.raises(Trouble, match="no such folder"):
        check_target(tmp_path / "no" / "x")
    (tmp_path / "file").write_text("")
    with pytest.raises(Trouble, match="no such folder"):
        check_target(tmp_path / "file" / "x")


def test_a_folder_that_is_not_ours_is_named_before_anybody_is_asked() -> None:
    with pytest.raises(Trouble, match="cannot be written to"):
        check_target(Path("/proc/self/x"))


FULL = """
import resource, sys
from pathlib import Path
from apftop.collect.layout import About
from apftop.collect.writer import write_bundle
from apftop.errors import Trouble
from tests.collect.saved import SAMPLES
resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
try:
    write_bundle(SAMPLES, Path(sys.argv[1]), About("test"))
except Trouble as trouble:
    print(trouble)
"""


@pytest.mark.parametrize("name", ["x", "x.tgz"])
def test_a_disk_without_room_is_one_line_and_leaves_nothing(name: str, tmp_path: Path) -> None:
    target = tmp_path / name
    run = subprocess.run([sys.executable, "-c", FULL, str(target)], capture_output=True, text=True, check=True)

    assert run.stdout == f"the bundle cannot be written, nothing is saved (file too large): {target}\n"
    assert list(tmp_path.iterdir()) == []


KILLED = """
import os, sys
from pathlib import Path
from apftop.collect.layout import About
from apftop.collect.writer import write_bundle
from tests.collect.saved import SAMPLES
left = 1 if sys.argv[1].endswith("tgz") else 3
def fsync(descriptor):
    global left
    left -= 1
    if not left:
        os._exit(9)
os.fsync = fsync
write_bundle(SAMPLES, Path(sys.argv[1]), About("test"))
"""


@pytest.mark.parametrize("name", ["x", "x.tgz"])
def test_a_crash_leaves_nothing_that_looks_like_a_bundle(name: str, tmp_path: Path) -> None:
    run = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / name)], check=False)
    (left,) = tmp_path.iterdir()

    assert run.returncode == 9
    assert left.name.startswith(f".{name}-")
    assert left.name.endswith(".partial")
