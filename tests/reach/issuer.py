"""An OIDC issuer on loopback: its discovery document, and an endpoint that gives new tokens for a refresh token."""

from __future__ import annotations

import base64
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs

from tests.reach.server import Server


def id_token(lives_s: float, name: str = "") -> str:
    """A JSON web token, unsigned, that expires so many seconds from now."""
    parts = [{"alg": "none"}, {"exp": int(time.time() + lives_s), "name": name}]
    head, claims = (base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)
    return f"{head}.{claims}.sig"


class Issuer:
    """Runs while the `with` lasts, with the certificate of a Server. Each refresh token is good for one use.

    `forms` are the questions for new tokens as they came; `broken` answers with 500 to everything.
    """

    def __init__(self, server: Server) -> None:
        self.forms: list[dict[str, list[str]]] = []
        self.logins: list[str] = []
        self.refresh_token = "refresh-0"
        self.lives_s = 3600.0
        self.broken = False
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        assert server.tls is not None
        self._http.socket = server.tls.wrap_socket(self._http.socket, server_side=True)
        self.url = f"https://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._http.shutdown()
        self._http.server_close()

    def user(self, token: str, **more: str) -> dict[str, Any]:
        """The user of a kubeconfig who has this ID token of ours."""
        given = {"idp-issuer-url": self.url, "client-id": "apf", "id-token": token, "refresh-token": self.refresh_token}
        return {"auth-provider": {"name": "oidc", "config": {**given, **more}}}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                found = self.path == "/.well-known/openid-configuration" and not issuer.broken
                self._say(200 if found else 500, {"issuer": issuer.url, "token_endpoint": f"{issuer.url}/token"})

            def do_POST(self) -> None:
                form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
                issuer.forms.append(form)
                issuer.logins.append(self.headers.get("Authorization", ""))
                if form["refresh_token"] != [issuer.refresh_token]:
                    self._say(400, {"error": "invalid_grant"})
                    return
                number = len(issuer.forms)
                issuer.refresh_token = f"refresh-{number}"
                said = {"id_token": id_token(issuer.lives_s, str(number)), "refresh_token": issuer.refresh_token}
                self._say(200, {"token_type": "Bearer", "access_token": "a", "expires_in": 3600, **said})

            def _say(self, status: int, said: dict[str, Any]) -> None:
                body = json.dumps(said).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler
