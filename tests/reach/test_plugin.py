"""Exec plugins are told, run and believed as by kubectl; each fault says what to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from apftop.access import Overrides
from apftop.cluster import reach
from tests.reach.credentials import (
    SECRET,
    V1,
    Write,
    ask,
    authorization,
    b64,
    exec_user,
    from_kubeconfig,
    plugin,
    unreachable,
)
from tests.reach.server import Ca, Server


class TestPlugins:
    @pytest.mark.parametrize("version", [V1, "client.authentication.k8s.io/v1beta1"])
    def test_token(self, write: Write, tmp_path: Path, version: str) -> None:
        command = plugin(tmp_path, "give(token=sys.argv[1] + os.environ['MORE'] + info['apiVersion'][-2:])")
        spec = exec_user(command, version, args=["a"], env=[{"name": "MORE", "value": "b"}])
        assert authorization(from_kubeconfig(write(spec))) == [f"Bearer ab{version[-2:]}"]

    def test_client_certificate(self, write: Write, tmp_path: Path, ca: Ca) -> None:
        cert, key = (blob.decode() for blob in ca.client("robot"))
        command = plugin(tmp_path, f"give(clientCertificateData={cert!r}, clientKeyData={key!r}, token='t')")
        seen = ask(from_kubeconfig(write(exec_user(command))))
        assert seen["common_name"] == "robot"
        assert seen["headers"]["authorization"] == ["Bearer t"]

    def test_relative_command_is_beside_the_kubeconfig(
        self, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        plugin(tmp_path, "give(token=os.getcwd())", "bin/plugin")
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        assert authorization(from_kubeconfig(write(exec_user("./bin/plugin")))) == [f"Bearer {tmp_path}/elsewhere"]

    def test_bare_command_is_on_the_path(self, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        plugin(tmp_path, "give(token='t')", "bin/plugin-by-name")
        monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
        assert authorization(from_kubeconfig(write(exec_user("plugin-by-name")))) == ["Bearer t"]

    def test_cluster_info(self, write: Write, tmp_path: Path, server: Server, ca: Ca) -> None:
        command = plugin(tmp_path, f"open({str(tmp_path / 'info')!r}, 'w').write(json.dumps(info))\ngive(token='t')")
        extensions = [{"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}}]
        path = write(exec_user(command, provideClusterInfo=True), extensions=extensions, tls_server_name="localhost")
        assert authorization(from_kubeconfig(path)) == ["Bearer t"]
        spec = json.loads((tmp_path / "info").read_text())["spec"]
        assert spec["interactive"] is False
        assert spec["cluster"] == {
            "server": server.url,
            "certificate-authority-data": b64(ca.ca_pem),
            "tls-server-name": "localhost",
            "config": {"audience": "x"},
        }

    def test_failure_says_the_exit_code_and_the_last_line(
        self, write: Write, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        code = f"print({SECRET!r})\nsys.stderr.write('first\\nlog in\\x1b[1m again\\n')\nsys.exit(7)"
        error = unreachable(from_kubeconfig, write(exec_user(plugin(tmp_path, code))))
        assert "exit code 7" in error.what
        assert error.todo == "log in [1m again"
        assert not caplog.records

    @pytest.mark.parametrize(("mode", "interactive"), [("IfAvailable", True), ("Never", False)])
    def test_a_terminal_is_lent_to_the_plugin(
        self,
        write: Write,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capfd: pytest.CaptureFixture[str],
        mode: str,
        interactive: bool,
    ) -> None:
        for name in ("stdin", "stderr"):
            monkeypatch.setattr(f"sys.{name}.isatty", lambda: True)
        code = "sys.stderr.write(f\"open the browser {info['spec']['interactive']}\")\nsys.exit(3)"
        error = unreachable(from_kubeconfig, write(exec_user(plugin(tmp_path, code), interactiveMode=mode)))
        said = f"open the browser {interactive}"
        assert capfd.readouterr().err == (said if interactive else "")
        assert error.todo == ("it said why above" if interactive else said)

    def test_missing_plugin_gives_its_hint(self, write: Write) -> None:
        error = unreachable(from_kubeconfig, write(exec_user("no-such-plugin", installHint="Install it\nso")))
        assert "no-such-plugin" in error.where
        assert error.todo == "Install it so"

    @pytest.mark.parametrize("code", [f"print({SECRET!r})", "give()", "print('[]')", "give(clientCertificateData='x')"])
    def test_useless_answer(self, write: Write, tmp_path: Path, code: str) -> None:
        assert "exec plugin" in unreachable(from_kubeconfig, write(exec_user(plugin(tmp_path, code)))).what

    def test_slow_plugin(self, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("apftop.plugin.PLUGIN_DEADLINE_S", 0.2)
        command = plugin(tmp_path, "import time; time.sleep(60)")
        assert "no answer" in unreachable(from_kubeconfig, write(exec_user(command))).what

    def test_runs_once_for_many_servers(self, write: Write, tmp_path: Path, server: Server) -> None:
        command = plugin(tmp_path, f"open({str(tmp_path / 'runs')!r}, 'a').write('x')\ngive(token='t')")
        found = reach([server.url, f"{server.url}/a", f"{server.url}/b"], write(exec_user(command))).ways
        assert [authorization(access) for access in found] == [["Bearer t"]] * 3
        assert (tmp_path / "runs").read_text() == "x"

    def test_is_left_alone_when_other_credentials_are_given(self, write: Write, server: Server) -> None:
        (access,) = reach([server.url], write(exec_user("no-such-plugin")), over=Overrides(token="other")).ways
        assert authorization(access) == ["Bearer other"]
