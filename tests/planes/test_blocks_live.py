"""Series of a tape in a real Prometheus: it takes them in, and has the counters of the servers at their times."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from apftop.parse.metrics import parse_metrics
from apftop.prometheus.client import Client
from apftop.prometheus.store import store
from apftop.records.raw import Endpoint
from tests.prometheus.running import running
from tests.tape.taping import record, samples

DISPATCHED = "apiserver_flowcontrol_dispatched_requests_total"
WAITED = "apiserver_flowcontrol_request_wait_duration_seconds"


def done(*line: str | Path, given: bytes = b"") -> str:
    """What a command says that went well."""
    ended = subprocess.run(line, input=given, capture_output=True, timeout=120, check=False)
    assert ended.returncode == 0, (ended.stdout[-2000:], ended.stderr[-2000:])
    return ended.stdout.decode() + ended.stderr.decode()


def test_a_prometheus_has_the_counters_of_a_tape_at_their_times(
    prometheus: Path, promtool: Path, tmp_path: Path
) -> None:
    tape, series, data = tmp_path / "tape", tmp_path / "series.om", tmp_path / "data"
    some = samples(1)
    record(tape, some)
    done(sys.executable, "-m", "apftop", "export", tape, "--to", "openmetrics", "--job", "apiserver", "-o", series)
    done(promtool, "tsdb", "create-blocks-from", "openmetrics", series, data)
    answers = [one for one in some if one.endpoint is Endpoint.METRICS]
    first, last = answers[0].received or 0.0, answers[-1].received or 0.0

    with running(prometheus, tmp_path) as url:
        client = Client(store(url, environment={}))
        span = f"[{round(last - first) + 2}s]"
        kept = {
            (tuple(sorted(one["metric"].items())), round(float(time), 3)): float(value)
            for name in (DISPATCHED, f"{WAITED}_count")
            for one in client.query(f'{name}{{job="apiserver"}}{span}', last + 1)
            for time, value in one["values"]
        }
        client.close()

    true = {}
    for answer in answers:
        families = parse_metrics(answer.body, answer.content_type).families
        counts = {labels: one.count for labels, one in families[WAITED].histograms.items()}
        for name, values in ((DISPATCHED, families[DISPATCHED].values), (f"{WAITED}_count", counts)):
            for own, value in values.items():
                labels = (*own, ("__name__", name), ("instance", answer.replica), ("job", "apiserver"))
                true[tuple(sorted(labels)), round(answer.received or 0.0, 3)] = float(value)
    assert len(true) > 100
    assert kept == true


def test_promtool_reads_the_series(promtool: Path, tmp_path: Path) -> None:
    """It knows the older format, of which the times are whole milliseconds: without them it takes the same lines."""
    tape = tmp_path / "tape"
    record(tape, samples(1))
    text = done(sys.executable, "-m", "apftop", "export", tape, "--to", "openmetrics")
    lines = "".join(re.sub(r" [0-9]+\.[0-9]{3}$", "", line) + "\n" for line in text.splitlines())
    told = done(promtool, "check", "metrics", "--extended", "--lint=none", given=lines.encode())
    assert WAITED in told
