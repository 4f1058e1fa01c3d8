"""The identity provider, from environment variables: where it is, who we are, what groups give."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from ioa_site.settings.environment import env_url

ROLES = ("viewer", "operator", "approver", "administrator", "auditor")
RISKS = ("low", "medium", "high")
LOOPBACK = ("127.0.0.1", "localhost", "::1")
EXAMPLE = "staff=viewer, leads=approver:medium, support-leads=approver@support"
Mapped = tuple[str, str, str, str]


def env_issuer(name: str) -> str:
    """Read where the provider is: by https, or on this machine."""
    address = env_url(name, {"http", "https"}) or ""
    parts = urlsplit(address)
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise ImproperlyConfigured(f"{name} must begin with https://.")
    return address


def env_client(issuer: str) -> tuple[str, str]:
    """Read who we are to the provider; both or none."""
    names = ("IOA_OIDC_CLIENT_ID", "IOA_OIDC_CLIENT_SECRET")
    given = [os.environ.get(name, "").strip() for name in names]
    for name, value in zip(names, given, strict=True):
        if issuer and not value:
            raise ImproperlyConfigured(f"IOA_OIDC_ISSUER is set, so {name} must be too.")
    return given[0], given[1]


def env_groups(name: str) -> list[Mapped]:
    """Read what each group gives: `group=role`, then maybe `:risk` and `@domain`."""
    text = os.environ.get(name, "")
    return [mapped(name, each.strip()) for each in text.split(",") if each.strip()]


def mapped(name: str, text: str) -> Mapped:
    """Read what one group gives."""
    group, _, given = text.rpartition("=")
    right, _, domain = given.partition("@")
    role, _, ceiling = right.partition(":")
    good = group.strip() and role in ROLES and (not ceiling or ceiling in RISKS)
    if not good or (ceiling and role != "approver"):
        raise ImproperlyConfigured(
            f"{name} says what groups give, such as {EXAMPLE}; not {text[:80]!r}."
        )
    return group.strip(), role, domain.strip(), ceiling or "high"


def providers(issuer: str, name: str, client: tuple[str, str]) -> dict[str, Any]:
    """Describe the provider as allauth reads it; none when there is none."""
    if not issuer:
        return {}
    app = {
        "provider_id": "oidc",
        "name": name,
        "client_id": client[0],
        "secret": client[1],
        # Only what is signed counts, so nothing else is asked for.
        "settings": {"server_url": issuer, "fetch_userinfo": False, "oauth_pkce_enabled": True},
    }
    return {"openid_connect": {"APPS": [app]}}
