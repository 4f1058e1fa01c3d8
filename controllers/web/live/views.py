"""What pages ask while they have no socket: did I miss anything?"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from controllers.web.live import broadcast
from controllers.web.live.subscription import seat
from resources.documents.problems import Problem
from resources.usecases.access_rules import OWN, page, rights


@rights(page(OWN))
@never_cache
@require_safe
def poll(request: HttpRequest) -> HttpResponse:
    """Name the parts of a page that are old; without a number, say only which one is current."""
    try:
        asked = seat(request.GET.get("page"), request.GET.get("since"))
    except Problem as problem:
        return JsonResponse({"detail": problem.message}, status=problem.status)
    missed = broadcast.missed(asked, timezone.now())
    if asked.number is not None and not missed.fetch:
        return HttpResponse(status=204)
    return JsonResponse({"number": missed.number, "fetch": missed.fetch})
