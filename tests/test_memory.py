"""A 60 MB /metrics is picked on the way in, and never held whole."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

CASES = Path(__file__).parent / "cases"
SIZE = 60 << 20

# The report's own process says what it took at most, beside what the same report takes without the bulk.
PEAK = (
    "import resource, sys; from apftop.cli import cli\n"
    "try: cli.main(['report', sys.argv[1], '--output', 'json'], standalone_mode=False)\n"
    "finally: print('PEAK', resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
)


def peak_mb(bundle: Path) -> float:
    run = subprocess.run([sys.executable, "-c", PEAK, str(bundle)], capture_output=True, text=True, check=True)
    return int(run.stdout.rpartition("PEAK ")[2]) / 1024


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_a_60_mb_answer_takes_less_than_100_mb(tmp_path: Path, packed: bool) -> None:
    small, large = tmp_path / "small", tmp_path / "large"
    wanted = gzip.decompress((CASES / "C03" / "metrics_t1.txt.gz").read_bytes())
    for folder in (small, large):
        folder.mkdir()
    (small / "metrics.txt").write_bytes(wanted)
    name = "metrics.txt.gz" if packed else "metrics.txt"
    with gzip.open(large / name, "wb", 1) if packed else (large / name).open("wb") as out:
        out.write(wanted)
        out.write(b"# TYPE apiserver_request_duration_seconds histogram\n")
        row = b'apiserver_request_duration_seconds_bucket{group="g%d",resource="widgets",verb="LIST",le="0.%d"} 12345\n'
        written = 0
        while written < SIZE:
            chunk = b"".join(row % (written + i, i % 60) for i in range(1000))
            written += out.write(chunk)

    assert peak_mb(large) - peak_mb(small) < 100
