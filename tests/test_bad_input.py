"""Bad input: one clear line that says what, where and what to do; exit code 2 or 3; and the rest goes on."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner

from apftop.cli import main

CASES = Path(__file__).parent / "cases"
Answer = tuple[int, str, bytes]
JSON = "application/json"
TEXT = "text/plain; version=0.0.4"


def apftop(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """The command with no access of its own, in this process; `text` is its standard input."""
    env = dict.fromkeys(name for name in os.environ if name.startswith(("KUBE", "APFTOP_"))) | {"HOME": "/nonexistent"}
    handlers = {one: signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGHUP)}
    with pytest.MonkeyPatch.context() as patch, CliRunner().isolation(text, env) as (out, err, _):
        patch.setattr(sys, "argv", ["apftop", *arguments])
        try:
            with pytest.raises(SystemExit) as ended:
                main()
        finally:
            for one, handler in handlers.items():
                signal.signal(one, handler)
        sys.stdout.flush()
        sys.stderr.flush()
        code = ended.value.code
        assert isinstance(code, int)
        return subprocess.CompletedProcess(arguments, code, out.getvalue().decode(), err.getvalue().decode())


def process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command as a person runs it, with no access of its own."""
    clean = {name: text for name, text in os.environ.items() if not name.startswith(("KUBE", "APFTOP_"))}
    env = clean | {"HOME": "/nonexistent"} | environment
    return subprocess.run(
        [sys.executable, "-m", "apftop", *arguments], capture_output=True, text=True, env=env, timeout=60, check=False
    )


def one_line(run: subprocess.CompletedProcess[str], *parts: str, code: int = 3) -> None:
    assert run.returncode == code, run.stderr
    assert "Traceback" not in run.stderr
    lines = run.stderr.strip().splitlines()
    assert len(lines) == 1, run.stderr
    assert all(part in lines[0] for part in parts), lines[0]


@contextmanager
def server(answer: Callable[[str], Answer]) -> Iterator[str]:
    """A plain HTTP server on loopback that answers each path as told."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, kind, body = answer(self.path.partition("?")[0])
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Tests are quiet."""

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{httpd.server_port}"
    finally:
        httpd.shutdown()
        httpd.server_close()


def status(code: int) -> bytes:
    return json.dumps({"kind": "Status", "status": "Failure", "message": "no", "code": code}).encode()


METRICS = gzip.decompress((CASES / "C03" / "metrics_t1.txt.gz").read_bytes())


def test_no_kubeconfig() -> None:
    one_line(process("report"), "no kubeconfig", "/nonexistent/.kube/config", "--kubeconfig")


def test_wrong_context(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text(
        "apiVersion: v1\nkind: Config\ncurrent-context: a\nusers: [{name: u, user: {token: secret-token}}]\n"
        "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]\n"
        "contexts: [{name: prod-eu, context: {cluster: c, user: u}}]\n"
    )
    run = apftop("report", "--kubeconfig", str(config), "--context", "prod-us")

    one_line(run, "prod-us", str(config), "prod-eu")
    assert "secret-token" not in run.stderr + run.stdout


def test_unreachable_host() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        run = apftop("report", "--server", url, "-d", "0.5", "-o", "json")

    assert run.returncode == 3
    assert "refused" in run.stderr
    assert url.removeprefix("http://") in run.stderr
    assert len(run.stderr.strip().splitlines()) == 1


def test_plain_http_off_loopback_is_refused() -> None:
    one_line(apftop("report", "--server", "http://192.0.2.1:8080"), "http", "192.0.2.1")


def test_expired_token() -> None:
    with server(lambda path: (401, JSON, status(401))) as url:
        run = apftop("report", "--server", url, "-d", "0.5")

    assert run.returncode == 3
    (line,) = [line for line in run.stdout.splitlines() if line.startswith("  ! 401")]
    assert "/metrics" in line
    assert "the dumps" in line
    assert "log in again" in line


def test_denied_dumps_leave_the_rest() -> None:
    def answer(path: str) -> Answer:
        return (200, TEXT, METRICS) if path == "/metrics" else (403, JSON, status(403))

    with server(answer) as url:
        run = apftop("report", "--server", url, "-d", "0.5")

    assert run.returncode == 3
    assert "workload-low" in run.stdout
    assert 'nonResourceURLs: ["/debug/api_priority_and_fairness/*"], verbs: ["get"]' in run.stdout
    assert "flowschemas" in run.stdout


def test_apf_switched_off() -> None:
    def answer(path: str) -> Answer:
        body = b'apiserver_current_inflight_requests{request_kind="readOnly"} 1\n'
        return (200, TEXT, body) if path == "/metrics" else (404, "text/plain", b"404 page not found\n")

    with server(answer) as url:
        run = apftop("report", "--server", url, "-d", "0.5")

    assert run.returncode == 3
    assert "404 on the dumps" in run.stdout
    assert "APF is switched off" in run.stdout


def test_a_url_that_is_no_api_server() -> None:
    with server(lambda path: (200, "text/html", b"<html><title>Sign in</title></html>")) as url:
        run = apftop("report", "--server", url, "-d", "0.5", "-o", "json")

    assert run.returncode == 3
    assert "web page" in run.stderr
    assert json.loads(run.stdout)["replicas"][url.removeprefix("http://")]["levels"] == {}


def test_reports_repeat_as_json_lines() -> None:
    with server(lambda path: (200, TEXT, METRICS) if path == "/metrics" else (404, "text/plain", b"no\n")) as url:
        run = apftop("report", "--server", url, "-b", "-n", "2", "-d", "0.5", "-o", "json")
    documents = [json.loads(line) for line in run.stdout.splitlines()]

    assert len(documents) == 2
    assert documents[0]["taken"]["t1"] == documents[1]["taken"]["t0"]


def test_a_bundle_that_is_not_there() -> None:
    one_line(apftop("report", "/nonexistent/bundle"), "/nonexistent/bundle", "no such file")


def test_a_folder_that_is_no_bundle(tmp_path: Path) -> None:
    (tmp_path / "holiday.jpg").write_bytes(b"\xff\xd8")

    one_line(apftop("report", str(tmp_path)), str(tmp_path), "metrics.txt")


def test_a_file_that_is_no_bundle(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")

    one_line(apftop("report", str(tmp_path / "notes.txt")), "notes.txt", "neither a tape nor a bundle")


def test_wrong_usage() -> None:
    run = process("report", "-n", "3", str(CASES / "C03"))

    assert run.returncode == 2
    assert "leave out PATH" in run.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("-d", "nan"),
        ("-d", "0"),
        ("--request-timeout", "-5"),
        ("--request-timeout", "inf"),
        ("--client-key", "key.pem", "--server", "https://127.0.0.1:1"),
        ("--context", "prod", str(CASES / "C03")),
        ("--server", "https://127.0.0.1:1", str(CASES / "C03")),
    ],
    ids=" ".join,
)
def test_options_that_make_no_sense(arguments: tuple[str, ...]) -> None:
    run = apftop("report", *arguments)

    assert run.returncode == 2
    assert "Traceback" not in run.stderr


