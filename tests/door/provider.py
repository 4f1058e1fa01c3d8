"""A small identity provider on this machine: it signs tokens, rightly or as it is told."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

# How a code begins; then comes the nonce of the try it stands for.
CODE = "code-for-"
CLIENT, SECRET = "ioa-control", "the-secret-of-the-client"


class Provider:
    """What it says next, and what it was asked."""

    def __init__(self) -> None:
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.signing: Any = self.key
        self.algorithm, self.kid = "RS256", "one"
        self.signed = ""
        self.claims: dict[str, Any] = {}
        # A token to send again, instead of a new one.
        self.kept = ""
        self.asked: list[dict[str, str]] = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.issuer = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        """Go away."""
        self.server.shutdown()
        self.server.server_close()

    def configuration(self) -> dict[str, Any]:
        """Say where everything is."""
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        }

    def keys(self) -> dict[str, Any]:
        """Show the public key."""
        public = json.loads(RSAAlgorithm.to_jwk(self.key.public_key()))
        return {"keys": [{**public, "kid": "one", "use": "sig", "alg": "RS256"}]}

    def tokens(self) -> dict[str, Any]:
        """Sign who somebody is, for the try that a code stands for."""
        now = int(time.time())
        usual: dict[str, Any] = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300}
        usual["nonce"] = self.asked[-1]["code"].removeprefix(CODE)
        claims = {
            key: value for key, value in {**usual, **self.claims}.items() if value is not None
        }
        signed = jwt.encode(
            claims, self.signing, algorithm=self.algorithm, headers={"kid": self.kid}
        )
        self.signed = self.kept or signed
        return {"access_token": "unused", "token_type": "Bearer", "id_token": self.signed}

    def handler(self) -> type[BaseHTTPRequestHandler]:
        """Answer requests."""
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                well_known = "/.well-known/openid-configuration"
                self.answer(
                    provider.configuration() if self.path == well_known else provider.keys()
                )

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                provider.asked.append({name: each[0] for name, each in parse_qs(body).items()})
                self.answer(provider.tokens())

            def answer(self, document: Any) -> None:
                body = json.dumps(document).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: Any) -> None:
                """Say nothing."""

        return Handler
