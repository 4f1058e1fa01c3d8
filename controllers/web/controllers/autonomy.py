"""Let a controller ask again: who may stop it takes back what it has earned."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from controllers.trust import promotions
from controllers.web.base.page import PageRequest
from controllers.web.controllers.cycle_page import found
from resources.usecases.access_rules import STOP, at, page, rights

LONGEST_NUMBER = 15


@rights(page(None, at("organisation", *STOP)))
@require_POST
def take_back(request: HttpRequest, name: str) -> HttpResponse:
    """Take autonomy back, and go to the page of the controller."""
    look, row = PageRequest.of(request), found(name)
    typed = request.POST.get("autonomy", "")
    readable = typed.isascii() and typed.isdecimal() and len(typed) <= LONGEST_NUMBER
    promotions.end(row, int(typed) if readable else 0, person=look.viewer, now=look.now)
    messages.success(request, f"{name} asks again.")
    return HttpResponseRedirect(reverse("controller", args=[name]), status=303)