def test_a_torn_archive(tmp_path: Path) -> None:
    archive = tmp_path / "bundle.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(CASES / "C03", "bundle")
    archive.write_bytes(archive.read_bytes()[:-2000])

    one_line(apftop("report", str(archive)), str(archive), "torn")


def test_an_archive_that_leads_out_of_itself(tmp_path: Path) -> None:
    archive = tmp_path / "evil.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(CASES / "C31" / "dump_requests.txt", "../../dump_requests.txt")

    one_line(apftop("report", str(archive)), "leads out")


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    shutil.copytree(CASES / "C03", tmp_path / "C03")
    return tmp_path / "C03"


def test_a_missing_file_is_unknown_and_no_fault(bundle: Path) -> None:
    (bundle / "metrics_t0.txt.gz").unlink()
    run = apftop("report", str(bundle), "-o", "json")
    level = json.loads(run.stdout)["replicas"]["server"]["levels"]["workload-low"]

    assert (run.returncode, run.stderr) == (0, "")
    assert level["dispatched_per_s"] is None
    assert level["waiting"] == 300


@pytest.mark.parametrize("keep", [20, 4000])
def test_torn_gzip_metrics(bundle: Path, keep: int) -> None:
    metrics = bundle / "metrics_t1.txt.gz"
    metrics.write_bytes(metrics.read_bytes()[:keep])
    run = apftop("report", str(bundle), "-o", "json")

    assert run.returncode == 3
    assert "metrics_t1.txt.gz" in run.stderr
    assert json.loads(run.stdout)["flows"][0]["waiting"] == 300


