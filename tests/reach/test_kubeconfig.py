"""Each user of a kubeconfig reaches the server as kubectl would send it; each fault of set-up says what to do."""

from __future__ import annotations

import base64
import json
import time
from pathlib import Path

import pytest
import yaml

from apftop.access import Overrides
from apftop.cluster import reach
from tests.reach.credentials import SECRET, Write, ask, authorization, b64, config, from_kubeconfig, unreachable
from tests.reach.server import Ca, Server


class TestUsers:
    def test_client_certificate_as_data(self, write: Write, ca: Ca) -> None:
        cert, key = ca.client("ada")
        path = write({"client-certificate-data": b64(cert), "client-key-data": b64(key)})
        assert ask(from_kubeconfig(path))["common_name"] == "ada"

    def test_client_certificate_as_files_beside_the_kubeconfig(self, write: Write, ca: Ca, tmp_path: Path) -> None:
        cert, key = ca.client("bob")
        (tmp_path / "bob.crt").write_bytes(cert)
        (tmp_path / "bob.key").write_bytes(key)
        path = write({"client-certificate": "bob.crt", "client-key": "bob.key"})
        assert ask(from_kubeconfig(path))["common_name"] == "bob"

    def test_ca_as_data(self, write: Write, ca: Ca) -> None:
        path = write({"token": SECRET}, certificate_authority_data=b64(ca.ca_pem))
        assert authorization(from_kubeconfig(path)) == [f"Bearer {SECRET}"]

    def test_basic(self, write: Write) -> None:
        path = write({"username": "ada", "password": SECRET})
        assert authorization(from_kubeconfig(path)) == [f"Basic {b64(f'ada:{SECRET}'.encode())}"]

    def test_token(self, write: Write) -> None:
        assert authorization(from_kubeconfig(write({"token": SECRET}))) == [f"Bearer {SECRET}"]

    def test_no_credentials(self, write: Write) -> None:
        seen = ask(from_kubeconfig(write({})))
        assert "authorization" not in seen["headers"]
        assert seen["common_name"] is None

    def test_oidc_with_a_token_that_lives(self, write: Write) -> None:
        parts = [{"alg": "none"}, {"exp": int(time.time()) + 3600}]
        head, claims = (base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)
        token = f"{head}.{claims}.sig"
        path = write({"auth-provider": {"name": "oidc", "config": {"id-token": token, "client-id": "x"}}})
        before = Path(path).read_bytes()
        assert authorization(from_kubeconfig(path)) == [f"Bearer {token}"]
        assert Path(path).read_bytes() == before

    @pytest.mark.parametrize(
        "provider",
        [
            {"name": "azure", "config": {"access-token": SECRET}},
            {"name": "oidc", "config": {"client-secret": SECRET}},
            {"name": "oidc", "config": {"id-token": SECRET}},
        ],
    )
    def test_an_auth_provider_that_gives_nothing_is_not_anonymous(
        self, write: Write, provider: dict[str, object]
    ) -> None:
        unreachable(from_kubeconfig, write({"auth-provider": provider}))

    def test_impersonation(self, write: Write) -> None:
        user = {"as": "eve", "as-uid": "17", "as-groups": ["g1", "g,2"], "as-user-extra": {"Team/x": ["a", "b"]}}
        headers = ask(from_kubeconfig(write({"token": "t", **user})))["headers"]
        assert headers["impersonate-user"] == ["eve"]
        assert headers["impersonate-uid"] == ["17"]
        assert headers["impersonate-group"] == ["g1", "g,2"]
        assert headers["impersonate-extra-team%2fx"] == ["a", "b"]
        assert headers["authorization"] == ["Bearer t"]

    def test_groups_without_a_user_cannot_be_impersonated(self, write: Write) -> None:
        assert "without as" in unreachable(from_kubeconfig, write({"token": SECRET, "as-groups": ["g"]})).what


