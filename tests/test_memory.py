"""A 60 MB /metrics is picked on the way in, and never held whole."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
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

LIVE = PEAK.replace("'report', sys.argv[1]", "'report', '--server', sys.argv[1], '-d', '0.5'")


@contextmanager
def serving(wanted: bytes, size: int) -> Iterator[str]:
    """A server on loopback whose /metrics is of that size; it has nothing else."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            metrics = self.path.startswith("/metrics")
            self.send_response(200 if metrics else 404)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            if metrics:
                self.wfile.write(wanted)
                for chunk in bulk(size):
                    self.wfile.write(chunk)

        def log_message(self, *_: object) -> None:
            """Tests are quiet."""

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{httpd.server_port}"
    finally:
        httpd.shutdown()
        httpd.server_close()


def bulk(size: int) -> Iterator[bytes]:
    """What most of a real /metrics is: request durations that nobody here wants."""
    yield b"# TYPE apiserver_request_duration_seconds histogram\n"
    row = b'apiserver_request_duration_seconds_bucket{group="g%d",resource="widgets",verb="LIST",le="0.%d"} 12345\n'
    written = 0
    while written < size:
        chunk = b"".join(row % (written + i, i % 60) for i in range(1000))
        written += len(chunk)
        yield chunk


def peak_mb(bundle: Path) -> float:
    run = subprocess.run([sys.executable, "-c", PEAK, str(bundle)], capture_output=True, text=True, check=True)
    return int(run.stdout.rpartition("PEAK ")[2]) / 1024


def test_a_60_mb_live_answer_takes_less_than_100_mb() -> None:
    wanted = gzip.decompress((CASES / "C03" / "metrics_t1.txt.gz").read_bytes())

    def run(size: int) -> float:
        with serving(wanted, size) as url:
            done = subprocess.run([sys.executable, "-c", LIVE, url], capture_output=True, text=True, check=True)
        document, _, peak = done.stdout.rpartition("PEAK ")
        (replica,) = json.loads(document)["replicas"].values()
        assert replica["levels"]["workload-low"]["nominal"] == 25
        return int(peak) / 1024

    assert run(SIZE) - run(0) < 100


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
        out.writelines(bulk(SIZE))

    assert peak_mb(large) - peak_mb(small) < 100
