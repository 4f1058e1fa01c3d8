"""Secrets of other services are stored so that only this installation can read them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as configured
from django.core.exceptions import ImproperlyConfigured

from controllers.common import secrets
from ioa_site.settings import environment

OLD, NEW = "an old key that is long enough to be one", "a new key that is long enough to be one"


def test_what_is_encrypted_comes_back_and_is_not_to_be_seen() -> None:
    token = secrets.encrypt("slack://token/é")

    assert "slack" not in token
    assert token.isascii()
    assert secrets.decrypt(token) == "slack://token/é"
    assert secrets.encrypt("slack://token/é") != token


def test_a_new_key_writes_and_the_old_one_still_reads(settings: Any) -> None:
    """F23: keys change while the product runs."""
    settings.SECRETS_KEYS = [OLD]
    former = secrets.encrypt("one")
    settings.SECRETS_KEYS = [NEW, OLD]

    assert secrets.decrypt(former) == "one"
    latter = secrets.encrypt("two")
    settings.SECRETS_KEYS = [NEW]
    assert secrets.decrypt(latter) == "two"
    with pytest.raises(secrets.Unreadable, match="IOA_SECRETS_KEY"):
        secrets.decrypt(former)


@pytest.mark.parametrize("token", ["", "plain", "gAAAAAB", "é", "gAAAAAB" + "x" * 93])
def test_what_is_no_secret_of_ours_gets_a_sentence(token: str) -> None:
    with pytest.raises(secrets.Unreadable, match="cannot be read"):
        secrets.decrypt(token)


def test_a_changed_token_is_noticed() -> None:
    token = secrets.encrypt("one")
    # In the middle: the last character holds bits that nobody reads.
    middle = len(token) // 2
    changed = token[:middle] + ("A" if token[middle] != "A" else "B") + token[middle + 1 :]

    with pytest.raises(secrets.Unreadable):
        secrets.decrypt(changed)


def test_the_key_of_secrets_is_not_the_key_of_sessions() -> None:
    assert configured.SECRET_KEY not in configured.SECRETS_KEYS


def test_a_key_is_made_once_and_kept_beside_the_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("IOA_SECRETS_KEY", raising=False)

    first = environment.env_secrets("IOA_SECRETS_KEY", tmp_path / "secrets_key")

    assert first == environment.env_secrets("IOA_SECRETS_KEY", tmp_path / "secrets_key")
    assert first == [(tmp_path / "secrets_key").read_text("ascii")]


def test_several_keys_are_read_in_their_order(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("IOA_SECRETS_KEY", f"{NEW}, {OLD}")

    assert environment.env_secrets("IOA_SECRETS_KEY", tmp_path / "unused") == [NEW, OLD]
    assert not (tmp_path / "unused").exists()


@pytest.mark.parametrize("value", ["short", f"{NEW},short", ","])
def test_a_short_key_stops_the_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, value: str
) -> None:
    monkeypatch.setenv("IOA_SECRETS_KEY", value)

    with pytest.raises(ImproperlyConfigured, match=r"IOA_SECRETS_KEY must have at least 32"):
        environment.env_secrets("IOA_SECRETS_KEY", tmp_path / "unused")
