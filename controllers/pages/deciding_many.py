"""One answer to many proposals: asked for where words are needed, and told one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from controllers import deciding, grouping, wording
from controllers.api.decisions import as_seen
from controllers.grouping import MOST_AT_ONCE, Result
from controllers.models import Proposal
from controllers.pages import deciding_inputs as inputs
from controllers.pages.approvals_filters import key
from controllers.pages.deciding_inputs import Input, Typed, Wrong
from controllers.pages.deciding_verdicts import UNDO
from controllers.pages.page import Look, Page
from controllers.proposals import Seen

Chosen = list[tuple[int, Seen]]
VERBS: Mapping[str, tuple[str, str]] = {
    "approve": ("Approve", "approved"),
    "snooze": ("Snooze", "snoozed"),
    "reject": ("Reject", "rejected"),
}


@dataclass(frozen=True)
class Line:
    """What became of one of many."""

    result: Result
    title: str


class ManyPage(Page):
    """The words that an answer to many needs, or what became of each."""

    template = "approvals/many.html"
    section = "approvals"

    def __init__(self, look: Look, answer: str, chosen: Sequence[str], typed: Typed) -> None:
        super().__init__(look)
        self.answer, self.chosen, self.typed = answer, chosen, typed
        self.verb, self.past = VERBS.get(answer, ("Decide", "decided"))
        self.problem = ""
        self.problems: Mapping[str, str] = {}
        self.lines: Sequence[Line] = ()

    @property
    def done(self) -> int:
        """How many were heard."""
        return sum(each.result.done for each in self.lines)

    @property
    def inputs(self) -> list[Input]:
        """What has to be said."""
        asked = []
        if self.answer == "snooze":
            asked = inputs.until_inputs(self.typed, ("1h", "tomorrow", "7d"), "For")
        usual = "Not now" if self.answer == "snooze" else ""
        reason = self.typed.get("reason", usual)
        return [
            *asked,
            Input(
                "reason",
                "Reason",
                "area",
                reason,
                required=True,
                problem=self.problems.get("reason", ""),
            ),
        ]


@require_POST
def decide_many(request: HttpRequest) -> HttpResponse:
    """Give one answer to everything that was selected."""
    look, answer = Look.of(request), request.POST.get("answer", "")
    marked = request.POST.getlist("sel")
    typed = {name: request.POST.get(name, "") for name in ("reason", "for", "until")}
    page = ManyPage(look, answer, marked[:MOST_AT_ONCE], typed)
    chosen = chosen_in(marked)
    if not marked:
        return back(request, "Select something first.", "warn")
    if answer not in VERBS or chosen is None:
        page.problem = "Nothing was recorded. Open the queue again, then decide."
        return page.respond(422)
    if len(marked) > MOST_AT_ONCE:
        page.problem = f"At most {MOST_AT_ONCE} are decided at once. Nothing was recorded."
        return page.respond(422)
    if answer != "approve" and "said" not in request.POST:
        return page.respond()
    return given(request, page, chosen, look.now)


def chosen_in(marked: Sequence[str]) -> Chosen | None:
    """Read which proposals are meant and what was seen of each; nothing when one is unclear."""
    found: Chosen = []
    for each in marked:
        number, _, tag = each.partition(":")
        proposal, seen = key(number), as_seen(tag)
        if proposal is None or seen is None:
            return None
        found.append((proposal, seen))
    return found


def given(request: HttpRequest, page: ManyPage, chosen: Chosen, now: datetime) -> HttpResponse:
    """Decide each by itself, and tell what became of each."""
    try:
        more = details(page, now)
        results = grouping.decide_all(
            chosen,
            page.answer,
            person=page.viewer,
            now=now,
            reason=page.typed["reason"],
            **more,
        )
    except Wrong as error:
        page.problem = str(error)
        return page.respond(422)
    except deciding.Invalid as error:
        page.problem = str(error)
        return page.respond(422)
    if page.answer != "approve" and all(each.message.startswith("Say why") for each in results):
        page.problems = {"reason": "Say why."}
        return page.respond(422)
    page.lines = told(results)
    if all(each.done for each in results):
        runs = f" They run in {int(UNDO.total_seconds())} s." if page.answer == "approve" else ""
        return back(request, f"{len(results)} {page.past}.{runs}", "ok")
    return page.respond()


def details(page: ManyPage, now: datetime) -> dict[str, Any]:
    """Return what an answer needs besides its reason."""
    if page.answer == "approve":
        return {"after": UNDO}
    if page.answer == "snooze":
        return {"rest": deciding.Rest(inputs.until_in(page.typed, now, now))}
    return {}


def told(results: Sequence[Result]) -> list[Line]:
    """Name each proposal beside what became of it."""
    known: dict[int, Proposal] = grouping.load(
        [each.key for each in results if each.word != "missing"]
    )
    return [
        Line(each, wording.title(known[each.key]) if each.key in known else "No such proposal")
        for each in results
    ]


def back(request: HttpRequest, sentence: str, tone: str) -> HttpResponse:
    """Go back to the queue with a sentence."""
    messages.add_message(request, messages.INFO, sentence, extra_tags=tone)
    response = HttpResponseRedirect(reverse("approvals"))
    response.status_code = 303
    return response
