"""Signing in by an identity provider: what it signed is checked, then its groups decide."""

from __future__ import annotations

import hmac
import json
import secrets
from typing import Any, NoReturn

import jwt
import requests
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter, get_adapter
from allauth.socialaccount.models import SocialAccount
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from controllers.access import provider_groups
from resources.documents.problems import Problem
from resources.observability import metrics
from resources.usecases.access_rules import OPEN, page, rights

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512")
SECONDS = 10
# How far the clocks of two machines may be apart.
LEEWAY = 60
NONCE_BYTES = 32
AGAIN = {"prompt": "login", "max_age": "0"}


def name() -> str:
    """Return what the provider is called; nothing when there is none."""
    return settings.OIDC_NAME if settings.OIDC_ISSUER else ""


def belongs(person: Any) -> bool:
    """Tell whether somebody can show by the provider who they are."""
    return bool(name()) and SocialAccount.objects.filter(user=person).exists()


class Bridge(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    """Asks for a token, and believes only what is signed by the provider for us and this try."""

    # What this try sent along, and what the token must say again.
    nonce = ""

    @property
    def openid_config(self) -> dict[str, Any]:
        """Believe a description only of the issuer we were told."""
        found: dict[str, Any] = super().openid_config
        if found.get("issuer") != settings.OIDC_ISSUER:
            raise OAuth2Error("The description is of another identity provider.")
        return found

    def complete_login(self, request: HttpRequest, app: Any, token: Any, **kwargs: Any) -> Any:
        """Go on only with a signed token: nothing else says who somebody is."""
        if not kwargs["response"].get("id_token"):
            raise OAuth2Error("The identity provider sent no token about somebody.")
        return super().complete_login(request, app, token, **kwargs)

    def _decode_id_token(self, app: Any, id_token: str) -> dict[str, Any]:
        """Check signature, issuer, audience, times and nonce of a token."""
        try:
            claims: dict[str, Any] = jwt.decode(
                id_token,
                self.key_for(id_token),
                algorithms=list(ALGORITHMS),
                audience=app.client_id,
                issuer=settings.OIDC_ISSUER,
                leeway=LEEWAY,
                options={"require": ["exp", "iat", "iss", "aud", "sub", "nonce"]},
            )
        except (jwt.PyJWTError, KeyError, ValueError) as error:
            raise OAuth2Error("The token of the identity provider is not good.") from error
        if not self.nonce or not hmac.compare_digest(str(claims["nonce"]), self.nonce):
            raise OAuth2Error("The token of the identity provider is for another try.")
        return claims

    def key_for(self, id_token: str) -> Any:
        """Find the key a token says it was signed with, among those the provider shows."""
        wanted = jwt.get_unverified_header(id_token).get("kid")
        with get_adapter().get_requests_session() as session:
            answer = session.get(self.openid_config["jwks_uri"])
            answer.raise_for_status()
            shown = answer.json()["keys"]
        for each in shown:
            if each.get("kid") == wanted and each.get("use", "sig") == "sig":
                return jwt.PyJWK.from_json(json.dumps(each)).key
        raise OAuth2Error("The identity provider does not know the key of its token.")


class Arrival(OAuth2CallbackView):  # type: ignore[misc]
    """Comes back with what the try kept in the session, which is taken out with it."""

    def _get_state(self, request: HttpRequest, provider: Any) -> tuple[Any, Any]:
        """Hand the nonce of this try on to who reads the token."""
        state, answer = super()._get_state(request, provider)
        self.adapter.nonce = str((state or {}).get("nonce", ""))
        return state, answer


class ProviderAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """People come in by the groups of the provider, and by nothing else of it."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        """Let nobody make an account of their own."""
        return False

    def get_requests_session(self) -> requests.Session:
        """Ask the provider itself, without proxies, redirects or long waits."""
        session: requests.Session = super().get_requests_session()
        session.trust_env, session.max_redirects = False, 0
        return session

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        """Find or add whom the provider vouches for."""
        claims = sociallogin.account.extra_data["id_token"]
        try:
            person = provider_groups.admit(claims, timezone.now())
        except Problem as problem:
            metrics.SIGN_INS.labels("refused").inc()
            refuse(request, problem.message, problem.status)
        sociallogin.user = person
        known = {"provider": provider_groups.PROVIDER, "uid": claims["sub"]}
        sociallogin.account = SocialAccount.objects.get(**known)

    def on_authentication_error(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        """Say in one sentence that it did not work."""
        metrics.SIGN_INS.labels("refused").inc()
        refuse(request, f"{name()} did not sign you in. Try again.", 403)


def refuse(request: HttpRequest, sentence: str, status: int) -> NoReturn:
    """End a sign-in with a sentence."""
    page = render(request, "door/refused.html", {"problem": sentence}, status=status)
    raise ImmediateHttpResponse(page)


@rights(page(None, OPEN))
@login_not_required
@never_cache
@require_POST
def leave(request: HttpRequest) -> HttpResponse:
    """Go to the provider; a page in between, for a form may not lead to another site."""
    if not name():
        raise Http404("There is no identity provider.")
    provider = get_adapter().get_provider(request, provider_groups.PROVIDER)
    provider.oauth2_adapter_class = Bridge
    again = AGAIN if isinstance(request.user, User) else {}
    nonce = secrets.token_urlsafe(NONCE_BYTES)
    onward = request.POST.get("next", "")
    try:
        answer = provider.redirect(
            request,
            process="login",
            next_url=safe(onward),
            auth_params={**again, "nonce": nonce},
            nonce=nonce,
        )
    except ImmediateHttpResponse as refused:
        page: HttpResponse = refused.response
        return page
    except (requests.RequestException, OAuth2Error, ValueError, KeyError):
        return away(request)
    return render(request, "door/onward.html", {"onward": answer["Location"], "name": name()})


def away(request: HttpRequest) -> HttpResponse:
    """Say that the provider does not answer, or not as itself."""
    sentence = f"{name()} does not answer. Try again in a while."
    return render(request, "door/refused.html", {"problem": sentence}, status=503)


def safe(onward: str) -> str | None:
    """Return where to go on, if that is inside the product."""
    from allauth.account.adapter import get_adapter as account_adapter

    return onward if onward and account_adapter().is_safe_url(onward) else None


@rights(page(OPEN))
@login_not_required
@never_cache
@require_safe
def arrive(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Come back from the provider."""
    if not name() or provider_id != provider_groups.PROVIDER:
        raise Http404("There is no such identity provider.")
    view = Arrival.adapter_view(Bridge(request, provider_groups.PROVIDER))
    try:
        answer: HttpResponse = view(request)
    except (requests.RequestException, OAuth2Error, ValueError, KeyError):
        return away(request)
    return answer
