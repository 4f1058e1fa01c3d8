"""What people type into the admin: a document as text, and the wish for a token."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import forms

from resources.usecases import tokens

MOST_VERSION = 10**18


class TextField(forms.Field):
    """A text exactly as it was typed; what is wrong with it is said by the reader."""

    widget = forms.Textarea

    def to_python(self, value: Any) -> str:
        """Undo the line ends that browsers send."""
        return str(value or "").replace("\r\n", "\n")


class SpecForm(forms.Form):
    """A declaration being edited, and the version it was made from."""

    text = TextField(
        label="Document",
        required=False,
        widget=forms.Textarea(attrs={"data-editor": "yaml", "rows": 30, "spellcheck": "false"}),
    )
    message = forms.CharField(
        label="Why",
        required=False,
        max_length=500,
        widget=forms.TextInput(attrs={"placeholder": "Optional. Kept in the history."}),
    )
    version = forms.IntegerField(min_value=0, max_value=MOST_VERSION, widget=forms.HiddenInput)


class TokenForm(forms.Form):
    """A token to be issued."""

    agent = forms.CharField(
        max_length=253, widget=forms.TextInput(attrs={"list": "agents", "autocomplete": "off"})
    )
    scopes = forms.MultipleChoiceField(
        choices=[(name, f"{name}: {meaning}") for name, meaning in tokens.SCOPES.items()],
        widget=forms.CheckboxSelectMultiple,
    )
    days = forms.IntegerField(
        min_value=1,
        max_value=tokens.LONGEST_LIFETIME.days,
        initial=tokens.DEFAULT_LIFETIME.days,
        help_text=f"1 to {tokens.LONGEST_LIFETIME.days}. After that the token stops working.",
    )

    @property
    def lifetime(self) -> timedelta:
        """How long the token lasts."""
        return timedelta(days=self.cleaned_data["days"])
