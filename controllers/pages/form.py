"""A form on a page of its own, or alone in a dialog: what was typed stays, a refusal is said."""

from __future__ import annotations

from typing import ClassVar

from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.cache import patch_vary_headers

from controllers.pages.page import Page

FORBIDDEN, CONFLICT, UNREADABLE = 403, 409, 422


class FormPage(Page):
    """What every form shares; without scripts it is an ordinary page."""

    # The form without anything around it.
    fragment: ClassVar[str]
    problem = ""

    def typed(self, name: str) -> str:
        """Return what somebody typed or chose; before that, what the address suggests."""
        request = self.look.request
        given = request.POST if request and request.method == "POST" else self.look.query
        return given.get(name, "")

    @property
    def reason(self) -> str:
        """Why."""
        return self.typed("reason")

    @property
    def in_dialog(self) -> bool:
        """Whether a script asks for the form alone."""
        request = self.look.request
        return request is not None and "HX-Request" in request.headers

    def show(self, status: int = 200) -> HttpResponse:
        """Answer with the form, alone in a dialog."""
        request = self.look.request
        if request is None or not self.in_dialog:
            return self.respond(status)
        with self.look.eyes():
            answer = render(request, self.fragment, self.context(), status=status)
        patch_vary_headers(answer, ["HX-Request"])
        answer.headers["Cache-Control"] = "no-store"
        return answer

    def refuse(self, problem: str, status: int) -> HttpResponse:
        """Show the form again, with what was typed and why it was not done."""
        self.problem = problem
        return self.show(status)

    def leave_for(self, address: str) -> HttpResponse:
        """Go somewhere else once it is done."""
        if self.in_dialog:
            return HttpResponse(status=204, headers={"HX-Redirect": address})
        return HttpResponseRedirect(address, status=303)
