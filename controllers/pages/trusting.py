"""Let a controller ask again: who may stop it takes back what it has earned."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from controllers import earning, roles
from controllers.pages.cycle import found
from controllers.pages.page import Look

LONGEST_NUMBER = 15


@require_POST
def take_back(request: HttpRequest, name: str) -> HttpResponse:
    """Take autonomy back, and go to the page of the controller."""
    look, row = Look.of(request), found(name)
    typed = request.POST.get("autonomy", "")
    readable = typed.isascii() and typed.isdecimal() and len(typed) <= LONGEST_NUMBER
    try:
        earning.end(row, int(typed) if readable else 0, person=look.viewer, now=look.now)
    except roles.Denied as error:
        raise PermissionDenied(str(error)) from None
    except earning.Missing as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{name} asks again.")
    return HttpResponseRedirect(reverse("controller", args=[name]), status=303)
