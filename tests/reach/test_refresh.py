"""Credentials that end, or that a server refuses, are renewed while they are in use; nothing that hangs holds us up."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from apftop.access import Access, Headers, Overrides, Unreachable
from apftop.cluster import reach
from apftop.credentials import Credential, Renewing
from apftop.fetch import Turn, run
from apftop.records.raw import Endpoint
from tests.reach.asking import LEVELS
from tests.reach.credentials import (
    SECRET,
    Write,
    ask,
    authorization,
    eventually,
    exec_user,
    from_kubeconfig,
    plugin,
    unreachable,
)
from tests.reach.server import Ca, Reply, Server


def held(token: str, lives_s: float | None = None) -> Credential:
    return Credential((("Authorization", token),), None if lives_s is None else time.time() + lives_s)


def renewing(
    renew: Callable[[], Credential], first: Credential, *, early_s: float = 0.0, pause_s: float = 0.0
) -> Renewing:
    return Renewing(renew, first, "the test", early_s=early_s, pause_s=pause_s)


def tokens(headers: Headers) -> str:
    return dict(headers)["Authorization"]


class Renewals:
    """Gives new tokens, or fails with what it is told; each waits for `go`, and at most so many run at a time."""

    def __init__(self, lives_s: float | None = None) -> None:
        self.go = threading.Event()
        self.go.set()
        self.error: Exception | None = None
        self.begun = 0
        self.running = 0
        self.most = 0
        self._lives_s = lives_s

    def __call__(self) -> Credential:
        self.begun += 1
        number = self.begun
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            self.go.wait(30)
            if self.error:
                raise self.error
            return held(f"new {number}", self._lives_s)
        finally:
            self.running -= 1


class TestRenewing:
    async def test_a_credential_without_an_end_is_kept(self) -> None:
        renew = Renewals()
        auth = renewing(renew, held("old"))
        assert [tokens(await auth()) for _ in range(3)] == ["old"] * 3
        assert renew.begun == 0

    async def test_it_is_renewed_before_its_end_while_requests_go_on(self) -> None:
        renew = Renewals()
        renew.go.clear()
        auth = renewing(renew, held("old", lives_s=60), early_s=120)
        assert [tokens(await auth()) for _ in range(3)] == ["old"] * 3
        renew.go.set()
        async with asyncio.timeout(20):
            while tokens(await auth()) != "new 1":
                await asyncio.sleep(0.01)
        assert renew.most == 1

    async def test_requests_wait_for_one_renewal_where_no_credential_holds(self) -> None:
        renew = Renewals()
        renew.go.clear()
        auth = renewing(renew, held("old", lives_s=-1))
        waiting = [asyncio.create_task(auth()) for _ in range(5)]
        await asyncio.sleep(0.05)
        assert not any(task.done() for task in waiting)
        renew.go.set()
        assert {tokens(headers) for headers in await asyncio.gather(*waiting)} == {"new 1"}
        assert renew.begun == 1

    async def test_who_gives_up_waiting_leaves_the_others_waiting(self) -> None:
        renew = Renewals()
        renew.go.clear()
        auth = renewing(renew, held("old", lives_s=-1))
        first, second = asyncio.create_task(auth()), asyncio.create_task(auth())
        await asyncio.sleep(0.05)
        first.cancel()
        await asyncio.sleep(0.05)
        renew.go.set()
        assert tokens(await second) == "new 1"

    async def test_a_renewal_that_hangs_is_waited_for_so_long_and_begun_once(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("apftop.credentials.WAIT_S", 0.2)
        renew = Renewals()
        renew.go.clear()
        auth = renewing(renew, held("old", lives_s=-1))
        for _ in range(3):
            with pytest.raises(Unreachable, match=r"no new credential in 0\.2 s: the test"):
                await auth()
        assert renew.begun == 1
        renew.go.set()
        async with asyncio.timeout(20):
            while renew.running:
                await asyncio.sleep(0.01)
        assert tokens(await auth()) == "new 1"

    async def test_a_renewal_that_is_stuck_does_not_bar_the_next_for_ever(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("apftop.credentials.STUCK_S", 0.1)
        renew = Renewals()
        stuck = renew.go
        stuck.clear()
        auth = renewing(renew, held("old", lives_s=60), early_s=120)
        await auth()
        await asyncio.sleep(0.2)
        renew.go = threading.Event()
        renew.go.set()
        async with asyncio.timeout(20):
            while tokens(await auth()) != "new 2":
                await asyncio.sleep(0.01)
        stuck.set()
        async with asyncio.timeout(20):
            while renew.running:
                await asyncio.sleep(0.01)
        assert tokens(await auth()) == "new 2"

    async def test_a_refused_credential_is_renewed_before_the_next_request(self) -> None:
        renew = Renewals()
        auth = renewing(renew, held("old", lives_s=3600))
        assert tokens(await auth()) == "old"
        auth.refused()
        assert tokens(await auth()) == "new 1"
        assert tokens(await auth()) == "new 1"

    async def test_a_refusal_may_be_of_the_credential_before(self) -> None:
        renew = Renewals()
        auth = renewing(renew, held("old"), pause_s=3600)
        auth.refused()
        assert tokens(await auth()) == "old"
        assert renew.begun == 0

    async def test_renewals_keep_their_distance_whatever_the_credential_says(self) -> None:
        renew = Renewals(lives_s=0.0)
        auth = renewing(renew, held("old", lives_s=0.0), pause_s=0.3)
        begun = time.monotonic()
        while time.monotonic() - begun < 1.0:
            await auth()
            await asyncio.sleep(0.01)
        assert renew.begun <= (time.monotonic() - begun) / 0.3

    async def test_a_failure_counts_once_the_old_credential_has_ended(self) -> None:
        renew = Renewals()
        renew.error = Unreachable("exec plugin failed", "the test", "log in again")
        auth = renewing(renew, held("old", lives_s=1.0), early_s=60)
        assert tokens(await auth()) == "old"
        async with asyncio.timeout(20):
            while renew.running or not renew.begun:
                await asyncio.sleep(0.01)
        assert tokens(await auth()) == "old"
        await asyncio.sleep(1.1)
        with pytest.raises(Unreachable, match="exec plugin failed: the test; log in again"):
            await auth()
        renew.error = None
        async with asyncio.timeout(20):
            while True:
                with suppress(Unreachable):
                    assert tokens(await auth()).startswith("new ")
                    break

    async def test_whatever_goes_wrong_is_a_line_without_secrets(self) -> None:
        renew = Renewals()
        renew.error = RuntimeError(SECRET)
        auth = renewing(renew, held("old", lives_s=-1))
        with pytest.raises(Unreachable) as caught:
            await auth()
        assert str(caught.value) == "no new credential (RuntimeError): the test; log in again"

    def test_it_serves_one_event_loop_after_another(self) -> None:
        renew = Renewals()
        renew.go.clear()
        auth = renewing(renew, held("old", lives_s=-1))

        async def give_up() -> None:
            with suppress(TimeoutError):
                async with asyncio.timeout(0.1):
                    await auth()

        asyncio.run(give_up())
        renew.go.set()
        eventually(lambda: not renew.running)
        assert tokens(asyncio.run(_once(auth))) == "new 1"
        assert renew.begun == 1


async def _once(auth: Renewing) -> Headers:
    return await auth()


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Renewals need no distance in time."""
    monkeypatch.setattr("apftop.kubeconfig.PAUSE_S", 0.0)
    monkeypatch.setattr("apftop.credentials.TOKEN_FILE_PAUSE_S", 0.0)


