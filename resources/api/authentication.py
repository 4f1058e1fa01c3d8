"""Agents sign in with a bearer token; what they and people may do is asked here."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from resources.documents.actor import Actor
from resources.documents.problems import forbidden
from resources.tables.models import AgentToken
from resources.tables.visibility import Scope
from resources.usecases import access, tokens
from resources.usecases.access import Principal

SCHEME = "bearer"
PEOPLE_CHANGE_SPECS = "Agents propose, people change specs."


@dataclass(frozen=True)
class AgentPrincipal:
    """What `request.user` is for an agent: signed in, with no permission of a person."""

    token: AgentToken
    is_authenticated: bool = True
    is_anonymous: bool = False
    is_active: bool = True
    is_staff: bool = False
    is_superuser: bool = False

    def has_perm(self, permission: str, of: object = None) -> bool:
        """Return False: permissions are people's, scopes are agents'."""
        return False

    def get_username(self) -> str:
        """Return the agent's name."""
        return self.token.agent.name

    def __str__(self) -> str:
        return str(self.token.agent)


class AgentTokenAuthentication(BaseAuthentication):
    """Reads `Authorization: Bearer ioa_…`."""

    def authenticate(self, request: Request) -> tuple[AgentPrincipal, AgentToken] | None:
        """Return the agent behind the token; nothing when the request has none."""
        scheme, _, text = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
        if scheme.lower() != SCHEME:
            return None
        token = tokens.authenticate(text.strip(), now=timezone.now())
        if token is None:
            raise AuthenticationFailed("This token is unknown, expired or revoked.")
        return AgentPrincipal(token), token

    def authenticate_header(self, request: Request) -> str:
        """Return what a 401 asks for."""
        return "Bearer"


def principal_of(request: Request) -> Principal:
    """Return who reads: the agent's token or the person."""
    return request.auth if isinstance(request.auth, AgentToken) else request.user


def bearer_of(token: AgentToken) -> Actor:
    """Return whom a token is for, as the ledger names them."""
    bearer = token.agent
    return Actor("controller" if bearer.kind == "Controller" else "agent", bearer.name)


def actor_of(request: Request) -> Actor:
    """Return who acts, as the ledger names them."""
    if isinstance(request.auth, AgentToken):
        return bearer_of(request.auth)
    return Actor("person", request.user.get_username())


def require_scope(request: Request, scope: str, refusal: str = PEOPLE_CHANGE_SPECS) -> None:
    """Refuse a token that does not carry a scope; without one, only people may."""
    if not isinstance(request.auth, AgentToken):
        return
    if not scope:
        safe = request.method in ("GET", "HEAD")
        raise forbidden("Only people may read this." if safe else refusal)
    if scope not in request.auth.scopes:
        raise forbidden(f"This token lacks the scope {scope}.")


def scope_of(request: Request) -> Scope:
    """Return what the person who asks holds; a token holds no role."""
    return Scope() if isinstance(request.auth, AgentToken) else access.scope_of(request.user)


def require_permission(request: Request, verb: str, domain: str | None = None) -> None:
    """Refuse whoever has no right to add, change or delete in a domain, or anywhere."""
    person = not isinstance(request.auth, AgentToken)
    if not person or not access.may_edit(request.user, verb, domain):
        raise forbidden(f"You may not {verb} resources: ask an administrator.")