def test_metrics_torn_within_a_line(bundle: Path) -> None:
    (bundle / "metrics_t1.txt.gz").unlink()
    (bundle / "metrics_t1.txt").write_bytes(METRICS[: len(METRICS) // 2])
    run = apftop("report", str(bundle), "-o", "json")
    document = json.loads(run.stdout)

    assert run.returncode == 3
    assert "metrics_t1.txt: truncated" in run.stderr
    assert document["replicas"]["server"]["levels"]["workload-low"]["dispatched"] is None


def test_a_torn_dump(bundle: Path) -> None:
    dump = gzip.decompress((bundle / "dump_requests.txt.gz").read_bytes())
    (bundle / "dump_requests.txt.gz").unlink()
    (bundle / "dump_requests.txt").write_bytes(dump[: len(dump) // 2])
    run = apftop("report", str(bundle), "-o", "json")
    document = json.loads(run.stdout)

    assert run.returncode == 3
    assert "dump_requests.txt" in run.stderr
    assert "line" in run.stderr
    assert document["requests_summary"] is None
    assert document["replicas"]["server"]["levels"]["workload-low"]["dispatched_per_s"] == 368


def test_a_file_of_another_kind(bundle: Path) -> None:
    shutil.copy(bundle / "dump_queues.txt.gz", bundle / "dump_priority_levels.txt.gz")
    (bundle / "dump_priority_levels.txt").unlink()
    run = apftop("report", str(bundle), "-o", "json")

    assert run.returncode == 3
    assert "dump_queues" in run.stderr
    assert "not dump_priority_levels" in run.stderr


def test_broken_yaml_names_the_line(bundle: Path) -> None:
    (bundle / "prioritylevels.yaml").write_text("apiVersion: v1\nkind: List\nitems: [\n")
    run = apftop("report", str(bundle), "-o", "json")

    assert run.returncode == 3
    assert "prioritylevels.yaml" in run.stderr
    assert "line" in run.stderr


def test_scrape_times_that_make_no_sense(bundle: Path) -> None:
    (bundle / "scrape.json").write_text('{"t0": "2026-04-12T10:03:30Z", "t1": "2026-04-12T10:03:00Z"}')
    run = apftop("report", str(bundle), "-o", "json")

    assert run.returncode == 3
    assert "t1 is not after t0" in run.stderr
    assert json.loads(run.stdout)["taken"]["interval_s"] is None


def test_hostile_text_does_not_reach_the_terminal(bundle: Path) -> None:
    dump = gzip.decompress((bundle / "dump_requests.txt.gz").read_bytes())
    hostile = "\x1b[2J\u202ename".encode()
    user = b"system:serviceaccount:stackable-operators:secret-operator"
    dump = dump.replace(user, hostile + b"x" * (len(user) - len(hostile.decode())))
    (bundle / "dump_requests.txt.gz").write_bytes(gzip.compress(dump))
    run = apftop("report", str(bundle))

    assert "\x1b" not in run.stdout
    assert "\u202e" not in run.stdout
    assert "\\x1b[2J\\u{202e}name" in run.stdout


def shell(tail: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A report with its output sent wherever the shell sends it; bash, for PIPESTATUS."""
    line = f"{sys.executable} -m apftop report {CASES / 'C03'} {tail}"
    env = os.environ | environment
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=env, timeout=60, check=False)


def test_a_reader_that_goes_away_is_no_failure() -> None:
    run = shell("| true; exit ${PIPESTATUS[0]}")

    assert (run.returncode, run.stderr) == (141, "")


def test_a_full_disk_is_one_line() -> None:
    one_line(shell("> /dev/full"), "the output cannot be written", "No space left")


def test_no_standard_output_is_one_line() -> None:
    one_line(shell(">&-"), "standard output")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_stream_that_cannot_hold_a_character_gets_its_escape(encoding: str, bundle: Path) -> None:
    dump = gzip.decompress((bundle / "dump_requests.txt.gz").read_bytes())
    user = "system:serviceaccount:stackable-operators:secret-operator"
    odd = "☃" + user[1:]
    (bundle / "dump_requests.txt.gz").write_bytes(gzip.compress(dump.replace(user.encode(), odd.encode())))
    run = process("report", str(bundle), PYTHONIOENCODING=encoding)

    assert (run.returncode, run.stderr) == (0, "")
    assert "\\u2603" + user[1:] in run.stdout


def test_json_holds_nothing_that_a_terminal_acts_on(bundle: Path) -> None:
    dump = gzip.decompress((bundle / "dump_requests.txt.gz").read_bytes())
    user = "system:serviceaccount:stackable-operators:secret-operator"
    hostile = "\x9b2J\x7f\u202e\u200b\u2028\U000e0001ö"
    odd = hostile + "x" * (len(user) - len(hostile))
    (bundle / "dump_requests.txt.gz").write_bytes(gzip.compress(dump.replace(user.encode(), odd.encode())))
    run = apftop("report", str(bundle), "-o", "json")

    assert not set(run.stdout) & set("\x9b\x7f\u202e\u200b\u2028\U000e0001")
    assert "ö" in run.stdout
    assert json.loads(run.stdout)["flows"][0]["distinguisher"] == odd


def test_a_hand_that_no_server_deals_is_unknown(bundle: Path) -> None:
    config = (bundle / "prioritylevels.yaml").read_text()
    assert "handSize: 6" in config
    (bundle / "prioritylevels.yaml").write_text(config.replace("handSize: 6", "handSize: -6"))
    run = apftop("report", str(bundle), "-o", "json")

    assert run.returncode == 0
    assert json.loads(run.stdout)["flows"][0]["hand"] is None


def test_debug_writes_the_traceback_to_a_private_file(tmp_path: Path) -> None:
    log = tmp_path / "log"
    run = process("--debug", str(log), "report", "/nonexistent/bundle")

    one_line(run, "no such file")
    assert "Traceback" in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600