@pytest.mark.usefixtures("at_once")
class TestTokenFiles:
    def test_is_read_again_while_running(self, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("apftop.credentials.TOKEN_FILE_EVERY_S", 0.0)
        (tmp_path / "token").write_text("one\n")
        access = from_kubeconfig(write({"tokenFile": "token", "as": "eve"}))
        assert authorization(access) == ["Bearer one"]
        (tmp_path / "token").write_text("two\n")
        eventually(lambda: authorization(access) == ["Bearer two"])
        assert ask(access)["headers"]["impersonate-user"] == ["eve"]

    def test_is_not_read_for_each_request(self, write: Write, tmp_path: Path) -> None:
        (tmp_path / "token").write_text("one\n")
        access = from_kubeconfig(write({"tokenFile": "token"}))
        (tmp_path / "token").unlink()
        assert authorization(access) == ["Bearer one"]

    def test_is_read_again_after_a_refusal(self, write: Write, server: Server, tmp_path: Path) -> None:
        (tmp_path / "token").write_text("one\n")
        over = Overrides(token_file=str(tmp_path / "token"))
        (access,) = reach([server.url], write({}), over=over).ways
        assert authorization(access) == ["Bearer one"]
        (tmp_path / "token").write_text("two\n")
        access.refused()
        assert authorization(access) == ["Bearer two"]

    def test_one_that_vanishes_is_told_when_its_token_is_too_old(
        self, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("apftop.credentials.TOKEN_FILE_HOLDS_S", 0.0)
        monkeypatch.setattr("apftop.credentials.TOKEN_FILE_EVERY_S", 0.0)
        (tmp_path / "token").write_text("one\n")
        access = from_kubeconfig(write({"tokenFile": "token"}))
        (tmp_path / "token").unlink()
        with pytest.raises(Unreachable, match="token file cannot be read"):
            asyncio.run(headers(access))

    def test_a_pipe_is_read_once(self, ca: Ca, server: Server) -> None:
        read, write_end = os.pipe()
        os.write(write_end, b"piped\n")
        os.close(write_end)
        over = Overrides(ca_file=str(ca.ca_file), token_file=f"/dev/fd/{read}")
        (access,) = reach([server.url], over=over).ways
        os.close(read)
        access.refused()
        assert authorization(access) == ["Bearer piped"]

    def test_one_that_hangs_at_the_start_is_told(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("apftop.credentials.FIRST_WAIT_S", 0.2)
        os.mkfifo(tmp_path / "token")
        error = unreachable(reach, ["https://127.0.0.1:1"], over=Overrides(token_file=str(tmp_path / "token")))
        assert str(error) == f"no credential in 0.2 s: {tmp_path}/token; see why it hangs"

    def test_one_that_hangs_holds_up_no_exit(self, tmp_path: Path) -> None:
        (tmp_path / "token").write_text("one\n")
        code = (
            "import asyncio, os, sys\n"
            "from apftop import credentials\n"
            "path = sys.argv[1]\n"
            "credentials.TOKEN_FILE_HOLDS_S = credentials.TOKEN_FILE_EVERY_S = credentials.TOKEN_FILE_PAUSE_S = 0.0\n"
            "credentials.WAIT_S = 0.3\n"
            "auth = credentials.token_file(path)\n"
            "os.unlink(path)\n"
            "os.mkfifo(path)\n"
            "try: asyncio.run(auth())\n"
            "except credentials.Unreachable as exc: print(exc, flush=True)\n"
        )
        done, seconds = run_python(code, str(tmp_path / "token"))
        assert done.stdout.startswith("no new credential in 0.3 s: ")
        assert seconds < 10


@pytest.mark.usefixtures("at_once")
class TestPlugins:
    """The plugins count their runs in a file, and give the number as a token."""

    @pytest.fixture
    def runs(self, tmp_path: Path) -> Path:
        return tmp_path / "runs"

    def counting(self, runs: Path, then: str) -> str:
        count = f"open({str(runs)!r}, 'a').write('x')\nn = len(open({str(runs)!r}).read())\n"
        return plugin(runs.parent, f"import datetime\n{count}{then}")

    def test_runs_again_before_its_token_ends(self, write: Write, runs: Path) -> None:
        command = self.counting(runs, f"give(token=f't{{n}}', expirationTimestamp={stamp(30)!r} if n == 1 else None)")
        access = from_kubeconfig(write({**exec_user(command), "as": "eve"}))
        eventually(lambda: authorization(access) == ["Bearer t2"])
        assert ask(access)["headers"]["impersonate-user"] == ["eve"]
        assert runs.read_text() == "xx"

    def test_runs_once_while_its_token_lives(self, write: Write, runs: Path) -> None:
        command = self.counting(runs, f"give(token=f't{{n}}', expirationTimestamp={stamp(3600)!r})")
        access = from_kubeconfig(write(exec_user(command)))
        assert [authorization(access) for _ in range(3)] == [["Bearer t1"]] * 3
        assert runs.read_text() == "x"

    def test_runs_again_after_a_refusal(self, write: Write, runs: Path) -> None:
        access = from_kubeconfig(write(exec_user(self.counting(runs, "give(token=f't{n}')"))))
        assert authorization(access) == ["Bearer t1"]
        access.refused()
        assert authorization(access) == ["Bearer t2"]

    def test_runs_again_after_an_answer_of_401(self, write: Write, server: Server, runs: Path) -> None:
        access = from_kubeconfig(write(exec_user(self.counting(runs, "give(token=f't{n}')"))))
        server.replies[LEVELS] = Reply(401)
        (sample,) = run([access], [Turn((Endpoint.LEVELS,))])
        assert sample.status == 401
        del server.replies[LEVELS]
        assert authorization(access) == ["Bearer t2"]

    def test_runs_seldom_however_short_its_tokens_live(
        self, write: Write, runs: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("apftop.kubeconfig.PAUSE_S", 20.0)
        command = self.counting(runs, f"give(token=f't{{n}}', expirationTimestamp={stamp(0)!r})")
        access = from_kubeconfig(write(exec_user(command)))
        access.refused()
        assert [authorization(access) for _ in range(3)] == [["Bearer t1"]] * 3
        assert runs.read_text() == "x"

    def test_may_not_ask_anybody_while_running(self, write: Write, runs: Path) -> None:
        told = "[info['spec']['interactive'], sys.stdin.read(), os.getsid(0) == os.getpid()]"
        access = from_kubeconfig(write(exec_user(self.counting(runs, f"give(token=json.dumps({told}))"))))
        access.refused()
        assert authorization(access) == ['Bearer [false, "", true]']

    def test_that_must_talk_with_a_person_is_not_run_while_running(
        self, write: Write, runs: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("stdin", "stderr"):
            monkeypatch.setattr(f"sys.{name}.isatty", lambda: True)
        command = self.counting(runs, "give(token=f't{n}')")
        access = from_kubeconfig(write(exec_user(command, interactiveMode="Always")))
        assert authorization(access) == ["Bearer t1"]
        access.refused()
        with pytest.raises(Unreachable, match="must talk with a person"):
            asyncio.run(headers(access))
        assert runs.read_text() == "x"

    def test_a_failure_is_told_by_its_last_line_when_the_token_has_ended(self, write: Write, runs: Path) -> None:
        fail = f"if n > 1: sys.exit('{SECRET}\\nsession has expired')\n"
        command = self.counting(runs, f"{fail}give(token='t', expirationTimestamp={stamp(2)!r})")
        access = from_kubeconfig(write(exec_user(command)))
        assert authorization(access) == ["Bearer t"]

        said: list[str] = []

        def ended() -> bool:
            try:
                asyncio.run(headers(access))
            except Unreachable as exc:
                said.append(str(exc))
            return bool(said)

        eventually(ended)
        assert said == [f"exec plugin failed (exit code 1): {command}; session has expired"]
        assert len(runs.read_text()) > 1

    def test_one_that_hangs_is_killed_with_what_it_started(
        self, write: Write, runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        hang = f"if n > 1: __import__('subprocess').run(['sh', '-c', 'echo $$ > {tmp_path}/pid; sleep 600 & wait'])\n"
        access = from_kubeconfig(write(exec_user(self.counting(runs, f"{hang}give(token='t')"))))
        monkeypatch.setattr("apftop.plugin.PLUGIN_DEADLINE_S", 2.0)
        access.refused()
        with pytest.raises(Unreachable, match="gave no answer in 2 s"):
            asyncio.run(headers(access))
        eventually(lambda: not alive(int((tmp_path / "pid").read_text())))

    def test_one_that_hangs_is_ended_with_us_and_holds_up_no_exit(
        self, write: Write, runs: Path, tmp_path: Path
    ) -> None:
        hang = f"if n > 1: __import__('subprocess').run(['sh', '-c', 'echo $$ > {tmp_path}/pid; sleep 600 & wait'])\n"
        path = write(exec_user(self.counting(runs, f"{hang}give(token='t')")))
        code = (
            "import asyncio, os, sys, time\n"
            "from apftop import credentials, kubeconfig\n"
            "kubeconfig.PAUSE_S = 0.0\n"
            "credentials.WAIT_S = 0.1\n"
            "access = kubeconfig.load_context(sys.argv[1]).access\n"
            "access.refused()\n"
            "async def go():\n"
            "    while not os.path.exists(sys.argv[2]) or not open(sys.argv[2]).read().strip():\n"
            "        try: await access.auth()\n"
            "        except credentials.Unreachable: pass\n"
            "asyncio.run(go())\n"
            "print(time.monotonic())\n"
        )
        done, _ = run_python(code, path, str(tmp_path / "pid"))
        assert time.monotonic() - float(done.stdout) < 5
        eventually(lambda: not alive(int((tmp_path / "pid").read_text())), within_s=5)

    def test_a_new_client_certificate_is_for_new_sessions(self, write: Write, runs: Path, ca: Ca) -> None:
        pairs = [tuple(blob.decode() for blob in ca.client(name)) for name in ("first", "second")]
        command = self.counting(
            runs,
            f"cert, key = {pairs!r}[min(n, 2) - 1]\n"
            f"give(clientCertificateData=cert, clientKeyData=key, expirationTimestamp={stamp(3600)!r})",
        )
        access = from_kubeconfig(write(exec_user(command)))
        assert (ask(access)["common_name"], access.edition) == ("first", 0)
        access.refused()
        assert (ask(access)["common_name"], access.edition) == ("first", 1)
        assert (ask(access)["common_name"], access.edition) == ("second", 1)
        access.refused()
        asyncio.run(headers(access))
        assert access.edition == 1
        assert len(runs.read_text()) == 3

    def test_its_certificate_is_for_this_user_only_and_gone_in_the_end(self, write: Write, runs: Path, ca: Ca) -> None:
        cert, key = (blob.decode() for blob in ca.client("robot"))
        path = write(exec_user(self.counting(runs, f"give(clientCertificateData={cert!r}, clientKeyData={key!r})")))
        code = (
            "import os, sys\n"
            "from apftop.kubeconfig import load_context\n"
            "access = load_context(sys.argv[1]).access\n"
            "print(access.cert_file, oct(os.stat(access.cert_file).st_mode), access.key_file)"
        )
        done, _ = run_python(code, path)
        file, mode, key_file = done.stdout.split()
        assert (mode, key_file) == ("0o100600", "None")
        assert not Path(file).parent.exists()


def test_fixed_credentials_know_no_refusal(write: Write) -> None:
    access = from_kubeconfig(write({"token": SECRET}))
    access.refused()
    assert (authorization(access), access.edition) == ([f"Bearer {SECRET}"], 0)
    assert replace(access, name="other").edition == 0


async def headers(access: Access) -> Headers:
    return await access.auth()


def stamp(seconds: float) -> str:
    """An RFC 3339 time so many seconds from now."""
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")


def alive(pid: int) -> bool:
    """Whether a process runs; one that nobody has waited for yet does not."""
    with suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def run_python(code: str, *arguments: str) -> tuple[subprocess.CompletedProcess[str], float]:
    """A program of our own from beginning to end, and how many seconds that took."""
    begun = time.monotonic()
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env={**os.environ})
    assert done.returncode == 0, done.stderr
    return done, time.monotonic() - begun
