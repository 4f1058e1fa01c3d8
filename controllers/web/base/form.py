"""A form on a page of its own, or alone in a dialog: what was typed stays, a refusal is said.

What is asked for stands in a `WebForm`: each field has a label, a widget and a hint, and one
template shows them all. A form refuses nothing by itself: what is wrong is the use case's to say.
Its sentence stands above, and the field that it is about is marked and described by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, cached_property
from typing import Any, ClassVar

from django import forms
from django.forms.renderers import TemplatesSetting
from django.http import HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.utils.cache import patch_vary_headers

from controllers.web.base.page import Page
from resources.documents.problems import Problem

# The id of the sentence above: `partials/problem.html`.
PROBLEM = "form-problem"


class FormRenderer(TemplatesSetting):
    """Shows every field by the one template."""

    field_template_name = "partials/field.html"


class MomentInput(forms.TextInput):
    """A day and a time; the page says in which zone."""

    input_type = "datetime-local"


class TypedField(forms.Field):
    """A text as it was typed, or one of some choices; `needed` only asks the browser for it."""

    # What is suggested while somebody types; the widget names the list.
    suggestions: Callable[[], Iterable[str]] | None = None

    def __init__(
        self,
        label: str,
        widget: forms.Widget | None = None,
        *,
        initial: str = "",
        hint: str = "",
        needed: bool = False,
        **attrs: str,
    ) -> None:
        shown = widget or forms.TextInput()
        # Their size is the style's.
        shown.attrs = {k: v for k, v in shown.attrs.items() if k not in ("cols", "rows")}
        if not shown.use_fieldset:
            shown.attrs["class"] = "input"
        shown.attrs |= {name.replace("_", "-"): value for name, value in attrs.items()}
        if needed:
            shown.attrs["required"] = True
        super().__init__(
            label=label,
            widget=shown,
            initial=initial,
            help_text=hint,
            required=False,
        )

    @property
    def needed(self) -> bool:
        """Whether the browser asks for it."""
        return "required" in self.widget.attrs


class ChosenField(forms.MultipleChoiceField):
    """Any of some words; whether each is known is the use case's to say."""

    def __init__(self, label: str) -> None:
        widget = forms.CheckboxSelectMultiple(attrs={"class": "check"})
        super().__init__(label=label, widget=widget, required=False)

    def valid_value(self, value: Any) -> bool:
        """Take every word."""
        return True


class WebForm(forms.Form):
    """What somebody is asked for, with what they typed."""

    default_renderer = FormRenderer
    # How the ids of its fields are made of their names.
    ids: ClassVar[str] = "%s"

    def __init__(
        self, data: QueryDict | None = None, initial: dict[str, Any] | None = None
    ) -> None:
        super().__init__(data, initial=initial, auto_id=self.ids)

    def text(self, name: str) -> str:
        """Return what was typed into a field; before that, what was suggested."""
        return self[name].value() or ""

    def chosen(self, name: str) -> list[str]:
        """Return the words that were chosen; before that, those that were suggested."""
        return list(self[name].value() or ())

    def offer(self, name: str, choices: Callable[[], Iterable[tuple[str, Any]]]) -> None:
        """Let a field offer some choices, which are read once, when it is shown."""
        widget: Any = self.fields[name].widget
        # Django asks for them several times while it shows a field.
        widget.choices = cache(lambda: list(choices()))

    def suggest(self, name: str, words: Callable[[], Iterable[str]]) -> None:
        """Let a field suggest some words, which are read when it is shown."""
        field = self.fields[name]
        if isinstance(field, TypedField):
            field.suggestions = words

    def mark(self, otherwise: str) -> None:
        """Mark what was left empty as wrong, or else one field that a refusal is about."""
        asked = [name for name, each in self.fields.items() if getattr(each, "needed", False)]
        empty = [name for name in asked if not self.text(name).strip()]
        for name in empty or [each for each in (otherwise,) if each]:
            attrs = self.fields[name].widget.attrs
            known = attrs.get("aria-describedby") or self[name].aria_describedby
            attrs["aria-describedby"] = " ".join(filter(None, (known, PROBLEM)))
            attrs["aria-invalid"] = "true"


class FormPage(Page):
    """What every form shares; without scripts it is an ordinary page."""

    # The form without anything around it.
    fragment: ClassVar[str]
    # What it asks for.
    form_class: ClassVar[type[WebForm]] = WebForm
    # The field that a refusal is about when none was left empty.
    faulty: ClassVar[str] = ""
    problem = ""

    def typed(self, name: str) -> str:
        """Return what somebody typed or chose; before that, what the address suggests."""
        return (self.look.query if self.posted is None else self.posted).get(name, "")

    @property
    def posted(self) -> QueryDict | None:
        """What somebody sent; None when they only look."""
        request = self.look.request
        return request.POST if request is not None and request.method == "POST" else None

    @cached_property
    def form(self) -> WebForm:
        """What it asks for, with what was typed; before that, what the address suggests."""
        initial = self.suggested() if self.posted is None else None
        form = self.form_type(self.posted, initial=initial)
        self.prepare(form)
        return form

    @property
    def form_type(self) -> type[WebForm]:
        """What it asks for, where that is known only now."""
        return self.form_class

    def prepare(self, form: WebForm) -> None:
        """Let fields say and offer what is known only now."""

    def suggested(self) -> dict[str, Any]:
        """Return what the fields hold before anything is typed, where it is not the usual."""
        return self.initial_of(self.look.query)

    def initial_of(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return what some words say about the fields; several in one have commas between them."""
        fields, found = self.form_type.base_fields, {name: str(given[name]) for name in given}
        return {
            name: found[name].split(",") if isinstance(each, ChosenField) else found[name]
            for name, each in fields.items()
            if found.get(name)
        }

    @property
    def reason(self) -> str:
        """Why."""
        return self.form.text("reason")

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

    def refuse(self, problem: Problem) -> HttpResponse:
        """Show the form again, with what was typed and why it was not done."""
        self.problem = problem.message
        self.form.mark(self.faulty)
        return self.show(problem.status)

    def leave_for(self, address: str) -> HttpResponse:
        """Go somewhere else once it is done."""
        if self.in_dialog:
            return HttpResponse(status=204, headers={"HX-Redirect": address})
        return HttpResponseRedirect(address, status=303)
