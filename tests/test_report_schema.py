"""Every report follows the JSON Schema that ships with the package."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from apftop.derive.frame import frame
from apftop.live import fold
from apftop.present import rate
from apftop.records.frame import Frame
from apftop.report.document import document, taken_of
from apftop.report.text import text
from tests.case_values import report
from tests.recording import recordings

CASES = Path(__file__).parent / "cases"
BUNDLES = sorted({path.parent for path in CASES.glob("*/scrape.json")} | set(CASES.glob("C09/*/")) | {CASES / "C35"})


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda path: str(path.relative_to(CASES)))
def test_report_is_valid(bundle: Path) -> None:
    schema = json.loads(files("apftop.report").joinpath("schema.json").read_text())

    jsonschema.Draft202012Validator(schema).validate(report(bundle))


def two_looks() -> tuple[Frame, str]:
    """A frame of the first and the last look of a recording, and its busy level."""
    recording = recordings()[0]
    (first, *_, last) = recording.of(recording.replicas[0])
    return frame(fold(sample for scrape in (first, last) for sample in scrape.samples())), recording.level


def test_report_of_two_looks_is_valid() -> None:
    schema = json.loads(files("apftop.report").joinpath("schema.json").read_text())
    found, level = two_looks()
    made = document(found, "a recording", taken_of(found.t0, found.t1, None))

    jsonschema.Draft202012Validator(schema).validate(json.loads(json.dumps(made, allow_nan=False)))
    (replica,) = made["replicas"].values()
    assert replica["levels"][level]["recent"]["dispatched_per_s"] > 0


def test_text_and_json_show_the_rates_of_the_same_dumps() -> None:
    found, name = two_looks()
    (replica,) = document(found, "", {})["replicas"].values()
    lines = [line.split() for line in text(found, "", found.t0, found.t1, None).splitlines()]
    title = next(line for line in lines if line[:1] == ["LEVEL"])
    row = next(line for line in lines if line[:1] == [name])

    assert row[title.index("DISP/S")] == rate(replica["levels"][name]["recent"]["dispatched_per_s"])


def test_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(files("apftop.report").joinpath("schema.json").read_text()))
