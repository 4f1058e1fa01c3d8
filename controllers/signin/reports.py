"""What browsers report: breaches of the content security policy, counted and then forgotten."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from controllers.signin.adapter import address_of
from resources.api import rate_limits
from resources.observability import metrics
from resources.usecases.access_rules import OPEN, page, rights

# Each address may report so often; whoever breaks a page reports each of its parts.
EVERY_SECONDS = 1.0
AT_ONCE = 20.0


@rights(page(None, OPEN))
@csrf_exempt
@login_not_required
@require_POST
def csp(request: HttpRequest) -> HttpResponse:
    """Count a report. Nothing of it is read: anybody may send one."""
    wait = rate_limits.take(f"csp/{address_of(request)}", EVERY_SECONDS, AT_ONCE)
    if wait > 0:
        return HttpResponse(status=429, headers={"Retry-After": str(int(wait) + 1)})
    metrics.CSP_REPORTS.inc()
    return HttpResponse(status=204)
