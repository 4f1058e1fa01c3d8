"""What is asked for about a channel, a machine and a token."""

from __future__ import annotations

from django import forms
from django.utils.html import format_html

from controllers.web.base.form import ChosenField, TypedField, WebForm
from resources.usecases import tokens

USUAL_DAYS = str(tokens.DEFAULT_LIFETIME.days)
MOST_DAYS = tokens.LONGEST_LIFETIME.days


class ChannelForm(WebForm):
    """A name, and the address of the service behind it."""

    name = TypedField(
        "Channel",
        needed=True,
        hint="As documents name it. A name that leads somewhere already leads to the new address.",
        list="names",
        maxlength="253",
        autocomplete="off",
        autocapitalize="none",
        placeholder="slack-ops",
    )
    address = TypedField(
        "Address",
        forms.PasswordInput(),
        needed=True,
        hint=format_html(
            "Such as <code>{}</code>, <code>{}</code> or <code>{}</code>, on one line.",
            *("slack://…", "mailtos://…", "jsons://…"),
        ),
        maxlength="2000",
        autocomplete="off",
        spellcheck="false",
    )


class MachineForm(WebForm):
    """Its name, its address, what it takes, and for whom."""

    name = TypedField(
        "Name",
        needed=True,
        maxlength="253",
        autocomplete="off",
        autocapitalize="none",
        placeholder="deployer",
    )
    domain = TypedField("For", forms.Select())
    url = TypedField(
        "Address",
        needed=True,
        hint="Public and encrypted. Redirects are not followed.",
        maxlength="2000",
        autocomplete="off",
        autocapitalize="none",
        spellcheck="false",
        placeholder="https://hooks.example.com/ioa",
    )
    operations = ChosenField("Takes")


class IssueForm(WebForm):
    """For whom, for what, for how long."""

    agent = TypedField(
        "For",
        needed=True,
        hint=format_html("The name of an agent, or <code>{}</code>.", "controller/name"),
        list="bearers",
        maxlength="300",
        autocomplete="off",
        autocapitalize="none",
        placeholder="reply-drafter",
    )
    scopes = ChosenField("Scopes")
    days = TypedField(
        "Days",
        needed=True,
        initial=USUAL_DAYS,
        hint=f"1 to {MOST_DAYS}. After that it stops working.",
        inputmode="numeric",
        maxlength="4",
    )
