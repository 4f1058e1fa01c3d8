"""The admin's door, and what supervisors ask: is it there, is it usable, how does it get on."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from controllers.loop import watchdog
from controllers.worker import housekeeping, metrics_export
from controllers.workqueue import queue
from resources.usecases.access_rules import OPEN, page, rights


@rights(page(OPEN, OPEN))
@login_not_required
@never_cache
def admin_door(request: HttpRequest) -> HttpResponse:
    """Let people in by the one door; whoever is in and may not edit is told so."""
    if request.user.is_authenticated:
        raise PermissionDenied
    return redirect_to_login(request.GET.get("next", ""))


@rights(page(OPEN))
@login_not_required
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """Say that the process answers."""
    return JsonResponse({"status": "ok"})


@rights(page(OPEN))
@login_not_required
@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Say whether the database answers and the loop is alive, and how it gets on.

    A process without a loop of its own can be used though nobody runs one: people can still
    see, decide and stop things.
    """
    now = timezone.now()
    try:
        seen, counts = housekeeping.heartbeat(), watchdog.census()
        waiting = queue.backlog(now)
    except DatabaseError:
        return JsonResponse({"database": "unreachable", "loop": "unknown"}, status=503)
    alive = housekeeping.is_alive(seen, now)
    loop = {"loop": "ok" if alive else "silent", "heartbeat": seen}
    answer = {"database": "ok", **loop, "controllers": counts, "queue": waiting}
    return JsonResponse(answer, status=200 if alive or settings.LOOP_ELSEWHERE else 503)


@rights(page(OPEN))
@login_not_required
@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Give the numbers to whoever may have them; to everybody else there is nothing here."""
    if not metrics_export.permitted(request.headers, request.META.get("REMOTE_ADDR", "")):
        raise Http404
    return HttpResponse(metrics_export.page(), content_type=metrics_export.MEDIA_TYPE)
