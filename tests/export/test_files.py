"""Exports as files: whole or not at all, for their user alone, with the right types in pandas."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apftop.export.data_frames import data_frame, data_frames
from apftop.export.lines import json_lines
from apftop.export.parquet import ParquetFile
from apftop.export.rows import row_of
from apftop.export.tables import chosen, tables
from apftop.present import plain
from tests.export.exporting import BUNDLES, rows, run, tape

BUNDLE = BUNDLES[1]
APFTOP = (sys.executable, "-m", "apftop", "export")


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("to", ["csv", "jsonl", "parquet"])
def test_each_table_is_a_file_for_its_user_alone(tmp_path: Path, to: str) -> None:
    assert run(BUNDLE, "--to", to, "-o", tmp_path / "out").exit_code == 0

    assert left(tmp_path) == ["out"]
    assert left(tmp_path / "out") == sorted(f"{name}.{to}" for name in tables())
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "out").iterdir()} == {0o600}


def test_parquet_has_types_units_and_meanings(tmp_path: Path) -> None:
    path = tape(tmp_path)
    assert run(path, "--to", "parquet", "-o", tmp_path / "out", "--every", "20").exit_code == 0

    for table in tables().values():
        file = tmp_path / "out" / f"{table.name}.parquet"
        fields = pq.read_schema(file)
        for column in table.columns:
            told = fields.field(column.name).metadata
            assert (told[b"unit"].decode(), told[b"meaning"].decode()) == (column.unit, column.about)
    levels = pd.read_parquet(tmp_path / "out" / "levels.parquet", dtype_backend="numpy_nullable")
    assert str(levels["time"].dtype) == "datetime64[ms, UTC]"
    assert str(levels["nominal_seats"].dtype) == "Int64"
    assert str(levels["wait_p99_low_s"].dtype) == "Float64"
    assert str(levels["window_reset"].dtype) == "boolean"
    exact = rows("levels", path, "--every", "20")
    for name in ("seats_in_use", "wait_p99_high_s", "dispatched_per_s", "replica", "model"):
        assert [None if pd.isna(one) else one for one in levels[name]] == [row[name] for row in exact]


def test_json_lines_open_in_pandas(tmp_path: Path) -> None:
    run(BUNDLE, "--to", "jsonl", "--table", "levels", "-o", tmp_path / "levels.jsonl")

    frame = pd.read_json(tmp_path / "levels.jsonl", lines=True)

    assert str(pd.to_datetime(frame["time"]).dtype).endswith(", UTC]")
    assert set(frame["level"]) >= {"catch-all", "exempt"}
    assert frame["nominal_seats"].sum() > 0


def test_json_has_all_tables_as_json_lines_have_them() -> None:
    told = json.loads(run(BUNDLE, "--to", "json").stdout)

    assert told["schema"] == "apftop.export/1"
    assert list(told["tables"]) == list(tables())
    for name in ("levels", "requests", "marks"):
        assert told["tables"][name] == rows(name, BUNDLE)


def test_a_notebook_gets_data_frames(tmp_path: Path) -> None:
    found = data_frames(tape(tmp_path), tables=["levels", "marks"], every_s=20.0)

    assert list(found) == ["levels", "marks"]
    assert found["levels"]["time"].nunique() >= 2
    assert found["levels"]["nominal_seats"].dtype == "Int64"
    assert len(found["marks"]) == 0 and str(found["marks"]["time"].dtype) == "datetime64[ms, UTC]"


def test_integers_stay_integers_beside_unknown_ones() -> None:
    (flows,) = chosen(["flows"])
    rows = [dict.fromkeys(column.name for column in flows.columns) for _ in range(2)]

    frame = data_frame(flows, [{**rows[0], "seats_in_use": 2**53 - 1}, rows[1]])

    assert list(frame["seats_in_use"].isna()) == [False, True]
    assert int(frame["seats_in_use"][0]) == 2**53 - 1


@given(st.text(st.characters()))
def test_names_are_exact_in_json_lines_and_parquet(name: str) -> None:
    (flows,) = chosen(["flows"])
    rows = [{**dict.fromkeys(column.name for column in flows.columns), "flow": name, "collides_with": [name]}]

    line = json_lines(flows, rows)
    assert plain(line.removesuffix("\n")) + "\n" == line
    assert json.loads(line) == rows[0]

    with TemporaryDirectory() as folder:
        file = ParquetFile(Path(folder, "flows.parquet"), flows)
        file.write(rows)
        file.close()
        (read,) = pq.read_table(Path(folder, "flows.parquet")).to_pylist()
    # Of what a file may hold only a lone surrogate is no Unicode text, and is written out.
    assert read["flow"] == name.encode("utf-8", "backslashreplace").decode()


@pytest.mark.parametrize(("told", "kept"), [(2**63 - 1, 2**63 - 1), (2**63, None), (1.5, None), (None, None), (0, 0)])
def test_what_is_no_count_of_a_server_is_unknown(told: float | None, kept: int | None) -> None:
    (totals,) = chosen(["totals"])
    document = dict.fromkeys(column.path for column in totals.columns) | {"waiting": told}

    assert row_of(totals, document)["waiting_requests"] == kept


def test_nothing_is_overwritten_without_force(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    (tmp_path / "levels.csv").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")

    for words in (
        ("--to", "csv", "-o", tmp_path / "out"),
        ("--to", "csv", "--table", "levels", "-o", tmp_path / "levels.csv"),
        ("--to", "json", "-o", tmp_path / "levels.csv"),
        ("--to", "json", "-o", tmp_path / "out", "--force"),
        ("--to", "csv", "-o", tmp_path / "levels.csv", "--force"),
        ("--to", "json", "-o", tmp_path / "link", "--force"),
        ("--to", "json", "-o", "/dev/null", "--force"),
    ):
        assert "there is " in str(run(BUNDLE, *words).exception)
    assert left(tmp_path) == ["levels.csv", "link", "out"]
    assert (tmp_path / "levels.csv").read_text() == "mine"


def test_force_replaces_files_of_the_same_names_alone(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    (tmp_path / "out" / "levels.csv").write_text("old")

    assert run(BUNDLE, "--to", "csv", "-o", tmp_path / "out", "--force").exit_code == 0

    assert (tmp_path / "out" / "mine.txt").read_text() == "mine"
    assert (tmp_path / "out" / "levels.csv").read_text().startswith("time,replica,level")
    assert left(tmp_path) == ["out"]


@pytest.mark.parametrize(
    "words",
    [
        ("--to", "csv", "-o", "out"),
        ("--to", "parquet", "-o", "out"),
        ("--to", "json", "-o", "out.json"),
        ("--to", "openmetrics", "-o", "out.om"),
    ],
    ids=lambda words: str(words[1]),
)
def test_where_there_is_no_room_nothing_stays(tmp_path: Path, words: tuple[str, ...]) -> None:
    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    done = subprocess.run(
        [*APFTOP, str(BUNDLE), *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        preexec_fn=little_room,
        check=False,
    )

    assert (done.returncode, done.stderr.count("\n")) == (3, 1), done.stderr
    assert "cannot be written" in done.stderr
    assert left(tmp_path) == []


def test_a_reader_that_goes_away_ends_it() -> None:
    reading, writing = os.pipe()
    os.close(reading)

    done = subprocess.run(
        [*APFTOP, str(BUNDLE), "--to", "csv", "--table", "queues"], stdout=writing, stderr=subprocess.PIPE, check=False
    )
    os.close(writing)

    assert (done.returncode, done.stderr) == (141, b"")


def test_without_pyarrow_one_line_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)

    assert "pip install 'apftop[parquet]'" in str(run(BUNDLE, "--to", "parquet", "-o", tmp_path / "out").exception)
    assert left(tmp_path) == []


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--to", "csv"),
        ("--to", "parquet", "--table", "levels"),
        ("--to", "html", "--table", "levels"),
        ("--to", "json", "--at", "-1s"),
        ("--to", "json", "--server", "https://127.0.0.1:1"),
    ],
)
def test_options_that_do_not_go_together_are_told(words: tuple[str, ...]) -> None:
    assert type(run(BUNDLE, *words).exception).__name__ == "UsageError"
