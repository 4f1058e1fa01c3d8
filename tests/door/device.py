"""A device that keeps passkeys, as a browser speaks of it."""

from __future__ import annotations

import hashlib
import json
import secrets
import struct
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from fido2 import cbor
from fido2.cose import ES256
from fido2.utils import websafe_encode

ORIGIN, HOST = "http://localhost", "localhost"
PRESENT_AND_VERIFIED, WITH_KEY = 0x05, 0x40


class Device:
    """One key, and the person it is for."""

    def __init__(self, origin: str = ORIGIN) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.id, self.origin, self.owner, self.count = secrets.token_bytes(16), origin, "", 0

    def registered(self, asked: dict[str, Any]) -> str:
        """Make the key that a site asks for."""
        self.owner = asked["user"]["id"]
        public_key: Any = ES256.from_cryptography_key
        public = cbor.encode(dict(public_key(self.key.public_key())))
        told = bytes(16) + struct.pack(">H", len(self.id)) + self.id + public
        data = self.data(PRESENT_AND_VERIFIED | WITH_KEY) + told
        attested = cbor.encode({"fmt": "none", "attStmt": {}, "authData": data})
        response = {
            "clientDataJSON": websafe_encode(self.said("webauthn.create", asked)),
            "attestationObject": websafe_encode(attested),
        }
        return self.credential(response, {"credProps": {"rk": True}})

    def asserted(self, asked: dict[str, Any]) -> str:
        """Prove that the key is here."""
        said, data = self.said("webauthn.get", asked), self.data(PRESENT_AND_VERIFIED)
        signature = self.key.sign(data + hashlib.sha256(said).digest(), ec.ECDSA(SHA256()))
        response = {
            "clientDataJSON": websafe_encode(said),
            "authenticatorData": websafe_encode(data),
            "signature": websafe_encode(signature),
            "userHandle": self.owner,
        }
        return self.credential(response, {})

    def said(self, what: str, asked: dict[str, Any]) -> bytes:
        """Write down what was asked, and by which site."""
        told = {"type": what, "challenge": asked["challenge"], "origin": self.origin}
        return json.dumps(told).encode()

    def data(self, flags: int) -> bytes:
        """Write for which site the key is, and that somebody was there."""
        self.count += 1
        site = hashlib.sha256(HOST.encode()).digest()
        return site + struct.pack(">BI", flags, self.count)

    def credential(self, response: dict[str, str], extensions: dict[str, Any]) -> str:
        """Write an answer as the script of the page does."""
        name = websafe_encode(self.id)
        told = {"id": name, "rawId": name, "type": "public-key", "response": response}
        return json.dumps({**told, "clientExtensionResults": extensions})
