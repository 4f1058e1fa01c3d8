"""What pages ask while they have no socket: did I miss anything?"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from controllers.live import editions
from controllers.live.seats import Refused, seat


@never_cache
@require_safe
def poll(request: HttpRequest) -> HttpResponse:
    """Name the parts of a page that are old; without a number, say only which one is current."""
    try:
        asked = seat(request.GET.get("page"), request.GET.get("since"))
    except Refused as refused:
        return JsonResponse({"detail": str(refused)}, status=400)
    missed = editions.missed(asked, timezone.now())
    if asked.number is not None and not missed.fetch:
        return HttpResponse(status=204)
    return JsonResponse({"number": missed.number, "fetch": missed.fetch})
