"""The step before something grave: confirm that it is you, then go on with what was typed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from allauth.account.authentication import get_authentication_records
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import urlencode

from controllers.access import freshness
from controllers.models import Proposal
from controllers.signin.adapter import TYPED

KEPT_FOR = timedelta(minutes=15)
SENTENCE = "This is grave, and you signed in a while ago. Confirm that it is you, then say it."


def is_needed(
    request: HttpRequest, person: User, proposal: Proposal, verdict: str, now: datetime
) -> bool:
    """Tell whether somebody has to confirm that it is them before they say this."""
    return freshness.asks_again(proposal, verdict) and is_stale(request, person, now)


def is_stale(request: HttpRequest, person: User, now: datetime) -> bool:
    """Tell whether somebody has to confirm that it is them before anything grave."""
    return freshness.is_stale(person, get_authentication_records(request, person), now)


def ask(
    request: HttpRequest, address: str, typed: Mapping[str, str], now: datetime
) -> HttpResponse:
    """Keep what was typed, and send somebody to confirm; they come back to the form."""
    kept = {name: value for name, value in typed.items() if name != "csrfmiddlewaretoken"}
    path, owner = address.partition("?")[0], request.user.pk
    request.session[TYPED] = {"path": path, "by": owner, "at": now.timestamp(), "typed": kept}
    there = f"{reverse('account_reauthenticate')}?{urlencode({'next': address})}"
    if "HX-Request" in request.headers:
        return HttpResponse(status=204, headers={"HX-Redirect": there})
    return HttpResponseRedirect(there, status=303)


def typed_before(request: HttpRequest, now: datetime) -> dict[str, str]:
    """Return what somebody typed into this form before they confirmed."""
    kept: dict[str, Any] = request.session.get(TYPED) or {}
    mine = kept.get("path") == request.path and kept.get("by") == request.user.pk
    if not mine or now.timestamp() - kept["at"] > KEPT_FOR.total_seconds():
        return {}
    return dict(kept["typed"])


def forget(request: HttpRequest) -> None:
    """Forget it once it was said."""
    request.session.pop(TYPED, None)
