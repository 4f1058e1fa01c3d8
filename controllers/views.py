"""Sign-in links and the two questions a supervisor asks."""

from __future__ import annotations

from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from controllers import chores, people, queue, watchdog


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest, user_id: int, token: str) -> HttpResponse:
    """Show whom a link signs in; only pressing the button uses it up."""
    user = people.link_holder(user_id, token)
    if user is not None and request.method != "POST":
        person = user.get_full_name() or user.get_username()
        return render(request, "people/sign_in.html", {"person": person})
    if user is None or not people.redeem(user, timezone.now()):
        problem = "It was used already, or it is too old. Ask for a new one: ioa sign-in NAME."
        return render(request, "people/sign_in.html", {"problem": problem}, status=410)
    user.refresh_from_db()
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return redirect("start")


@login_not_required
@never_cache
def admin_door(request: HttpRequest) -> HttpResponse:
    """Let people in by the one door; whoever is in and may not edit is told so."""
    if request.user.is_authenticated:
        raise PermissionDenied
    return redirect_to_login(request.GET.get("next", ""))


@login_not_required
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """Say that the process answers."""
    return JsonResponse({"status": "ok"})


@login_not_required
@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Say whether the database answers and the loop is alive, and how it gets on."""
    now = timezone.now()
    try:
        seen, counts = chores.heartbeat(), watchdog.census()
        waiting = queue.backlog(now)
    except DatabaseError:
        return JsonResponse({"database": "unreachable", "loop": "unknown"}, status=503)
    alive = chores.is_alive(seen, now)
    loop = {"loop": "ok" if alive else "silent", "heartbeat": seen}
    answer = {"database": "ok", **loop, "controllers": counts, "queue": waiting}
    return JsonResponse(answer, status=200 if alive else 503)
