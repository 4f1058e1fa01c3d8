"""Secrets of other services, encrypted before they are stored."""

from __future__ import annotations

import base64
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

PURPOSE = b"IOA Control: stored secrets"


class Unreadable(Exception):
    """A stored secret was written with a key that is no longer known."""

    def __init__(self) -> None:
        super().__init__(
            "A stored secret cannot be read: it was written with another key. Add that key to"
            " IOA_SECRETS_KEY after the present one, or enter the secret again."
        )


def encrypt(text: str) -> str:
    """Return a text so that only this installation can read it."""
    return box(tuple(settings.SECRETS_KEYS)).encrypt(text.encode()).decode("ascii")


def decrypt(token: str) -> str:
    """Return the text that was encrypted with one of the known keys."""
    try:
        return box(tuple(settings.SECRETS_KEYS)).decrypt(token.encode()).decode()
    except InvalidToken:
        raise Unreadable from None


@lru_cache(maxsize=2)
def box(keys: tuple[str, ...]) -> MultiFernet:
    """Make the keys ready: the first encrypts, each decrypts."""
    return MultiFernet([Fernet(derived(key)) for key in keys])


def derived(key: str) -> bytes:
    """Turn a key of any form into one of the length the cipher takes."""
    secret = HKDF(SHA256(), length=32, salt=None, info=PURPOSE).derive(key.encode())
    return base64.urlsafe_b64encode(secret)