class TestClusters:
    def test_tls_server_name(self, ca: Ca, tmp_path: Path) -> None:
        with Server(ca, ["kubernetes.default.svc"]) as other:
            path = tmp_path / "config"
            path.write_text(yaml.safe_dump(config(other, ca, {}, tls_server_name="kubernetes.default.svc")))
            assert ask(from_kubeconfig(str(path)))["sni"] == "kubernetes.default.svc"
            (named,) = reach(
                [other.url], over=Overrides(ca_file=str(ca.ca_file), tls_server_name="kubernetes.default.svc")
            ).ways
            assert ask(named)["sni"] == "kubernetes.default.svc"

    def test_insecure(self, ca: Ca, tmp_path: Path) -> None:
        with Server(Ca(tmp_path / "other"), ["elsewhere"]) as other:
            path = tmp_path / "config"
            given = config(other, ca, {"token": "t"}, insecure_skip_tls_verify=True)
            del given["clusters"][0]["cluster"]["certificate-authority"]
            path.write_text(yaml.safe_dump(given))
            access = from_kubeconfig(str(path))
            assert access.insecure
            assert authorization(access) == ["Bearer t"]
            (stricter,) = reach([], str(path), over=Overrides(ca_file=str(ca.ca_file))).ways
            assert not stricter.insecure

    def test_merged_files_keep_their_own_folders(
        self, ca: Ca, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        cert, key = ca.client("carl")
        for folder in ("clusters", "users"):
            (tmp_path / folder).mkdir()
        (tmp_path / "clusters/ca.crt").write_bytes(ca.ca_pem)
        (tmp_path / "users/carl.crt").write_bytes(cert)
        (tmp_path / "users/carl.key").write_bytes(key)
        whole = config(server, ca, {"client-certificate": "carl.crt", "client-key": "carl.key"})
        whole["clusters"][0]["cluster"]["certificate-authority"] = "ca.crt"
        users = {"users": whole.pop("users")}
        (tmp_path / "clusters/config").write_text(yaml.safe_dump(whole))
        (tmp_path / "users/config").write_text(yaml.safe_dump(users))
        files = ["clusters/config", "users/config", "missing"]
        monkeypatch.setenv("KUBECONFIG", ":".join(str(tmp_path / name) for name in files))
        assert ask(from_kubeconfig())["common_name"] == "carl"


class TestFaults:
    def test_no_kubeconfig(self, tmp_path: Path) -> None:
        assert str(tmp_path / "home/.kube/config") in unreachable(reach, []).where
        assert "/no/such" in unreachable(reach, [], "/no/such").where

    def test_wrong_context_names_up_to_eight(self, write: Write) -> None:
        path = write({"token": SECRET})
        assert unreachable(reach, [], path, "there").todo == "contexts there: here"
        given = yaml.safe_load(Path(path).read_text())
        given["contexts"] += [{"name": f"n{i}", "context": {"cluster": "c", "user": "u"}} for i in range(9)]
        Path(path).write_text(yaml.safe_dump(given))
        todo = unreachable(reach, [], path, "there").todo
        assert todo == "contexts there: here, n0, n1, n2, n3, n4, n5, n6, ..."

    def test_no_current_context(self, write: Write) -> None:
        path = write({})
        Path(path).write_text(Path(path).read_text().replace("current-context", "other"))
        assert unreachable(reach, [], path).what == "no current context"

    @pytest.mark.parametrize(("section", "what"), [("users", "no user 'u'"), ("clusters", "no server for cluster 'c'")])
    def test_dangling_context(self, write: Write, section: str, what: str) -> None:
        path = write({"token": SECRET})
        given = yaml.safe_load(Path(path).read_text())
        Path(path).write_text(yaml.safe_dump(given | {section: []}))
        assert what in unreachable(reach, [], path).what

    @pytest.mark.parametrize(
        "text", [f"users: [{SECRET}", f"- {SECRET}", SECRET, "", "users: 3", f"users: [{{user: {{token: {SECRET}}}}}]"]
    )
    def test_not_a_kubeconfig(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "bad").write_text(text)
        assert str(tmp_path / "bad") in unreachable(reach, [], str(tmp_path / "bad")).where

    def test_binary_kubeconfig(self, tmp_path: Path) -> None:
        (tmp_path / "bad").write_bytes(bytes(range(256)))
        unreachable(reach, [], str(tmp_path / "bad"))

    def test_missing_ca(self, write: Write, tmp_path: Path) -> None:
        path = write({"token": SECRET}, certificate_authority="ca-that-is-not.crt")
        error = unreachable(from_kubeconfig, path)
        assert error.what == "certificate authority file is missing"
        assert error.where == str(tmp_path / "ca-that-is-not.crt")

    @pytest.mark.parametrize("key", ["client-certificate", "client-key", "tokenFile"])
    def test_missing_files_of_a_user(self, write: Write, key: str) -> None:
        assert "is missing" in unreachable(from_kubeconfig, write({key: "nowhere"})).what


def test_nothing_secret_is_shown(write: Write, server: Server) -> None:
    user = {"token": SECRET, "as": "eve"}
    access = from_kubeconfig(write(user, proxy_url=f"http://ada:{SECRET}@127.0.0.1:1"))
    over = Overrides(token=SECRET)
    shown = repr(access) + str(access) + repr(over) + repr(reach([server.url], over=over).ways)
    assert SECRET not in shown
    assert b64(SECRET.encode()) not in shown
