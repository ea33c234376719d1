"""A Prometheus on loopback, which is ended whatever happens."""

from __future__ import annotations

import ctypes
import json
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

READY_S = 60.0
TERM_S = 10.0
PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Job:
    """Servers to scrape: by their URLs, every so many seconds, with a token if there is one."""

    urls: Sequence[str]
    interval_s: int = 2
    name: str = "apiserver"
    token_file: Path | None = None
    ca_file: Path | None = None

    def config(self) -> dict[str, Any]:
        """Its part of the configuration."""
        scheme = urlsplit(self.urls[0]).scheme
        made: dict[str, Any] = {
            "job_name": self.name,
            "scheme": scheme,
            "scrape_interval": f"{self.interval_s}s",
            "scrape_timeout": f"{self.interval_s}s",
            "static_configs": [{"targets": [urlsplit(url).netloc for url in self.urls]}],
        }
        if self.token_file is not None:
            made["authorization"] = {"credentials_file": str(self.token_file)}
        if self.ca_file is not None:
            made["tls_config"] = {"ca_file": str(self.ca_file)}
        return made


@contextmanager
def running(binary: Path, folder: Path, *jobs: Job) -> Iterator[str]:
    """The URL of a Prometheus that scrapes the servers of these jobs from now on, with what is in `folder`/data."""
    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "prometheus.json"
    whole = {
        "scrape_configs": [job.config() for job in jobs],
    }
    # JSON is YAML too.
    config.write_text(json.dumps(whole))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    address = f"127.0.0.1:{port}"
    command = [
        str(binary),
        f"--config.file={config}",
        f"--storage.tsdb.path={folder / 'data'}",
        "--storage.tsdb.retention.time=100y",
        f"--web.listen-address={address}",
    ]
    log = folder / "prometheus.log"
    with log.open("ab") as output:
        child = subprocess.Popen(command, stdout=output, stderr=output, stdin=subprocess.DEVNULL, preexec_fn=_die_too)
    try:
        _wait_ready(child, f"http://{address}", log)
        yield f"http://{address}"
    finally:
        child.terminate()
        try:
            child.wait(TERM_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait(TERM_S)


def _die_too() -> None:
    """End with the test run, whatever the way that ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _wait_ready(child: subprocess.Popen[bytes], url: str, log: Path) -> None:
    deadline = time.monotonic() + READY_S
    while True:
        try:
            with urllib.request.urlopen(f"{url}/-/ready", timeout=2) as answer:
                if answer.status == 200:
                    return
        except OSError:
            pass
        if child.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"Prometheus is not ready; end of its log:\n{log.read_text()[-2000:]}")
        time.sleep(0.1)
