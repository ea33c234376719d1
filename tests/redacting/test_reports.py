"""The report of a redacted bundle is that of the plain one but for names, and no name is left in its files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import settings

from apftop.collect.layout import About
from apftop.collect.writer import write_bundle
from tests.collect.saved import RECORDINGS, two_looks
from tests.recording import SHIPPED, recordings
from tests.redacting.telling import files, found_in, redacted, report, run, told_back, values
from tests.tape.taping import record, samples

CASES = Path(__file__).parent.parent / "cases"
BUNDLES = [
    *("C01", "C03", "C05", "C07", "C11", "C13", "C15", "C19", "C21", "C23", "C25/with", "C25/without", "C27", "C29"),
    *("C31", "C33", "C35", "C37", "C41", "C43", "C45"),
]
if settings.get_current_profile_name() != "thorough":
    # Those that hold something of their own; the others are like them.
    BUNDLES = ["C01", "C05", "C07", "C13", "C15", "C19", "C21", "C31", "C33", "C35", "C45"]


def same_but_for_names(path: Path, folder: Path, *options: str) -> None:
    """Compare the reports in all forms, and look for names."""
    target, names = redacted(path, folder, *options)
    originals = {name for found in names.values() for name in found.values()}

    plain, other = json.loads(report(path)), json.loads(report(target))
    assert values(other, names) == values(plain)
    assert found_in(target, originals) == set()
    for form in ("text", "md"):
        told, expected = told_back(report(target, form), names), report(path, form)
        assert words(told, target) == words(expected, path)


def words(text: str, path: Path) -> list[str]:
    """The words of a text but for the line that says where it is from, whatever the widths of columns."""
    # Markdown marks some names and not others as what they are.
    lines = [line for line in text.replace("`", "").replace("\\", "").splitlines() if str(path) not in line]
    return re.sub(r"-{2,}", "--", " ".join(lines)).split()


@pytest.mark.parametrize("case", BUNDLES)
def test_a_bundle_says_the_same_under_other_names(case: str, tmp_path: Path) -> None:
    same_but_for_names(CASES / case, tmp_path)


@pytest.mark.parametrize("number", range(len(recordings(SHIPPED))))
def test_recordings_of_real_servers_say_the_same_under_other_names(number: int, tmp_path: Path) -> None:
    path = write_bundle(two_looks(RECORDINGS[number]), tmp_path / "plain.tgz", About("prod at 10.0.0.1"))

    same_but_for_names(path, tmp_path)


def test_a_moment_of_a_tape_says_the_same_under_other_names(tmp_path: Path) -> None:
    record(tmp_path / "x.apftape", samples())
    plain = tmp_path / "plain"
    run("collect", tmp_path / "x.apftape", "-o", plain, code=(0, 3))
    target, names = redacted(tmp_path / "x.apftape", tmp_path)

    assert values(json.loads(report(target)), names) == values(json.loads(report(plain)))
    assert found_in(target, {name for found in names.values() for name in found.values()}) == set()


def test_a_bundle_says_by_what_version_it_was_redacted_and_what_is_kept(tmp_path: Path) -> None:
    target, _ = redacted(CASES / "C21", tmp_path)
    there = dict(files(target))

    facts = json.loads(there["facts.json"])
    assert facts["redacted_by"].startswith("apftop ")
    assert any("confirm a guess" in line for line in facts["kept"])
    assert json.loads(there["scrape.json"])["redacted"] == facts["redacted_by"]


def test_who_is_who_is_for_its_owner_alone(tmp_path: Path) -> None:
    target, names = redacted(CASES / "C21", tmp_path)

    assert (tmp_path / "names.json").stat().st_mode & 0o777 == 0o600
    assert "names.json" not in dict(files(target))
    assert names["user"]
