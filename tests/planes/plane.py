"""A control plane on loopback: one etcd and several kube-apiserver replicas with RBAC and verified TLS."""

from __future__ import annotations

import http.client
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.planes.build import ETCD_VERSION, binary
from tests.planes.certificates import Authority, ServingFiles, service_account_key
from tests.planes.client import Client
from tests.planes.process import TERM_SECONDS, Port, Process
from tests.planes.users import kubeconfig, new_tokens, write_token_file

READY_SECONDS = 90.0
POLL_SECONDS = 0.2


class PlaneError(RuntimeError):
    """The control plane did not come up; the message holds the end of a log."""


@dataclass(frozen=True)
class Plane:
    """A running control plane; replicas are numbered from 0 in the order of `urls`."""

    version: str
    folder: Path
    urls: tuple[str, ...]
    ca_file: Path
    tokens: Mapping[str, str] = field(repr=False)
    etcd_url: str
    etcd: Process = field(repr=False)
    replicas: tuple[Process, ...] = field(repr=False)

    @property
    def log_files(self) -> tuple[Path, ...]:
        """The log of etcd and then of every replica."""
        return tuple(process.log_file for process in self.processes)

    @property
    def pids(self) -> tuple[int | None, ...]:
        """The process id of every replica, None where it is stopped."""
        return tuple(process.pid for process in self.replicas)

    @property
    def processes(self) -> tuple[Process, ...]:
        """Etcd and then every replica."""
        return (self.etcd, *self.replicas)

    def client(self, user: str = "admin", replica: int = 0) -> Client:
        """A client of one replica as one user."""
        return Client(self.urls[replica], self.tokens[user], self.ca_file)

    def kubeconfig(self, user: str = "admin", replica: int = 0, path: Path | None = None) -> Path:
        """Writes a kubeconfig of that user for that replica."""
        path = path or self.folder / f"kubeconfig-{user}-{replica}"
        path.touch(mode=0o600)
        path.write_text(kubeconfig(self.urls[replica], self.ca_file, user, self.tokens[user]))
        return path

    def stop_replica(self, replica: int, grace: float = TERM_SECONDS) -> None:
        """Ends one replica: SIGTERM, then SIGKILL after `grace` seconds."""
        self.replicas[replica].end(grace)

    def start_replica(self, replica: int, seconds: float = READY_SECONDS) -> None:
        """Starts a stopped replica on its old port and waits until it is ready."""
        self.replicas[replica].start()
        self.wait_ready([replica], seconds)

    def restart_replica(self, replica: int, grace: float = TERM_SECONDS, seconds: float = READY_SECONDS) -> None:
        """Stops one replica if it runs, starts it again and waits until it is ready."""
        self.stop_replica(replica, grace)
        self.start_replica(replica, seconds)

    def wait_ready(self, replicas: Sequence[int], seconds: float = READY_SECONDS) -> None:
        """Waits until /readyz of those replicas answers 200."""
        deadline = time.monotonic() + seconds
        for replica in replicas:
            process, client, last = self.replicas[replica], self.client(replica=replica), "no answer"
            while True:
                if process.pid is None:
                    raise PlaneError(f"{process.name} ended; end of its log:\n{process.log_tail()}")
                try:
                    answer = client.get("/readyz?verbose")
                except (OSError, http.client.HTTPException) as error:
                    last = repr(error)
                else:
                    if answer.status == 200:
                        break
                    last = answer.text
                if time.monotonic() > deadline:
                    raise PlaneError(
                        f"{process.name} is not ready after {seconds:.0f} s ({last}); end of its log:\n"
                        f"{process.log_tail()}"
                    )
                time.sleep(POLL_SECONDS)


@contextmanager
def start_plane(
    version: str,
    *,
    replicas: int = 3,
    inflight: tuple[int, int] = (60, 30),
    folder: Path,
    extra_flags: Sequence[str] = (),
) -> Iterator[Plane]:
    """Starts a control plane whose files and logs go to `folder`, and ends it whatever happens.

    `inflight` is --max-requests-inflight and --max-mutating-requests-inflight of every replica.
    """
    etcd_binary, server_binary = binary("etcd", ETCD_VERSION), binary("kube-apiserver", version)
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as cleanup:
        client_port, peer_port = _port(cleanup), _port(cleanup)
        etcd_url = f"http://127.0.0.1:{client_port}"
        etcd = Process("etcd", _etcd_command(etcd_binary, folder, client_port, peer_port), folder / "etcd.log")

        authority, tokens = Authority(folder), new_tokens()
        write_token_file(folder / "tokens.csv", tokens)
        common = _common_flags(folder, etcd_url, service_account_key(folder), inflight)
        servers, urls = [], []
        for replica in range(replicas):
            name, port = f"apiserver-{replica}", _port(cleanup)
            command = [
                str(server_binary),
                *common,
                *_own_flags(port, authority.serving(name), folder / name),
                *extra_flags,
            ]
            servers.append(Process(name, command, folder / f"{name}.log", {"APFTOP_PLANE_HOSTNAME": name}))
            urls.append(f"https://127.0.0.1:{port}")

        plane = Plane(
            version=version,
            folder=folder,
            urls=tuple(urls),
            ca_file=authority.ca_file,
            tokens=tokens,
            etcd_url=etcd_url,
            etcd=etcd,
            replicas=tuple(servers),
        )
        cleanup.callback(_end, plane)
        for process in plane.processes:
            process.start()
        plane.wait_ready(range(replicas))
        yield plane


def _end(plane: Plane) -> None:
    """Ends the replicas together and etcd after them."""
    for process in plane.replicas:
        process.ask_to_end()
    deadline = time.monotonic() + TERM_SECONDS
    with ExitStack() as every_one:
        for process in plane.processes:
            every_one.callback(lambda ending: ending.end(max(0.1, deadline - time.monotonic())), process)


def _port(cleanup: ExitStack) -> int:
    port = Port()
    cleanup.callback(port.release)
    return port.number


def _etcd_command(executable: Path, folder: Path, client_port: int, peer_port: int) -> list[str]:
    client, peer = f"http://127.0.0.1:{client_port}", f"http://127.0.0.1:{peer_port}"
    return [
        str(executable),
        "--name=plane",
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=plane={peer}",
        "--socket-reuse-port",
        "--unsafe-no-fsync",
        "--log-level=warn",
    ]


def _common_flags(folder: Path, etcd_url: str, account_key: Path, inflight: tuple[int, int]) -> list[str]:
    return [
        f"--etcd-servers={etcd_url}",
        f"--token-auth-file={folder / 'tokens.csv'}",
        "--authorization-mode=RBAC",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-signing-key-file={account_key}",
        f"--service-account-key-file={account_key}",
        # No controller-manager makes the accounts that this plugin asks for.
        "--disable-admission-plugins=ServiceAccount",
        f"--max-requests-inflight={inflight[0]}",
        f"--max-mutating-requests-inflight={inflight[1]}",
        "--service-cluster-ip-range=10.0.0.0/24",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        "--permit-port-sharing",
        # Endpoints may not hold loopback addresses.
        "--endpoint-reconciler-type=none",
    ]


def _own_flags(port: int, serving: ServingFiles, certificates: Path) -> list[str]:
    return [
        f"--secure-port={port}",
        f"--tls-cert-file={serving.certificate}",
        f"--tls-private-key-file={serving.key}",
        f"--cert-dir={certificates}",
    ]
